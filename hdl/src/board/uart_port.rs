// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers, on-chip memory and the board's own registers by UART, in frames with a CRC: what drives the `cu` board.
//!
//! ```text
//! request (11 bytes):  0x56  operation  address[24]  data[32]  CRC-16      least significant byte first, and bit first as a UART does
//! answer   (8 bytes):  0x56  status     data[32]     CRC-16
//! operation: 7 write, 3:0 sequence        status: 7:4 sequence, 2 done before, 1:0 AXI response
//! address:   23 board, else 22 memory, else registers
//! ```
//!
//! The CRC is that of X.25 (polynomial 0x1021 reflected, all ones at first, inverted at last) over everything between the first byte and itself. A request whose CRC or stop
//! bits are wrong is dropped and reported by `bad`; it has no answer. A request breaks off when the line is still for two ticks, so after garbage a pause brings both ends together. A write
//! that carries the sequence number of the request before is answered but not done again: who had no answer asks again without harm. Reads are done every time.
//! Words are 32 bits; bits 1:0 of an address don't count. Memory of `2^M` words; an address behind it is answered by DECERR.

use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum UartState {
    /// Waits for the first byte.
    Hunt,
    Request,
    Decide,
    Write,
    WriteAnswer,
    Read,
    ReadAnswer,
    Memory,
    Answer,
}

/// First byte of a request and of an answer.
pub const SYNC: u8 = 0x56;
/// Bits of a request behind the first byte: operation, address and data; with the CRC.
const KEPT: u64 = 64;
const LENGTH: u64 = 80;
/// What the CRC's register holds behind a right CRC.
const RESIDUE: u64 = 0xf0b8;
const POLYNOMIAL: u64 = 0x8408;

/// AXI4-Lite master with addresses of `A` bits; memory of `2^M` words.
#[derive(LogicBlock)]
pub struct UartPort<const A: usize, const M: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub line_in: Signal<In, Bit>,
    pub line_out: Signal<Out, Bit>,
    /// One cycle from time to time, far more seldom than bytes: two without a bit between them end a request.
    pub tick: Signal<In, Bit>,
    pub m_axil_awaddr: Signal<Out, Bits<A>>,
    pub m_axil_awvalid: Signal<Out, Bit>,
    pub m_axil_awready: Signal<In, Bit>,
    pub m_axil_wdata: Signal<Out, Bits<32>>,
    pub m_axil_wstrb: Signal<Out, Bits<4>>,
    pub m_axil_wvalid: Signal<Out, Bit>,
    pub m_axil_wready: Signal<In, Bit>,
    pub m_axil_bresp: Signal<In, Bits<2>>,
    pub m_axil_bvalid: Signal<In, Bit>,
    pub m_axil_bready: Signal<Out, Bit>,
    pub m_axil_araddr: Signal<Out, Bits<A>>,
    pub m_axil_arvalid: Signal<Out, Bit>,
    pub m_axil_arready: Signal<In, Bit>,
    pub m_axil_rdata: Signal<In, Bits<32>>,
    pub m_axil_rresp: Signal<In, Bits<2>>,
    pub m_axil_rvalid: Signal<In, Bit>,
    pub m_axil_rready: Signal<Out, Bit>,
    /// To the memory: until `host_done`.
    pub host_valid: Signal<Out, Bit>,
    pub host_write: Signal<Out, Bit>,
    pub host_word: Signal<Out, Bits<M>>,
    pub host_data: Signal<Out, Bits<32>>,
    pub host_done: Signal<In, Bit>,
    pub host_read: Signal<In, Bits<32>>,
    /// The board's registers: one cycle of `board_write` with `host_data`; read at once.
    pub board_write: Signal<Out, Bit>,
    pub board_word: Signal<Out, Bit>,
    pub board_read: Signal<In, Bits<32>>,
    /// One cycle each: a request was taken, was broken.
    pub good: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    line_1: DFF<Bit>,
    line_2: DFF<Bit>,
    receiving: DFF<Bit>,
    in_time: DFF<Bits<6>>,
    /// Of a byte: 0 the start bit, 9 the stop bit.
    in_bit: DFF<Bits<4>>,
    still: DFF<Bit>,
    state: DFF<UartState>,
    /// Operation, address, data from bit 0 on; later 48 bits of an answer from bit 16 on.
    shift: DFF<Bits<64>>,
    count: DFF<Bits<7>>,
    crc: DFF<Bits<16>>,
    serial: DFF<Bits<4>>,
    aw_open: DFF<Bit>,
    w_open: DFF<Bit>,
    /// The line's inverse, so that it is high before the first reset.
    low: DFF<Bit>,
    out_time: DFF<Bits<6>>,
    out_bit: DFF<Bits<4>>,
    out_byte: DFF<Bits<3>>,
    sampled: Signal<Local, Bit>,
    ended: Signal<Local, Bit>,
    writes: Signal<Local, Bit>,
    repeated: Signal<Local, Bit>,
    behind: Signal<Local, Bit>,
    finish: Signal<Local, Bit>,
    value: Signal<Local, Bits<32>>,
    response: Signal<Local, Bits<2>>,
    answer: Signal<Local, Bits<48>>,
    moves: Signal<Local, Bit>,
    moved_in: Signal<Local, Bit>,
    feeds: Signal<Local, Bit>,
    fed: Signal<Local, Bit>,
    all_bytes: Constant<Bits<4>>,
    sync: Constant<Bits<8>>,
    ones: Constant<Bits<16>>,
    polynomial: Constant<Bits<16>>,
    residue: Constant<Bits<16>>,
    beyond: Constant<Bits<22>>,
    kept: Constant<Bits<7>>,
    length: Constant<Bits<7>>,
    decode_error: Constant<Bits<2>>,
    bit_time: Constant<Bits<6>>,
    half_time: Constant<Bits<6>>,
}

impl<const A: usize, const M: usize> UartPort<A, M> {
    /// `divisor`: clock cycles in a bit, 4 to 64.
    pub fn new(divisor: u64) -> Self {
        assert!((4..=64).contains(&divisor), "UartPort: {divisor} cycles in a bit");
        assert!(A <= 22 && M <= 20, "UartPort: addresses of {A} and {M} bits");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            line_in: Default::default(),
            line_out: Default::default(),
            tick: Default::default(),
            m_axil_awaddr: Default::default(),
            m_axil_awvalid: Default::default(),
            m_axil_awready: Default::default(),
            m_axil_wdata: Default::default(),
            m_axil_wstrb: Default::default(),
            m_axil_wvalid: Default::default(),
            m_axil_wready: Default::default(),
            m_axil_bresp: Default::default(),
            m_axil_bvalid: Default::default(),
            m_axil_bready: Default::default(),
            m_axil_araddr: Default::default(),
            m_axil_arvalid: Default::default(),
            m_axil_arready: Default::default(),
            m_axil_rdata: Default::default(),
            m_axil_rresp: Default::default(),
            m_axil_rvalid: Default::default(),
            m_axil_rready: Default::default(),
            host_valid: Default::default(),
            host_write: Default::default(),
            host_word: Default::default(),
            host_data: Default::default(),
            host_done: Default::default(),
            host_read: Default::default(),
            board_write: Default::default(),
            board_word: Default::default(),
            board_read: Default::default(),
            good: Default::default(),
            bad: Default::default(),
            line_1: Default::default(),
            line_2: Default::default(),
            receiving: Default::default(),
            in_time: Default::default(),
            in_bit: Default::default(),
            still: Default::default(),
            state: Default::default(),
            shift: Default::default(),
            count: Default::default(),
            crc: Default::default(),
            serial: Default::default(),
            aw_open: Default::default(),
            w_open: Default::default(),
            low: Default::default(),
            out_time: Default::default(),
            out_bit: Default::default(),
            out_byte: Default::default(),
            sampled: Default::default(),
            ended: Default::default(),
            writes: Default::default(),
            repeated: Default::default(),
            behind: Default::default(),
            finish: Default::default(),
            value: Default::default(),
            response: Default::default(),
            answer: Default::default(),
            moves: Default::default(),
            moved_in: Default::default(),
            feeds: Default::default(),
            fed: Default::default(),
            all_bytes: Constant::new(0xfu64.to_bits()),
            sync: Constant::new(u64::from(SYNC).to_bits()),
            ones: Constant::new(0xffffu64.to_bits()),
            polynomial: Constant::new(POLYNOMIAL.to_bits()),
            residue: Constant::new(RESIDUE.to_bits()),
            beyond: Constant::new((0x3f_ffff & !0u64 << (M + 2)).to_bits()),
            kept: Constant::new(KEPT.to_bits()),
            length: Constant::new(LENGTH.to_bits()),
            decode_error: Constant::new(3u64.to_bits()),
            bit_time: Constant::new((divisor - 1).to_bits()),
            half_time: Constant::new((divisor / 2 - 1).to_bits()),
        }
    }
}

impl<const A: usize, const M: usize> Logic for UartPort<A, M> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, line_1, line_2, receiving, in_time, in_bit, still, state, shift, count, crc, serial, aw_open, w_open, low,
            out_time, out_bit, out_byte
        );

        // Bits from the line, each in its middle.
        self.line_1.d.next = self.line_in.val();
        self.line_2.d.next = self.line_1.q.val();
        self.sampled.next = false;
        self.ended.next = false;
        self.in_time.d.next = self.in_time.q.val() - 1;
        if !self.in_time.q.val().any() {
            self.in_time.d.next = self.bit_time.val();
            self.in_bit.d.next = self.in_bit.q.val() + 1;
        }
        if self.receiving.q.val() {
            if !self.in_time.q.val().any() {
                match self.in_bit.q.val().index() {
                    0 => {
                        self.receiving.d.next = !self.line_2.q.val();
                    }
                    9 => {
                        self.ended.next = true;
                        self.receiving.d.next = false;
                    }
                    _ => {
                        self.sampled.next = true;
                    }
                }
            }
        } else {
            self.in_time.d.next = self.half_time.val();
            self.in_bit.d.next = 0.into();
            self.receiving.d.next = !self.line_2.q.val();
        }

        // What the request wants.
        self.writes.next = self.shift.q.val().get_bit(7);
        self.repeated.next = self.writes.val() & (self.shift.q.val().get_bits::<4>(0) == self.serial.q.val());
        self.behind.next = (self.shift.q.val().get_bits::<22>(8) & self.beyond.val()).any();
        self.m_axil_awaddr.next = self.shift.q.val().get_bits::<A>(8);
        self.m_axil_araddr.next = self.shift.q.val().get_bits::<A>(8);
        self.m_axil_wdata.next = self.shift.q.val().get_bits::<32>(32);
        self.m_axil_wstrb.next = self.all_bytes.val() & !bit_cast::<4, 1>(self.reset.val().into());
        self.m_axil_awvalid.next = self.aw_open.q.val();
        self.m_axil_wvalid.next = self.w_open.q.val();
        self.m_axil_arvalid.next = self.state.q.val() == UartState::Read;
        self.m_axil_bready.next = self.state.q.val() == UartState::WriteAnswer;
        self.m_axil_rready.next = self.state.q.val() == UartState::ReadAnswer;
        self.host_valid.next = self.state.q.val() == UartState::Memory;
        self.host_write.next = self.writes.val();
        self.host_word.next = self.shift.q.val().get_bits::<M>(10);
        self.host_data.next = self.shift.q.val().get_bits::<32>(32);
        self.board_word.next = self.shift.q.val().get_bit(10);
        self.board_write.next = false;
        self.good.next = false;
        self.bad.next = false;
        self.finish.next = false;
        self.value.next = 0.into();
        self.response.next = 0.into();
        self.moves.next = false;
        self.moved_in.next = self.line_2.q.val();
        self.feeds.next = false;
        self.fed.next = self.line_2.q.val();

        if self.tick.val() {
            self.still.d.next = true;
        }
        if self.sampled.val() | self.ended.val() {
            self.still.d.next = false;
        }

        match self.state.q.val() {
            UartState::Hunt => {
                self.moves.next = self.sampled.val();
                self.count.d.next = 0.into();
                self.crc.d.next = self.ones.val();
                if self.ended.val() & self.line_2.q.val() & (self.shift.q.val().get_bits::<8>(56) == self.sync.val()) {
                    self.state.d.next = UartState::Request;
                }
            }
            UartState::Request => {
                self.moves.next = self.sampled.val() & (self.count.q.val() < self.kept.val());
                self.feeds.next = self.sampled.val();
                if self.sampled.val() {
                    self.count.d.next = self.count.q.val() + 1;
                }
                if self.ended.val() {
                    if self.count.q.val() == self.length.val() {
                        self.state.d.next = UartState::Decide;
                    }
                    if !self.line_2.q.val() {
                        self.bad.next = true;
                        self.state.d.next = UartState::Hunt;
                    }
                }
                if self.tick.val() & self.still.q.val() {
                    self.bad.next = true;
                    self.state.d.next = UartState::Hunt;
                }
            }
            UartState::Decide => {
                if self.crc.q.val() == self.residue.val() {
                    self.good.next = true;
                    self.serial.d.next = self.shift.q.val().get_bits::<4>(0);
                    if self.repeated.val() {
                        self.finish.next = true;
                    } else {
                        if self.shift.q.val().get_bit(31) {
                            self.board_write.next = self.writes.val();
                            self.value.next = self.board_read.val();
                            self.finish.next = true;
                        } else {
                            if self.shift.q.val().get_bit(30) {
                                if self.behind.val() {
                                    self.response.next = self.decode_error.val();
                                    self.finish.next = true;
                                } else {
                                    self.state.d.next = UartState::Memory;
                                }
                            } else {
                                if self.writes.val() {
                                    self.state.d.next = UartState::Write;
                                    self.aw_open.d.next = true;
                                    self.w_open.d.next = true;
                                } else {
                                    self.state.d.next = UartState::Read;
                                }
                            }
                        }
                    }
                } else {
                    self.bad.next = true;
                    self.state.d.next = UartState::Hunt;
                }
            }
            UartState::Write => {
                if self.m_axil_awready.val() {
                    self.aw_open.d.next = false;
                }
                if self.m_axil_wready.val() {
                    self.w_open.d.next = false;
                }
                if (self.m_axil_awready.val() | !self.aw_open.q.val()) & (self.m_axil_wready.val() | !self.w_open.q.val()) {
                    self.state.d.next = UartState::WriteAnswer;
                }
            }
            UartState::WriteAnswer => {
                self.response.next = self.m_axil_bresp.val();
                self.finish.next = self.m_axil_bvalid.val();
            }
            UartState::Read => {
                if self.m_axil_arready.val() {
                    self.state.d.next = UartState::ReadAnswer;
                }
            }
            UartState::ReadAnswer => {
                self.value.next = self.m_axil_rdata.val();
                self.response.next = self.m_axil_rresp.val();
                self.finish.next = self.m_axil_rvalid.val();
            }
            UartState::Memory => {
                self.value.next = self.host_read.val();
                self.finish.next = self.host_done.val();
            }
            UartState::Answer => {
                self.out_time.d.next = self.out_time.q.val() - 1;
                if !self.out_time.q.val().any() {
                    self.out_time.d.next = self.bit_time.val();
                    self.out_bit.d.next = self.out_bit.q.val() + 1;
                    match self.out_bit.q.val().index() {
                        0 => {
                            self.low.d.next = true;
                        }
                        9 => {
                            self.low.d.next = false;
                            self.out_bit.d.next = 0.into();
                            self.out_byte.d.next = self.out_byte.q.val() + 1;
                            if self.out_byte.q.val().all() {
                                self.state.d.next = UartState::Hunt;
                            }
                        }
                        _ => {
                            self.low.d.next = !self.shift.q.val().get_bit(16);
                            self.moves.next = true;
                            self.feeds.next = true;
                            self.fed.next = self.shift.q.val().get_bit(16);
                            if (self.out_byte.q.val().get_bits::<2>(1)) == 3 {
                                // Nothing is fed but what is there: zeros come in.
                                self.low.d.next = self.crc.q.val().get_bit(0);
                                self.fed.next = self.crc.q.val().get_bit(0);
                            }
                        }
                    }
                    if !self.out_byte.q.val().any() {
                        self.crc.d.next = self.ones.val();
                        self.feeds.next = false;
                    }
                }
            }
            _ => {
                self.state.d.next = UartState::Hunt;
            }
        }
        self.line_out.next = !self.low.q.val();

        // The shift register and the CRC serve both ways.
        if self.moves.val() {
            self.shift.d.next = (self.shift.q.val() >> 1) | (bit_cast::<64, 1>(self.moved_in.val().into()) << 63);
        }
        if self.feeds.val() {
            self.crc.d.next = self.crc.q.val() >> 1;
            if self.crc.q.val().get_bit(0) ^ self.fed.val() {
                self.crc.d.next = (self.crc.q.val() >> 1) ^ self.polynomial.val();
            }
        }
        self.answer.next = bit_cast::<48, 8>(self.sync.val())
            | (bit_cast::<48, 2>(self.response.val()) << 8)
            | (bit_cast::<48, 1>((self.repeated.val() & (self.state.q.val() == UartState::Decide)).into()) << 10)
            | (bit_cast::<48, 4>(self.shift.q.val().get_bits::<4>(0)) << 12)
            | (bit_cast::<48, 32>(self.value.val()) << 16);
        if self.finish.val() {
            self.shift.d.next = bit_cast::<64, 48>(self.answer.val()) << 16;
            self.out_time.d.next = self.bit_time.val();
            self.out_bit.d.next = 0.into();
            self.out_byte.d.next = 0.into();
            self.state.d.next = UartState::Answer;
        }

        if self.reset.val() {
            self.receiving.d.next = false;
            self.state.d.next = UartState::Hunt;
            self.aw_open.d.next = false;
            self.w_open.d.next = false;
            self.low.d.next = false;
            self.still.d.next = false;
            self.serial.d.next = 0.into();
        }
    }

    crate::block_name!("UART to AXI4-Lite, on-chip memory and the board's registers.");
}
