
  // From the translation table's share: the page is there two cycles after a grant and stays until the next (asserted of the DMA writer).
  reg [1:0] since_grant = 2;
  reg moved = 0;
  always @(posedge clock) begin
    moved <= !reset;
    if (reset) since_grant <= 2;
    else if (mtt_read && mtt_grant) since_grant <= 0;
    else if (since_grant != 2) since_grant <= since_grant + 1;
    if (moved && !reset && since_grant == 2) assume (mtt_page == $past(mtt_page));
    if (moved && !reset) begin
      // A job is copied as it is taken; a page is asked for before its burst.
      asks_after_the_last: assert (!mtt_read || since_grant == 2);
      looks_when_paged: assert (state != READ_STATE_LOOK || paged);
      taken_when_idle: assert (!job_ready || state == READ_STATE_IDLE);
      waits_one: assert (state != READ_STATE_READY || (paged && since_grant == 0));
      page_is_there: assert ((state != READ_STATE_COUNT && state != READ_STATE_CHECK && state != READ_STATE_ISSUE) || since_grant >= 1);
      page_is_used: assert ((state != READ_STATE_LOW && state != READ_STATE_HIGH && state != READ_STATE_IDLE) || since_grant == 2);
    end
  end

  // AXI4: a burst stays in a block of 64 beats.
  always @(posedge clock) begin
    if (!reset && job_valid) assume (job[78:65] != 0);
    if (moved && !reset && state != READ_STATE_IDLE) begin
      ends_behind_its_start: assert (more || stop >= {6'h00, low[8:0]});
    end
    if (!reset && ar_valid) begin
      no_crossing: assert ({1'b0, ar_address[8:3]} + ar_length <= 63);
    end
  end
