// SPDX-License-Identifier: MIT OR Apache-2.0
//! The 10G Ethernet MAC: frames without FCS on the engine's side, XGMII on the other, 64 bits at 156.25 MHz.
//!
//! See `docs/stations/mac.md`.

mod fcs_loop;
mod fcs_tail;
mod link_fault;
#[allow(clippy::module_inception)]
mod mac;
mod pause_timer;
mod rx_align;
mod rx_frame;
mod tx_fill;
mod tx_framer;
pub mod xgmii;

pub use fcs_loop::FcsLoop;
pub use fcs_tail::FcsTail;
pub use link_fault::LinkFault;
pub use mac::Mac;
pub use pause_timer::PauseTimer;
pub use rx_align::RxAlign;
pub use rx_frame::RxFrame;
pub use tx_fill::TxFill;
pub use tx_framer::TxFramer;
