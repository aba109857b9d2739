// SPDX-License-Identifier: MIT OR Apache-2.0
//! The guest: qemu with a kernel and an initramfs made by `scripts/interop/guest.sh`; commands go over a virtio-serial port.
//!
//! Booting takes some ten seconds of CPU, so the booted guest is saved once and restored from then on.

use anyhow::{bail, ensure, Context, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Port of the guest's servers, and the one of this machine that leads there.
#[derive(Debug, Clone, Copy)]
pub struct Forward {
    pub guest: u16,
    pub host: u16,
}

/// How long booting and restoring may take on a busy machine.
const BOOT: Duration = Duration::from_secs(180);
const RESTORE: Duration = Duration::from_secs(90);
const SAVE: Duration = Duration::from_secs(60);
/// Between two looks at something.
const STEP: Duration = Duration::from_millis(5);

const KERNEL_LINE: &str = "console=ttyS0 quiet loglevel=4 panic=-1 edd=off mitigations=off nokaslr tsc=reliable no_timer_check \
                           random.trust_cpu=on net.ifnames=0";
const ETH0: &str = "virtio-net-pci,netdev=n0,mac=52:54:00:00:00:01,csum=off,guest_csum=off,gso=off,host_tso4=off,host_tso6=off,\
                    guest_tso4=off,guest_tso6=off,guest_ufo=off,host_ufo=off,mrg_rxbuf=on,host_mtu=9000,romfile=";

/// What a command came to.
#[derive(Debug, Clone)]
pub struct Output {
    pub status: i32,
    pub text: String,
}

/// A command under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Job(u32);

/// A running guest; killed when dropped.
pub struct Guest {
    qemu: Child,
    control: UnixStream,
    received: Vec<u8>,
    next: u32,
    done: HashMap<Job, Output>,
    folder: PathBuf,
    pub forwards: Vec<Forward>,
}

/// Ports that are handed out: below those that connections get by themselves (Linux: from 32768 on).
const PORTS: std::ops::Range<u16> = 20000..32768;

/// A port of this machine that nobody uses, another one each time.
pub fn free_port() -> Result<u16> {
    static NEXT: OnceLock<Mutex<u16>> = OnceLock::new();
    let count = PORTS.len() as u16;
    // Processes at the same time begin at different ones.
    let first = (std::process::id() % 251) as u16 * (count / 251);
    let mut next = NEXT.get_or_init(|| Mutex::new(first)).lock().expect("nobody panics with it");
    for _ in 0..count {
        let port = PORTS.start + *next;
        *next = (*next + 1) % count;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no TCP port from {} to {} is free", PORTS.start, PORTS.end - 1)
}

/// Something didn't come in time: on a machine that has other things to do, or never.
#[derive(Debug)]
struct Late(String);

impl std::fmt::Display for Late {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Late {}

fn wait_for<T>(limit: Duration, what: &str, mut ready: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = ready()? {
            return Ok(found);
        }
        if start.elapsed() >= limit {
            return Err(Late(format!("{what}: not within {} s", limit.as_secs())).into());
        }
        std::thread::sleep(STEP);
    }
}

impl Guest {
    /// Starts the guest of `image` (what guest.sh left), with its sockets in `folder`; from its saved state if there is one, else it is
    /// booted and saved. `ports` of the guest are reached from this machine.
    pub fn start(image: &Path, folder: &Path, ports: &[u16]) -> Result<Guest> {
        let stamp = std::fs::read_to_string(image.join("stamp")).context("reading the guest's stamp: run scripts/interop/guest.sh")?;
        let state = image.join(format!("{}.state", stamp.trim()));
        // One boots and saves, the others wait for it.
        static SAVING: Mutex<()> = Mutex::new(());
        let saving = SAVING.lock();
        if !state.exists() {
            let mut guest = Guest::launch(image, folder, ports, None)?;
            let saved = guest.save(&state);
            drop(guest);
            saved.context("saving the booted guest")?;
        }
        drop(saving);
        match Guest::launch(image, folder, ports, Some(&state)) {
            Ok(guest) => Ok(guest),
            Err(error) if error.is::<Late>() => Err(error.context("restoring the saved guest")),
            Err(error) => {
                // A state of another qemu, for example.
                let _ = std::fs::remove_file(&state);
                Err(error.context("restoring the saved guest (its state was removed: try again)"))
            }
        }
    }

    /// Path of the socket that eth0's frames go over; the guest listens.
    pub fn eth0(folder: &Path) -> PathBuf {
        folder.join("eth0.sock")
    }

    fn launch(image: &Path, folder: &Path, ports: &[u16], state: Option<&Path>) -> Result<Guest> {
        std::fs::create_dir_all(folder)?;
        let path = |name: &str| folder.join(name).display().to_string();
        for name in ["eth0.sock", "control.sock", "qmp.sock"] {
            let _ = std::fs::remove_file(path(name));
        }
        let forwards = ports.iter().map(|guest| {
            Ok(Forward {
                guest: *guest,
                host: free_port()?,
            })
        });
        let forwards = forwards.collect::<Result<Vec<Forward>>>()?;
        let rules: String = forwards
            .iter()
            .map(|f| format!(",hostfwd=tcp:127.0.0.1:{}-:{}", f.host, f.guest))
            .collect();
        let mut command = Command::new("qemu-system-x86_64");
        command.args(
            "-M pc,usb=off -accel tcg,tb-size=256 -cpu max -smp 1 -m 256 -nodefaults -display none -no-reboot -no-user-config".split(' '),
        );
        command
            .arg("-kernel")
            .arg(image.join("vmlinux"))
            .arg("-initrd")
            .arg(image.join("initramfs.gz"));
        command.args(["-append", KERNEL_LINE, "-serial", &format!("file:{}", path("console.log"))]);
        command.args(["-device", "virtio-serial-pci"]);
        command.args([
            "-chardev",
            &format!("socket,id=control,path={},server=on,wait=off", path("control.sock")),
        ]);
        command.args(["-device", "virtserialport,chardev=control,name=control"]);
        command.args([
            "-netdev",
            &format!("stream,id=n0,server=on,addr.type=unix,addr.path={}", path("eth0.sock")),
            "-device",
            ETH0,
        ]);
        command.args([
            "-netdev",
            &format!("user,id=n1{rules}"),
            "-device",
            "virtio-net-pci,netdev=n1,romfile=",
        ]);
        command.args(["-qmp", &format!("unix:{},server=on,wait=off", path("qmp.sock"))]);
        if let Some(state) = state {
            command.args(["-incoming", &format!("exec:cat '{}'", state.display())]);
        }
        let log = File::create(path("qemu.log"))?;
        let mut qemu = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("starting qemu-system-x86_64: run scripts/setup.sh interop")?;
        let control = wait_for(RESTORE, "qemu's control socket", || {
            if let Some(status) = qemu.try_wait()? {
                let log = std::fs::read_to_string(path("qemu.log")).unwrap_or_default();
                bail!("qemu ended ({status}): {}", log.trim());
            }
            Ok(UnixStream::connect(path("control.sock")).ok())
        })?;
        control.set_nonblocking(true)?;
        let mut guest = Guest {
            qemu,
            control,
            received: vec![],
            next: 0,
            done: HashMap::new(),
            folder: folder.into(),
            forwards,
        };
        match state {
            // Its READY is long over.
            Some(_) => {
                let link = guest.run("roce", RESTORE)?;
                ensure!(link.status == 0, "the guest has no rxe0: {}", link.text);
            }
            None => wait_for(BOOT, "the guest", || {
                guest.take()?;
                Ok(guest.received.starts_with(b"READY\n").then_some(()))
            })?,
        }
        Ok(guest)
    }

    fn save(&mut self, state: &Path) -> Result<()> {
        self.run("sync; echo 1 >/proc/sys/vm/drop_caches", RESTORE)?;
        let mut qmp = Qmp::connect(&self.folder.join("qmp.sock"))?;
        let partial = state.with_extension("partial");
        qmp.execute("migrate-set-parameters", serde_json::json!({ "max-bandwidth": 4u64 << 30 }))?;
        qmp.execute(
            "migrate",
            serde_json::json!({ "uri": format!("exec:cat > '{}'", partial.display()) }),
        )?;
        wait_for(SAVE, "saving", || {
            let answer = qmp.execute("query-migrate", serde_json::json!({}))?;
            match answer["status"].as_str() {
                Some("completed") => Ok(Some(())),
                Some("failed" | "cancelled") => bail!("qemu could not save: {answer}"),
                _ => Ok(None),
            }
        })?;
        Ok(std::fs::rename(partial, state)?)
    }

    /// Reads what the guest said, and sorts out what ended.
    fn take(&mut self) -> Result<()> {
        let mut bytes = [0; 16384];
        loop {
            match self.control.read(&mut bytes) {
                Ok(0) => bail!("the guest went away; see {}", self.folder.join("console.log").display()),
                Ok(count) => self.received.extend(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error).context("the guest's control port"),
            }
        }
        while let Some(line) = self.received.iter().position(|b| *b == b'\n') {
            let text = String::from_utf8_lossy(&self.received[..line]).to_string();
            let words: Vec<&str> = text.split_whitespace().collect();
            let ["END", number, status, length] = words[..] else {
                if text == "READY" && self.next == 0 {
                    return Ok(());
                }
                // The end of what an earlier user of this guest had asked for.
                self.received.drain(..=line);
                continue;
            };
            let (number, status, length) = (number.parse()?, status.parse()?, length.parse::<usize>()?);
            if self.received.len() < line + 1 + length {
                return Ok(());
            }
            let output = String::from_utf8_lossy(&self.received[line + 1..line + 1 + length]).to_string();
            self.received.drain(..line + 1 + length);
            self.done.insert(Job(number), Output { status, text: output });
        }
        Ok(())
    }

    /// Starts a command.
    pub fn begin(&mut self, command: &str) -> Result<Job> {
        ensure!(!command.contains('\n'), "a guest's command is one line");
        self.next += 1;
        self.control.set_nonblocking(false)?;
        let sent = self.control.write_all(format!("{} {command}\n", self.next).as_bytes());
        self.control.set_nonblocking(true)?;
        sent.context("the guest's control port")?;
        Ok(Job(self.next))
    }

    /// What a command came to, once it has ended.
    pub fn poll(&mut self, job: Job) -> Result<Option<Output>> {
        self.take()?;
        Ok(self.done.remove(&job))
    }

    /// Runs a command to its end.
    pub fn run(&mut self, command: &str, limit: Duration) -> Result<Output> {
        let job = self.begin(command)?;
        wait_for(limit, &format!("'{command}' in the guest"), || self.poll(job))
    }

    /// Waits in the guest until `condition` (a shell command) holds.
    pub fn wait_until(&mut self, condition: &str, limit: Duration) -> Result<()> {
        let tenths = limit.as_millis() / 50;
        let command = format!("n=0; until {condition}; do n=$((n+1)); [ $n -lt {tenths} ] || exit 1; sleep 0.05; done");
        let output = self.run(&command, limit + RESTORE)?;
        ensure!(output.status == 0, "the guest: not within {} s: {condition}", limit.as_secs());
        Ok(())
    }

    /// Waits until a server in the guest listens at a TCP port.
    pub fn wait_listening(&mut self, port: u16, limit: Duration) -> Result<()> {
        self.wait_until(&format!("grep -q ':{port:04X} 0*:0000 0A' /proc/net/tcp /proc/net/tcp6"), limit)
    }

    /// The guest's hw_counters of its RoCE device.
    pub fn counters(&mut self) -> Result<HashMap<String, i64>> {
        let output = self.run("cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep . * || true", RESTORE)?;
        Ok(output
            .text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .filter_map(|(name, value)| Some((name.into(), value.trim().parse().ok()?)))
            .collect())
    }

    /// The port of this machine that leads to the guest's.
    pub fn forwarded(&self, port: u16) -> Result<u16> {
        let found = self.forwards.iter().find(|f| f.guest == port);
        Ok(found
            .with_context(|| format!("the guest's port {port} isn't reached from here"))?
            .host)
    }
}

impl Guest {
    /// Ends it at once, whatever it does.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.kill();
    }
}

/// qemu's monitor.
struct Qmp {
    stream: UnixStream,
    received: Vec<u8>,
}

impl Qmp {
    fn connect(path: &Path) -> Result<Qmp> {
        let stream = UnixStream::connect(path).context("qemu's monitor")?;
        stream.set_read_timeout(Some(SAVE))?;
        let mut qmp = Qmp { stream, received: vec![] };
        qmp.message()?;
        qmp.execute("qmp_capabilities", serde_json::json!({}))?;
        Ok(qmp)
    }

    fn message(&mut self) -> Result<serde_json::Value> {
        loop {
            if let Some(end) = self.received.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                return Ok(serde_json::from_slice(&line)?);
            }
            let mut bytes = [0; 4096];
            let count = self.stream.read(&mut bytes).context("qemu's monitor")?;
            ensure!(count > 0, "qemu's monitor went away");
            self.received.extend(&bytes[..count]);
        }
    }

    /// Runs a command; events that come meanwhile are skipped.
    fn execute(&mut self, command: &str, arguments: serde_json::Value) -> Result<serde_json::Value> {
        let text = serde_json::json!({ "execute": command, "arguments": arguments }).to_string() + "\n";
        self.stream.write_all(text.as_bytes())?;
        loop {
            let mut answer = self.message()?;
            if let Some(error) = answer.get("error") {
                bail!("qemu refused {command}: {error}");
            }
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
        }
    }
}
