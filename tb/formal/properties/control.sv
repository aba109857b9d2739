
    always @(posedge clock) begin
        // From rx: a head stands until head_next.
        if (past_ok && $past(head_valid && !head_next)) assume (head_valid && head == $past(head) && probe == $past(probe));
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
        if (hold_done) assume (hold_valid);
        // From the host: the row of the QP that is worked on stays as it is (docs/stations/control.md, limits).
        assume (!(table_valid && table_ready && table_address[12:5] == state_index[7:0]));
        // The entry stream: where nothing is completed the completion's fields don't count, nor PSN and MSN where nothing is answered or written
        // (housekeeping's entries are wired from a head that may come and go).
        if (after_first && reset && was_reset) begin entry_low_in_reset: assert (!entry_valid); end
        if (past_ok && $past(entry_valid && !entry_ready)) begin
            entry_held: assert (entry_valid);
            entry_stands: assert (entry[22:0] == $past(entry[22:0]) && entry[71] == $past(entry[71]) && entry[107:84] == $past(entry[107:84]) && entry[243:232] == $past(entry[243:232]));
            answer_stands: assert (!(entry[14] || entry[13:12] != 0) || entry[70:23] == $past(entry[70:23]));
            completion_stands: assert (!entry[71] || entry[231:72] == $past(entry[231:72]));
        end
    end
