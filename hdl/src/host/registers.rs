// SPDX-License-Identifier: MIT OR Apache-2.0
//! AXI4-Lite slave: registers, tables, doorbells, commands (`verbena_spec::registers`).
//!
//! ```text
//! s_aw, s_w ─┬─► address ─► AddressMap ─► target ─┬─► RegisterValues ─► enable, local_mac, gid, ...
//! s_ar ──────┘                                    ├─► file_*: counters and read-back (Counters)
//! s_b, s_r ◄── answer ◄── done, or SLVERR ◄───────┼─► qp_*, mr_*, mtt_*, cq_*, doorbells: streams
//!                                                 └─► command_*
//! ```
//!
//! One access at a time; reads and writes take turns. The slave waits for both AW and W and keeps them waiting until the access is
//! done, as AXI allows, so it holds neither. B follows the target's acceptance: 5 cycles from AW and W to B for a table or doorbell
//! whose station is free, 8 for a register; 9 from AR to R.
//!
//! SLVERR, with no effect: partial strobes, an address off its word, unmapped, an index beyond the preset's counts, the wrong
//! direction, COMMAND while busy, an SQ doorbell where there is no requester. Upper halves of doorbell values are ignored.

use super::{AddressMap, RegisterValues, Target};
use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::registers::{self, READ_BACK_ROW};

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum RegistersState {
    Idle,
    Decode,
    Act,
    Restart,
    File,
    Settle,
    Accept,
    Answer,
}

/// `GW`: 4 words for each GID of the preset.
#[derive(LogicBlock)]
pub struct Registers<const GW: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_aw_address: Signal<In, Bits<21>>,
    pub s_aw_valid: Signal<In, Bit>,
    pub s_aw_ready: Signal<Out, Bit>,
    pub s_w_data: Signal<In, Bits<32>>,
    pub s_w_strobe: Signal<In, Bits<4>>,
    pub s_w_valid: Signal<In, Bit>,
    pub s_w_ready: Signal<Out, Bit>,
    pub s_b_response: Signal<Out, Bits<2>>,
    pub s_b_valid: Signal<Out, Bit>,
    pub s_b_ready: Signal<In, Bit>,
    pub s_ar_address: Signal<In, Bits<21>>,
    pub s_ar_valid: Signal<In, Bit>,
    pub s_ar_ready: Signal<Out, Bit>,
    pub s_r_data: Signal<Out, Bits<32>>,
    pub s_r_response: Signal<Out, Bits<2>>,
    pub s_r_valid: Signal<Out, Bit>,
    pub s_r_ready: Signal<In, Bit>,
    // Values.
    pub enable: Signal<Out, Bit>,
    pub icrc_off: Signal<Out, Bit>,
    pub soft_reset: Signal<Out, Bit>,
    pub irq_enable: Signal<Out, Bit>,
    pub local_mac: Signal<Out, Bits<48>>,
    pub gid_valid: Signal<Out, Bits<4>>,
    pub gid_ipv6: Signal<Out, Bits<4>>,
    pub gid: Signal<Out, Bits<512>>,
    pub eq_base: Signal<Out, Bits<64>>,
    pub eq_control: Signal<Out, Bits<32>>,
    pub eq_consumer: Signal<Out, Bits<16>>,
    /// EQ_CONTROL is being written; held until ready, which comes when the old queue's writes have landed.
    pub eq_restart: Signal<Out, Bit>,
    pub eq_restart_ready: Signal<In, Bit>,
    pub eq_producer: Signal<In, Bits<16>>,
    pub tick: Signal<Out, Bits<32>>,
    /// Congestion control (R76): CNPs are sent, at most one a QP in so many us.
    pub notify: Signal<Out, Bit>,
    pub cnp_interval: Signal<Out, Bits<8>>,
    /// CNPs slow their QPs' requests; words 1 to 4 of the congestion row.
    pub react: Signal<Out, Bit>,
    pub rates: Signal<Out, Bits<32>>,
    pub increases: Signal<Out, Bits<32>>,
    pub times: Signal<Out, Bits<32>>,
    pub rate_bytes: Signal<Out, Bits<32>>,
    /// All tables are cleared.
    pub tables_ready: Signal<In, Bit>,
    /// A soft reset waits for open bursts.
    pub draining: Signal<In, Bit>,
    // Tables: held until ready.
    pub qp_valid: Signal<Out, Bit>,
    pub qp_address: Signal<Out, Bits<17>>,
    pub qp_data: Signal<Out, Bits<32>>,
    pub qp_ready: Signal<In, Bit>,
    pub mr_valid: Signal<Out, Bit>,
    pub mr_address: Signal<Out, Bits<15>>,
    pub mr_data: Signal<Out, Bits<32>>,
    pub mr_ready: Signal<In, Bit>,
    pub mtt_valid: Signal<Out, Bit>,
    pub mtt_address: Signal<Out, Bits<17>>,
    pub mtt_data: Signal<Out, Bits<32>>,
    pub mtt_ready: Signal<In, Bit>,
    pub cq_valid: Signal<Out, Bit>,
    pub cq_address: Signal<Out, Bits<14>>,
    pub cq_data: Signal<Out, Bits<32>>,
    pub cq_ready: Signal<In, Bit>,
    // Doorbells.
    pub sq_doorbell_valid: Signal<Out, Bit>,
    pub sq_doorbell_index: Signal<Out, Bits<12>>,
    pub sq_doorbell_producer: Signal<Out, Bits<16>>,
    pub sq_doorbell_ready: Signal<In, Bit>,
    pub rq_doorbell_valid: Signal<Out, Bit>,
    pub rq_doorbell_index: Signal<Out, Bits<12>>,
    pub rq_doorbell_producer: Signal<Out, Bits<16>>,
    pub rq_doorbell_ready: Signal<In, Bit>,
    pub cq_doorbell_valid: Signal<Out, Bit>,
    pub cq_doorbell_index: Signal<Out, Bits<12>>,
    /// 0 consumer, 1 arm.
    pub cq_doorbell_kind: Signal<Out, Bits<1>>,
    pub cq_doorbell_value: Signal<Out, Bits<16>>,
    pub cq_doorbell_ready: Signal<In, Bit>,
    // Command: held until done; results stay until the next.
    pub command_valid: Signal<Out, Bit>,
    pub command_operation: Signal<Out, Bits<4>>,
    pub command_index: Signal<Out, Bits<12>>,
    pub command_state: Signal<Out, Bits<4>>,
    pub command_done: Signal<In, Bit>,
    pub command_refused: Signal<In, Bit>,
    pub result0: Signal<In, Bits<32>>,
    pub result1: Signal<In, Bits<32>>,
    pub result2: Signal<In, Bits<32>>,
    // To `Counters`.
    pub file_valid: Signal<Out, Bit>,
    pub file_write: Signal<Out, Bit>,
    pub file_row: Signal<Out, Bits<7>>,
    pub file_data: Signal<Out, Bits<32>>,
    pub file_done: Signal<In, Bit>,
    pub half_data: Signal<In, Bits<16>>,
    pub half_strobe: Signal<In, Bit>,
    map: AddressMap,
    values: RegisterValues<GW>,
    state: DFF<RegistersState>,
    address: DFF<Bits<21>>,
    writing: DFF<Bit>,
    wrote: DFF<Bit>,
    target: DFF<Target>,
    failed: DFF<Bit>,
    data: DFF<Bits<32>>,
    busy: DFF<Bit>,
    refused: DFF<Bit>,
    operation: DFF<Bits<4>>,
    index: DFF<Bits<12>>,
    new_state: DFF<Bits<4>>,
    pick_id: DFF<Bit>,
    pick_version: DFF<Bit>,
    pick_capabilities: DFF<Bit>,
    pick_read_limits: DFF<Bit>,
    pick_status: DFF<Bit>,
    pick_command_status: DFF<Bit>,
    pick_result0: DFF<Bit>,
    pick_result1: DFF<Bit>,
    pick_result2: DFF<Bit>,
    pick_eq_producer: DFF<Bit>,
    pick_eq_consumer: DFF<Bit>,
    writes: DFF<Bit>,
    number: Signal<Local, Bits<6>>,
    deciding: Signal<Local, Bit>,
    live: Signal<Local, Bit>,
    live_data: Signal<Local, Bits<32>>,
    live_fixed: Signal<Local, Bits<32>>,
    live_status: Signal<Local, Bits<3>>,
    live_result0: Signal<Local, Bits<32>>,
    live_result1: Signal<Local, Bits<32>>,
    live_result2: Signal<Local, Bits<32>>,
    live_index: Signal<Local, Bits<16>>,
    shifted: Signal<Local, Bits<32>>,
    write_ready: Signal<Local, Bit>,
    choose_write: Signal<Local, Bit>,
    act: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    beyond: Signal<Local, Bits<12>>,
    is_id: Constant<Bits<6>>,
    is_version: Constant<Bits<6>>,
    is_capabilities: Constant<Bits<6>>,
    is_read_limits: Constant<Bits<6>>,
    is_status: Constant<Bits<6>>,
    is_command: Constant<Bits<6>>,
    is_command_status: Constant<Bits<6>>,
    is_result0: Constant<Bits<6>>,
    is_result1: Constant<Bits<6>>,
    is_result2: Constant<Bits<6>>,
    is_eq_control: Constant<Bits<6>>,
    is_eq_consumer: Constant<Bits<6>>,
    is_eq_producer: Constant<Bits<6>>,
    id: Constant<Bits<32>>,
    version: Constant<Bits<32>>,
    capabilities: Constant<Bits<32>>,
    read_limits: Constant<Bits<32>>,
    index_mask: Constant<Bits<12>>,
    ring_mask: Constant<Bits<16>>,
    result0_mask: Constant<Bits<32>>,
    result1_mask: Constant<Bits<32>>,
    result2_mask: Constant<Bits<32>>,
    read_back: Constant<Bits<7>>,
    okay: Constant<Bits<2>>,
    slave_error: Constant<Bits<2>>,
    all_strobes: Constant<Bits<4>>,
}

/// A register's number.
fn number(address: u32) -> Constant<Bits<6>> {
    Constant::new((address as u64 / 4).to_bits())
}

/// A 32-bit constant.
fn word(value: u32) -> Constant<Bits<32>> {
    Constant::new((value as u64).to_bits())
}

/// Reset value by the table.
fn fixed(address: u32, config: &Config) -> Constant<Bits<32>> {
    word(registers::REGISTERS[address as usize / 4].reset_value(config))
}

impl<const GW: usize> Registers<GW> {
    pub fn new(config: &Config) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_aw_address: Default::default(),
            s_aw_valid: Default::default(),
            s_aw_ready: Default::default(),
            s_w_data: Default::default(),
            s_w_strobe: Default::default(),
            s_w_valid: Default::default(),
            s_w_ready: Default::default(),
            s_b_response: Default::default(),
            s_b_valid: Default::default(),
            s_b_ready: Default::default(),
            s_ar_address: Default::default(),
            s_ar_valid: Default::default(),
            s_ar_ready: Default::default(),
            s_r_data: Default::default(),
            s_r_response: Default::default(),
            s_r_valid: Default::default(),
            s_r_ready: Default::default(),
            enable: Default::default(),
            icrc_off: Default::default(),
            soft_reset: Default::default(),
            irq_enable: Default::default(),
            local_mac: Default::default(),
            gid_valid: Default::default(),
            gid_ipv6: Default::default(),
            gid: Default::default(),
            eq_base: Default::default(),
            eq_control: Default::default(),
            eq_consumer: Default::default(),
            eq_restart: Default::default(),
            eq_restart_ready: Default::default(),
            eq_producer: Default::default(),
            tick: Default::default(),
            notify: Default::default(),
            cnp_interval: Default::default(),
            react: Default::default(),
            rates: Default::default(),
            increases: Default::default(),
            times: Default::default(),
            rate_bytes: Default::default(),
            tables_ready: Default::default(),
            draining: Default::default(),
            qp_valid: Default::default(),
            qp_address: Default::default(),
            qp_data: Default::default(),
            qp_ready: Default::default(),
            mr_valid: Default::default(),
            mr_address: Default::default(),
            mr_data: Default::default(),
            mr_ready: Default::default(),
            mtt_valid: Default::default(),
            mtt_address: Default::default(),
            mtt_data: Default::default(),
            mtt_ready: Default::default(),
            cq_valid: Default::default(),
            cq_address: Default::default(),
            cq_data: Default::default(),
            cq_ready: Default::default(),
            sq_doorbell_valid: Default::default(),
            sq_doorbell_index: Default::default(),
            sq_doorbell_producer: Default::default(),
            sq_doorbell_ready: Default::default(),
            rq_doorbell_valid: Default::default(),
            rq_doorbell_index: Default::default(),
            rq_doorbell_producer: Default::default(),
            rq_doorbell_ready: Default::default(),
            cq_doorbell_valid: Default::default(),
            cq_doorbell_index: Default::default(),
            cq_doorbell_kind: Default::default(),
            cq_doorbell_value: Default::default(),
            cq_doorbell_ready: Default::default(),
            command_valid: Default::default(),
            command_operation: Default::default(),
            command_index: Default::default(),
            command_state: Default::default(),
            command_done: Default::default(),
            command_refused: Default::default(),
            result0: Default::default(),
            result1: Default::default(),
            result2: Default::default(),
            file_valid: Default::default(),
            file_write: Default::default(),
            file_row: Default::default(),
            file_data: Default::default(),
            file_done: Default::default(),
            half_data: Default::default(),
            half_strobe: Default::default(),
            state: Default::default(),
            address: Default::default(),
            writing: Default::default(),
            wrote: Default::default(),
            target: Default::default(),
            failed: Default::default(),
            data: Default::default(),
            busy: Default::default(),
            refused: Default::default(),
            operation: Default::default(),
            index: Default::default(),
            new_state: Default::default(),
            pick_id: Default::default(),
            pick_version: Default::default(),
            pick_capabilities: Default::default(),
            pick_read_limits: Default::default(),
            pick_status: Default::default(),
            pick_command_status: Default::default(),
            pick_result0: Default::default(),
            pick_result1: Default::default(),
            pick_result2: Default::default(),
            pick_eq_producer: Default::default(),
            pick_eq_consumer: Default::default(),
            writes: Default::default(),
            number: Default::default(),
            deciding: Default::default(),
            live: Default::default(),
            live_data: Default::default(),
            live_fixed: Default::default(),
            live_status: Default::default(),
            live_result0: Default::default(),
            live_result1: Default::default(),
            live_result2: Default::default(),
            live_index: Default::default(),
            shifted: Default::default(),
            write_ready: Default::default(),
            choose_write: Default::default(),
            act: Default::default(),
            accepted: Default::default(),
            beyond: Default::default(),
            map: AddressMap::new(config),
            values: RegisterValues::new(config),
            is_id: number(registers::ID),
            is_version: number(registers::VERSION),
            is_capabilities: number(registers::CAPABILITIES),
            is_read_limits: number(registers::READ_LIMITS),
            is_status: number(registers::STATUS),
            is_command: number(registers::COMMAND),
            is_command_status: number(registers::COMMAND_STATUS),
            is_result0: number(registers::RESULT_0),
            is_result1: number(registers::RESULT_1),
            is_result2: number(registers::RESULT_2),
            is_eq_control: number(registers::EQ_CONTROL),
            is_eq_consumer: number(registers::EQ_CONSUMER),
            is_eq_producer: number(registers::EQ_PRODUCER),
            id: fixed(registers::ID, config),
            version: fixed(registers::VERSION, config),
            capabilities: fixed(registers::CAPABILITIES, config),
            read_limits: fixed(registers::READ_LIMITS, config),
            index_mask: Constant::new((!(config.n_qps as u64 - 1) & 0xfff).to_bits()),
            ring_mask: Constant::new(config.index_mask().to_bits()),
            result0_mask: word(0xffff_ff07),
            result1_mask: word(0x00ff_ffff),
            result2_mask: word(0xffff),
            read_back: Constant::new((READ_BACK_ROW as u64).to_bits()),
            okay: Constant::new(0.into()),
            slave_error: Constant::new(2.into()),
            all_strobes: Constant::new(15.into()),
        }
    }
}

impl<const GW: usize> Logic for Registers<GW> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, address, writing, wrote, target, failed, data, busy, refused, operation, index, new_state);
        dff_setup!(
            self,
            clock,
            pick_id,
            pick_version,
            pick_capabilities,
            pick_read_limits,
            pick_status,
            pick_command_status,
            pick_result0,
            pick_result1,
            pick_result2,
            pick_eq_producer,
            pick_eq_consumer,
            writes
        );
        clock!(self, clock, values);

        // Decode.
        self.map.address.next = self.address.q.val();
        self.map.write.next = self.writing.q.val();
        self.number.next = self.map.number.val();
        self.map.whole.next = self.s_w_strobe.val() == self.all_strobes.val();

        // Values.
        self.values.reset.next = self.reset.val();
        // A cycle after the decision; the master holds data and address.
        self.writes.d.next = false;
        self.values.write.next = self.writes.q.val();
        self.values.index.next = self.number.val();
        self.values.data.next = self.s_w_data.val();
        self.enable.next = self.values.enable.val();
        self.icrc_off.next = self.values.icrc_off.val();
        self.soft_reset.next = self.values.soft_reset.val();
        self.irq_enable.next = self.values.irq_enable.val();
        self.local_mac.next = self.values.local_mac.val();
        self.gid_valid.next = self.values.gid_valid.val();
        self.gid_ipv6.next = self.values.gid_ipv6.val();
        self.gid.next = self.values.gid.val();
        self.eq_base.next = self.values.eq_base.val();
        self.eq_control.next = self.values.eq_control.val();
        self.eq_consumer.next = self.values.eq_consumer.val();
        self.tick.next = self.values.tick.val();
        self.notify.next = self.values.notify.val();
        self.cnp_interval.next = self.values.cnp_interval.val();
        self.react.next = self.values.react.val();
        self.rates.next = self.values.rates.val();
        self.increases.next = self.values.increases.val();
        self.times.next = self.values.times.val();
        self.rate_bytes.next = self.values.rate_bytes.val();

        // Registers that aren't what software wrote, and the file's halves: each is zero unless picked, and all are put together. A pick
        // lasts for the first cycle of Act.
        self.deciding.next = self.state.q.val() == RegistersState::Decode;
        self.pick_id.d.next = self.deciding.val() & (self.number.val() == self.is_id.val());
        self.pick_version.d.next = self.deciding.val() & (self.number.val() == self.is_version.val());
        self.pick_capabilities.d.next = self.deciding.val() & (self.number.val() == self.is_capabilities.val());
        self.pick_read_limits.d.next = self.deciding.val() & (self.number.val() == self.is_read_limits.val());
        self.pick_status.d.next = self.deciding.val() & (self.number.val() == self.is_status.val());
        self.pick_command_status.d.next = self.deciding.val() & (self.number.val() == self.is_command_status.val());
        self.pick_result0.d.next = self.deciding.val() & (self.number.val() == self.is_result0.val());
        self.pick_result1.d.next = self.deciding.val() & (self.number.val() == self.is_result1.val());
        self.pick_result2.d.next = self.deciding.val() & (self.number.val() == self.is_result2.val());
        self.pick_eq_producer.d.next = self.deciding.val() & (self.number.val() == self.is_eq_producer.val());
        self.pick_eq_consumer.d.next = self.deciding.val() & (self.number.val() == self.is_eq_consumer.val());
        self.live.next = self.pick_id.q.val()
            | self.pick_version.q.val()
            | self.pick_capabilities.q.val()
            | self.pick_read_limits.q.val()
            | self.pick_status.q.val()
            | self.pick_command_status.q.val()
            | self.pick_result0.q.val()
            | self.pick_result1.q.val()
            | self.pick_result2.q.val()
            | self.pick_eq_producer.q.val()
            | self.pick_eq_consumer.q.val();
        self.live_fixed.next = 0.into();
        if self.pick_id.q.val() {
            self.live_fixed.next = self.id.val();
        }
        if self.pick_version.q.val() {
            self.live_fixed.next = self.version.val();
        }
        if self.pick_capabilities.q.val() {
            self.live_fixed.next = self.capabilities.val();
        }
        if self.pick_read_limits.q.val() {
            self.live_fixed.next = self.read_limits.val();
        }
        self.live_status.next = 0.into();
        if self.pick_status.q.val() {
            self.live_status.next = bit_cast::<3, 1>(self.tables_ready.val().into())
                | (bit_cast::<3, 1>(self.busy.q.val().into()) << 1)
                | (bit_cast::<3, 1>(self.draining.val().into()) << 2);
        }
        if self.pick_command_status.q.val() {
            self.live_status.next = bit_cast::<3, 1>(self.busy.q.val().into()) | (bit_cast::<3, 1>(self.refused.q.val().into()) << 1);
        }
        self.live_result0.next = 0.into();
        self.live_result1.next = 0.into();
        self.live_result2.next = 0.into();
        if self.pick_result0.q.val() {
            self.live_result0.next = self.result0.val() & self.result0_mask.val();
        }
        if self.pick_result1.q.val() {
            self.live_result1.next = self.result1.val() & self.result1_mask.val();
        }
        if self.pick_result2.q.val() {
            self.live_result2.next = self.result2.val() & self.result2_mask.val();
        }
        self.live_index.next = 0.into();
        if self.pick_eq_producer.q.val() {
            self.live_index.next = self.eq_producer.val() & self.ring_mask.val();
        }
        if self.pick_eq_consumer.q.val() {
            self.live_index.next = self.values.eq_consumer.val();
        }
        self.shifted.next = 0.into();
        if self.half_strobe.val() {
            self.shifted.next = bit_cast::<32, 16>(self.data.q.val().get_bits::<16>(16)) | (bit_cast::<32, 16>(self.half_data.val()) << 16);
        }
        self.live_data.next = self.live_fixed.val()
            | bit_cast::<32, 3>(self.live_status.val())
            | self.live_result0.val()
            | self.live_result1.val()
            | self.live_result2.val()
            | bit_cast::<32, 16>(self.live_index.val())
            | self.shifted.val();

        // Streams: address and data are held by the AXI master.
        self.act.next = (self.state.q.val() == RegistersState::Act) & self.writing.q.val();
        self.qp_valid.next = self.act.val() & (self.target.q.val() == Target::QueuePairRow);
        self.qp_address.next = self.address.q.val().get_bits::<17>(2);
        self.qp_data.next = self.s_w_data.val();
        self.mr_valid.next = self.act.val() & (self.target.q.val() == Target::RegionRow);
        self.mr_address.next = self.address.q.val().get_bits::<15>(2);
        self.mr_data.next = self.s_w_data.val();
        self.mtt_valid.next = self.act.val() & (self.target.q.val() == Target::TranslationRow);
        self.mtt_address.next = bit_cast::<17, 14>(self.address.q.val().get_bits::<14>(2));
        self.mtt_data.next = self.s_w_data.val();
        self.cq_valid.next = self.act.val() & (self.target.q.val() == Target::CompletionRow);
        self.cq_address.next = self.address.q.val().get_bits::<14>(2);
        self.cq_data.next = self.s_w_data.val();
        self.sq_doorbell_valid.next = self.act.val() & (self.target.q.val() == Target::SendDoorbell);
        self.sq_doorbell_index.next = self.address.q.val().get_bits::<12>(4);
        self.sq_doorbell_producer.next = self.s_w_data.val().get_bits::<16>(0);
        self.rq_doorbell_valid.next = self.act.val() & (self.target.q.val() == Target::ReceiveDoorbell);
        self.rq_doorbell_index.next = self.address.q.val().get_bits::<12>(4);
        self.rq_doorbell_producer.next = self.s_w_data.val().get_bits::<16>(0);
        self.cq_doorbell_valid.next = self.act.val() & (self.target.q.val() == Target::CompletionDoorbell);
        self.cq_doorbell_index.next = self.address.q.val().get_bits::<12>(4);
        self.cq_doorbell_kind.next = self.address.q.val().get_bits::<1>(2);
        self.cq_doorbell_value.next = self.s_w_data.val().get_bits::<16>(0);
        self.accepted.next = (self.qp_valid.val() & self.qp_ready.val())
            | (self.mr_valid.val() & self.mr_ready.val())
            | (self.mtt_valid.val() & self.mtt_ready.val())
            | (self.cq_valid.val() & self.cq_ready.val())
            | (self.sq_doorbell_valid.val() & self.sq_doorbell_ready.val())
            | (self.rq_doorbell_valid.val() & self.rq_doorbell_ready.val())
            | (self.cq_doorbell_valid.val() & self.cq_doorbell_ready.val());

        // Counters and read-back.
        self.file_valid.next = self.state.q.val() == RegistersState::File;
        self.file_write.next = self.writing.q.val();
        self.file_row.next = bit_cast::<7, 6>(self.number.val());
        if self.target.q.val() == Target::Register {
            self.file_row.next = bit_cast::<7, 6>(self.number.val()) | self.read_back.val();
        }
        self.file_data.next = self.s_w_data.val();
        if self.half_strobe.val() {
            self.data.d.next = self.live_data.val();
        }

        // Command.
        self.command_valid.next = self.busy.q.val();
        self.command_operation.next = self.operation.q.val();
        self.command_index.next = self.index.q.val();
        self.command_state.next = self.new_state.q.val();
        self.beyond.next = self.s_w_data.val().get_bits::<12>(0) & self.index_mask.val();
        if self.command_done.val() {
            self.busy.d.next = false;
            self.refused.d.next = self.command_refused.val();
        }

        // Answers.
        self.eq_restart.next = self.state.q.val() == RegistersState::Restart;
        self.s_aw_ready.next = (self.state.q.val() == RegistersState::Accept) & self.writing.q.val();
        self.s_w_ready.next = (self.state.q.val() == RegistersState::Accept) & self.writing.q.val();
        self.s_ar_ready.next = (self.state.q.val() == RegistersState::Accept) & !self.writing.q.val();
        self.s_b_valid.next = (self.state.q.val() == RegistersState::Answer) & self.writing.q.val();
        self.s_r_valid.next = (self.state.q.val() == RegistersState::Answer) & !self.writing.q.val();
        self.s_b_response.next = self.okay.val();
        if self.failed.q.val() {
            self.s_b_response.next = self.slave_error.val();
        }
        self.s_r_response.next = self.s_b_response.val();
        self.s_r_data.next = self.data.q.val();
        // Reads and writes take turns.
        self.write_ready.next = self.s_aw_valid.val() & self.s_w_valid.val();
        self.choose_write.next = self.write_ready.val() & !(self.wrote.q.val() & self.s_ar_valid.val());

        match self.state.q.val() {
            RegistersState::Idle => {
                self.failed.d.next = false;
                self.writing.d.next = self.choose_write.val();
                self.address.d.next = self.s_ar_address.val();
                if self.choose_write.val() {
                    self.address.d.next = self.s_aw_address.val();
                }
                if self.write_ready.val() | self.s_ar_valid.val() {
                    self.state.d.next = RegistersState::Decode;
                }
            }
            RegistersState::Decode => {
                self.wrote.d.next = self.writing.q.val();
                self.target.d.next = self.map.target.val();
                self.state.d.next = RegistersState::Act;
            }
            RegistersState::Act => match self.target.q.val() {
                Target::Nothing => {
                    self.failed.d.next = true;
                    self.state.d.next = RegistersState::Accept;
                }
                Target::Register => {
                    self.state.d.next = RegistersState::File;
                    if self.writing.q.val() {
                        if self.number.val() == self.is_command.val() {
                            self.state.d.next = RegistersState::Accept;
                            if self.busy.q.val() | self.beyond.val().any() {
                                self.failed.d.next = true;
                            } else {
                                self.busy.d.next = true;
                                self.operation.d.next = self.s_w_data.val().get_bits::<4>(28);
                                self.index.d.next = self.s_w_data.val().get_bits::<12>(0) & !self.index_mask.val();
                                self.new_state.d.next = self.s_w_data.val().get_bits::<4>(12);
                            }
                        } else if self.number.val() == self.is_eq_control.val() {
                            self.state.d.next = RegistersState::Restart;
                        } else {
                            self.writes.d.next = true;
                        }
                    } else {
                        if self.live.val() {
                            self.data.d.next = self.live_data.val();
                            self.state.d.next = RegistersState::Accept;
                        }
                    }
                }
                Target::Counter => {
                    self.state.d.next = RegistersState::File;
                }
                _ => {
                    if self.accepted.val() {
                        self.state.d.next = RegistersState::Accept;
                    }
                }
            },
            RegistersState::Restart => {
                if self.eq_restart_ready.val() {
                    self.writes.d.next = true;
                    self.state.d.next = RegistersState::File;
                }
            }
            RegistersState::File => {
                if self.file_done.val() {
                    self.state.d.next = RegistersState::Settle;
                }
            }
            // The second half of read data arrives.
            RegistersState::Settle => {
                self.state.d.next = RegistersState::Accept;
            }
            RegistersState::Accept => {
                self.state.d.next = RegistersState::Answer;
            }
            RegistersState::Answer => {
                if self.writing.q.val() {
                    if self.s_b_ready.val() {
                        self.state.d.next = RegistersState::Idle;
                    }
                } else {
                    if self.s_r_ready.val() {
                        self.state.d.next = RegistersState::Idle;
                    }
                }
            }
            _ => {
                self.state.d.next = RegistersState::Idle;
            }
        }

        if self.reset.val() {
            self.writes.d.next = false;
            self.state.d.next = RegistersState::Idle;
            self.busy.d.next = false;
            self.refused.d.next = false;
            self.wrote.d.next = false;
        }
    }

    crate::block_name!();
}
