
    // The frame ring's RAM: its output stands while it isn't read.
    always @(posedge clock) if (past_ok && !$past(ram_enable)) assume (ram_data == $past(ram_data));
