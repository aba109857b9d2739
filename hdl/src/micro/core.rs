// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core: program counter, accumulator, memory, ports.
//!
//! ```text
//!         ┌──────────────── next address ◄── branch, stack ◄──────────┐
//!         ▼                                                           │
//!  program: RAM, logic ─► instr. ─► memory address ─► memory ─┐       │ Z, T, bits of A
//!                   │ ▲ inc of a counter                   ▼          │
//!                   │ └── event             A, port ─► operand ─► LaneUnit ─► held ─► Alu ─► A, Z, T
//!                   └──► port number                                  └─► memory, W
//!  cycle:            first                          second                     first of the next
//! ```
//!
//! Two cycles an instruction; three in the program's upper half, which is logic behind a register instead of RAM: the logic works in the first. The adder works in the first cycle of the next instruction, which looks at A, Z and T only in its second: nobody
//! sees it, and no path goes through lane unit and adder. What can't be done yet is tried again every two. Counter events slip in between as an
//! `inc` that touches nothing else.
//! While `hold` is high the memory's read port belongs to `steal_address`, and no instruction goes on. Contract: `docs/stations/micro.md`.

use super::{Alu, LaneUnit, Stack};
use crate::prim::{LogicRom, Rom, SdpRam};
use rust_hdl::prelude::*;
use verbena_spec::micro::isa;

/// The core of the small preset.
#[derive(LogicBlock)]
pub struct Core {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A counter of page 0 goes up by one.
    pub event_valid: Signal<In, Bit>,
    pub event_code: Signal<In, Bits<4>>,
    pub event_ready: Signal<Out, Bit>,
    /// The port that is read; `in_valid` that it has something; one cycle of `in_take`: it was taken.
    pub in_port: Signal<Out, Bits<4>>,
    pub in_data: Signal<In, Bits<32>>,
    pub in_valid: Signal<In, Bit>,
    pub in_take: Signal<Out, Bit>,
    /// The port will be taken as soon as it has something: does not depend on `in_valid`.
    pub in_want: Signal<Out, Bit>,
    /// One cycle: `out_data` goes to the port, if `out_ready`.
    pub out_port: Signal<Out, Bits<5>>,
    pub out_data: Signal<Out, Bits<32>>,
    pub out_valid: Signal<Out, Bit>,
    pub out_ready: Signal<In, Bit>,
    /// A word of write data; only given when `w_ready`.
    pub w_data: Signal<Out, Bits<32>>,
    pub w_strobe: Signal<Out, Bits<4>>,
    pub w_valid: Signal<Out, Bit>,
    pub w_ready: Signal<In, Bit>,
    pub hold: Signal<In, Bit>,
    pub steal_address: Signal<In, Bits<9>>,
    pub memory_data: Signal<Out, Bits<32>>,
    /// A word that is written at Y, for the slots of early packets.
    pub slot_write: Signal<Out, Bit>,
    pub slot_address: Signal<Out, Bits<9>>,
    pub slot_data: Signal<Out, Bits<32>>,
    instructions: Rom<11, 20>,
    upper: LogicRom<9, 20>,
    memory: SdpRam<9, 32>,
    stack: Stack<12, 6, 5>,
    lanes: LaneUnit,
    alu: Alu,
    pc: DFF<Bits<12>>,
    a: DFF<Bits<32>>,
    t: DFF<Bit>,
    /// Each bit: four bits of the last result are 0.
    zeros: DFF<Bits<8>>,
    x: DFF<Bits<3>>,
    y: DFF<Bits<9>>,
    /// What is written at Y goes to the slots.
    to_slots: DFF<Bit>,
    count: DFF<Bits<8>>,
    shift: DFF<Bits<2>>,
    strobes: DFF<Bits<4>>,
    /// The first instruction is being fetched.
    starting: DFF<Bit>,
    second: DFF<Bit>,
    /// An instruction of the upper half stands in its register.
    settled: DFF<Bit>,
    /// What the adder works on, the cycle after an instruction that computes.
    held_x: DFF<Bits<32>>,
    held_op: DFF<Bits<4>>,
    computing: DFF<Bit>,
    /// This instruction is an event's.
    slip: DFF<Bit>,

    word: Signal<Local, Bits<20>>,
    op: Signal<Local, Bits<4>>,
    is_branch: Signal<Local, Bit>,
    from_memory: Signal<Local, Bit>,
    from_value: Signal<Local, Bit>,
    from_port: Signal<Local, Bit>,
    is_st: Signal<Local, Bit>,
    is_inc: Signal<Local, Bit>,
    is_mv: Signal<Local, Bit>,
    is_ret: Signal<Local, Bit>,
    computes: Signal<Local, Bit>,
    at_y: Signal<Local, Bit>,
    real_port: Signal<Local, Bit>,
    reads_port: Signal<Local, Bit>,
    writes_port: Signal<Local, Bit>,
    writes_w: Signal<Local, Bit>,
    port_5: Signal<Local, Bits<5>>,
    place: Signal<Local, Bits<9>>,
    operand: Signal<Local, Bits<32>>,
    turn_right: Signal<Local, Bits<2>>,
    turn: Signal<Local, Bits<2>>,
    empty: Signal<Local, Bit>,
    can: Signal<Local, Bit>,
    act: Signal<Local, Bit>,
    jump: Signal<Local, Bit>,
    tested: Signal<Local, Bit>,
    zero: Signal<Local, Bit>,
    pc_after: Signal<Local, Bits<12>>,
    target: Signal<Local, Bits<12>>,
    next: Signal<Local, Bits<12>>,
    new_word: Signal<Local, Bits<32>>,
    stores: Signal<Local, Bit>,
    nibbles: Signal<Local, Bits<8>>,
    result: Signal<Local, Bits<32>>,
}

impl Core {
    /// A core with its program.
    pub fn new(program: &[u32]) -> Self {
        let (lower, upper) = program.split_at(program.len().min(1 << isa::LOWER_LOG));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            in_port: Default::default(),
            in_data: Default::default(),
            in_valid: Default::default(),
            in_take: Default::default(),
            in_want: Default::default(),
            out_port: Default::default(),
            out_data: Default::default(),
            out_valid: Default::default(),
            out_ready: Default::default(),
            w_data: Default::default(),
            w_strobe: Default::default(),
            w_valid: Default::default(),
            w_ready: Default::default(),
            hold: Default::default(),
            steal_address: Default::default(),
            memory_data: Default::default(),
            slot_write: Default::default(),
            slot_address: Default::default(),
            slot_data: Default::default(),
            instructions: Rom::new(lower),
            upper: LogicRom::new(upper),
            memory: Default::default(),
            stack: Default::default(),
            lanes: Default::default(),
            alu: Default::default(),
            pc: Default::default(),
            a: Default::default(),
            t: Default::default(),
            zeros: Default::default(),
            x: Default::default(),
            y: Default::default(),
            to_slots: Default::default(),
            count: Default::default(),
            shift: Default::default(),
            strobes: Default::default(),
            starting: Default::default(),
            second: Default::default(),
            settled: Default::default(),
            held_x: Default::default(),
            held_op: Default::default(),
            computing: Default::default(),
            slip: Default::default(),
            word: Default::default(),
            op: Default::default(),
            is_branch: Default::default(),
            from_memory: Default::default(),
            from_value: Default::default(),
            from_port: Default::default(),
            is_st: Default::default(),
            is_inc: Default::default(),
            is_mv: Default::default(),
            is_ret: Default::default(),
            computes: Default::default(),
            at_y: Default::default(),
            real_port: Default::default(),
            reads_port: Default::default(),
            writes_port: Default::default(),
            writes_w: Default::default(),
            port_5: Default::default(),
            place: Default::default(),
            operand: Default::default(),
            turn_right: Default::default(),
            turn: Default::default(),
            empty: Default::default(),
            can: Default::default(),
            act: Default::default(),
            jump: Default::default(),
            tested: Default::default(),
            zero: Default::default(),
            pc_after: Default::default(),
            target: Default::default(),
            next: Default::default(),
            new_word: Default::default(),
            stores: Default::default(),
            nibbles: Default::default(),
            result: Default::default(),
        }
    }
}

impl Logic for Core {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, pc, a, t, zeros, x, y, to_slots, count, shift, strobes, starting, second, settled, held_x, held_op, computing,
            slip
        );
        clock!(self, clock, instructions, upper, memory, stack);

        // The instruction, and what it is.
        self.upper.read_address.next = self.pc.q.val().get_bits::<9>(0);
        self.word.next = self.instructions.read_data.val();
        if self.pc.q.val().get_bit(11) {
            self.word.next = self.upper.read_data.val();
        }
        if self.slip.q.val() {
            // inc of word 30 + code.
            self.word.next = bit_cast::<20, 4>(self.event_code.val()) | 0x68630;
        }
        self.op.next = self.word.val().get_bits::<4>(15);
        self.is_branch.next = self.word.val().get_bit(19);
        self.from_memory.next = !self.word.val().get_bit(14) & !self.word.val().get_bit(13);
        self.from_value.next = !self.word.val().get_bit(14) & self.word.val().get_bit(13);
        self.from_port.next = self.word.val().get_bit(14) & !self.word.val().get_bit(13) & !self.is_branch.val();
        self.is_st.next = false;
        self.is_inc.next = false;
        self.is_mv.next = false;
        self.computes.next = false;
        if !self.is_branch.val() {
            match self.op.val().index() {
                12 => {
                    self.is_st.next = true;
                }
                13 => {
                    self.is_inc.next = true;
                }
                14 => {
                    self.is_mv.next = self.from_port.val();
                }
                _ => {
                    self.computes.next = true;
                }
            }
        }
        self.at_y.next = self.from_port.val() & self.word.val().get_bit(8) & !self.is_mv.val();
        self.real_port.next = self.from_port.val() & (!self.word.val().get_bit(8) | self.is_mv.val());
        self.reads_port.next = self.real_port.val() & (self.computes.val() | self.is_mv.val());
        self.writes_port.next = self.real_port.val() & self.is_st.val();
        self.port_5.next = self.word.val().get_bits::<5>(0);

        // First cycle: the memory word. Second: it is there.
        self.place.next = self.word.val().get_bits::<9>(0);
        if self.word.val().get_bit(8) & self.word.val().get_bit(7) & self.word.val().get_bit(6) {
            self.place.next = bit_cast::<9, 6>(self.word.val().get_bits::<6>(0)) | (bit_cast::<9, 3>(self.x.q.val()) << 6);
        }
        if self.from_port.val() {
            self.place.next = self.y.q.val();
        }
        self.memory.read_enable.next = true;
        self.memory.read_address.next = self.place.val();
        if self.hold.val() {
            self.memory.read_address.next = self.steal_address.val();
        }
        self.memory_data.next = self.memory.read_data.val();

        // Operand and lane.
        self.in_port.next = self.word.val().get_bits::<4>(0);
        self.operand.next = self.memory.read_data.val();
        if self.from_value.val() {
            self.operand.next = bit_cast::<32, 11>(self.word.val().get_bits::<11>(0));
        }
        if self.real_port.val() {
            self.operand.next = self.in_data.val();
        }
        if self.is_st.val() | (self.word.val().get_bit(14) & self.word.val().get_bit(13)) {
            self.operand.next = self.a.q.val();
        }
        if self.is_st.val() & self.from_value.val() {
            self.operand.next = 0.into();
        }
        self.lanes.word.next = self.operand.val();
        self.lanes.first.next = self.word.val().get_bits::<2>(11);
        self.turn_right.next = self.word.val().get_bits::<2>(11);
        if self.is_mv.val() {
            self.lanes.first.next = self.shift.q.val();
            self.turn_right.next = self.shift.q.val();
        }
        self.turn.next = self.turn_right.val();
        if self.is_mv.val() | self.is_st.val() | self.from_value.val() {
            self.turn.next = !self.turn_right.val() + 1;
        }
        self.lanes.turn.next = self.turn.val();
        self.lanes.size.next = self.word.val().get_bits::<2>(9);
        self.lanes.whole.next = self.from_value.val() & !self.is_st.val();
        self.lanes.upper.next = self.is_mv.val();
        self.lanes.base.next = self.memory.read_data.val();
        if self.is_mv.val() {
            self.lanes.base.next = self.a.q.val();
        }
        self.held_op.d.next = self.op.val();
        self.held_x.d.next = self.lanes.x.val();
        self.alu.op.next = self.held_op.q.val();
        self.alu.a.next = self.a.q.val();
        self.alu.x.next = self.held_x.q.val();
        self.alu.t.next = self.t.q.val();

        // Whether it can be done.
        self.empty.next = self.is_mv.val() & self.word.val().get_bit(6) & !self.count.q.val().any();
        self.writes_w.next = (self.writes_port.val() & (self.port_5.val() == 9)) | (self.is_mv.val() & self.word.val().get_bit(4));
        self.can.next = true;
        // A repeated `mv` that is over waits for nothing.
        if self.reads_port.val() & !self.in_valid.val() & !self.empty.val() {
            self.can.next = false;
        }
        if self.writes_port.val() & !self.out_ready.val() {
            self.can.next = false;
        }
        if self.writes_w.val() & !self.w_ready.val() & !self.empty.val() {
            self.can.next = false;
        }
        self.act.next = self.second.q.val() & self.can.val() & !self.empty.val();
        self.in_take.next = self.act.val() & self.reads_port.val();
        self.in_want.next = self.second.q.val() & self.reads_port.val() & !self.empty.val() & (!self.writes_w.val() | self.w_ready.val());
        self.out_port.next = self.port_5.val();
        self.out_data.next = self.a.q.val();
        self.out_valid.next = self.act.val() & self.writes_port.val();
        self.w_valid.next = self.act.val() & self.writes_w.val();
        self.w_data.next = self.a.q.val();
        if self.is_mv.val() {
            self.w_data.next = self.lanes.merged.val();
        }
        self.w_strobe.next = self.strobes.q.val();

        // The memory's new word.
        self.memory.write_address.next = self.place.val();
        self.new_word.next = self.lanes.merged.val();
        if self.is_inc.val() {
            self.new_word.next = self.memory.read_data.val() + 1;
        }
        self.memory.write_data.next = self.new_word.val();
        self.slot_data.next = self.new_word.val();
        self.slot_address.next = self.y.q.val();
        self.stores.next = self.act.val()
            & ((self.is_st.val() & self.from_value.val())
                | ((self.is_st.val() | self.is_inc.val()) & (self.from_memory.val() | self.at_y.val()))
                | (self.is_mv.val() & self.word.val().get_bit(5)));
        self.memory.write_enable.next = self.stores.val() & !(self.from_port.val() & self.to_slots.q.val());
        self.slot_write.next = self.stores.val() & self.from_port.val() & self.to_slots.q.val();

        // Accumulator and flags, a cycle later.
        self.computing.d.next = self.act.val() & self.computes.val();
        self.result.next = self.alu.result.val();
        self.nibbles.next = 0.into();
        for i in 0..8 {
            if !self.result.val().get_bits::<4>(4 * i).any() {
                self.nibbles.next = self.nibbles.val() | (1 << i);
            }
        }
        if self.computing.q.val() {
            self.zeros.d.next = self.nibbles.val();
            if (self.held_op.q.val() != 5) & (self.held_op.q.val() != 10) {
                self.a.d.next = self.result.val();
            }
            if (self.held_op.q.val() >= 6) & (self.held_op.q.val() != 15) {
                self.t.d.next = self.alu.carry.val();
            }
        }
        if self.act.val() & self.is_mv.val() {
            self.a.d.next = self.lanes.rotated.val();
        }

        // Registers.
        if self.act.val() & ((self.at_y.val() & self.word.val().get_bit(7)) | (self.is_mv.val() & self.word.val().get_bit(5))) {
            self.y.d.next = self.y.q.val() + 1;
        }
        if self.act.val() & self.is_mv.val() & self.word.val().get_bit(6) {
            self.count.d.next = self.count.q.val() - 1;
        }
        if self.out_valid.val() {
            match self.port_5.val().index() {
                0 => {
                    self.x.d.next = self.a.q.val().get_bits::<3>(0);
                }
                1 => {
                    self.y.d.next = self.a.q.val().get_bits::<9>(0);
                    self.to_slots.d.next = self.a.q.val().get_bit(9);
                }
                2 => {
                    self.count.d.next = self.a.q.val().get_bits::<8>(0);
                }
                3 => {
                    self.shift.d.next = self.a.q.val().get_bits::<2>(0);
                    self.strobes.d.next = self.a.q.val().get_bits::<4>(4);
                }
                _ => {}
            }
        }

        // Where to.
        self.zero.next = self.zeros.q.val().all();
        self.tested.next = self.a.q.val().get_bit(self.word.val().get_bits::<5>(11).index());
        // Bit 13 of a branch is its target's bit 11, but for those that test a bit of A: they stay in their half.
        self.target.next =
            bit_cast::<12, 11>(self.word.val().get_bits::<11>(0)) | (bit_cast::<12, 1>(self.word.val().get_bit(13).into()) << 11);
        if self.word.val().get_bit(18) & self.word.val().get_bit(17) {
            self.target.next =
                bit_cast::<12, 11>(self.word.val().get_bits::<11>(0)) | (bit_cast::<12, 1>(self.pc.q.val().get_bit(11).into()) << 11);
        }
        self.jump.next = false;
        self.is_ret.next = false;
        match self.word.val().get_bits::<3>(16).index() {
            0 => {
                self.jump.next = true;
                self.is_ret.next = self.is_branch.val() & self.word.val().get_bit(12);
                if self.word.val().get_bit(11) {
                    self.target.next = bit_cast::<12, 11>(self.word.val().get_bits::<11>(0))
                        | (bit_cast::<12, 1>(self.word.val().get_bit(13).into()) << 11)
                        | bit_cast::<12, 6>(self.a.q.val().get_bits::<6>(0));
                }
            }
            1 => {
                self.jump.next = true;
            }
            2 => {
                self.jump.next = self.zero.val();
            }
            3 => {
                self.jump.next = !self.zero.val();
            }
            4 => {
                self.jump.next = self.t.q.val();
            }
            5 => {
                self.jump.next = !self.t.q.val();
            }
            6 => {
                self.jump.next = self.tested.val();
            }
            _ => {
                self.jump.next = !self.tested.val();
            }
        }
        self.pc_after.next = self.pc.q.val() + 1;
        self.next.next = self.pc_after.val();
        if self.is_branch.val() & self.jump.val() {
            self.next.next = self.target.val();
        }
        if self.is_ret.val() & !self.slip.q.val() {
            self.next.next = self.stack.top.val();
        }
        if self.is_mv.val() & self.word.val().get_bit(6) & !self.empty.val() {
            self.next.next = self.pc.q.val();
        }
        if self.writes_port.val() & (self.port_5.val() == 14) & self.a.q.val().get_bit(4) {
            self.next.next = 0.into();
        }
        if !self.can.val() | self.slip.q.val() | self.starting.q.val() {
            self.next.next = self.pc.q.val();
        }
        self.stack.address.next = self.pc_after.val();
        self.stack.push.next = self.act.val() & !self.slip.q.val() & self.is_branch.val() & (self.word.val().get_bits::<3>(16) == 1);
        self.stack.pop.next = self.act.val() & self.is_ret.val();

        // Steps.
        self.instructions.read_enable.next = self.starting.q.val() | (self.second.q.val() & !self.slip.q.val());
        self.instructions.read_address.next = self.next.val().get_bits::<11>(0);
        self.event_ready.next = self.second.q.val() & self.slip.q.val();
        self.starting.d.next = false;
        self.settled.d.next = !self.second.q.val();
        self.second.d.next =
            !self.second.q.val() & !self.starting.q.val() & !self.hold.val() & (self.settled.q.val() | !self.pc.q.val().get_bit(11));
        if self.second.q.val() {
            self.pc.d.next = self.next.val();
            self.slip.d.next = self.event_valid.val() & !self.slip.q.val();
        }

        if self.reset.val() {
            self.starting.d.next = true;
            self.second.d.next = false;
            self.computing.d.next = false;
            self.slip.d.next = false;
            self.pc.d.next = 0.into();
        }
    }

    crate::block_name!("Microprogrammed core");
}
