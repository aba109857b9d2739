
    // From the counters: a half comes only in answer to an access, in its done's cycle or the one after.
    reg was_done = 0;
    always @(posedge clock) was_done <= file_done;
    always @(*) begin
        if (file_done) assume (file_valid);
        if (half_strobe) assume (file_valid || was_done);
        // The engine takes a restart of the event queue, and ends a command, that it was asked for.
        if (command_done) assume (command_valid);
    end
