
  // Words inside: in the RAM and in the two registers behind it.
  reg moved = 0;
  reg [10:0] inside = 0;
  wire [10:0] stored = write - read;
  always @(posedge clock) begin
    moved <= !reset;
    inside <= reset ? 0 : inside + (s_valid && s_ready) - (m_valid && m_ready);
    if (moved && !reset) begin
      no_overflow: assert (stored <= CAPACITY && room <= CAPACITY);
      nothing_leaks: assert (inside == stored + ahead_valid + valid);
      room_is_what_is_left: assert (room + stored + fetched == CAPACITY);
      open_is_room: assert (open == (room != 0));
    end
  end
