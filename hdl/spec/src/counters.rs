// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters. Every frame that the MAC delivers ends in exactly one of the counters whose `class` is `Rx` or `Responder`, so those add
//! up to the frames in (the sum of the `Rx` class alone is the frames in; `rx_roce` of them went to the responder). A packet that the reorder
//! station holds counts when it leaves it.

/// Which station raises the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The verdict on a frame: exactly one a frame.
    Rx,
    /// What became of a committed RoCE packet: exactly one for each `rx_roce`.
    Responder,
    /// Frames sent.
    Tx,
    /// Beside the others.
    Extra,
}

/// One 32-bit counter, wrapping.
pub struct Counter {
    /// Event code and index in the counter file.
    pub code: u8,
    pub name: &'static str,
    pub class: Class,
    pub what: &'static str,
}

macro_rules! counters {
    ($($code:literal $id:ident $name:literal $class:ident $what:literal;)*) => {
        $(#[doc = $what] pub const $id: u8 = $code;)*
        /// The table, by code.
        pub const COUNTERS: &[Counter] = &[$(Counter { code: $code, name: $name, class: Class::$class, what: $what }),*];
    };
}

counters! {
    0 RX_ROCE "rx_roce" Rx "frames committed to the RoCE queue";
    1 RX_HOST "rx_host" Rx "frames committed to the host FIFO";
    2 RX_BAD_FCS "rx_bad_fcs" Rx "frames the MAC marked bad, or cut short";
    3 RX_BAD_ICRC "rx_bad_icrc" Rx "RoCE frames with a wrong ICRC (R12)";
    4 RX_BAD_LENGTH "rx_bad_length" Rx "RoCE frames whose lengths don't agree (R8-R10, R77)";
    5 RX_BAD_OPCODE "rx_bad_opcode" Rx "RoCE frames with a reserved opcode (R11)";
    6 RX_BAD_TVER "rx_bad_tver" Rx "RoCE frames whose transport version isn't 0 (R13)";
    7 RX_BAD_IP_CHECKSUM "rx_bad_ip_checksum" Rx "IPv4 header checksum wrong (R16)";
    8 RX_FRAGMENT "rx_fragment" Rx "IPv4 fragments or options to our RoCE port, given to the host (R15)";
    9 RX_NO_BUFFER "rx_no_buffer" Rx "RoCE frames dropped: receive buffer full";
    10 RX_HOST_OVERFLOW "rx_host_overflow" Rx "host frames dropped: host FIFO full";
    11 RX_TOO_LONG "rx_too_long" Rx "frames longer than the longest frame";
    12 RX_CNP "rx_cnp" Rx "congestion notification packets dropped: nothing reacts to them, or `react` is off (R76)";
    16 ACCEPTED "accepted" Responder "request packets executed, or their refusal answered";
    17 DUPLICATE "duplicate" Responder "duplicate requests answered (R26)";
    18 OUT_OF_SEQUENCE "out_of_sequence" Responder "packets beyond ePSN, answered by a sequence NAK (R23, R24)";
    19 OUT_OF_SEQUENCE_SILENT "out_of_sequence_silent" Responder "packets beyond ePSN while the NAK or RNR NAK stands (R23, R46)";
    20 RNR "rnr" Responder "requests refused for want of a receive WQE (R46)";
    21 UNKNOWN_QP "unknown_qp" Responder "no such QP, or its tag differs (R61)";
    22 QP_STATE "qp_state" Responder "QP not in RTR, RTS or SQD (R61)";
    23 WRONG_TRANSPORT "wrong_transport" Responder "opcode's transport isn't the QP's (R72)";
    24 BAD_PKEY "bad_pkey" Responder "P_Key mismatch (R60)";
    25 BAD_QKEY "bad_qkey" Responder "Q_Key mismatch (R61)";
    26 BAD_ADDRESS "bad_address" Responder "source or destination IP isn't the QP's (R71)";
    27 GHOST_ACK "ghost_ack" Responder "ACK or response to nothing outstanding (R39)";
    28 NO_RECEIVE "no_receive" Responder "UC or UD packet dropped: no receive WQE, or it didn't fit";
    29 UC_DROPPED "uc_dropped" Responder "UC packet of a broken message (R57, R73)";
    30 NAKED "naked" Responder "requests refused by a NAK other than sequence or RNR";
    31 RESPONSE "response" Responder "ACKs, NAKs and responses taken by the requester";
    32 TX_ACK "tx_ack" Tx "positive ACKs sent";
    33 TX_NAK_SEQUENCE "tx_nak_sequence" Tx "NAKs sent: PSN sequence error";
    34 TX_NAK_INVALID "tx_nak_invalid" Tx "NAKs sent: invalid request";
    35 TX_NAK_ACCESS "tx_nak_access" Tx "NAKs sent: remote access error";
    36 TX_NAK_OPERATION "tx_nak_operation" Tx "NAKs sent: remote operational error";
    37 TX_RNR "tx_rnr" Tx "RNR NAKs sent";
    38 TX_HOST "tx_host" Tx "frames sent for the host";
    39 TX_HOST_DROPPED "tx_host_dropped" Extra "frames of the host dropped: longer than the longest frame, or with a broken tkeep";
    40 CQ_OVERFLOW "cq_overflow" Extra "completions lost to a full CQ (R69)";
    41 EQ_OVERFLOW "eq_overflow" Extra "events lost to a full EQ";
    42 BAD_DOORBELL "bad_doorbell" Extra "doorbells refused (R69)";
    43 AXI_ERROR "axi_error" Extra "AXI error responses (R69)";
    44 TX_REQUEST "tx_request" Tx "request packets sent";
    45 TX_RESPONSE "tx_response" Tx "READ and ATOMIC responses sent";
    46 TX_POISONED "tx_poisoned" Extra "packets not sent: their payload couldn't be read (R69)";
    47 REWIND "rewind" Extra "times that a send queue went back (R25, R31)";
    48 TIMEOUT "timeout" Extra "ACK timers that ran out (R47)";
    49 RNR_WAIT "rnr_wait" Extra "RNR NAKs that made a send queue wait (R44)";
    50 IMPLIED_NAK "implied_nak" Extra "responses found missing by a later PSN (R34)";
    51 BAD_RESPONSE "bad_response" Extra "responses that don't fit their request (R40)";
    52 REORDER_HELD "reorder_held" Extra "early packets held until their turn, when they count as what they then are (R42)";
    53 REORDER_FULL "reorder_full" Responder "early packets dropped: no slot free, or none for this QP";
    54 REORDER_DUPLICATE "reorder_duplicate" Responder "early packets dropped: held already";
    55 REORDER_RELEASED "reorder_released" Responder "held packets dropped: their QP was reset or went to ERR, or its ePSN moved past them";
    56 SELECTIVE_RESEND "selective_resend" Extra "requests sent again alone: selective repeat";
    57 RX_MARKED "rx_marked" Extra "RoCE packets that arrived with ECN's congestion experienced";
    58 TX_CNP "tx_cnp" Tx "congestion notification packets sent (R76)";
    59 CNP "cnp" Responder "congestion notification packets that slowed their QP's requests (R76)";
}

/// No counter: what says this is counted later, by another.
pub const LATER: u8 = 63;

/// Size of the counter file (codes are below it).
pub const COUNTER_FILE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_rising() {
        for pair in COUNTERS.windows(2) {
            assert!(pair[0].code < pair[1].code);
        }
        assert!(COUNTERS.iter().all(|c| (c.code as usize) < COUNTER_FILE && c.code != LATER));
    }
}
