// SPDX-License-Identifier: MIT OR Apache-2.0
//! An engine with a MAC: its XGMII is turned into the frames that the rest of the machine knows, byte by byte and by the rules of the wire.
//!
//! ```text
//! MacRx ─► beats of a whole frame ─► preamble, FCS, gap ─► xgmii_rxd
//! Sink  ◄─ beats of a whole frame ◄─ frames, gaps checked ◄─ xgmii_txd
//! ```
//! A frame is passed on when it is whole, so each way is a frame's time longer than at the MAC's streams; the pace is the same. `MacRx` must keep the wire's pace.

use super::pins::{Pins, Violations};
use std::collections::VecDeque;
use verbena_model::xgmii::{fcs, Column, Receiver, Sender};
use verbena_verilated::{Engine, EngineError, Input, Output};

const BEAT: usize = 8;

/// Both ways.
pub struct XgmiiSide {
    inputs: [Input; 3],
    outputs: [Output; 2],
    sender: Sender,
    receiver: Receiver,
    incoming: Vec<u8>,
    outgoing: VecDeque<Vec<u8>>,
    beat: usize,
    reported: usize,
    cycle_bad: usize,
}

impl XgmiiSide {
    /// Whether the engine has such a side.
    pub fn is_there(engine: &Engine) -> bool {
        engine.input("xgmii_rxd").is_ok()
    }

    pub fn new(engine: &Engine) -> Result<XgmiiSide, EngineError> {
        Ok(XgmiiSide {
            inputs: [
                engine.input("xgmii_rxd")?,
                engine.input("xgmii_rxc")?,
                engine.input("mac_pause_enable")?,
            ],
            outputs: [engine.output("xgmii_txd")?, engine.output("xgmii_txc")?],
            sender: Sender::default(),
            receiver: Receiver::default(),
            incoming: vec![],
            outgoing: VecDeque::new(),
            beat: 0,
            reported: 0,
            cycle_bad: 0,
        })
    }

    pub fn drive(&mut self, engine: &mut Engine, pins: &Pins) {
        let beat = &pins.mac_rx;
        if beat.valid && !pins.reset {
            let count = beat.keep.trailing_ones() as usize;
            self.incoming.extend_from_slice(&beat.data.to_le_bytes()[..count]);
            if beat.last {
                let mut frame = std::mem::take(&mut self.incoming);
                let mut check = fcs(&frame);
                check[0] ^= u8::from(beat.user);
                frame.extend(check);
                self.sender.raw_frame(&frame);
                self.sender.gap();
            }
        }
        let column = self.sender.next_column();
        engine.set(self.inputs[0], column.data);
        engine.set(self.inputs[1], u64::from(column.control));
        engine.set(self.inputs[2], 1);
    }

    pub fn sample(&mut self, engine: &Engine, pins: &mut Pins) {
        pins.mac_rx.ready = true;
        if !pins.reset {
            self.receiver.column(Column {
                data: engine.get(self.outputs[0]),
                control: engine.get(self.outputs[1]) as u8,
            });
        }
        for frame in self.receiver.frames.drain(..) {
            if frame.error || !frame.fcs_good {
                self.cycle_bad += 1;
            }
            self.outgoing.push_back(frame.bytes);
        }
        let port = &mut pins.mac_tx;
        let Some(frame) = self.outgoing.front() else {
            port.valid = false;
            return;
        };
        let rest = &frame[BEAT * self.beat..];
        let count = rest.len().min(BEAT);
        let mut data = [0; BEAT];
        data[..count].copy_from_slice(&rest[..count]);
        port.data = u64::from_le_bytes(data);
        port.keep = ((1u16 << count) - 1) as u8;
        port.last = count == rest.len();
        port.user = false;
        port.valid = true;
        if port.ready {
            self.beat += 1;
            if port.last {
                self.outgoing.pop_front();
                self.beat = 0;
            }
        }
    }

    /// What the transmitter did wrong since the last call.
    pub fn report(&mut self, cycle: u64, violations: &mut Violations) {
        for _ in 0..std::mem::take(&mut self.cycle_bad) {
            violations.add(
                cycle,
                "xgmii_txd",
                "a frame with an error code or a wrong FCS: the engine paused inside it",
            );
        }
        for what in &self.receiver.violations[self.reported..] {
            violations.add(cycle, "xgmii_txd", what.clone());
        }
        self.reported = self.receiver.violations.len();
    }
}
