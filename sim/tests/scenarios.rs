// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios 1 and 2 of the conformance rules, on the whole engine and against the golden model.

use verbena_model::golden::INDEX_BITS;
use verbena_sim::hca::HcaOptions;
use verbena_sim::session::{Connection, Session};
use verbena_sim::shadow::Shadow;
use verbena_verbs::{Access, Mr, Region};

/// Bytes that the peer may write and receives land in.
const REGION: u64 = 2 * HALF;
/// WRITEs land in the first half, SENDs in the second.
const HALF: u64 = 18 << 10;
/// Receives kept posted.
const RECEIVES: usize = 16;

/// The engine and the model side by side, with one connection.
struct Twin {
    session: Session,
    shadow: Shadow,
    region: Region,
    mr: Mr,
    connection: Connection,
    counters: [u32; verbena_spec::counters::COUNTER_FILE],
    pmtu: usize,
}

impl Twin {
    fn new(preset: &str, pmtu: usize) -> Twin {
        let mut options = HcaOptions::new(preset);
        options.memory.latency = 10;
        let mut session = Session::open(&options).unwrap();
        let (region, mr) = session.region(REGION).unwrap();
        let reads = session.device.capabilities().read_atomic;
        let mut shadow = Shadow::new(&session.hca().config.clone(), &region, &mr, reads);
        let connection = session.connect(pmtu, RECEIVES).unwrap();
        shadow.connect(&connection, Access::REMOTE_WRITE, 0, None);
        let mut twin = Twin {
            session,
            shadow,
            region,
            mr,
            connection,
            counters: [0; verbena_spec::counters::COUNTER_FILE],
            pmtu,
        };
        twin.counters = twin.session.counters().unwrap();
        twin.begin();
        twin
    }

    /// What `compare` counted last is what this round begins with.
    fn begin(&mut self) {
        self.shadow.begin(&mut self.session).unwrap();
    }

    /// A QP in ERR is set up again.
    fn renew(&mut self) {
        if self.shadow.failed(&self.connection) {
            self.session.device.destroy_qp(self.connection.qp).unwrap();
            self.shadow.destroy(&self.connection);
            self.connection = self.session.connect(self.pmtu, RECEIVES).unwrap();
            self.shadow.connect(&self.connection, Access::REMOTE_WRITE, 0, None);
            self.counters = self.session.counters().unwrap();
        }
        self.begin();
    }

    fn post(&mut self, offset: u64, length: u32) {
        let sge = self.mr.sge(offset, length).unwrap();
        self.session.device.post_recv(self.connection.qp, offset, sge).unwrap();
        self.shadow.post_receive(&self.connection, sge.address, sge.length);
    }

    fn give(&mut self, frame: &[u8]) {
        self.shadow.receive(frame, false);
        self.session.hca().rx.send_raw(frame.to_vec(), false);
        assert!(self.session.hca().settle(60, 100_000), "the engine never came to rest");
    }

    fn compare(&mut self, what: &str) {
        let now = self.session.counters().unwrap();
        let counted = std::array::from_fn(|i| now[i].wrapping_sub(self.counters[i]));
        self.counters = now;
        let connections = std::slice::from_ref(&self.connection);
        self.shadow
            .compare(&mut self.session, connections, &counted)
            .unwrap_or_else(|e| panic!("{what}: {e:#}"));
        self.session.hca().violations.check().unwrap_or_else(|e| panic!("{what}: {e:#}"));
    }
}

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + seed * 7 + (i >> 8)) as u8).collect()
}

/// R9, R49, R50: every pad count, every length to 64 and around each multiple of the PMTU, WRITE and SEND, at shifting alignment.
#[test]
fn scenario_1_r9_r49_r50_lengths_and_pads() {
    for (preset, pmtu, past) in [("tengig", 256, 2), ("tengig", 1024, 9), ("tengig", 4096, 3), ("cu", 512, 17)] {
        let mut twin = Twin::new(preset, pmtu);
        let around = (1..=past).flat_map(|k| [k * pmtu - 1, k * pmtu, k * pmtu + 1]);
        for (i, length) in (0..=64).chain(around).enumerate() {
            let data = bytes(length, i);
            let offset = (i * 5 % 61) as u64;
            let va = twin.region.va + offset;
            for frame in twin.connection.flow.write(va, twin.mr.key, &data) {
                twin.give(&frame);
            }
            let landed = twin.region.read(twin.session.hca(), va, length).unwrap();
            assert!(landed == data, "{preset}, PMTU {pmtu}: WRITE of {length} bytes");
            let offset = HALF + (i * 3 % 67) as u64;
            twin.post(offset, length as u32);
            for frame in twin.connection.flow.send(&data) {
                twin.give(&frame);
            }
            let landed = twin.region.read(twin.session.hca(), twin.region.va + offset, length).unwrap();
            assert!(landed == data, "{preset}, PMTU {pmtu}: SEND of {length} bytes");
            if i % 8 == 7 {
                twin.compare(&format!("{preset}, PMTU {pmtu}, up to {length} bytes"));
                twin.begin();
            }
        }
        twin.compare(&format!("{preset}, PMTU {pmtu}"));
    }
}

/// R11, R39, R72: every opcode, with nothing behind the BTH's extension headers, one byte less than they need, and as long as a frame may
/// be, to a QP that exists and to one that doesn't.
#[test]
fn scenario_2_r11_r39_r72_all_opcodes() {
    for preset in ["tengig", "cu"] {
        let mut twin = Twin::new(preset, 256);
        let longest = twin.session.hca().config.max_frame;
        for opcode in 0..=255u8 {
            for known in [true, false] {
                for form in 0..4 {
                    twin.renew();
                    let mut packet = twin.connection.flow.send_only(&[]);
                    packet.opcode = opcode;
                    packet.reth.virtual_address = twin.region.va;
                    packet.reth.rkey = twin.mr.key;
                    packet.ack_request = true;
                    if !known {
                        packet.qpn ^= 1 << INDEX_BITS;
                    }
                    let shortest = packet.to_frame().len();
                    let mut frame = match form {
                        // Headers only; the shortest frame of all; up to the PMTU; the longest that the wire brings.
                        0 => packet.to_frame(),
                        1 => packet.to_frame(),
                        2 => {
                            packet.payload = bytes(256, opcode.into());
                            packet.reth.length = 256;
                            packet.to_frame()
                        }
                        _ => {
                            packet.payload = bytes((longest - shortest) & !3, opcode.into());
                            packet.reth.length = packet.payload.len() as u32;
                            packet.to_frame()
                        }
                    };
                    if form == 1 {
                        // The frame ends in the middle of what the opcode needs: lengths no longer agree.
                        frame.truncate(frame.len() - 4);
                    }
                    twin.give(&frame);
                    twin.compare(&format!("{preset}, opcode {opcode:#04x}, known {known}, form {form}"));
                }
            }
        }
    }
}
