// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plain-Rust model: what a RoCEv2 HCA must do, without hardware types. The RTL is compared with it, transaction by transaction.
//!
//! | module | what |
//! |---|---|
//! | [`packet`], [`parse`], [`icrc`] | frames in and out of bytes |
//! | [`memory`] | host memory in scattered pages |
//! | [`golden`] | the engine that the RTL is held to: responder and requester |
//! | [`requester`] | packets of whole messages, without a queue pair |
//! | [`wire`], [`fabric`], [`link`] | a bad wire; bursts, bottleneck and paths on it; two golden engines on one |
//! | [`xgmii`] | the MAC's wire: what a good or bad sender puts on it, and a receiver that says what was wrong |
//! | [`capture`] | pcap files |
//! | [`replay`] | a capture played against a responder |

pub mod capture;
pub mod fabric;
pub mod golden;
pub mod icrc;
pub mod link;
pub mod memory;
pub mod packet;
pub mod parse;
pub mod replay;
pub mod requester;
pub mod wire;
pub mod xgmii;
