
    always @(posedge clock) begin
        // From rx: a head stands until head_next.
        if (past_ok && $past(head_valid && !head_next)) assume (head_valid && head == $past(head));
        // From registers: a command is held until it is done.
        if (past_ok && $past(command_valid && !command_done)) begin
            assume (command_valid && command_operation == $past(command_operation));
            assume (command_index == $past(command_index) && command_state == $past(command_state));
        end
        // From keys, the READ responder, Complete, the descriptor reader: an answer only to a question.
        if (key_done) assume (key_start);
        if (fetch_done) assume (fetch_start);
        if (request_done) assume (request_valid);
        if (response_done) assume (response_valid);
    end
