// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows that the host and the engine share: context tables (written over AXI4-Lite) and queue entries (in host memory).
//!
//! All are made of 32-bit little-endian words. A field lies inside one word.

/// A field: bits `low..low + bits` of word `word`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub word: usize,
    pub low: usize,
    pub bits: usize,
    pub what: &'static str,
}

impl Field {
    /// Largest value, all ones.
    pub const fn max(&self) -> u32 {
        if self.bits == 32 {
            u32::MAX
        } else {
            (1 << self.bits) - 1
        }
    }
    /// Reads the field from a row.
    pub fn get(&self, row: &[u32]) -> u32 {
        (row[self.word] >> self.low) & self.max()
    }
    /// Writes the field into a row; bits of `value` beyond the field are cut.
    pub fn set(&self, row: &mut [u32], value: u32) {
        row[self.word] = row[self.word] & !(self.max() << self.low) | (value & self.max()) << self.low;
    }
}

macro_rules! row {
    ($(#[$doc:meta])* $table:ident { $($id:ident $name:literal $word:literal $low:literal $bits:literal $what:literal;)* }) => {
        $(#[$doc])*
        pub mod $table {
            use super::Field;
            $(#[doc = $what] pub const $id: Field = Field { name: $name, word: $word, low: $low, bits: $bits, what: $what };)*
            /// All fields, in order.
            pub const FIELDS: &[Field] = &[$($id),*];
        }
    };
}

/// Words in a QP row.
pub const QP_WORDS: usize = 32;
/// PSNs ahead of ePSN that an engine can hold early packets of, so the most that may be outstanding with selective repeat (R42).
pub const SELECTIVE_WINDOW: u32 = 64;
/// Words in an MR row.
pub const MR_WORDS: usize = 8;
/// Words in a CQ row.
pub const CQ_WORDS: usize = 4;
/// Words in an MTT entry.
pub const MTT_WORDS: usize = 2;
/// Bytes in a send WQE.
pub const SQ_WQE_BYTES: usize = 64;
/// Bytes in a receive WQE.
pub const RQ_WQE_BYTES: usize = 32;
/// Bytes in a completion.
pub const CQE_BYTES: usize = 32;
/// Bytes in an event.
pub const EVENT_BYTES: usize = 16;

row! {
    /// QP row, written by the host while the QP is in RESET (or, for attributes that verbs let change later, INIT); words 16 and 19, which
    /// only the requester reads (but for `max_dest_rd_atomic`), also in RTR, before the command to RTS. IP addresses and
    /// MACs are big-endian numbers: word 12 holds the first four bytes of an IPv6 address; IPv4 is ::ffff:a.b.c.d, so in word 15.
    qp {
        SERVICE "service" 0 0 3 "transport: 0 RC, 1 UC, 3 UD (the opcode's upper bits)";
        PMTU "pmtu" 0 3 3 "path MTU: 1 = 256 ... 5 = 4096 bytes";
        REMOTE_WRITE "remote_write" 0 6 1 "remote WRITE allowed (R53)";
        REMOTE_READ "remote_read" 0 7 1 "remote READ allowed (R53)";
        REMOTE_ATOMIC "remote_atomic" 0 8 1 "remote ATOMIC allowed (R53)";
        IPV6 "ipv6" 0 9 1 "0 IPv4, 1 IPv6";
        VLAN "vlan" 0 10 1 "send an 802.1Q tag";
        GID_INDEX "gid_index" 0 11 2 "our GID";
        RNR_TIMER "rnr_timer" 0 13 5 "minimum RNR NAK timer code (R43)";
        REORDER "reorder" 0 18 1 "early requests are held until their turn (R42); no effect without reorder";
        TAG "tag" 0 20 12 "upper 12 bits of the QPN; the lower 12 are the index";
        PD "pd" 1 0 16 "protection domain";
        PKEY "pkey" 1 16 16 "P_Key (R60)";
        DEST_QPN "dest_qpn" 2 0 24 "the peer's QPN";
        TRAFFIC_CLASS "traffic_class" 2 24 8 "IPv4 ToS or IPv6 traffic class";
        RQ_PSN "rq_psn" 3 0 24 "first PSN expected";
        QKEY "qkey" 4 0 32 "Q_Key (UD)";
        RECV_CQ "recv_cq" 5 0 12 "completion queue of the receive queue";
        SEND_CQ "send_cq" 5 16 12 "completion queue of the send queue";
        RQ_BASE_LOW "rq_base_low" 6 0 32 "receive ring, bus address, aligned to its size";
        RQ_BASE_HIGH "rq_base_high" 7 0 32 "receive ring, upper half";
        RQ_LOG "rq_log" 8 0 4 "log2 of the receive ring's entries, 0 to 15";
        SQ_LOG "sq_log" 8 4 4 "log2 of the send ring's entries, 0 to 15";
        HOP_LIMIT "hop_limit" 8 8 8 "TTL or hop limit";
        UDP_SOURCE "udp_source" 8 16 16 "UDP source port (R17)";
        DEST_MAC_LOW "dest_mac_low" 9 0 32 "destination MAC, last four bytes";
        DEST_MAC_HIGH "dest_mac_high" 10 0 16 "destination MAC, first two bytes";
        VLAN_TCI "vlan_tci" 10 16 16 "802.1Q tag control";
        NAK_DISTANCE "nak_distance" 11 0 6 "a gap is a loss once a packet more than this many PSNs after it came (R23, R34); no effect without reorder";
        NAK_DELAY "nak_delay" 11 8 12 "a gap is a loss once it is older, us; 0: age doesn't count; no effect without reorder";
        DEST_IP_0 "dest_ip_0" 12 0 32 "the peer's IP, first four bytes";
        DEST_IP_1 "dest_ip_1" 13 0 32 "the peer's IP, bytes 4-7";
        DEST_IP_2 "dest_ip_2" 14 0 32 "the peer's IP, bytes 8-11";
        DEST_IP_3 "dest_ip_3" 15 0 32 "the peer's IP, last four bytes";
        SQ_PSN "sq_psn" 16 0 24 "first PSN sent";
        SQ_BASE_LOW "sq_base_low" 17 0 32 "send ring, bus address";
        SQ_BASE_HIGH "sq_base_high" 18 0 32 "send ring, upper half";
        TIMEOUT "timeout" 19 0 5 "local ACK timeout code: 4.096 us times 2^n, 0 is off (R47)";
        RETRY_COUNT "retry_count" 19 5 3 "transport retries without progress (R44, R48)";
        RNR_RETRY "rnr_retry" 19 8 3 "RNR retries, 7 for ever (R44)";
        MAX_RD_ATOMIC "max_rd_atomic" 19 11 5 "READs and ATOMICs that we may have outstanding, 0 to 16 (R59)";
        SELECTIVE_REPEAT "selective_repeat" 19 16 1 "after a sequence NAK only the packet that it names is sent again: the peer holds early packets";
        SELECTIVE_WINDOW "selective_window" 19 17 6 "PSNs outstanding at most with selective_repeat, 4 (an ACK is asked for every 4) to 63: what the peer can hold; 0: 64";
        READ_RING_BASE "read_ring_base" 20 0 12 "first responder resource of the QP's ring in the pool";
        MAX_DEST_RD_ATOMIC "max_dest_rd_atomic" 20 16 5 "READs and ATOMICs that the peer may have outstanding, 0 to 16 (R59)";
    }
}

row! {
    /// MR row. A key is `index << 8 | key_tag`; L_Key and R_Key are the same number.
    mr {
        KEY_TAG "key_tag" 0 0 8 "lower 8 bits of the key";
        VALID "valid" 0 8 1 "the key is live; cleared by SEND with invalidate (R62)";
        LOCAL_WRITE "local_write" 0 9 1 "receives may land here";
        REMOTE_WRITE "remote_write" 0 10 1 "remote WRITE allowed";
        REMOTE_READ "remote_read" 0 11 1 "remote READ allowed";
        REMOTE_ATOMIC "remote_atomic" 0 12 1 "remote ATOMIC allowed";
        PAGED "paged" 0 13 1 "1: translate by the MTT; 0: contiguous";
        MAY_INVALIDATE "may_invalidate" 0 14 1 "a SEND with invalidate may end this key";
        PD "pd" 0 16 16 "protection domain";
        MTT "mtt" 1 0 16 "first MTT entry, the page that holds the first byte";
        VA_LOW "va_low" 2 0 32 "first virtual address";
        VA_HIGH "va_high" 3 0 32 "first virtual address, upper half";
        LENGTH_LOW "length_low" 4 0 32 "length, bytes";
        LENGTH_HIGH "length_high" 5 0 32 "length, upper half";
        ADDRESS_LOW "address_low" 6 0 32 "contiguous: bus address of the first byte";
        ADDRESS_HIGH "address_high" 7 0 32 "contiguous: upper half";
    }
}

row! {
    /// CQ row. Writing word 0 restarts the queue: producer and consumer 0, phase 1, unarmed.
    cq {
        BASE_LOW "base_low" 1 0 32 "ring, bus address, aligned to its size";
        BASE_HIGH "base_high" 2 0 32 "ring, upper half";
        LOG "log" 0 0 4 "log2 of the ring's entries, 0 to what CAPABILITIES tells (15 at most); beyond, VALID has no effect";
        VALID "valid" 0 31 1 "the queue exists";
    }
}

row! {
    /// MTT entry: page address.
    mtt {
        LOW "low" 0 0 32 "bus address of the page, lower half (bits 11-0 ignored)";
        HIGH "high" 1 0 32 "bus address of the page, upper half; writing it commits the entry";
    }
}

/// Words of the congestion row.
pub const CONGESTION_WORDS: usize = 5;

row! {
    /// Congestion control of the whole engine, registers from `registers::CONGESTION` on; an engine without it (READ_LIMITS bits 7 and 8) has none of
    /// them (SLVERR). Without the half that a field belongs to it has no effect. Words 1 to 4 are DCQCN's parameters (Zhu et al., SIGCOMM 2015).
    congestion {
        NOTIFY "notify" 0 0 1 "CNPs are sent for packets that arrive marked (R76)";
        REACT "react" 0 1 1 "a CNP slows its QP's requests";
        CNP_INTERVAL "cnp_interval" 0 8 8 "shortest time between two CNPs of a QP, us (R76)";
        MIN_RATE "min_rate" 1 0 16 "slowest rate, Mb/s";
        LINE_RATE "line_rate" 1 16 16 "fastest rate, Mb/s";
        ADDITIVE "additive" 2 0 16 "additive increase, Mb/s";
        HYPER "hyper" 2 16 16 "hyper increase, Mb/s";
        ALPHA_TIME "alpha_time" 3 0 10 "alpha falls after so long without a CNP, us";
        RATE_TIME "rate_time" 3 10 10 "the rate rises after each of these, us";
        FAST_STEPS "fast_steps" 3 20 4 "rises of fast recovery";
        GAIN_SHIFT "gain_shift" 3 24 4 "log2 of 1/g";
        RATE_BYTES "rate_bytes" 4 0 32 "the rate rises after each of these, KiB";
    }
}

row! {
    /// Receive WQE, 32 bytes, one scatter element. The second half is reserved, zero.
    rq_wqe {
        ADDRESS_LOW "address_low" 0 0 32 "virtual address of the buffer";
        ADDRESS_HIGH "address_high" 1 0 32 "virtual address, upper half";
        LENGTH "length" 2 0 32 "length, bytes";
        LKEY "lkey" 3 0 32 "L_Key";
    }
}

row! {
    /// Send WQE, 64 bytes. Words 6-9 and 10-13 are scatter/gather elements 0 and 1 as in a receive WQE (address, length, L_Key); inline data
    /// stands in words 6-13, byte 0 lowest. An ATOMIC has its result's place in element 0 (8 bytes) and its operands in words 10-13.
    /// A UD WQE has one element and the destination, in the form of QP row words, in words 3-5 and 10-15.
    sq_wqe {
        OPCODE "opcode" 0 0 4 "see `send_opcode`";
        SIGNALED "signaled" 0 4 1 "a completion is wanted";
        SOLICITED "solicited" 0 5 1 "ask the peer for an event (R63)";
        FENCE "fence" 0 6 1 "wait for earlier READs and ATOMICs";
        INLINE "inline" 0 7 1 "the payload stands in the WQE, 32 bytes at most";
        ELEMENTS "elements" 0 8 2 "scatter/gather elements, 0 to 2";
        LENGTH "length" 1 0 32 "bytes of the message: the sum of the elements, or of the inline data";
        IMMEDIATE "immediate" 2 0 32 "immediate as the number on the wire, or the key to invalidate";
        RKEY "rkey" 3 0 32 "R_Key; UD: the Q_Key";
        REMOTE_LOW "remote_low" 4 0 32 "remote virtual address; UD: as QP row word 2 (destination QPN, traffic class)";
        REMOTE_HIGH "remote_high" 5 0 32 "remote virtual address, upper half; UD: [0] IPv6, [1] 802.1Q tag, [3:2] GID index, [15:8] hop limit, [31:16] UDP source port";
        ADDRESS_0_LOW "address_0_low" 6 0 32 "element 0: virtual address";
        ADDRESS_0_HIGH "address_0_high" 7 0 32 "element 0: virtual address, upper half";
        LENGTH_0 "length_0" 8 0 32 "element 0: length, bytes";
        LKEY_0 "lkey_0" 9 0 32 "element 0: L_Key";
        ADDRESS_1_LOW "address_1_low" 10 0 32 "element 1: virtual address; ATOMIC: swap or add operand; UD: as QP row word 9 (MAC)";
        ADDRESS_1_HIGH "address_1_high" 11 0 32 "element 1: upper half; ATOMIC: operand's upper half; UD: as QP row word 10 (MAC, tag control)";
        LENGTH_1 "length_1" 12 0 32 "element 1: length, bytes; ATOMIC: compare operand; UD: destination IP, first four bytes";
        LKEY_1 "lkey_1" 13 0 32 "element 1: L_Key; ATOMIC: compare operand, upper half; UD: destination IP, bytes 4-7";
        DEST_IP_2 "dest_ip_2" 14 0 32 "UD: destination IP, bytes 8-11";
        DEST_IP_3 "dest_ip_3" 15 0 32 "UD: destination IP, last four bytes";
    }
}

row! {
    /// Completion, 32 bytes.
    cqe {
        QPN "qpn" 0 0 24 "our QPN";
        OPCODE "opcode" 0 24 8 "see `completion_opcode`";
        STATUS "status" 1 0 8 "see `status`";
        WITH_IMM "with_imm" 1 8 1 "the immediate is valid";
        WITH_INVALIDATE "with_invalidate" 1 9 1 "the immediate field holds the invalidated key";
        GRH "grh" 1 10 1 "40 bytes of GRH precede the payload (UD)";
        SOLICITED "solicited" 1 11 1 "the sender asked for an event (R63)";
        WQE_INDEX "wqe_index" 1 16 16 "free-running index of the WQE that this completes";
        BYTE_LENGTH "byte_length" 2 0 32 "bytes of the message, GRH included (R55)";
        IMMEDIATE "immediate" 3 0 32 "immediate as the big-endian number on the wire, or the invalidated key";
        SOURCE_QPN "source_qpn" 4 0 24 "UD: the sender's QPN";
        PHASE "phase" 7 31 1 "1 on the ring's first round, then alternating";
    }
}

row! {
    /// Event, 16 bytes.
    event {
        TYPE "type" 0 0 8 "see `event_type`";
        NUMBER "number" 0 8 24 "QPN or CQ number";
        DETAIL "detail" 1 0 32 "cause: NAK syndrome, counter code, or index";
        PHASE "phase" 3 31 1 "1 on the ring's first round, then alternating";
    }
}

/// QP states.
pub mod state {
    pub const RESET: u32 = 0;
    pub const INIT: u32 = 1;
    pub const RTR: u32 = 2;
    pub const RTS: u32 = 3;
    pub const SQD: u32 = 4;
    pub const ERR: u32 = 5;
}

/// Opcodes of send WQEs.
pub mod send_opcode {
    pub const SEND: u32 = 0;
    pub const SEND_WITH_IMM: u32 = 1;
    pub const SEND_WITH_INVALIDATE: u32 = 2;
    pub const WRITE: u32 = 3;
    pub const WRITE_WITH_IMM: u32 = 4;
    pub const READ: u32 = 5;
    pub const COMPARE_SWAP: u32 = 6;
    pub const FETCH_ADD: u32 = 7;
}

/// Completion opcodes.
pub mod completion_opcode {
    pub const SEND: u32 = 0;
    pub const WRITE: u32 = 1;
    pub const READ: u32 = 2;
    pub const COMPARE_SWAP: u32 = 3;
    pub const FETCH_ADD: u32 = 4;
    pub const RECV: u32 = 0x80;
    pub const RECV_RDMA_WITH_IMM: u32 = 0x81;
}

/// Completion statuses (IBTA volume 1, 11.6.2).
pub mod status {
    pub const SUCCESS: u32 = 0;
    pub const LOCAL_LENGTH_ERROR: u32 = 1;
    pub const LOCAL_QP_OPERATION_ERROR: u32 = 2;
    pub const LOCAL_PROTECTION_ERROR: u32 = 4;
    pub const WR_FLUSH_ERROR: u32 = 5;
    pub const BAD_RESPONSE_ERROR: u32 = 7;
    pub const LOCAL_ACCESS_ERROR: u32 = 8;
    pub const REMOTE_INVALID_REQUEST_ERROR: u32 = 9;
    pub const REMOTE_ACCESS_ERROR: u32 = 10;
    pub const REMOTE_OPERATION_ERROR: u32 = 11;
    pub const RETRY_EXCEEDED: u32 = 12;
    pub const RNR_RETRY_EXCEEDED: u32 = 13;
}

/// Event types.
pub mod event_type {
    /// An armed CQ got a completion.
    pub const COMPLETION: u32 = 1;
    /// A CQ overflowed; only it stops.
    pub const CQ_ERROR: u32 = 2;
    /// A QP went to ERR; the detail is the syndrome of the NAK that says why.
    pub const QP_FATAL: u32 = 3;
    /// A doorbell was refused; the number is the index.
    pub const BAD_DOORBELL: u32 = 4;
    /// The first packet reached a QP in RTR.
    pub const COMMUNICATION_ESTABLISHED: u32 = 5;
    /// A QP in SQD has nothing outstanding any more.
    pub const SQ_DRAINED: u32 = 6;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_overlap() {
        for (name, fields, words) in [
            ("qp", qp::FIELDS, QP_WORDS),
            ("mr", mr::FIELDS, MR_WORDS),
            ("cq", cq::FIELDS, CQ_WORDS),
            ("sq_wqe", sq_wqe::FIELDS, SQ_WQE_BYTES / 4),
            ("rq_wqe", rq_wqe::FIELDS, RQ_WQE_BYTES / 4),
            ("cqe", cqe::FIELDS, CQE_BYTES / 4),
            ("event", event::FIELDS, EVENT_BYTES / 4),
            ("congestion", congestion::FIELDS, CONGESTION_WORDS),
        ] {
            let mut used = vec![0u32; words];
            for field in fields {
                assert!(field.low + field.bits <= 32, "{name}.{} leaves its word", field.name);
                let mask = field.max() << field.low;
                assert_eq!(used[field.word] & mask, 0, "{name}.{} overlaps", field.name);
                used[field.word] |= mask;
            }
        }
    }

    #[test]
    fn set_then_get() {
        let mut row = [0u32; QP_WORDS];
        qp::TAG.set(&mut row, 0x1abc);
        qp::PMTU.set(&mut row, 5);
        assert_eq!((qp::TAG.get(&row), qp::PMTU.get(&row), row[0]), (0xabc, 5, 0xabc0_0028));
    }
}
