// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a ping-pong can be told.

use super::GRH;
use crate::Error;
use clap::{Args, ValueEnum};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_verbs::{Capabilities, PathMtu, Transport};

/// Which of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// ibv_rc_pingpong
    Rc,
    /// ibv_uc_pingpong: a lost message ends it
    Uc,
    /// ibv_ud_pingpong: a lost message ends it
    Ud,
}

impl Service {
    pub fn transport(self) -> Transport {
        match self {
            Service::Rc => Transport::Rc,
            Service::Uc => Transport::Uc,
            Service::Ud => Transport::Ud,
        }
    }
}

/// Options with the tools' letters and defaults.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Name or address of the server, for TCP; without it this is the server
    pub server: Option<String>,
    /// Which tool the other side runs
    #[arg(short = 't', long, value_enum, default_value_t = Service::Rc)]
    pub service: Service,
    /// TCP port
    #[arg(short, long, default_value_t = 18515)]
    pub port: u16,
    /// Address to listen at, for TCP
    #[arg(long, default_value = "127.0.0.1")]
    pub bind: String,
    /// Bytes of a message; datagrams: at most the path MTU
    #[arg(short, long, default_value_t = 1024)]
    pub size: usize,
    /// Path MTU: 256, 512, 1024, 2048, 4096
    #[arg(short, long, default_value_t = 1024)]
    pub mtu: usize,
    /// Receives posted
    #[arg(short, long, default_value_t = 500)]
    pub rx_depth: usize,
    /// Messages each way
    #[arg(short = 'n', long, default_value_t = 1000)]
    pub iters: u64,
    /// Compare every byte of every message; the client must have it too
    #[arg(short, long)]
    pub chk: bool,
    /// ACK timeout, 4.096 us times 2 to this
    #[arg(long, default_value_t = 14)]
    pub timeout: u8,
    /// Seconds to wait for a client
    #[arg(long, default_value_t = 60)]
    pub wait: u64,
    /// Where the first PSN is drawn from
    #[arg(skip)]
    pub seed: u64,
}

/// Longest message: what the library can register by pages with room to spare.
const LONGEST: usize = 8 << 20;
const MOST_RECEIVES: usize = 32768;

impl Options {
    /// Bytes before the payload of a receive.
    pub(super) fn head(&self) -> u64 {
        if self.service == Service::Ud {
            GRH
        } else {
            0
        }
    }

    pub(super) fn path_mtu(&self) -> Result<PathMtu, Error> {
        PathMtu::from_bytes(self.mtu).ok_or_else(|| Error::Usage(format!("--mtu {}: want 256, 512, 1024, 2048 or 4096", self.mtu)))
    }

    pub(super) fn first_psn(&self) -> u32 {
        ChaCha8Rng::seed_from_u64(self.seed).gen_range(0..1 << 24)
    }

    /// What can be said before anything is opened.
    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<(), Error> {
        let usage = |text: String| Err(Error::Usage(text));
        self.path_mtu()?;
        if !capabilities.requester {
            return usage("this engine can't send: it has no requester".into());
        }
        if self.service == Service::Ud && self.size > self.mtu {
            return usage(format!("--size {}: a datagram has at most the path MTU, {}", self.size, self.mtu));
        }
        if self.size > LONGEST {
            return usage(format!("--size {}: at most {LONGEST}", self.size));
        }
        if self.iters == 0 {
            return usage("--iters 0: want at least 1".into());
        }
        if !(2..=MOST_RECEIVES).contains(&self.rx_depth) {
            return usage(format!("--rx-depth {}: want 2 to {MOST_RECEIVES}", self.rx_depth));
        }
        if self.timeout > 31 {
            return usage(format!("--timeout {}: want 0 to 31", self.timeout));
        }
        Ok(())
    }
}
