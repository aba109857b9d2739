// SPDX-License-Identifier: MIT OR Apache-2.0
//! What software wrote to the registers, as the other stations need it. Reading back is the counter file's work (`counters.rs`), so
//! bits that no station looks at cost nothing: without IPv6 the first three words of a GID (they are ::ffff:0:0 then), address bits beyond
//! the preset's, the upper bits of ring indices and of a small engine's TICK.
//!
//! ```text
//! write, index, data ─► one register each ─► outputs
//! ```

use rust_hdl::prelude::*;
use verbena_spec::layout::congestion;
use verbena_spec::registers;

/// `GW` is 4 words for each GID of the preset.
#[derive(LogicBlock)]
pub struct RegisterValues<const GW: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    /// Byte address / 4; the congestion row's as `verbena_spec::registers` says.
    pub index: Signal<In, Bits<6>>,
    pub data: Signal<In, Bits<32>>,
    pub enable: Signal<Out, Bit>,
    pub icrc_off: Signal<Out, Bit>,
    pub soft_reset: Signal<Out, Bit>,
    pub irq_enable: Signal<Out, Bit>,
    pub local_mac: Signal<Out, Bits<48>>,
    pub gid_valid: Signal<Out, Bits<4>>,
    pub gid_ipv6: Signal<Out, Bits<4>>,
    /// GID 0 lowest; each a 128-bit number as read big-endian from the wire.
    pub gid: Signal<Out, Bits<512>>,
    pub eq_base: Signal<Out, Bits<64>>,
    pub eq_control: Signal<Out, Bits<32>>,
    pub eq_consumer: Signal<Out, Bits<16>>,
    pub tick: Signal<Out, Bits<32>>,
    pub notify: Signal<Out, Bit>,
    pub cnp_interval: Signal<Out, Bits<8>>,
    /// CNPs slow their QPs' requests; words 1 to 4 of the congestion row.
    pub react: Signal<Out, Bit>,
    pub rates: Signal<Out, Bits<32>>,
    pub increases: Signal<Out, Bits<32>>,
    pub times: Signal<Out, Bits<32>>,
    pub rate_bytes: Signal<Out, Bits<32>>,
    control: DFF<Bits<4>>,
    mac_low: DFF<Bits<32>>,
    mac_high: DFF<Bits<16>>,
    valid: DFF<Bits<8>>,
    gid_word: [DFF<Bits<32>>; GW],
    eq_base_low: DFF<Bits<32>>,
    eq_base_high: DFF<Bits<32>>,
    eq_log: DFF<Bits<4>>,
    eq_valid: DFF<Bit>,
    consumer: DFF<Bits<16>>,
    tick_value: DFF<Bits<32>>,
    notify_value: DFF<Bit>,
    cnp_interval_value: DFF<Bits<8>>,
    react_value: DFF<Bit>,
    rates_value: DFF<Bits<32>>,
    increases_value: DFF<Bits<32>>,
    times_value: DFF<Bits<32>>,
    rate_bytes_value: DFF<Bits<32>>,
    is_control: Constant<Bits<6>>,
    is_mac_low: Constant<Bits<6>>,
    is_mac_high: Constant<Bits<6>>,
    is_gid_valid: Constant<Bits<6>>,
    gid_first: Constant<Bits<6>>,
    gid_index: Signal<Local, Bits<6>>,
    gid_all: [Signal<Local, Bits<32>>; 16],
    gid_mask: Constant<Bits<4>>,
    ipv6_mask: Constant<Bits<4>>,
    gid_keep: [Constant<Bits<32>>; GW],
    gid_fixed: [Constant<Bits<32>>; GW],
    address_mask: Constant<Bits<64>>,
    index_mask: Constant<Bits<16>>,
    largest_log: Constant<Bits<4>>,
    tick_mask: Constant<Bits<32>>,
    is_eq_base_low: Constant<Bits<6>>,
    is_eq_base_high: Constant<Bits<6>>,
    is_eq_control: Constant<Bits<6>>,
    is_eq_consumer: Constant<Bits<6>>,
    is_tick: Constant<Bits<6>>,
    is_congestion: Constant<Bits<6>>,
    has_notification: Constant<Bit>,
    has_reaction: Constant<Bit>,
    is_rates: Constant<Bits<6>>,
    is_increases: Constant<Bits<6>>,
    is_times: Constant<Bits<6>>,
    is_rate_bytes: Constant<Bits<6>>,
    tick_reset: Constant<Bits<32>>,
}

/// A register's number.
fn number(address: u32) -> Constant<Bits<6>> {
    Constant::new((address as u64 / 4).to_bits())
}

/// A 32-bit constant.
fn word(value: u32) -> Constant<Bits<32>> {
    Constant::new((value as u64).to_bits())
}

impl<const GW: usize> RegisterValues<GW> {
    pub fn new(config: &verbena_spec::config::Config) -> Self {
        assert_eq!(GW, 4 * config.n_gids, "RegisterValues: GW must be 4 * n_gids");
        // The kernel's offsets in the congestion row.
        assert_eq!((congestion::NOTIFY.word, congestion::NOTIFY.low), (0, 0));
        assert_eq!((congestion::REACT.word, congestion::REACT.low), (0, 1));
        assert_eq!(
            (
                congestion::CNP_INTERVAL.word,
                congestion::CNP_INTERVAL.low,
                congestion::CNP_INTERVAL.bits
            ),
            (0, 8, 8)
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            write: Default::default(),
            index: Default::default(),
            data: Default::default(),
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
            tick: Default::default(),
            notify: Default::default(),
            cnp_interval: Default::default(),
            react: Default::default(),
            rates: Default::default(),
            increases: Default::default(),
            times: Default::default(),
            rate_bytes: Default::default(),
            control: Default::default(),
            mac_low: Default::default(),
            mac_high: Default::default(),
            valid: Default::default(),
            gid_word: std::array::from_fn(|_| Default::default()),
            eq_base_low: Default::default(),
            eq_base_high: Default::default(),
            eq_log: Default::default(),
            eq_valid: Default::default(),
            consumer: Default::default(),
            tick_value: Default::default(),
            notify_value: Default::default(),
            cnp_interval_value: Default::default(),
            react_value: Default::default(),
            rates_value: Default::default(),
            increases_value: Default::default(),
            times_value: Default::default(),
            rate_bytes_value: Default::default(),
            is_control: number(registers::CONTROL),
            is_mac_low: number(registers::MAC_LOW),
            is_mac_high: number(registers::MAC_HIGH),
            is_gid_valid: number(registers::GID_VALID),
            gid_first: number(registers::GID0_0),
            gid_index: Default::default(),
            gid_all: Default::default(),
            gid_mask: Constant::new(((1u64 << config.n_gids) - 1).to_bits()),
            ipv6_mask: Constant::new(if config.ipv6 { (1u64 << config.n_gids) - 1 } else { 0 }.to_bits()),
            gid_keep: std::array::from_fn(|i| word(if config.ipv6 || i % 4 == 3 { u32::MAX } else { 0 })),
            gid_fixed: std::array::from_fn(|i| word(if !config.ipv6 && i % 4 == 2 { 0xffff } else { 0 })),
            address_mask: Constant::new(config.address_mask().to_bits()),
            index_mask: Constant::new(config.index_mask().to_bits()),
            largest_log: Constant::new(config.ring_log.to_bits()),
            // Up to twice the preset's clock.
            tick_mask: word(if config.small() {
                2 * registers::tick(config).next_power_of_two() - 1
            } else {
                u32::MAX
            }),
            is_eq_base_low: number(registers::EQ_BASE_LOW),
            is_eq_base_high: number(registers::EQ_BASE_HIGH),
            is_eq_control: number(registers::EQ_CONTROL),
            is_eq_consumer: number(registers::EQ_CONSUMER),
            is_tick: number(registers::TICK),
            is_congestion: number(4 * registers::CONGESTION_NUMBER),
            has_notification: Constant::new(config.congestion_notification),
            has_reaction: Constant::new(config.reacts()),
            is_rates: number(4 * (registers::CONGESTION_NUMBER + 1)),
            is_increases: number(4 * (registers::CONGESTION_NUMBER + 2)),
            is_times: number(4 * (registers::CONGESTION_NUMBER + 3)),
            is_rate_bytes: number(4 * (registers::CONGESTION_NUMBER + 4)),
            tick_reset: Constant::new((registers::tick(config) as u64).to_bits()),
        }
    }
}

impl<const GW: usize> Logic for RegisterValues<GW> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            control,
            mac_low,
            mac_high,
            valid,
            eq_base_low,
            eq_base_high,
            eq_log,
            eq_valid,
            consumer,
            tick_value,
            notify_value,
            cnp_interval_value,
            react_value,
            rates_value,
            increases_value,
            times_value,
            rate_bytes_value
        );
        self.gid_index.next = self.index.val() - self.gid_first.val();
        for i in 0..16 {
            self.gid_all[i].next = 0.into();
        }
        for i in 0..GW {
            self.gid_word[i].clock.next = self.clock.val();
            self.gid_word[i].d.next = self.gid_word[i].q.val();
            if self.write.val() & (self.gid_index.val().index() == i) {
                self.gid_word[i].d.next = self.data.val() & self.gid_keep[i].val();
            }
            if self.reset.val() {
                self.gid_word[i].d.next = 0.into();
            }
            self.gid_all[i].next = self.gid_word[i].q.val() | self.gid_fixed[i].val();
        }

        self.enable.next = self.control.q.val().get_bit(0);
        self.icrc_off.next = self.control.q.val().get_bit(1);
        self.soft_reset.next = self.control.q.val().get_bit(2);
        self.irq_enable.next = self.control.q.val().get_bit(3);
        self.local_mac.next = bit_cast::<48, 32>(self.mac_low.q.val()) | (bit_cast::<48, 16>(self.mac_high.q.val()) << 32);
        self.gid_valid.next = self.valid.q.val().get_bits::<4>(0) & self.gid_mask.val();
        self.gid_ipv6.next = self.valid.q.val().get_bits::<4>(4) & self.ipv6_mask.val();
        // The first register of an entry holds the first bytes, the upper end of the number.
        self.gid.next = (bit_cast::<512, 32>(self.gid_all[0].val()) << 96)
            | (bit_cast::<512, 32>(self.gid_all[1].val()) << 64)
            | (bit_cast::<512, 32>(self.gid_all[2].val()) << 32)
            | bit_cast::<512, 32>(self.gid_all[3].val())
            | (bit_cast::<512, 32>(self.gid_all[4].val()) << 224)
            | (bit_cast::<512, 32>(self.gid_all[5].val()) << 192)
            | (bit_cast::<512, 32>(self.gid_all[6].val()) << 160)
            | (bit_cast::<512, 32>(self.gid_all[7].val()) << 128)
            | (bit_cast::<512, 32>(self.gid_all[8].val()) << 352)
            | (bit_cast::<512, 32>(self.gid_all[9].val()) << 320)
            | (bit_cast::<512, 32>(self.gid_all[10].val()) << 288)
            | (bit_cast::<512, 32>(self.gid_all[11].val()) << 256)
            | (bit_cast::<512, 32>(self.gid_all[12].val()) << 480)
            | (bit_cast::<512, 32>(self.gid_all[13].val()) << 448)
            | (bit_cast::<512, 32>(self.gid_all[14].val()) << 416)
            | (bit_cast::<512, 32>(self.gid_all[15].val()) << 384);
        self.eq_base.next = bit_cast::<64, 32>(self.eq_base_low.q.val()) | (bit_cast::<64, 32>(self.eq_base_high.q.val()) << 32);
        self.eq_control.next = bit_cast::<32, 4>(self.eq_log.q.val()) | (bit_cast::<32, 1>(self.eq_valid.q.val().into()) << 31);
        self.eq_consumer.next = self.consumer.q.val();
        self.tick.next = self.tick_value.q.val();
        self.notify.next = self.notify_value.q.val();
        self.cnp_interval.next = self.cnp_interval_value.q.val();
        self.react.next = self.react_value.q.val();
        self.rates.next = self.rates_value.q.val();
        self.increases.next = self.increases_value.q.val();
        self.times.next = self.times_value.q.val();
        self.rate_bytes.next = self.rate_bytes_value.q.val();

        if self.write.val() {
            if self.index.val() == self.is_control.val() {
                self.control.d.next = self.data.val().get_bits::<4>(0);
            }
            if self.index.val() == self.is_mac_low.val() {
                self.mac_low.d.next = self.data.val();
            }
            if self.index.val() == self.is_mac_high.val() {
                self.mac_high.d.next = self.data.val().get_bits::<16>(0);
            }
            if self.index.val() == self.is_gid_valid.val() {
                self.valid.d.next = self.data.val().get_bits::<8>(0);
            }
            if self.index.val() == self.is_eq_base_low.val() {
                self.eq_base_low.d.next = self.data.val() & self.address_mask.val().get_bits::<32>(0);
            }
            if self.index.val() == self.is_eq_base_high.val() {
                self.eq_base_high.d.next = self.data.val() & self.address_mask.val().get_bits::<32>(32);
            }
            if self.index.val() == self.is_eq_control.val() {
                // A restart: the consumer index is 0 again.
                self.eq_log.d.next = self.data.val().get_bits::<4>(0) & self.largest_log.val();
                // A ring larger than the preset's largest is none.
                self.eq_valid.d.next = self.data.val().get_bit(31) & !(self.data.val().get_bits::<4>(0) > self.largest_log.val());
                self.consumer.d.next = 0.into();
            }
            if self.index.val() == self.is_eq_consumer.val() {
                self.consumer.d.next = self.data.val().get_bits::<16>(0) & self.index_mask.val();
            }
            if self.index.val() == self.is_tick.val() {
                self.tick_value.d.next = self.data.val() & self.tick_mask.val();
            }
            if self.has_notification.val() & (self.index.val() == self.is_congestion.val()) {
                self.notify_value.d.next = self.data.val().get_bit(0);
                self.cnp_interval_value.d.next = self.data.val().get_bits::<8>(8);
            }
            if self.has_reaction.val() {
                if self.index.val() == self.is_congestion.val() {
                    self.react_value.d.next = self.data.val().get_bit(1);
                }
                if self.index.val() == self.is_rates.val() {
                    self.rates_value.d.next = self.data.val();
                }
                if self.index.val() == self.is_increases.val() {
                    self.increases_value.d.next = self.data.val();
                }
                if self.index.val() == self.is_times.val() {
                    self.times_value.d.next = self.data.val();
                }
                if self.index.val() == self.is_rate_bytes.val() {
                    self.rate_bytes_value.d.next = self.data.val();
                }
            }
        }

        if self.reset.val() {
            self.control.d.next = 0.into();
            self.mac_low.d.next = 0.into();
            self.mac_high.d.next = 0.into();
            self.valid.d.next = 0.into();
            self.eq_base_low.d.next = 0.into();
            self.eq_base_high.d.next = 0.into();
            self.eq_log.d.next = 0.into();
            self.eq_valid.d.next = false;
            self.consumer.d.next = 0.into();
            self.tick_value.d.next = self.tick_reset.val();
            self.notify_value.d.next = false;
            self.cnp_interval_value.d.next = 0.into();
            self.react_value.d.next = false;
            self.rates_value.d.next = 0.into();
            self.increases_value.d.next = 0.into();
            self.times_value.d.next = 0.into();
            self.rate_bytes_value.d.next = 0.into();
        }
    }

    crate::block_name!();
}
