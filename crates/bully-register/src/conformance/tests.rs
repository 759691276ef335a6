//! Tests of the judgement with written histories, and of the faults with a register that shows its defect only under
//! them.

use std::sync::Arc;

use super::{
    Clause, NonConformance, SuiteRun,
    contest::{CLIENTS, ContestNetwork, play},
    history::{Did, HistoryStep, SwapOutcome, contended_swaps, judge},
};
use crate::{
    Entry, MemoryRegister, Register, RegisterError, RegisterKey, RegisterReading, Swap, Swapping,
    Version,
};

fn entry(version: u64, value: &str) -> Entry {
    Entry {
        version: Version::from(version),
        value: value.into(),
    }
}

fn read(found: impl Into<Option<Entry>>) -> Did {
    Did::Read(found.into())
}

fn done(version: u64) -> SwapOutcome {
    SwapOutcome::Answered(Swap::Done(Version::from(version)))
}

fn swap(expected: impl Into<Option<Entry>>, value: &str, outcome: SwapOutcome) -> Did {
    Did::Swap {
        expected: expected.into(),
        value: value.into(),
        outcome,
    }
}

fn steps(did: impl IntoIterator<Item = Did>) -> Vec<HistoryStep> {
    let numbered = (1_u64..).step_by(2).zip(did);
    let steps = numbered.map(|(begin, did)| HistoryStep {
        client: 0,
        begin,
        end: begin + 1,
        did,
    });
    steps.collect()
}

fn broken(steps: &[HistoryStep]) -> Option<Clause> {
    judge(steps).err().and_then(|broken| broken.clause())
}

#[test]
fn a_write_of_unknown_outcome_may_come_late_or_never() {
    for last in [None, Some(entry(1, "a"))] {
        let lost = swap(None, "a", SwapOutcome::Unknown);
        let history = steps([lost, read(None), read(last)]);
        assert_eq!(broken(&history), None);
    }
    let late = [
        swap(None, "a", SwapOutcome::Unknown),
        swap(None, "b", done(1)),
        read(entry(1, "b")),
        swap(
            entry(1, "b"),
            "c",
            SwapOutcome::Answered(Swap::Conflict(Some(entry(1, "b")))),
        ),
    ];
    assert_eq!(broken(&steps(late)), Some(Clause::SwapCompares));
}

#[test]
fn swaps_are_contended_if_two_clients_expect_one_entry_at_the_same_time() {
    let contended = |other: Option<Entry>, client, begin| {
        let mut history = steps([swap(None, "a", done(1)), swap(other, "b", done(2))]);
        (history[1].client, history[1].begin) = (client, begin);
        contended_swaps(&history)
    };
    assert_eq!(contended(None, 1, 1), 2);
    assert_eq!(contended(Some(entry(1, "a")), 1, 1), 0, "another entry");
    assert_eq!(contended(None, 0, 1), 0, "the same client");
    assert_eq!(contended(None, 1, 3), 0, "the operations do not overlap");
}

#[test]
fn each_clause_is_broken_by_a_history_of_its_own() {
    let a = || swap(None, "a", done(1));
    let histories = [
        (Clause::ReadsWhatWasWritten, vec![a(), read(entry(1, "x"))]),
        (Clause::AppliedOnce, vec![a(), read(entry(2, "a"))]),
        (
            Clause::NewVersion,
            vec![a(), swap(entry(1, "a"), "b", done(1))],
        ),
        (Clause::OneWins, vec![a(), swap(None, "b", done(2))]),
        (
            Clause::OneWins,
            vec![
                a(),
                swap(None, "b", SwapOutcome::Unknown),
                read(entry(2, "b")),
            ],
        ),
        (
            Clause::FailureMeansUnchanged,
            vec![swap(None, "a", SwapOutcome::Failed), read(entry(1, "a"))],
        ),
        (
            Clause::SwapCompares,
            vec![a(), swap(entry(7, "a"), "b", done(2))],
        ),
        (Clause::SeenAtOnce, vec![a(), read(None)]),
        (
            Clause::SeenAtOnce,
            vec![a(), swap(entry(1, "a"), "b", done(2)), read(entry(1, "a"))],
        ),
    ];
    for (clause, did) in histories {
        let history = steps(did);
        assert_eq!(broken(&history), Some(clause), "{history:?}");
    }
}

#[test]
fn operations_at_one_time_may_have_either_order() {
    let mut history = steps([swap(None, "a", done(1)), read(None), read(entry(1, "a"))]);
    history[0].end = 10;
    assert_eq!(broken(&history), None);
    // The later of two successive reads shows the older entry.
    history.swap(1, 2);
    (history[1].begin, history[1].end) = (3, 4);
    (history[2].begin, history[2].end) = (5, 6);
    assert_eq!(broken(&history), Some(Clause::SeenAtOnce));
}

/// A register that compares when a swap is sent, and writes when it arrives.
#[derive(Clone, Debug)]
struct ComparesAtSend(MemoryRegister);

impl Register for ComparesAtSend {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        self.0.read(key)
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (register, key) = (self.0.clone(), key.clone());
        let there = futures::FutureExt::now_or_never(register.read(&key));
        let there = there.and_then(Result::ok).flatten();
        let is_expected = there.as_ref() == expected;
        Box::pin(async move {
            if !is_expected {
                return Ok(Swap::Conflict(there));
            }
            loop {
                let there = register.read(&key).await?;
                let swap = register.swap(&key, there.as_ref(), value.clone()).await?;
                if let Swap::Done(_) = swap {
                    return Ok::<_, RegisterError>(swap);
                }
            }
        })
    }
}

#[tokio::test]
async fn a_write_that_is_compared_before_it_arrives_is_found_by_late_delivery() {
    let store = MemoryRegister::new();
    let connect = || -> Arc<dyn Register> { Arc::new(ComparesAtSend(store.clone())) };
    let run = SuiteRun {
        number: "1".to_owned(),
        one: connect(),
        other: connect(),
        clients: (0..CLIENTS).map(|_| connect()).collect(),
    };
    let found = play(&run, ContestNetwork::Faulty).await.err();
    let clause = found.as_ref().and_then(NonConformance::clause);
    assert_eq!(clause, Some(Clause::OneWins), "{found:?}");
}
