// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs cases: the guest's tool and a program of ours, each to its end, and what is kept of those that fail.

use super::cases::{Case, Direction, Ready, BAD_WIRE, PROBE_PORT, TOOL_PORT};
use super::guest::{free_port, Guest, Output};
use super::rping;
use crate::live::EngineKind;
use anyhow::{ensure, Context, Result};
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a run may take, and how long a server may need to be there.
const LIMIT: Duration = Duration::from_secs(100);
const READY: Duration = Duration::from_secs(40);
/// What a side still gets once the other has failed.
const AFTER_FAILURE: Duration = Duration::from_secs(15);
const STEP: Duration = Duration::from_millis(5);
/// Bytes of frames after which a transfer of 6 MiB is in its midst.
const MID_TRANSFER: u64 = 600_000;
/// How the guest reaches this machine's 127.0.0.1, and the NIC.
const SERVER: &str = "10.0.2.2";
const US: &str = "10.0.0.2";
const THEY: &str = "10.0.0.1";

/// Where and with what.
#[derive(Debug, Clone)]
pub struct Setting {
    pub engine: EngineKind,
    pub seed: u64,
    /// What guest.sh left.
    pub image: PathBuf,
    /// Sockets and logs of this run.
    pub folder: PathBuf,
    /// Where what failed is kept.
    pub failures: PathBuf,
}

impl Setting {
    /// ACK timeout code that the engine keeps: sooner, and a slow simulation is sent everything again and again.
    fn timeout(&self) -> &'static str {
        match self.engine {
            EngineKind::Golden => "14",
            EngineKind::Verilated => "18",
        }
    }
}

/// One line of the table.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    pub tool: &'static str,
    pub variant: String,
    pub direction: &'static str,
    pub wire: &'static str,
    pub passed: bool,
    pub seconds: f64,
    /// Why not, or what was odd though it held, in a line.
    pub note: String,
}

/// What a run came to.
pub struct Outcome {
    pub guest: Output,
    /// Exit status of our program; `None`: it had to be killed.
    pub ours: Option<i32>,
    pub text: String,
    before: HashMap<String, i64>,
    after: HashMap<String, i64>,
    summary: serde_json::Value,
}

impl Outcome {
    /// How much a counter of the guest's has gone up.
    pub fn guest(&self, name: &str) -> i64 {
        let value = |of: &HashMap<String, i64>| of.get(name).copied().unwrap_or(0);
        value(&self.after) - value(&self.before)
    }

    /// A counter of our engine.
    pub fn engine(&self, name: &str) -> i64 {
        self.summary["counters"][name].as_i64().unwrap_or(0)
    }

    /// How many frames a fault of the wire hit.
    pub fn fault(&self, way: &str, name: &str) -> Result<i64> {
        self.summary[way][name]
            .as_i64()
            .with_context(|| format!("our program reported no {way} {name}"))
    }

    /// Counters that the guest's side moved, for the record.
    fn moved(&self) -> String {
        let mut moved: Vec<String> = self
            .after
            .keys()
            .filter(|n| self.guest(n) != 0)
            .map(|n| format!("  {n} +{}\n", self.guest(n)))
            .collect();
        moved.sort();
        moved.concat()
    }
}

/// A program of ours in a process of its own; killed when dropped.
struct Ours {
    child: Child,
    output: PathBuf,
}

impl Ours {
    fn start(setting: &Setting, arguments: &[String]) -> Result<Ours> {
        let output = setting.folder.join("ours.txt");
        let file = File::create(&output)?;
        let child = Command::new(std::env::current_exe().context("finding this program")?)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .context("starting our program")?;
        Ok(Ours { child, output })
    }

    fn poll(&mut self) -> Result<Option<i32>> {
        Ok(self.child.try_wait()?.map(|status| status.code().unwrap_or(-1)))
    }

    /// Waits for its end.
    fn end(&mut self, limit: Duration) -> Result<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.poll()? {
                return Ok(status);
            }
            ensure!(start.elapsed() < limit, "our program doesn't end: {}", self.text().trim());
            std::thread::sleep(STEP);
        }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.output).unwrap_or_default()
    }

    /// Asks it to end, as Ctrl-C does.
    fn interrupt(&self) -> Result<()> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().context("running kill")?;
        Ok(())
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// True once something on this machine listens at that TCP port.
fn listens(port: u16) -> bool {
    let want = format!(":{port:04X} ");
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    table
        .lines()
        .any(|line| line.contains(&want) && line.split_whitespace().nth(3) == Some("0A"))
}

impl Case {
    /// `verdict`: what is to be noted of a run that held, or why it didn't.
    fn line(&self, bad_wire: bool, time: Duration, verdict: std::result::Result<String, String>) -> Line {
        Line {
            tool: self.tool,
            variant: self.variant.clone(),
            direction: match self.direction {
                Direction::GuestClient => "guest client",
                Direction::GuestServer => "guest server",
            },
            wire: if bad_wire { "bad" } else { "good" },
            passed: verdict.is_ok(),
            seconds: time.as_secs_f64(),
            note: verdict.unwrap_or_else(|why| why),
        }
    }
}

/// A stand-in that says how the runs with a killed guest look in the table.
fn killed_case() -> Case {
    Case {
        tool: "probe",
        variant: "killed".into(),
        direction: Direction::GuestClient,
        guest: "probe, then qemu is killed".into(),
        ours: "serve --responder, or probe".into(),
        ready: Ready::Tcp,
        rounds: [1; 2],
        port: PROBE_PORT,
        status: 0,
        check: None,
        bad_wire: false,
        short: true,
    }
}

/// The guest and the cases.
pub struct Runner {
    pub setting: Setting,
    guest: Guest,
}

impl Runner {
    pub fn new(setting: Setting) -> Result<Runner> {
        std::fs::create_dir_all(&setting.failures)?;
        let guest = Runner::boot(&setting)?;
        Ok(Runner { setting, guest })
    }

    fn boot(setting: &Setting) -> Result<Guest> {
        Guest::start(&setting.image, &setting.folder, &[TOOL_PORT, PROBE_PORT])
    }

    /// Runs one case. An error is one of this machinery; what a tool or the engine does wrong stands in the line.
    pub fn run(&mut self, case: &Case, bad_wire: bool) -> Result<Line> {
        let start = Instant::now();
        let pcap = self.setting.folder.join("run.pcap");
        let outcome = self.outcome(case, bad_wire, &pcap);
        let verdict = match &outcome {
            Ok(outcome) => judge(case, bad_wire, outcome),
            Err(error) => Err(format!("{error:#}")),
        };
        let line = case.line(bad_wire, start.elapsed(), verdict);
        if !line.passed {
            self.keep(case, line.wire, &pcap, outcome.ok().as_ref(), &line.note)?;
            // Whatever is left over in the guest must not meet the next case.
            self.restart()?;
        }
        Ok(line)
    }

    /// The guest is killed in mid-transfer and started again; the engine that it talked to goes on with the next one.
    pub fn killed_client(&mut self) -> Result<Line> {
        self.special("killed", Direction::GuestClient, |runner, pcap| {
            let port = free_port()?;
            let serve = format!("serve --responder 127.0.0.1:{port} --for 600");
            let mut ours = Ours::start(&runner.setting, &runner.arguments(&serve, false, pcap))?;
            let case = killed_case();
            runner.await_ours(&mut ours, &case, port)?;
            let guest = format!("probe -p {port} -t {}", runner.setting.timeout());
            runner.guest.begin(&format!("{guest} -o write:65536*100 {SERVER}"))?;
            runner.kill_at(pcap)?;
            let again = format!("{guest} -o write:65536*5,send:3000*5 {SERVER}");
            let again = runner.guest.run(&again, LIMIT)?;
            ensure!(again.status == 0, "the next guest: {}", again.text.trim());
            ours.interrupt()?;
            let status = ours.end(READY)?;
            ensure!(status == 0, "ours: status {status}: {}", ours.text().trim());
            let lost = ours.text().matches("responder: ").count();
            ensure!(lost == 1, "{lost} clients were lost, want 1: {}", ours.text().trim());
            Ok(())
        })
    }

    /// The same while we send: the QP fails by its retries, and says so.
    pub fn killed_server(&mut self) -> Result<Line> {
        self.special("killed", Direction::GuestServer, |runner, pcap| {
            runner.guest.begin(&format!("probe -p {PROBE_PORT}"))?;
            runner.guest.wait_listening(PROBE_PORT, READY)?;
            let peer = runner.guest.forwarded(PROBE_PORT)?;
            let client = format!("probe --client 127.0.0.1:{peer} --timeout 14 --operations write:65536*100");
            let mut ours = Ours::start(&runner.setting, &runner.arguments(&client, false, pcap))?;
            runner.kill_at(pcap)?;
            let status = ours.end(LIMIT)?;
            let text = ours.text();
            ensure!(
                status == 1 && text.contains("RetryExceeded"),
                "status {status}, want 1 and RetryExceeded: {}",
                text.trim()
            );
            Ok(())
        })
    }

    /// Kills the guest once enough frames have gone, and starts another.
    fn kill_at(&mut self, pcap: &Path) -> Result<()> {
        let start = Instant::now();
        while std::fs::metadata(pcap).map_or(0, |m| m.len()) < MID_TRANSFER {
            ensure!(start.elapsed() < LIMIT, "the transfer never got under way");
            std::thread::sleep(STEP);
        }
        self.restart()
    }

    /// Another guest in place of this one.
    fn restart(&mut self) -> Result<()> {
        self.guest.kill();
        self.guest = Runner::boot(&self.setting)?;
        Ok(())
    }

    fn special(&mut self, variant: &str, direction: Direction, run: fn(&mut Runner, &Path) -> Result<()>) -> Result<Line> {
        let start = Instant::now();
        let pcap = self.setting.folder.join("run.pcap");
        let _ = std::fs::remove_file(&pcap);
        let verdict = run(self, &pcap);
        let case = Case {
            variant: variant.into(),
            direction,
            ..killed_case()
        };
        let verdict = verdict.map(|()| String::new()).map_err(|error| format!("{error:#}"));
        if let Err(note) = &verdict {
            self.keep(&case, "good", &pcap, None, note)?;
            self.restart()?;
        }
        Ok(case.line(false, start.elapsed(), verdict))
    }

    /// Keeps the frames and what both sides said.
    fn keep(&mut self, case: &Case, wire: &str, pcap: &Path, outcome: Option<&Outcome>, note: &str) -> Result<()> {
        let name = format!("{}-{wire}", case.name().replace('/', "-"));
        let mut text = format!(
            "{}, {wire} wire: {note}\n\nguest: {}\nours:  {}\n",
            case.name(),
            case.guest,
            case.ours
        );
        let ours = std::fs::read_to_string(self.setting.folder.join("ours.txt")).unwrap_or_default();
        text += &format!("\nours said:\n{ours}\n");
        if let Some(o) = outcome {
            text += &format!(
                "\nthe guest said (status {}):\n{}\nits counters:\n{}",
                o.guest.status,
                o.guest.text,
                o.moved()
            );
        }
        std::fs::write(self.setting.failures.join(format!("{name}.txt")), text)?;
        if pcap.exists() {
            std::fs::rename(pcap, self.setting.failures.join(format!("{name}.pcap")))?;
        }
        Ok(())
    }

    fn arguments(&self, command: &str, bad_wire: bool, pcap: &Path) -> Vec<String> {
        let engine = format!("{:?}", self.setting.engine).to_lowercase();
        let mut arguments: Vec<String> = command.split_whitespace().map(String::from).collect();
        let socket = Guest::eth0(&self.setting.folder);
        for (option, value) in [
            ("--socket", socket.display().to_string()),
            ("--engine", engine),
            ("--seed", self.setting.seed.to_string()),
            ("--pcap", pcap.display().to_string()),
        ] {
            arguments.extend([option.to_string(), value]);
        }
        if bad_wire {
            arguments.extend(BAD_WIRE.split(' ').map(String::from));
        }
        if ["probe", "serve"].contains(&arguments[0].as_str()) {
            arguments.push("--json".into());
        }
        arguments
    }

    fn outcome(&mut self, case: &Case, bad_wire: bool, pcap: &Path) -> Result<Outcome> {
        let _ = std::fs::remove_file(pcap);
        let us_server = case.direction == Direction::GuestClient;
        let port = match (us_server, case.ready) {
            (true, Ready::Tcp) => free_port()?,
            _ => case.port,
        };
        let peer_port = if case.port == 0 { 0 } else { self.guest.forwarded(case.port)? };
        let timeout = self.setting.timeout();
        let fill = |text: &str| {
            let pairs = [
                ("{port}", port.to_string()),
                ("{peer}", format!("127.0.0.1:{peer_port}")),
                ("{peer-port}", peer_port.to_string()),
                ("{server}", SERVER.into()),
                ("{us}", US.into()),
                ("{guest}", THEY.into()),
                ("{timeout}", timeout.into()),
                ("{rounds}", case.rounds[usize::from(bad_wire)].to_string()),
            ];
            pairs.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
        };
        let (command, ours) = (fill(&case.guest), self.arguments(&fill(&case.ours), bad_wire, pcap));
        let limited = format!("timeout -s KILL {} sh -c '{command}'", case.limit().as_secs());
        let before = self.guest.counters()?;
        let (mut process, job) = if us_server {
            let mut process = Ours::start(&self.setting, &ours)?;
            self.await_ours(&mut process, case, port)?;
            (process, self.guest.begin(&limited)?)
        } else {
            let job = self.guest.begin(&limited)?;
            match case.ready {
                Ready::Tcp => self.guest.wait_listening(port, READY)?,
                Ready::Manager => self.guest.wait_until("rdma resource show cm_id | grep -q LISTEN", READY)?,
                Ready::Gone => self.guest.wait_until("[ ! -e /sys/class/infiniband/rxe0 ]", READY)?,
            }
            (Ours::start(&self.setting, &ours)?, job)
        };
        let mut end = Instant::now() + case.limit();
        let (mut said, mut status) = (None, None);
        // A server for all time ends when the guest has.
        let endless = case.ours.starts_with("serve");
        while (said.is_none() || status.is_none()) && Instant::now() < end {
            if said.is_none() {
                said = self.guest.poll(job)?;
                if said.is_some() && endless {
                    process.interrupt()?;
                }
            }
            if status.is_none() {
                status = process.poll()?;
                if status.is_some() && case.guest.contains("/tmp/stop") {
                    self.guest.begin("touch /tmp/stop")?;
                }
            }
            let failed = said.as_ref().is_some_and(|o: &Output| o.status != 0) || status.is_some_and(|s| s != case.status);
            if failed {
                end = end.min(Instant::now() + AFTER_FAILURE);
            }
            std::thread::sleep(STEP);
        }
        let text = process.text();
        let last = text
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        Ok(Outcome {
            guest: said.unwrap_or(Output {
                status: -1,
                text: "(it never ended)".into(),
            }),
            ours: status,
            text,
            before,
            after: self.guest.counters()?,
            summary: last.map(|mut value| value["summary"].take()).unwrap_or_default(),
        })
    }

    fn await_ours(&mut self, process: &mut Ours, case: &Case, port: u16) -> Result<()> {
        let start = Instant::now();
        loop {
            let there = match case.ready {
                Ready::Tcp => listens(port),
                Ready::Manager | Ready::Gone => !process.text().is_empty(),
            };
            if let Some(status) = process.poll()? {
                anyhow::bail!("our program ended with {status} before it listened: {}", process.text().trim());
            }
            if there {
                return Ok(());
            }
            ensure!(start.elapsed() < READY, "our program doesn't listen after {} s", READY.as_secs());
            std::thread::sleep(STEP);
        }
    }
}

/// Whether everything was as it should be, and what was odd; if not, why.
fn judge(case: &Case, bad_wire: bool, outcome: &Outcome) -> std::result::Result<String, String> {
    let last = |text: &str| {
        text.lines()
            .rev()
            .find(|l| !l.trim().is_empty() && !l.starts_with('{'))
            .unwrap_or("")
            .trim()
            .to_string()
    };
    if outcome.guest.status != 0 {
        return Err(format!("guest: {} (status {})", last(&outcome.guest.text), outcome.guest.status));
    }
    match outcome.ours {
        None => return Err(format!("ours never ended: {}", last(&outcome.text))),
        Some(status) if status == case.status => {}
        // The tool has had all its messages and is gone; the ACK of our last one was lost, and nobody is left to send it again.
        Some(1) if bad_wire && case.tool.starts_with("ibv_") && outcome.text.contains("RetryExceeded") => {}
        Some(status) => return Err(format!("ours: {} (status {status})", last(&outcome.text))),
    }
    case.check
        .map_or(Ok(()), |check| check(outcome).map_err(|error| format!("{error:#}")))?;
    match case.rpings() {
        None => Ok(String::new()),
        Some((runs, pings)) => match rping::ended(&outcome.guest.text, runs, pings) {
            Err(error) => Err(format!("guest: {error:#}")),
            Ok(0) => Ok(String::new()),
            Ok(races) => Ok(format!("{races} of {runs} rpings ended by their own race")),
        },
    }
}
