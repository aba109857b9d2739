// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: CNPs for marked packets (R76). See `docs/stations/congestion.md`.

mod notification_point;

pub use notification_point::NotificationPoint;
