
    // AXI: a B answers a write whose AW and last W were taken before it.
    reg [3:0] aw_taken = 0;
    reg [3:0] w_taken = 0;
    always @(posedge clock) begin
        if (reset) begin
            aw_taken <= 0;
            w_taken <= 0;
        end else begin
            aw_taken <= aw_taken + (aw_valid && aw_ready) - b_valid;
            w_taken <= w_taken + (w_valid && w_last && w_ready) - b_valid;
        end
    end
    always @(*) if (b_valid) assume (aw_taken != 0 && w_taken != 0);
    // Registers: a restart is held until it is taken, and the event queue's place changes only behind it.
    always @(posedge clock) begin
        if (past_ok && $past(eq_restart && !eq_restart_ready)) assume (eq_restart);
    end
