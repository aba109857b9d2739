
    // The program's contract, and the memory's: its word stands while the address does.
    always @(posedge clock) begin
        if (start) assume (ready);
        if (past_ok && $past(memory_address) == $past(memory_address, 2)) assume (memory_data == $past(memory_data));
    end
