
  // One check from Idle: the words of its row as they come, and what they must say at the end.
  reg [31:0] w0, w1, w2, w3, w4, w5, w6;
  reg [10:0] asked, asked_before;
  reg in_check = 0;
  wire [10:0] row = {key[15:8], 3'h0};
  wire [63:0] region_va = {w3, w2};
  wire [63:0] region_length = {w5, w4};
  wire [63:0] place = key_va - region_va;
  wire [64:0] reach = {1'b0, place} + key_length;
  wire [51:0] page_number = w1[15:0] + (key_va[63:12] - region_va[63:12]);
  always @(posedge clock) begin
    if ($initstate) assume (step == KEY_STEP_IDLE && !walking);
    // The asker holds its question from start to done.
    if (!$initstate && $past(key_start && !key_done)) begin
      assume (key_start && key == $past(key) && key_op == $past(key_op) && key_va == $past(key_va) && key_length == $past(key_length));
      assume (key_pd == $past(key_pd) && key_access == $past(key_access));
    end
    asked <= ram_read_address;
    asked_before <= asked;
    if (!$initstate) in_check <= (in_check || step == KEY_STEP_IDLE) && key_start;
    if (step == KEY_STEP_FLAGS) w0 <= word;
    if (step == KEY_STEP_VA_LOW) w2 <= word;
    if (step == KEY_STEP_VA_HIGH) w3 <= word;
    if (step == KEY_STEP_LENGTH_LOW) w4 <= word;
    if (step == KEY_STEP_LENGTH_HIGH) w5 <= word;
    if (step == KEY_STEP_ADDRESS_LOW) begin
      w6 <= word;
      w1 <= word;
    end
    if (step == KEY_STEP_FLAGS) begin reads_flags: assert (asked_before == row); end
    if (step == KEY_STEP_VA_LOW) begin reads_va_low: assert (asked_before == (row | 2)); end
    if (step == KEY_STEP_VA_HIGH) begin reads_va_high: assert (asked_before == (row | 3)); end
    if (step == KEY_STEP_LENGTH_LOW) begin reads_length_low: assert (asked_before == (row | 4)); end
    if (step == KEY_STEP_LENGTH_HIGH) begin reads_length_high: assert (asked_before == (row | 5)); end
    if (step == KEY_STEP_ADDRESS_LOW) begin reads_place: assert (asked_before == (row | (paged ? 1 : 6))); end
    if (step == KEY_STEP_DONE && !key_op) begin reads_address_high: assert (asked_before == (row | 7)); end
    // No row changes under a check; a check itself writes only to invalidate.
    if (step != KEY_STEP_IDLE) begin no_write_under_a_check: assert (!ram_write_enable || (key_op && step == KEY_STEP_DONE)); end
    if (key_done && key_ok && !key_op && key_length != 0) begin
      // R52, R67: what is granted is a live region of that tag and PD, with the right asked for, and lies inside it, without a wrap.
      is_valid: assert (w0[8]);
      tag_is_right: assert (w0[7:0] == key[7:0]);
      index_is_of_the_table: assert (key[31:16] == 0);
      right_is_there: assert (key_access == 0 || (w0[9 +: 4] & key_access) != 0);
      pd_is_right: assert (w0[16 +: 16] == key_pd);
      begins_inside: assert (key_va >= region_va);
      ends_inside: assert (reach <= {1'b0, region_length});
      address_is_the_place: assert (key_paged || key_address == {word, w6} + place);
      paged_as_the_row_says: assert (key_paged == w0[13]);
      offset_is_kept: assert (!key_paged || key_address[11:0] == key_va[11:0]);
      page_is_the_rows: assert (!key_paged || key_address[63:12] == page_number);
      page_is_of_the_table: assert (!key_paged || key_address[63:12] < 4096);
    end
    // R62: only a live region of that PD that may be invalidated.
    if (key_done && key_ok && key_op) begin
      invalidates_its_own: assert (w0[14] && w0[8] && w0[7:0] == key[7:0] && w0[16 +: 16] == key_pd && key[31:16] == 0);
    end
  end
