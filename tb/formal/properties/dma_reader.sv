
    // From the translation table's share: the page is there two cycles after a grant and stays until the next (asserted of the DMA writer).
    reg [1:0] since_grant = 0;
    always @(posedge clock) begin
        if (mtt_read && mtt_grant) since_grant <= 0;
        else if (since_grant != 2) since_grant <= since_grant + 1;
        if (past_ok && since_grant == 2) assume (mtt_page == $past(mtt_page));
    end
