// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine: every station, wired. Nothing is decided here.
//!
//! Ports carry the field's names (`docs/architecture.md`). AXI IDs: see `mem::WriteArbiter` and `mem::ReadArbiter`.
//! Bursts are INCR, whole beats.

use super::{RequesterSide, SoftReset, Split};
use crate::congestion::{NotificationPoint, ReactionPoint};
use crate::host::{CodeMerge, CompletionQueues, Counters, EventMerge, Registers};
use crate::mem::{DescriptorReader, DmaWriter, Keys, ReadArbiter, WriteArbiter};
use crate::prim::ResetCopy;
use crate::reorder::Reorder;
use crate::requester::CompleteConfig;
use crate::responder::{Control, EffectMerge, Features, Retire};
use crate::rx::Rx;
use crate::tx::Tx;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::counters;

/// Read ID of descriptor fetches.
pub const READ_ID_DESCRIPTOR: u64 = 1;
/// AXI burst type INCR.
const INCR: u64 = 1;

/// The engine. The parameters are the presets' sizes; use [`HcaTengig`] or [`HcaCu`].
///
/// | | |
/// |---|---|
/// | `W` | data bits |
/// | `K` | bytes of a beat, W/8 |
/// | `KB` | log2 K |
/// | `L` | words of a beat, W/32 |
/// | `BA` | log2 ring beats |
/// | `RD` | ring RAM bits |
/// | `R` | log2 heads |
/// | `RB` | R + 1 |
/// | `HR` | R + 4 |
/// | `HA` | log2 host FIFO beats |
/// | `HD` | host FIFO RAM bits |
/// | `G` | GIDs |
/// | `D` | verdict delay |
/// | `QA` | log2 QPs |
/// | `QR` | QA + 5 |
/// | `SA` | receive-state words, log2 |
/// | `SC` | SA + 1 |
/// | `MA` | log2 MRs |
/// | `MR` | MA + 3 |
/// | `TA` | log2 MTT entries, 1: none |
/// | `RQ` | retire: FIFOs |
/// | `RH` | retire: registers |
/// | `RA` | log2 retire entries |
/// | `RE` | RA + 1 |
/// | `CR` | QA + 2 |
/// | `GW` | GID words |
/// | `TR` | QA + 4 |
/// | `TA2` | log2 transmit host beats |
/// | `TB` | TA2 + 1 |
/// | `TD` | transmit host RAM bits |
/// | `TM` | longest transmit host frame, beats |
/// | `TV` | IPv6 and VLAN: 1 |
/// | `TG` | W + L + 1 |
/// | `TS` | L - 1 |
/// | `WB` | payload write bursts outstanding |
/// | `CD` | CQ row RAM bits |
/// | `CW` | queue writes outstanding |
/// | `TN` | 1 - TS |
/// | `TSA` | log2 words of transmit slots |
/// | `TPA` | log2 transmit payload beats |
/// | `TPB` | TPA + 1 |
/// | `XA` | DMA reader: bus address bits |
/// | `XH` | send: log2 words of a beat, 2 or 1 |
/// | `XB` | QA + 1 |
/// | `XC` | QA + 2 |
/// | `XS` | QA + 3 |
/// | `XW` | send: log2 words of the WQE store |
/// | `XT` | send: bits of a payload read in flight |
/// | `XL` | send: 1: registers behind the RAMs |
/// | `XU` | send: 1: UC and UD |
/// | `XR` | QA + 6 |
/// | `XD` | complete: QA + 1 |
/// | `XE` | complete: QA + 2 |
/// | `RF` | RA + 2 |
/// | `YP` | READ responder: log2 resources |
/// | `YA` | its store's address bits: rows, or everything |
/// | `YB` | those of the pool |
/// | `YR` | log2 of the longest ring |
/// | `YC` | YR + 1 |
/// | `ZW` | reorder: log2 of the QPs that may hold packets at a time |
/// | `ZX` | ZW + 1 |
/// | `ZM` | ZW + 6 |
/// | `ZC` | one more than the larger of ZM and XB |
/// | `VN` | reaction points: 1, or 0 |
/// | `VE` | QA + 14 |
#[derive(LogicBlock)]
pub struct Hca<
    const W: usize,
    const K: usize,
    const KB: usize,
    const L: usize,
    const BA: usize,
    const RD: usize,
    const R: usize,
    const RB: usize,
    const HR: usize,
    const HA: usize,
    const HD: usize,
    const G: usize,
    const D: usize,
    const QA: usize,
    const QR: usize,
    const SA: usize,
    const SC: usize,
    const MA: usize,
    const MR: usize,
    const TA: usize,
    const RQ: usize,
    const RH: usize,
    const RA: usize,
    const RE: usize,
    const CR: usize,
    const GW: usize,
    const TR: usize,
    const TA2: usize,
    const TB: usize,
    const TD: usize,
    const TM: usize,
    const TV: usize,
    const TG: usize,
    const TS: usize,
    const WB: usize,
    const CD: usize,
    const CW: usize,
    const TN: usize,
    const TSA: usize,
    const TPA: usize,
    const TPB: usize,
    const XA: usize,
    const XH: usize,
    const XB: usize,
    const XC: usize,
    const XS: usize,
    const XW: usize,
    const XT: usize,
    const XL: usize,
    const XU: usize,
    const XR: usize,
    const XD: usize,
    const XE: usize,
    const RF: usize,
    const YP: usize,
    const YA: usize,
    const YB: usize,
    const YR: usize,
    const YC: usize,
    const ZW: usize,
    const ZX: usize,
    const ZM: usize,
    const ZC: usize,
    const VN: usize,
    const VE: usize,
> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_mac_rx_tdata: Signal<In, Bits<W>>,
    pub s_axis_mac_rx_tkeep: Signal<In, Bits<K>>,
    pub s_axis_mac_rx_tvalid: Signal<In, Bit>,
    pub s_axis_mac_rx_tready: Signal<Out, Bit>,
    pub s_axis_mac_rx_tlast: Signal<In, Bit>,
    pub s_axis_mac_rx_tuser: Signal<In, Bit>,
    pub m_axis_mac_tx_tdata: Signal<Out, Bits<W>>,
    pub m_axis_mac_tx_tkeep: Signal<Out, Bits<K>>,
    pub m_axis_mac_tx_tvalid: Signal<Out, Bit>,
    pub m_axis_mac_tx_tready: Signal<In, Bit>,
    pub m_axis_mac_tx_tlast: Signal<Out, Bit>,
    pub m_axis_mac_tx_tuser: Signal<Out, Bit>,
    pub m_axis_host_rx_tdata: Signal<Out, Bits<W>>,
    pub m_axis_host_rx_tkeep: Signal<Out, Bits<K>>,
    pub m_axis_host_rx_tvalid: Signal<Out, Bit>,
    pub m_axis_host_rx_tready: Signal<In, Bit>,
    pub m_axis_host_rx_tlast: Signal<Out, Bit>,
    pub s_axis_host_tx_tdata: Signal<In, Bits<W>>,
    pub s_axis_host_tx_tkeep: Signal<In, Bits<K>>,
    pub s_axis_host_tx_tvalid: Signal<In, Bit>,
    pub s_axis_host_tx_tready: Signal<Out, Bit>,
    pub s_axis_host_tx_tlast: Signal<In, Bit>,
    pub m_axi_awid: Signal<Out, Bits<3>>,
    pub m_axi_awaddr: Signal<Out, Bits<64>>,
    pub m_axi_awlen: Signal<Out, Bits<8>>,
    pub m_axi_awsize: Signal<Out, Bits<3>>,
    pub m_axi_awburst: Signal<Out, Bits<2>>,
    pub m_axi_awvalid: Signal<Out, Bit>,
    pub m_axi_awready: Signal<In, Bit>,
    pub m_axi_wdata: Signal<Out, Bits<W>>,
    pub m_axi_wstrb: Signal<Out, Bits<K>>,
    pub m_axi_wlast: Signal<Out, Bit>,
    pub m_axi_wvalid: Signal<Out, Bit>,
    pub m_axi_wready: Signal<In, Bit>,
    pub m_axi_bid: Signal<In, Bits<3>>,
    pub m_axi_bresp: Signal<In, Bits<2>>,
    pub m_axi_bvalid: Signal<In, Bit>,
    pub m_axi_bready: Signal<Out, Bit>,
    pub m_axi_arid: Signal<Out, Bits<3>>,
    pub m_axi_araddr: Signal<Out, Bits<64>>,
    pub m_axi_arlen: Signal<Out, Bits<8>>,
    pub m_axi_arsize: Signal<Out, Bits<3>>,
    pub m_axi_arburst: Signal<Out, Bits<2>>,
    pub m_axi_arvalid: Signal<Out, Bit>,
    pub m_axi_arready: Signal<In, Bit>,
    pub m_axi_rid: Signal<In, Bits<3>>,
    pub m_axi_rdata: Signal<In, Bits<W>>,
    pub m_axi_rresp: Signal<In, Bits<2>>,
    pub m_axi_rlast: Signal<In, Bit>,
    pub m_axi_rvalid: Signal<In, Bit>,
    pub m_axi_rready: Signal<Out, Bit>,
    pub s_axil_awaddr: Signal<In, Bits<21>>,
    pub s_axil_awvalid: Signal<In, Bit>,
    pub s_axil_awready: Signal<Out, Bit>,
    pub s_axil_wdata: Signal<In, Bits<32>>,
    pub s_axil_wstrb: Signal<In, Bits<4>>,
    pub s_axil_wvalid: Signal<In, Bit>,
    pub s_axil_wready: Signal<Out, Bit>,
    pub s_axil_bresp: Signal<Out, Bits<2>>,
    pub s_axil_bvalid: Signal<Out, Bit>,
    pub s_axil_bready: Signal<In, Bit>,
    pub s_axil_araddr: Signal<In, Bits<21>>,
    pub s_axil_arvalid: Signal<In, Bit>,
    pub s_axil_arready: Signal<Out, Bit>,
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    pub s_axil_rresp: Signal<Out, Bits<2>>,
    pub s_axil_rvalid: Signal<Out, Bit>,
    pub s_axil_rready: Signal<In, Bit>,
    pub irq: Signal<Out, Bit>,
    rx: Rx<W, K, KB, L, BA, RD, R, RB, HR, HA, HD, G, D>,
    control: Control<QA, TR, SA, SC>,
    keys: Keys<MA, MR, TA>,
    reorder: Reorder<QA, XB, ZW, ZX, ZM, ZC, BA>,
    notification: NotificationPoint<QA>,
    reaction: [ReactionPoint<QA, XB, VE>; VN],
    /// Bit 12 of a release names a held packet's slot.
    dma_writer: DmaWriter<W, K, 14, TA, WB>,
    write_arbiter: WriteArbiter<W, K>,
    descriptor_reader: DescriptorReader<W>,
    retire: Retire<RQ, RH, RA, RE, RF>,
    queues: CompletionQueues<W, K, QA, CR, CD, CW>,
    registers: Registers<GW>,
    counters: Counters,
    tx: Tx<W, K, L, QA, TR, TA2, TB, TD, TM, TV, TG, TS, TN, TSA, TPA, TPB>,
    side: RequesterSide<W, K, TS, TN, TPB, XA, XH, QA, XB, XC, XS, QR, XW, XT, XL, XU, XR, XD, XE, YP, YA, YB, YR, YC>,
    read_arbiter: ReadArbiter<W>,
    effects: EffectMerge,
    events: EventMerge,
    codes: CodeMerge,
    soft_reset: SoftReset,
    /// A QP row goes to its keepers: control, transmit, the requester's side.
    rows: Split<3>,
    reset_rx: ResetCopy,
    reset_control: ResetCopy,
    reset_memory: ResetCopy,
    reset_effects: ResetCopy,
    reset_registers: ResetCopy,
    reset_tx: ResetCopy,
    /// A reaction point can take a QP's state, and is cleared; or there is none.
    reaction_free: Signal<Local, Bit>,
    reaction_ready: Signal<Local, Bit>,
    noticed_index: Signal<Local, Bits<12>>,
    state_taken: Signal<Local, Bit>,
    core_reset: Signal<Local, Bit>,
    tables_ready: Signal<Local, Bit>,
    size: Constant<Bits<3>>,
    burst: Constant<Bits<2>>,
    id_descriptor: Constant<Bits<3>>,
    never: Constant<Bit>,
    code_later: Constant<Bits<6>>,
    code_axi_error: Constant<Bits<6>>,
}

/// `tengig` with `2^q` queue pairs, 2^8 at most, `2^yp` READ resources, a receive buffer of `2^ba` beats, and `vn` reaction points. (With `q` over 9 `ZC` would be `q + 2`.)
macro_rules! tengig_of {
    ($q:literal, $yp:literal, $ba:literal, $vn:literal) => {
        Hca<64, 8, 3, 2, $ba, 65, 7, 8, 11, 11, 68, 4, 4, $q, { $q + 5 }, { $q + 3 }, { $q + 4 }, 8, 11, 12, 1, 0, 4, 5, { $q + 2 }, 16, { $q + 4 },
        10, 11, 72, 525, 1, 67, 1, 8, 32, 8, 0, 9, 10, 11, 64, 2, { $q + 1 }, { $q + 2 }, { $q + 3 }, { $q + 4 }, 26, 1, 1, { $q + 6 },
        { $q + 1 }, { $q + 2 }, 6, $yp, { $q + 4 }, { $yp + 3 }, 4, 5, 4, 5, 10, 11, $vn, { $q + 14 }>
    };
}

/// The `tengig` preset.
pub type HcaTengig = tengig_of!(8, 10, 12, 1);
/// `tengig` with a receive buffer of 64 KiB, so that more early packets are held; without the reaction point, whose RAM blocks it takes.
pub type HcaTengigDeep = tengig_of!(8, 10, 13, 0);
/// `tengig` with 16 queue pairs.
pub type HcaTengig16 = tengig_of!(4, 8, 12, 1);
/// `tengig` with 64 queue pairs.
pub type HcaTengig64 = tengig_of!(6, 10, 12, 1);
/// The `cu` preset.
#[rustfmt::skip]
pub type HcaCu =
    Hca<32, 4, 2, 1, 9, 32, 3, 4, 7, 8, 36, 1, 0, 2, 7, 5, 6, 2, 5, 1, 0, 0, 1, 2, 4, 4, 7, 8, 9, 36, 150, 0, 34, 0, 1, 16, 2, 1, 6, 8, 9,
    32, 1, 3, 4, 5, 7, 20, 0, 0, 8, 3, 4, 3, 3, 7, 6, 1, 2, 2, 3, 8, 9, 0, 16>;

impl<
        const W: usize,
        const K: usize,
        const KB: usize,
        const L: usize,
        const BA: usize,
        const RD: usize,
        const R: usize,
        const RB: usize,
        const HR: usize,
        const HA: usize,
        const HD: usize,
        const G: usize,
        const D: usize,
        const QA: usize,
        const QR: usize,
        const SA: usize,
        const SC: usize,
        const MA: usize,
        const MR: usize,
        const TA: usize,
        const RQ: usize,
        const RH: usize,
        const RA: usize,
        const RE: usize,
        const CR: usize,
        const GW: usize,
        const TR: usize,
        const TA2: usize,
        const TB: usize,
        const TD: usize,
        const TM: usize,
        const TV: usize,
        const TG: usize,
        const TS: usize,
        const WB: usize,
        const CD: usize,
        const CW: usize,
        const TN: usize,
        const TSA: usize,
        const TPA: usize,
        const TPB: usize,
        const XA: usize,
        const XH: usize,
        const XB: usize,
        const XC: usize,
        const XS: usize,
        const XW: usize,
        const XT: usize,
        const XL: usize,
        const XU: usize,
        const XR: usize,
        const XD: usize,
        const XE: usize,
        const RF: usize,
        const YP: usize,
        const YA: usize,
        const YB: usize,
        const YR: usize,
        const YC: usize,
        const ZW: usize,
        const ZX: usize,
        const ZM: usize,
        const ZC: usize,
        const VN: usize,
        const VE: usize,
    >
    Hca<
        W,
        K,
        KB,
        L,
        BA,
        RD,
        R,
        RB,
        HR,
        HA,
        HD,
        G,
        D,
        QA,
        QR,
        SA,
        SC,
        MA,
        MR,
        TA,
        RQ,
        RH,
        RA,
        RE,
        CR,
        GW,
        TR,
        TA2,
        TB,
        TD,
        TM,
        TV,
        TG,
        TS,
        WB,
        CD,
        CW,
        TN,
        TSA,
        TPA,
        TPB,
        XA,
        XH,
        XB,
        XC,
        XS,
        XW,
        XT,
        XL,
        XU,
        XR,
        XD,
        XE,
        RF,
        YP,
        YA,
        YB,
        YR,
        YC,
        ZW,
        ZX,
        ZM,
        ZC,
        VN,
        VE,
    >
{
    /// The engine for a configuration whose sizes the parameters are.
    pub fn new(config: &Config) -> Self {
        assert_eq!((config.data_bits, config.n_qps, config.n_mrs), (W, 1 << QA, 1 << MA), "Hca: sizes");
        assert_eq!(config.reacts(), VN == 1, "Hca: VN");
        Self {
            clk: Default::default(),
            rst: Default::default(),
            s_axis_mac_rx_tdata: Default::default(),
            s_axis_mac_rx_tkeep: Default::default(),
            s_axis_mac_rx_tvalid: Default::default(),
            s_axis_mac_rx_tready: Default::default(),
            s_axis_mac_rx_tlast: Default::default(),
            s_axis_mac_rx_tuser: Default::default(),
            m_axis_mac_tx_tdata: Default::default(),
            m_axis_mac_tx_tkeep: Default::default(),
            m_axis_mac_tx_tvalid: Default::default(),
            m_axis_mac_tx_tready: Default::default(),
            m_axis_mac_tx_tlast: Default::default(),
            m_axis_mac_tx_tuser: Default::default(),
            m_axis_host_rx_tdata: Default::default(),
            m_axis_host_rx_tkeep: Default::default(),
            m_axis_host_rx_tvalid: Default::default(),
            m_axis_host_rx_tready: Default::default(),
            m_axis_host_rx_tlast: Default::default(),
            s_axis_host_tx_tdata: Default::default(),
            s_axis_host_tx_tkeep: Default::default(),
            s_axis_host_tx_tvalid: Default::default(),
            s_axis_host_tx_tready: Default::default(),
            s_axis_host_tx_tlast: Default::default(),
            m_axi_awid: Default::default(),
            m_axi_awaddr: Default::default(),
            m_axi_awlen: Default::default(),
            m_axi_awsize: Default::default(),
            m_axi_awburst: Default::default(),
            m_axi_awvalid: Default::default(),
            m_axi_awready: Default::default(),
            m_axi_wdata: Default::default(),
            m_axi_wstrb: Default::default(),
            m_axi_wlast: Default::default(),
            m_axi_wvalid: Default::default(),
            m_axi_wready: Default::default(),
            m_axi_bid: Default::default(),
            m_axi_bresp: Default::default(),
            m_axi_bvalid: Default::default(),
            m_axi_bready: Default::default(),
            m_axi_arid: Default::default(),
            m_axi_araddr: Default::default(),
            m_axi_arlen: Default::default(),
            m_axi_arsize: Default::default(),
            m_axi_arburst: Default::default(),
            m_axi_arvalid: Default::default(),
            m_axi_arready: Default::default(),
            m_axi_rid: Default::default(),
            m_axi_rdata: Default::default(),
            m_axi_rresp: Default::default(),
            m_axi_rlast: Default::default(),
            m_axi_rvalid: Default::default(),
            m_axi_rready: Default::default(),
            s_axil_awaddr: Default::default(),
            s_axil_awvalid: Default::default(),
            s_axil_awready: Default::default(),
            s_axil_wdata: Default::default(),
            s_axil_wstrb: Default::default(),
            s_axil_wvalid: Default::default(),
            s_axil_wready: Default::default(),
            s_axil_bresp: Default::default(),
            s_axil_bvalid: Default::default(),
            s_axil_bready: Default::default(),
            s_axil_araddr: Default::default(),
            s_axil_arvalid: Default::default(),
            s_axil_arready: Default::default(),
            s_axil_rdata: Default::default(),
            s_axil_rresp: Default::default(),
            s_axil_rvalid: Default::default(),
            s_axil_rready: Default::default(),
            irq: Default::default(),
            rx: Rx::new(config),
            control: Control::new(Features::of(config)),
            keys: Keys::new(config),
            reorder: Default::default(),
            notification: Default::default(),
            reaction: std::array::from_fn(|_| Default::default()),
            dma_writer: DmaWriter::new(config),
            write_arbiter: WriteArbiter::new(config),
            descriptor_reader: DescriptorReader::new(config),
            retire: Retire::new(config),
            queues: CompletionQueues::new(config),
            registers: Registers::new(config),
            counters: Counters::new(config),
            tx: Default::default(),
            side: RequesterSide::new(CompleteConfig::of(config)),
            read_arbiter: Default::default(),
            effects: Default::default(),
            events: Default::default(),
            codes: Default::default(),
            soft_reset: SoftReset::new(config),
            rows: Default::default(),
            reset_rx: Default::default(),
            reset_control: Default::default(),
            reset_memory: Default::default(),
            reset_effects: Default::default(),
            reset_registers: Default::default(),
            reset_tx: Default::default(),
            reaction_free: Default::default(),
            reaction_ready: Default::default(),
            noticed_index: Default::default(),
            state_taken: Default::default(),
            core_reset: Default::default(),
            tables_ready: Default::default(),
            size: Constant::new(u64::from(K.trailing_zeros()).to_bits()),
            burst: Constant::new(INCR.to_bits()),
            id_descriptor: Constant::new(READ_ID_DESCRIPTOR.to_bits()),
            never: Constant::new(false),
            code_later: Constant::new((counters::LATER as u64).to_bits()),
            code_axi_error: Constant::new((counters::AXI_ERROR as u64).to_bits()),
        }
    }
}

impl<
        const W: usize,
        const K: usize,
        const KB: usize,
        const L: usize,
        const BA: usize,
        const RD: usize,
        const R: usize,
        const RB: usize,
        const HR: usize,
        const HA: usize,
        const HD: usize,
        const G: usize,
        const D: usize,
        const QA: usize,
        const QR: usize,
        const SA: usize,
        const SC: usize,
        const MA: usize,
        const MR: usize,
        const TA: usize,
        const RQ: usize,
        const RH: usize,
        const RA: usize,
        const RE: usize,
        const CR: usize,
        const GW: usize,
        const TR: usize,
        const TA2: usize,
        const TB: usize,
        const TD: usize,
        const TM: usize,
        const TV: usize,
        const TG: usize,
        const TS: usize,
        const WB: usize,
        const CD: usize,
        const CW: usize,
        const TN: usize,
        const TSA: usize,
        const TPA: usize,
        const TPB: usize,
        const XA: usize,
        const XH: usize,
        const XB: usize,
        const XC: usize,
        const XS: usize,
        const XW: usize,
        const XT: usize,
        const XL: usize,
        const XU: usize,
        const XR: usize,
        const XD: usize,
        const XE: usize,
        const RF: usize,
        const YP: usize,
        const YA: usize,
        const YB: usize,
        const YR: usize,
        const YC: usize,
        const ZW: usize,
        const ZX: usize,
        const ZM: usize,
        const ZC: usize,
        const VN: usize,
        const VE: usize,
    > Logic
    for Hca<
        W,
        K,
        KB,
        L,
        BA,
        RD,
        R,
        RB,
        HR,
        HA,
        HD,
        G,
        D,
        QA,
        QR,
        SA,
        SC,
        MA,
        MR,
        TA,
        RQ,
        RH,
        RA,
        RE,
        CR,
        GW,
        TR,
        TA2,
        TB,
        TD,
        TM,
        TV,
        TG,
        TS,
        WB,
        CD,
        CW,
        TN,
        TSA,
        TPA,
        TPB,
        XA,
        XH,
        XB,
        XC,
        XS,
        XW,
        XT,
        XL,
        XU,
        XR,
        XD,
        XE,
        RF,
        YP,
        YA,
        YB,
        YR,
        YC,
        ZW,
        ZX,
        ZM,
        ZC,
        VN,
        VE,
    >
{
    #[hdl_gen]
    fn update(&mut self) {
        self.rx.clock.next = self.clk.val();
        self.control.clock.next = self.clk.val();
        self.keys.clock.next = self.clk.val();
        self.reorder.clock.next = self.clk.val();
        self.notification.clock.next = self.clk.val();
        self.dma_writer.clock.next = self.clk.val();
        self.write_arbiter.clock.next = self.clk.val();
        self.descriptor_reader.clock.next = self.clk.val();
        self.retire.clock.next = self.clk.val();
        self.queues.clock.next = self.clk.val();
        self.registers.clock.next = self.clk.val();
        self.counters.clock.next = self.clk.val();
        self.tx.clock.next = self.clk.val();
        self.side.clock.next = self.clk.val();
        self.read_arbiter.clock.next = self.clk.val();
        self.effects.clock.next = self.clk.val();
        self.events.clock.next = self.clk.val();
        self.codes.clock.next = self.clk.val();
        self.soft_reset.clock.next = self.clk.val();
        self.rows.clock.next = self.clk.val();
        self.reset_rx.clock.next = self.clk.val();
        self.reset_control.clock.next = self.clk.val();
        self.reset_memory.clock.next = self.clk.val();
        self.reset_effects.clock.next = self.clk.val();
        self.reset_registers.clock.next = self.clk.val();
        self.reset_tx.clock.next = self.clk.val();

        // Reset, soft reset, drain.
        self.soft_reset.reset.next = self.rst.val();
        self.core_reset.next = self.soft_reset.core_reset.val();
        self.reset_rx.s.next = self.core_reset.val();
        self.reset_control.s.next = self.core_reset.val();
        self.reset_memory.s.next = self.core_reset.val();
        self.reset_effects.s.next = self.core_reset.val();
        self.reset_registers.s.next = self.core_reset.val();
        self.reset_tx.s.next = self.core_reset.val();
        self.rx.reset.next = self.reset_rx.m.val();
        self.control.reset.next = self.reset_control.m.val();
        self.keys.reset.next = self.reset_memory.m.val();
        self.dma_writer.reset.next = self.reset_memory.m.val();
        self.write_arbiter.reset.next = self.reset_memory.m.val();
        self.descriptor_reader.reset.next = self.reset_memory.m.val();
        self.retire.reset.next = self.reset_effects.m.val();
        self.notification.reset.next = self.reset_effects.m.val();
        self.queues.reset.next = self.reset_effects.m.val();
        self.registers.reset.next = self.reset_registers.m.val();
        self.counters.reset.next = self.reset_registers.m.val();
        self.tx.reset.next = self.reset_tx.m.val();
        self.rows.reset.next = self.reset_registers.m.val();
        self.side.reset.next = self.core_reset.val();
        self.reorder.reset.next = self.reset_rx.m.val();
        self.read_arbiter.reset.next = self.reset_memory.m.val();
        self.effects.reset.next = self.reset_effects.m.val();
        self.events.reset.next = self.reset_effects.m.val();
        self.codes.reset.next = self.reset_registers.m.val();
        self.soft_reset.request.next = self.registers.soft_reset.val();
        self.soft_reset.lite_request.next = (self.s_axil_awvalid.val() & self.s_axil_wvalid.val()) | self.s_axil_arvalid.val();
        self.soft_reset.lite_end.next =
            (self.registers.s_b_valid.val() & self.s_axil_bready.val()) | (self.registers.s_r_valid.val() & self.s_axil_rready.val());
        // CNPs for our QPs, and what they slow.
        self.rx.react.next = self.registers.react.val();
        self.reaction_free.next = true;
        self.reaction_ready.next = true;
        self.side.limited.next = false;
        self.side.rest_room.next = true;
        self.side.rested_valid.next = false;
        self.side.rested_index.next = 0.into();
        self.noticed_index.next = self.reorder.m_head.val().qpn.get_bits::<12>(0);
        self.state_taken.next = self.control.state_valid.val() & self.side.state_ready.val() & self.reorder.state_ready.val();
        for i in 0..VN {
            self.reaction[i].clock.next = self.clk.val();
            self.reaction[i].reset.next = self.reset_effects.m.val();
            self.reaction[i].rates.next = self.registers.rates.val();
            self.reaction[i].increases.next = self.registers.increases.val();
            self.reaction[i].times.next = self.registers.times.val();
            self.reaction[i].rate_bytes.next = self.registers.rate_bytes.val();
            self.reaction[i].tick.next = self.registers.tick.val();
            self.reaction[i].noticed.next = self.control.noticed.val();
            self.reaction[i].noticed_index.next = self.noticed_index.val();
            self.reaction[i].state_valid.next = self.state_taken.val();
            self.reaction[i].state_index.next = self.control.state_index.val();
            self.reaction[i].state.next = self.control.state.val();
            self.reaction[i].asked.next = self.side.asked.val();
            self.reaction[i].ended.next = self.side.ended.val();
            self.reaction[i].ended_packet.next = self.side.ended_packet.val();
            self.reaction[i].ended_payload.next = self.side.ended_payload.val();
            self.reaction[i].rest.next = self.side.rest.val();
            self.reaction[i].rest_index.next = self.side.asked.val();
            self.reaction[i].wake_ready.next = self.side.rested_ready.val();
            self.reaction_free.next = self.reaction[i].state_ready.val();
            self.reaction_ready.next = self.reaction[i].ready.val();
            self.side.limited.next = self.reaction[i].limited.val();
            self.side.rest_room.next = self.reaction[i].room.val();
            self.side.rested_valid.next = self.reaction[i].wake_valid.val();
            self.side.rested_index.next = self.reaction[i].wake_index.val();
        }

        self.tables_ready.next = self.control.ready.val()
            & self.keys.ready.val()
            & self.queues.ready.val()
            & self.counters.ready.val()
            & self.side.ready.val()
            & self.reorder.ready.val()
            & self.notification.ready.val()
            & self.reaction_ready.val();
        self.registers.tables_ready.next = self.tables_ready.val();
        self.registers.draining.next = self.soft_reset.draining.val();

        // MAC receive.
        self.rx.s_data.next = self.s_axis_mac_rx_tdata.val();
        self.rx.s_keep.next = self.s_axis_mac_rx_tkeep.val();
        self.rx.s_last.next = self.s_axis_mac_rx_tlast.val();
        self.rx.s_user.next = self.s_axis_mac_rx_tuser.val();
        self.rx.s_valid.next = self.s_axis_mac_rx_tvalid.val() & !self.soft_reset.skip_rx.val();
        self.s_axis_mac_rx_tready.next = !self.rst.val();
        self.soft_reset.rx_valid.next = self.s_axis_mac_rx_tvalid.val();
        self.soft_reset.rx_last.next = self.s_axis_mac_rx_tlast.val();
        self.rx.enable.next = self.registers.enable.val() & self.tables_ready.val();
        self.rx.icrc_off.next = self.registers.icrc_off.val();
        self.rx.local_mac.next = self.registers.local_mac.val();
        self.rx.gid_valid.next = self.registers.gid_valid.val();
        self.rx.gid_ipv6.next = self.registers.gid_ipv6.val();
        self.rx.gid.next = self.registers.gid.val();
        self.m_axis_host_rx_tdata.next = self.rx.m_host_data.val();
        self.m_axis_host_rx_tkeep.next = self.rx.m_host_keep.val();
        self.m_axis_host_rx_tvalid.next = self.rx.m_host_valid.val();
        self.m_axis_host_rx_tlast.next = self.rx.m_host_last.val();
        self.rx.m_host_ready.next = self.m_axis_host_rx_tready.val();

        // Control path.
        self.reorder.s_head.next = self.rx.head.val();
        self.reorder.s_head_valid.next = self.rx.head_valid.val();
        self.rx.head_next.next = self.reorder.s_head_next.val();
        self.control.head.next = self.reorder.m_head.val();
        self.control.head_valid.next = self.reorder.m_head_valid.val();
        self.reorder.m_head_next.next = self.control.head_next.val();
        self.control.probe.next = self.reorder.probe.val();
        self.reorder.packet_busy.next = self.control.packet_busy.val();
        self.reorder.packet_psn.next = self.control.packet_psn.val();
        self.reorder.packet_moved.next = self.control.packet_moved.val();
        self.reorder.packet_jumped.next = self.control.packet_jumped.val();
        self.reorder.hold_valid.next = self.control.hold_valid.val();
        self.reorder.hold_distance.next = self.control.hold_distance.val();
        self.reorder.hold_standing.next = self.control.hold_standing.val();
        self.reorder.nak_distance.next = self.control.nak_distance.val();
        self.reorder.nak_delay.next = self.control.nak_delay.val();
        self.control.hold_done.next = self.reorder.hold_done.val();
        self.control.hold_nak.next = self.reorder.hold_nak.val();
        self.control.hold_code.next = self.reorder.hold_code.val();
        self.reorder.tick.next = self.registers.tick.val();
        self.reorder.committed_beat.next = self.rx.committed_beat.val();
        // Congestion control: marks are counted where a packet leaves `rx`, and lead to a CNP where its QP is known.
        self.notification.notify.next = self.registers.notify.val();
        self.notification.cnp_interval.next = self.registers.cnp_interval.val();
        self.notification.tick.next = self.registers.tick.val();
        self.notification.received.next = self.rx.head.val().marked & self.reorder.s_head_next.val();
        self.notification.marked.next = self.control.marked.val();
        self.notification.marked_index.next = self.reorder.m_head.val().qpn.get_bits::<12>(0);
        self.side.control_key_start.next = self.control.key_start.val();
        self.keys.key_start.next = self.side.key_start.val();
        self.side.control_key_op.next = self.control.key_op.val();
        self.keys.key_op.next = self.side.key_op.val();
        self.side.control_key.next = self.control.key.val();
        self.keys.key.next = self.side.key.val();
        self.side.control_key_va.next = self.control.key_va.val();
        self.keys.key_va.next = self.side.key_va.val();
        self.side.control_key_length.next = self.control.key_length.val();
        self.keys.key_length.next = self.side.key_length.val();
        self.side.control_key_pd.next = self.control.key_pd.val();
        self.keys.key_pd.next = self.side.key_pd.val();
        self.side.control_key_access.next = self.control.key_access.val();
        self.keys.key_access.next = self.side.key_access.val();
        self.control.key_done.next = self.side.control_key_done.val();
        self.side.key_done.next = self.keys.key_done.val();
        self.side.key_ok.next = self.keys.key_ok.val();
        self.side.key_paged.next = self.keys.key_paged.val();
        self.side.key_address.next = self.keys.key_address.val();
        self.control.key_ok.next = self.keys.key_ok.val();
        self.control.key_paged.next = self.keys.key_paged.val();
        self.control.key_address.next = self.keys.key_address.val();
        self.descriptor_reader.fetch_start.next = self.control.fetch_start.val();
        self.descriptor_reader.fetch_address.next = self.control.fetch_address.val();
        self.control.fetch_done.next = self.descriptor_reader.fetch_done.val();
        self.control.fetch_error.next = self.descriptor_reader.fetch_error.val();
        self.control.fetch_word.next = self.descriptor_reader.fetch_word0.val();
        self.descriptor_reader.fetch_next.next = self.control.fetch_next.val();
        self.effects.placing.next = self.side.placing.val();
        self.effects.control_job.next = self.control.job.val();
        self.effects.control_job_valid.next = self.control.job_valid.val();
        self.control.job_ready.next = self.effects.control_job_ready.val();
        self.effects.complete_job.next = self.side.job.val();
        self.effects.complete_job_valid.next = self.side.job_valid.val();
        self.side.job_ready.next = self.effects.complete_job_ready.val();
        self.dma_writer.job.next = self.effects.job.val();
        self.dma_writer.job_valid.next = self.effects.job_valid.val();
        self.effects.job_ready.next = self.dma_writer.job_ready.val();
        self.effects.control_entry.next = self.control.entry.val();
        self.effects.control_entry_valid.next = self.control.entry_valid.val();
        self.control.entry_ready.next = self.effects.control_entry_ready.val();
        self.effects.complete_entry.next = self.side.entry.val();
        self.effects.complete_entry_valid.next = self.side.entry_valid.val();
        self.side.entry_ready.next = self.effects.complete_entry_ready.val();
        self.retire.entry.next = self.effects.entry.val();
        self.retire.entry_valid.next = self.effects.entry_valid.val();
        self.effects.entry_ready.next = self.retire.entry_ready.val();

        // Requester.
        self.side.head.next = self.reorder.m_head.val();
        self.side.response_valid.next = self.control.response_valid.val();
        self.control.response_done.next = self.side.response_done.val();
        self.control.response_code.next = self.side.response_code.val();
        self.control.response_placed.next = self.side.response_placed.val();
        // What is held for a QP that ends is released before the requester is told.
        self.reorder.state_valid.next = self.control.state_valid.val();
        self.reorder.state_index.next = self.control.state_index.val();
        self.reorder.state.next = self.control.state.val();
        self.side.state_valid.next = self.control.state_valid.val() & self.reorder.state_ready.val() & self.reaction_free.val();
        self.side.state_index.next = self.control.state_index.val();
        self.side.state.next = self.control.state.val();
        self.control.state_ready.next = self.side.state_ready.val() & self.reorder.state_ready.val();
        self.reorder.state_taken.next = self.state_taken.val();
        self.control.requester_error_index.next = self.side.qp_error_index.val();
        self.control.requester_error_valid.next = self.side.qp_error_valid.val();
        self.side.qp_error_ready.next = self.control.requester_error_ready.val();
        self.side.doorbell_valid.next = self.registers.sq_doorbell_valid.val();
        self.side.doorbell_index.next = self.registers.sq_doorbell_index.val();
        self.side.doorbell_producer.next = self.registers.sq_doorbell_producer.val();
        self.registers.sq_doorbell_ready.next = self.side.doorbell_ready.val();
        self.side.tick.next = self.registers.tick.val();
        self.dma_writer.lookup_read.next = self.side.mtt_read.val();
        self.dma_writer.lookup_entry.next = self.side.mtt_entry.val();
        self.side.mtt_grant.next = self.dma_writer.lookup_grant.val();
        self.side.mtt_page.next = self.dma_writer.lookup_page.val();
        self.dma_writer.atomic_lookup_valid.next = self.side.atomic_lookup_valid.val();
        self.dma_writer.atomic_lookup_entry.next = self.side.atomic_lookup_entry.val();
        self.side.atomic_lookup_done.next = self.dma_writer.atomic_lookup_done.val();
        self.side.atomic_lookup_page.next = self.dma_writer.atomic_lookup_page.val();
        self.write_arbiter.atomic_aw_address.next = self.side.atomic_aw_address.val();
        self.write_arbiter.atomic_aw_length.next = self.side.atomic_aw_length.val();
        self.write_arbiter.atomic_aw_valid.next = self.side.atomic_aw_valid.val();
        self.side.atomic_aw_ready.next = self.write_arbiter.atomic_aw_ready.val();
        self.write_arbiter.atomic_w_data.next = self.side.atomic_w_data.val();
        self.write_arbiter.atomic_w_strobe.next = self.side.atomic_w_strobe.val();
        self.write_arbiter.atomic_w_last.next = self.side.atomic_w_last.val();
        self.write_arbiter.atomic_w_valid.next = self.side.atomic_w_valid.val();
        self.side.atomic_w_ready.next = self.write_arbiter.atomic_w_ready.val();
        self.side.atomic_b_valid.next = self.write_arbiter.atomic_b_valid.val();
        self.side.atomic_b_error.next = self.write_arbiter.atomic_b_error.val();
        self.write_arbiter.atomic_lock.next = self.side.atomic_lock.val();
        self.side.atomic_locked.next = self.write_arbiter.atomic_locked.val();
        self.tx.packet_word.next = self.side.packet_word.val();
        self.tx.packet_last.next = self.side.packet_last.val();
        self.tx.packet_abandon.next = self.side.packet_abandon.val();
        self.tx.packet_valid.next = self.side.packet_valid.val();
        self.side.packet_ready.next = self.tx.packet_ready.val();
        self.tx.payload_data.next = self.side.payload_data.val();
        self.tx.payload_last.next = self.side.payload_last.val();
        self.tx.payload_error.next = self.side.payload_error.val();
        self.tx.payload_valid.next = self.side.payload_valid.val();
        self.side.payload_free.next = self.tx.payload_free.val();
        self.side.payload_drawn.next = self.tx.payload_drawn.val();

        // READ responder.
        self.side.request_valid.next = self.control.request_valid.val();
        self.side.request_index.next = self.control.request_index.val();
        self.side.request_duplicate.next = self.control.request_duplicate.val();
        self.side.request_msn.next = self.control.request_msn.val();
        self.control.request_done.next = self.side.request_done.val();
        self.control.request_verdict.next = self.side.request_verdict.val();
        self.control.request_psns.next = self.side.request_psns.val();
        self.side.serve_valid.next = self.retire.serve_valid.val();
        self.side.serve_index.next = self.retire.serve_index.val();
        self.retire.serve_ready.next = self.side.serve_ready.val();
        self.side.s_ack.next = self.retire.ack.val();
        self.side.s_ack_valid.next = self.retire.ack_valid.val();
        self.retire.ack_ready.next = self.side.s_ack_ready.val();
        self.control.read_error_index.next = self.side.read_error_index.val();
        self.control.read_error_valid.next = self.side.read_error_valid.val();
        self.side.read_error_ready.next = self.control.read_error_ready.val();
        // A QP that ends has neither ACK nor CNP under way.
        self.control.retire_idle.next = self.retire.idle.val() & !self.side.placing.val() & self.notification.idle.val();

        // Payload to memory.
        self.rx.read_beat.next = self.dma_writer.read_beat.val();
        self.rx.read_count.next = self.dma_writer.read_count.val();
        self.rx.read_valid.next = self.dma_writer.read_valid.val();
        self.rx.beat_ready.next = self.dma_writer.beat_ready.val();
        self.reorder.s_release_valid.next = self.dma_writer.release_valid.val();
        self.reorder.s_release_beat.next = self.dma_writer.release_beat.val();
        self.rx.release_valid.next = self.reorder.m_release_valid.val();
        self.rx.release_beat.next = self.reorder.m_release_beat.val();
        self.dma_writer.read_ready.next = self.rx.read_ready.val();
        self.dma_writer.beat_data.next = self.rx.beat_data.val();
        self.dma_writer.beat_valid.next = self.rx.beat_valid.val();
        self.retire.done_valid.next = self.dma_writer.done_valid.val();
        self.retire.done_error.next = self.dma_writer.done_error.val();
        self.dma_writer.done_ready.next = self.retire.done_ready.val();
        self.side.landed.next = self.retire.landed.val();
        self.side.failing.next = self.retire.failing.val();
        self.write_arbiter.payload_aw_address.next = self.dma_writer.aw_address.val();
        self.write_arbiter.payload_aw_length.next = self.dma_writer.aw_length.val();
        self.write_arbiter.payload_aw_valid.next = self.dma_writer.aw_valid.val();
        self.write_arbiter.payload_w_data.next = self.dma_writer.w_data.val();
        self.write_arbiter.payload_w_strobe.next = self.dma_writer.w_strobe.val();
        self.write_arbiter.payload_w_last.next = self.dma_writer.w_last.val();
        self.write_arbiter.payload_w_valid.next = self.dma_writer.w_valid.val();
        self.dma_writer.aw_ready.next = self.write_arbiter.payload_aw_ready.val();
        self.dma_writer.w_ready.next = self.write_arbiter.payload_w_ready.val();
        self.dma_writer.b_valid.next = self.write_arbiter.payload_b_valid.val();
        self.dma_writer.b_error.next = self.write_arbiter.payload_b_error.val();
        self.write_arbiter.completion_aw_address.next = self.queues.aw_address.val();
        self.write_arbiter.completion_aw_length.next = self.queues.aw_length.val();
        self.write_arbiter.completion_aw_valid.next = self.queues.aw_valid.val();
        self.write_arbiter.completion_w_data.next = self.queues.w_data.val();
        self.write_arbiter.completion_w_strobe.next = self.queues.w_strobe.val();
        self.write_arbiter.completion_w_last.next = self.queues.w_last.val();
        self.write_arbiter.completion_w_valid.next = self.queues.w_valid.val();
        self.queues.aw_ready.next = self.write_arbiter.completion_aw_ready.val();
        self.queues.w_ready.next = self.write_arbiter.completion_w_ready.val();
        self.queues.b_valid.next = self.write_arbiter.completion_b_valid.val();
        self.queues.b_error.next = self.write_arbiter.completion_b_error.val();

        // AXI4 write.
        self.m_axi_awid.next = self.write_arbiter.m_aw_id.val();
        self.m_axi_awaddr.next = self.write_arbiter.m_aw_address.val();
        self.m_axi_awlen.next = self.write_arbiter.m_aw_length.val();
        self.m_axi_awsize.next = self.size.val();
        self.m_axi_awburst.next = self.burst.val();
        self.m_axi_awvalid.next = self.write_arbiter.m_aw_valid.val() & !self.soft_reset.block_aw.val();
        self.write_arbiter.m_aw_ready.next = self.m_axi_awready.val() & !self.soft_reset.block_aw.val();
        self.m_axi_wdata.next = self.write_arbiter.m_w_data.val();
        self.m_axi_wstrb.next = self.write_arbiter.m_w_strobe.val();
        self.m_axi_wlast.next = self.write_arbiter.m_w_last.val();
        self.m_axi_wvalid.next = self.write_arbiter.m_w_valid.val() & !self.soft_reset.block_w.val();
        self.write_arbiter.m_w_ready.next = self.m_axi_wready.val() & !self.soft_reset.block_w.val();
        self.write_arbiter.m_b_id.next = self.m_axi_bid.val();
        self.write_arbiter.m_b_response.next = self.m_axi_bresp.val();
        self.write_arbiter.m_b_valid.next = self.m_axi_bvalid.val();
        self.m_axi_bready.next = self.write_arbiter.m_b_ready.val();

        // AXI4 read.
        self.read_arbiter.descriptor_ar_address.next = self.descriptor_reader.m_ar_address.val();
        self.read_arbiter.descriptor_ar_length.next = self.descriptor_reader.m_ar_length.val();
        self.read_arbiter.descriptor_ar_valid.next = self.descriptor_reader.m_ar_valid.val();
        self.descriptor_reader.m_ar_ready.next = self.read_arbiter.descriptor_ar_ready.val();
        self.descriptor_reader.r_data.next = self.read_arbiter.r_data.val();
        self.descriptor_reader.r_response.next = self.m_axi_rresp.val();
        self.descriptor_reader.r_last.next = self.read_arbiter.r_last.val();
        self.descriptor_reader.r_valid.next = self.read_arbiter.descriptor_r_valid.val();
        self.read_arbiter.descriptor_r_ready.next = self.descriptor_reader.r_ready.val();
        self.read_arbiter.payload_ar_address.next = self.side.payload_ar_address.val();
        self.read_arbiter.payload_ar_length.next = self.side.payload_ar_length.val();
        self.read_arbiter.payload_ar_valid.next = self.side.payload_ar_valid.val();
        self.side.payload_ar_ready.next = self.read_arbiter.payload_ar_ready.val();
        self.side.payload_r_valid.next = self.read_arbiter.payload_r_valid.val();
        self.read_arbiter.payload_r_ready.next = self.side.payload_r_ready.val();
        self.read_arbiter.send_ar_address.next = self.side.send_ar_address.val();
        self.read_arbiter.send_ar_length.next = self.side.send_ar_length.val();
        self.read_arbiter.send_ar_valid.next = self.side.send_ar_valid.val();
        self.side.send_ar_ready.next = self.read_arbiter.send_ar_ready.val();
        self.side.send_r_valid.next = self.read_arbiter.send_r_valid.val();
        self.read_arbiter.send_r_ready.next = self.side.send_r_ready.val();
        self.read_arbiter.complete_ar_address.next = self.side.complete_ar_address.val();
        self.read_arbiter.complete_ar_length.next = self.side.complete_ar_length.val();
        self.read_arbiter.complete_ar_valid.next = self.side.complete_ar_valid.val();
        self.side.complete_ar_ready.next = self.read_arbiter.complete_ar_ready.val();
        self.side.complete_r_valid.next = self.read_arbiter.complete_r_valid.val();
        self.read_arbiter.complete_r_ready.next = self.side.complete_r_ready.val();
        self.read_arbiter.atomic_ar_address.next = self.side.atomic_ar_address.val();
        self.read_arbiter.atomic_ar_length.next = self.side.atomic_ar_length.val();
        self.read_arbiter.atomic_ar_valid.next = self.side.atomic_ar_valid.val();
        self.side.atomic_ar_ready.next = self.read_arbiter.atomic_ar_ready.val();
        self.side.atomic_r_valid.next = self.read_arbiter.atomic_r_valid.val();
        self.read_arbiter.atomic_r_ready.next = self.side.atomic_r_ready.val();
        self.side.r_data.next = self.read_arbiter.r_data.val();
        self.side.r_error.next = self.read_arbiter.r_error.val();
        self.side.r_last.next = self.read_arbiter.r_last.val();
        self.m_axi_arid.next = self.read_arbiter.m_ar_id.val();
        self.m_axi_araddr.next = self.read_arbiter.m_ar_address.val();
        self.m_axi_arlen.next = self.read_arbiter.m_ar_length.val();
        self.m_axi_arsize.next = self.size.val();
        self.m_axi_arburst.next = self.burst.val();
        self.m_axi_arvalid.next = self.read_arbiter.m_ar_valid.val() & !self.soft_reset.block_ar.val();
        self.read_arbiter.m_ar_ready.next = self.m_axi_arready.val() & !self.soft_reset.block_ar.val();
        self.read_arbiter.m_r_id.next = self.m_axi_rid.val();
        self.read_arbiter.m_r_data.next = self.m_axi_rdata.val();
        self.read_arbiter.m_r_response.next = self.m_axi_rresp.val();
        self.read_arbiter.m_r_last.next = self.m_axi_rlast.val();
        self.read_arbiter.m_r_valid.next = self.m_axi_rvalid.val();
        self.m_axi_rready.next = self.read_arbiter.m_r_ready.val();

        // What the drain watches.
        self.soft_reset.aw_valid.next = self.write_arbiter.m_aw_valid.val();
        self.soft_reset.aw_ready.next = self.m_axi_awready.val();
        self.soft_reset.w_valid.next = self.write_arbiter.m_w_valid.val();
        self.soft_reset.w_ready.next = self.m_axi_wready.val();
        self.soft_reset.w_last.next = self.write_arbiter.m_w_last.val();
        self.soft_reset.b_valid.next = self.m_axi_bvalid.val();
        self.soft_reset.b_ready.next = self.write_arbiter.m_b_ready.val();
        self.soft_reset.ar_valid.next = self.read_arbiter.m_ar_valid.val();
        self.soft_reset.ar_ready.next = self.m_axi_arready.val();
        self.soft_reset.r_valid.next = self.m_axi_rvalid.val();
        self.soft_reset.r_ready.next = self.read_arbiter.m_r_ready.val();
        self.soft_reset.r_last.next = self.m_axi_rlast.val();
        self.soft_reset.tx_valid.next = self.tx.m_valid.val();
        self.soft_reset.tx_ready.next = self.m_axis_mac_tx_tready.val();
        self.soft_reset.tx_last.next = self.tx.m_last.val();

        // Effects.
        self.notification.s_ack.next = self.side.m_ack.val();
        self.notification.s_ack_valid.next = self.side.m_ack_valid.val();
        self.side.m_ack_ready.next = self.notification.s_ack_ready.val();
        self.tx.ack.next = self.notification.m_ack.val();
        self.tx.ack_valid.next = self.notification.m_ack_valid.val();
        self.notification.m_ack_ready.next = self.tx.ack_ready.val();
        self.queues.completion.next = self.retire.completion.val();
        self.queues.completion_valid.next = self.retire.completion_valid.val();
        self.retire.completion_ready.next = self.queues.completion_ready.val();
        self.events.retire.next = self.retire.event_job.val();
        self.events.retire_valid.next = self.retire.event_valid.val();
        self.retire.event_ready.next = self.events.retire_ready.val();
        self.events.send.next = self.side.event_job.val();
        self.events.send_valid.next = self.side.event_valid.val();
        self.side.event_ready.next = self.events.send_ready.val();
        self.events.read.next = self.side.read_event.val();
        self.events.read_valid.next = self.side.read_event_valid.val();
        self.side.read_event_ready.next = self.events.read_ready.val();
        self.queues.event_job.next = self.events.m.val();
        self.queues.event_job_valid.next = self.events.m_valid.val();
        self.events.m_ready.next = self.queues.event_job_ready.val();
        self.control.qp_error_index.next = self.retire.qp_error_index.val();
        self.control.qp_error_valid.next = self.retire.qp_error_valid.val();
        self.retire.qp_error_ready.next = self.control.qp_error_ready.val();
        self.irq.next = self.queues.irq_pending.val() & self.registers.irq_enable.val();

        // MAC transmit and the host's frames.
        self.tx.local_mac.next = self.registers.local_mac.val();
        self.tx.gid.next = self.registers.gid.val();
        self.tx.s_host_data.next = self.s_axis_host_tx_tdata.val();
        self.tx.s_host_keep.next = self.s_axis_host_tx_tkeep.val();
        self.tx.s_host_last.next = self.s_axis_host_tx_tlast.val();
        self.tx.s_host_valid.next = self.s_axis_host_tx_tvalid.val();
        self.s_axis_host_tx_tready.next = self.tx.s_host_ready.val();
        self.m_axis_mac_tx_tdata.next = self.tx.m_data.val();
        self.m_axis_mac_tx_tkeep.next = self.tx.m_keep.val();
        self.m_axis_mac_tx_tlast.next = self.tx.m_last.val();
        self.m_axis_mac_tx_tuser.next = self.never.val();
        self.m_axis_mac_tx_tvalid.next = self.tx.m_valid.val() & !self.soft_reset.block_tx.val();
        self.tx.m_ready.next = self.m_axis_mac_tx_tready.val() & !self.soft_reset.block_tx.val();

        // AXI4-Lite.
        self.registers.s_aw_address.next = self.s_axil_awaddr.val();
        self.registers.s_aw_valid.next = self.s_axil_awvalid.val() & !self.soft_reset.block_lite.val();
        self.s_axil_awready.next = self.registers.s_aw_ready.val();
        self.registers.s_w_data.next = self.s_axil_wdata.val();
        self.registers.s_w_strobe.next = self.s_axil_wstrb.val();
        self.registers.s_w_valid.next = self.s_axil_wvalid.val();
        self.s_axil_wready.next = self.registers.s_w_ready.val();
        self.registers.s_ar_address.next = self.s_axil_araddr.val();
        self.registers.s_ar_valid.next = self.s_axil_arvalid.val() & !self.soft_reset.block_lite.val();
        self.s_axil_arready.next = self.registers.s_ar_ready.val();
        self.s_axil_bresp.next = self.registers.s_b_response.val();
        self.s_axil_bvalid.next = self.registers.s_b_valid.val();
        self.registers.s_b_ready.next = self.s_axil_bready.val();
        self.s_axil_rdata.next = self.registers.s_r_data.val();
        self.s_axil_rresp.next = self.registers.s_r_response.val();
        self.s_axil_rvalid.next = self.registers.s_r_valid.val();
        self.registers.s_r_ready.next = self.s_axil_rready.val();

        // Tables, doorbells, commands.
        self.rows.s_valid.next = self.registers.qp_valid.val();
        self.registers.qp_ready.next = self.rows.s_ready.val();
        self.control.table_valid.next = self.rows.m_valid[0].val();
        self.rows.m_ready[0].next = self.control.table_ready.val();
        self.control.table_address.next = self.registers.qp_address.val();
        self.control.table_data.next = self.registers.qp_data.val();
        self.tx.table_valid.next = self.rows.m_valid[1].val();
        self.rows.m_ready[1].next = self.tx.table_ready.val();
        self.tx.table_address.next = self.registers.qp_address.val();
        self.tx.table_data.next = self.registers.qp_data.val();
        self.side.table_valid.next = self.rows.m_valid[2].val();
        self.rows.m_ready[2].next = self.side.table_ready.val();
        self.side.table_address.next = self.registers.qp_address.val();
        self.side.table_data.next = self.registers.qp_data.val();
        self.keys.table_valid.next = self.registers.mr_valid.val();
        self.keys.table_address.next = self.registers.mr_address.val();
        self.keys.table_data.next = self.registers.mr_data.val();
        self.registers.mr_ready.next = self.keys.table_ready.val();
        self.dma_writer.mtt_valid.next = self.registers.mtt_valid.val();
        self.dma_writer.mtt_address.next = self.registers.mtt_address.val();
        self.dma_writer.mtt_data.next = self.registers.mtt_data.val();
        self.registers.mtt_ready.next = self.dma_writer.mtt_ready.val();
        self.queues.table_valid.next = self.registers.cq_valid.val();
        self.queues.table_address.next = self.registers.cq_address.val();
        self.queues.table_data.next = self.registers.cq_data.val();
        self.registers.cq_ready.next = self.queues.table_ready.val();
        self.control.doorbell_valid.next = self.registers.rq_doorbell_valid.val();
        self.control.doorbell_index.next = self.registers.rq_doorbell_index.val();
        self.control.doorbell_producer.next = self.registers.rq_doorbell_producer.val();
        self.registers.rq_doorbell_ready.next = self.control.doorbell_ready.val();
        self.queues.doorbell_valid.next = self.registers.cq_doorbell_valid.val();
        self.queues.doorbell_index.next = self.registers.cq_doorbell_index.val();
        self.queues.doorbell_kind.next = self.registers.cq_doorbell_kind.val();
        self.queues.doorbell_value.next = self.registers.cq_doorbell_value.val();
        self.registers.cq_doorbell_ready.next = self.queues.doorbell_ready.val();
        self.control.command_valid.next = self.registers.command_valid.val();
        self.control.command_operation.next = self.registers.command_operation.val();
        self.control.command_index.next = self.registers.command_index.val();
        self.control.command_state.next = self.registers.command_state.val();
        self.registers.command_done.next = self.control.command_done.val();
        self.registers.command_refused.next = self.control.command_refused.val();
        self.registers.result0.next = self.control.result0.val();
        self.registers.result1.next = self.control.result1.val();
        self.registers.result2.next = self.control.result2.val();
        self.queues.eq_base.next = self.registers.eq_base.val();
        self.queues.eq_control.next = self.registers.eq_control.val();
        self.queues.eq_consumer.next = self.registers.eq_consumer.val();
        self.queues.eq_restart.next = self.registers.eq_restart.val();
        self.registers.eq_restart_ready.next = self.queues.eq_restart_ready.val();
        self.registers.eq_producer.next = self.queues.eq_producer.val();

        // Counters, and the register file they share a RAM with.
        self.counters.rx_valid.next = self.rx.event_valid.val();
        self.counters.rx_code.next = self.rx.event_code.val();
        self.rx.event_ready.next = self.counters.rx_ready.val();
        // What a queued response is counted as, Complete says later.
        self.counters.responder_valid.next = self.control.event_valid.val() & (self.control.event_code.val() != self.code_later.val());
        self.counters.responder_code.next = self.control.event_code.val();
        self.control.event_ready.next = self.counters.responder_ready.val() | (self.control.event_code.val() == self.code_later.val());
        self.counters.tx_valid.next = self.tx.event_valid.val();
        self.counters.tx_code.next = self.tx.event_code.val();
        self.tx.event_ready.next = self.counters.tx_ready.val();
        self.codes.queues.next = self.queues.event_code.val();
        self.codes.queues_valid.next = self.queues.event_valid.val();
        self.queues.event_ready.next = self.codes.queues_ready.val();
        self.codes.send.next = self.side.send_count_code.val();
        self.codes.send_valid.next = self.side.send_count_valid.val();
        self.side.send_count_ready.next = self.codes.send_ready.val();
        self.codes.complete.next = self.side.complete_count_code.val();
        self.codes.complete_valid.next = self.side.complete_count_valid.val();
        self.side.complete_count_ready.next = self.codes.complete_ready.val();
        // The READ responder counts AXI errors only, as retire does: one turn for both.
        self.codes.read.next = self.side.read_count_code.val();
        if !self.side.read_count_valid.val() {
            self.codes.read.next = self.code_axi_error.val();
        }
        self.codes.read_valid.next = self.side.read_count_valid.val() | self.retire.count_valid.val();
        self.side.read_count_ready.next = self.codes.read_ready.val();
        self.retire.count_ready.next = self.codes.read_ready.val() & !self.side.read_count_valid.val();
        // Marks are counted in the reorder station's turns.
        self.codes.reorder.next = self.reorder.event_code.val();
        if !self.reorder.event_valid.val() {
            self.codes.reorder.next = self.notification.event_code.val();
        }
        self.codes.reorder_valid.next = self.reorder.event_valid.val() | self.notification.event_valid.val();
        self.reorder.event_ready.next = self.codes.reorder_ready.val();
        self.notification.event_ready.next = self.codes.reorder_ready.val() & !self.reorder.event_valid.val();
        self.counters.extra_valid.next = self.codes.m_valid.val();
        self.counters.extra_code.next = self.codes.m.val();
        self.codes.m_ready.next = self.counters.extra_ready.val();
        self.counters.access_valid.next = self.registers.file_valid.val();
        self.counters.access_write.next = self.registers.file_write.val();
        self.counters.access_row.next = self.registers.file_row.val();
        self.counters.access_data.next = self.registers.file_data.val();
        self.registers.file_done.next = self.counters.access_done.val();
        self.registers.half_data.next = self.counters.half_data.val();
        self.registers.half_strobe.next = self.counters.half_strobe.val();
    }

    crate::block_name!();
}
