//! A list of incarnations that were reported as ended, one by one.
//!
//! Decided here: an end in this list does not cover other incarnations, and only a few ends are kept. Not here: which
//! reports of an end belong in this list; [`Member`](super::Member) decides that.

use super::Incarnation;

/// Incarnations that have ended, each by its own report. A report of an end does not cover earlier incarnations,
/// because an earlier incarnation may be another process of the same name that still runs.
///
/// The few latest ends are kept. If an end is forgotten, the promises to the ended incarnation expire by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ends(Option<Box<Told>>);

/// The list is in a box, because nearly every member has no ends, and each agent keeps all members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Told(Vec<Incarnation>);

impl Ends {
    /// Largest number of ends that are kept.
    pub const MOST: usize = 4;

    /// Returns whether exactly this incarnation has ended.
    pub fn has(&self, incarnation: Incarnation) -> bool {
        self.told().binary_search(&incarnation).is_ok()
    }

    /// Returns the ends, earliest incarnation first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Incarnation> {
        self.told().iter().copied()
    }

    /// Returns the latest incarnation that has ended.
    pub fn last(&self) -> Option<Incarnation> {
        self.told().last().copied()
    }

    /// Notes an end; returns whether that changed anything.
    pub fn note(&mut self, incarnation: Incarnation) -> bool {
        let Err(at) = self.told().binary_search(&incarnation) else {
            return false;
        };
        let is_full = self.told().len() >= Self::MOST;
        // Only the latest ends are kept, and this end is earlier than all of them.
        if is_full && at == 0 {
            return false;
        }
        let Told(told) = &mut **self.0.get_or_insert_default();
        told.insert(at, incarnation);
        if is_full {
            told.remove(0);
        }
        true
    }

    fn told(&self) -> &[Incarnation] {
        self.0.as_deref().map_or(&[], |Told(told)| told)
    }

    /// Returns the ends of the incarnations before `incarnation`.
    #[must_use]
    pub fn before(&self, incarnation: Incarnation) -> Self {
        self.iter().filter(|ended| *ended < incarnation).collect()
    }
}

impl FromIterator<Incarnation> for Ends {
    fn from_iter<I: IntoIterator<Item = Incarnation>>(told: I) -> Self {
        let mut ends = Self::default();
        for incarnation in told {
            ends.note(incarnation);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_few_are_kept_in_whichever_order_they_are_told() {
        let mut ends = Ends::default();
        let news = [5, 2, 5, 9, 7, 1, 8, 2].map(|number| ends.note(Incarnation(number)));
        assert_eq!(
            news,
            [true, true, false, true, true, false, true, false],
            "1 and 2 are earlier than the four that are kept"
        );
        assert_eq!(ends.iter().map(|i| i.0).collect::<Vec<_>>(), [5, 7, 8, 9]);
        assert!(ends.has(Incarnation(7)) && !ends.has(Incarnation(6)));
        assert_eq!(ends.last(), Some(Incarnation(9)));
        assert_eq!(ends.before(Incarnation(8)).last(), Some(Incarnation(7)));
    }
}
