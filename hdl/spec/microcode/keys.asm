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

; R52: key, PD, access and range; the bus address. Z: refused. Uses t0 to t2.
key_check:
    ld      key_key
    call    key_row
    bz      key_row.refuse
    and     key_access
    bz      key_row.refuse
    ld      [y+]
    ld      [y+]
    ld      key_low
    sub     [y+]
    st      t0          ; offset
    ld      key_high
    sbb     [y+]
    bt      key_row.refuse
    st      t1
    ld      [y+]
    sub     t0
    st      t2          ; bytes from there on
    ld      [y+]
    sbb     t1
    bt      key_row.refuse
    bnz     .holds
    ld      t2
    cmp     key_length
    bt      key_row.refuse
.holds:
    ld      t0
    add     [y]
    st      key_address
    ld      #1
    ret

; A: a key. Its MR row at Y, A the row's word 0. Z: no such key in X's PD.
key_row:
    st      t0
    ld.t1   t0
    cmp     #4
    bnt     .refuse
    add     a
    add     a
    add     a
    add     #map.mr
    st      @y
    ld.b0   [y]
    cmp.b0  t0
    bnz     .refuse
    ld.h2   [y]
    cmp.h0  qp.w1
    bnz     .refuse
    ld      [y]
    bbs     13, .refuse ; no MTT
    bbc     8, .refuse
    ret
.refuse:
    ld      #0
    ret

; R62: ends key x0. Z: it can't be ended.
invalidate_key:
    ld      x0
    call    key_row
    bz      key_row.refuse
    bbc     14, key_row.refuse
    ld      #0
    st.b1   [y]
    ld      #1
    ret

.var first              ; SHIFT for the first word, 0: it is out
.var last               ; ... the last one
.var words              ; words of later bursts
.var beats              ; words of this one
.var carry              ; the last word from the source, moved
.var offset             ; bytes that it is moved by
.var room               ; words up to the page's end
.var failed             ; an error was answered

; meta.h0 bytes (at least one) from the receive pointer on to `key_address`. Not Z: an AXI error (counted). After the last B.
place:
    ld.h0   meta
    st      key_length
    clr     piece_at
; ... key_length bytes, from byte `piece_at` [1:0] of the word there.
place_piece:
    ld      key_address
    and     #3
    st      t1          ; d
    ld      piece_at
    and     #3
    st      t0
    ld      t1
    sub     t0
    st      t2
    and     #3
    st      offset
    st      @shift
    clr      carry
    clr      failed
    ld      t2
    bbc     31, .steady
    mv      @rx, none
    st      carry
.steady:
    ld      t1
    add     #4
    bit     a
    st      t0
    ld      #256
    sub     t0
    or      offset
    st      first
    ld      t1
    add     key_length
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
    clr     first
.several:
    call    page_room
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
    clr     first
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
    call    next_page
    jmp     .burst
.end:
    ld      failed
    ret

; room: words from key_address to the end of its page; A = key_address.
page_room:
    ld.h0   key_address
    shr     a
    shr     a
    and     #0x3ff
    st      t2
    ld      #0x400
    sub     t2
    st      room
    ld      key_address
    ret

; A: where the next page begins.
next_page:
    ld      #0x400
    st      room
    ld      key_address
    or      #0x7ff
    or      #0x800
    add     #1
    ret
