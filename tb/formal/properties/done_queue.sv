
    // The read splitter lets fewer than 16 packets wait.
    reg [4:0] waiting = 0;
    always @(posedge clock) begin
        waiting <= reset ? 0 : waiting + ended - (done_valid && done_ready);
        if (!reset) begin
            if (ended) assume (waiting < 15 || (done_valid && done_ready));
            nothing_leaks: assert (done_valid == (waiting != 0));
        end
    end
