
    // The program's contract: it answers what is there, once.
    always @(posedge clock) begin
        if (answer_write) assume (write);
        if (answer_read || refuse_read) assume (read);
        assume (!(answer_read && refuse_read));
    end
