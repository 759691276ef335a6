//! The scheduled events in order: by time, and at equal times by the order of the calls.

use std::{cmp::Ordering, collections::BinaryHeap};

use bully_core::protocol::Time;

/// A queue whose order depends only on the calls.
///
/// The heap sorts only small keys. Entries, which are much larger, stay in their slots.
#[derive(Debug)]
pub(super) struct EventQueue<T> {
    heap: BinaryHeap<Item>,
    next: u64,
    /// The slots with the entries, and the indices of the free slots.
    waiting: Vec<Option<T>>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Item {
    at: Time,
    sequence: u64,
    slot: usize,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            next: 0,
            waiting: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> EventQueue<T> {
    pub(super) fn push(&mut self, at: Time, what: T) {
        let sequence = self.reserve();
        self.push_as(at, sequence, what);
    }

    /// Reserves a number for an entry that will be pushed later. Entries of equal times are ordered by this number.
    pub(super) fn reserve(&mut self) -> u64 {
        let sequence = self.next;
        self.next += 1;
        sequence
    }

    pub(super) fn push_as(&mut self, at: Time, sequence: u64, what: T) {
        let slot = self.free.pop().unwrap_or(self.waiting.len());
        match self.waiting.get_mut(slot) {
            Some(free) => *free = Some(what),
            None => self.waiting.push(Some(what)),
        }
        self.heap.push(Item { at, sequence, slot });
    }

    pub(super) fn pop(&mut self) -> Option<(Time, T)> {
        let Item { at, slot, .. } = self.heap.pop()?;
        self.free.push(slot);
        let what = self.waiting.get_mut(slot)?.take()?;
        Some((at, what))
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|item| item.at)
    }
}

// The order is reversed, because the heap returns the largest item first, and the queue needs the earliest.
impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Item {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_keep_the_order_of_the_calls() {
        let mut queue = EventQueue::default();
        for (at, what) in [(2, 'c'), (1, 'a'), (2, 'd'), (1, 'b')] {
            queue.push(Time::from_millis(at), what);
        }
        let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, w)| w).collect();
        assert_eq!(order, "abcd");
    }

    #[test]
    fn a_reserved_turn_is_kept_for_a_late_push() {
        let (mut queue, at) = (EventQueue::default(), Time::from_millis(1));
        let turn = queue.reserve();
        queue.push(at, 'b');
        queue.push_as(at, turn, 'a');
        assert_eq!(queue.pop().zip(queue.pop()), Some(((at, 'a'), (at, 'b'))));
    }
}
