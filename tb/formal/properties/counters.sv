
    // An access is held until it is done (registers).
    reg was_done = 0;
    always @(posedge clock) was_done <= access_done;
    always @(posedge clock) begin
        if (past_ok && $past(access_valid && !access_done)) begin
            assume (access_valid);
            assume (access_write == $past(access_write));
            assume (access_row == $past(access_row));
            assume (access_data == $past(access_data));
        end
        if (past_ok && $past(access_done)) assume (!access_valid);
        if (!reset) begin
            if (access_done) begin done_is_asked_for: assert (access_valid); end
            if (half_strobe) begin half_is_asked_for: assert (access_valid || was_done); end
        end
        // One at a time: an event is taken by itself, in a cycle without an access's end.
        if (!reset) begin one_event_at_once: assert (rx_ready + responder_ready + tx_ready + extra_ready <= 1); end
    end
