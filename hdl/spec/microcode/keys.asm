; SPDX-License-Identifier: MIT OR Apache-2.0
; Keys, and bytes from the ring to memory.

.var key_access         ; bit of an MR row's word 0 that must be set (bit 8: any valid key)
.var key_length         ; bytes
.var key_key
.var key_low            ; virtual address
.var key_high
.var key_address        ; answer: bus address

; As key_check, for the QP's message. A: access.
key_of_message:
    st      key_access
    ld      qp.key
    st      key_key
    ld      qp.va_low
    st      key_low
    ld      qp.va_high
    st      key_high

; R52: key, PD, access and range; the bus address. Z: refused.
key_check:
    ld.t1   key_key
    cmp     #4
    bnt     .refuse
    add     a
    add     a
    add     a
    add     #map.mr
    st      @y
    ld      [y]
    bbc     8, .refuse
    bbs     13, .refuse ; no MTT
    and     key_access
    bz      .refuse
    ld.b0   [y]
    cmp.b0  key_key
    bnz     .refuse
    ld.h2   [y+]
    cmp.h0  qp.w1
    bnz     .refuse
    ld      [y+]
    ld      key_low
    sub     [y+]
    st      t0          ; offset
    ld      key_high
    sbb     [y+]
    bt      .refuse
    st      t1
    ld      [y+]
    sub     t0
    st      t2          ; bytes from there on
    ld      [y+]
    sbb     t1
    bt      .refuse
    bnz     .holds
    ld      t2
    cmp     key_length
    bt      .refuse
.holds:
    ld      t0
    add     [y]
    st      key_address
    ld      #1
    ret
.refuse:
    ld      #0
    ret

; R62: ends key x0. Z: it can't be ended.
invalidate_key:
    ld.t1   x0
    cmp     #4
    bnt     .refuse
    add     a
    add     a
    add     a
    add     #map.mr
    st      @y
    ld      [y]
    bbc     8, .refuse
    bbc     14, .refuse
    ld.b0   [y]
    cmp.b0  x0
    bnz     .refuse
    ld.h2   [y]
    cmp.h0  qp.w1
    bnz     .refuse
    ld      #0
    st.b1   [y]
    ld      #1
    ret
.refuse:
    ld      #0
    ret

.var first              ; SHIFT for the first word, 0: it is out
.var last               ; ... the last one
.var words              ; words of later bursts
.var beats              ; words of this one
.var carry              ; the last word from the ring, moved
.var offset             ; bytes that it is moved by
.var room               ; words up to the page's end
.var failed             ; an error was answered

; meta.h0 bytes (at least one) from the receive pointer on to `key_address`. Not Z: an AXI error (counted). After the last B.
place:
    ld      key_address
    and     #3
    st      offset
    add     #4
    bit     a
    st      t0
    ld      #256
    sub     t0
    or      offset
    st      first
    ld      offset
    add.h0  meta
    st      t0
    add     #3
    shr     a
    shr     a
    st      words
    ld      t0
    and     #3
    bz      .whole
    add     #4
    bit     a
    sub     #16
    jmp     .got
.whole:
    ld      #0xf0
.got:
    or      offset
    st      last
    ld      words
    cmp     #1
    bnz     .several
    ld      first
    and     last
    st      last
    ld      #0
    st      first
.several:
    ld.h0   key_address
    shr     a
    shr     a
    and     #0x3ff
    st      t0
    ld      #0x400
    sub     t0
    st      room
    ld      #0
    st      carry
    st      failed
    ld      key_address
.burst:
    st      @address
    ld      room
    cmp     words
    bt      .page
    ld      words
.page:
    st      beats
    sub     #1
    st      @aw
    ld      words
    sub     beats
    st      words
    ld      first
    bz      .middle
    st      @shift
    ld      carry
    mv      @rx, w
    st      carry
    ld      beats
    sub     #1
    st      beats
    ld      #0
    st      first
.middle:
    ld      #0xf0
    or      offset
    st      @shift
    ld      beats
    st      @count
    ld      words
    bnz     .not_last
    ld      beats
    sub     #1
    st      @count
.not_last:
    ld      carry
    mv      @rx, w, repeat
    st      carry
    ld      words
    bnz     .answer
    ld      last
    st      @shift
    ld      carry
    mv      @rx, w
.answer:
    ld      @b
    bz      .good
    inc     c.axi_error
    st      failed
.good:
    ld      words
    bz      .end
    ld      #0x400
    st      room
    ld      key_address ; the next page
    or      #0x7ff
    or      #0x800
    add     #1
    jmp     .burst
.end:
    ld      failed
    ret
