// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes to and from the board.

use anyhow::{Context, Result};
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// Bits a second: 25 cycles of 50 MHz each.
pub const BAUD: u32 = 50_000_000 / verbena_designs::UART_DIVISOR as u32;

/// A UART's two directions.
pub trait Line {
    /// Sends bytes; returns when they are on their way.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;
    /// The next byte; `None` if there was none for a while (longer than an answer takes).
    fn receive(&mut self) -> Result<Option<u8>>;
    /// Drops what has come in, and lets the line be still for longer than the board waits inside a request.
    fn pause(&mut self) -> Result<()>;
}

impl<L: Line> Line for &mut L {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).send(bytes)
    }
    fn receive(&mut self) -> Result<Option<u8>> {
        (**self).receive()
    }
    fn pause(&mut self) -> Result<()> {
        (**self).pause()
    }
}

/// A serial port of this machine.
pub struct SerialLine {
    port: Box<dyn serialport::SerialPort>,
}

/// An answer comes after the register access, one USB frame and the adapter's latency timer (16 ms as Linux sets it).
const PATIENCE: Duration = Duration::from_millis(250);
/// The board waits 2.6 ms at most.
const PAUSE: Duration = Duration::from_millis(20);

impl SerialLine {
    /// Opens `/dev/ttyUSB1` or its like: 8 bits, no parity, one stop bit.
    pub fn open(path: &str) -> Result<SerialLine> {
        let port = serialport::new(path, BAUD)
            .timeout(PATIENCE)
            .open()
            .with_context(|| format!("can't open {path} at {BAUD} baud (is the board plugged in? may you use the port: group dialout?)"))?;
        Ok(SerialLine { port })
    }
}

impl Line for SerialLine {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.port.write_all(bytes).context("the serial port takes nothing")
    }

    fn receive(&mut self) -> Result<Option<u8>> {
        let mut byte = [0];
        match self.port.read(&mut byte) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(byte[0])),
            Err(e) if matches!(e.kind(), ErrorKind::TimedOut | ErrorKind::Interrupted) => Ok(None),
            Err(e) => Err(e).context("the serial port gives nothing"),
        }
    }

    fn pause(&mut self) -> Result<()> {
        let start = Instant::now();
        while let Some(left) = PAUSE.checked_sub(start.elapsed()) {
            std::thread::sleep(left);
        }
        self.port
            .clear(serialport::ClearBuffer::Input)
            .context("the serial port can't be cleared")
    }
}
