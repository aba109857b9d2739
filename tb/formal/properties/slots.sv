
  // A slot, whichever: what is true of it is true of each.
  (* anyconst *) reg [5:0] chosen;
  wire [6:0] in_pool = next_slot - oldest_slot;
  wire [5:0] place = chosen - oldest_slot[5:0];
  wire frame_read = s_release_valid & s_release_beat[13] & !s_release_beat[12];
  wire ends = frame_read | (done_valid & done_ready);
  wire [5:0] ended = frame_read ? s_release_beat[5:0] : done_slot;

  reg begun = 0;
  reg took = 0;
  // It has been taken and not come back; its end has been said.
  reg held = 0;
  reg over = 0;
  reg [1:0] waits = 0;
  always @(posedge clock) begin
    begun <= !reset;
    took <= take & !reset;
    if (reset) begin
      held <= 0;
      over <= 0;
      waits <= 0;
    end else begin
      if (leaves & oldest_slot[5:0] == chosen) held <= 0;
      if (ends & ended == chosen) over <= 1;
      if (take & next_slot[5:0] == chosen) begin
        held <= 1;
        over <= 0;
      end
      waits <= (in_pool != 0 & done[oldest_slot[5:0]] & !leaves) ? waits + 1 : 0;
      // The keeper's duties: it takes what is free, looks again after that, and ends each slot once.
      assume (!take | (free != 0 & !took));
      assume (!(ends & ended == chosen) | (held & !over));
    end
    if (begun & !reset) begin
      // No double use.
      taken_once: assert (!(take & next_slot[5:0] == chosen & held));
      comes_back_when_done: assert (!(leaves & oldest_slot[5:0] == chosen) | (held & over));
      done_is_said: assert (!(held & done[chosen]) | over);
      said_is_done: assert (!(held & over) | done[chosen] | (finish & finish_slot == chosen));
      finished_is_held: assert (!(finish & finish_slot == chosen) | (held & over));
      // No leak: what is in the pool is what is held, and the rest is free.
      held_is_in_the_pool: assert (held == (place < in_pool));
      never_more_than_all: assert (in_pool <= ALL);
      leaves_what_is_done: assert (!leaves | (in_pool != 0 & done[oldest_slot[5:0]]));
      the_rest_is_free: assert ($past(!begun) | free == ALL - $past(in_pool));
      leaves_at_once: assert (waits < 2);
    end
  end
