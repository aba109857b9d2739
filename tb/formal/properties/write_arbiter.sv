
    // Granted groups whose last W hasn't been taken, oldest lowest: 0 payload, 1 completion, 2 ATOMIC.
    reg moved = 0;
    reg [9:0] ghost_grants = 0;
    reg [2:0] ghost_waiting = 0;
    reg atomic_busy = 0, atomic_ended = 0;
    reg [5:0] others_ended = 0;
    reg [1:0] ghost_newest = 0;
    reg [71:0] ghost_aw = 0;
    reg [72:0] ghost_w = 0;
    wire payload_grant = payload_aw_valid && payload_aw_ready;
    wire completion_grant = completion_aw_valid && completion_aw_ready;
    wire atomic_grant = atomic_aw_valid && atomic_aw_ready;
    wire payload_beat = payload_w_valid && payload_w_ready;
    wire completion_beat = completion_w_valid && completion_w_ready;
    wire atomic_beat = atomic_w_valid && atomic_w_ready;
    wire ghost_grant = payload_grant || completion_grant || atomic_grant;
    wire [1:0] ghost_granted = atomic_grant ? 2 : completion_grant ? 1 : 0;
    wire ghost_ends = payload_beat && payload_w_last || completion_beat && completion_w_last || atomic_beat && atomic_w_last;
    always @(posedge clock) begin
        moved <= !reset;
        if (reset) ghost_waiting <= 0;
        else begin
            ghost_waiting <= ghost_waiting + ghost_grant - ghost_ends;
            ghost_grants <= ((ghost_ends ? ghost_grants >> 2 : ghost_grants) & ~(10'h3ff << 2 * (ghost_waiting - ghost_ends))) | (ghost_grant ? {8'h00, ghost_granted} << 2 * (ghost_waiting - ghost_ends) : 10'h000);
        end
        if (ghost_grant) begin
            ghost_newest <= ghost_granted;
            ghost_aw <= atomic_grant ? {atomic_aw_address, atomic_aw_length} : completion_grant ? {completion_aw_address, completion_aw_length} : {payload_aw_address, payload_aw_length};
        end
        if (payload_beat) ghost_w <= {payload_w_data, payload_w_strobe, payload_w_last};
        if (completion_beat) ghost_w <= {completion_w_data, completion_w_strobe, completion_w_last};
        if (atomic_beat) ghost_w <= {atomic_w_data, atomic_w_strobe, atomic_w_last};
        // The READ responder holds the lock from before its read to after its B, and has one write at a time.
        atomic_busy <= !reset && (atomic_busy && !atomic_b_valid || atomic_grant);
        if (atomic_aw_valid || atomic_w_valid || atomic_busy) assume (atomic_lock);
        if (atomic_busy) assume (!atomic_aw_valid);
        // Each B answers a write of its ID whose last W was taken.
        atomic_ended <= !reset && !atomic_b_valid && (atomic_ended || atomic_beat && atomic_w_last);
        others_ended <= reset ? 0 : others_ended + (payload_beat && payload_w_last || completion_beat && completion_w_last) - (m_b_valid && m_b_id != 2);
        if (m_b_valid) assume (m_b_id <= 2 && (m_b_id == 2 ? atomic_ended : others_ended != 0));
        if (!reset) begin
            // What the arbiter remembers is what was granted.
            remembers_all: assert (ghost_waiting == order_count + atomic_turn);
            remembers_0: assert (order_count < 1 || ghost_grants[1:0] == {1'b0, order[0]});
            remembers_1: assert (order_count < 2 || ghost_grants[3:2] == {1'b0, order[1]});
            remembers_2: assert (order_count < 3 || ghost_grants[5:4] == {1'b0, order[2]});
            remembers_3: assert (order_count < 4 || ghost_grants[7:6] == {1'b0, order[3]});
            remembers_atomic: assert (!atomic_turn || (order_count == 0 && ghost_grants[1:0] == 2 && atomic_busy && !atomic_ended));
            remembers_b: assert (others_ended <= 26 && without_b == order_count + others_ended && without_b <= 26);
            atomic_alone: assert (!atomic_busy || (without_b == 0 && closed && atomic_turn == !atomic_ended));
            ended_is_busy: assert (!atomic_ended || atomic_busy);
            newest_is_kept: assert (!aw_valid || (ghost_newest == (atomic_granted ? 2 : granted) && ghost_aw == {aw_address, aw_length}));
            beat_is_kept: assert (!w_valid || ghost_w == {w_data, w_strobe, w_last});
            one_grant_at_once: assert (payload_grant + completion_grant + atomic_grant <= 1);
            one_beat_at_once: assert (payload_beat + completion_beat + atomic_beat <= 1);
            grants_have_room: assert (ghost_waiting <= 4);
            w_follows_its_aw: assert (!(payload_beat || completion_beat || atomic_beat) || ghost_waiting != 0);
            payload_in_turn: assert (!payload_beat || ghost_grants[1:0] == 0);
            completion_in_turn: assert (!completion_beat || ghost_grants[1:0] == 1);
            atomic_in_turn: assert (!atomic_beat || ghost_grants[1:0] == 2);
            aw_is_the_grant: assert (!m_aw_valid || {m_aw_id, m_aw_address, m_aw_length} == {1'b0, ghost_newest, ghost_aw});
            w_is_the_beat: assert (!m_w_valid || {m_w_data, m_w_strobe, m_w_last} == ghost_w);
            b_is_routed: assert ({payload_b_valid, completion_b_valid, atomic_b_valid} == {m_b_valid && m_b_id == 0, m_b_valid && m_b_id == 1, m_b_valid && m_b_id == 2});
        end
    end
