; SPDX-License-Identifier: MIT OR Apache-2.0
; A frame from the ring: R60, R61, R71, R72, the PSN window, SEND and WRITE.

.var held               ; b0 not 0: the frame stays in the ring, its QP's READ responses go first; b1 not 0: ePSN has gone on
.var frame              ; ring word where the next frame begins
.var meta               ; h0 payload bytes, h2 ring word behind the frame
.var header, 12         ; words 8 to 19 of the packet as numbers:
.equ source, header     ;   source IP
.equ bth0, header+4     ;   b3 opcode, b2 SE M pad TVer, h0 P_Key
.equ bth1, header+5     ;   t0 QPN
.equ bth2, header+6     ;   b3 AckReq, t0 PSN
.equ x0, header+7       ;   extension headers, as many as the opcode has
.equ x1, header+8
.equ x2, header+9
.equ x3, header+10
.equ x4, header+11
.var op                 ; what the opcode means:
.equ BEGINS, 0          ;   bits of `op`
.equ ENDS, 1
.equ WRITE, 2
.equ IMMEDIATE, 3
.equ INVALIDATE, 4
.equ READ, 5
.equ ATOMIC, 6
.var rest               ; bytes of the message or buffer behind this packet

; Words of a QP's row that are made when the host writes word 0.
.equ qp.qpn, qp.u0      ; our QPN
.equ qp.pmtu, qp.u1     ; h0 path MTU, bytes

; b1: words of extension headers.
.align 64
opcodes:
    ld      #1                  ; SEND FIRST
    jmp     request
    ld      #0                  ; MIDDLE
    jmp     request
    ld      #2                  ; LAST
    jmp     request
    ld      #2+8+0x100          ; LAST with immediate
    jmp     request
    ld      #3                  ; ONLY
    jmp     request
    ld      #3+8+0x100          ; ONLY with immediate
    jmp     request
    ld      #1+4+0x400          ; WRITE FIRST
    jmp     request
    ld      #4                  ; MIDDLE
    jmp     request
    ld      #2+4                ; LAST
    jmp     request
    ld      #2+4+8+0x100        ; LAST with immediate
    jmp     request
    ld      #3+4+0x400          ; ONLY
    jmp     request
    ld      #3+4+8+0x500        ; ONLY with immediate
    jmp     request
    ld      #32+0x400           ; READ REQUEST
    jmp     request
    ld      #0x100              ; READ RESPONSE FIRST
    jmp     response
    ld      #0                  ; MIDDLE
    jmp     response
    ld      #0x100              ; LAST
    jmp     response
    ld      #0x100              ; ONLY
    jmp     response
    ld      #0x100              ; ACKNOWLEDGE
    jmp     response
    ld      #0x300              ; ATOMIC ACKNOWLEDGE
    jmp     response
    ld      #64+0x700           ; COMPARE AND SWAP
    jmp     request
    ld      #64+0x700           ; FETCH AND ADD
    jmp     request
    ret                         ; reserved: the receiver lets none pass
    ret
    ld      #2+16+0x100         ; SEND LAST with invalidate
    jmp     request
    ld      #3+16+0x100         ; ONLY with invalidate
    jmp     request

rx_frame:
    ld      frame
    st      @rx_pointer
    ld      @rx
    st      meta
    ld      frame
    add     #8
    st      @rx_pointer
    ld      #0
    st      @shift
    ld      #header
    st      @y
    ld      #12
    st      @count
    mv      @rxn, [y+], repeat
    clr     held
    call    packet
    ld.b0   held
    bnz     .end
    ld.h2   meta
    st      frame
    st      @rx_release
    ld      held
    bnz     drain
.end:
    ret

; X = QP of a QPN. Z: there is none.
select_qp:
    bbs     11, key_row.refuse
    tst     #0x7fc
    bnz     key_row.refuse
    st      @x
    tst     #3
    ret

packet:
    ld.t0   bth1        ; R61
    call    select_qp
    bz      .unknown
    cmp     qp.qpn
    bnz     .unknown
    ld.b0   qp.state
    bz      .unknown
    sub     #2
    bt      .state
    sub     #3
    bnt     .state
    ld.b3   bth0        ; R72
    tst     #0xe0
    bnz     .transport
    ld      qp.w0
    tst     #7
    bnz     .transport
    ld.h0   bth0        ; R60: 15 bits equal, one a full member
    xor.h2  qp.w1
    add     a
    ld.h0   a
    bnz     .pkey
    ld.h0   bth0
    or.h2   qp.w1
    bbc     15, .pkey
    ld      qp.w0       ; R71: IPv4 by GID 0
    tst     #0x1a00
    bnz     .address
    ld      source
    cmp     qp.dest_ip
    bnz     .address
.dispatch:
    ld.b3   bth0
    add     a           ; the transport's bits are 0
    jtab    opcodes
.unknown:
    inc     c.unknown_qp
    ret
.state:
    inc     c.qp_state
    ret
.transport:
    inc     c.wrong_transport
    ret
.pkey:
    inc     c.bad_pkey
    ret
.address:
    inc     c.bad_address
    ret

request:
    st      op
    ld      qp.serve    ; R36: what is asked for later is answered behind a READ's last response
    bbc     31, .free
    jmp     request_behind
.free:
    ld.t0   bth2        ; R21
    sub     qp.epsn
    ld.t0   a
    bz      in_order
    bbs     23, duplicate
    jmp     early

duplicate:
    inc     c.duplicate
    ld      op
    tst     #(1<<READ)+(1<<ATOMIC)
    bnz     duplicate_read
    ld.t0   qp.executed ; R26
    st      answer_psn
    ld      #0x1f
    jmp     answer

in_order:
    clr.b1   qp.state
    clr.h2   qp.gap_since
    ld      op
    bbc     READ, .no_read
    jmp     read_request
.no_read:
    bbs     ATOMIC, invalid
    ld.b2   qp.state    ; R57
    bz      .idle
    sub     #1          ; 0 SEND, 1 WRITE, as bit WRITE of op says
    add     a
    add     a
    xor     op
    bbs     WRITE, invalid
    bbs     BEGINS, invalid
    jmp     .follows
.idle:
    ld      op
    bbc     BEGINS, invalid
.follows:
    ld      op          ; R49
    bbs     ENDS, .ends
    ld.h0   qp.pmtu
    cmp.h0  meta
    bnz     invalid
    jmp     .fits
.ends:
    ld.h0   qp.pmtu
    cmp.h0  meta
    bt      invalid
    ld      op
    bbs     BEGINS, .fits
    ld.h0   meta
    bz      invalid
.fits:
    ld.b1   op
    add     #15
    add     frame
    st      @rx_pointer ; the payload
    ld      op
    bbc     WRITE, send

write:
    ld      qp.w0       ; R53
    bbc     6, invalid
    ld      op
    bbc     BEGINS, .under_way
    ld      x0
    st      qp.va_high
    ld      x1
    st      qp.va_low
    ld      x2
    st      qp.key
    ld      x3
    st      qp.left
    ld      #0
    st      qp.done
.under_way:
    ld      qp.left     ; R50
    bbc     31, .short
    add     a
    bnz     invalid
    ld      qp.left
.short:
    sub.h0  meta
    bt      invalid
    st      rest
    ld      op
    bbs     ENDS, .ends
    ld      rest
    bz      invalid
    jmp     .length_good
.ends:
    ld      rest
    bnz     invalid
.length_good:
    ld      op          ; R54
    bbc     IMMEDIATE, .no_immediate
    ld.h0   qp.rq
    cmp.h2  qp.rq
    bz      not_ready
.no_immediate:
    ld      qp.left     ; R52, R51
    bz      .placed
    st      key_length
    ld      #1<<10
    call    key_of_message
    bz      access
    call    place
    bnz     failed_write
.placed:
    call    advance
    bz      .more
    ld      op
    bbc     IMMEDIATE, accepted
    ld      #129
    call    complete_receive
    jmp     accepted
.more:
    ld      #2
    st.b2   qp.state
    jmp     accepted

send:
    ld      op
    bbc     BEGINS, .under_way
    ld.h0   qp.rq       ; R46
    cmp.h2  qp.rq
    bz      not_ready
    call    fetch_receive
    bnz     .unreadable
    ld      wqe
    st      qp.va_low
    ld      wqe+1
    st      qp.va_high
    ld      wqe+2
    st      qp.left
    ld      wqe+3
    st      qp.key
    ld      #0
    st      qp.done
.under_way:
    ld      qp.left     ; R56
    sub.h0  meta
    bt      .too_long
    st      rest
    ld.h0   meta
    bz      .placed
    st      key_length
    ld      #1<<9
    call    key_of_message
    bz      .protection
    call    place
    bnz     .unreadable
.placed:
    ld      op          ; R62: after the data
    bbc     INVALIDATE, .no_key
    call    invalidate_key
    bz      .bad_key
.no_key:
    call    advance
    bz      .more
    ld      #128
    call    complete_receive
    jmp     accepted
.more:
    ld      #1
    st.b2   qp.state
    jmp     accepted
.too_long:
    ld      #1
    call    fail_receive
    jmp     invalid
.protection:
    ld      #4
    call    fail_receive
    ld      #0x63
    jmp     refuse
.bad_key:
    ld      #8
    call    fail_receive
    jmp     access
.unreadable:            ; R69
    ld      #2
    call    fail_receive
failed_write:
    ld      #0x63
    jmp     refuse

; The message goes on by this packet. Z: it isn't over; else MSN has gone on and no message is under way.
advance:
    ld      qp.va_low
    add.h0  meta
    st      qp.va_low
    ld      qp.va_high
    adc     #0
    st      qp.va_high
    ld      rest
    st      qp.left
    ld      qp.done
    add.h0  meta
    st      qp.done
    ld      op
    tst     #1<<ENDS
    bz      .end
    clr.b2   qp.state
    ld      qp.msn
    add     #1
    ld.t0   a
    st      qp.msn
    ld      #1
.end:
    ret

accepted:
    inc     c.accepted
    ld      #1
    st.b1   held
    ld.t0   bth2
    st.t0   qp.executed
    st      answer_psn
    add     #1
    st.t0   qp.epsn
    ld      bth2
    bbs     31, .acknowledge
    ret
.acknowledge:
    ld      #0x1f
    jmp     answer

not_ready:              ; R46
    inc     c.rnr
    ld      #1
    st.b1   qp.state
    ld.t0   bth2
    st      answer_psn
    ld.h1   qp.w0       ; the code is bits 17:13
    shr     a
    call    over_16
    and     #31
    or      #0x20
    jmp     answer

access:
    ld      #0x62
    jmp     refuse
invalid:
    ld      #0x61
refuse:                 ; A: syndrome. The QP goes to ERR.
    st      fatal_cause
    ld.t0   bth2
refuse_at:              ; A: PSN, `fatal_cause`: syndrome
    st      answer_psn
    inc     c.naked
    ld      fatal_cause
    call    answer
; The QP goes to ERR with an event that names `fatal_cause`.
fatal:
    ld      #5
    st      qp.state
    ld      qp.qpn
    st.t1   event0
    ld      #3          ; QP_FATAL
    st.b0   event0
    ld      fatal_cause
    st      event1
    call    raise
    jmp     release_flush

.var fatal_cause

; The receive WQE at the head of the queue to `wqe`. Not Z: it can't be read.
fetch_receive:
    ld.b0   qp.w8
    and     #15
    bit     a
    sub     #1
    and.h0  qp.rq
    add     a
    call    times_16
    add     qp.rq_base
    st      @address
    ld      #0x103      ; four words, ID 1

; Words from @address to `wqe`; A: as for @ar. Not Z: an AXI error (counted).
fetch:
    st      @ar
    add     #1
    st      @count
    ld      #0
    st      @shift
    ld      #wqe
    st      @y
    mv      @r, [y+], repeat
    ld      @status
    and     #8
    bz      .good
    inc     c.axi_error
.good:
    ret

; The completion of a receive that went well: A its opcode. Then the WQE is used up.
complete_receive:
    st      cqe_opcode
    ld      qp.done
    st      cqe_length
    clr      cqe_word1
    ld      op
    bbs     IMMEDIATE, .immediate
    bbs     INVALIDATE, .invalidated
    ld      #0
    jmp     .put
.immediate:
    ld      #1
    st.b1   cqe_word1
    ld      x0
    st      cqe_immediate
    ld.b1   op          ; behind a RETH?
    sub     #1
    bz      solicited
    ld      x4
    jmp     .put
.invalidated:
    ld      #2
    st.b1   cqe_word1
    ld      x0
.put:
    st      cqe_immediate
    jmp     solicited

; The completion of a receive that failed: A its status. Then the WQE is used up.
fail_receive:
    st      cqe_word1
    ld      #128
    st      cqe_opcode
    ld      #0
    st      cqe_immediate
    st      cqe_length
solicited:
    ld      bth0        ; R63: SE
    bbc     23, receive_done
    ld.b1   cqe_word1
    or      #8
    st.b1   cqe_word1
receive_done:
    ld.h0   qp.rq
    st.h2   cqe_word1
    add     #1
    st.h0   qp.rq
    ld.h0   qp.cqs
    jmp     complete

; R65: every posted receive completes.
flush_receives:
    ld.h0   qp.rq
    cmp.h2  qp.rq
    bz      .end
    ld      #5
    st      cqe_word1
    ld      #128
    st      cqe_opcode
    ld      #0
    st      cqe_immediate
    st      cqe_length
    call    receive_done
    jmp     flush_receives
.end:
    ret
