; SPDX-License-Identifier: MIT OR Apache-2.0
; The requester: one message of a QP at a time, its packets one behind the other. WQE and payload are read again for each packet, so going back is a
; matter of the next PSN alone.

.equ qp.next, qp.s0         ; PSN of the next packet
.equ qp.highest, qp.s1      ; highest PSN ever sent + 1
.equ qp.oldest, qp.s2       ; oldest PSN that isn't acknowledged
.equ qp.first, qp.s3        ; the message's first PSN, and the one behind it
.equ qp.end, qp.s4
.equ qp.length, qp.s5       ; its length
.equ qp.sending, qp.s6      ; b0 byte 0 of its WQE, b1 flags:
.equ UNDER_WAY, 0           ;   bits of `qp.sending` b1
.equ RESTARTED, 1           ;   a READ was asked for again from its middle
.equ IMPLIED, 2             ;   a missing response was asked for since the last progress (R34)
.equ DRAINED, 3             ;   SQ_DRAINED was reported
.equ RUNNING, 4             ;   the ACK timer runs
                            ; b2, b3 retries left: of the timer, of RNR
.equ qp.sq, qp.s7           ; h0 oldest WQE, h2 producer
.equ qp.since, qp.s8        ; tick at which the ACK timer began
.equ qp.until, qp.s9        ; tick at which the RNR wait ends, bit 0 set; 0: none

.equ SEND_READ, 5           ; opcode of a WQE

.var now                    ; ticks of 4.096 us
.var last_cycles
.var tick                   ; clocks of a tick, 24.8
.var fraction               ; clocks since the last tick, 24.8
.var turn_qp
.var wqe_at                 ; bus address of the WQE
.var position               ; bytes of the message before this packet
.var packet_rest            ; bytes from this packet on
.var packet_count           ; bytes of this packet
; In the place of a received packet's header.
.equ packet_next, header    ; PSN behind this packet
.equ extension, header+1    ; words behind the BTH

; R47: time goes on. Then one QP: its timers, a packet.
turn:
    ld      @cycles
    st      t0
    sub     last_cycles
    ld.h0   a
    ld.w3   a           ; times 256
    add     fraction
    st      fraction
    ld      t0
    st      last_cycles
.tick:
    ld      fraction
    cmp     tick
    bt      .time_good
    sub     tick
    st      fraction
    inc     now
    jmp     .tick
.time_good:
    ld      turn_qp
    add     #1
    and     #3
    st      turn_qp
    bz      .end
    st      @x
    ld.h2   qp.gap_since
    bz      .no_gap
    call    old_gap
.no_gap:
    ld.b0   qp.state
    sub     #3
    cmp     #2
    bnt     .not_sending
    ld      qp.serve    ; every second turn: READ responses and requests share the wire
    bbc     31, .own
    xor     #ALTERNATE
    st      qp.serve
    bbc     30, .own
    jmp     serve_read
.not_sending:
    add     #1          ; RTR
    bnz     .end
    ld      qp.serve
    bbc     31, .end
    jmp     serve_read
.own:
    ld      qp.until    ; R45
    bz      .no_wait
    sub     now
    bbc     31, .end
    ld      #0
    st      qp.until
.no_wait:
    ld.b1   qp.sending
    bbc     RUNNING, .no_timer
    ld.b0   qp.w19
    and     #31
    bz      .no_timer
    bit     a
    st      t0
    ld      now
    sub     qp.since
    cmp     t0
    bt      .no_timer
    bz      .no_timer   ; the tick in which it began may be short
    inc     c.timeout
    ld.b2   qp.sending  ; R48
    bz      .exceeded
    sub     #1
    st.b2   qp.sending
    ld      now
    st      qp.since
    ld      qp.oldest
    jmp     rewind
.exceeded:
    ld      #12
    jmp     fail
.no_timer:
    ld.b1   qp.sending
    bbc     UNDER_WAY, begin_message
    ld      qp.next
    cmp     qp.end
    bnz     send_packet
.end:
    ret

begin_message:
    ld.b0   qp.state
    cmp     #4
    bz      drained
    ld.h0   qp.sq
    cmp.h2  qp.sq
    bz      turn.end
    call    fetch_send
    bnz     fail_2
    ld.b0   wqe         ; what may be sent
    and     #15
    cmp     #SEND_READ + 1
    bnt     fail_2
    sub     #SEND_READ
    bnz     .no_read
    ld.b1   qp.w19      ; R59: max_rd_atomic [15:11]
    and     #0xf8
    bz      fail_2
    ld      wqe
    bbs     7, fail_2
.no_read:
    ld      wqe
    bbs     7, .inline
    clr      t1
    ld.b1   wqe
    and     #3
    bz      .sum
    cmp     #3
    bz      fail_2
    st      t0
    ld      wqe+8
    st      t1
    ld      t0
    bbc     1, .sum
    ld      wqe+12
    add     t1
    bt      .length
    st      t1
.sum:
    ld      t1
    cmp     wqe+1
    bnz     .length
    bbc     31, .cut
    add     a
    bnz     .length
    jmp     .cut
.inline:
    ld      wqe+1
    cmp     #33
    bnt     .length
.cut:
    ld      wqe+1
    call    packets
    bbs     23, .length ; R75
    add     qp.next
    ld.t0   a
    st      qp.end
    ld      qp.next
    st      qp.first
    ld      wqe+1
    st      qp.length
    ld.b0   wqe
    st.b0   qp.sending
    ld      #1<<UNDER_WAY
    st.b1   qp.sending
    jmp     send_fetched
.length:
    ld      #1
    jmp     fail

; The WQE is read again, and must be what it was (R66).
send_packet:
    call    fetch_again
    bnz     fail_2
send_fetched:
    ld      qp.next
    st      frame_psn
    call    place_of
    clr     packet_next
    clr      extension
    clr      frame_op
    ld.b0   wqe
    and     #15
    st      t3          ; opcode of the WQE
    cmp     #SEND_READ
    bnz     .data
    ld      position    ; also after a rewind to its first PSN: responses come meanwhile
    bz      .whole
    ld.b1   qp.sending
    or      #1<<RESTARTED
    st.b1   qp.sending
.whole:
    call    reth        ; R31: the rest
    ld      #0x0c
    st.b3   frame_op
    clr      packet_count
    ld      qp.end
    jmp     .asks
.data:
    ld      position    ; 0 first, 1 middle, 2 last, 4 only
    bz      .first
    ld      #1
.first:
    st      t1
    ld      packet_rest
    cmp     packet_count
    bnz     .not_last
    ld      #4
    sub     t1
    sub     t1
    st      t1
.not_last:
    ld      t3
    cmp     #3
    bt      .send
    ld      position
    bnz     .no_reth
    call    reth
.no_reth:
    ld      #6
    add     t1
    st      t1
    ld      t3
    sub     #3
.send:                  ; A: 0 plain, 1 with immediate, 2 with invalidate
    tst     a
    bz      .plain
    ld      packet_rest
    cmp     packet_count
    bnz     .plain
    ld      t3
    cmp     #2
    bnz     .one_more
    shr     t1          ; from 4 and 2: 17 only, 16 last
    add     #0x14
    st      t1
.one_more:
    inc     t1
    ld      wqe+2
    call    extend
.plain:
    ld      t1
    st.b3   frame_op
    ld      packet_rest ; the last packet asks for an ACK, and (R74) each 16th or 64th
    cmp     packet_count
    bnz     .inside
    ld      t3          ; R63: SE, not of a WRITE without immediate
    cmp     #3
    bz      .next_psn
    ld      wqe
    bbc     5, .next_psn
    ld      #0x80
    st.b2   frame_op
.next_psn:
    ld      qp.next
    add     #1
.asks:
    st.t0   packet_next
    ld      #0x80
    st.b3   frame_psn
    jmp     .payload
.inside:
    ld      qp.next
    add     #1
    st.t0   packet_next
    sub     qp.first
    and     #15
    bnz     .payload
    ld      qp.pmtu
    bbs     9, .next_psn
    ld      packet_next
    sub     qp.first
    and     #63
    bz      .next_psn
.payload:
    call    gather
    bnz     fail        ; A: status
    call    send_gathered
    inc     c.tx_request
    ld      packet_next
    st      qp.next
    sub     qp.highest
    bbs     23, .not_higher
    ld      packet_next
    st      qp.highest
.not_higher:
    ld      frame_psn
    bbc     31, turn.end
    ld.b1   qp.sending
    bbs     RUNNING, turn.end

start_timer:
    ld.b1   qp.sending
    or      #1<<RUNNING
    st.b1   qp.sending
    ld      now
    st      qp.since
    ret

; A: a PSN of the message. position, packet_rest, packet_count of its packet.
place_of:
    sub     qp.first
    ld.t0   a
    call    times_pmtu
    st      position
    ld      qp.length
    sub     position
    st      packet_rest
    cmp.h0  qp.pmtu
    bt      .short
    ld.h0   qp.pmtu
.short:
    st      packet_count
    ret

; A: the next word behind the BTH.
extend:
    st      t0
    ld      extension
    add     #tx+14
    st      @y
    ld      t0
    st      [y]
    inc     extension
    ret

; RETH for the message from `position` on.
reth:
    ld      wqe+4
    add     position
    st      tx+15
    ld      wqe+5
    adc     #0
    st      tx+14
    ld      wqe+3
    st      tx+16
    ld      packet_rest
    st      tx+17
    ld      #4
    st      extension
    ret

; WQE `qp.sq` h0 to `wqe`. Not Z: it can't be read.
fetch_send:
    call    send_slots
    sub     #1
    and.h0  qp.sq
    add     a
    add     a
    call    times_16
    add     qp.sq_base
    st      wqe_at
    st      @address
    ld      #0x20f      ; sixteen words, ID 2
    jmp     fetch

over_16:
    shr     a
    shr     a
    shr     a
    shr     a
    ret

; The same for a message under way. Not Z: it can't be read, or isn't what it was.
fetch_again:
    call    fetch_send
    bnz     .end
    ld.b0   wqe
    xor.b0  qp.sending
    and     #15
    bnz     .end
    ld      wqe+1
    cmp     qp.length
.end:
    ret

fail_2:
    ld      #2
; The oldest WQE ends with status A, the QP goes to ERR, everything else is flushed (R64, R65).
fail:
    st      fatal_cause
; ... with an event that names another cause.
fail_named:
    st      t0          ; status
    ld.b1   qp.sending
    bbs     UNDER_WAY, .begun
    ld.b0   wqe
    st.b0   qp.sending
.begun:
    ld      t0
    call    complete_send
    jmp     fatal

; The oldest WQE ends with status A: a completion, if it is signalled or the status isn't good.
complete_send:
    st      cqe_word1
    ld.b1   qp.sending
    and     #1<<DRAINED
    st.b1   qp.sending
    ld.h0   qp.sq
    st.h2   cqe_word1
    add     #1
    st.h0   qp.sq
    ld.b0   cqe_word1
    bnz     .tell
    ld      qp.sending
    bbc     4, turn.end
.tell:
    ld      qp.length
    st      cqe_length
    clr      cqe_immediate
    clr      cqe_opcode
    ld.b0   qp.sending
    and     #15
    sub     #3          ; SEND 0 to 2, WRITE 3 and 4, READ 5
    bt      .send
    shr     a
    add     #1
    st      cqe_opcode
.send:
    ld.h2   qp.cqs
    jmp     complete

; SQD, and nothing is outstanding.
drained:
    ld.b1   qp.sending
    bbs     DRAINED, turn.end
    or      #1<<DRAINED
    st.b1   qp.sending
    ld      qp.qpn
    st.t1   event0
    ld      #6          ; SQ_DRAINED
    st.b0   event0
    ld      #0
    st      event1
    jmp     raise

state_sqd:
    ld.b1   qp.sending
    and     #0xff - (1<<DRAINED)
    st.b1   qp.sending
    ret
state_rts:
    ld.t0   qp.sq_psn
    st      qp.next
    st      qp.highest
    st      qp.oldest
    call    state_renewed
retries:
    ld.b0   qp.w19      ; [7:5], [10:8]
    shr     a
    call    over_16
    st.b2   qp.sending
    ld.b1   qp.w19
    and     #7
    st.b3   qp.sending
    ret
state_renewed:
    ld      #0
    st      qp.sq
    st      qp.sending
    st      qp.until
    ret

; The send queue's doorbell.
send_doorbell:
    ld      host_index
    bz      bad_doorbell
    ld.b0   qp.state
    cmp     #3
    bt      bad_doorbell
    ld      host_data
    sub.h0  qp.sq
    ld.h0   a
    st      t0
    call    send_slots
    cmp     t0
    bt      bad_doorbell
    ld      host_data
    st.h2   qp.sq
    call    accept_write
    ld.b0   qp.state
    cmp     #5
    bnz     turn.end

; R65: X's QP is in ERR.
flush:
    ld.h0   qp.sq
    cmp.h2  qp.sq
    bz      flush_receives
    clr.b0   qp.sending
    ld      #5
    call    complete_send
    jmp     flush
