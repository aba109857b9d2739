// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers against the table: every register and every window, in both presets.

use super::axil::{Host, Seen, OKAY, SLVERR};
use rand::Rng;
use verbena_spec::config::Config;
use verbena_spec::counters;
use verbena_spec::layout::{self, congestion};
use verbena_spec::registers::*;

fn tengig() -> Config {
    Config::preset("tengig").unwrap()
}

fn cu() -> Config {
    Config::preset("cu").unwrap()
}

/// Registers that show the engine and not what software wrote.
fn live(address: u32) -> bool {
    [STATUS, COMMAND_STATUS, RESULT_0, RESULT_1, RESULT_2, EQ_PRODUCER].contains(&address)
}

fn reset_values<const GW: usize>(config: &Config) {
    let mut host = Host::<GW>::new(config, 1, false, false);
    for register in REGISTERS {
        let (data, response) = host.read(register.address);
        if register.access == Access::WriteOnly || !register.exists(config) {
            assert_eq!(response, SLVERR, "{}", register.name);
        } else {
            assert_eq!((data, response), (register.reset_value(config), OKAY), "{}", register.name);
        }
    }
}

#[test]
fn registers_reset_to_the_table() {
    reset_values::<16>(&tengig());
    reset_values::<4>(&cu());
}

fn walk<const GW: usize>(config: &Config) {
    for (idle, stall) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut host = Host::<GW>::new(config, 2, idle, stall);
        let mut written = vec![None; REGISTERS.len()];
        for round in 0..2 {
            for (index, register) in REGISTERS.iter().enumerate() {
                let value: u32 = host.rng.gen();
                let value = if register.address == COMMAND { 1 << 28 } else { value };
                let before = host.read(register.address);
                let response = host.write(register.address, value);
                if register.access == Access::ReadOnly || !register.exists(config) {
                    assert_eq!(response, SLVERR, "write of {}", register.name);
                    assert_eq!(host.read(register.address), before, "{} changed", register.name);
                } else {
                    assert_eq!(response, OKAY, "write of {} in round {round}", register.name);
                    let indices = config.index_mask() as u32;
                    written[index] = Some(if register.address == EQ_CONSUMER { value & indices } else { value });
                }
                if register.address == EQ_CONTROL {
                    written[EQ_CONSUMER as usize / 4] = Some(0);
                }
                // Partial strobes change nothing.
                let strobe = host.rng.gen_range(0..15);
                let (response, _) = host.transfer(Some((register.address, !value, strobe)), None);
                assert_eq!(response, Some(SLVERR), "strobe {strobe} on {}", register.name);
            }
            for (index, register) in REGISTERS.iter().enumerate() {
                if register.access == Access::ReadWrite && register.exists(config) && !live(register.address) {
                    assert_eq!(host.read(register.address), (written[index].unwrap(), OKAY), "{}", register.name);
                }
            }
            check_outputs(&host, config, &written);
        }
    }
}

/// The named outputs against what was written.
fn check_outputs<const GW: usize>(host: &Host<GW>, config: &Config, written: &[Option<u32>]) {
    let uut = &host.registers.uut;
    let at = |address: u32| written[address as usize / 4].unwrap();
    assert_eq!(uut.enable.val(), at(CONTROL) & 1 != 0);
    assert_eq!(uut.icrc_off.val(), at(CONTROL) & 2 != 0);
    assert_eq!(uut.soft_reset.val(), at(CONTROL) & 4 != 0);
    assert_eq!(uut.irq_enable.val(), at(CONTROL) & 8 != 0);
    assert_eq!(
        uut.local_mac.val().to_u64(),
        at(MAC_LOW) as u64 | (at(MAC_HIGH) as u64 & 0xffff) << 32
    );
    let mask = (1u64 << config.n_gids) - 1;
    assert_eq!(uut.gid_valid.val().to_u64(), at(GID_VALID) as u64 & mask);
    assert_eq!(
        uut.gid_ipv6.val().to_u64(),
        if config.ipv6 { at(GID_VALID) as u64 >> 4 & mask } else { 0 }
    );
    let gid = uut.gid.val();
    for entry in 0..4 {
        for word in 0..4 {
            // Without IPv6 the address is ::ffff:a.b.c.d, whatever was written before its last word.
            let want = if entry < config.n_gids && !config.ipv6 && word < 3 {
                [0, 0, 0xffff][word]
            } else if entry < config.n_gids {
                at(GID0_0 + 16 * entry as u32 + 4 * word as u32)
            } else {
                0
            };
            let got = gid.get_bits::<32>(128 * entry + 32 * (3 - word)).to_u64() as u32;
            assert_eq!(got, want, "gid {entry} word {word}");
        }
    }
    let base = at(EQ_BASE_LOW) as u64 | (at(EQ_BASE_HIGH) as u64) << 32;
    assert_eq!(uut.eq_base.val().to_u64(), base & config.address_mask());
    let control = uut.eq_control.val().to_u64() as u32;
    if (at(EQ_CONTROL) & 0xf) as usize > config.ring_log {
        assert_eq!(control >> 31, 0, "a ring larger than the preset's largest");
    } else {
        assert_eq!(control, at(EQ_CONTROL) & 0x8000_000f);
    }
    assert_eq!(uut.eq_consumer.val().to_u64() as u32, at(EQ_CONSUMER) & 0xffff);
    let tick_mask = if config.small() { 0x1_ffff } else { u32::MAX };
    assert_eq!(uut.tick.val().to_u64() as u32, at(TICK) & tick_mask);
}

#[test]
fn registers_walk_tengig() {
    walk::<16>(&tengig());
}

#[test]
fn registers_walk_cu() {
    walk::<4>(&cu());
}

#[test]
fn live_registers_show_the_engine() {
    let mut host = Host::<16>::new(&tengig(), 3, false, false);
    host.registers.uut.tables_ready.next = true;
    host.registers.uut.eq_producer.next = 0xabcd.into();
    host.registers.uut.result0.next = 0x1234_5606.into();
    host.registers.uut.result1.next = 0x23.into();
    host.registers.uut.result2.next = 0x24.into();
    assert_eq!(host.read(STATUS), (1, OKAY));
    host.registers.uut.draining.next = true;
    assert_eq!(host.read(STATUS), (5, OKAY));
    assert_eq!(host.read(EQ_PRODUCER), (0xabcd, OKAY));
    assert_eq!(host.read(RESULT_0), (0x1234_5606, OKAY));
    assert_eq!(host.read(RESULT_1), (0x23, OKAY));
    assert_eq!(host.read(RESULT_2), (0x24, OKAY));
}

fn windows<const GW: usize>(config: &Config) {
    for (idle, stall) in [(false, false), (true, true)] {
        let mut host = Host::<GW>::new(config, 4, idle, stall);
        for window in WINDOWS {
            let rows = window.rows(config) as u32;
            let words = window.stride / 4;
            for case in 0..40 {
                let row = match case {
                    0 => 0,
                    1 => rows.saturating_sub(1),
                    2 => rows,
                    _ => host.rng.gen_range(0..(2 * rows).max(2)),
                };
                let word = host.rng.gen_range(0..words);
                let address = window.base + row * window.stride + 4 * word;
                let value: u32 = host.rng.gen();
                host.seen.clear();
                let response = host.write(address, value);
                let want = if row >= rows {
                    None
                } else {
                    match window.base {
                        QP_TABLE => Some(Seen::Qp(row * 32 + word, value)),
                        MR_TABLE => Some(Seen::Mr(row * 8 + word, value)),
                        MTT_TABLE => Some(Seen::Mtt(row * 2 + word, value)),
                        CQ_TABLE => Some(Seen::Cq(row * 4 + word, value)),
                        DOORBELLS if word == doorbell::SQ_PRODUCER => Some(Seen::SendDoorbell(row, value & 0xffff)),
                        DOORBELLS if word == doorbell::RQ_PRODUCER => Some(Seen::ReceiveDoorbell(row, value & 0xffff)),
                        DOORBELLS if word >= doorbell::CQ_CONSUMER => {
                            Some(Seen::CompletionDoorbell(row, word - doorbell::CQ_CONSUMER, value & 0xffff))
                        }
                        _ => None,
                    }
                };
                assert_eq!(
                    response,
                    if want.is_some() { OKAY } else { SLVERR },
                    "{} row {row} word {word}",
                    window.name
                );
                assert_eq!(
                    host.seen,
                    want.into_iter().collect::<Vec<_>>(),
                    "{} row {row} word {word}",
                    window.name
                );
                // Partial strobes, addresses off their word, the wrong direction.
                host.seen.clear();
                let strobe = host.rng.gen_range(0..15);
                assert_eq!(host.transfer(Some((address, value, strobe)), None).0, Some(SLVERR));
                let off = host.rng.gen_range(1..4u32);
                assert_eq!(host.write(address + off, value), SLVERR);
                let readable = window.access == Access::ReadOnly && row < rows;
                assert_eq!(
                    host.read(address).1,
                    if readable { OKAY } else { SLVERR },
                    "read of {} row {row}",
                    window.name
                );
                assert_eq!(host.seen, vec![]);
            }
        }
    }
}

#[test]
fn windows_reach_their_stations_tengig() {
    windows::<16>(&tengig());
}

#[test]
fn windows_reach_their_stations_cu() {
    windows::<4>(&cu());
}

#[test]
fn unmapped_addresses_are_refused() {
    let mut host = Host::<16>::new(&tengig(), 5, true, true);
    let mapped = |address: u32| {
        let config = tengig();
        address < 4 * REGISTERS.len() as u32
            || (CONGESTION..CONGESTION + 4 * layout::CONGESTION_WORDS as u32).contains(&address)
            || WINDOWS
                .iter()
                .any(|w| address >= w.base && address < w.base + w.stride * w.rows(&config) as u32)
    };
    let mut tried = 0;
    while tried < 400 {
        let address = host.rng.gen_range(0..1u32 << ADDRESS_BITS) & !3;
        if !mapped(address) {
            assert_eq!(host.write(address, 1), SLVERR, "write {address:x}");
            assert_eq!(host.read(address).1, SLVERR, "read {address:x}");
            tried += 1;
        }
    }
    assert_eq!(host.seen, vec![]);
}

/// R76: the congestion row is kept and read back, and says to the notification point what it is for; an engine without it refuses.
#[test]
fn r76_congestion_row() {
    let words = layout::CONGESTION_WORDS as u32;
    for (idle, stall) in [(false, false), (true, true)] {
        let mut host = Host::<16>::new(&tengig(), 10, idle, stall);
        for word in 0..words {
            assert_eq!(host.read(CONGESTION + 4 * word), (0, OKAY));
        }
        assert_eq!(
            (host.registers.uut.notify.val(), host.registers.uut.cnp_interval.val().to_u64()),
            (false, 0)
        );
        for _ in 0..4 {
            let row: Vec<u32> = (0..words).map(|_| host.rng.gen()).collect();
            for (word, value) in row.iter().enumerate() {
                let address = CONGESTION + 4 * word as u32;
                assert_eq!(host.write(address, *value), OKAY);
                let strobe = host.rng.gen_range(0..15);
                assert_eq!(host.transfer(Some((address, !value, strobe)), None).0, Some(SLVERR));
            }
            for (word, value) in row.iter().enumerate() {
                assert_eq!(host.read(CONGESTION + 4 * word as u32), (*value, OKAY), "word {word}");
            }
            let uut = &host.registers.uut;
            assert_eq!(uut.notify.val() as u32, congestion::NOTIFY.get(&row));
            assert_eq!(uut.cnp_interval.val().to_u64() as u32, congestion::CNP_INTERVAL.get(&row));
            assert_eq!(uut.react.val() as u32, congestion::REACT.get(&row));
            let words = [uut.rates.val(), uut.increases.val(), uut.times.val(), uut.rate_bytes.val()];
            assert_eq!(words.map(|w| w.to_u64() as u32)[..], row[1..]);
            // No other register is meant.
            assert_eq!(host.read(CONTROL), (0, OKAY));
            assert_eq!(host.read(SCRATCH), (0, OKAY));
        }
        for word in words..8 {
            assert_eq!(host.write(CONGESTION + 4 * word, 1), SLVERR);
            assert_eq!(host.read(CONGESTION + 4 * word).1, SLVERR);
        }
        assert_eq!(host.seen, vec![]);
    }
    let mut host = Host::<4>::new(&cu(), 11, false, false);
    for word in 0..8 {
        assert_eq!(host.write(CONGESTION + 4 * word, 1), SLVERR);
        assert_eq!(host.read(CONGESTION + 4 * word).1, SLVERR);
    }
    assert!(!host.registers.uut.notify.val());
}

#[test]
fn reads_and_writes_at_once_both_end() {
    for (idle, stall) in [(false, false), (true, true)] {
        let mut host = Host::<16>::new(&tengig(), 6, idle, stall);
        for _ in 0..100 {
            let value: u32 = host.rng.gen();
            let (b, r) = host.transfer(Some((SCRATCH, value, 15)), Some(ID));
            assert_eq!((b, r), (Some(OKAY), Some((0x5642_4e41, OKAY))));
            assert_eq!(host.read(SCRATCH), (value, OKAY));
        }
    }
}

#[test]
fn commands_are_refused_while_busy() {
    let mut host = Host::<16>::new(&tengig(), 7, false, false);
    host.command_latency = 100;
    assert_eq!(host.write(COMMAND, operation::MODIFY_QP << 28 | 2 << 12 | 17), OKAY);
    assert_eq!(host.read(COMMAND_STATUS), (1, OKAY));
    assert_eq!(host.read(STATUS).0 & 2, 2);
    assert_eq!(host.write(COMMAND, operation::QUERY_QP << 28 | 18), SLVERR);
    while host.read(COMMAND_STATUS).0 & 1 != 0 {}
    assert_eq!(host.read(COMMAND_STATUS), (0, OKAY));
    // An operation that the station refuses; an index that the preset doesn't have.
    host.command_latency = 3;
    assert_eq!(host.write(COMMAND, 9 << 28 | 5), OKAY);
    while host.read(COMMAND_STATUS).0 & 1 != 0 {}
    assert_eq!(host.read(COMMAND_STATUS), (2, OKAY));
    assert_eq!(host.write(COMMAND, operation::QUERY_QP << 28 | 256), SLVERR);
    assert_eq!(host.seen, vec![Seen::Command(1, 17, 2), Seen::Command(9, 5, 0)]);
}

#[test]
fn counters_are_read_over_the_bus() {
    let mut host = Host::<16>::new(&tengig(), 8, false, false);
    assert_eq!(host.read(COUNTERS), (0, OKAY));
    for _ in 0..3 {
        host.counters.uut.extra_valid.next = true;
        host.counters.uut.extra_code.next = (counters::BAD_DOORBELL as u64).into();
        loop {
            host.counters.settle();
            let taken = host.counters.uut.extra_ready.val();
            host.cycle();
            if taken {
                break;
            }
        }
        host.counters.uut.extra_valid.next = false;
        host.cycle();
    }
    assert_eq!(host.read(COUNTERS + 4 * counters::BAD_DOORBELL as u32), (3, OKAY));
    assert_eq!(host.write(COUNTERS + 4 * counters::BAD_DOORBELL as u32, 0), SLVERR);
}

#[test]
fn cycles_of_an_access() {
    let mut host = Host::<16>::new(&tengig(), 9, false, false);
    host.read(SCRATCH);
    for (what, write, read, limit) in [
        ("doorbell", Some((DOORBELLS + 4, 1, 15)), None, 6),
        ("table", Some((QP_TABLE, 1, 15)), None, 6),
        ("register write", Some((SCRATCH, 1, 15)), None, 9),
        ("register read", None, Some(SCRATCH), 9),
        ("counter read", None, Some(COUNTERS), 9),
    ] {
        let start = host.registers.cycle;
        host.transfer(write, read);
        let cycles = host.registers.cycle - start;
        println!("{what}: {cycles} cycles");
        assert!(cycles <= limit, "{what}: {cycles} cycles");
    }
}
