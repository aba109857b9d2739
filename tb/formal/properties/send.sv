
    // From keys: an answer only to a question.
    always @(posedge clock) if (key_done) assume (key_start);
