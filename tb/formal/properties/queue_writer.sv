
    // Inputs are held while active (completion queues).
    reg [2:0] beats = 0;
    reg aw_sent = 0;
    wire [345:0] inputs = {is_event, base, slot, phase, word0, word1, word2, word3, word4, event0, event1};
    always @(posedge clock) begin
        if (past_ok && $past(active && !done)) assume (active && inputs == $past(inputs));
        if (reset || (past_ok && $past(done))) assume (!active);
        beats <= reset || done ? 0 : beats + (w_valid && w_ready);
        aw_sent <= !reset && !done && (aw_sent || aw_valid && aw_ready);
        if (!reset) begin
            // AXI4: an entry is aligned to its size (so no border of 4 KiB is crossed); WLAST on the beat that AWLEN says; one AW.
            no_crossing: assert (!aw_valid || (is_event ? aw_length == 1 && aw_address[3:0] == 0 : aw_length == 3 && aw_address[4:0] == 0));
            last_is_counted: assert (!w_valid || w_last == (beats == (is_event ? 1 : 3)));
            one_aw: assert (!(aw_valid && aw_sent));
            done_is_whole: assert (!done || ((aw_sent || aw_valid && aw_ready) && beats + (w_valid && w_ready) == (is_event ? 2 : 4)));
            only_active: assert (active || (!aw_valid && !w_valid));
        end
    end
