
    // Granted groups whose last W hasn't been taken, oldest lowest: 0 payload, 1 completion, 2 ATOMIC.
    reg [9:0] grants = 0;
    reg [2:0] waiting = 0;
    reg atomic_busy = 0, atomic_ended = 0;
    reg [5:0] others_ended = 0;
    reg [1:0] newest = 0;
    reg [71:0] newest_aw = 0;
    reg [72:0] newest_w = 0;
    wire payload_grant = payload_aw_valid && payload_aw_ready;
    wire completion_grant = completion_aw_valid && completion_aw_ready;
    wire atomic_grant = atomic_aw_valid && atomic_aw_ready;
    wire payload_beat = payload_w_valid && payload_w_ready;
    wire completion_beat = completion_w_valid && completion_w_ready;
    wire atomic_beat = atomic_w_valid && atomic_w_ready;
    wire grant = payload_grant || completion_grant || atomic_grant;
    wire [1:0] granted = atomic_grant ? 2 : completion_grant ? 1 : 0;
    wire ends = payload_beat && payload_w_last || completion_beat && completion_w_last || atomic_beat && atomic_w_last;
    always @(posedge clock) begin
        if (reset) waiting <= 0;
        else begin
            waiting <= waiting + grant - ends;
            grants <= ((ends ? grants >> 2 : grants) & ~(10'h3ff << 2 * (waiting - ends))) | (grant ? {8'h00, granted} << 2 * (waiting - ends) : 10'h000);
        end
        if (grant) begin
            newest <= granted;
            newest_aw <= atomic_grant ? {atomic_aw_address, atomic_aw_length} : completion_grant ? {completion_aw_address, completion_aw_length} : {payload_aw_address, payload_aw_length};
        end
        if (payload_beat) newest_w <= {payload_w_data, payload_w_strobe, payload_w_last};
        if (completion_beat) newest_w <= {completion_w_data, completion_w_strobe, completion_w_last};
        if (atomic_beat) newest_w <= {atomic_w_data, atomic_w_strobe, atomic_w_last};
        // The READ responder holds the lock from before its read to after its B, and has one write at a time.
        atomic_busy <= !reset && (atomic_busy && !atomic_b_valid || atomic_grant);
        if (atomic_aw_valid || atomic_w_valid || atomic_busy) assume (atomic_lock);
        if (atomic_busy) assume (!atomic_aw_valid);
        // Each B answers a write of its ID whose last W was taken.
        atomic_ended <= !reset && !atomic_b_valid && (atomic_ended || atomic_beat && atomic_w_last);
        others_ended <= reset ? 0 : others_ended + (payload_beat && payload_w_last || completion_beat && completion_w_last) - (m_b_valid && m_b_id != 2);
        if (m_b_valid) assume (m_b_id <= 2 && (m_b_id == 2 ? atomic_ended : others_ended != 0));
        if (!reset) begin
            one_grant_at_once: assert (payload_grant + completion_grant + atomic_grant <= 1);
            one_beat_at_once: assert (payload_beat + completion_beat + atomic_beat <= 1);
            grants_have_room: assert (waiting <= 4);
            w_follows_its_aw: assert (!(payload_beat || completion_beat || atomic_beat) || waiting != 0);
            payload_in_turn: assert (!payload_beat || grants[1:0] == 0);
            completion_in_turn: assert (!completion_beat || grants[1:0] == 1);
            atomic_in_turn: assert (!atomic_beat || grants[1:0] == 2);
            aw_is_the_grant: assert (!m_aw_valid || {m_aw_id, m_aw_address, m_aw_length} == {1'b0, newest, newest_aw});
            w_is_the_beat: assert (!m_w_valid || {m_w_data, m_w_strobe, m_w_last} == newest_w);
            b_is_routed: assert ({payload_b_valid, completion_b_valid, atomic_b_valid} == {m_b_valid && m_b_id == 0, m_b_valid && m_b_id == 1, m_b_valid && m_b_id == 2});
        end
    end
