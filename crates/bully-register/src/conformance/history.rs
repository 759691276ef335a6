//! Judges the results of several clients on one key.
//!
//! Decided here: whether the steps have an order in which each step sees the effect of all earlier steps. Every write
//! has a different value, and a swap contains the entry that it replaces. So the entries of a key form a chain, and
//! each step belongs to a place in it. The order exists if this holds for any two steps, one of which ended before the
//! other began: the later step does not show an earlier place.

use std::collections::BTreeMap;

use super::{
    Clause, NonConformance,
    probe::{ShownAt, ShownEntry},
};
use crate::{Entry, Swap, Version};

/// An operation of a client, with the moments at which it began and ended.
#[derive(Clone, Debug)]
pub(super) struct HistoryStep {
    pub(super) client: usize,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) did: Did,
}

#[derive(Clone, Debug)]
pub(super) enum Did {
    Read(Option<Entry>),
    Swap {
        expected: Option<Entry>,
        /// No other write has the same value.
        value: Vec<u8>,
        outcome: SwapOutcome,
    },
}

#[derive(Clone, Debug)]
pub(super) enum SwapOutcome {
    Answered(Swap),
    /// The swap ended with an error other than `Unknown`: by the contract, nothing was changed.
    Failed,
    Unknown,
}

struct AttemptedSwap<'a> {
    client: usize,
    expected: Option<&'a Entry>,
    outcome: &'a SwapOutcome,
}

/// Returns the number of swaps that overlapped another client's swap and expected the same entry.
pub(super) fn contended_swaps(steps: &[HistoryStep]) -> usize {
    let swaps: Vec<_> = steps
        .iter()
        .filter_map(|step| match &step.did {
            Did::Swap { expected, .. } => Some((step, expected)),
            Did::Read(_) => None,
        })
        .collect();
    let is_contended = |(one, expected): &(&HistoryStep, &Option<Entry>)| {
        swaps.iter().any(|(other, others)| {
            expected == others
                && one.client != other.client
                && one.begin < other.end
                && other.begin < one.end
        })
    };
    swaps.iter().filter(|swap| is_contended(swap)).count()
}

/// Judges all steps of all clients on one key, which had no entry at first.
pub(super) fn judge(steps: &[HistoryStep]) -> Result<(), NonConformance> {
    let attempts = attempts(steps);
    let sights: Vec<_> = steps.iter().filter_map(EntrySight::of).collect();
    let versions = versions(&sights, &attempts)?;
    let places = places(&attempts, &versions)?;
    in_order(&sights, &places)
}

fn attempts(steps: &[HistoryStep]) -> BTreeMap<&[u8], AttemptedSwap<'_>> {
    let all = steps.iter().filter_map(|step| match &step.did {
        Did::Read(_) => None,
        Did::Swap {
            expected,
            value,
            outcome,
        } => {
            let attempt = AttemptedSwap {
                client: step.client,
                expected: expected.as_ref(),
                outcome,
            };
            Some((&**value, attempt))
        }
    });
    all.collect()
}

/// A step whose result shows the state of the key: an entry, or no entry.
struct EntrySight<'a> {
    step: &'a HistoryStep,
    entry: Option<Entry>,
}

impl<'a> EntrySight<'a> {
    fn of(step: &'a HistoryStep) -> Option<Self> {
        let entry = match &step.did {
            Did::Read(found) => found.clone(),
            Did::Swap { value, outcome, .. } => match outcome {
                SwapOutcome::Answered(Swap::Done(version)) => Some(Entry {
                    version: version.clone(),
                    value: value.clone(),
                }),
                SwapOutcome::Answered(Swap::Conflict(found)) => found.clone(),
                SwapOutcome::Failed | SwapOutcome::Unknown => return None,
            },
        };
        Some(Self { step, entry })
    }
}

/// Returns the version of each value that was seen.
fn versions(
    sights: &[EntrySight<'_>],
    attempts: &BTreeMap<&[u8], AttemptedSwap<'_>>,
) -> Result<BTreeMap<Vec<u8>, Version>, NonConformance> {
    let mut versions = BTreeMap::<Vec<u8>, Version>::new();
    let mut values = BTreeMap::<String, Vec<u8>>::new();
    for entry in sights.iter().filter_map(|sight| sight.entry.as_ref()) {
        let Some(attempt) = attempts.get(&*entry.value) else {
            let words = format!("{} is shown, and no client wrote it", ShownEntry(entry));
            return Err(Clause::ReadsWhatWasWritten.broken(words));
        };
        let may_be = match attempt.outcome {
            SwapOutcome::Answered(Swap::Done(_)) | SwapOutcome::Unknown => true,
            SwapOutcome::Answered(Swap::Conflict(_)) | SwapOutcome::Failed => false,
        };
        Clause::FailureMeansUnchanged.check(may_be, || {
            format!(
                "{} is shown, and its swap ended with {:?}",
                ShownEntry(entry),
                attempt.outcome
            )
        })?;
        let first = versions
            .entry(entry.value.clone())
            .or_insert_with(|| entry.version.clone());
        Clause::AppliedOnce.check(*first == entry.version, || {
            format!(
                "{} is shown, and before it had version {:?}",
                ShownEntry(entry),
                first.as_str()
            )
        })?;
        let version = entry.version.as_str().to_owned();
        let value = values.entry(version).or_insert_with(|| entry.value.clone());
        Clause::NewVersion.check(*value == entry.value, || {
            let other = String::from_utf8_lossy(value);
            format!("{} has the version of {other:?}", ShownEntry(entry))
        })?;
    }
    Ok(versions)
}

/// Returns the place of each value in the chain: the swap that wrote it expected the entry before it.
fn places(
    attempts: &BTreeMap<&[u8], AttemptedSwap<'_>>,
    versions: &BTreeMap<Vec<u8>, Version>,
) -> Result<BTreeMap<Vec<u8>, usize>, NonConformance> {
    let mut after = BTreeMap::<Option<&str>, &[u8]>::new();
    for value in versions.keys() {
        let Some(attempt) = attempts.get(&**value) else {
            continue;
        };
        let expected = attempt.expected.map(|entry| entry.version.as_str());
        if let Some(other) = after.insert(expected, value) {
            let [one, other] = [value, other].map(String::from_utf8_lossy);
            let was = ShownAt(attempt.expected);
            let client = attempt.client;
            return Err(Clause::OneWins.broken(format!(
                "{one:?} (client {client}) and {other:?} both replaced {was}"
            )));
        }
    }
    let mut places = BTreeMap::new();
    let mut version = None;
    while let Some(value) = after.remove(&version) {
        places.insert(value.to_vec(), places.len() + 1);
        version = versions.get(value).map(Version::as_str);
    }
    match after.into_values().next() {
        None => Ok(places),
        Some(value) => Err(Clause::SwapCompares.broken(format!(
            "{:?} was written in the place of an entry that was never there",
            String::from_utf8_lossy(value)
        ))),
    }
}

fn in_order(
    sights: &[EntrySight<'_>],
    places: &BTreeMap<Vec<u8>, usize>,
) -> Result<(), NonConformance> {
    let place = |sight: &EntrySight<'_>| match &sight.entry {
        Some(entry) => places.get(&entry.value).copied().unwrap_or(0),
        None => 0,
    };
    for sight in sights {
        let EntrySight { step, entry } = sight;
        if let Did::Swap {
            expected,
            outcome: SwapOutcome::Answered(Swap::Conflict(_)),
            ..
        } = &step.did
        {
            Clause::SwapCompares.check(expected != entry, || {
                let expected = ShownAt(entry.as_ref());
                format!("a swap conflicts with {expected}, which it expects")
            })?;
        }
        let before = sights
            .iter()
            .filter(|earlier| earlier.step.end < step.begin);
        let newest = before.max_by_key(|earlier| place(earlier));
        if let Some(newest) = newest.filter(|newest| place(newest) > place(sight)) {
            return Err(Clause::SeenAtOnce.broken(format!(
                "client {} was shown {}, and after that client {} was shown {}, which is older",
                newest.step.client,
                ShownAt(newest.entry.as_ref()),
                step.client,
                ShownAt(entry.as_ref())
            )));
        }
    }
    Ok(())
}
