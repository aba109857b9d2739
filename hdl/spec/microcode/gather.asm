; SPDX-License-Identifier: MIT OR Apache-2.0
; Payload of the requester: from a WQE's elements to the frame, and back.

.var piece_left             ; bytes that are still to be moved
.var piece_offset           ; where they begin in the message
.var piece_at               ; byte of the frame's memory, or of the payload
.var payload_at             ; ring word of the payload

; The element that holds byte piece_offset, and how many of the bytes: key_key, key_low, key_high, key_length. A: access. Z: key refused.
piece:
    st      key_access
    ld      wqe+8
    st      t0
    ld      piece_offset
    cmp     t0
    bnt     .second
    st      t1          ; offset in the element
    ld      #wqe+6
    jmp     .element
.second:
    sub     t0
    st      t1
    ld      #wqe+10
.element:
    st      @y
    ld      [y+]
    add     t1
    st      key_low
    ld      [y+]
    adc     #0
    st      key_high
    ld      [y+]
    sub     t1
    st      key_length
    ld      [y]
    st      key_key
    ld      piece_left
    cmp     key_length
    bnt     .whole
    st      key_length
.whole:
    jmp     key_check

piece_done:             ; Z: that was the last
    ld      piece_offset
    add     key_length
    st      piece_offset
    ld      piece_at
    add     key_length
    st      piece_at
    ld      piece_left
    sub     key_length
    st      piece_left
    ret

; The packet's payload to the frame. Not Z: A is the status of what went wrong.
gather:
    ld      packet_count
    st      piece_left
    bz      .good
    ld      position
    st      piece_offset
    ld      extension
    add     #tx+14
    add     a
    add     a
    st      piece_at
    ld      wqe
    bbs     7, .inline
.next:
    ld      #1<<8
    call    piece
    bz      .refused
    call    read_piece
    bnz     .unreadable
    call    piece_done
    bnz     .next
.pad:
    ld      piece_at
    shr     a
    shr     a
    st      @y
    ld      piece_at
    and     #3
    bz      .good
    ld      piece_at
    bbc     1, .one     ; the last word's bytes behind the end
    bbs     0, .three
    ld      #0
    st.h2   [y]
    ret
.one:
    ld      #0
    st.t1   [y]
    ret
.three:
    ld      #0
    st.b3   [y]
    ret
.inline:                ; in the WQE, from word 6 on
    ld      wqe_at
    add     #24
    jmp     gather_from
.refused:
    ld      #4
    ret
.unreadable:
    inc     c.tx_poisoned
    ld      #2
    ret
.good:
    ld      #0
    ret

; key_length bytes from key_address to byte piece_at of the memory. Not Z: an AXI error (counted).
read_piece:
    ld      piece_at
    and     #3
    st      t0          ; bytes before, in the first word
    shr.h0  piece_at
    shr     a
    st      @y
    st      t3
    ld      [y]
    st      first       ; ... as they are
    ld      key_address
    and     #3
    st      t1
    add     key_length
    add     #3
    shr     a
    shr     a
    st      words       ; to read
    ld      t0
    sub     t1
    st      last        ; below 0: the first word read doesn't fill one
    and     #3
    st      @shift
    clr     carry
    clr     failed
    call    page_room
.burst:
    st      @address
    ld      room
    cmp     words
    bt      .page
    ld      words
.page:
    st      @count
    st      beats
    sub     #1
    st      @ar
    ld      words
    sub     beats
    st      words
    ld      last
    bbc     31, .steady
    ld      beats
    sub     #1
    st      @count
    mv      @r, none
    st      carry
    clr     last
.steady:
    ld      carry
    mv      @r, [y+], repeat
    st      carry
    ld      @status
    bbc     3, .read
    inc     c.axi_error
    st      failed
.read:
    ld      words
    bz      .all
    call    next_page
    jmp     .burst
.all:
    ld      carry       ; what the last word read doesn't fill up
    mv      @zero, [y+]
    ld      t3
    st      @y
    ld      t0
    bz      .patched
    bbc     1, .one
    bbs     0, .three
    ld      first
    st.h0   [y]
    jmp     .patched
.one:
    ld      first
    st.b0   [y]
    jmp     .patched
.three:
    ld      first
    st.t0   [y]
.patched:
    ld      failed
    ret

; The response's payload to the elements. Not Z: A is the status of what went wrong.
scatter:
    ld      packet_count
    st      piece_left
    bz      gather.good
    ld      position
    st      piece_offset
    clr     piece_at
.next:
    ld      #1<<9
    call    piece
    bz      gather.refused
    ld      piece_at
    shr     a
    shr     a
    add     payload_at
    st      @rx_pointer
    call    place_piece
    bnz     .failed
    call    piece_done
    bnz     .next
    ret
.failed:
    ld      #2
    ret
