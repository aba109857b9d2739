
    // Contracts: start and its operands hold until done; an answer of the table only to a question; no B before both AW and W are taken.
    reg aw_taken = 0, w_taken = 0;
    always @(posedge clock) begin
        if (past_ok && $past(start && !done)) assume (start && compare_swap == $past(compare_swap) && address == $past(address) && paged == $past(paged) && !load);
        if (lookup_done) assume (lookup_valid);
        if (locked) assume (lock);
        if (past_ok && $past(locked && lock)) assume (locked || !lock);
        aw_taken <= !reset && !b_valid && (aw_taken || aw_valid && aw_ready);
        w_taken <= !reset && !b_valid && (w_taken || w_valid && w_ready);
        if (b_valid) assume (aw_taken && w_taken);
        if (!reset) begin
            // R58: memory is touched only under the lock, and the write is out before it falls.
            read_under_lock: assert (!ar_valid || (lock && locked));
            write_under_lock: assert (!(aw_valid || w_valid) || (lock && locked));
            lock_to_the_end: assert (!(aw_taken || w_taken) || lock);
        end
    end
