//! A set of members, by their positions in the order of ranks.
//!
//! The registry keeps two sets: the members that have seen the newest membership and must be notified of the next
//! change, and the members among them that are still to be notified. The positions are in the order of ranks, so that
//! an election can require that the highest member is notified first ([`NotifyOrder`](crate::protocol::NotifyOrder)).

#[derive(Debug, Default)]
pub(super) struct RankSet(Vec<u64>);

impl RankSet {
    /// Empties the set, and makes room for `positions` positions.
    pub(super) fn reset(&mut self, positions: usize) {
        self.0.clear();
        self.0.resize(positions.div_ceil(BITS), 0);
    }

    /// Adds a position. A position outside of the set's room is ignored.
    pub(super) fn insert(&mut self, position: usize) {
        if let Some(bits) = self.0.get_mut(position / BITS) {
            *bits |= 1 << (position % BITS);
        }
    }

    /// Moves all positions into `other`.
    pub(super) fn move_to(&mut self, other: &mut Self) {
        for (from, to) in self.0.iter_mut().zip(&mut other.0) {
            *to |= std::mem::take(from);
        }
    }

    /// Takes the first position out.
    pub(super) fn pop(&mut self) -> Option<usize> {
        let (at, bits) = self
            .0
            .iter_mut()
            .enumerate()
            .find(|(_, bits)| **bits != 0)?;
        let bit = bits.trailing_zeros();
        *bits &= bits.checked_sub(1)?; // removes the lowest bit
        Some(at * BITS + usize::try_from(bit).ok()?)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|bits| *bits == 0)
    }

    /// Takes all positions out, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter_mut().enumerate().flat_map(|(at, bits)| {
            let mut left_over = std::mem::take(bits);
            std::iter::from_fn(move || {
                let bit = usize::try_from(left_over.trailing_zeros()).ok()?;
                let left = left_over.checked_sub(1)?; // ends when no bit is left
                left_over &= left;
                Some(at * BITS + bit)
            })
        })
    }
}

const BITS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_out_once_and_in_order() {
        let mut set = RankSet::default();
        set.insert(3);
        assert_eq!(set.drain().count(), 0, "no room yet");
        set.reset(130);
        for position in [129, 0, 64, 63, 0, 192] {
            set.insert(position);
        }
        let mut other = RankSet::default();
        other.reset(130);
        set.move_to(&mut other);
        assert!(set.is_empty() && !other.is_empty());
        assert_eq!(other.pop(), Some(0));
        assert_eq!(other.drain().collect::<Vec<_>>(), [63, 64, 129]);
        assert_eq!(other.pop(), None);
        assert_eq!(set.drain().count(), 0);
    }
}
