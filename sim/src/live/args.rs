// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of every subcommand that works on a live wire.

use super::options::{EngineKind, LinkOptions, LiveOptions, Way, DEFAULT_IP};
use super::LiveNic;
use crate::command::{share, Common};
use anyhow::{Context, Result};
use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use verbena_model::wire::Faults;
use verbena_verbs::Mac;

/// The live NIC.
#[derive(Debug, Clone, Args)]
pub struct LiveArgs {
    /// Unix socket to connect to, in the framing of qemu's -netdev stream (there: server=on); tried again whenever nobody is there
    #[arg(long, value_name = "PATH", conflicts_with_all = ["listen", "tap"], required_unless_present_any = ["listen", "tap"])]
    pub socket: Option<PathBuf>,
    /// Unix socket to listen at (qemu: server=off)
    #[arg(long, value_name = "PATH", conflicts_with = "tap")]
    pub listen: Option<PathBuf>,
    /// TAP interface, made if it isn't there (then as root)
    #[arg(long, value_name = "NAME")]
    pub tap: Option<String>,
    /// What runs: the Verilated engine, or the golden model
    #[arg(long, value_enum, default_value = "verilated")]
    pub engine: EngineKind,
    /// Our address and the size of its network
    #[arg(long, value_name = "A.B.C.D[/N]", default_value_t = format!("{DEFAULT_IP}/24"))]
    pub ip: String,
    /// Our Ethernet address
    #[arg(long, value_name = "MAC", value_parser = mac, default_value = "02:56:42:4e:41:02")]
    pub mac: MacAddress,
    /// RoCE frames lost (2% or 0.02)
    #[arg(long, value_parser = share, default_value = "0", value_name = "SHARE")]
    pub loss: f64,
    /// RoCE frames doubled
    #[arg(long, value_parser = share, default_value = "0", value_name = "SHARE")]
    pub duplicate: f64,
    /// RoCE frames overtaken by 1 to 4 others
    #[arg(long, value_parser = share, default_value = "0", value_name = "SHARE")]
    pub reorder: f64,
    /// RoCE frames with a flipped bit
    #[arg(long, value_parser = share, default_value = "0", value_name = "SHARE")]
    pub corrupt: f64,
    /// Which way the faults happen
    #[arg(long, value_enum, default_value = "both")]
    pub faults: Way,
    /// Write the frames to a pcap: as the engine gets them (after the faults) and gives them (before)
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
}

/// An Ethernet address on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacAddress(pub Mac);

fn mac(text: &str) -> Result<MacAddress> {
    let bytes: Option<Vec<u8>> = text
        .split(':')
        .map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() <= 2))
        .collect();
    let bytes = bytes.and_then(|b| Mac::try_from(b).ok());
    Ok(MacAddress(
        bytes.context("want six bytes in hex with colons, 02:56:42:4e:41:02 for example")?,
    ))
}

/// `a.b.c.d` or `a.b.c.d/n`.
fn network(text: &str) -> Result<(Ipv4Addr, u8)> {
    let (ip, prefix) = text.split_once('/').unwrap_or((text, "24"));
    let want = || format!("--ip {text}: want an IPv4 address with the size of its network, 10.0.0.2/24 for example");
    Ok((ip.parse().with_context(want)?, prefix.parse().with_context(want)?))
}

impl LiveArgs {
    /// What the options say.
    pub fn options(&self, common: &Common) -> Result<LiveOptions> {
        let link = match (&self.socket, &self.listen, &self.tap) {
            (Some(path), ..) => LinkOptions::Connect(path.clone()),
            (_, Some(path), _) => LinkOptions::Listen(path.clone()),
            (.., Some(name)) => LinkOptions::Tap(name.clone()),
            _ => anyhow::bail!("one of --socket, --listen, --tap is needed"),
        };
        let (ip, prefix) = network(&self.ip)?;
        Ok(LiveOptions {
            engine: self.engine,
            preset: common.preset.clone(),
            seed: common.seed,
            latency: common.latency,
            mac: self.mac.0,
            ip,
            prefix,
            faults: Faults {
                loss: self.loss,
                duplicate: self.duplicate,
                reorder: self.reorder,
                corrupt: self.corrupt,
                ..LiveOptions::no_faults()
            },
            faulty: self.faults,
            pcap: self.pcap.clone(),
            ..LiveOptions::new(link)
        })
    }

    /// Opens the NIC; SIGINT and SIGTERM stop it from here on.
    pub fn open(&self, common: &Common) -> Result<LiveNic> {
        let nic = LiveNic::open(self.options(common)?)?;
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, nic.stop_flag()).context("catching SIGINT and SIGTERM")?;
        }
        Ok(nic)
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::DEFAULT_MAC;
    use super::*;

    #[test]
    fn addresses_are_read_or_refused() {
        assert_eq!(mac("02:56:42:4e:41:02").unwrap().0, DEFAULT_MAC);
        assert_eq!(network("10.1.2.3/16").unwrap(), (Ipv4Addr::new(10, 1, 2, 3), 16));
        assert_eq!(network("10.1.2.3").unwrap().1, 24);
        for bad in [
            "",
            "02:56:42:4e:41",
            "02:56:42:4e:41:02:03",
            "02:56:42:4e:41:0g",
            "02:56:42:4e:41:002",
        ] {
            assert!(mac(bad).is_err(), "{bad}");
        }
        for bad in ["", "10.0.0", "10.0.0.2/x", "10.0.0.2/", "fe80::1/64"] {
            assert!(network(bad).is_err(), "{bad}");
        }
    }
}
