
    always @(posedge clock) begin
        // From control: a response is held with its head until it is done.
        if (past_ok && $past(response_valid && !response_done)) assume (response_valid && head == $past(head));
        // From keys: an answer only to a question; what it says stays until the next.
        if (key_done) assume (key_start);
        if (past_ok && !$past(key_start)) assume (key_paged == $past(key_paged) && key_address == $past(key_address));
    end
