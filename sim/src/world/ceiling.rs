// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a good wire allows.

use super::transfer::Route;
use crate::hca::mac::wire_bytes;
use crate::session::ack_every;
use crate::traffic::{OVERHEAD, RETH};

/// AETH of ACKs and of READ responses, bytes.
const AETH: usize = 4;

/// Bytes that a message takes on the wire, the way that its payload goes.
pub fn message_bytes(route: Route, length: usize, pmtu: usize) -> u64 {
    let packets = length.div_ceil(pmtu).max(1);
    let packet = |n: usize| {
        let payload = pmtu.min(length - n * pmtu);
        let extension = match route {
            Route::Write if n == 0 => RETH,
            Route::Read if n == 0 || n + 1 == packets => AETH,
            _ => 0,
        };
        wire_bytes(OVERHEAD + extension + payload.next_multiple_of(4))
    };
    (0..packets).map(packet).sum()
}

/// Bytes that go back for a message: the ACKs of R74, or a READ's request.
pub fn answer_bytes(route: Route, length: usize, pmtu: usize) -> u64 {
    match route {
        Route::Read => wire_bytes(OVERHEAD + RETH),
        _ => (length.div_ceil(pmtu).max(1).div_ceil(ack_every(pmtu))) as u64 * wire_bytes(OVERHEAD + AETH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_its_packets() {
        // 58 of headers, 24 of preamble, FCS and gap; RETH in the first, AETH in the first and last.
        assert_eq!(message_bytes(Route::Send, 1000, 256), 3 * (256 + 82) + 232 + 82);
        assert_eq!(message_bytes(Route::Write, 1000, 256), 3 * (256 + 82) + 232 + 82 + 16);
        assert_eq!(message_bytes(Route::Read, 1000, 256), 3 * (256 + 82) + 232 + 82 + 8);
        assert_eq!(message_bytes(Route::Read, 64, 256), 64 + 82 + 4);
        assert_eq!(message_bytes(Route::Send, 0, 256), 60 + 24);
        // 64 packets and one ACK, at PMTU 256.
        assert_eq!(answer_bytes(Route::Write, 1 << 14, 256), 62 + 24);
        assert_eq!(answer_bytes(Route::Send, 1 << 16, 1024), 4 * (62 + 24));
        assert_eq!(answer_bytes(Route::Read, 1 << 16, 1024), 58 + 16 + 24);
    }
}
