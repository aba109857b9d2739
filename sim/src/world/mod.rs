// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two machines on a wire: random work on several QPs both ways, every byte and completion held to a sequential model.
//!
//! ```text
//!  Plan (per QP and direction) ─► post_send, post_recv ─► Network: GoldenPair, Pair of Verilated engines, Mixed
//!    └─► what must come of it ─► each completion as it is polled; each area, byte by byte, at the end; retries
//! ```

mod area;
mod ceiling;
mod completions;
mod connect;
mod golden;
mod mixed;
mod network;
mod plan;
mod post;
mod run;
mod transfer;
mod verilated;

pub use area::Area;
pub use ceiling::{answer_bytes, message_bytes};
pub use golden::GoldenPair;
pub use mixed::Mixed;
pub use network::Network;
pub use run::{Report, World, WorldOptions};
pub use transfer::{transfer, Flow, Moved, Order, Route, TransferOptions};

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use verbena_model::wire::Faults;

/// Each fault at 0 to `worst`, one in three seeds without some of them. Times in ns.
pub fn random_faults(rng: &mut ChaCha8Rng, worst: f64) -> Faults {
    let mut rate = || {
        if worst <= 0.0 || rng.gen_ratio(1, 3) {
            0.0
        } else {
            rng.gen_range(0.0..worst)
        }
    };
    Faults {
        loss: rate(),
        duplicate: rate(),
        reorder: rate(),
        corrupt: rate(),
        delay: rate(),
        ..Faults::default()
    }
}
