
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

    // AXI4: an entry is aligned to its size, and its last W is the beat that AWLEN says.
    reg [1:0] beats = 0;
    always @(posedge clock) begin
        if (reset) beats <= 0;
        else if (w_valid && w_ready) beats <= w_last ? 0 : beats + 1;
        if (!reset && aw_valid) begin no_crossing: assert (aw_length == 3 && aw_address[4:0] == 0 || aw_length == 1 && aw_address[3:0] == 0); end
    end
