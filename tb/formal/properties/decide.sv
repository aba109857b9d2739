
    // A packet that is held while it is judged.
    reg [2:0] steady = 0;
    wire [74:0] packet = {rc, datagram, send, write, start, finish, response, answered, atomic, payload_length, pad_count, dma_length, pmtu, remote_write, remote_read, remote_atomic, equal, earlier, nak, message};
    always @(posedge clock) begin
        steady <= after_first && packet == $past(packet) ? (steady == 7 ? 7 : steady + 1) : 0;
        if (after_first && steady >= 3 && packet == $past(packet)) begin
            // RC: only ePSN is executed; what is handed to the READ responder is ePSN or a duplicate; nothing beyond.
            only_epsn_is_executed: assert (!(execute && rc) || equal);
            handed_is_expected_or_duplicate: assert (!hands || (rc && (equal || earlier)));
            beyond_is_refused: assert (!(rc && !equal && !earlier) || (!execute && !hands && (response || verdict == 5'h07 || verdict == 5'h08)));
            a_response_is_not_executed: assert (!(rc && response) || !execute);
        end
    end
