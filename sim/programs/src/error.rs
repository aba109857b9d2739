// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong in a program, by kind.

use thiserror::Error;
use verbena_verbs::{CompletionStatus, Gid};

/// Everything that a program's run can end with.
#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Verbs(#[from] verbena_verbs::Error),
    #[error("{what}: {error}")]
    Socket { what: String, error: std::io::Error },
    #[error("the peer closed the connection while {0} was awaited; see its own messages")]
    Closed(&'static str),
    #[error("the peer sent {found:?} as {what}, want {want}")]
    Protocol {
        what: &'static str,
        found: String,
        want: &'static str,
    },
    #[error("waited {limit:?} for {what}")]
    Timeout { what: String, limit: std::time::Duration },
    #[error("{what} ended with {status:?}")]
    Completion { what: String, status: CompletionStatus },
    #[error("no answer to ARP for {}", text(.0))]
    Unresolved(Gid),
    #[error("{what}: byte {at} is {found:#04x}, want {want:#04x}")]
    Data { what: String, at: usize, found: u8, want: u8 },
    #[error("{by} refused the connection: {reason}")]
    Rejected { by: String, reason: verbena_cm::Reason },
    #[error("{by} doesn't answer: {sent} was sent in vain")]
    Unreachable { by: String, sent: &'static str },
    #[error(transparent)]
    Connection(#[from] verbena_cm::Refused),
    #[error("{0}")]
    Usage(String),
    #[error("printing: {0}")]
    Print(std::io::Error),
    #[error("the machine around the engine: {0}")]
    Host(String),
}

impl From<verbena_verbs::DmaError> for Error {
    fn from(error: verbena_verbs::DmaError) -> Error {
        Error::Verbs(error.into())
    }
}

/// A GID as an address.
pub(crate) fn text(gid: &Gid) -> String {
    let v6 = std::net::Ipv6Addr::from(gid.0);
    v6.to_ipv4_mapped().map_or(v6.to_string(), |v4| v4.to_string())
}
