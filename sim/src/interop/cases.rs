// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is run: tool, variant, direction; what the guest does, what we do, and what must hold beside both ending well.

use super::rping;
use super::runner::Outcome;
use anyhow::{ensure, Result};
use std::time::Duration;

/// Who begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The guest's tool is the client, we are the server.
    GuestClient,
    /// The guest's tool is the server.
    GuestServer,
}

/// How it is known that a server is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// It listens at its TCP port: `{port}`.
    Tcp,
    /// It needs no TCP: the guest shows a listening connection manager ID; ours prints its first line.
    Manager,
    /// The guest has no RoCE device any more.
    Gone,
}

/// One run.
pub struct Case {
    pub tool: &'static str,
    pub variant: String,
    pub direction: Direction,
    /// The guest's command. `{port}` is its TCP port, `{server}` how it reaches this machine, `{us}` the NIC's address, `{timeout}` an ACK
    /// timeout code that suits the engine, `{rounds}` how many messages, by `rounds`.
    pub guest: String,
    /// Our command, with the same and `{peer}`, how we reach the guest's server by TCP, `{peer-port}`, its port alone, and `{guest}`, the
    /// guest's address on the NIC's wire.
    pub ours: String,
    pub ready: Ready,
    /// What `{rounds}` stands for: on the good wire, on the bad one, where each message of hundreds of packets is sent several times.
    pub rounds: [u32; 2],
    /// Port of the guest's server.
    pub port: u16,
    /// What our program must end with.
    pub status: i32,
    /// What must hold beside.
    pub check: Option<Check>,
    /// Also on a wire that loses, doubles, reorders and breaks frames.
    pub bad_wire: bool,
    /// One of the few that run where time is short.
    pub short: bool,
}

type Check = fn(&Outcome) -> Result<()>;

/// The faults of the bad wire.
pub const BAD_WIRE: &str = "--loss 2% --duplicate 2% --reorder 2% --corrupt 1%";

const ROUNDS: [u32; 2] = [20, 20];

/// Ports of the guest that its servers listen at.
pub const PROBE_PORT: u16 = 18600;
pub const TOOL_PORT: u16 = 18515;

impl Case {
    /// Needs READ or ATOMIC of the engine.
    pub fn reads(&self) -> bool {
        let list = [&self.guest, &self.ours];
        let asks = |word: &str| list.iter().any(|text| text.contains(word));
        self.tool == "rping" && self.variant != "half-open" || ["read", "atomic", "cas", "fadd"].into_iter().any(asks)
    }

    /// Of rpings whose ends the guest tells: how many, and their pings.
    pub fn rpings(&self) -> Option<(usize, usize)> {
        let client = match self.direction {
            Direction::GuestClient => rping::told(&self.guest)?,
            Direction::GuestServer => rping::told(&self.guest).and(Some(self.ours.as_str()))?,
        };
        Some((if self.variant == "hundred" { 100 } else { 1 }, rping::pings(client)?))
    }

    /// How long it may take. A hundred connections take long on a machine that does other things.
    pub fn limit(&self) -> Duration {
        Duration::from_secs(if self.variant == "hundred" { 300 } else { 100 })
    }

    pub fn name(&self) -> String {
        let way = match self.direction {
            Direction::GuestClient => "guest-client",
            Direction::GuestServer => "guest-server",
        };
        format!("{}/{}/{way}", self.tool, self.variant)
    }
}

/// Ordinary operations of all kinds: zero, odd, whole and more than a packet.
const SENDS: &str = "send:0,send:1,send:4097,send:65536,send-imm:0,send-imm:3,send-inv:8,send:1024*4,send-imm:1025";
const WRITES: &str = "write:0,write:1,write:65535,write:3000*4,write-imm:0,write-imm:5,write-imm:1024,write-imm:65536";
const READS: &str = "read:0,read:1,read:1024,read:4097,read:65536,cas*3,fadd*3,read:3*4,write:7,fadd,read:5";

fn probe(variant: &str, guest: &str, ours: &str, list: &str, direction: Direction) -> Case {
    let (guest, ours) = match direction {
        Direction::GuestClient => (
            format!("probe -p {{port}} -t {{timeout}} {guest} -o {list} {{server}}"),
            format!("probe --server 127.0.0.1:{{port}} {ours}"),
        ),
        Direction::GuestServer => (
            format!("probe -p {{port}} -t {{timeout}} {guest}"),
            format!("probe --client {{peer}} --operations {list} {ours}"),
        ),
    };
    Case {
        tool: "probe",
        variant: variant.into(),
        direction,
        guest,
        ours,
        ready: Ready::Tcp,
        rounds: ROUNDS,
        port: PROBE_PORT,
        status: 0,
        check: None,
        bad_wire: false,
        short: false,
    }
}

/// All of it, in the order in which it runs.
pub fn all() -> Vec<Case> {
    let mut cases = vec![Case {
        tool: "ping",
        variant: "56,3000".into(),
        direction: Direction::GuestClient,
        guest: "ping -c 2 -w 20 {us} && ping -c 2 -w 20 -s 3000 {us}".into(),
        ours: "serve --for 120".into(),
        ready: Ready::Manager,
        rounds: ROUNDS,
        port: 0,
        status: 0,
        check: None,
        bad_wire: false,
        short: true,
    }];
    cases.push(half_open());
    for direction in [Direction::GuestClient, Direction::GuestServer] {
        cases.extend(pingpongs(direction));
        cases.extend(perftests(direction));
        cases.extend(managed(direction));
        cases.extend(probes(direction));
        cases.extend(counters(direction));
    }
    cases
}

/// ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong: messages of one size back and forth, compared where the tool can.
fn pingpongs(direction: Direction) -> Vec<Case> {
    let mut cases = vec![];
    let runs = [
        ("rc", 256, 1),
        ("rc", 256, 4096),
        ("rc", 256, 65537),
        ("rc", 1024, 1),
        ("rc", 1024, 4096),
        ("rc", 1024, 65537),
        ("rc", 4096, 1),
        ("rc", 4096, 4096),
        ("rc", 4096, 65537),
        ("uc", 1024, 4097),
        ("ud", 1024, 1000),
    ];
    for (service, pmtu, size) in runs {
        let tool = match service {
            "rc" => "ibv_rc_pingpong",
            "uc" => "ibv_uc_pingpong",
            _ => "ibv_ud_pingpong",
        };
        // A datagram has no path MTU.
        let mtu = if service == "ud" { String::new() } else { format!("-m {pmtu}") };
        let guest = format!("{tool} -d rxe0 -g 1 -p {{port}} -s {size} {mtu} -n {{rounds}} -c");
        let ours = format!(
            "pingpong --service {service} --size {size} {} --iters {{rounds}} --chk",
            mtu.replace("-m", "--mtu")
        );
        let (guest, ours) = match direction {
            Direction::GuestClient => (format!("{guest} {{server}}"), format!("{ours} --port {{port}}")),
            Direction::GuestServer => (guest, format!("{ours} --port {{peer-port}} 127.0.0.1")),
        };
        cases.push(Case {
            tool,
            variant: format!("{size}-at-{pmtu}"),
            direction,
            guest,
            ours,
            ready: Ready::Tcp,
            rounds: if size == 65537 { [10, 4] } else { ROUNDS },
            port: TOOL_PORT,
            status: 0,
            check: None,
            // A lost message ends an unreliable ping-pong.
            bad_wire: service == "rc",
            short: (pmtu, size) == (1024, 4096) || service != "rc",
        });
    }
    cases
}

/// ib_write_bw and its kin: what one side's options are, the other's are too.
fn perftests(direction: Direction) -> Vec<Case> {
    let case = |tool: &'static str, variant: &str, options: &str, short: bool| {
        let guest = format!("{tool} -d rxe0 -x 1 -F -u {{timeout}} -p {{port}} {options}");
        let test = tool.trim_start_matches("ib_").replace('_', "-");
        let ours = format!("perftest {test} {options}");
        let (guest, ours) = match direction {
            Direction::GuestClient => (format!("{guest} {{server}}"), format!("{ours} --port {{port}}")),
            Direction::GuestServer => (guest, format!("{ours} --port {{peer-port}} 127.0.0.1")),
        };
        Case {
            tool,
            variant: variant.into(),
            direction,
            guest,
            ours,
            ready: Ready::Tcp,
            rounds: ROUNDS,
            port: TOOL_PORT,
            status: 0,
            check: None,
            bad_wire: true,
            short,
        }
    };
    vec![
        case("ib_write_bw", "65536x10", "-n 10 -s 65536", true),
        case("ib_write_bw", "4096x20-4qps", "-n 20 -s 4096 -q 4", false),
        case("ib_write_lat", "64x20", "-n 20 -s 64", true),
        case("ib_read_bw", "65536x10", "-n 10 -s 65536", true),
        case("ib_read_bw", "4096x20-4qps", "-n 20 -s 4096 -q 4", false),
        case("ib_read_lat", "64x20", "-n 20 -s 64", false),
        case("ib_send_bw", "4096x20", "-n 20 -s 4096", true),
        case("ib_send_lat", "64x20", "-n 20 -s 64", false),
        case("ib_atomic_bw", "fetch-add", "-n 20 -A FETCH_AND_ADD", true),
        case("ib_atomic_bw", "compare-swap", "-n 20 -A CMP_AND_SWAP", false),
    ]
}

/// What the connection manager connects: rping, ucmatose.
fn managed(direction: Direction) -> Vec<Case> {
    let case = |tool, variant: &str, client: String, server: &str| {
        let guest = |arguments: &str| match tool {
            "rping" => rping::command(arguments),
            _ => format!("{tool} {arguments}"),
        };
        let (guest, ours) = match direction {
            Direction::GuestClient => (guest(&client.replace("{them}", "{us}")), format!("{tool} {server}")),
            Direction::GuestServer => (guest(server), format!("{tool} {}", client.replace("{them}", "{guest}"))),
        };
        Case {
            tool,
            variant: variant.into(),
            direction,
            guest,
            ours,
            ready: Ready::Manager,
            rounds: ROUNDS,
            port: 0,
            status: 0,
            check: None,
            bad_wire: true,
            short: false,
        }
    };
    vec![
        Case {
            short: true,
            ..case("rping", "validated", "-c -a {them} -C 5 -V -S 1000".into(), "-s -S 1000")
        },
        hundred(direction),
        refused(direction),
        case("rping", "largest", "-c -a {them} -C 3 -V -v -S 65535".into(), "-s -S 65535"),
        Case {
            short: true,
            ..case(
                "ucmatose",
                "three-at-once",
                "-s {them} -c 3 -C 4 -S 2000".into(),
                "-c 3 -C 4 -S 2000",
            )
        },
    ]
}

/// A hundred connections, one after the other.
fn hundred(direction: Direction) -> Case {
    let (guest, ours) = match direction {
        Direction::GuestClient => {
            let (one, most) = (rping::command("-c -a {us} -C 1 -V"), rping::MOST_RACES);
            let odd = format!("[ $s -eq 0 ] || odd=$((odd+1)); [ $odd -le {most} ] || exit 1");
            (
                format!("i=0; odd=0; while [ $i -lt 100 ]; do {one}; {odd}; i=$((i+1)); done"),
                "rping -s --connections 100",
            )
        }
        // A persistent server doesn't end by itself.
        Direction::GuestServer => (
            "rping -s -P & while [ ! -e /tmp/stop ]; do sleep 0.05; done; rm /tmp/stop; kill $!".into(),
            "rping -c -a {guest} -C 1 -V --connections 100",
        ),
    };
    Case {
        tool: "rping",
        variant: "hundred".into(),
        direction,
        guest,
        ours: ours.into(),
        ready: Ready::Manager,
        rounds: ROUNDS,
        port: 0,
        status: 0,
        check: None,
        bad_wire: false,
        short: false,
    }
}

/// Nobody listens at that port: refused, and the next connection is good.
fn refused(direction: Direction) -> Case {
    let (guest, ours) = match direction {
        Direction::GuestClient => (
            format!(
                "rping -c -a {{us}} -p 9999 -C 1 && exit 1; {}",
                rping::command("-c -a {us} -C 1 -V")
            ),
            "rping -s",
        ),
        Direction::GuestServer => (
            "rping -s & while [ ! -e /tmp/stop ]; do sleep 0.05; done; rm /tmp/stop; kill $!".into(),
            "rping -c -a {guest} -p 9999 -C 1",
        ),
    };
    Case {
        tool: "rping",
        variant: "refused".into(),
        direction,
        guest,
        ours: ours.into(),
        ready: Ready::Manager,
        rounds: ROUNDS,
        port: 0,
        status: i32::from(direction == Direction::GuestServer),
        check: (direction == Direction::GuestServer).then_some(refused_ours as Check),
        bad_wire: false,
        short: false,
    }
}

/// The guest answers ARP, but nothing of RoCE: each REQ is sent in vain.
fn half_open() -> Case {
    let guest = "rdma link del rxe0; while [ ! -e /tmp/stop ]; do sleep 0.05; done; rm /tmp/stop; roce";
    Case {
        tool: "rping",
        variant: "half-open".into(),
        direction: Direction::GuestServer,
        guest: guest.into(),
        ours: "rping -c -a {guest} -C 1".into(),
        ready: Ready::Gone,
        rounds: ROUNDS,
        port: 0,
        status: 1,
        check: Some(unanswered),
        bad_wire: false,
        short: false,
    }
}

/// Ours says that nobody answers.
fn unanswered(o: &Outcome) -> Result<()> {
    ensure!(o.text.contains("doesn't answer"), "ours says: {}", o.text.trim());
    Ok(())
}

/// Ours was refused, and says so.
fn refused_ours(o: &Outcome) -> Result<()> {
    ensure!(o.text.contains("refused"), "ours isn't told so: {}", o.text.trim());
    Ok(())
}

fn probes(direction: Direction) -> Vec<Case> {
    let mut cases = vec![];
    // The client tells the path MTU.
    let at = |pmtu: u32| match direction {
        Direction::GuestClient => (format!("-m {pmtu}"), String::new()),
        Direction::GuestServer => (String::new(), format!("--pmtu {pmtu}")),
    };
    for pmtu in [256, 1024, 4096] {
        let (guest, ours) = at(pmtu);
        for (name, list) in [("sends", SENDS), ("writes", WRITES), ("reads", READS)] {
            cases.push(Case {
                bad_wire: true,
                short: pmtu == 1024,
                ..probe(&format!("{name}-{pmtu}"), &guest, &ours, list, direction)
            });
        }
    }
    for fails in [
        "bad-key-write:100",
        "bad-key-read:5000",
        "bad-key-cas",
        "over-write:5000",
        "over-read:10",
        "long-send:3000",
    ] {
        let list = format!("send:10,write:20,{fails}");
        let name = fails.split(':').next().unwrap_or(fails);
        cases.push(Case {
            short: fails == "over-write:5000",
            ..probe(name, "", "", &list, direction)
        });
    }
    for service in ["uc", "ud"] {
        let (guest, ours) = match direction {
            Direction::GuestClient => (format!("-q {service}"), String::new()),
            Direction::GuestServer => (String::new(), format!("--transport {service}")),
        };
        let list = match service {
            "uc" => "send:100*6,write:65536,write-imm:30*4,send-imm:5000,send:0,write:0",
            _ => "send:100*8,send-imm:5,send:0,send:1024",
        };
        cases.push(Case {
            short: true,
            ..probe(service, &guest, &ours, list, direction)
        });
    }
    cases
}

/// Runs whose counters on both sides must tell the same story.
fn counters(direction: Direction) -> Vec<Case> {
    let writes = "write:60000*20,send:5000*10";
    let guest_asks = direction == Direction::GuestClient;
    let toward_responder = if guest_asks { "in" } else { "out" };
    let with = |variant: &str, guest: &str, faults: &str, check: Check| Case {
        check: Some(check),
        short: variant == "count-rnr",
        // Receives that are late are late for the first message too.
        ..probe(
            variant,
            guest,
            faults,
            if variant == "count-rnr" { "send:5000*10" } else { writes },
            direction,
        )
    };
    let lost = format!("--loss 3% --faults {toward_responder}");
    let doubled = format!("--duplicate 5% --faults {toward_responder}");
    // Towards a requester there are few frames.
    let broken = format!("--corrupt {}% --faults in", if guest_asks { 3 } else { 20 });
    let (late_guest, late_ours) = if guest_asks { ("", "--late 300") } else { ("-l 300", "") };
    let checks: [Check; 4] = if guest_asks {
        [loss_of_guest, doubles_of_guest, rnr_of_guest, broken_in]
    } else {
        [loss_of_ours, doubles_of_ours, rnr_of_ours, broken_in]
    };
    vec![
        with("count-loss", "", &lost, checks[0]),
        with("count-duplicate", "", &doubled, checks[1]),
        with("count-rnr", late_guest, late_ours, checks[2]),
        with("count-icrc", "", &broken, checks[3]),
    ]
}

fn same(what: &str, one: i64, other: i64) -> Result<()> {
    ensure!(one == other, "{what}: {one} and {other}");
    Ok(())
}

/// The guest sends, frames to us are lost: it has received our sequence NAKs. Soft-RoCE doesn't count one that acknowledges nothing new.
fn loss_of_guest(o: &Outcome) -> Result<()> {
    ensure!(o.fault("faults_in", "lost")? > 0, "no frame was lost: choose another seed");
    let (sent, received) = (o.engine("out_of_sequence"), o.guest("rcvd_seq_err"));
    ensure!(0 < received && received <= sent, "{sent} sequence NAKs sent, {received} received");
    Ok(())
}

/// We send, frames to the guest are lost: the guest has seen gaps, and we have gone back for each of its NAKs or timed out.
fn loss_of_ours(o: &Outcome) -> Result<()> {
    ensure!(o.fault("faults_out", "lost")? > 0, "no frame was lost: choose another seed");
    ensure!(o.guest("out_of_seq_request") > 0, "the guest has seen no gap");
    ensure!(o.engine("rewind") > 0, "we never went back");
    Ok(())
}

/// Doubled requests of the guest: each copy of a request is a duplicate, or comes while we wait for an earlier one.
fn doubles_of_guest(o: &Outcome) -> Result<()> {
    let doubled = o.fault("faults_in", "duplicated")?;
    ensure!(doubled > 0, "no frame was doubled: choose another seed");
    ensure!(
        o.engine("duplicate") >= doubled,
        "{doubled} requests doubled, {} seen as duplicates",
        o.engine("duplicate")
    );
    Ok(())
}

fn doubles_of_ours(o: &Outcome) -> Result<()> {
    let doubled = o.fault("faults_out", "duplicated")?;
    ensure!(doubled > 0, "no frame was doubled: choose another seed");
    ensure!(
        o.guest("duplicate_request") >= doubled,
        "{doubled} requests doubled, the guest saw {}",
        o.guest("duplicate_request")
    );
    Ok(())
}

/// We post receives late: each RNR NAK of ours was received.
fn rnr_of_guest(o: &Outcome) -> Result<()> {
    ensure!(o.engine("rnr") > 0, "no RNR NAK of ours");
    same("RNR NAKs sent, received", o.engine("rnr"), o.guest("rcvd_rnr_err"))
}

/// The guest posts receives late: its RNR NAKs made us wait, but those that came while we waited already (R46).
fn rnr_of_ours(o: &Outcome) -> Result<()> {
    let (sent, waits) = (o.guest("send_rnr_err"), o.engine("rnr_wait"));
    ensure!(0 < waits && waits <= sent, "{sent} RNR NAKs sent, waited {waits} times");
    Ok(())
}

/// Each broken frame is dropped by its ICRC, but those broken where the ICRC doesn't look: in the Ethernet header, and where IP or
/// lengths say so first.
fn broken_in(o: &Outcome) -> Result<()> {
    let broken = o.fault("faults_in", "corrupted")?;
    let icrc = o.engine("rx_bad_icrc");
    ensure!(icrc > 0 && icrc <= broken, "{broken} frames broken, {icrc} with a bad ICRC");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_short_ones_few() {
        let cases = all();
        let names: BTreeSet<String> = cases.iter().map(Case::name).collect();
        assert_eq!(names.len(), cases.len());
        assert!(cases.iter().filter(|c| c.short).count() <= cases.len() / 2);
        let reads = |tool: &str| cases.iter().any(|c| c.tool == tool && c.reads());
        assert!(reads("ib_read_bw") && reads("ib_atomic_bw") && reads("rping") && reads("probe") && !reads("ib_write_bw"));
        // A persistent server, and those that never get a client, tell nothing.
        let told: Vec<String> = cases.iter().filter(|c| c.rpings().is_some()).map(Case::name).collect();
        let all = ["validated", "hundred", "refused", "largest"].map(|name| format!("rping/{name}/guest-client"));
        let servers = ["validated", "largest"].map(|name| format!("rping/{name}/guest-server"));
        assert_eq!(told, all.into_iter().chain(servers).collect::<Vec<_>>());
        assert_eq!(cases.iter().filter_map(Case::rpings).map(|(runs, _)| runs).sum::<usize>(), 105);
        for case in &cases {
            let list = case.guest.split(" -o ").nth(1).or(case.ours.split("--operations ").nth(1));
            if let Some(list) = list {
                super::super::operations::Operation::parse_list(list.split(' ').next().unwrap()).unwrap();
            }
        }
    }
}
