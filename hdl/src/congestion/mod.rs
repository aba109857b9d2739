// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: CNPs for marked packets, and requests that CNPs slow (R76). See `docs/stations/congestion.md`.

mod limiter;
mod notification_point;
mod rate_clock;
mod reaction_point;

pub use limiter::{Limiter, LimiterWork};
pub use notification_point::NotificationPoint;
pub use rate_clock::RateClock;
pub use reaction_point::ReactionPoint;
