//! Measures how fast the store of a lease answers, before any agent uses the store.
//!
//! Decided here: the operations of a trial. A trial reads the lease but never writes it; it swaps a separate key of
//! this node, and removes this key at the end. Not here: how long an answer may take (`config/preflight/`).

use std::{sync::Arc, time::Duration};

use actix::clock::{Instant, sleep};
use bully_register::entry_of_swap;

use crate::{
    clock::{SystemWallClock, WallClock},
    elections::lease::LeaseName,
    protocol::{AgentId, IdError},
};

use super::{Entry, Register, RegisterError, RegisterKey, Removal, Swap, Version};

/// The reason why the duration of a store's writes cannot be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrialError {
    #[error(transparent)]
    Register(#[from] RegisterError),
    #[error(
        "another process writes {key} at the same time: let one preflight of a node end before the next"
    )]
    Conflict { key: RegisterKey },
    #[error(
        "the store cannot remove keys, so the preflight writes no key and does not measure a write: measure one with a tool of the store"
    )]
    KeepsAll,
}

/// The keys of a trial.
#[derive(Debug)]
pub(crate) struct TrialKeys {
    lease: RegisterKey,
    own: RegisterKey,
}

impl TrialKeys {
    /// # Errors
    /// [`IdError`] if the names do not make valid keys.
    pub(crate) fn of(lease: &LeaseName, node: &AgentId) -> Result<Self, IdError> {
        let key = |rest: &str| format!("{}/{}/{rest}", lease.cluster, lease.group).parse();
        Ok(Self {
            lease: key("lease")?,
            own: key(&format!("preflight/{node}"))?,
        })
    }
}

/// Reads the lease again and again for the time `within`, at least three times. Returns the time that each answer took.
///
/// # Errors
/// [`RegisterError`] of the first read that fails.
pub(crate) async fn time_reads(
    register: &Arc<dyn Register>,
    keys: &TrialKeys,
    within: Duration,
) -> Result<Vec<Duration>, RegisterError> {
    // The first read may have to connect, so it is not measured.
    register.read(&keys.lease).await?;
    let began = Instant::now();
    let mut took = Vec::new();
    while took.len() < FEWEST || began.elapsed() < within {
        let begins = Instant::now();
        register.read(&keys.lease).await?;
        took.push(begins.elapsed());
        sleep(PAUSE).await;
    }
    Ok(took)
}

/// Swaps the node's own key for the time `within`, at least three times, and removes it. Returns the time that each
/// answer took.
///
/// # Errors
/// [`TrialError`]. After an error the key may still exist; the next trial uses it again.
pub(crate) async fn time_writes(
    register: &Arc<dyn Register>,
    keys: &TrialKeys,
    within: Duration,
) -> Result<Vec<Duration>, TrialError> {
    let key = &keys.own;
    // This only checks that the store can remove keys. The future is not polled, so nothing is removed.
    let none = entry_of_swap(Version::from(0), Vec::new());
    if register.remove(key, &none).is_none() {
        return Err(TrialError::KeepsAll);
    }
    let mut entry = register.read(key).await?;
    let began = Instant::now();
    let mut took = Vec::new();
    let failed = loop {
        let begins = Instant::now();
        match swap(register, key, entry.as_ref()).await {
            Ok(written) => entry = Some(written),
            Err(reason) => break Some(reason),
        }
        took.push(begins.elapsed());
        if took.len() >= FEWEST && began.elapsed() >= within {
            break None;
        }
        sleep(PAUSE).await;
    };
    if let Some(entry) = entry
        && let Some(removing) = register.remove(key, &entry)
    {
        let removed = removing.await;
        if failed.is_none() && matches!(removed?, Removal::Conflict(Some(_))) {
            return Err(TrialError::Conflict { key: key.clone() });
        }
    }
    failed.map_or(Ok(took), Err)
}

async fn swap(
    register: &Arc<dyn Register>,
    key: &RegisterKey,
    expected: Option<&Entry>,
) -> Result<Entry, TrialError> {
    let value = VALUE.to_vec();
    match register.swap(key, expected, value.clone()).await? {
        Swap::Done(version) => Ok(entry_of_swap(version, value)),
        Swap::Conflict(_) => Err(TrialError::Conflict { key: key.clone() }),
    }
}

/// Returns the difference between the wall clocks of this host and of the store, or `None` if the store has no clock.
///
/// # Errors
/// [`RegisterError`] if the store does not answer.
pub(crate) async fn clock_difference(
    register: &Arc<dyn Register>,
) -> Result<Option<Duration>, RegisterError> {
    let Some(asked) = register.clock() else {
        return Ok(None);
    };
    let begins = Instant::now();
    let theirs = asked.await?;
    let took = begins.elapsed();
    Ok(Some(apart(SystemWallClock.now().as_millis(), theirs, took)))
}

/// Returns the difference between two clocks, in milliseconds since one instant. `own` was read when the answer with
/// `theirs` came; `took` is the time from the question to this answer. The store read its clock at some time between
/// question and answer, so half of `took` is subtracted from `own`. The result is wrong by at most the other half.
fn apart(own: u64, theirs: u64, took: Duration) -> Duration {
    let half = u64::try_from(took.as_millis() / 2).unwrap_or(u64::MAX);
    Duration::from_millis(own.saturating_sub(half).abs_diff(theirs))
}

/// A value as long as the record of a lease.
const VALUE: [u8; 256] = [b' '; 256];

const FEWEST: usize = 3;

/// Pause between two operations of a trial. An agent pauses for longer.
const PAUSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use actix::System;

    use super::*;
    use crate::register::MemoryRegister;

    #[test]
    fn half_of_the_time_of_the_answer_counts_whichever_clock_is_ahead() {
        let took = Duration::from_millis(100);
        for (theirs, found) in [(1_000, 0), (950, 50), (1_050, 50)] {
            assert_eq!(
                apart(1_050, theirs, took),
                Duration::from_millis(found),
                "{theirs}"
            );
        }
    }

    #[test]
    fn operations_are_timed_and_leave_nothing_also_after_a_trial_that_was_killed() {
        System::new().block_on(async {
            let memory = MemoryRegister::new();
            let register: Arc<dyn Register> = Arc::new(memory);
            let lease = LeaseName {
                cluster: "shop".parse().unwrap(),
                group: "orders".parse().unwrap(),
            };
            let keys = TrialKeys::of(&lease, &"api-1".parse().unwrap()).unwrap();
            swap(&register, &keys.own, None).await.unwrap();
            let reads = time_reads(&register, &keys, Duration::ZERO).await.unwrap();
            assert_eq!(reads.len(), FEWEST);
            let writes = time_writes(&register, &keys, Duration::ZERO).await.unwrap();
            assert_eq!(writes.len(), FEWEST);
            for key in [&keys.own, &keys.lease] {
                assert_eq!(register.read(key).await.unwrap(), None, "{key}");
            }
            assert_eq!(clock_difference(&register).await.unwrap(), None);
        });
    }
}
