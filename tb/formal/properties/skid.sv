
    // At most two words inside; in order and unchanged.
    reg [1:0] inside = 0;
    reg [DATA:0] older, newer;
    wire in = s_valid && s_ready;
    wire out = m_valid && m_ready;
    always @(posedge clock) begin
        inside <= reset ? 0 : inside + in - out;
        if (in && (inside == 0 || (inside == 1 && out))) older <= s_data;
        else if (out) older <= newer;
        if (in && !(inside == 0 || (inside == 1 && out))) newer <= s_data;
        if (!reset) begin
            no_overflow: assert (inside <= 2);
            offers_what_is_inside: assert (m_valid == (inside != 0));
            accepts_below_two: assert (s_ready == (inside != 2));
            in_order_unchanged: assert (!m_valid || m_data == older);
        end
    end
