
    // Readers of the table hold their wish until it is granted.
    always @(posedge clock) begin
        if (past_ok && $past(lookup_read && !lookup_grant)) assume (lookup_read && lookup_entry == $past(lookup_entry));
        if (past_ok && $past(atomic_lookup_valid && !atomic_lookup_done)) assume (atomic_lookup_valid && atomic_lookup_entry == $past(atomic_lookup_entry));
    end
