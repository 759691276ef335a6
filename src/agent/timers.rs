//! The named timers of a machine, in the order in which they are due.
//!
//! Decided here: which timer comes first, and which point of a range is chosen. Not here: the wait itself. One deadline
//! of the agent serves all of its timers.

use std::time::Duration;

use fastrand::Rng;

use crate::protocol::{After, AgentId, Incarnation};

/// Timers with their instants, sorted by (instant, timer). An agent has only a few.
#[derive(Debug)]
pub(super) struct Timers<T, I>(Vec<(I, T)>);

impl<T, I> Default for Timers<T, I> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + Ord, I: Copy + Ord> Timers<T, I> {
    /// Sets a timer, and replaces an earlier timer of the same name.
    pub(super) fn set(&mut self, timer: T, at: I) {
        self.cancel(timer);
        let index = self.0.partition_point(|set| *set < (at, timer));
        // Memory for only one more timer: most agents set only one of their few timers at a time.
        self.0.reserve_exact(1);
        self.0.insert(index, (at, timer));
    }

    pub(super) fn cancel(&mut self, timer: T) {
        self.0.retain(|(_, set)| *set != timer);
    }

    /// Removes the first timer and returns it, if it is due.
    pub(super) fn pop_due(&mut self, now: I) -> Option<T> {
        let is_due = self.0.first().is_some_and(|(at, _)| *at <= now);
        is_due.then(|| self.0.remove(0).1)
    }

    /// Returns the number of timers that are due.
    pub(super) fn due(&self, now: I) -> usize {
        self.0.partition_point(|(at, _)| *at <= now)
    }

    pub(super) fn next(&self) -> Option<I> {
        self.0.first().map(|(at, _)| *at)
    }
}

/// Returns the random generator of an incarnation. With the same seed, name and incarnation it gives the same numbers.
pub(super) fn generator(seed: u64, id: &AgentId, incarnation: Incarnation) -> Rng {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3); // FNV-1a
    let name = id.as_str().bytes().map(u64::from);
    let words = seed.to_le_bytes().into_iter().map(u64::from);
    let number = incarnation.0.to_le_bytes().into_iter().map(u64::from);
    let hash = name.chain(words).chain(number);
    Rng::with_seed(hash.fold(0xcbf2_9ce4_8422_2325, mix))
}

/// Returns a random point of the range, never below its minimum.
///
/// If the range is a millisecond long or longer, the point is a whole millisecond. Timers fire on a grid of
/// milliseconds: timers between two points of the grid would fire in the order in which they were set, and not in the
/// drawn order.
pub(super) fn draw(after: After, rng: &mut Rng) -> Duration {
    let After { min, max } = after;
    let Some(range) = max.checked_sub(min).filter(|range| !range.is_zero()) else {
        return min;
    };
    let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    let rounded = Duration::from_nanos(nanos(min).next_multiple_of(MILLISECOND));
    match max.checked_sub(rounded).map(nanos) {
        Some(room) if nanos(range) >= MILLISECOND => {
            let millis = rng.u64(0..=room / MILLISECOND);
            rounded.saturating_add(Duration::from_millis(millis))
        }
        _ => min.saturating_add(Duration::from_nanos(rng.u64(0..=nanos(range)))),
    }
}

const MILLISECOND: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn timers_are_due_by_instant_then_by_name() {
        let mut timers = Timers::default();
        for (timer, at) in [('b', 5), ('a', 5), ('c', 3), ('d', 9), ('c', 6)] {
            timers.set(timer, at);
        }
        assert_eq!((timers.due(6), timers.due(4)), (3, 0));
        let popped: String = std::iter::from_fn(|| timers.pop_due(9)).collect();
        assert_eq!(popped, "abcd", "c was replaced by a later one");
    }

    #[test]
    fn a_draw_is_a_whole_millisecond_of_the_range() {
        let mut rng = generator(1, &"a".parse().unwrap(), Incarnation(1));
        let mut seen = [0; 5];
        for _ in 0..200 {
            let after = After::jittered(Duration::from_micros(2_100), MS(3));
            let drawn = draw(after, &mut rng);
            assert_eq!(drawn.subsec_nanos() % 1_000_000, 0);
            seen[usize::try_from(drawn.as_millis() - 3).unwrap()] += 1;
        }
        assert!(
            seen[0] > 50 && seen[1] > 50 && seen[2] > 50 && seen[3..] == [0, 0],
            "{seen:?}"
        );
        assert_eq!(draw(After::from(MS(7)), &mut rng), MS(7));
        let fine = draw(After::jittered(MS(7), Duration::from_micros(500)), &mut rng);
        assert!(
            fine > MS(7) && fine <= Duration::from_micros(7_500),
            "{fine:?}"
        );
        assert_eq!(
            draw(
                After {
                    min: MS(7),
                    max: MS(3)
                },
                &mut rng
            ),
            MS(7)
        );
        assert!(
            draw(
                After {
                    min: MS(7),
                    max: Duration::MAX
                },
                &mut rng
            ) >= MS(7)
        );
    }

    #[test]
    fn each_incarnation_draws_its_own() {
        let draws = |seed, id: &str, number| {
            let mut rng = generator(seed, &id.parse().unwrap(), Incarnation(number));
            [rng.u64(..), rng.u64(..)]
        };
        assert_eq!(draws(1, "a", 1), draws(1, "a", 1));
        assert_ne!(draws(1, "a", 1), draws(2, "a", 1));
        assert_ne!(draws(1, "a", 1), draws(1, "b", 1));
        assert_ne!(draws(1, "a", 1), draws(1, "a", 2));
    }
}
