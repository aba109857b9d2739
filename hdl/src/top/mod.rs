// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole engine and its stations, by preset.

mod designs;
mod hca;
mod hca_xgmii;
mod requester_side;
mod soft_reset;
mod split;

pub use designs::{
    build, designs, emit, emit_cu, emit_ecp5, emit_mac, emit_xgmii, BuildError, TOP, TOP_CU, TOP_ECP5, TOP_MAC, TOP_XGMII, WHOLE,
};
pub use hca::{Hca, HcaCu, HcaTengig, HcaTengig16, HcaTengig64};
pub use hca_xgmii::HcaXgmii;
pub use requester_side::RequesterSide;
pub use soft_reset::SoftReset;
pub use split::Split;
