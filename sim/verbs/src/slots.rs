// SPDX-License-Identifier: MIT OR Apache-2.0
//! Index allocation: slots with a generation, so that a handle to a former life is told from the present one; and ranges.

/// A table of `limit` slots from index `first`.
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    first: usize,
    what: &'static str,
}

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Index and generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub index: u32,
    pub generation: u32,
}

impl<T> Slots<T> {
    pub fn new(what: &'static str, first: usize, limit: usize) -> Self {
        Slots {
            slots: (0..limit)
                .map(|_| Slot {
                    generation: 0,
                    value: None,
                })
                .collect(),
            first,
            what,
        }
    }

    /// The first free index at or after the table's first, and the generation it is going to have.
    pub fn vacancy(&self) -> Result<Key, crate::Error> {
        self.vacancy_at_any(self.first..self.slots.len())
    }

    /// `index` itself, if it is free.
    pub fn vacancy_at(&self, index: usize) -> Result<Key, crate::Error> {
        self.vacancy_at_any(index.min(self.slots.len())..(index + 1).min(self.slots.len()))
    }

    fn vacancy_at_any(&self, range: std::ops::Range<usize>) -> Result<Key, crate::Error> {
        range
            .clone()
            .find(|i| self.slots[*i].value.is_none())
            .map(|i| Key {
                index: i as u32,
                generation: self.slots[i].generation.wrapping_add(1),
            })
            .ok_or(crate::Error::Exhausted {
                what: self.what,
                limit: range.len(),
            })
    }

    /// Fills a vacancy.
    pub fn fill(&mut self, key: Key, value: T) {
        if let Some(slot) = self.slots.get_mut(key.index as usize) {
            *slot = Slot {
                generation: key.generation,
                value: Some(value),
            };
        }
    }

    pub fn get(&self, key: Key) -> Result<&T, crate::Error> {
        let slot = self.slots.get(key.index as usize).filter(|s| s.generation == key.generation);
        slot.and_then(|s| s.value.as_ref()).ok_or(crate::Error::Stale(self.what))
    }

    pub fn get_mut(&mut self, key: Key) -> Result<&mut T, crate::Error> {
        let slot = self.slots.get_mut(key.index as usize).filter(|s| s.generation == key.generation);
        slot.and_then(|s| s.value.as_mut()).ok_or(crate::Error::Stale(self.what))
    }

    pub fn take(&mut self, key: Key) -> Result<T, crate::Error> {
        let slot = self.slots.get_mut(key.index as usize).filter(|s| s.generation == key.generation);
        slot.and_then(|s| s.value.take()).ok_or(crate::Error::Stale(self.what))
    }

    /// The live value at an index, whatever its generation.
    pub fn at_mut(&mut self, index: usize) -> Option<(Key, &mut T)> {
        let slot = self.slots.get_mut(index)?;
        let key = Key {
            index: index as u32,
            generation: slot.generation,
        };
        slot.value.as_mut().map(|v| (key, v))
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|s| s.value.as_ref())
    }
}

/// First-fit allocation of ranges of table entries.
pub(crate) struct Ranges {
    used: Vec<(usize, usize)>,
    limit: usize,
}

impl Ranges {
    pub fn new(limit: usize) -> Self {
        Ranges { used: Vec::new(), limit }
    }

    /// The first entry of `count` free ones in a row.
    pub fn allocate(&mut self, count: usize, what: &'static str) -> Result<usize, crate::Error> {
        let mut start = 0;
        let mut position = 0;
        for (i, (first, length)) in self.used.iter().enumerate() {
            if first - start >= count {
                position = i;
                break;
            }
            start = first + length;
            position = i + 1;
        }
        if start + count > self.limit {
            return Err(crate::Error::Exhausted { what, limit: self.limit });
        }
        self.used.insert(position, (start, count));
        Ok(start)
    }

    pub fn free(&mut self, start: usize) {
        self.used.retain(|(first, _)| *first != start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_tell_lives_apart() {
        let mut slots = Slots::new("thing", 1, 3);
        let key = slots.vacancy().unwrap();
        assert_eq!(key.index, 1);
        slots.fill(key, 'a');
        assert_eq!(slots.take(key).unwrap(), 'a');
        let again = slots.vacancy().unwrap();
        assert_eq!(again.index, 1);
        slots.fill(again, 'b');
        assert!(slots.get(key).is_err());
        assert_eq!(*slots.get(again).unwrap(), 'b');
    }

    #[test]
    fn ranges_fit_gaps() {
        let mut ranges = Ranges::new(10);
        let (a, b, c) = (
            ranges.allocate(3, "e").unwrap(),
            ranges.allocate(3, "e").unwrap(),
            ranges.allocate(4, "e").unwrap(),
        );
        assert_eq!((a, b, c), (0, 3, 6));
        assert!(ranges.allocate(1, "e").is_err());
        ranges.free(b);
        assert!(ranges.allocate(4, "e").is_err());
        assert_eq!(ranges.allocate(2, "e").unwrap(), 3);
        assert_eq!(ranges.allocate(1, "e").unwrap(), 5);
    }
}
