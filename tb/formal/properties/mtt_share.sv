
  // To the DMA reader: the page is there two cycles after a grant and stays until the next.
  reg [1:0] since_grant = 2;
  reg moved = 0;
  always @(posedge clock) begin
    moved <= !reset;
    if (reset) since_grant <= 2;
    else if (second_read && second_grant) since_grant <= 0;
    else if (since_grant != 2) since_grant <= since_grant + 1;
    // The DMA reader holds its wish, and doesn't ask again before it has its page.
    if (moved && !reset && $past(second_read && !second_grant)) assume (second_read);
    if (since_grant != 2) assume (!second_read);
    if (moved && !reset) begin
      granted_as_asked: assert (!second_grant || second_read);
      found_after_that: assert (!found || since_grant == 0);
      page_stands: assert (since_grant != 2 || second_page == $past(second_page));
    end
  end
