
    // R21, for every pair of 24-bit numbers, over the wrap.
    reg [2:0] steady = 0;
    wire [23:0] from_pivot = psn - pivot;
    always @(posedge clock) begin
        if (after_first && psn == $past(psn) && pivot == $past(pivot)) steady <= steady == 7 ? 7 : steady + 1;
        else steady <= 0;
        if (after_first && steady >= 2 && psn == $past(psn) && pivot == $past(pivot)) begin
            equal_is_epsn: assert (equal == (psn == pivot));
            earlier_is_half_behind: assert (earlier == (from_pivot >= 24'h800000));
            never_both: assert (!(equal && earlier));
        end
        // ePSN moves only by what it is told.
        if (after_first) begin
            if ($past(jump)) begin jumps: assert (pivot == $past(pivot) + $past(psns)); end
            else if ($past(renew)) begin is_renewed: assert (pivot == $past(row_word[23:0])); end
            else if ($past(adopt)) begin is_adopted: assert (pivot == $past(psn)); end
            else if ($past(load)) begin is_loaded: assert (pivot == $past(word[23:0])); end
            else begin stays: assert (pivot == $past(pivot)); end
        end
    end
