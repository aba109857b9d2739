
    // To control, Complete and the READ responder: a head stands until head_next.
    always @(posedge clock) begin
        if (past_ok && $past(head_valid && !head_next)) begin
            head_held: assert (head_valid);
            head_stands: assert (head == $past(head));
        end
        // They take a head that is there.
        if (head_next) assume (head_valid);
    end
