
    // The program's contract.
    always @(posedge clock) begin
        if (set_address || begin_read || begin_write) assume (ready);
        assume (!(begin_read && begin_write));
        if (s_w_valid) assume (s_w_ready);
    end
