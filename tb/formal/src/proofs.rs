// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of proofs.

use crate::block::Block;
use crate::memory::Memory;
use crate::sby::Method;

/// One claim about one block.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    pub name: &'static str,
    /// What is claimed, in one line.
    pub claim: &'static str,
    pub block: Block,
    /// The rules of its streams are claimed, too.
    pub streams: bool,
    /// Payloads that names don't tell: (stream, port).
    pub extra: &'static [(&'static str, &'static str)],
    /// Streams that aren't held, with the reason.
    pub without: &'static [(&'static str, &'static str)],
    /// What is added to the wrapper: contracts of the ports that aren't streams, and further claims.
    pub added: &'static str,
    /// (module, text) put into a module.
    pub bound: &'static [(&'static str, &'static str)],
    /// (module, condition): becomes true whenever the solver likes. More behaviours than the block has, so what is proved so holds for it; the end of a
    /// clearing walk comes at once so.
    pub loosened: &'static [(&'static str, &'static str)],
    pub memory: Memory,
    pub method: Method,
    /// Seconds after which it is out of time.
    pub limit: u64,
    /// A few seconds: part of `cargo test`.
    pub quick: bool,
}

/// A proof of a station's streams.
const fn streams(name: &'static str, preset: &'static str, station: &'static str) -> Proof {
    Proof {
        name,
        claim: "each stream's offer stands with its payload until it is taken; none in reset",
        block: Block {
            preset,
            station,
            module: "",
        },
        streams: true,
        extra: &[],
        without: &[],
        added: "",
        bound: &[],
        loosened: &[],
        memory: Memory::Free,
        method: Method::Reachability,
        limit: 300,
        quick: false,
    }
}

/// A proof of a module inside a station.
const fn part(name: &'static str, station: &'static str, module: &'static str) -> Proof {
    Proof {
        block: Block {
            preset: "tengig",
            station,
            module,
        },
        ..streams(name, "tengig", station)
    }
}

/// A proof of a module of `cu`'s core.
const fn micro(name: &'static str, module: &'static str) -> Proof {
    Proof {
        block: Block {
            preset: "cu",
            station: "micro",
            module,
        },
        ..streams(name, "cu", "micro")
    }
}

/// All proofs, in the packet's order.
pub const PROOFS: &[Proof] = &[
    Proof {
        claim: "streams; and a head stands until head_next",
        added: include_str!("../properties/rx.sv"),
        ..streams("rx-streams", "tengig", "rx")
    },
    Proof {
        claim: "a head stands until head_next, none is lost",
        added: include_str!("../properties/head_front.sv"),
        quick: true,
        ..part("head_front", "rx", "head_front_2")
    },
    Proof {
        added: include_str!("../properties/ring_reader.sv"),
        ..part("ring_reader-streams", "rx", "ring_reader_64_2_12_65")
    },
    part("host_fifo-streams", "rx", "host_fifo_64_8_3_11_68"),
    Proof {
        claim: "R42: the slots of held packets: none is used twice, none comes back before it is done, none leaks",
        streams: false,
        bound: &[("slots_12", include_str!("../properties/slots.sv"))],
        method: Method::Induction(4),
        quick: true,
        ..part("reorder-slots", "reorder", "slots_12")
    },
    streams("reorder-streams", "tengig", "reorder"),
    Proof {
        claim: "streams; no overflow, no underflow, no leak",
        bound: &[("payload_fifo_64_10_11", include_str!("../properties/payload_fifo.sv"))],
        method: Method::Induction(3),
        ..part("payload_fifo-streams", "tx", "payload_fifo_64_10_11")
    },
    Proof {
        added: include_str!("../properties/control.sv"),
        without: &[(
            "entry",
            "by its own rule: an entry that completes nothing has fields that don't count",
        )],
        loosened: &[("receive_state_8_11_12", "walk == TOP"), ("house_8", "walk == LAST")],
        method: Method::Bounded(24),
        limit: 60,
        ..streams("control-streams", "tengig", "control")
    },
    streams("notification_point-streams", "tengig", "notification_point"),
    streams("reaction_point-streams", "tengig", "reaction_point"),
    Proof {
        claim: "streams; AXI4: no burst leaves its block of 256 beats (so none crosses 4 KiB), no more bursts than are tracked, a page stands while its AW waits",
        added: include_str!("../properties/dma_writer.sv"),
        bound: &[
            ("job_splitter_8_12_12", include_str!("../properties/job_splitter.sv")),
            ("burst_tracker_8", include_str!("../properties/burst_tracker.sv")),
            ("mtt_share", include_str!("../properties/mtt_share.sv")),
        ],
        method: Method::Induction(5),
        ..streams("dma_writer", "tengig", "dma_writer")
    },
    streams("write_arbiter-streams", "tengig", "write_arbiter"),
    Proof {
        claim: "AXI4: W in the order of AW, no interleaving, what goes out is what was granted, B to its group",
        streams: true,
        bound: &[("write_arbiter", include_str!("../properties/write_arbiter.sv"))],
        method: Method::Induction(3),
        ..streams("write_arbiter-order", "tengig", "write_arbiter")
    },
    Proof {
        claim: "an offer stands with its payload until it is taken; none in reset",
        ..part("read_arbiter-streams", "whole", "read_arbiter_64")
    },
    Proof {
        claim:
            "R52, R62, R67: a key is granted only for a live region of its tag and PD with the right asked for, and the bytes lie inside it",
        streams: false,
        bound: &[("keys", include_str!("../properties/keys.sv"))],
        method: Method::AnyState(11),
        ..streams("keys-region", "tengig", "keys")
    },
    Proof {
        claim: "R21: equal, earlier and beyond are exact for all PSNs, over the wrap; ePSN moves only when told",
        streams: false,
        added: include_str!("../properties/psn_window.sv"),
        method: Method::AnyState(8),
        quick: true,
        ..part("psn_window", "control", "psn_window")
    },
    Proof {
        claim: "RC: only ePSN is executed, only ePSN or a duplicate handed on, what is beyond is refused",
        streams: false,
        added: include_str!("../properties/decide.sv"),
        method: Method::AnyState(8),
        quick: true,
        ..part("decide", "control", "decide")
    },
    streams("descriptor_reader-streams", "tengig", "descriptor_reader"),
    Proof {
        claim: "streams; and of each entry one completion, one answer, one event, one serve, as it says, after its writes have landed",
        bound: &[("retire", include_str!("../properties/retire.sv"))],
        ..streams("retire", "tengig", "retire")
    },
    Proof {
        added: include_str!("../properties/read_responder.sv"),
        loosened: &[("resource_store_8_10_12_13_1_1", "&walk")],
        method: Method::Bounded(24),
        limit: 60,
        ..streams("read_responder-streams", "tengig", "read_responder")
    },
    Proof {
        added: include_str!("../properties/complete.sv"),
        loosened: &[("ack_rows_8_13_14_9", "walk == TOP"), ("timers_8_9_10", "clear == TOP")],
        method: Method::Bounded(24),
        limit: 60,
        ..streams("complete-streams", "tengig", "complete")
    },
    Proof {
        claim: "streams; AXI4: entries are aligned to their size",
        added: include_str!("../properties/queues.sv"),
        loosened: &[("queues", "walk == WALK_END")],
        method: Method::Bounded(24),
        limit: 60,
        ..streams("queues-streams", "tengig", "queues")
    },
    Proof {
        claim: "streams; AXI4-Lite: one B for an AW and its W, one R for an AR, one at a time",
        added: include_str!("../properties/registers.sv"),
        ..streams("registers", "tengig", "registers")
    },
    Proof {
        added: include_str!("../properties/counters.sv"),
        claim: "done and read data come only for an access; one event is taken at a time",
        ..streams("counters-access", "tengig", "counters")
    },
    Proof {
        claim: "streams; AXI4: no burst leaves its block of 64 beats; a page is there before its AR and stands",
        bound: &[("read_splitter_8_12_64", include_str!("../properties/read_splitter.sv"))],
        without: &[("done", "holds while fewer than 16 packets wait: proved of done_queue_8")],
        method: Method::Induction(3),
        ..streams("dma_reader", "tengig", "dma_reader")
    },
    Proof {
        claim: "job, entry and event are each held until taken",
        quick: true,
        ..part("leave", "control", "leave")
    },
    Proof {
        claim: "each stream's offer stands with its payload until it is taken; none in reset",
        added: include_str!("../properties/atomic_unit.sv"),
        ..part("atomic_unit-streams", "read_responder", "atomic_unit")
    },
    Proof {
        claim: "no overflow, no leak, nothing from nowhere while fewer than 16 packets wait",
        added: include_str!("../properties/done_queue.sv"),
        quick: true,
        ..part("done_queue", "dma_reader", "done_queue_8")
    },
    Proof {
        claim: "AXI4: entries are aligned, WLAST is the beat that AWLEN says, one AW an entry",
        added: include_str!("../properties/queue_writer.sv"),
        ..part("queue_writer", "queues", "queue_writer_64_8")
    },
    Proof {
        claim: "pointers: no overflow, no underflow, no leak; an offer stands",
        bound: &[(
            "fifo_4_5_244",
            concat!("\n  localparam LAST = 4;", include_str!("../properties/fifo.sv")),
        )],
        quick: true,
        method: Method::Induction(3),
        ..part("fifo-pointers", "retire", "fifo_4_5_244")
    },
    Proof {
        claim: "pointers: no overflow, no underflow, no leak; an offer stands",
        bound: &[(
            "fifo_9_10_9",
            concat!("\n  localparam LAST = 9;", include_str!("../properties/fifo.sv")),
        )],
        method: Method::Induction(3),
        ..part("fifo-pointers-512", "send", "fifo_9_10_9")
    },
    Proof {
        claim: "order and contents (of a bit, for all of them): a word comes out after those before it, unchanged",
        added: concat!(
            "\n    localparam AHEAD = 4;\n    localparam DATA = 0;",
            include_str!("../properties/fifo_order.sv")
        ),
        bound: &[(
            "fifo_4_5_1",
            concat!("\n  localparam LAST = 4;", include_str!("../properties/fifo.sv")),
        )],
        memory: Memory::Whole,
        method: Method::Bounded(24),
        limit: 120,
        ..part("fifo-order", "send", "fifo_4_5_1")
    },
    Proof {
        claim: "two words at most; in order, unchanged, none lost",
        added: concat!("\n    localparam DATA = 3;", include_str!("../properties/skid.sv")),
        quick: true,
        ..part("skid", "rx", "skid_4")
    },
    streams("tx-streams", "tengig", "tx"),
    Proof {
        added: include_str!("../properties/send.sv"),
        loosened: &[("scheduler_8_9_11_1", "&walk")],
        method: Method::Bounded(24),
        limit: 60,
        ..streams("send-streams", "tengig", "send")
    },
    streams("micro_receiver-streams", "cu", "micro_receiver"),
    Proof {
        claim: "streams, if the program keeps its contract",
        extra: &[("aw", "id"), ("aw", "address"), ("aw", "length"), ("ar", "id"), ("ar", "address"), ("ar", "length")],
        added: include_str!("../properties/bursts.sv"),
        ..micro("micro-bursts-streams", "bursts")
    },
    Proof {
        claim: "streams, if the program keeps its contract",
        added: include_str!("../properties/lite.sv"),
        ..micro("micro-lite-streams", "lite")
    },
    Proof {
        claim: "streams, if the program keeps its contract",
        added: include_str!("../properties/transmitter.sv"),
        ..micro("micro-transmitter-streams", "transmitter")
    },
    streams("uart_port-streams", "cu", "uart_port"),
];
