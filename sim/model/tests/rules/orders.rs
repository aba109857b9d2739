// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every order of so many packets.

/// The `count!` orders of `0..count`.
pub fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![vec![]];
    }
    let mut all = vec![];
    for shorter in orders(count - 1) {
        for place in 0..count {
            let mut order = shorter.clone();
            order.insert(place, count - 1);
            all.push(order);
        }
    }
    all
}
