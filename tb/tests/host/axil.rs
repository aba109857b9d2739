// SPDX-License-Identifier: MIT OR Apache-2.0
//! An AXI4-Lite master on `Registers` with its counter file, and the stations that they write to.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verbena_hdl::host::{Counters, Registers};
use verbena_spec::config::Config;
use verbena_tb::{ports, step::Bench};

/// What a station took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Qp(u32, u32),
    Mr(u32, u32),
    Mtt(u32, u32),
    Cq(u32, u32),
    SendDoorbell(u32, u32),
    ReceiveDoorbell(u32, u32),
    CompletionDoorbell(u32, u32, u32),
    Command(u32, u32, u32),
    Restart,
}

pub const OKAY: u32 = 0;
pub const SLVERR: u32 = 2;

pub struct Host<const GW: usize> {
    pub registers: Bench<Registers<GW>>,
    pub counters: Bench<Counters>,
    pub seen: Vec<Seen>,
    /// Cycles from a command to its answer.
    pub command_latency: u32,
    command_age: u32,
    idle: bool,
    stall: bool,
    pub rng: ChaCha8Rng,
}

impl<const GW: usize> Host<GW> {
    pub fn new(config: &Config, seed: u64, idle: bool, stall: bool) -> Self {
        println!("{} seed {seed} idle {idle} stall {stall}", config.name);
        let mut host = Self {
            registers: Bench::verilated(
                Box::new(Registers::new(config)),
                &format!("registers_{}", config.name),
                ports!(in reset, s_aw_address, s_aw_valid, s_w_data, s_w_strobe, s_w_valid, s_b_ready, s_ar_address, s_ar_valid, s_r_ready, eq_restart_ready, eq_producer, tables_ready, draining, qp_ready, mr_ready, mtt_ready, cq_ready, sq_doorbell_ready, rq_doorbell_ready, cq_doorbell_ready, command_done, command_refused, result0, result1, result2, file_done, half_data, half_strobe; out s_aw_ready, s_w_ready, s_b_response, s_b_valid, s_ar_ready, s_r_data, s_r_response, s_r_valid, enable, icrc_off, soft_reset, irq_enable, local_mac, gid_valid, gid_ipv6, gid, eq_base, eq_control, eq_consumer, eq_restart, tick, notify, cnp_interval, react, rates, increases, times, rate_bytes, qp_valid, qp_address, qp_data, mr_valid, mr_address, mr_data, mtt_valid, mtt_address, mtt_data, cq_valid, cq_address, cq_data, sq_doorbell_valid, sq_doorbell_index, sq_doorbell_producer, rq_doorbell_valid, rq_doorbell_index, rq_doorbell_producer, cq_doorbell_valid, cq_doorbell_index, cq_doorbell_kind, cq_doorbell_value, command_valid, command_operation, command_index, command_state, file_valid, file_write, file_row, file_data),
            ),
            counters: super::counters::bench(config),
            seen: vec![],
            command_latency: 5,
            command_age: 0,
            idle,
            stall,
            rng: ChaCha8Rng::seed_from_u64(seed),
        };
        host.registers.uut.reset.next = true;
        host.counters.uut.reset.next = true;
        host.cycle();
        host.registers.uut.reset.next = false;
        host.counters.uut.reset.next = false;
        host
    }

    fn ready(&mut self) -> bool {
        !self.stall || self.rng.gen_bool(0.3)
    }

    fn settle(&mut self) {
        for _ in 0..2 {
            self.registers.settle();
            self.counters.settle();
            let (r, c) = (&mut self.registers.uut, &mut self.counters.uut);
            c.access_valid.next = r.file_valid.val();
            c.access_write.next = r.file_write.val();
            c.access_row.next = r.file_row.val();
            c.access_data.next = r.file_data.val();
            r.file_done.next = c.access_done.val();
            r.half_data.next = c.half_data.val();
            r.half_strobe.next = c.half_strobe.val();
        }
        self.registers.settle();
        self.counters.settle();
    }

    /// One cycle; the caller has set the AXI inputs. Outputs are looked at before the edge by `look`.
    fn cycle_with<T>(&mut self, look: impl FnOnce(&Registers<GW>) -> T) -> T {
        let readies: Vec<bool> = (0..8).map(|_| self.ready()).collect();
        let uut = &mut self.registers.uut;
        uut.qp_ready.next = readies[0];
        uut.mr_ready.next = readies[1];
        uut.mtt_ready.next = readies[2];
        uut.cq_ready.next = readies[3];
        uut.rq_doorbell_ready.next = readies[4];
        uut.cq_doorbell_ready.next = readies[5];
        uut.eq_restart_ready.next = readies[6];
        uut.sq_doorbell_ready.next = readies[7];
        let done = self.command_age >= self.command_latency;
        uut.command_done.next = done;
        self.settle();
        let uut = &self.registers.uut;
        let operation = uut.command_operation.val().to_u64() as u32;
        self.registers.uut.command_refused.next = operation > 2;
        self.settle();
        let uut = &self.registers.uut;
        let n = |v: u64| v as u32;
        let mut new = vec![];
        if uut.qp_valid.val() & readies[0] {
            new.push(Seen::Qp(n(uut.qp_address.val().to_u64()), n(uut.qp_data.val().to_u64())));
        }
        if uut.mr_valid.val() & readies[1] {
            new.push(Seen::Mr(n(uut.mr_address.val().to_u64()), n(uut.mr_data.val().to_u64())));
        }
        if uut.mtt_valid.val() & readies[2] {
            new.push(Seen::Mtt(n(uut.mtt_address.val().to_u64()), n(uut.mtt_data.val().to_u64())));
        }
        if uut.cq_valid.val() & readies[3] {
            new.push(Seen::Cq(n(uut.cq_address.val().to_u64()), n(uut.cq_data.val().to_u64())));
        }
        if uut.rq_doorbell_valid.val() & readies[4] {
            new.push(Seen::ReceiveDoorbell(
                n(uut.rq_doorbell_index.val().to_u64()),
                n(uut.rq_doorbell_producer.val().to_u64()),
            ));
        }
        if uut.sq_doorbell_valid.val() & readies[7] {
            new.push(Seen::SendDoorbell(
                n(uut.sq_doorbell_index.val().to_u64()),
                n(uut.sq_doorbell_producer.val().to_u64()),
            ));
        }
        if uut.cq_doorbell_valid.val() & readies[5] {
            let kind = n(uut.cq_doorbell_kind.val().to_u64());
            new.push(Seen::CompletionDoorbell(
                n(uut.cq_doorbell_index.val().to_u64()),
                kind,
                n(uut.cq_doorbell_value.val().to_u64()),
            ));
        }
        if uut.eq_restart.val() & readies[6] {
            new.push(Seen::Restart);
        }
        if uut.command_valid.val() {
            if self.command_age == 0 {
                new.push(Seen::Command(
                    operation,
                    n(uut.command_index.val().to_u64()),
                    n(uut.command_state.val().to_u64()),
                ));
            }
            self.command_age += 1;
        }
        if done {
            self.command_age = 0;
        }
        self.seen.extend(new);
        let result = look(&self.registers.uut);
        self.registers.edge();
        self.counters.edge();
        result
    }

    pub fn cycle(&mut self) {
        self.cycle_with(|_| ());
    }

    /// A write and a read, either or both, their channels in random order and at random distances.
    pub fn transfer(&mut self, write: Option<(u32, u32, u32)>, read: Option<u32>) -> (Option<u32>, Option<(u32, u32)>) {
        let mut delay = || if self.idle { self.rng.gen_range(0..12) } else { 0 };
        let (mut aw_delay, mut w_delay, mut ar_delay) = (delay(), delay(), delay());
        let (mut aw_left, mut w_left, mut ar_left) = (write.is_some(), write.is_some(), read.is_some());
        let (mut b, mut r) = (None, None);
        for age in 0.. {
            assert!(age < 2000, "no answer to {write:x?} {read:x?}");
            let (b_ready, r_ready) = (self.ready(), self.ready());
            let uut = &mut self.registers.uut;
            uut.s_aw_valid.next = aw_left && aw_delay == 0;
            uut.s_w_valid.next = w_left && w_delay == 0;
            uut.s_ar_valid.next = ar_left && ar_delay == 0;
            // What isn't valid is nonsense.
            let (address, data, strobe) = write.filter(|_| aw_left || w_left).unwrap_or((0x5555, 0xdead_beef, 0));
            let nonsense = (0x1f_fffc, 0x0bad_0bad, 5);
            uut.s_aw_address.next = (if aw_left && aw_delay == 0 { address } else { nonsense.0 } as u64).to_bits();
            uut.s_w_data.next = (if w_left && w_delay == 0 { data } else { nonsense.1 } as u64).to_bits();
            uut.s_w_strobe.next = (if w_left && w_delay == 0 { strobe } else { nonsense.2 } as u64).to_bits();
            uut.s_ar_address.next = (if ar_left && ar_delay == 0 { read.unwrap() } else { nonsense.0 } as u64).to_bits();
            uut.s_b_ready.next = b_ready;
            uut.s_r_ready.next = r_ready;
            let (aw, w, ar, got_b, got_r) = self.cycle_with(|uut| {
                (
                    uut.s_aw_ready.val() && aw_left && aw_delay == 0,
                    uut.s_w_ready.val() && w_left && w_delay == 0,
                    uut.s_ar_ready.val() && ar_left && ar_delay == 0,
                    (uut.s_b_valid.val() && b_ready).then(|| uut.s_b_response.val().to_u64() as u32),
                    (uut.s_r_valid.val() && r_ready).then(|| (uut.s_r_data.val().to_u64() as u32, uut.s_r_response.val().to_u64() as u32)),
                )
            });
            aw_left &= !aw;
            w_left &= !w;
            ar_left &= !ar;
            aw_delay = (aw_delay - 1).max(0);
            w_delay = (w_delay - 1).max(0);
            ar_delay = (ar_delay - 1).max(0);
            if got_b.is_some() {
                assert!(!aw_left && !w_left && b.is_none(), "B before its write");
                b = got_b;
            }
            if got_r.is_some() {
                assert!(!ar_left && r.is_none(), "R before its read");
                r = got_r;
            }
            if b.is_some() == write.is_some() && r.is_some() == read.is_some() {
                break;
            }
        }
        let uut = &mut self.registers.uut;
        uut.s_aw_valid.next = false;
        uut.s_w_valid.next = false;
        uut.s_ar_valid.next = false;
        (b, r)
    }

    pub fn write(&mut self, address: u32, data: u32) -> u32 {
        self.transfer(Some((address, data, 15)), None).0.unwrap()
    }

    pub fn read(&mut self, address: u32) -> (u32, u32) {
        self.transfer(None, Some(address)).1.unwrap()
    }
}
