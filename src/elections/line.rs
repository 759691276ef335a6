//! Places in line: who goes first when a seat is vacant, and for how long the others wait.
//!
//! Decided here: where who rests stands. Whoever stepped down a short while ago lets others go first;
//! but nobody knows who rests, and all who are left may. So who rests has a turn like everybody else,
//! [`LAST`] places further back: behind all who do not rest, and among those who do in order of rank.
//! Not here: what a turn begins.

use std::time::Duration;

/// Nobody stands further back than at this place, but who rests.
pub(crate) const LAST: usize = 8;

/// The place of an agent with so many `ahead` of it; the first is 0.
pub(crate) fn place(ahead: usize, rests: bool) -> usize {
    let back = if rests { LAST } else { 0 };
    ahead.min(LAST).saturating_add(back)
}

/// For how long who stands at that place waits: one `step` for each place.
pub(crate) fn wait(step: Duration, place: usize) -> Duration {
    step.saturating_mul(u32::try_from(place).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_rests_stands_behind_all_who_do_not_and_in_order_of_rank() {
        let places = |rests| [0, 1, 7, 8, 9, 99].map(|ahead| place(ahead, rests));
        assert_eq!(places(false), [0, 1, 7, 8, 8, 8]);
        assert_eq!(places(true), [8, 9, 15, 16, 16, 16]);
        let step = Duration::from_millis(4);
        assert_eq!(wait(step, place(1, true)), Duration::from_millis(36));
        assert_eq!(wait(Duration::MAX, 2), Duration::MAX);
    }
}
