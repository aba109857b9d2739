// SPDX-License-Identifier: MIT OR Apache-2.0
//! The AXI4-Lite master: one access at a time.

use super::pins::{Lite, Violations};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// An access, under way or finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Write { address_taken: bool, data_taken: bool },
    WriteResponse,
    ReadAddress,
    ReadData,
}

/// A finished access: data (of a read) and response code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiteDone {
    pub data: u32,
    pub response: u8,
}

/// Drives `s_axil`.
pub struct LiteMaster {
    /// Chance that a channel waits in a cycle: address and data come apart, responses are taken late.
    pub idle: f64,
    state: State,
    address: u32,
    data: u32,
    strobe: u8,
    done: Option<LiteDone>,
    rng: ChaCha8Rng,
}

impl LiteMaster {
    pub fn new(seed: u64) -> LiteMaster {
        LiteMaster {
            idle: 0.0,
            state: State::Idle,
            address: 0,
            data: 0,
            strobe: 0xf,
            done: None,
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0x117e),
        }
    }

    /// Begins a write; an access that is under way is forgotten.
    pub fn start_write(&mut self, address: u32, data: u32, strobe: u8) {
        (self.address, self.data, self.strobe) = (address, data, strobe);
        self.done = None;
        self.state = State::Write {
            address_taken: false,
            data_taken: false,
        };
    }

    /// Begins a read.
    pub fn start_read(&mut self, address: u32) {
        self.address = address;
        self.done = None;
        self.state = State::ReadAddress;
    }

    /// The result, once.
    pub fn take_done(&mut self) -> Option<LiteDone> {
        self.done.take()
    }

    fn goes(&mut self) -> bool {
        self.idle == 0.0 || !self.rng.gen_bool(self.idle)
    }

    pub fn drive(&mut self, port: &mut Lite) {
        if self.state == State::Idle {
            (port.aw_valid, port.w_valid, port.ar_valid, port.b_ready, port.r_ready) = (false, false, false, false, false);
            return;
        }
        let (write, read) = (self.goes(), self.goes());
        // Valid holds until it is taken; ready may come and go.
        if let State::Write { address_taken, data_taken } = self.state {
            port.aw_valid = !address_taken && (port.aw_valid || write);
            port.w_valid = !data_taken && (port.w_valid || read);
        }
        port.ar_valid = self.state == State::ReadAddress && (port.ar_valid || write);
        port.b_ready = self.state == State::WriteResponse && write;
        port.r_ready = self.state == State::ReadData && read;
        port.aw_address = self.address;
        port.ar_address = self.address;
        port.w_data = self.data;
        port.w_strobe = self.strobe;
    }

    pub fn sample(&mut self, port: &mut Lite, cycle: u64, violations: &mut Violations) {
        if port.b_valid && !matches!(self.state, State::WriteResponse | State::Write { .. }) {
            violations.add(cycle, "s_axil_b", "a response to nothing");
        }
        if port.r_valid && !matches!(self.state, State::ReadData | State::ReadAddress) {
            violations.add(cycle, "s_axil_r", "data for nothing");
        }
        match self.state {
            State::Idle => {}
            State::Write { address_taken, data_taken } => {
                let address_taken = address_taken || (port.aw_valid && port.aw_ready);
                let data_taken = data_taken || (port.w_valid && port.w_ready);
                if port.b_valid {
                    violations.add(cycle, "s_axil_b", "a response before address and data were taken");
                }
                self.state = if address_taken && data_taken {
                    State::WriteResponse
                } else {
                    State::Write { address_taken, data_taken }
                };
                port.aw_valid &= !address_taken;
                port.w_valid &= !data_taken;
            }
            State::WriteResponse if port.b_valid && port.b_ready => {
                self.done = Some(LiteDone {
                    data: 0,
                    response: port.b_response,
                });
                self.state = State::Idle;
            }
            State::ReadAddress if port.ar_valid && port.ar_ready => {
                port.ar_valid = false;
                self.state = State::ReadData;
            }
            State::ReadData if port.r_valid && port.r_ready => {
                self.done = Some(LiteDone {
                    data: port.r_data,
                    response: port.r_response,
                });
                self.state = State::Idle;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slave of one register that answers after a while.
    fn run(idle: f64, write: bool) -> LiteDone {
        let (mut master, mut port, mut violations) = (LiteMaster::new(5), Lite::default(), Violations::default());
        master.idle = idle;
        if write {
            master.start_write(8, 77, 0xf);
        } else {
            master.start_read(8);
        }
        let (mut address, mut data, mut read) = (false, false, false);
        for cycle in 0..500 {
            master.drive(&mut port);
            port.aw_ready = !address && cycle % 3 == 0;
            port.w_ready = !data && cycle % 4 == 0;
            port.ar_ready = !read && cycle % 3 == 0;
            port.b_valid = address && data;
            port.r_valid = read;
            (port.r_data, port.b_response) = (99, 2);
            address |= port.aw_valid && port.aw_ready;
            data |= port.w_valid && port.w_ready;
            read |= port.ar_valid && port.ar_ready;
            master.sample(&mut port, cycle, &mut violations);
            if let Some(done) = master.take_done() {
                violations.check().unwrap();
                return done;
            }
        }
        panic!("no answer");
    }

    #[test]
    fn accesses_end_with_their_response() {
        for idle in [0.0, 0.5] {
            assert_eq!(run(idle, true).response, 2);
            assert_eq!(run(idle, false), LiteDone { data: 99, response: 0 });
        }
    }
}
