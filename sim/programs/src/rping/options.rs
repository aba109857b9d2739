// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an rping can be told.

use crate::Error;
use clap::Args;
use std::net::IpAddr;
use verbena_verbs::Capabilities;

/// Options with rping's letters and defaults.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Be the server
    #[arg(short = 's', long, required_unless_present = "client", conflicts_with = "client")]
    pub server: bool,
    /// Be the client
    #[arg(short = 'c', long, requires = "address")]
    pub client: bool,
    /// The server's address
    #[arg(short = 'a', long)]
    pub address: Option<IpAddr>,
    /// Port, as a service ID of the connection manager
    #[arg(short, long, default_value_t = 7174)]
    pub port: u16,
    /// Bytes of a ping
    #[arg(short = 'S', long, default_value_t = 64)]
    pub size: usize,
    /// Pings of a connection; the client's choice
    #[arg(short = 'C', long, default_value_t = 10)]
    pub count: u64,
    /// Show the pings
    #[arg(short, long)]
    pub verbose: bool,
    /// Compare what comes back
    #[arg(short = 'V', long)]
    pub validate: bool,
    /// Connections one after the other
    #[arg(long, default_value_t = 1)]
    pub connections: u64,
    /// Seconds to wait for a client
    #[arg(long, default_value_t = 60)]
    pub wait: u64,
    /// Where PSNs and communication IDs are drawn from
    #[arg(skip)]
    pub seed: u64,
}

/// rping's limits.
const SHORTEST: usize = 26;
pub(super) const LONGEST: usize = 65535;

impl Options {
    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<(), Error> {
        if !(SHORTEST..=LONGEST).contains(&self.size) {
            return Err(Error::Usage(format!("--size {}: want {SHORTEST} to {LONGEST}", self.size)));
        }
        if self.count == 0 || self.connections == 0 {
            return Err(Error::Usage("--count and --connections: want at least 1".into()));
        }
        if !capabilities.read_atomic {
            return Err(Error::Usage(
                "this engine has no READ, which both sides of rping need; see its capabilities".into(),
            ));
        }
        Ok(())
    }
}
