//! The operations that a register may leave out: removal, listing, changes.
//!
//! Decided here: an operation that a register offers has to keep its clause; an operation that it does not offer is
//! skipped. A stream of changes may miss some changes, because agents do not rely on it.

use std::{future::Future, time::Duration};

use futures::{StreamExt, future::try_join_all};
use tokio::time::timeout;

use super::{
    Clause, NonConformance, SuiteRun,
    probe::{ClauseProbe, ShownAt, ShownEntry},
};
use crate::{
    Change, ChangeStream, Entry, MOST_LISTED, RegisterError, RegisterKey, Removal, Swap, Version,
};

/// Tests removals. Returns `false` if the register does not offer them.
pub(super) async fn removes(run: &SuiteRun) -> Result<bool, NonConformance> {
    let (key, probe) = (run.key("removed"), run.probe(Clause::RemovalCompares));
    let first = probe.write(&key, None, b"a").await?;
    let second = probe.write(&key, Some(&first), b"b").await?;
    let strange = Version::new("no version of any store").unwrap_or_else(|| Version::from(0));
    let ghost = Entry {
        version: strange,
        value: b"b".to_vec(),
    };
    for old in [&first, &ghost] {
        let Some(removal) = probe.remove(&key, old).await? else {
            return Ok(false);
        };
        let found = probe.read(&key).await?;
        let is_there = found.as_ref() == Some(&second);
        Clause::RemovalCompares.check(
            is_there && removal == Removal::Conflict(Some(second.clone())),
            || {
                format!(
                    "a removal that expects {} ended with {removal:?} while {} was there, and {} is there now",
                    ShownEntry(old),
                    ShownEntry(&second),
                    ShownAt(found.as_ref())
                )
            },
        )?;
    }
    for (due, words) in [
        (Removal::Done, "a removal of the entry that is there"),
        (
            Removal::Conflict(None),
            "a removal of an entry that was removed",
        ),
    ] {
        let removal = probe.remove(&key, &second).await?;
        let found = probe.read(&key).await?;
        Clause::RemovalCompares.check(found.is_none() && removal == Some(due), || {
            format!(
                "{words} ended with {removal:?}, and {} is there now",
                ShownAt(found.as_ref())
            )
        })?;
    }
    // An entry that is removed and written again with the same value is another entry.
    let mut last = None;
    for (value, old) in [(b"a", &first), (b"b", &second)] {
        let entry = probe.write(&key, last.as_ref(), value).await?;
        let is_new = entry.version != first.version && entry.version != second.version;
        Clause::NewVersion.check(is_new, || {
            format!(
                "{} was written after a removal, and has a version of before",
                ShownEntry(&entry)
            )
        })?;
        run.probe(Clause::SwapCompares)
            .conflict(&key, Some(old), Some(&entry))
            .await?;
        last = Some(entry);
    }
    Ok(true)
}

/// Tests listings. Returns `false` if the register does not offer them.
pub(super) async fn lists(run: &SuiteRun) -> Result<bool, NonConformance> {
    let (one, other) = (run.probe(Clause::ListsBelow), run.other(Clause::ListsBelow));
    let prefix = run.key("list");
    let Some(found) = one.list(&prefix).await? else {
        return Ok(false);
    };
    Clause::ListsBelow.check(found.is_empty(), || {
        format!("nothing was written below {prefix}, and {found:?} is listed")
    })?;
    let below: Vec<_> = ["a", "a/b", "ab", "b"]
        .map(|end| run.key(&format!("list/{end}")))
        .into();
    // Keys that are not below the prefix: keys with similar names, and the prefix itself.
    let beside = ["list", "list0", "lists/a", "LIST/a"].map(|name| run.key(name));
    for key in below.iter().rev().chain(&beside) {
        one.write(key, None, key.as_str().as_bytes()).await?;
    }
    let mut due = Vec::new();
    for key in below {
        let entry = other.entry(&key).await?;
        due.push((key, entry));
    }
    let listed = |found: &Option<Vec<_>>| {
        Clause::ListsBelow.check(found.as_ref() == Some(&due), || {
            let names = |all: &[(RegisterKey, Entry)]| {
                let names = all.iter().map(|(key, _)| key.as_str());
                names.collect::<Vec<_>>().join(", ")
            };
            let (due, found) = (names(&due), names(found.as_deref().unwrap_or_default()));
            format!("{due} are below {prefix}, and {found} is listed, or other entries of them")
        })
    };
    listed(&other.list(&prefix).await?)?;
    listed(&one.list(&prefix).await?)?;
    too_many(run, &one).await?;
    Ok(true)
}

/// Tests that a listing of too many entries fails, and that a listing of the largest number of entries does not. A
/// caller would consider a shortened listing complete.
async fn too_many(run: &SuiteRun, probe: &ClauseProbe) -> Result<(), NonConformance> {
    let prefix = run.key("crowd");
    let keys = (0..=MOST_LISTED).map(|number| run.key(&format!("crowd/{number}")));
    let keys: Vec<_> = keys.collect();
    try_join_all(keys.iter().map(|key| probe.swap(key, None, b"x"))).await?;
    let Some(listing) = probe.register.list(&prefix) else {
        return Err(Clause::ListsBelow.broken("it lists, and later it does not"));
    };
    let listing = probe.within(listing).await?;
    let is_refused = matches!(listing, Err(RegisterError::TooMany { .. }));
    Clause::ListsBelow.check(is_refused, || {
        let listed = listing.map(|found| found.len());
        format!(
            "{} entries are below {prefix}, and a listing ends with {listed:?}",
            keys.len()
        )
    })?;
    let remove = async |key| match probe.read(key).await? {
        Some(entry) => probe.remove(key, &entry).await,
        None => Ok(None),
    };
    if let Some(key) = keys.first()
        && remove(key).await?.is_some()
    {
        let found = probe.list(&prefix).await?.map(|found| found.len());
        Clause::ListsBelow.check(found == Some(MOST_LISTED), || {
            format!("{MOST_LISTED} entries are below {prefix}, and {found:?} are listed")
        })?;
    }
    // The entries are removed, because hundreds of them in the store would slow down the next run.
    try_join_all(keys.iter().map(remove)).await?;
    Ok(())
}

/// Tests the stream of changes. Returns the number of changes that the stream did not report; `None` without a stream.
pub(super) async fn tells(run: &SuiteRun) -> Result<Option<u32>, NonConformance> {
    let (key, beside) = (run.key("told"), run.key("told-beside"));
    let (probe, other) = (
        run.probe(Clause::TellsChanges),
        run.other(Clause::TellsChanges),
    );
    let Some(mut changes) = probe.register.changes(&key) else {
        return Ok(None);
    };
    let (mut made, mut missed) = (0, 0);
    let (mut last, mut written) = (None, Vec::new());
    for round in 0_u32..ROUNDS {
        let swap = other
            .swap(&key, last.as_ref(), &round.to_be_bytes())
            .await?;
        let Swap::Done(version) = swap else {
            return Err(Clause::SwapCompares.broken(format!("a swap of {key} ended with {swap:?}")));
        };
        made += 1;
        let value = round.to_be_bytes().to_vec();
        written.push(Entry {
            version: version.clone(),
            value,
        });
        if round == 0 {
            // The content of this entry is true only of its own key.
            other.swap(&beside, None, b"beside").await?;
        }
        missed += u32::from(
            !heard(&mut changes, &written, || async {
                let found = probe.read(&key).await?;
                Ok(found.is_some_and(|entry| entry.version == version))
            })
            .await?,
        );
        let is_silent = made == missed && missed == SILENT;
        Clause::TellsChanges.check(!is_silent, || {
            format!("it reported none of the {made} changes of {key} within {TOLD:?} each")
        })?;
        last = other.read(&key).await?;
    }
    if let Some(entry) = other.read(&beside).await? {
        other.remove(&beside, &entry).await?;
    }
    if let Some(last) = last
        && other.remove(&key, &last).await?.is_some()
    {
        let gone = || async { Ok(probe.read(&key).await?.is_none()) };
        missed += u32::from(!heard(&mut changes, &written, gone).await?);
    }
    Ok(Some(missed))
}

/// Returns whether the stream reports a change in time. The stream may also report an earlier change, so the key is
/// read after each report. If the stream reports an entry, it must be an entry that was written.
async fn heard<F>(
    changes: &mut ChangeStream,
    written: &[Entry],
    is_there: impl Fn() -> F,
) -> Result<bool, NonConformance>
where
    F: Future<Output = Result<bool, NonConformance>>,
{
    let listen = async {
        while let Some(change) = changes.next().await {
            if let Change::Written { entry, .. } = &change
                && !written.contains(entry)
            {
                return Err(Clause::TellsChanges.broken(format!(
                    "it reported {}, which no client wrote there",
                    ShownEntry(entry)
                )));
            }
            if is_there().await? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    timeout(TOLD, listen).await.unwrap_or(Ok(false))
}

/// Number of writes that the stream should report.
const ROUNDS: u32 = 10;
/// Time within which the stream should report a write.
const TOLD: Duration = Duration::from_secs(5);
/// Number of writes after which a stream without any report of them breaks its clause.
const SILENT: u32 = 3;
