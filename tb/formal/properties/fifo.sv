
  // Words that went in, that came out, and that are inside, the one in the output register included.
  reg moved = 0;
  reg [LAST:0] ghost_in = 0, ghost_out = 0;
  wire [LAST:0] inside = ghost_in - ghost_out;
  wire [LAST-1:0] distance = write_pointer - read_pointer;
  always @(posedge clock) begin
    moved <= !reset;
    ghost_in <= reset ? 0 : ghost_in + (s_valid && s_ready);
    ghost_out <= reset ? 0 : ghost_out + (m_valid && m_ready);
    if (moved && !reset) begin
      // No overflow, no underflow, no leak.
      no_overflow: assert (used <= 1 << LAST);
      // What the handshakes look at, and what the RAM is addressed by, say the same as the count.
      full_is_the_count: assert (full == (used == 1 << LAST));
      some_is_the_count: assert (some == (used != 0));
      pointers_are_the_count: assert (used[LAST-1:0] == distance);
      nothing_leaks: assert (inside == used + out_valid);
      nothing_from_nowhere: assert (!m_valid || inside != 0);
      accepts_below_capacity: assert (s_ready || used == 1 << LAST);
      comes_out: assert (!$past(used != 0) || out_valid);
      pointers_are_counts: assert (ghost_in[LAST-1:0] == write_pointer);
      held: assert (!$past(m_valid && !m_ready) || m_valid);
      offer_stands: assert (!$past(m_valid && !m_ready) || m_data == $past(m_data));
    end
  end
