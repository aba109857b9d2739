// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden engine, rule by rule (R1-R79): each test has its rule's number. Loops are seeded and print the seed.

#[path = "rules/client.rs"]
mod client;
#[path = "rules/congestion.rs"]
mod congestion;
#[path = "rules/datagram.rs"]
mod datagram;
#[path = "rules/early_responses.rs"]
mod early_responses;
#[path = "rules/fixture.rs"]
mod fixture;
#[path = "rules/framing.rs"]
mod framing;
#[path = "rules/memory.rs"]
mod memory;
#[path = "rules/ordering.rs"]
mod ordering;
#[path = "rules/orders.rs"]
mod orders;
#[path = "rules/queues.rs"]
mod queues;
#[path = "rules/random.rs"]
mod random;
#[path = "rules/random_answers.rs"]
mod random_answers;
#[path = "rules/read_atomic.rs"]
mod read_atomic;
#[path = "rules/reorder.rs"]
mod reorder;
#[path = "rules/retry.rs"]
mod retry;
#[path = "rules/selective.rs"]
mod selective;
#[path = "rules/sending.rs"]
mod sending;
