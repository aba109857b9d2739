// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two golden engines, a program on each.

use std::net::TcpListener;
use std::thread;
use verbena_model::wire::Faults;
use verbena_programs::local::{ends, Local};
use verbena_programs::Error;
use verbena_verbs::golden::GoldenHca;

pub type Golden = Local<GoldenHca>;

/// Runs a program on each end.
pub fn both<A: Send, B: Send>(
    seed: u64,
    faults: Faults,
    server: impl FnOnce(&mut Golden) -> Result<A, Error> + Send,
    client: impl FnOnce(&mut Golden) -> Result<B, Error> + Send,
) -> (Result<A, Error>, Result<B, Error>) {
    let [left, right] = ends(seed, faults);
    thread::scope(|scope| {
        let server = scope.spawn(|| server(&mut Local::open(left, GoldenHca::new())?));
        let client = scope.spawn(|| client(&mut Local::open(right, GoldenHca::new())?));
        (
            server.join().expect("the server's thread"),
            client.join().expect("the client's thread"),
        )
    })
}

/// A port that nobody listens at just now.
#[allow(dead_code)]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// 2 % lost, doubled and overtaken, 1 % broken.
#[allow(dead_code)]
pub fn bad_wire() -> Faults {
    Faults {
        loss: 0.02,
        duplicate: 0.02,
        reorder: 0.02,
        corrupt: 0.01,
        ..Faults::default()
    }
}
