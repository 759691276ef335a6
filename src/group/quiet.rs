//! The members that have seen the newest membership: those who must be told of the next change.
//!
//! A set of places in rank order, so that an election may ask for the highest in rank to be told
//! first ([`NotifyOrder`](crate::protocol::NotifyOrder)).

#[derive(Debug, Default)]
pub(super) struct Quiet(Vec<u64>);

impl Quiet {
    /// Empties the set, and makes room for this many places.
    pub(super) fn reset(&mut self, places: usize) {
        self.0.clear();
        self.0.resize(places.div_ceil(BITS), 0);
    }

    /// Adds a place; one without room is ignored.
    pub(super) fn insert(&mut self, place: usize) {
        if let Some(word) = self.0.get_mut(place / BITS) {
            *word |= 1 << (place % BITS);
        }
    }

    /// Moves all places into `other`.
    pub(super) fn move_to(&mut self, other: &mut Self) {
        for (from, to) in self.0.iter_mut().zip(&mut other.0) {
            *to |= std::mem::take(from);
        }
    }

    /// Takes the first place out.
    pub(super) fn pop(&mut self) -> Option<usize> {
        let (at, word) = self
            .0
            .iter_mut()
            .enumerate()
            .find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros();
        *word &= word.checked_sub(1)?; // an empty word ends here
        Some(at * BITS + usize::try_from(bit).ok()?)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Takes all places out, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter_mut().enumerate().flat_map(|(at, word)| {
            let mut rest = std::mem::take(word);
            std::iter::from_fn(move || {
                let bit = usize::try_from(rest.trailing_zeros()).ok()?;
                let left = rest.checked_sub(1)?; // an empty word ends here
                rest &= left;
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
    fn places_come_out_once_and_in_order() {
        let mut quiet = Quiet::default();
        quiet.insert(3);
        assert_eq!(quiet.drain().count(), 0, "no room yet");
        quiet.reset(130);
        for place in [129, 0, 64, 63, 0, 192] {
            quiet.insert(place);
        }
        let mut other = Quiet::default();
        other.reset(130);
        quiet.move_to(&mut other);
        assert!(quiet.is_empty() && !other.is_empty());
        assert_eq!(other.pop(), Some(0));
        assert_eq!(other.drain().collect::<Vec<_>>(), [63, 64, 129]);
        assert_eq!(other.pop(), None);
        assert_eq!(quiet.drain().count(), 0);
    }
}
