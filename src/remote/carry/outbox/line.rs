//! Letters in the order in which they were said, each with a number by which it can be taken out.
//!
//! Decided here: that a letter which is taken out of the middle leaves a gap, and that there are
//! never many more gaps than letters.

use std::{collections::VecDeque, mem};

use super::Queued;

/// A line of letters. Their numbers grow, and are good until all gaps are closed.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// The first is no gap.
    places: VecDeque<Option<Queued>>,
    /// The number of the first place.
    first: u64,
    gaps: usize,
}

impl Line {
    pub(super) fn len(&self) -> usize {
        self.places.len().saturating_sub(self.gaps)
    }

    /// Letters and gaps.
    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn oldest(&self) -> Option<&Queued> {
        self.places.front()?.as_ref()
    }

    /// Appends a letter; says its number.
    pub(super) fn push(&mut self, letter: Queued) -> u64 {
        let ahead = u64::try_from(self.places.len()).unwrap_or(u64::MAX);
        self.places.push_back(Some(letter));
        self.first.saturating_add(ahead)
    }

    /// Takes the letter of that number out.
    pub(super) fn remove(&mut self, number: u64) -> Option<Queued> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let letter = self.places.get_mut(at)?.take()?;
        self.gaps = self.gaps.saturating_add(1);
        self.skip_gaps();
        Some(letter)
    }

    /// Takes the oldest letter out, with its number.
    pub(super) fn take_oldest_if(
        &mut self,
        holds: impl FnOnce(&Queued) -> bool,
    ) -> Option<(u64, Queued)> {
        if !holds(self.oldest()?) {
            return None;
        }
        let number = self.first;
        let letter = self.places.pop_front()??;
        self.first = self.first.saturating_add(1);
        self.skip_gaps();
        Some((number, letter))
    }

    /// Takes all out.
    pub(super) fn take(&mut self) -> Vec<Queued> {
        let mut letters = Vec::with_capacity(self.len());
        letters.extend(self.begin_anew().into_iter().flatten());
        letters
    }

    pub(super) fn clear(&mut self) {
        drop(self.begin_anew());
    }

    fn begin_anew(&mut self) -> VecDeque<Option<Queued>> {
        let gone = u64::try_from(self.places.len()).unwrap_or(u64::MAX);
        self.first = self.first.saturating_add(gone);
        self.gaps = 0;
        mem::take(&mut self.places)
    }

    /// Whether it is time to close them.
    pub(super) fn has_many_gaps(&self) -> bool {
        self.gaps > self.len().saturating_add(FEW)
    }

    /// Closes all gaps; says who stands where now.
    pub(super) fn close_gaps(&mut self) -> impl Iterator<Item = (u64, &Queued)> {
        self.places.retain(Option::is_some);
        self.gaps = 0;
        (self.first..).zip(self.places.iter().flatten())
    }

    fn skip_gaps(&mut self) {
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.first = self.first.saturating_add(1);
            self.gaps = self.gaps.saturating_sub(1);
        }
    }
}

/// So many gaps are no matter.
const FEW: usize = 16;
