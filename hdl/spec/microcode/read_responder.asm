; SPDX-License-Identifier: MIT OR Apache-2.0
; The READ responder's place: not built, so READ requests are refused (R59).

; A READ request in order.
read_request:
    jmp     invalid

; A READ or ATOMIC request that was seen before (counted).
duplicate_read:
    ret
