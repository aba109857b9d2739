
    // To control, Complete and the READ responder: a head stands until head_next. They take a head that is there.
    reg [1:0] inside = 0;
    always @(posedge clock) begin
        if (head_next) assume (head_valid);
        inside <= reset ? 0 : inside + (s_valid && s_ready) - head_next;
        if (!reset) begin nothing_leaks: assert (inside == head_valid); end
        if (past_ok && $past(head_valid && !head_next)) begin
            head_held: assert (head_valid);
            head_stands: assert (head == $past(head));
        end
    end
