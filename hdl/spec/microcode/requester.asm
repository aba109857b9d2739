; SPDX-License-Identifier: MIT OR Apache-2.0
; The requester's and the READ responder's places: not built yet, so READ and ATOMIC are refused (R59), responses are ghosts (R39).

; A response for X's QP. A: b1 words of extension headers.
response:
    inc     c.ghost_ack
    ret

; A READ request in order.
read_request:
    jmp     invalid

; A READ or ATOMIC request that was seen before (counted).
duplicate_read:
    ret

; One thing that is due: a packet to send, a timer.
turn:
    ret

; X's QP has gone to SQD, to RESET or RTR, from RTR to RTS.
state_sqd:
state_renewed:
state_rts:
    ret

; X's QP has gone to ERR: R65.
flush:
    jmp     flush_receives

; The send queue's doorbell: QP host_index, producer host_data.
send_doorbell:
    jmp     refuse_write
