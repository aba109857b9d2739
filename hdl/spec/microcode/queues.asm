; SPDX-License-Identifier: MIT OR Apache-2.0
; Completions, events, interrupt.

; In the place of what moves payload: that has ended before.
.equ cqe_opcode, first
.equ cqe_word1, last    ; b0 status, b1 flags, h2 WQE index
.equ cqe_length, words
.equ cqe_immediate, beats
.equ event0, carry      ; b0 type, t1 number
.equ event1, offset     ; detail
.equ cq, room           ; first word of its row: [3:0] log, [31] valid; then base; h0 producer, h2 consumer (8 bits each); b0 arm

; A: CQ. The completion of X's QP; an event, if the CQ is armed. Uses t0 to t3.
complete:
    and     #3
    st.t1   event0      ; number, should there be an event
    add     a
    add     a
    add     #map.cq
    st      cq
    st      @y
    ld      [y+]
    bbc     31, .none
    and     #15
    bit     a
    st      t0          ; entries
    ld      [y+]
    st      t1
    ld.h0   [y]
    st      t2          ; producer
    sub.h2  [y]
    ld.b0   a
    cmp     t0
    bnt     .full
    ld      t0
    sub     #1
    and     t2
    add     a
    call    times_16
    add     t1
    st      @address
    ld      #0x107      ; eight words, ID 1
    st      @aw
    ld      #0xf0
    st      @shift
    ld      cqe_opcode
    st.b3   t3
    ld      qp.qpn
    st.t0   t3
    ld      t3
    st      @w
    ld      cqe_word1
    st      @w
    ld      cqe_length
    st      @w
    ld      cqe_immediate
    st      @w
    ld      #0
    st      @w
    st      @w
    st      @w
    ld      t2
    call    phase
    ld      @b
    bnz     .failed
    ld      t2
    add     #1
    ld.b0   a
    st.h0   [y+]
    ld.b0   [y]         ; armed: 1 any, 2 solicited or failed
    bz      .end
    bbs     0, .notify
    ld      cqe_word1
    bbs     11, .notify
    ld.b0   cqe_word1
    bz      .end
.notify:
    ld      #0
    st.b0   [y]
    st      event1
    ld      #1          ; COMPLETION
    st.b0   event0
    jmp     raise
.none:
    inc     c.cq_overflow
.end:
    ret
.failed:
    inc     c.axi_error
    ld      #code.axi_error
    jmp     .stop
.full:
    inc     c.cq_overflow
    ld      #code.cq_overflow
.stop:
    st      event1
    ld      cq
    st      @y
    ld      #0
    st.b3   [y]         ; R69: the CQ stops
    ld      #2          ; CQ_ERROR
    st.b0   event0

; The last word of an entry: A its index, t0 the ring's entries.
phase:
    and     t0
    bz      .first
    ld      #0
    st      @w
    ret
.first:
    ld      #0x80000000
    st      @w
    ret

; The event in event0, event1. Uses t0.
raise:
    ld      r.eq_control
    bbc     31, .lost
    and     #15
    cmp     #8
    bnt     .lost
    bit     a
    st      t0
    ld      r.eq_producer
    sub     r.eq_consumer
    ld.b0   a
    cmp     t0
    bnt     .lost
    ld      t0
    sub     #1
    and     r.eq_producer
    call    times_16
    add     r.eq_base_low
    st      @address
    ld      #0x103      ; four words, ID 1
    st      @aw
    ld      #0xf0
    st      @shift
    ld      event0
    st      @w
    ld      event1
    st      @w
    ld      #0
    st      @w
    ld      r.eq_producer
    call    phase
    ld      r.eq_producer
    add     #1
    ld.b0   a
    st      r.eq_producer
    ld      @b
    bz      control_port
    inc     c.axi_error
    jmp     control_port
.lost:
    inc     c.eq_overflow
    ret

; CONTROL port: enable, ICRC check, interrupt, our IP. Uses t0.
control_port:
    ld      r.control
    and     #3
    st      t0
    ld      r.gid_valid
    bbc     0, .no_ip
    ld      t0
    or      #8
    st      t0
.no_ip:
    ld      r.control
    bbc     3, .quiet
    ld      r.eq_producer
    cmp     r.eq_consumer
    bz      .quiet
    ld      t0
    or      #4
    st      t0
.quiet:
    ld      t0
    st      @control
    ret
