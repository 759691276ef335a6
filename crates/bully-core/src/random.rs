//! A small seeded generator: the same seed gives the same numbers on every machine and for ever.
//!
//! Decided here: how numbers become choices. Not here: secrets; the generator is not cryptographic. `SplitMix64` is
//! by Steele, Lea and Flood, in Vigna's public version.

use std::time::Duration;

use crate::protocol::After;

/// A generator of 64-bit numbers with a 64-bit state.
///
/// ```
/// use bully_sim::faults::SplitMix64;
/// let mut a = SplitMix64::new(7);
/// let mut b = SplitMix64::new(7);
/// assert_eq!(a.next_u64(), b.next_u64());
/// assert!(a.below(10) < 10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Returns the generator of this seed. The numbers of neighbouring seeds are unrelated.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns another generator. Give each user its own: then the numbers that one user takes do not change the
    /// numbers of another user.
    #[must_use]
    pub const fn fork(&mut self) -> Self {
        Self(self.next_u64())
    }

    /// Returns a number from 0 up to but not including `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// Returns a number from `least` to `most`, both included; `least` if `most` is smaller.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        let room = most.saturating_sub(least);
        if room == 0 {
            return least;
        }
        least.saturating_add(self.below(room.saturating_add(1)))
    }

    /// Returns `true` in `per_mille` of a thousand cases. Takes no number if the answer is certain.
    pub fn chance(&mut self, per_mille: u16) -> bool {
        match per_mille {
            0 => false,
            1000.. => true,
            _ => self.below(1000) < u64::from(per_mille),
        }
    }

    /// Returns a span from this range. Takes no number if the range has only one span.
    pub fn span(&mut self, range: After) -> Duration {
        if range.min >= range.max {
            return range.min;
        }
        let nanos = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.between(nanos(range.min), nanos(range.max)))
    }

    /// Returns one element of the slice, or `None` if the slice is empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(u64::try_from(from.len()).unwrap_or(0));
        from.get(usize::try_from(at).ok()?)
    }

    /// Puts the elements of the list into a random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let at = self.below(u64::try_from(last).unwrap_or(0).saturating_add(1));
            list.swap(last, usize::try_from(at).unwrap_or(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut random = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn choices_stay_in_their_bounds_and_reach_them() {
        let mut random = SplitMix64::new(1);
        let drawn: Vec<u64> = (0..200).map(|_| random.between(3, 5)).collect();
        assert_eq!(drawn.iter().min().zip(drawn.iter().max()), Some((&3, &5)));
        assert_eq!((random.below(0), random.between(9, 2)), (0, 9));
        assert_eq!(random.pick::<u8>(&[]), None);
        assert!(!random.chance(0) && random.chance(1000) && random.chance(u16::MAX));
        let some = (0..10_000).filter(|_| random.chance(250)).count();
        assert!((2_300..2_700).contains(&some), "{some} of 10,000 at 250");
        assert!(random.between(0, u64::MAX) > 0);
    }

    #[test]
    fn shuffling_keeps_everything() {
        let mut list: Vec<u32> = (0..50).collect();
        SplitMix64::new(3).shuffle(&mut list);
        assert_ne!(list, (0..50).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }
}
