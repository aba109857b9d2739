; SPDX-License-Identifier: MIT OR Apache-2.0
; Early requests, held until their turn (R42), in the upper half.
;
; A slot's words: 0 t0 PSN, b3 QP, bit 31 AckReq, all 0: nobody's; 1 b3 opcode, b2 SE, h0 payload bytes; from 2 on the frame's from behind the BTH: extension headers,
; payload. `packet` has been through with it, so it goes on at `packet.dispatch` when its turn comes. Three slots take the longest frame, the last one 396 bytes behind the
; BTH; what it takes goes there first.

.equ WINDOW, 4              ; PSNs from ePSN on
.equ FIRST_SLOT, 0x600      ; for Y and for the receive pointer; behind the last one bit 11 is set
.equ SLOT_WORDS, 137
.equ LAST_SLOT, 3*SLOT_WORDS + FIRST_SLOT
.equ LAST_WORDS, 99         ; it takes behind the BTH

.equ qp.nak_distance, qp.executed   ; b3
.equ qp.nak_delay, qp.epsn          ; b3: 16.384 us, 0: age doesn't count
.equ qp.gap_since, qp.pmtu          ; h2: a tick or two after the gap was seen, bit 0 set; 0: there is none

; In the place of a WQE, which is read later.
.equ slot, wqe
.equ wanted, wqe+1          ; PSNs beyond ePSN
.equ own, wqe+2             ; slots of X's QP
.equ vacant, wqe+3          ; slots of nobody
.equ spare, wqe+4           ; one that takes this packet; 0: none
.equ match, wqe+5           ; the one with PSN `wanted`; 0: none
.equ farthest, wqe+6        ; PSNs beyond ePSN of the last one held
.equ long, wqe+7            ; words behind the BTH
.equ leaves, wqe+8          ; bit 23: all that X's QP holds leaves
.equ key, wqe+9

; A: PSNs beyond ePSN, 1 to 2^23 - 1.
early:
    st      wanted
    ld      qp.w0
    bbc     18, .lost       ; `reorder`
    ld      wanted
    cmp     #WINDOW
    bnt     .beyond
    ld.h0   meta
    add     #3
    shr     a
    shr     a
    add.b1  op
    st      long
    call    scan
    ld      own             ; who holds something leaves a slot for another
    bz      .first
    ld      #1
.first:
    cmp     vacant
    bnt     .full
    ld      spare
    bz      .full
    st      @y
    ld.b3   bth2
    and     #0x80
    or.b0   qp.qpn
    st.b3   bth2
    ld      bth2
    st      [y+]
    ld.h0   meta
    st.h0   bth0            ; in the P_Key's place
    ld      bth0
    st      [y+]
    ld      frame
    add     #15
    st      @rx_pointer
    ld      long
    st      @count
    mv      @rx, [y+], repeat
    ld      match
    bz      .new
    call    vacate          ; the older copy
.again:
    inc     c.reorder_duplicate
    jmp     .gap
.new:
    inc     c.reorder_held
    jmp     .gap
.full:
    ld      match
    bnz     .again
    inc     c.reorder_full
.gap:
    ld      wanted

; R23: a gap, and a packet A PSNs beyond it: a loss, if that is more than nak_distance.
gap:
    st      wanted
    call    see_gap
    ld.b3   qp.nak_distance
    cmp     wanted
    bnt     turn.end
nak_once:
    ld.b1   qp.state
    bnz     turn.end
sequence_nak:               ; R24
    ld      #1
    st.b1   qp.state
    ld.t0   qp.epsn
    st      answer_psn
    ld      #0x60
    jmp     answer

early.beyond:
    call    see_gap
    ld.b3   qp.nak_distance
    cmp     wanted
    bnt     early.silent
early.lost:
    ld.b1   qp.state
    bnz     early.silent
    inc     c.out_of_sequence
    jmp     sequence_nak
early.silent:
    inc     c.out_of_sequence_silent
    ret

see_gap:
    ld.h2   qp.gap_since
    bnz     turn.end
    ld      now
    add     #1          ; later than now: a gap is never taken for older than it is
    or      #1
    st.h2   qp.gap_since
    ret

; R23: a gap is a loss once it is older than nak_delay.
old_gap:
    ld.b3   qp.nak_delay
    bz      turn.end
    ld      now
    sub.h2  qp.gap_since
    ld.h0   a
    bbs     15, .young
    shr     a
    shr     a
    st      t0
    ld.b3   qp.nak_delay
    cmp     t0
    bt      nak_once
.young:
    ret

; ePSN has gone on: what X's QP holds has its turn, up to the next gap.
drain:
    ld      qp.w0
    bbc     18, .end
    ld      qp.serve        ; R36: behind the last response
    bbs     31, .end
    ld      #0
    st      wanted
    call    scan
    bz      .gap
    st      @rx_pointer
    sub     #13             ; as a frame of the ring has them: words 15 and on are those behind the BTH
    st      t0
    ld      frame           ; the ring's, as `rx_frame` keeps it
    st.h2   meta
    ld      t0
    st      frame
    ld      @rx
    st      bth2
    ld      @rx
    st      bth0
    st.h0   meta
    ld      match
    call    vacate
    ld      #x0
    st      @y
    ld      #5
    st      @count
    ld      #0
    st      @shift
    mv      @rxn, [y+], repeat
    call    packet.dispatch
    ld.h2   meta
    st      frame
    jmp     drain
.gap:
    ld      farthest
    bnz     gap
.end:
    ret

; X's QP ends: what it holds leaves its slots, then R65.
release_flush:
    call    release
    jmp     flush

release:
    clr.h2  qp.gap_since
    ld      #0x80<<16
    jmp     scan.begin

; The slots, as they are for X's QP: own, vacant, spare, match, farthest. What ePSN has gone past leaves its slot. A: match, Z: none.
scan:
    ld      #0
.begin:
    st      leaves
    clr     own
    clr     vacant
    clr     spare
    clr     match
    clr     farthest
    ld      #FIRST_SLOT
.next:
    st      slot
    st      @rx_pointer
    ld      @rx
    bz      .vacant
    st      key
    ld.b3   a
    and     #0x7f
    cmp.b0  qp.qpn
    bnz     .other
    ld      key
    sub     qp.epsn
    ld.t0   a
    or      leaves
    bbs     23, .leaves
    inc     own
    cmp     farthest
    bt      .nearer
    st      farthest
.nearer:
    cmp     wanted
    bnz     .other
    ld      slot
    st      match
    jmp     .other
.leaves:
    inc     c.reorder_released
    ld      slot
    call    vacate
.vacant:
    inc     vacant
    ld      slot
    cmp     #LAST_SLOT
    bnz     .takes
    ld      long
    cmp     #LAST_WORDS+1
    bnt     .other
.takes:
    ld      slot
    st      spare
.other:
    ld      slot
    add     #SLOT_WORDS
    bbc     11, .next
    ld      match
    ret

; Slot A is nobody's.
vacate:
    st      @y
    ld      #0
    st      [y]
    ret

; At the start what the slots hold is old.
slots_reset:
    ld      #FIRST_SLOT
.next:
    st      slot
    call    vacate
    ld      slot
    add     #SLOT_WORDS
    bbc     11, .next
    ret
