// SPDX-License-Identifier: MIT OR Apache-2.0
//! The streams among a block's ports, by the names that the architecture page prescribes: `X_valid`, `X_ready`, and what belongs to X.

use verbena_hdl::verilog::Port;

/// One valid/ready stream of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// What stands before `valid`: `job_`, `m_`, `m_axi_aw`.
    pub prefix: String,
    /// The block is the sink.
    pub input: bool,
    /// Ports that must stand still while the stream waits.
    pub payload: Vec<String>,
}

impl Stream {
    pub fn valid(&self) -> String {
        format!("{}valid", self.prefix)
    }

    pub fn ready(&self) -> String {
        format!("{}ready", self.prefix)
    }

    /// The name without its separator, for reports.
    pub fn name(&self) -> &str {
        self.prefix.trim_end_matches('_')
    }
}

/// All streams that have both `valid` and `ready`. `extra` names payloads that the names don't tell: (prefix, port).
pub fn streams(ports: &[Port], extra: &[(&str, &str)]) -> Vec<Stream> {
    let has = |name: &str, input: bool| ports.iter().any(|p| p.name == name && p.input == input);
    let prefixes: Vec<&str> = ports.iter().filter_map(|p| p.name.strip_suffix("valid")).collect();
    let mut found = vec![];
    for port in ports {
        let Some(prefix) = port.name.strip_suffix("valid") else { continue };
        if prefix.is_empty() || !has(&format!("{prefix}ready"), !port.input) {
            continue;
        }
        // A longer prefix owns its ports: `s_host_data` isn't the payload of `s_`.
        let owner = |name: &str| {
            prefixes
                .iter()
                .filter(|p| !p.is_empty() && name.starts_with(**p))
                .max_by_key(|p| p.len())
                .copied()
        };
        let bare = prefix.trim_end_matches('_');
        let named = ports.iter().filter(|p| {
            p.input == port.input
                && p.width > 0
                && p.name != port.name
                && !p.name.ends_with("_ready")
                && (p.name == bare || owner(&p.name) == Some(prefix) || extra.contains(&(bare, p.name.as_str())))
        });
        found.push(Stream {
            prefix: prefix.to_string(),
            input: port.input,
            payload: named.map(|p| p.name.clone()).collect(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, input: bool) -> Port {
        Port {
            name: name.into(),
            width: 1,
            input,
            clock: false,
        }
    }

    #[test]
    fn a_stream_is_its_names() {
        let ports = [
            port("s_data", true),
            port("s_valid", true),
            port("s_ready", false),
            port("s_host_data", true),
            port("s_host_valid", true),
            port("s_host_ready", false),
            port("job", false),
            port("job_valid", false),
            port("job_ready", true),
            port("head_valid", true),
            port("ready", false),
            port("other", false),
        ];
        let found = streams(&ports, &[("job", "other")]);
        let short: Vec<_> = found.iter().map(|s| (s.name(), s.input, s.payload.join(" "))).collect();
        assert_eq!(
            short,
            [
                ("s", true, "s_data".to_string()),
                ("s_host", true, "s_host_data".to_string()),
                ("job", false, "job other".to_string())
            ]
        );
    }
}
