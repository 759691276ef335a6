//! What is still to come, in order: by time, and at one time by who asked first.

use std::{cmp::Ordering, collections::BinaryHeap};

use crate::protocol::Time;

/// A queue whose order depends on nothing but the calls made.
#[derive(Debug)]
pub(super) struct Queue<T> {
    heap: BinaryHeap<Item<T>>,
    next: u64,
}

#[derive(Debug)]
struct Item<T> {
    at: Time,
    sequence: u64,
    what: T,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            next: 0,
        }
    }
}

impl<T> Queue<T> {
    pub(super) fn push(&mut self, at: Time, what: T) {
        let sequence = self.next;
        self.next += 1;
        self.heap.push(Item { at, sequence, what });
    }

    pub(super) fn pop(&mut self) -> Option<(Time, T)> {
        self.heap.pop().map(|item| (item.at, item.what))
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|item| item.at)
    }
}

// The heap gives the largest first, so the earliest counts as the largest.
impl<T> Ord for Item<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

impl<T> PartialOrd for Item<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Item<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Item<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_keep_the_order_of_the_calls() {
        let mut queue = Queue::default();
        for (at, what) in [(2, 'c'), (1, 'a'), (2, 'd'), (1, 'b')] {
            queue.push(Time::from_millis(at), what);
        }
        let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, w)| w).collect();
        assert_eq!(order, "abcd");
    }
}
