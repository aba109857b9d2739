
  // To the DMA reader: the page is there three cycles after a grant and stays until the next.
  reg [1:0] since_grant = 3;
  reg moved = 0;
  always @(posedge clock) begin
    moved <= !reset;
    if (reset) since_grant <= 3;
    else if (second_read && second_grant) since_grant <= 0;
    else if (since_grant != 3) since_grant <= since_grant + 1;
    // The DMA reader doesn't ask again before it has its page.
    if (since_grant != 3) assume (!second_read);
    if (moved && !reset) begin
      looked_after_grant: assert (!looked || since_grant == 0);
      found_after_that: assert (!found || since_grant == 1);
      page_stands: assert (since_grant != 3 || second_page == $past(second_page));
    end
  end
