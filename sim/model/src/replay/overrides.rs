// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the user says that neither the capture nor its run can: command-line arguments, or a side file `NAME.toml` beside the capture.
//!
//! ```toml
//! pmtu = 1024
//! receive_length = 4096          # of each receive buffer
//!
//! [[region]]
//! key = 0x34eb
//! virtual_address = 0x7f7a99dd2000
//! length = 65536
//! remote_write = true
//! ```

use super::SetupRegion;
use crate::golden::keys::Access;
use anyhow::{bail, Context, Result};
use serde::Deserialize;
use std::path::Path;

/// What overrides the inference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// A region replaces an inferred one with the same table index.
    pub regions: Vec<SetupRegion>,
    /// Length of each receive buffer, bytes.
    pub receive_length: Option<u32>,
    /// Path MTU, bytes.
    pub pmtu: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SideFile {
    pmtu: Option<usize>,
    receive_length: Option<u32>,
    #[serde(default)]
    region: Vec<SideRegion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SideRegion {
    key: u32,
    virtual_address: u64,
    length: u64,
    #[serde(default)]
    remote_write: bool,
    #[serde(default)]
    may_invalidate: bool,
}

impl Overrides {
    /// Reads `NAME.toml` beside `NAME.pcap`; nothing is overridden where there is none.
    pub fn beside(capture: &Path) -> Result<Self> {
        let path = capture.with_extension("toml");
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Self::from_toml(&text).with_context(|| path.display().to_string())
    }

    /// Parses a side file.
    pub fn from_toml(text: &str) -> Result<Self> {
        let file: SideFile = toml::from_str(text)?;
        let mut overrides = Self {
            regions: vec![],
            receive_length: file.receive_length,
            pmtu: None,
        };
        if let Some(pmtu) = file.pmtu {
            overrides.set_pmtu(pmtu)?;
        }
        for r in file.region {
            overrides
                .regions
                .push(region(r.key, r.virtual_address, r.length, r.remote_write, r.may_invalidate));
        }
        Ok(overrides)
    }

    /// `--mtu BYTES`.
    pub fn set_pmtu(&mut self, pmtu: usize) -> Result<()> {
        if ![256, 512, 1024, 2048, 4096].contains(&pmtu) {
            bail!("bad path MTU {pmtu}: want 256, 512, 1024, 2048 or 4096");
        }
        self.pmtu = Some(pmtu);
        Ok(())
    }

    /// `--mr KEY:ADDRESS:LENGTH[:w]`, numbers decimal or 0x hexadecimal; `w` grants remote WRITE.
    pub fn add_region(&mut self, text: &str) -> Result<()> {
        let bad = || format!("bad region '{text}': want KEY:ADDRESS:LENGTH or KEY:ADDRESS:LENGTH:w");
        let mut parts = text.split(':');
        let mut next = || parts.next().and_then(number).with_context(bad);
        let (key, address, length) = (next()?, next()?, next()?);
        let write = match parts.next() {
            None => false,
            Some("w") => true,
            Some(_) => bail!(bad()),
        };
        self.regions
            .push(region(u32::try_from(key).ok().with_context(bad)?, address, length, write, false));
        Ok(())
    }

    /// `--recv LENGTH`.
    pub fn set_receive_length(&mut self, text: &str) -> Result<()> {
        let length = number(text)
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| u64::from(*n) <= super::infer::RECEIVE_SLOT);
        self.receive_length =
            Some(length.with_context(|| format!("bad receive length '{text}': want bytes, at most {}", super::infer::RECEIVE_SLOT))?);
        Ok(())
    }
}

fn region(key: u32, virtual_address: u64, length: u64, remote_write: bool, may_invalidate: bool) -> SetupRegion {
    let access = Access {
        local_write: true,
        remote_write,
        ..Access::default()
    };
    SetupRegion {
        key,
        virtual_address,
        length,
        access,
        may_invalidate,
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let mut o = Overrides::default();
        o.add_region("0x34eb:0x1000:4096:w").unwrap();
        assert_eq!(
            (o.regions[0].key, o.regions[0].length, o.regions[0].access.remote_write),
            (0x34eb, 4096, true)
        );
        for bad in ["", "1:2", "1:2:3:x", "0x1ffffffff:0:1", "1:2:-3"] {
            assert!(o.add_region(bad).unwrap_err().to_string().contains("KEY:ADDRESS:LENGTH"), "{bad}");
        }
        assert!(o.set_receive_length("70000").is_err());
        assert!(o.set_pmtu(1000).unwrap_err().to_string().contains("1024"));
    }

    #[test]
    fn side_file() {
        let text =
            "pmtu = 256\nreceive_length = 100\n[[region]]\nkey = 0x34eb\nvirtual_address = 0x7f00\nlength = 9\nremote_write = true\n";
        let o = Overrides::from_toml(text).unwrap();
        assert_eq!((o.pmtu, o.receive_length, o.regions.len()), (Some(256), Some(100), 1));
        assert!(Overrides::from_toml("colour = 3").is_err());
    }
}
