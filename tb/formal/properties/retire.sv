
  // What was taken of the head entry, this cycle's included.
  reg gave_ack = 0, gave_completion = 0, gave_event = 0, gave_serve = 0;
  // A sequence NAK that overtakes isn't the head's.
  wire ack_own = ack_valid && !early_offered;
  wire gone_early = early_stands && early_place == 1;
  wire owes_ack = (head[14] && !gone_early) || (failed && !head[241]);
  wire ack_given = gave_ack || (ack_own && ack_ready);
  wire completion_given = gave_completion || (completion_valid && completion_ready);
  wire event_given = gave_event || (event_valid && event_ready);
  wire serve_given = gave_serve || (serve_valid && serve_ready);
  reg [1:0] dones = 0;
  always @(posedge clock) begin
    gave_ack <= ack_given && !pop && !reset;
    gave_completion <= completion_given && !pop && !reset;
    gave_event <= event_given && !pop && !reset;
    gave_serve <= serve_given && !pop && !reset;
    dones <= (pop || reset) ? 0 : dones + (done_valid && done_ready);
    if (!reset) begin
      sends_its_head: assert (!sending || head_valid);
      one_completion: assert (!pop || completion_given == head[71]);
      one_serve: assert (!pop || serve_given == head[242]);
      one_answer: assert (!pop || ack_given == owes_ack);
      one_event: assert (!pop || event_given == (head[232] || failed));
      no_second: assert (!(completion_valid && gave_completion) && !(ack_own && gave_ack) && !(event_valid && gave_event) && !(serve_valid && gave_serve));
      after_its_data: assert (!(ack_own || completion_valid || event_valid || serve_valid) || dones == head[13:12]);
      counts_dones: assert (dones == taken);
      due_is_of_the_head: assert (!sending || ((completion_due || gave_completion) == head[71] && (serve_due || gave_serve) == head[242]
        && (ack_due || gave_ack) == owes_ack && (event_due || gave_event) == (head[232] || failed)));
      overtakes_no_end: assert (!early_offered || ends_ahead == 0);
      nothing_due: assert (sending || !(completion_due || serve_due || ack_due || event_due || gave_ack || gave_completion || gave_event || gave_serve));
    end
  end
