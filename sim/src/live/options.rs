// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a live NIC is opened with.

use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use verbena_model::wire::Faults;
use verbena_verbs::Mac;

/// What runs behind the host library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineKind {
    /// The engine's Verilog.
    Verilated,
    /// The golden model: the same rules in plain Rust, hundreds of times faster.
    Golden,
}

/// Which frames the faults are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Way {
    Both,
    /// Towards the engine.
    In,
    /// From it.
    Out,
}

/// Where the frames come from and go to.
#[derive(Debug)]
pub enum LinkOptions {
    /// A unix socket that the other side listens at (qemu `server=on`); tried again whenever there is none.
    Connect(PathBuf),
    /// A unix socket of our own (qemu `server=off`); one peer at a time.
    Listen(PathBuf),
    /// A TAP interface, made if it isn't there.
    Tap(String),
    /// A socket that is connected already. Once it ends, the cable is out for good.
    Stream(UnixStream),
}

/// How to open a [`super::LiveNic`].
#[derive(Debug)]
pub struct LiveOptions {
    pub engine: EngineKind,
    /// Preset of the Verilated engine.
    pub preset: String,
    /// Seed of the faults and of the Verilated engine's surroundings.
    pub seed: u64,
    /// Cycles that the Verilated engine's memory takes to answer.
    pub latency: u64,
    pub mac: Mac,
    pub ip: Ipv4Addr,
    /// Bits of the network part of `ip`.
    pub prefix: u8,
    pub link: LinkOptions,
    /// Of RoCE frames only. Times in ns of wall time.
    pub faults: Faults,
    /// Which way they happen.
    pub faulty: Way,
    /// The frames as the engine gets and gives them: after the faults on the way in, before them on the way out.
    pub pcap: Option<PathBuf>,
}

/// MAC address unless told otherwise: locally administered, "VBNA".
pub const DEFAULT_MAC: Mac = [0x02, 0x56, 0x42, 0x4e, 0x41, 0x02];
/// IP address unless told otherwise.
pub const DEFAULT_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// A frame that nothing overtakes goes on after this time, ns of wall time.
const REORDER_PATIENCE: u64 = 2_000_000;

impl LiveOptions {
    /// The Verilated `tengig` engine as 10.0.0.2/24, no faults.
    pub fn new(link: LinkOptions) -> LiveOptions {
        LiveOptions {
            engine: EngineKind::Verilated,
            preset: "tengig".into(),
            seed: 1,
            latency: 100,
            mac: DEFAULT_MAC,
            ip: DEFAULT_IP,
            prefix: 24,
            link,
            faults: LiveOptions::no_faults(),
            faulty: Way::Both,
            pcap: None,
        }
    }

    /// Faults at 0 with times that suit a live wire.
    pub fn no_faults() -> Faults {
        Faults {
            reorder_patience: REORDER_PATIENCE,
            longest_delay: REORDER_PATIENCE,
            ..Faults::default()
        }
    }
}
