// SPDX-License-Identifier: MIT OR Apache-2.0
//! XGMII in plain Rust, byte by byte: what a good or a bad sender puts on it, and a receiver that says what was wrong.
//!
//! ```text
//! Sender: frames, idles, codes, ordered sets ─► columns        columns ─► Receiver: frames, gaps, violations
//! ```
//! It shares nothing with `hdl/src/mac`: codes and CRC are its own (IEEE 802.3, clauses 3 and 46).

use std::collections::VecDeque;

/// Eight lanes: bytes, and which of them are codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub data: u64,
    pub control: u8,
}

/// Column of idles.
pub const IDLE: Column = Column {
    data: 0x0707_0707_0707_0707,
    control: 0xff,
};
/// Shortest gap that a sender may leave where it means 12: deficit idle count, bytes.
pub const SHORTEST_GAP: usize = 9;

const I: (u8, bool) = (0x07, true);
const S: (u8, bool) = (0xfb, true);
const T: (u8, bool) = (0xfd, true);
const E: (u8, bool) = (0xfe, true);
const Q: (u8, bool) = (0x9c, true);

/// The FCS of a frame, as it goes out: first byte first.
pub fn fcs(frame: &[u8]) -> [u8; 4] {
    let mut crc = u32::MAX;
    for byte in frame {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    (!crc).to_le_bytes()
}

/// The kinds of link fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Local,
    Remote,
}

/// Makes columns.
#[derive(Debug, Default)]
pub struct Sender {
    lanes: VecDeque<(u8, bool)>,
    /// Bytes queued since the start, so that lanes are known.
    position: usize,
    /// Bytes of gap owed, up to 3 (deficit idle count).
    owed: usize,
}

impl Sender {
    fn push(&mut self, byte: (u8, bool)) {
        self.lanes.push_back(byte);
        self.position += 1;
    }

    /// Bytes of idle.
    pub fn idle(&mut self, bytes: usize) {
        (0..bytes).for_each(|_| self.push(I));
    }

    /// Idles until the next byte stands in that lane.
    pub fn to_lane(&mut self, lane: usize) {
        while self.position % 8 != lane {
            self.push(I);
        }
    }

    /// A good frame: preamble, `bytes`, FCS, `/T/`; the next byte must be in lane 0 or 4.
    pub fn frame(&mut self, bytes: &[u8]) {
        let mut all = bytes.to_vec();
        all.extend(fcs(bytes));
        self.raw_frame(&all);
    }

    /// A gap behind a frame as a good sender makes it: 12 bytes on average, `/T/` counted, to a lane where the next one may start.
    pub fn gap(&mut self) {
        let over = (self.position - 1) % 4;
        let (less, more) = (over, (4 - over) % 4);
        // The next start is a multiple of 4: `over` bytes too soon, or the rest too late.
        let gap = if self.owed + less <= 3 {
            self.owed += less;
            12 - less
        } else {
            self.owed -= more;
            12 + more
        };
        self.idle(gap - 1);
    }

    /// A frame of those bytes, FCS included, whatever it is.
    pub fn raw_frame(&mut self, bytes: &[u8]) {
        self.start();
        bytes.iter().for_each(|b| self.push((*b, false)));
        self.push(T);
    }

    /// `/S/`, preamble, delimiter.
    pub fn start(&mut self) {
        assert_eq!(self.position % 4, 0, "a frame starts in lane 0 or 4");
        self.push(S);
        (0..6).for_each(|_| self.push((0x55, false)));
        self.push((0xd5, false));
    }

    /// Data bytes or codes as they are.
    pub fn lanes(&mut self, lanes: &[(u8, bool)]) {
        lanes.iter().for_each(|l| self.push(*l));
    }

    /// An ordered set; the next byte must be in lane 0 or 4.
    pub fn fault(&mut self, fault: Fault) {
        assert_eq!(self.position % 4, 0, "an ordered set starts in lane 0 or 4");
        self.push(Q);
        self.push((0, false));
        self.push((0, false));
        self.push((if fault == Fault::Local { 1 } else { 2 }, false));
    }

    /// Bytes queued.
    pub fn pending(&self) -> usize {
        self.lanes.len()
    }

    /// Nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// What goes on the wire next; idles if nothing is queued.
    pub fn next_column(&mut self) -> Column {
        let mut column = Column { data: 0, control: 0 };
        for lane in 0..8 {
            if self.lanes.is_empty() {
                self.push(I);
            }
            if let Some((byte, code)) = self.lanes.pop_front() {
                column.data |= u64::from(byte) << (8 * lane);
                column.control |= u8::from(code) << lane;
            }
        }
        column
    }
}

/// A frame as it was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Without FCS.
    pub bytes: Vec<u8>,
    pub fcs_good: bool,
    /// `/E/` was in it.
    pub error: bool,
    /// Lane of `/S/`.
    pub lane: usize,
    /// Column of `/S/`.
    pub column: usize,
    /// Bytes between the FCS before and `/S/`, `/T/` included; none before the first frame.
    pub gap: Option<usize>,
}

/// Takes columns. Ordered sets count as gap.
#[derive(Debug, Default)]
pub struct Receiver {
    pub frames: Vec<Received>,
    pub violations: Vec<String>,
    /// Ordered sets seen, by fault.
    pub local_faults: usize,
    pub remote_faults: usize,
    column: usize,
    state: State,
    current: Vec<u8>,
    error: bool,
    lane: usize,
    start_column: usize,
    since: Option<usize>,
    gap: Option<usize>,
    set: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum State {
    #[default]
    Gap,
    Preamble(usize),
    Data,
    Set,
}

impl Receiver {
    fn wrong(&mut self, lane: usize, what: &str) {
        if self.violations.len() < 20 {
            self.violations.push(format!("column {}, lane {lane}: {what}", self.column));
        }
    }

    pub fn column(&mut self, column: Column) {
        for lane in 0..8 {
            let byte = (column.data >> (8 * lane)) as u8;
            self.byte(lane, (byte, column.control >> lane & 1 == 1));
        }
        self.column += 1;
    }

    fn byte(&mut self, lane: usize, byte: (u8, bool)) {
        match self.state {
            State::Gap => self.between(lane, byte),
            State::Preamble(at) => {
                let want = if at == 7 { 0xd5 } else { 0x55 };
                if byte != (want, false) {
                    self.wrong(lane, &format!("preamble byte {at} is {byte:x?}"));
                }
                self.state = if at == 7 { State::Data } else { State::Preamble(at + 1) };
            }
            State::Data => match byte {
                (data, false) => self.current.push(data),
                T => self.end(),
                E => {
                    self.error = true;
                    self.current.push(0xfe);
                }
                other => self.wrong(lane, &format!("code {other:x?} in a frame")),
            },
            State::Set => {
                self.since = self.since.map(|s| s + 1);
                if byte.1 {
                    self.wrong(lane, "code in an ordered set");
                }
                self.set.push(byte.0);
                if self.set.len() == 3 {
                    match self.set[..] {
                        [0, 0, 1] => self.local_faults += 1,
                        [0, 0, 2] => self.remote_faults += 1,
                        _ => self.wrong(lane, "unknown ordered set"),
                    }
                    self.state = State::Gap;
                }
            }
        }
    }

    fn between(&mut self, lane: usize, byte: (u8, bool)) {
        match byte {
            I => self.since = self.since.map(|s| s + 1),
            Q => {
                if !lane.is_multiple_of(4) {
                    self.wrong(lane, "ordered set not in lane 0 or 4");
                }
                self.since = self.since.map(|s| s + 1);
                self.set.clear();
                self.state = State::Set;
            }
            S => {
                if !lane.is_multiple_of(4) {
                    self.wrong(lane, "start not in lane 0 or 4");
                }
                if self.since.is_some_and(|gap| gap < SHORTEST_GAP) {
                    self.wrong(lane, &format!("gap of {:?} bytes", self.since));
                }
                (self.lane, self.start_column, self.gap) = (lane, self.column, self.since);
                self.error = false;
                self.current.clear();
                self.state = State::Preamble(1);
            }
            other => self.wrong(lane, &format!("{other:x?} between frames")),
        }
    }

    fn end(&mut self) {
        let mut bytes = std::mem::take(&mut self.current);
        let tail = bytes.split_off(bytes.len().saturating_sub(4));
        self.frames.push(Received {
            fcs_good: tail == fcs(&bytes),
            bytes,
            error: self.error,
            lane: self.lane,
            column: self.start_column,
            gap: self.gap,
        });
        // The /T/ is the gap's first byte.
        self.since = Some(1);
        self.state = State::Gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fcs_of_the_check_string() {
        assert_eq!(fcs(b"123456789"), 0xcbf4_3926u32.to_le_bytes());
    }

    #[test]
    fn sender_and_receiver_agree() {
        let (mut sender, mut receiver) = (Sender::default(), Receiver::default());
        let frame: Vec<u8> = (0..61).collect();
        sender.idle(8);
        sender.frame(&frame);
        sender.idle(11);
        sender.to_lane(4);
        sender.frame(&frame);
        while !sender.is_empty() {
            receiver.column(sender.next_column());
        }
        receiver.column(IDLE);
        assert_eq!(receiver.violations, Vec::<String>::new());
        assert_eq!(receiver.frames.len(), 2);
        assert!(receiver.frames.iter().all(|f| f.bytes == frame && f.fcs_good && !f.error));
        assert_eq!([receiver.frames[0].lane, receiver.frames[1].lane], [0, 4]);
    }

    #[test]
    fn gaps_are_twelve_on_average() {
        let (mut sender, mut receiver) = (Sender::default(), Receiver::default());
        for length in 60..160 {
            sender.frame(&vec![1; length]);
            sender.gap();
        }
        let bytes = sender.pending();
        while !sender.is_empty() {
            receiver.column(sender.next_column());
        }
        assert_eq!((receiver.violations, receiver.frames.len()), (vec![], 100));
        let want = (60..160).map(|n| 8 + n + 4 + 12).sum::<usize>();
        assert!((want - 3..=want).contains(&bytes), "{bytes}, not {want}");
    }

    #[test]
    fn receiver_sees_what_is_wrong() {
        let cases: [fn(&mut Sender); 4] = [
            |s| s.lanes(&[(1, false)]),
            |s| {
                s.frame(&[0; 60]);
                s.idle(7 - 4);
                s.to_lane(4);
                s.frame(&[0; 60]);
            },
            |s| s.lanes(&[S, (0x54, false)]),
            |s| s.lanes(&[I, Q]),
        ];
        for (number, case) in cases.iter().enumerate() {
            let (mut sender, mut receiver) = (Sender::default(), Receiver::default());
            case(&mut sender);
            while !sender.is_empty() {
                receiver.column(sender.next_column());
            }
            assert!(!receiver.violations.is_empty(), "case {number}");
        }
    }
}
