// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core of `cu` against its emulator: random programs, transaction by transaction; and its blocks' Verilog.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verbena_hdl::micro::{Alu, Bursts, Core, EventFifo, HcaMicro, LaneUnit, Lite, Receiver, Stack, Transmitter};
use verbena_spec::config::Config;
use verbena_spec::micro::assembler::assemble;
use verbena_spec::micro::emulator::{self, Ports};
use verbena_spec::micro::isa::{self, Branch, Instruction, Lane, Op, Source, BRANCHES, OPS};
use verbena_tb::step::Bench;
use verbena_tb::{diff::Diff, drive};

/// What passes a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    In(u8, u32),
    Out(u8, u32),
    W(u32, u8),
    Slot(u16, u32),
}

/// The word that the `n`th read of a port gives.
fn word(n: usize) -> u32 {
    let mixed = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 29) as u32
}

/// An instruction that means something.
fn instruction(rng: &mut ChaCha8Rng) -> u32 {
    let branch = |rng: &mut ChaCha8Rng| {
        let kind = BRANCHES[rng.gen_range(0..8)];
        let n = match kind {
            Branch::Jmp => rng.gen_range(0..3),
            Branch::Bbs | Branch::Bbc => rng.gen_range(0..32),
            _ => 0,
        };
        Instruction::Branch {
            kind,
            n,
            target: rng.gen_range(0..1 << isa::PROGRAM_LOG),
        }
    };
    let lane = Lane::of(rng.gen_range(0..16));
    let at_y = isa::AT_Y | if rng.gen() { isa::Y_NEXT } else { 0 };
    let one = match rng.gen_range(0..20) {
        0..=2 => branch(rng),
        3..=5 => Instruction::Operand {
            op: Op::St,
            source: Source::Port,
            lane: isa::WORD,
            // Not CONTROL's restart, more often X, Y, CNT, SHIFT and W.
            address: *[0, 1, 2, 3, 4, 9, 9, 15, at_y].get(rng.gen_range(0..9)).unwrap(),
        },
        6 => Instruction::Operand {
            op: Op::Mv,
            source: Source::Port,
            lane: isa::WORD,
            address: rng.gen_range(0..10) | rng.gen_range(0..8) << 4,
        },
        7..=9 => Instruction::Immediate {
            op: OPS[*[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15].get(rng.gen_range(0..13)).unwrap()],
            value: rng.gen_range(0..0x800u32).rotate_left(8 * rng.gen_range(0..4)),
        },
        n => {
            let op = OPS[rng.gen_range(0..16)];
            let source = match op {
                Op::St => [Source::Memory, Source::Port, Source::Immediate][rng.gen_range(0..3)],
                Op::Inc => [Source::Memory, Source::Port][rng.gen_range(0..2)],
                Op::Mv => Source::Memory,
                _ => [Source::Memory, Source::Memory, Source::Port, Source::Accumulator][rng.gen_range(0..4)],
            };
            let address = match source {
                Source::Port if n < 13 && !matches!(op, Op::St | Op::Inc) => rng.gen_range(0..10),
                Source::Port => at_y,
                _ => rng.gen_range(0..512),
            };
            Instruction::Operand { op, source, lane, address }
        }
    };
    one.encode().unwrap()
}

#[derive(Default)]
struct Script {
    reads: usize,
    passes: Vec<Pass>,
}

impl Ports for Script {
    fn input(&mut self, port: u8) -> Option<u32> {
        let word = word(self.reads);
        self.reads += 1;
        self.passes.push(Pass::In(port & 15, word));
        Some(word)
    }
    fn output(&mut self, port: u8, value: u32) -> bool {
        self.passes.push(Pass::Out(port, value));
        true
    }
    fn write_room(&mut self) -> bool {
        true
    }
    fn write_data(&mut self, word: u32, strobes: u8) {
        self.passes.push(Pass::W(word, strobes));
    }
    fn transmit(&mut self, _: &[u32], _: usize) {}
    fn write_slot(&mut self, at: u16, word: u32) {
        self.passes.push(Pass::Slot(at, word));
    }
    fn count(&mut self) -> Option<u8> {
        None
    }
}

/// Runs the RTL; gives what passed and how many events it took by code.
fn rtl(program: &[u32], cycles: usize, seed: u64, stall: f64, events: bool) -> (Vec<Pass>, [u32; 16]) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(Box::new(Core::new(program)), |c| &mut c.clock);
    let mut passes = vec![];
    let mut counted = [0; 16];
    let mut reads = 0;
    let mut code = rng.gen_range(0..16u64);
    for cycle in 0..cycles {
        let c = &mut bench.uut;
        c.reset.next = cycle < 2;
        c.in_data.next = u64::from(word(reads)).to_bits();
        c.in_valid.next = !rng.gen_bool(stall);
        c.out_ready.next = !rng.gen_bool(stall);
        c.w_ready.next = !rng.gen_bool(stall);
        c.hold.next = rng.gen_bool(stall / 2.0);
        c.steal_address.next = rng.gen_range(0..512u64).to_bits();
        c.event_valid.next = events && cycle % 7 < 5;
        c.event_code.next = code.to_bits();
        bench.settle();
        let c = &bench.uut;
        if cycle >= 2 {
            if c.in_take.val() {
                passes.push(Pass::In(c.in_port.val().to_u64() as u8, word(reads)));
                reads += 1;
            }
            let port = c.out_port.val().to_u64() as u8;
            // The core's own registers, and W beside its own strobe.
            if c.out_valid.val() && port > 3 && port != isa::output::W {
                passes.push(Pass::Out(port, c.out_data.val().to_u64() as u32));
            }
            if c.w_valid.val() {
                assert!(c.w_ready.val());
                passes.push(Pass::W(c.w_data.val().to_u64() as u32, c.w_strobe.val().to_u64() as u8));
            }
            if c.slot_write.val() {
                passes.push(Pass::Slot(c.slot_address.val().to_u64() as u16, c.slot_data.val().to_u64() as u32));
            }
            if c.event_ready.val() {
                counted[code as usize] += 1;
                code = rng.gen_range(0..16);
            }
        }
        bench.edge();
    }
    (passes, counted)
}

#[test]
fn random_programs_do_what_the_emulator_does() {
    let mut passed = 0;
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let program: Vec<u32> = (0..isa::PROGRAM_WORDS).map(|_| instruction(&mut rng)).collect();
        let (passes, _) = rtl(&program, 1500, seed, if seed % 2 == 0 { 0.0 } else { 0.3 }, false);
        let mut core = emulator::Core::new(&program);
        let mut script = Script::default();
        let mut trace = vec![];
        let mut compared = 0;
        while compared < passes.len() {
            trace.push((core.pc, Instruction::decode(program[isa::word_of(core.pc)])));
            core.step(&mut script);
            assert!(core.done < 2000, "seed {seed}: the emulator passes less than the core");
            while compared < script.passes.len().min(passes.len()) {
                let last = &trace[trace.len().saturating_sub(12)..];
                assert_eq!(
                    passes[compared], script.passes[compared],
                    "seed {seed}, pass {compared}; {last:#x?}"
                );
                compared += 1;
            }
        }
        passed += passes.len();
    }
    assert!(passed > 5000, "{passed}");
}

/// A burst that has been read to its end holds nothing up: the port never gives again.
#[test]
fn a_repeat_that_is_over_does_not_wait() {
    let text = "
        ld   #3
        st   @count
        mv   @r, [y+], repeat
        st   @address
    again:
        jmp  again
    ";
    let program = assemble(&[("repeat", text)]).unwrap_or_else(|e| panic!("{e}"));
    let mut bench = Bench::new(Box::new(Core::new(&program.words)), |c| &mut c.clock);
    let (mut left, mut passed) = (3, false);
    for cycle in 0..100 {
        let c = &mut bench.uut;
        c.reset.next = cycle < 2;
        c.in_valid.next = left > 0;
        c.out_ready.next = true;
        c.w_ready.next = true;
        c.in_data.next = 7u64.to_bits();
        c.hold.next = false;
        c.event_valid.next = false;
        c.event_code.next = 0u64.to_bits();
        c.steal_address.next = 0u64.to_bits();
        bench.settle();
        let c = &bench.uut;
        left -= i32::from(cycle >= 2 && c.in_take.val());
        passed |= c.out_valid.val() && c.out_port.val().to_u64() as u8 == isa::output::ADDRESS;
        bench.edge();
    }
    assert!(passed && left == 0, "{left} words left");
}

#[test]
fn events_count_between_instructions() {
    // Counts to 40 in its own word, then gives the counters' words away.
    let text = "
        top:
            inc  100
            ld   100
            cmp  #40
            bnz  top
            ld   #0x30
            st   @y
        next:
            ld   [y+]
            st   @address
            jmp  next
    ";
    let program = assemble(&[("events", text)]).unwrap_or_else(|e| panic!("{e}"));
    let (passes, counted) = rtl(&program.words, 1200, 3, 0.0, true);
    let Some(Pass::Out(port, _)) = passes.first() else {
        panic!("nothing passed")
    };
    assert_eq!(*port, isa::output::ADDRESS);
    // Each word was read while events went on: at most what was counted in the end, and not much less.
    let mut total = 0;
    for (i, pass) in passes.iter().take(16).enumerate() {
        let Pass::Out(_, value) = pass else { panic!("{pass:?}") };
        assert!(*value <= counted[i], "code {i}: {value}, events {}", counted[i]);
        total += value;
    }
    let all: u32 = counted.iter().sum();
    assert!(total > 100 && total > all / 2, "{total} of {all}");
}

#[test]
fn alu_diff() {
    let warnings = Diff::new("micro_alu")
        .cycles(3000)
        .run(Clocked::default(), drive!(clock, op, a, x, t));
    assert_eq!(warnings, "");
}

/// The harness wants a clock; the ALU and the lanes have none.
#[derive(LogicBlock, Default)]
struct Clocked {
    clock: Signal<In, Clock>,
    op: Signal<In, Bits<4>>,
    a: Signal<In, Bits<32>>,
    x: Signal<In, Bits<32>>,
    t: Signal<In, Bit>,
    result: Signal<Out, Bits<32>>,
    carry: Signal<Out, Bit>,
    merged: Signal<Out, Bits<32>>,
    alu: Alu,
    lanes: LaneUnit,
    kept: DFF<Bits<32>>,
}

impl Logic for Clocked {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, kept);
        self.lanes.word.next = self.x.val();
        self.lanes.turn.next = self.op.val().get_bits::<2>(0);
        self.lanes.size.next = self.op.val().get_bits::<2>(2);
        self.lanes.first.next = self.a.val().get_bits::<2>(3);
        self.lanes.whole.next = self.a.val().get_bit(9);
        self.lanes.upper.next = self.a.val().get_bit(8);
        self.lanes.base.next = self.a.val();
        self.alu.op.next = self.op.val();
        self.alu.a.next = self.a.val();
        self.alu.x.next = self.lanes.x.val();
        self.alu.t.next = self.t.val();
        self.kept.d.next = self.alu.result.val();
        self.result.next = self.kept.q.val() ^ self.alu.result.val() ^ self.lanes.rotated.val();
        self.carry.next = self.alu.carry.val();
        self.merged.next = self.lanes.merged.val();
    }

    verbena_hdl::block_name!();
}

#[test]
fn stack_diff() {
    let warnings = Diff::new("micro_stack")
        .cycles(1000)
        .run(Stack::<12, 6, 5>::default(), drive!(clock, push, pop, address));
    assert_eq!(warnings, "");
}

#[test]
fn core_diff() {
    let mut rng = ChaCha8Rng::seed_from_u64(77);
    let program: Vec<u32> = (0..isa::PROGRAM_WORDS).map(|_| instruction(&mut rng)).collect();
    let warnings = Diff::new("micro_core").cycles(3000).run(
        Core::new(&program),
        drive!(
            clock,
            reset,
            event_valid,
            event_code,
            in_data,
            in_valid,
            out_ready,
            w_ready,
            hold,
            steal_address
        ),
    );
    assert_eq!(warnings, "");
}

#[test]
fn streams_diff() {
    let config = Config::preset("cu").unwrap();
    let warnings = Diff::new("micro_receiver").cycles(3000).run(
        Receiver::new(&config),
        drive!(
            clock,
            reset,
            s_data,
            s_keep,
            s_valid,
            s_last,
            s_user,
            enable,
            icrc_off,
            local_mac,
            ip,
            ip_valid,
            release_valid,
            release_word,
            read_address,
            event_ready
        ),
    );
    assert_eq!(warnings, "");
    let warnings = Diff::new("micro_transmitter")
        .cycles(3000)
        .run(Transmitter::default(), drive!(clock, reset, start, command, memory_data, m_ready));
    assert_eq!(warnings, "");
}

#[test]
fn small_parts_diff() {
    let warnings = Diff::new("micro_bursts").cycles(2000).run(
        Bursts::default(),
        drive!(
            clock,
            reset,
            set_address,
            begin_read,
            begin_write,
            command,
            s_w_data,
            s_w_strobe,
            s_w_valid,
            r_taken,
            aw_ready,
            ar_ready,
            w_ready,
            r_error
        ),
    );
    assert_eq!(warnings, "");
    let warnings = Diff::new("micro_lite").cycles(2000).run(
        Lite::default(),
        drive!(
            clock,
            reset,
            aw_valid,
            w_valid,
            ar_valid,
            b_ready,
            r_ready,
            answer_write,
            answer_read,
            refuse_read,
            value
        ),
    );
    assert_eq!(warnings, "");
    let warnings = Diff::new("micro_events")
        .cycles(2000)
        .run(EventFifo::<16, 15, 5>::default(), drive!(clock, reset, s_code, s_valid, m_ready));
    assert_eq!(warnings, "");
}

/// No event is lost or changed while there is room, and they come in order.
#[test]
fn event_fifo_keeps_order() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut bench = Bench::new(Box::new(EventFifo::<16, 15, 5>::default()), |f| &mut f.clock);
    let mut held = std::collections::VecDeque::new();
    let mut full = 0;
    for cycle in 0..3000 {
        let busy = cycle / 300 % 2 == 0;
        let code: u64 = rng.gen_range(0..16);
        let f = &mut bench.uut;
        f.reset.next = cycle < 2;
        f.s_code.next = code.to_bits();
        f.s_valid.next = cycle >= 2 && rng.gen_bool(if busy { 0.7 } else { 0.3 });
        f.m_ready.next = rng.gen_bool(if busy { 0.3 } else { 0.7 });
        bench.settle();
        let f = &bench.uut;
        if cycle >= 2 {
            assert_eq!(f.m_valid.val(), !held.is_empty());
            assert_eq!(f.s_ready.val(), held.len() < 16);
            full += usize::from(held.len() == 16);
            if f.m_valid.val() {
                assert_eq!(held.front(), Some(&f.m_code.val().to_u64()));
                if f.m_ready.val() {
                    held.pop_front();
                }
            }
            if f.s_valid.val() && f.s_ready.val() {
                held.push_back(code);
            }
        }
        bench.edge();
    }
    assert!(full > 20, "{full}");
}

/// The whole engine's text is what its Rust simulation is.
#[test]
fn engine_diff() {
    let config = Config::preset("cu").unwrap();
    let program = verbena_spec::micro::program::program().unwrap_or_else(|e| panic!("{e}"));
    let warnings = Diff::new("micro_engine").cycles(1500).run(
        HcaMicro::new(&config, &program.words),
        drive!(
            clk,
            rst,
            s_axis_mac_rx_tdata,
            s_axis_mac_rx_tkeep,
            s_axis_mac_rx_tvalid,
            s_axis_mac_rx_tlast,
            s_axis_mac_rx_tuser,
            m_axis_mac_tx_tready,
            m_axis_host_rx_tready,
            s_axis_host_tx_tdata,
            s_axis_host_tx_tkeep,
            s_axis_host_tx_tvalid,
            s_axis_host_tx_tlast,
            m_axi_awready,
            m_axi_wready,
            m_axi_bid,
            m_axi_bresp,
            m_axi_bvalid,
            m_axi_arready,
            m_axi_rid,
            m_axi_rdata,
            m_axi_rresp,
            m_axi_rlast,
            m_axi_rvalid,
            s_axil_awaddr,
            s_axil_awvalid,
            s_axil_wdata,
            s_axil_wstrb,
            s_axil_wvalid,
            s_axil_bready,
            s_axil_araddr,
            s_axil_arvalid,
            s_axil_rready
        ),
    );
    assert_eq!(warnings, "");
}
