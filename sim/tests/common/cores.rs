// SPDX-License-Identifier: MIT OR Apache-2.0
//! One long test on all cores: cargo runs the tests of a file side by side, but what is longest runs alone in the end.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each item, in their order; each core takes the next one. A panic is passed on once all have ended.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let one = || {
            let mut done = vec![];
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(number) else { return done };
                done.push((number, work(item)));
            }
        };
        let count = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(one)).collect();
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        ended
            .into_iter()
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    assert_eq!(done.len(), items.len());
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
