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

/// All proofs, in the packet's order.
pub const PROOFS: &[Proof] = &[
    Proof {
        added: include_str!("../properties/rx.sv"),
        ..streams("rx-streams", "tengig", "rx")
    },
    Proof {
        added: include_str!("../properties/control.sv"),
        loosened: &[("receive_state_8_11_12", "walk == TOP"), ("house_8", "walk == LAST")],
        ..streams("control-streams", "tengig", "control")
    },
    Proof {
        added: include_str!("../properties/dma_writer.sv"),
        bound: &[
            ("job_splitter_8_12_12", include_str!("../properties/job_splitter.sv")),
            ("burst_tracker_8", include_str!("../properties/burst_tracker.sv")),
            ("mtt_share", include_str!("../properties/mtt_share.sv")),
        ],
        method: Method::Induction(5),
        ..streams("dma_writer-streams", "tengig", "dma_writer")
    },
    streams("write_arbiter-streams", "tengig", "write_arbiter"),
    streams("descriptor_reader-streams", "tengig", "descriptor_reader"),
    streams("retire-streams", "tengig", "retire"),
    Proof {
        loosened: &[("resource_store_8_10_12_13_1_1", "&walk")],
        ..streams("read_responder-streams", "tengig", "read_responder")
    },
    Proof {
        loosened: &[("ack_rows_8_13_14_9", "walk == TOP"), ("timers_8_9_10", "clear == TOP")],
        ..streams("complete-streams", "tengig", "complete")
    },
    Proof {
        added: include_str!("../properties/queues.sv"),
        loosened: &[("queues", "walk == WALK_END")],
        ..streams("queues-streams", "tengig", "queues")
    },
    Proof {
        added: include_str!("../properties/registers.sv"),
        ..streams("registers-streams", "tengig", "registers")
    },
    Proof {
        added: include_str!("../properties/counters.sv"),
        claim: "done and read data come only for an access; one event is taken at a time",
        ..streams("counters-access", "tengig", "counters")
    },
    Proof {
        bound: &[("read_splitter_8_12_64", include_str!("../properties/read_splitter.sv"))],
        without: &[("done", "holds while fewer than 16 packets wait: proved of done_queue_8")],
        method: Method::Induction(3),
        ..streams("dma_reader-streams", "tengig", "dma_reader")
    },
    streams("tx-streams", "tengig", "tx"),
    Proof {
        loosened: &[("scheduler_8_9_11_1", "&walk")],
        ..streams("send-streams", "tengig", "send")
    },
];
