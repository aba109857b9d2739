// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: ECN marks in, CNPs out, and the rate limiter's parameters (R76).

use crate::{Bus, Device, DmaMemory, Error};
use verbena_spec::layout::{congestion as f, CONGESTION_WORDS};
use verbena_spec::registers;

/// Congestion control of the whole engine. The default sends and heeds CNPs with DCQCN's parameters for 10 Gb/s (Zhu et al., SIGCOMM 2015).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CongestionAttr {
    /// Send a CNP for packets that arrive marked.
    pub notify: bool,
    /// A CNP slows its QP's requests.
    pub react: bool,
    /// Shortest time between two CNPs of a QP, us.
    pub cnp_interval: u8,
    /// Slowest and fastest rate, Mb/s.
    pub min_rate: u16,
    pub line_rate: u16,
    /// Increases, Mb/s.
    pub additive: u16,
    pub hyper: u16,
    /// Alpha falls after so long without a CNP, us, up to 1023.
    pub alpha_time: u16,
    /// The rate rises after each of these, us, up to 1023.
    pub rate_time: u16,
    /// Rises of fast recovery, up to 15.
    pub fast_steps: u8,
    /// log2 of 1/g, up to 15.
    pub gain_shift: u8,
    /// The rate rises after each of these, KiB.
    pub rate_bytes: u32,
}

impl Default for CongestionAttr {
    fn default() -> Self {
        Self {
            notify: true,
            react: true,
            cnp_interval: 50,
            min_rate: 10,
            line_rate: 10_000,
            additive: 40,
            hyper: 200,
            alpha_time: 55,
            rate_time: 55,
            fast_steps: 5,
            gain_shift: 8,
            rate_bytes: 10 << 10,
        }
    }
}

impl<P: Bus + DmaMemory> Device<P> {
    /// Sets congestion control. What an engine hasn't is refused by name: all of it, or the half that is switched on and isn't there; parameters of a
    /// half that isn't there are without effect.
    pub fn set_congestion(&mut self, attr: &CongestionAttr) -> Result<(), Error> {
        let (notification, reaction) = (self.capabilities().congestion_notification, self.capabilities().congestion_reaction);
        if !notification && !reaction {
            return Err(Error::Unsupported("congestion control"));
        }
        if attr.notify && !notification {
            return Err(Error::Unsupported("congestion control: CNPs for marked packets (notify)"));
        }
        if attr.react && !reaction {
            return Err(Error::Unsupported("congestion control: requests that CNPs slow (react)"));
        }
        let mut row = [0; CONGESTION_WORDS];
        for (field, value) in [
            (f::NOTIFY, attr.notify.into()),
            (f::REACT, attr.react.into()),
            (f::CNP_INTERVAL, attr.cnp_interval.into()),
            (f::MIN_RATE, attr.min_rate.into()),
            (f::LINE_RATE, attr.line_rate.into()),
            (f::ADDITIVE, attr.additive.into()),
            (f::HYPER, attr.hyper.into()),
            (f::ALPHA_TIME, attr.alpha_time.into()),
            (f::RATE_TIME, attr.rate_time.into()),
            (f::FAST_STEPS, attr.fast_steps.into()),
            (f::GAIN_SHIFT, attr.gain_shift.into()),
            (f::RATE_BYTES, attr.rate_bytes),
        ] {
            if value > field.max() {
                return Err(Error::OutOfRange {
                    what: field.name,
                    value: value.into(),
                    want: format!("{} bits", field.bits),
                });
            }
            field.set(&mut row, value);
        }
        // The switches last.
        for (word, value) in row.iter().enumerate().rev() {
            self.platform().write(registers::CONGESTION + 4 * word as u32, *value)?;
        }
        Ok(())
    }
}
