//! Tests operations that reach the store late: another client has written since the operation was sent.
//!
//! A write may arrive at any later time, since networks delay and repeat messages. The store has to compare when the
//! write arrives.
//!
//! Decided here: which entry the store has when a late write arrives. A future that is not polled yet stands for a
//! request that is still under way.

use super::{
    Clause, NonConformance, SuiteRun,
    probe::{ClauseProbe, ShownAt, ShownEntry},
};
use crate::{Entry, RegisterError, RegisterKey, Removal, Swap, Swapping};

/// Tests swaps that expect the entry that was present when they were sent.
pub(super) async fn swaps(run: &SuiteRun) -> Result<(), NonConformance> {
    let probe = run.probe(Clause::SwapCompares);
    let other = run.other(Clause::SwapCompares);
    let key = run.key("late");
    let create = probe.register.swap(&key, None, LATE.to_vec());
    let first = other.write(&key, None, b"first").await?;
    arrives(&probe, &key, create, None, &first).await?;

    let replace = probe.register.swap(&key, Some(&first), LATE.to_vec());
    let second = other.write(&key, Some(&first), b"second").await?;
    arrives(&probe, &key, replace, Some(&first), &second).await?;

    // The key has its first value again, in another version, so the swap must fail.
    let replace = probe.register.swap(&key, Some(&first), LATE.to_vec());
    let again = other.write(&key, Some(&second), b"first").await?;
    arrives(&probe, &key, replace, Some(&first), &again).await?;

    // No other client wrote in between, so the swap is done, once.
    let replace = probe.register.swap(&key, Some(&again), b"in time".to_vec());
    let done = probe.within(replace).await?;
    let entry = other.read(&key).await?;
    let is_done = match (&done, &entry) {
        (Ok(Swap::Done(version)), Some(entry)) => entry.version == *version,
        (Ok(Swap::Done(_)), None) | (Ok(Swap::Conflict(_)), _) => false,
        (Err(_), _) => true,
    };
    Clause::SwapCompares.check(is_done, || {
        let entry = ShownAt(entry.as_ref());
        format!("a swap of {key} without an earlier swap ended with {done:?}, and {entry} is there")
    })
}

/// Tests late swaps and removals of an entry that is gone. Returns `false` if the register offers no removals.
pub(super) async fn removals(run: &SuiteRun) -> Result<bool, NonConformance> {
    let probe = run.probe(Clause::RemovalCompares);
    let other = run.other(Clause::RemovalCompares);
    let key = run.key("late-removal");
    let first = other.write(&key, None, b"first").await?;
    let Some(removal) = probe.register.remove(&key, &first) else {
        return Ok(false);
    };
    let second = other.write(&key, Some(&first), b"second").await?;
    let removed = probe.within(removal).await?;
    stays(&probe, &key, "removal", &removed_words(&removed), &second).await?;

    // The entry was removed and written anew with the same value, so it is another entry.
    let swap = probe.register.swap(&key, Some(&second), LATE.to_vec());
    let removal = probe.register.remove(&key, &second);
    let last = other.remove(&key, &second).await?;
    Clause::RemovalCompares.check(last == Some(Removal::Done), || {
        format!("a removal of {} ended with {last:?}", ShownEntry(&second))
    })?;
    let anew = other.write(&key, None, b"second").await?;
    Clause::NewVersion.check(anew.version != second.version, || {
        format!(
            "{} was written after a removal, and has the version of before",
            ShownEntry(&anew)
        )
    })?;
    let swaps = run.probe(Clause::SwapCompares);
    arrives(&swaps, &key, swap, Some(&second), &anew).await?;
    if let Some(removal) = removal {
        let removed = probe.within(removal).await?;
        stays(&probe, &key, "removal", &removed_words(&removed), &anew).await?;
    }
    Ok(true)
}

/// Checks a swap that expects an earlier entry and reaches the store while the entry `there` is present.
async fn arrives(
    probe: &ClauseProbe,
    key: &RegisterKey,
    swap: Swapping,
    expected: Option<&Entry>,
    there: &Entry,
) -> Result<(), NonConformance> {
    let swap = probe.within(swap).await?;
    let was = ShownAt(expected);
    let due = ShownEntry(there);
    match &swap {
        Ok(Swap::Done(_)) => Err(Clause::SwapCompares.broken(format!(
            "a late swap of {key} that expects {was} was done while {due} was there"
        ))),
        Ok(Swap::Conflict(found)) if found.as_ref() != Some(there) => {
            let found = ShownAt(found.as_ref());
            Err(Clause::SwapCompares.broken(format!(
                "a late swap of {key} conflicts with {found} while {due} is there"
            )))
        }
        Ok(Swap::Conflict(_)) => stays(probe, key, "swap", "a conflict", there).await,
        Err(error) => stays(probe, key, "swap", &error.to_string(), there).await,
    }
}

/// Checks that an operation on a former entry has not succeeded, and that the present entry stays.
async fn stays(
    probe: &ClauseProbe,
    key: &RegisterKey,
    operation: &str,
    ended: &str,
    there: &Entry,
) -> Result<(), NonConformance> {
    let found = probe.read(key).await?;
    probe.clause.check(found.as_ref() == Some(there) && ended != DONE, || {
        let (due, found) = (ShownEntry(there), ShownAt(found.as_ref()));
        format!(
            "a late {operation} of {key} that expects an entry of before ended with {ended} while {due} was there, and {found} is there now"
        )
    })
}

fn removed_words(removed: &Result<Removal, RegisterError>) -> String {
    match removed {
        Ok(Removal::Done) => DONE.to_owned(),
        Ok(Removal::Conflict(_)) => "a conflict".to_owned(),
        Err(error) => error.to_string(),
    }
}

const DONE: &str = "success";
/// The value of a write that arrives late.
const LATE: &[u8] = b"a late write";
