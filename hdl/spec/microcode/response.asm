; SPDX-License-Identifier: MIT OR Apache-2.0
; What comes back: ACK, NAK, RNR NAK, READ responses.

.equ BAD_RESPONSE, 7        ; status BAD_RESPONSE_ERROR

.equ response_at, rest      ; how far the PSN is beyond qp.oldest
.equ response_words, op     ; b1: words of extension headers

response:
    st      response_words
    ld.b0   qp.state
    cmp     #3
    bt      ghost_response
    ld      qp.highest
    sub     qp.oldest
    ld.t0   a
    st      t0
    ld.t0   bth2
    sub     qp.oldest
    ld.t0   a
    st      response_at
    cmp     t0
    bnt     ghost_response
    inc     c.response
    ld.b3   bth0
    cmp     #0x11
    bz      acknowledge
    bt      read_response
bad_response:
    inc     c.bad_response
    ld      #BAD_RESPONSE
    jmp     fail
ghost_response:
    inc     c.ghost_ack
    ret

acknowledge:
    ld.b3   x0
    tst     #0xe0
    bnz     .negative
    ld      response_at
    add     #1
    jmp     acknowledge_before
.negative:
    ld      response_at ; a NAK acknowledges what is before it
    bz      .here
    call    acknowledge_before
    ld      response_at
    bz      turn.end    ; R34 came first
.here:
    ld.b3   x0
    cmp     #0x60
    bz      .sequence
    bt      .not_ready
    cmp     #0x64
    bnt     bad_response
    st      fatal_cause ; 61 to 63
    sub     #0x61 - 9
    jmp     fail_named
.sequence:              ; R25
    ld.t0   bth2
    jmp     rewind
.not_ready:
    tst     #0x40
    bnz     bad_response
    bbc     5, bad_response
    ld      qp.until    ; R44 to R46
    bnz     turn.end
    ld.b1   qp.w19
    and     #7
    cmp     #7
    bz      .for_ever
    ld.b3   qp.sending
    bz      .exceeded
    sub     #1
    st.b3   qp.sending
.for_ever:
    inc     c.rnr_wait
    ld.t0   bth2
    call    rewind
    ld.b1   qp.sending
    and     #0xef       ; the ACK timer stands still
    st.b1   qp.sending
    ld.b3   x0          ; R43: the code's time, in units of 10 us: 2^(n/2), or 3 * 2^((n-3)/2); code 0 is as 32
    and     #31
    bnz     .code
    ld      #32
.code:
    st      t0
    shr     a
    bit     a
    st      t1
    ld      t0
    bbc     0, .even
    ld      t1
    add     a
    add     t1
    shr     a
    st      t1
.even:
    ld      t1          ; times 2.5 and more: ticks of 4.096 us
    add     a
    st      t0
    ld      t1
    shr     a
    add     t0
    add     #2
    add     now
    or      #1
    st      qp.until
    ret
.exceeded:
    ld      #13
    jmp     fail

; A: how many PSNs from qp.oldest on are acknowledged (not 0). Where that stops before a READ that misses responses, response_at is 0 afterwards.
acknowledge_before:
    st      t0
    ld.b0   qp.sending
    and     #15
    cmp     #SEND_READ
    bz      implied_nak
    ld      qp.oldest
    add     t0
    ld.t0   a
    st      qp.oldest
    cmp     qp.end
    bnz     progress
    ld      #0
    call    complete_send
; Something was acknowledged (R44).
progress:
    call    retries
    ld.b1   qp.sending
    and     #0xff - (1<<IMPLIED)
    st.b1   qp.sending
    ld      qp.next     ; what was being sent again has arrived meanwhile
    sub     qp.oldest
    bbc     23, .ahead
    ld      qp.oldest
    st      qp.next
    ld      #0
    st      qp.until
.ahead:
    ld.b1   qp.sending
    and     #0xff - (1<<RUNNING)
    st.b1   qp.sending
    ld      qp.until
    bnz     turn.end
    ld      qp.oldest
    cmp     qp.highest
    bnz     start_timer
    ret
implied_nak:            ; R34
    clr      response_at
    ld.b1   qp.sending
    bbs     IMPLIED, turn.end
    or      #1<<IMPLIED
    st.b1   qp.sending
    ld      qp.until
    bnz     turn.end
    ld      qp.oldest
    cmp     qp.next
    bz      turn.end
    inc     c.implied_nak

; Goes on from PSN A.
rewind:
    cmp     qp.next
    bz      turn.end
    st      qp.next
    inc     c.rewind
    ld.b1   qp.sending
    bbc     RUNNING, start_timer
    ret

; R30, R33 to R35, R40.
read_response:
    ld.b0   qp.sending
    and     #15
    cmp     #SEND_READ
    bnz     bad_response
    ld      response_at
    bnz     implied_nak
    ld      qp.oldest
    call    place_of
    ld      packet_count
    cmp.h0  meta
    bnz     bad_response
    ld      packet_rest ; Z: the last one
    cmp     packet_count
    bz      .last
    ld.b3   bth0        ; 0d FIRST, 0e MIDDLE, 0f LAST, 10 ONLY
    cmp     #0x0f
    bnt     bad_response
    jmp     .ends_good
.last:
    ld.b3   bth0
    cmp     #0x0f
    bt      bad_response
.ends_good:
    bbs     1, .goes_on ; 0e and 0f
    ld      position
    bz      .order_good
    ld.b1   qp.sending
    bbc     RESTARTED, bad_response
    jmp     .order_good
.goes_on:
    ld      position
    bz      bad_response
.order_good:
    call    fetch_again
    bnz     fail_2
    ld.b1   response_words
    add     #15
    add     frame
    st      payload_at
    call    scatter
    bnz     fail        ; A: status
    ld      qp.oldest
    add     #1
    ld.t0   a
    st      qp.oldest
    cmp     qp.end
    bnz     progress
    ld      #0
    call    complete_send
    jmp     progress
