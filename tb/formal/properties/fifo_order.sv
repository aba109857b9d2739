
    // One word, watched from the moment that the solver chooses: it comes out after exactly those before it, unchanged.
    (* anyseq *) wire choose;
    reg watching = 0;
    reg [AHEAD:0] before = 0;
    reg [AHEAD:0] inside = 0;
    reg [DATA:0] watched;
    wire in = s_valid && s_ready;
    wire out = m_valid && m_ready;
    always @(posedge clock) begin
        inside <= reset ? 0 : inside + in - out;
        if (reset) watching <= 0;
        else if (!watching && in && choose) begin
            watching <= 1;
            watched <= s_data;
            before <= inside - out;
        end else if (watching && out) begin
            before <= before - 1;
            if (before == 0) watching <= 0;
        end
        if (!reset && watching && before == 0 && m_valid) begin in_order_unchanged: assert (m_data == watched); end
        if (!reset && watching) begin not_lost: assert (inside > before); end
    end
