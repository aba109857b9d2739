// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tells "the engine did wrong" (exit status 1) from "it could not be run" (2).

use std::fmt;

/// A check that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotHeld(pub String);

impl fmt::Display for NotHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotHeld {}

/// Returns a [`NotHeld`] unless the condition holds.
#[macro_export]
macro_rules! hold {
    ($condition:expr, $($message:tt)*) => {
        if !$condition {
            return Err($crate::held::NotHeld(format!($($message)*)).into());
        }
    };
}
