; SPDX-License-Identifier: MIT OR Apache-2.0
; The main loop: one thing at a time, in turns. docs/stations/micro.md says what the other files may use.

.var wqe, 16            ; a WQE as read from memory
.var t0                 ; scratch of the routine that runs; a call may change them unless it says not
.var t1
.var t2
.var t3

boot:
    ld      #0          ; all 512 words are cleared
    st      @y
    st      @shift
    ld      #255
    st      @count
    mv      @zero, [y+], repeat
    ld      #255
    st      @count
    mv      @zero, [y+], repeat
    mv      @zero, [y+]
    mv      @zero, [y+]
    call    registers_reset

main:
    ld      @status
    bbc     0, .no_frame
    call    rx_frame
.no_frame:
    ld      @status
    bbc     1, .no_write
    call    lite_write
.no_write:
    ld      @status
    bbc     2, .no_read
    call    lite_read
.no_read:
    call    turn
    jmp     main

; Entries of the send ring.
send_slots:
    ld.b0   qp.w8
    call    over_16
    bit     a
    ret

times_16:
    add     a
    add     a
    add     a
    add     a
    ret
