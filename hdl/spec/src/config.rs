// SPDX-License-Identifier: MIT OR Apache-2.0
//! Presets and their limits. One source for every size in the engine; checked before anything is elaborated.

use std::fmt;

/// Why a configuration was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    UnknownPreset(String),
    UnknownKey(String),
    BadValue { key: String, value: String, want: String },
    Impossible(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPreset(name) => write!(f, "unknown preset '{name}': use one of {}", names().join(", ")),
            Self::UnknownKey(key) => write!(f, "unknown setting '{key}': use one of {}", KEYS.join(", ")),
            Self::BadValue { key, value, want } => write!(f, "bad value '{value}' for '{key}': want {want}"),
            Self::Impossible(why) => write!(f, "impossible combination: {why}"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Settings that `gen-verilog --set` takes.
pub const KEYS: [&str; 2] = ["n_qps", "roce_buffer"];

/// Everything that sizes the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub name: &'static str,
    /// What the preset is for, one line.
    pub purpose: &'static str,
    /// Width of a beat on the MAC streams and of AXI data, bits.
    pub data_bits: usize,
    /// Width of a bus (physical) address, bits, 17 to 64: addresses handed to the engine lie below `2^address_bits`, and the bits
    /// beyond are ignored wherever the host writes them. Virtual addresses have 64 bits always.
    pub address_bits: usize,
    /// log2 of the most entries that a completion or event ring may have, 7 to 15.
    pub ring_log: usize,
    /// Core clock that the preset's target closes at, kHz (the default tick is made from it).
    pub clock_khz: u32,
    /// Queue pairs, index 0 (unused) and 1 (QP1) included; one of `sizes`.
    pub n_qps: usize,
    /// Numbers of queue pairs that the engine is built with.
    pub sizes: &'static [usize],
    /// Completion queues.
    pub n_cqs: usize,
    /// Memory regions.
    pub n_mrs: usize,
    /// Translation table entries (4 KiB pages); 0: regions are contiguous.
    pub n_mtt: usize,
    /// GID table entries.
    pub n_gids: usize,
    /// RoCE receive buffer, bytes.
    pub roce_buffer: usize,
    /// What `roce_buffer` may be. Held packets stay in it, so what it has more holds more early packets (R42).
    pub buffers: &'static [usize],
    /// The host's own Ethernet port: without it, what isn't RoCE is dropped (`rx_host_overflow`) and nothing is sent for the host.
    pub host_port: bool,
    /// Host receive FIFO, bytes.
    pub host_fifo: usize,
    /// Longest Ethernet frame, bytes, without FCS.
    pub max_frame: usize,
    /// Largest path MTU, bytes.
    pub max_pmtu: usize,
    pub ipv6: bool,
    pub uc: bool,
    pub ud: bool,
    /// The engine can start work: send queues, READ and ATOMIC as requester.
    pub requester: bool,
    /// READ and ATOMIC requests of the peer are served.
    pub read_atomic: bool,
    /// ATOMIC requests, too; else they are refused (R59).
    pub atomic: bool,
    /// READs and ATOMICs that a peer may have outstanding on one QP, at most 16.
    pub read_ring: usize,
    /// Those of all QPs together.
    pub read_resources: usize,
    /// PSNs from the expected one on that a QP may hold early packets of, each role (R42); a power of two.
    pub reorder_window: usize,
    /// Early packets that the engine holds; 0: they are dropped.
    pub reorder_slots: usize,
    /// After a NAK the requester can send one packet again alone.
    pub selective_repeat: bool,
    /// Congestion control's two halves (R76): CNPs are sent for marked packets; CNPs slow the requests of the QPs that they are for.
    pub congestion_notification: bool,
    pub congestion_reaction: bool,
}

const TENGIG: Config = Config {
    name: "tengig",
    purpose: "a 10G MAC",
    data_bits: 64,
    address_bits: 64,
    ring_log: 15,
    clock_khz: 156_250,
    n_qps: 256,
    sizes: &[16, 64, 256],
    n_cqs: 256,
    n_mrs: 256,
    n_mtt: 4096,
    n_gids: 4,
    roce_buffer: 32 << 10,
    buffers: &[32 << 10, 64 << 10],
    host_port: true,
    host_fifo: 16 << 10,
    max_frame: 4200,
    max_pmtu: 4096,
    ipv6: true,
    uc: true,
    ud: true,
    requester: true,
    read_atomic: true,
    atomic: true,
    read_ring: 16,
    read_resources: 1024,
    reorder_window: 64,
    reorder_slots: 64,
    selective_repeat: true,
    congestion_notification: true,
    congestion_reaction: true,
};

const CU: Config = Config {
    name: "cu",
    purpose: "Alchitry Cu, iCE40-HX8K-CB132",
    data_bits: 32,
    address_bits: 20,
    ring_log: 7,
    clock_khz: 50_000,
    n_qps: 4,
    sizes: &[4],
    n_cqs: 4,
    n_mrs: 4,
    n_mtt: 0,
    n_gids: 1,
    roce_buffer: 2 << 10,
    buffers: &[2 << 10],
    host_port: false,
    host_fifo: 1 << 10,
    max_frame: 600,
    max_pmtu: 512,
    ipv6: false,
    uc: false,
    ud: false,
    requester: true,
    read_atomic: true,
    atomic: false,
    read_ring: 2,
    read_resources: 8,
    reorder_window: 4,
    reorder_slots: 4,
    selective_repeat: false,
    congestion_notification: false,
    congestion_reaction: false,
};

/// All presets, the default first.
pub const PRESETS: [Config; 2] = [TENGIG, CU];

/// The presets' names.
pub fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|p| p.name).collect()
}

impl Config {
    /// The preset of that name.
    pub fn preset(name: &str) -> Result<Config, ConfigError> {
        PRESETS
            .iter()
            .find(|p| p.name == name)
            .cloned()
            .ok_or_else(|| ConfigError::UnknownPreset(name.into()))
    }

    /// Applies one `key=value`; call [`Config::check`] after the last.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        match key {
            "n_qps" => {
                self.n_qps = value.parse().map_err(|_| ConfigError::BadValue {
                    key: key.into(),
                    value: value.into(),
                    want: format!("a number of queue pairs: {}", self.sizes_text()),
                })?;
                self.n_cqs = self.n_qps;
                self.read_resources = self.read_resources.min(self.read_ring * self.n_qps);
                Ok(())
            }
            "roce_buffer" => {
                self.roce_buffer = value.parse().map_err(|_| ConfigError::BadValue {
                    key: key.into(),
                    value: value.into(),
                    want: format!("bytes: {}", one_of(self.buffers)),
                })?;
                Ok(())
            }
            _ => Err(ConfigError::UnknownKey(key.into())),
        }
    }

    /// `sizes`, for people.
    pub fn sizes_text(&self) -> String {
        one_of(self.sizes)
    }

    /// `buffers`, for people.
    pub fn buffers_text(&self) -> String {
        one_of(self.buffers)
    }

    /// The bits that a bus address may have.
    pub fn address_mask(&self) -> u64 {
        u64::MAX >> (64 - self.address_bits)
    }

    /// The bits that the indices of a completion or event ring count in: one more than the largest ring's.
    pub fn index_mask(&self) -> u64 {
        (2u64 << self.ring_log) - 1
    }

    /// CNPs slow the requests of the QPs that they are for: not with a larger receive buffer, which takes the RAM blocks.
    pub fn reacts(&self) -> bool {
        self.congestion_reaction && self.roce_buffer == self.buffers[0]
    }

    /// A small engine: one bus word a beat, few cells before few cycles.
    pub fn small(&self) -> bool {
        self.data_bits == 32
    }

    /// Cross-checks the sizes.
    pub fn check(&self) -> Result<(), ConfigError> {
        let impossible = |why: String| Err(ConfigError::Impossible(why));
        if !self.n_qps.is_power_of_two() || self.n_qps < 4 || self.n_qps > 4096 {
            return impossible(format!("n_qps={} must be a power of two, 4 to 4096", self.n_qps));
        }
        if !self.sizes.contains(&self.n_qps) {
            return impossible(format!(
                "'{}' is built with n_qps={}, not {}",
                self.name,
                self.sizes_text(),
                self.n_qps
            ));
        }
        if !self.buffers.contains(&self.roce_buffer) {
            return impossible(format!(
                "'{}' is built with roce_buffer={}, not {}",
                self.name,
                self.buffers_text(),
                self.roce_buffer
            ));
        }
        if self.roce_buffer != self.buffers[0] && Some(&self.n_qps) != self.sizes.last() {
            return impossible(format!(
                "roce_buffer={} is built with n_qps={:?} only",
                self.roce_buffer,
                self.sizes.last().unwrap_or(&0)
            ));
        }
        if self.n_mtt != 0 && !self.n_mtt.is_power_of_two() {
            return impossible(format!("n_mtt={} must be a power of two", self.n_mtt));
        }
        if !(17..=64).contains(&self.address_bits) {
            return impossible(format!("address_bits={} must be 17 to 64", self.address_bits));
        }
        if !(7..=15).contains(&self.ring_log) {
            return impossible(format!("ring_log={} must be 7 to 15", self.ring_log));
        }
        if !self.reorder_window.is_power_of_two() || self.reorder_window > 64 {
            return impossible(format!("reorder_window={} must be a power of two, 64 at most", self.reorder_window));
        }
        if self.max_frame > self.roce_buffer {
            return impossible(format!(
                "a frame of {} bytes does not fit a buffer of {}",
                self.max_frame, self.roce_buffer
            ));
        }
        Ok(())
    }
}

fn one_of(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    numbers.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_possible() {
        for preset in PRESETS {
            preset.check().unwrap();
        }
    }

    /// R76: what tells of the halves of congestion control.
    #[test]
    fn r76_a_larger_buffer_takes_the_reaction_point() {
        let mut config = Config::preset("tengig").unwrap();
        assert!(config.reacts());
        assert_eq!(crate::registers::read_limits(&config) >> 7 & 3, 3);
        config.set("roce_buffer", "65536").unwrap();
        assert!(!config.reacts());
        assert_eq!(crate::registers::read_limits(&config) >> 7 & 3, 1);
        assert_eq!(crate::registers::read_limits(&CU) >> 7 & 3, 0);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        assert!(Config::preset("huge").unwrap_err().to_string().contains("tengig"));
        let mut config = Config::preset("tengig").unwrap();
        assert!(config.set("colour", "3").unwrap_err().to_string().contains("n_qps"));
        assert!(config
            .set("roce_buffer", "much")
            .unwrap_err()
            .to_string()
            .contains("32768 or 65536"));
        config.set("roce_buffer", "65536").unwrap();
        config.check().unwrap();
        config.set("n_qps", "16").unwrap();
        assert!(config.check().unwrap_err().to_string().contains("n_qps=256 only"));
        config.set("roce_buffer", "50000").unwrap();
        assert!(config.check().unwrap_err().to_string().contains("not 50000"));
        config.set("roce_buffer", "32768").unwrap();
        config.set("n_qps", "100").unwrap();
        assert!(config.check().unwrap_err().to_string().contains("power of two"));
        for (address_bits, ring_log, name) in [
            (16, 7, "address_bits"),
            (65, 7, "address_bits"),
            (20, 6, "ring_log"),
            (20, 16, "ring_log"),
        ] {
            let config = Config {
                address_bits,
                ring_log,
                ..CU
            };
            assert!(config.check().unwrap_err().to_string().contains(name));
        }
    }
}
