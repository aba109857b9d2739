; SPDX-License-Identifier: MIT OR Apache-2.0
; AXI4-Lite: registers, tables, doorbells, commands.

; In the place of a packet's header, which is nobody's between frames.
.equ host_data, header
.equ host_address, header+1
.equ host_at, header+2  ; byte address in its 64 KiB
.equ host_index, header+3

registers_reset:
    call    slots_reset
    li      #reset.id
    st      r.id
    li      #reset.version
    st      r.version
    li      #reset.capabilities
    st      r.capabilities
    li      #reset.read_limits
    st      r.read_limits
    li      #reset.tick
    st      r.tick
    call    tick_length
    ld      #1          ; ready
    st      r.status
    jmp     control_port

; Below 24 clocks a tick would pass faster than it is counted.
tick_length:
    ld      r.tick
    cmp     #24<<8
    bnt     .long
    ld      #24<<8
.long:
    st      tick
    ret

; A write waits.
lite_write:
    ld      @lite_write_address
    st      host_address
    tst     #3
    bnz     refuse_write
    ld.h0   host_address
    st      host_at
    ld      @lite_write_data
    st      host_data
    ld.h2   host_address
    sub     #0x1e0      ; all strobes
    cmp     #0x10
    bz      write_qp
    tst     a
    bz      write_register
    cmp     #1
    bz      write_doorbell
    cmp     #2
    bz      write_cq
    cmp     #4
    bnz     refuse_write

write_mr:
    ld      host_at
    cmp     #128
    bnt     refuse_write
    shr     a
    shr     a
    add     #map.mr
    call    store_word
accept_write:
    ld      #0
    st      @lite_write
    ret
refuse_write:
    ld      #2          ; SLVERR
    st      @lite_write
    ret

; The host's word to memory word A.
store_word:
    st      @y
    ld      host_data
    st      [y]
    ret

write_qp:
    ld      host_at
    cmp     #512
    bnt     refuse_write
    shr     a
    and     #0xc0
    bz      accept_write    ; QP 0 is none
    st      t0
    ld      t0
    add     a
    add     a
    ld.b1   a
    st      @x
    st      host_index
    ld      host_at
    shr     a
    shr     a
    and     #31
    st      t1
    bit     a
    st      t2
    li      #0x1b876f   ; the words that are kept
    and     t2
    bz      .order
    ld      t0
    add     t1
    call    store_word
    ld      t1
    bnz     accept_write
    ld.h2   host_data   ; word 0: our QPN
    and     #15
    st      t0
    ld.h2   host_data
    sub     t0
    st.h1   qp.qpn
    ld      host_index
    st.b0   qp.qpn
    clr.b3   qp.qpn
    ld.b0   host_data   ; PMTU in bytes: 128 << code
    shr     a
    shr     a
    shr     a
    and     #7
    add     #7
    bit     a
    st.h0   qp.pmtu
    jmp     accept_write
; A word that isn't kept as it is.
.order:
    ld      t1
    cmp     #11
    bnz     accept_write
    ld.b0   host_data
    st.b3   qp.nak_distance
    ld.h1   host_data
    bz      .no_delay
    call    over_16
    bnz     .no_delay
    ld      #1
.no_delay:
    st.b3   qp.nak_delay
    jmp     accept_write

write_cq:
    ld      host_at
    cmp     #64
    bnt     refuse_write
    shr     a
    shr     a
    st      t0
    and     #3
    cmp     #2
    bnt     accept_write    ; the base's upper half, and a word that is none
    ld      t0
    add     #map.cq
    call    store_word
    ld      t0
    and     #3
    bnz     accept_write
    ld      host_data   ; word 0: the queue begins; too large is none
    and     #15
    cmp     #8
    bt      .good
    ld      #0
    st.b3   [y]
.good:
    ld      [y+]
    ld      [y+]
    ld      #0
    st      [y+]
    st      [y]
    jmp     accept_write

write_doorbell:
    ld      host_at
    cmp     #64
    bnt     refuse_write
    shr     a
    shr     a
    st      t0
    shr     a
    shr     a
    st      host_index
    st      @x
    ld      t0
    bbs     1, .cq
    bbc     0, send_doorbell
    ld      host_index
    bz      bad_doorbell
    ld      host_data
    sub.h0  qp.rq
    ld.h0   a
    st      t0
    ld.b0   qp.w8
    and     #15
    bit     a
    cmp     t0
    bt      bad_doorbell
    ld      host_data
    st.h2   qp.rq
    ld.b0   qp.state
    cmp     #5
    bnz     accept_write
    call    accept_write
    jmp     flush_receives
.cq:
    ld      host_index
    add     a
    add     a
    add     #map.cq
    st      @y
    ld      [y+]
    bbc     31, bad_doorbell
    ld      [y+]        ; Y: word 2
    ld      t0
    bbs     0, .arm
    ld      host_data   ; the consumer goes on, not beyond the producer
    sub.h2  [y]
    ld.b0   a
    st      t0
    ld.h0   [y]
    sub.h2  [y]
    ld.b0   a
    cmp     t0
    bt      bad_doorbell
    ld.b0   host_data
    st.h2   [y]
    jmp     accept_write
.arm:
    ld      [y+]
    ld.h0   host_data
    cmp     #1
    bz      .set
    cmp     #2
    bnz     bad_doorbell
    ld.b0   [y]
    bbs     0, accept_write ; the stronger arm stays
    ld      #2
.set:
    st.b0   [y]
    jmp     accept_write

; R69: counted, an event, no effect.
bad_doorbell:
    call    accept_write
    inc     c.bad_doorbell
    ld      host_index
    st.t1   event0
    ld      #4          ; BAD_DOORBELL
    st.b0   event0
    ld      #code.bad_doorbell
    st      event1
    jmp     raise

write_register:
    ld      host_at
    shr     a
    shr     a
    st      host_index
    cmp     #36
    bnt     refuse_write
    cmp     #24
    bz      command
    cmp     #4
    bt      refuse_write
    cmp     #33
    bz      refuse_write
    sub     #25
    cmp     #4
    bt      refuse_write    ; 25 to 28: status and results
    ld      host_index
    add     #map.registers
    call    store_word
    ld      r.mac_low
    st      @mac_low
    ld      r.mac_high
    st      @mac_high
    ld      r.gid0_3
    st      @ip
    call    tick_length
    ld      host_index
    cmp     #31
    bnz     .no_restart
    clr     r.eq_producer
    clr     r.eq_consumer
.no_restart:
    clr.t1  r.eq_consumer
    call    control_port
    call    accept_write
    ld      r.control
    bbc     2, command.end
    ld      #16         ; everything begins again
    st      @control

command:
    call    accept_write
    ld      #2          ; refused, until it isn't
    st      r.command_status
    ld.h0   host_data
    call    select_qp
    bz      .end
    ld.b3   host_data
    call    over_16
    cmp     #1
    bz      modify
    cmp     #2
    bnz     .end
    ld      qp.epsn     ; query
    st.t1   r.result_0
    ld.b0   qp.state
    st.b0   r.result_0
    ld      qp.msn
    st      r.result_1
    ld.h0   qp.rq
    st      r.result_2
.done:
    clr     r.command_status
.end:
    ret

; New state in t0, old in t1.
modify:
    ld.b1   host_data
    call    over_16
    st      t0
    ld.b0   qp.state
    st      t1
    ld      t0
    bz      .renew      ; RESET
    cmp     #5
    bz      .error
    cmp     #1
    bz      .init
    cmp     #2
    bz      .rtr
    cmp     #3
    bz      .rts
    cmp     #4
    bnz     command.end
    ld      t1          ; SQD from RTS and SQD
    sub     #3
    bt      command.end
    cmp     #2
    bnt     command.end
    ld      #4
    st.b0   qp.state
    call    state_sqd
    jmp     command.done
.init:
    ld      t1          ; from RESET and INIT
    cmp     #2
    bnt     command.end
    ld      #1
    st      qp.state
    jmp     command.done
.rtr:
    ld      t1          ; from INIT
    cmp     #1
    bnz     command.end
.renew:                 ; R41: RESET or RTR
    ld      t0
    st      qp.state
    bnz     .ring_stays
    clr     qp.rq
.ring_stays:
    ld.t0   qp.rq_psn
    st.t0   qp.epsn
    sub     #1
    st.t0   qp.executed
    clr     qp.msn
    clr     qp.serve
    clr     qp.stored_a
    clr     qp.stored_b
    call    release
    call    state_renewed
    jmp     command.done
.rts:
    ld      t1          ; from RTR, RTS and SQD
    sub     #2
    bt      command.end
    cmp     #3
    bnt     command.end
    ld      #3
    st.b0   qp.state
    ld      t1
    cmp     #2
    bnz     .again
    call    state_rts
.again:
    jmp     command.done
.error:
    clr      r.command_status
    ld      t1
    cmp     #5
    bz      command.done
    ld      #5
    st      qp.state
    jmp     release_flush

; A read waits.
lite_read:
    ld      @lite_read_address
    tst     #3
    bnz     .refuse
    shr     a
    shr     a
    st      t0
    cmp     #37
    bt      .register
    sub     #0x400      ; 0x1000 / 4
    cmp     #64
    bnt     .refuse
    st      t0
    ; Counter c: page c >> 4, word 30 + (c & 15).
    and     #15
    st      t1
    ld      t0
    and     #0x30
    add     a
    add     a
    add     t1
    add     #48
    jmp     .word
.register:
    cmp     #24         ; COMMAND
    bz      .refuse
    add     #map.registers
.word:
    st      @y
    ld      [y]
    st      @lite_read
    ret
.refuse:
    st      @lite_read_error
    ret
