
  reg moved = 0;
  always @(posedge clock) begin
    moved <= !reset;
    if (moved && !reset) begin
      // The job stays while ring and realigner are being told.
      told_of_a_job: assert (!(asking || handing) || begun);
      job_stays: assert (!begun || job_valid);
      ring_is_told: assert (!asking || job[0]);
    end
  end

  // AXI4: a burst stays in a block of 256 beats, so it is no longer than that and crosses no 4 KiB border.
  always @(posedge clock) begin
    // Control makes no job that writes nothing.
    if (!reset && job_valid && job[0]) assume (job[79:66] != 0);
    if (moved && !reset && state != SPLITTER_STATE_IDLE) begin
      ends_behind_its_start: assert (more || stop >= {4'h0, low[10:0]});
    end
    if (!reset && aw_valid) begin
      no_crossing: assert ({1'b0, aw_address[11:3]} + aw_length <= 511);
      only_the_last_ends_early: assert (aw_last || aw_address[10:3] + aw_length == 255);
    end
  end
