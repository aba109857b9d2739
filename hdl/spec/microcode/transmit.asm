; SPDX-License-Identifier: MIT OR Apache-2.0
; Frames to send: headers from X's QP row.

.var answer_psn
.var frame_op           ; b3 opcode, b2 SE, MigReq, pad, TVer
.var frame_psn          ; b3 AckReq, t0 PSN
.var frame_length       ; bytes behind the BTH, pad included, the ICRC not
.var frame_numbers      ; words that are numbers: 14 and the extension headers

; An ACKNOWLEDGE: A its syndrome, answer_psn its PSN. Uses t0.
answer:
    st.b3   tx+14
    bbc     6, .no_nak
    and     #3          ; 60 to 63: the counters' order
    add     #c.tx_nak_sequence
    st      @y
    inc     [y]
    jmp     .counted
.no_nak:
    bbs     5, .rnr
    bbc     4, .counted
    inc     c.tx_ack
    jmp     .counted
.rnr:
    inc     c.tx_rnr
.counted:
    ld      qp.msn
    st.t0   tx+14
    ld      #0x11<<24
    st      frame_op
    ld      answer_psn
    st      frame_psn
    ld      #4
    st      frame_length
    ld      #15
    st      frame_numbers

; A frame whose words behind the BTH stand at tx+14. Uses t0.
send_frame:
    ld.h0   qp.mac_high
    st      tx
    ld      qp.mac_low
    st      tx+1
    ld      r.mac_high
    st.h2   tx+2
    ld.h2   r.mac_low
    st.h0   tx+2
    ld      r.mac_low
    st.h2   tx+3
    ld      #0x800
    st.h0   tx+3
    ld      #0x45       ; R15, R16
    st.b3   tx+4
    ld.b3   qp.w2
    st.b2   tx+4
    ld      frame_length
    add     #44
    st.h0   tx+4
    ld      #0x4000
    st      tx+5
    ld.b1   qp.w8
    st.b3   tx+6
    ld      #17
    st.b2   tx+6
    clr.h0   tx+6
    ld      r.gid0_3
    st      tx+7
    ld      qp.dest_ip
    st      tx+8
    ld.h0   tx+4
    add.h2  tx+4
    add     tx+5
    add.h2  tx+6
    add.h0  tx+7
    add.h2  tx+7
    add.h0  tx+8
    add.h2  tx+8
    st      t0
    ld.h0   t0
    add.h2  t0
    st      t0
    ld.h0   t0
    add.h2  t0
    not     a
    st.h0   tx+6
    ld.h2   qp.w8       ; R17
    st.h2   tx+9
    li      #4791
    st.h0   tx+9
    ld      frame_length
    add     #24
    st.h2   tx+10
    clr.h0   tx+10
    ld.h2   frame_op
    or      #0x40       ; R14: MigReq
    st.h2   tx+11
    ld.h2   qp.w1
    st.h0   tx+11
    ld.t0   qp.w2
    st      tx+12
    ld      frame_psn
    st      tx+13
    ld      frame_numbers
    st.h1   t0
    ld      frame_length
    shr     a
    shr     a
    add     #14
    st.b0   t0
    ld      t0
    st      @transmit
    ret
