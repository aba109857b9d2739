// SPDX-License-Identifier: MIT OR Apache-2.0
//! The board's pins in a Verilated model: its UART bit by bit.
//!
//! The model's clock is the board's, a cycle of the model one of the engine's: the PLL is a wire there.

use super::line::Line;
use anyhow::{Context, Result};
use std::collections::VecDeque;
use verbena_designs::UART_DIVISOR;
use verbena_hdl::verilog::{shim, Port};
use verbena_tb::verilated::Model;

/// Cycles without a byte after which there is no answer: more than a frame waits for a MAC that doesn't take it, and some for the access.
const PATIENCE: u64 = 200_000;
/// Cycles of a still line: more than two ticks of the board (2^16 cycles each).
const PAUSE: u64 = 3 << 16;

/// A model with the ports of `fpga/rtl/cu_bench.v`.
pub struct SimulatedLine {
    model: Model,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    ports: Vec<Port>,
    rx: usize,
    tx: usize,
    led: usize,
    /// Level and cycles left of each bit to be sent.
    out: VecDeque<bool>,
    out_left: u64,
    /// The byte that comes in: cycles since its start bit, bits so far.
    coming: Option<(u64, u8)>,
    arrived: VecDeque<u8>,
    pub cycles: u64,
    /// Lights that were on at some time.
    pub lights_seen: u8,
}

impl SimulatedLine {
    /// Around a model; its inputs are low but for the line and the button.
    pub fn new(model: Model, ports: Vec<Port>) -> Result<SimulatedLine> {
        let (inputs, outputs) = model.sizes();
        let mut line = SimulatedLine {
            rx: place(&ports, "usb_rx")?,
            tx: place(&ports, "usb_tx")?,
            led: place(&ports, "led")?,
            model,
            inputs: vec![0; inputs],
            outputs: vec![0; outputs],
            ports,
            out: VecDeque::new(),
            out_left: 0,
            coming: None,
            arrived: VecDeque::new(),
            cycles: 0,
            lights_seen: 0,
        };
        line.set("usb_rx", 1)?;
        line.set("rst_n", 1)?;
        Ok(line)
    }

    /// Sets an input.
    pub fn set(&mut self, name: &str, value: u32) -> Result<()> {
        let at = place(&self.ports, name)?;
        self.inputs[at] = value;
        Ok(())
    }

    /// The lights as they are.
    pub fn lights(&self) -> u8 {
        self.outputs[self.led] as u8
    }

    /// Goes on for some cycles.
    pub fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.tick());
    }

    fn tick(&mut self) {
        if self.out_left == 0 {
            let level = self.out.pop_front();
            self.inputs[self.rx] = u32::from(level.unwrap_or(true));
            self.out_left = if level.is_some() { UART_DIVISOR } else { 0 };
        }
        self.out_left = self.out_left.saturating_sub(1);
        self.model.cycle(&self.inputs, &mut self.outputs);
        self.cycles += 1;
        self.lights_seen |= self.outputs[self.led] as u8;
        let high = self.outputs[self.tx] & 1 == 1;
        self.coming = match self.coming {
            None => (!high).then_some((0, 0)),
            Some((since, bits)) => {
                let since = since + 1;
                if since % UART_DIVISOR != UART_DIVISOR / 2 {
                    Some((since, bits))
                } else {
                    match since / UART_DIVISOR {
                        0 => (!high).then_some((since, 0)),
                        9 => {
                            // A byte without stop bit isn't one.
                            if high {
                                self.arrived.push_back(bits);
                            }
                            None
                        }
                        _ => Some((since, bits >> 1 | u8::from(high) << 7)),
                    }
                }
            }
        };
    }
}

fn place(ports: &[Port], name: &str) -> Result<usize> {
    let port = ports
        .iter()
        .find(|p| p.name == name)
        .with_context(|| format!("the model has no port {name}"))?;
    let before = ports.iter().take_while(|p| p.name != name);
    Ok(before.filter(|p| p.input == port.input && !p.clock).map(shim::words).sum())
}

impl Line for SimulatedLine {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        for byte in bytes {
            self.out.push_back(false);
            self.out.extend((0..8).map(|i| byte >> i & 1 == 1));
            self.out.push_back(true);
        }
        while !self.out.is_empty() {
            self.tick();
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<u8>> {
        for _ in 0..PATIENCE {
            if let Some(byte) = self.arrived.pop_front() {
                return Ok(Some(byte));
            }
            self.tick();
        }
        Ok(None)
    }

    fn pause(&mut self) -> Result<()> {
        self.run(PAUSE);
        self.arrived.clear();
        Ok(())
    }
}
