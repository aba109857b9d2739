// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and answers in frames with a CRC. The other end, and the layout, are `verbena_hdl::board::UartPort`.

use super::line::Line;
use thiserror::Error;
use verbena_hdl::board::SYNC;

/// Attempts at a request.
const ATTEMPTS: usize = 5;
/// Bytes of an answer behind the first one.
const ANSWER: usize = 7;
/// Bytes that are looked through for an answer's first one.
const GARBAGE: usize = 4096;
/// Status bit: the write was done before.
const REPEATED: u8 = 1 << 2;

/// Why a request failed.
#[derive(Debug, Error)]
pub enum LinkError {
    #[error(
        "no answer to {what} at {address:#08x} after {ATTEMPTS} attempts: is this the board's second port, and is the bitstream in it?"
    )]
    Silent { what: &'static str, address: u32 },
    #[error("{what} at {address:#08x} was refused (SLVERR)")]
    Refused { what: &'static str, address: u32 },
    #[error("nothing answers at {address:#08x} (DECERR)")]
    Decode { address: u32 },
    #[error("{0:#}")]
    Line(anyhow::Error),
}

/// A line with requests on it.
pub struct Link<L> {
    pub line: L,
    sequence: u8,
    /// Attempts that had no answer, or a broken one.
    pub retries: u64,
    /// Requests.
    pub requests: u64,
}

/// CRC-16 of X.25.
pub fn crc(bytes: &[u8]) -> u16 {
    !bytes.iter().fold(0xffff, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0x8408 } else { c >> 1 })
    })
}

impl<L: Line> Link<L> {
    /// Brings both ends together, whatever was sent before.
    pub fn new(line: L) -> Result<Self, LinkError> {
        let mut link = Link {
            line,
            sequence: 0,
            retries: 0,
            requests: 0,
        };
        link.line.pause().map_err(LinkError::Line)?;
        Ok(link)
    }

    /// Reads the word at an address of the board.
    pub fn read(&mut self, address: u32) -> Result<u32, LinkError> {
        self.request("a read", address, None)
    }

    /// Writes it.
    pub fn write(&mut self, address: u32, data: u32) -> Result<(), LinkError> {
        self.request("a write", address, Some(data)).map(|_| ())
    }

    /// The bytes of a request.
    pub fn frame(sequence: u8, address: u32, write: Option<u32>) -> Vec<u8> {
        let mut frame = vec![SYNC, sequence & 0xf | if write.is_some() { 0x80 } else { 0 }];
        frame.extend(&address.to_le_bytes()[..3]);
        frame.extend(write.unwrap_or(0).to_le_bytes());
        frame.extend(crc(&frame[1..]).to_le_bytes());
        frame
    }

    fn request(&mut self, what: &'static str, address: u32, write: Option<u32>) -> Result<u32, LinkError> {
        self.requests += 1;
        self.sequence = (self.sequence + 1) & 0xf;
        let frame = Self::frame(self.sequence, address, write);
        for _ in 0..ATTEMPTS {
            self.line.send(&frame).map_err(LinkError::Line)?;
            if let Some((status, data)) = self.answer().map_err(LinkError::Line)? {
                return match status & 3 {
                    0 => Ok(data),
                    2 => Err(LinkError::Refused { what, address }),
                    _ => Err(LinkError::Decode { address }),
                };
            }
            self.retries += 1;
            self.line.pause().map_err(LinkError::Line)?;
        }
        Err(LinkError::Silent { what, address })
    }

    /// The answer to the last request: status and data. `None`: there is none, or it is broken.
    fn answer(&mut self) -> anyhow::Result<Option<(u8, u32)>> {
        for _ in 0..GARBAGE {
            match self.line.receive()? {
                None => return Ok(None),
                Some(SYNC) => break,
                Some(_) => {}
            }
        }
        let mut bytes = [0; ANSWER];
        for byte in &mut bytes {
            match self.line.receive()? {
                None => return Ok(None),
                Some(b) => *byte = b,
            }
        }
        let (content, sent) = bytes.split_at(ANSWER - 2);
        if crc(content).to_le_bytes() != *sent || content[0] >> 4 != self.sequence {
            return Ok(None);
        }
        Ok(Some((
            content[0] & !REPEATED,
            u32::from_le_bytes([content[1], content[2], content[3], content[4]]),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn the_crc_is_that_of_x25() {
        // The check value of the catalogues.
        assert_eq!(crc(b"123456789"), 0x906e);
    }

    /// Answers as told; remembers what was sent.
    #[derive(Default)]
    struct Script {
        answers: VecDeque<Vec<u8>>,
        waiting: VecDeque<u8>,
        sent: Vec<Vec<u8>>,
        pauses: usize,
    }

    impl Line for Script {
        fn send(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
            self.sent.push(bytes.to_vec());
            self.waiting.extend(self.answers.pop_front().unwrap_or_default());
            Ok(())
        }
        fn receive(&mut self) -> anyhow::Result<Option<u8>> {
            Ok(self.waiting.pop_front())
        }
        fn pause(&mut self) -> anyhow::Result<()> {
            self.pauses += 1;
            self.waiting.clear();
            Ok(())
        }
    }

    fn answer(status: u8, data: u32) -> Vec<u8> {
        let mut bytes = vec![SYNC, status];
        bytes.extend(data.to_le_bytes());
        bytes.extend(crc(&bytes[1..]).to_le_bytes());
        bytes
    }

    fn link(answers: Vec<Vec<u8>>) -> Link<Script> {
        Link::new(Script {
            answers: answers.into(),
            ..Script::default()
        })
        .unwrap()
    }

    #[test]
    fn broken_and_missing_answers_are_asked_for_again_with_the_same_number() {
        let mut broken = answer(0x10, 7);
        broken[3] ^= 1;
        let mut link = link(vec![vec![], broken, answer(0x30, 9), [vec![1, 2, 3], answer(0x10, 42)].concat()]);
        assert_eq!(link.read(0x104).unwrap(), 42);
        assert_eq!((link.retries, link.line.pauses), (3, 4));
        assert!(link.line.sent.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(link.line.sent[0][..5], [SYNC, 1, 4, 1, 0]);
    }

    #[test]
    fn errors_are_named() {
        let mut link = link(vec![answer(0x12, 0), answer(0x23, 0), vec![]]);
        assert!(matches!(link.write(8, 1), Err(LinkError::Refused { address: 8, .. })));
        assert!(matches!(link.read(12), Err(LinkError::Decode { address: 12 })));
        assert!(matches!(link.read(16), Err(LinkError::Silent { address: 16, .. })));
    }
}
