
    always @(posedge clock) begin
        // From control: a request is held with its head until it is done.
        if (past_ok && $past(request_valid && !request_done)) begin
            assume (request_valid && head == $past(head) && request_index == $past(request_index));
            assume (request_duplicate == $past(request_duplicate) && request_msn == $past(request_msn));
        end
        // From keys and the translation table: an answer only to a question.
        if (key_done) assume (key_start);
        if (atomic_lookup_done) assume (atomic_lookup_valid);
        if (atomic_locked) assume (atomic_lock);
    end
