; SPDX-License-Identifier: MIT OR Apache-2.0
; READ as responder: in logic, the upper half of the program (three cycles an instruction).
;
; A QP sends the responses of one READ at a time, one a turn. What arrives for it meanwhile stays in the ring, and the next response goes out instead: so what is asked for
; later is answered later (R36), and never more than one READ waits. Of the last two READs the places are kept, for duplicates (R28).

.upper

.equ qp.serve, qp.s15       ; t0 PSN of the next response; b3:
                            ;   31 responses are due, 30 this turn is theirs, 29 the next is the first, 28 it is of place b, 27 place b is the newer, 26 a duplicate is answered
.equ ALTERNATE, 0x40<<24
.equ qp.serve_left, qp.s16  ; bytes that are due
.equ qp.stored_a, qp.s14    ; t0 first PSN of the READ in place a, 31 there is one
.equ qp.stored_b, qp.u6
.equ PLACE_A, 41            ; qp.s10 to s13: virtual address (low, high), key, length
.equ PLACE_B, 11            ; qp.u2 to u5

.var stored                 ; bit 28: place b
.equ skipped, position      ; bytes of the stored READ before those asked for
.equ behind, packet_rest    ; ... and behind them

; A READ request in order.
read_request:
    ld.b2   qp.state    ; R57
    bnz     invalid
    ld.h0   meta        ; R49
    bnz     invalid
    ld.b0   qp.w0       ; R53
    bbs     7, .allowed
    jmp     invalid
.allowed:
    ld.b2   qp.w20      ; R59
    and     #31
    bz      invalid
    ld      x3          ; R50
    bbc     31, .short
    add     a
    bnz     invalid
    ld      x3
.short:
    call    packets     ; R75
    bbc     23, .few
    jmp     invalid
.few:
    st      packet_next
    call    request_key
    bz      access
    ld      qp.serve    ; the older place is the new one's
    xor     #0x08<<24
    and     #0x08<<24
    st      t0
    add     t0
    st      stored
    or      t0
    or      #0xa0<<24
    st      qp.serve
    call    at_place
    ld      x1
    st      [y+]
    ld      x0
    st      [y+]
    ld      x2
    st      [y+]
    ld      x3
    st      [y+]
    st      qp.serve_left
    ld.t0   bth2
    st.t0   qp.serve
    or      #0x80<<24
    st      t0
    ld      stored
    bbs     28, .b
    ld      t0
    st      qp.stored_a
    jmp     .kept
.b:
    ld      t0
    st      qp.stored_b
.kept:
    ld.t0   bth2
    add     packet_next
    st.t0   qp.epsn
    ld      qp.msn
    add     #1
    ld.t0   a
    st      qp.msn
    inc     c.accepted
    ret

; R27, R28: a READ or ATOMIC request that was seen before (counted).
duplicate_read:
    call    find_stored
    bz      turn.end
    call    request_key
    bz      turn.end
    ld      #0x04<<24
serve_again:            ; A: bit 26
    st      t0
    ld      qp.serve
    and     #0x08<<24
    or      t0
    or      stored
    or      #0xa0<<24
    st      qp.serve
    ld.t0   bth2
    st.t0   qp.serve
    ld      x3
    st      qp.serve_left
    ret

; A request while READ responses are due. One that asks for the rest of that READ again is served from there (R33), every other one waits.
request_behind:
    ld.t0   bth2
    sub     qp.epsn
    bbc     23, .waits
    call    find_stored
    bz      .waits
    ld      behind
    bnz     .waits
    ld      stored
    xor     qp.serve
    bbs     28, .waits
    call    request_key
    bz      .waits
    inc     c.duplicate
    ld      qp.serve
    and     #0x04<<24
    jmp     serve_again
.waits:
    ld      #1
    st      held

; The next response of X's QP.
serve_read:
    ld      qp.serve
    and     #0x10<<24
    st      stored
    bnz     .b
    ld      qp.serve
    sub     qp.stored_a
    jmp     .distance
.b:
    ld      qp.serve
    sub     qp.stored_b
.distance:
    ld.t0   a
    call    times_pmtu
    st      position
    ld      qp.serve_left
    cmp.h0  qp.pmtu
    bt      .short
    ld.h0   qp.pmtu
.short:
    st      packet_count
    clr     frame_op
    clr     extension
    ld      #0x0e       ; MIDDLE, or FIRST
    st      t1
    ld      qp.serve_left
    cmp     packet_count
    bnz     .not_last
    inc     t1          ; LAST, or ONLY
.not_last:
    ld      qp.serve
    bbc     29, .not_first
    ld      t1
    bbs     0, .only
    sub     #2
.only:
    add     #1
    st      t1
.not_first:
    ld      t1
    st.b3   frame_op
    cmp     #0x0e
    bz      .middle
    ld      #0x1f<<24
    or      qp.msn
    st      tx+14
    inc     extension
.middle:
    ld.t0   qp.serve
    st      frame_psn
    ld      packet_count
    bz      .filled     ; R51
    st      piece_left
    st      key_length
    call    at_place
    ld      [y+]
    add     position
    st      key_low
    ld      [y+]
    adc     #0
    st      key_high
    ld      [y]
    st      key_key
    ld      #1<<11
    st      key_access
    call    key_check   ; the key may have ended since
    bz      .no_key
    ld      extension
    add     #tx+14
    add     a
    add     a
    st      piece_at
    ld      key_address
    call    gather_from
    bnz     .unreadable
.filled:
    call    send_gathered
    inc     c.tx_response
    ld      qp.serve
    add     #1
    st.t0   qp.serve
    ld      qp.serve_left
    sub     packet_count
    st      qp.serve_left
    ld.b3   qp.serve
    and     #0xdf
    st.b3   qp.serve
    ld      qp.serve_left
    bnz     turn.end
.over:
    ld.b3   qp.serve
    and     #0x7f
    st.b3   qp.serve
    jmp     drain       ; what was held behind it
.no_key:
    ld      qp.serve    ; of a duplicate: silently
    bbs     26, .over
    ld      #0x62
    jmp     .refuse
.unreadable:            ; R69
    ld      #0x63
.refuse:
    st      fatal_cause
    ld      frame_psn
    jmp     refuse_at

; The stored READ that holds this request (R28): `stored`, `behind`. Z: none does.
find_stored:
    ld      op
    bbc     READ, .none
    ld      #0x10<<24
    st      stored
    ld      qp.stored_b
    call    .holds
    bnz     turn.end
    clr     stored
    ld      qp.stored_a
.holds:                 ; A: its first PSN
    bbc     31, .none
    st      t0
    ld      bth2
    sub     t0
    ld.t0   a
    bbs     23, .none
    call    times_pmtu
    st      skipped
    call    at_place
    ld      [y+]
    add     skipped
    st      t0
    ld      [y+]
    adc     #0
    cmp     x0
    bnz     .none
    ld      t0
    cmp     x1
    bnz     .none
    ld      [y+]
    cmp     x2
    bnz     .none
    ld      [y]
    sub     skipped
    bt      .none
    bnz     .inside
    ld      skipped     ; at its end: only the empty READ itself
    bnz     .none
.inside:
    sub     x3
    bt      .none
    st      behind
    ld      x3
    bnz     turn.end
    ld      [y]
    bnz     .none
    ld      #1
    ret
.none:
    ld      #0
    ret

; R52 for the request's bytes. Z: refused. R51: no bytes, no check.
request_key:
    ld      x3
    st      key_length
    bz      .empty
    ld      x2
    st      key_key
    ld      x1
    st      key_low
    ld      x0
    st      key_high
    ld      #1<<11
    st      key_access
    jmp     key_check
.empty:
    ld      #1
    ret

; Y = the four words of place `stored`. Uses t3.
at_place:
    ld.b0   qp.qpn
    ld.w3   a           ; times 256
    shr     a
    shr     a
    st      t3
    ld      stored
    bbs     28, .b
    ld      #PLACE_A
    jmp     .at
.b:
    ld      #PLACE_B
.at:
    add     t3
    st      @y
    ret

; R22. A: bytes, 2^31 at most. A: packets, at least one. Uses t1.
packets:
    add.h0  qp.pmtu
    sub     #1
    ld.t1   a
    st      t1
    ld      qp.pmtu
    bbc     9, .pmtu_256
    shr     t1
    st      t1
.pmtu_256:
    ld      t1
    bnz     .some
    ld      #1
.some:
    ret

; A: packets. A: their bytes. Uses t1.
times_pmtu:
    ld.w3   a           ; times 256
    st      t1
    ld      qp.pmtu
    bbc     9, .pmtu_256
    ld      t1
    add     a
    ret
.pmtu_256:
    ld      t1
    ret

; packet_count bytes from bus address A to byte piece_at of the frame, and the pad. Not Z: A is the status of what went wrong.
gather_from:
    st      key_address
    ld      packet_count
    st      key_length
    call    read_piece
    bnz     gather.unreadable
    call    piece_done
    jmp     gather.pad

; The frame whose payload stands in its place: packet_count, extension, frame_op, frame_psn.
send_gathered:
    ld      packet_count
    add     #3
    shr     a
    shr     a
    add     extension
    add     a
    add     a
    st      frame_length
    ld      #0          ; R5: pad
    sub     packet_count
    and     #3
    call    times_16
    or.b2   frame_op
    st.b2   frame_op
    ld      extension
    add     #14
    st      frame_numbers
    jmp     send_frame
