
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
