
  reg moved = 0;
  always @(posedge clock) begin
    moved <= !reset;
    // The user's duty: only while there is room.
    if (!reset) begin issued_with_room: assert (!issue || room); end
    if (moved && !reset) begin
      // Retired, then answered, then issued: never more than DEPTH apart, so no slot is used twice.
      no_overflow: assert (used <= DEPTH);
      answered_were_issued: assert (((issue_pointer - response_pointer) & POINTER_MASK) <= used);
      retired_were_answered: assert (((response_pointer - retire_pointer) & POINTER_MASK) <= used);
      b_waits_for_none: assert (!($past(b_valid) && $past(response_pointer == issue_pointer)) || response_pointer == $past(response_pointer));
    end
  end
