
    // From the counters: a half comes only in answer to an access, in its done's cycle or the one after.
    reg was_done = 0;
    always @(posedge clock) was_done <= file_done;
    always @(*) begin
        if (file_done) assume (file_valid);
        if (half_strobe) assume (file_valid || was_done);
        // The engine takes a restart of the event queue, and ends a command, that it was asked for.
        if (command_done) assume (command_valid);
    end

    // AXI4-Lite: a B for each AW and W, an R for each AR, one at a time.
    reg aw_owed = 0;
    reg w_owed = 0;
    reg ar_owed = 0;
    always @(posedge clock) begin
        aw_owed <= !reset && (aw_owed && !(s_b_valid && s_b_ready) || s_aw_valid && s_aw_ready);
        w_owed <= !reset && (w_owed && !(s_b_valid && s_b_ready) || s_w_valid && s_w_ready);
        ar_owed <= !reset && (ar_owed && !(s_r_valid && s_r_ready) || s_ar_valid && s_ar_ready);
        if (!reset) begin
            one_write: assert (!(s_aw_valid && s_aw_ready && aw_owed) && !(s_w_valid && s_w_ready && w_owed));
            one_read: assert (!(s_ar_valid && s_ar_ready && ar_owed));
            b_answers: assert (!s_b_valid || (aw_owed && w_owed));
            r_answers: assert (!s_r_valid || ar_owed);
            b_soon: assert (!(past_ok && $past(s_aw_valid && s_aw_ready)) || s_b_valid);
            r_soon: assert (!(past_ok && $past(s_ar_valid && s_ar_ready)) || s_r_valid);
        end
    end
