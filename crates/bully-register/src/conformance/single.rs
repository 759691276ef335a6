//! Tests that make one operation after the other, on one or two connections.
//!
//! Decided here: the tests of the clauses that need no second client at the same time. `late.rs` tests operations that
//! arrive late, `contest.rs` several clients at once, `optional.rs` the operations that a register need not offer.

use std::{collections::BTreeSet, time::Duration};

use futures::{FutureExt, future::try_join_all};
use tokio::time::sleep;

use super::{Clause, NonConformance, SuiteRun, parse, probe::ShownEntry};
use crate::{Entry, MOST_BYTES, RegisterError, Swap, Version};

pub(super) fn one_name(run: &SuiteRun) -> Result<(), NonConformance> {
    let (one, other) = (run.one.name(), run.other.name());
    Clause::OneName.check(one == other, || format!("{one:?} and {other:?}"))?;
    Clause::OneName.check(!one.is_empty(), || "the name is empty".to_owned())
}

/// Tests a creation, a replacement, and refusals.
pub(super) async fn compares(run: &SuiteRun) -> Result<(), NonConformance> {
    let (key, probe) = (run.key("compares"), run.probe(Clause::SwapCompares));
    let found = probe.read(&key).await?;
    Clause::AbsentIsNone.check(found.is_none(), || format!("{key} has an entry"))?;
    let ghost = |version| Entry {
        version,
        value: b"first".to_vec(),
    };
    let numbered = ghost(Version::from(1));
    probe.conflict(&key, Some(&numbered), None).await?;
    let first = probe.write(&key, None, b"first").await?;
    probe.conflict(&key, None, Some(&first)).await?;
    // Expects the right value, but a version that no store returns.
    let strange = Version::new("no version of any store").map(ghost);
    probe.conflict(&key, strange.as_ref(), Some(&first)).await?;
    let second = probe.write(&key, Some(&first), b"second").await?;
    probe.conflict(&key, Some(&first), Some(&second)).await?;
    probe.conflict(&key, None, Some(&second)).await
}

/// Tests that the same value, written again, gets a new version.
pub(super) async fn new_versions(run: &SuiteRun) -> Result<(), NonConformance> {
    let (key, probe) = (run.key("versions"), run.probe(Clause::NewVersion));
    let mut versions = BTreeSet::new();
    let mut first = None;
    let mut last = None;
    for value in [b"a", b"b", b"a", b"a", b"b", b"a"] {
        let entry = probe.write(&key, last.as_ref(), value).await?;
        Clause::NewVersion.check(versions.insert(entry.version.as_str().to_owned()), || {
            format!(
                "{} was written to {key} and has a version of before",
                ShownEntry(&entry)
            )
        })?;
        first.get_or_insert_with(|| entry.clone());
        last = Some(entry);
    }
    probe.conflict(&key, first.as_ref(), last.as_ref()).await
}

pub(super) async fn sizes(run: &SuiteRun) -> Result<(), NonConformance> {
    let key = run.key("sizes");
    let all_bytes: Vec<u8> = (0..=u8::MAX).collect();
    let small = run.probe(Clause::ReadsWhatWasWritten);
    let empty = small.write(&key, None, &[]).await?;
    let bytes = small.write(&key, Some(&empty), &all_bytes).await?;
    let probe = run.probe(Clause::LargestValue);
    let whole = vec![0xff; MOST_BYTES];
    let Swap::Done(_) = probe.swap(&key, Some(&bytes), &whole).await? else {
        return Err(Clause::LargestValue.broken("a swap of the largest value conflicts"));
    };
    let largest = probe.entry(&key).await?;
    Clause::LargestValue.check(largest.value == whole, || {
        format!("{} is read", ShownEntry(&largest))
    })?;
    let larger = vec![1; MOST_BYTES + 1];
    let swap = probe.register.swap(&key, Some(&largest), larger);
    let refused = probe.within(swap).await?;
    let is_refused =
        matches!(refused, Err(RegisterError::TooLarge { len }) if len == MOST_BYTES + 1);
    Clause::LargestValue.check(is_refused, || {
        format!("a swap of {} bytes ends with {refused:?}", MOST_BYTES + 1)
    })?;
    let found = probe.entry(&key).await?;
    Clause::LargestValue.check(found == largest, || {
        format!(
            "a larger value was refused, and {} is there",
            ShownEntry(&found)
        )
    })
}

/// Tests keys that a store might mistake for each other.
pub(super) async fn keys_apart(run: &SuiteRun) -> Result<(), NonConformance> {
    let probe = run.probe(Clause::KeysApart);
    let mut keys = Vec::new();
    for names in [
        ["a/b", "a.b", "a_b", "a-b", "a:b", "A/b", "a/B", "a"].as_slice(),
        &["\u{e9}", "e\u{301}", "\u{df}", "ss", "\u{130}", "i", "I"],
        &["%61", "a%2fb", "a\\b", "..", "."],
    ] {
        keys.extend(names.iter().map(|name| run.key(name)));
    }
    // Two keys with the longest names, which differ only in the last character.
    let (number, long) = (run.number(), "\u{e4}".repeat(119));
    let beginning = format!("{number}{long}\u{e4}/{number}{long}\u{e4}/{number}{long}\u{e4}");
    keys.push(parse(&format!("{beginning}/{number}{long}\u{e4}")));
    keys.push(parse(&format!("{beginning}/{number}{long}b")));
    for key in &keys {
        let found = probe.read(key).await?;
        Clause::KeysApart.check(found.is_none(), || {
            format!("{key} was never written and has the entry of another key")
        })?;
        probe.write(key, None, key.as_str().as_bytes()).await?;
    }
    let all = try_join_all(keys.iter().map(|key| probe.entry(key))).await?;
    for (key, entry) in keys.iter().zip(all) {
        let is_own = entry.value == key.as_str().as_bytes();
        Clause::KeysApart.check(is_own, || format!("{key} has {}", ShownEntry(&entry)))?;
    }
    Ok(())
}

/// Tests that many elections can write at once on one connection, and that no key gets the entry of another key.
pub(super) async fn many_at_once(run: &SuiteRun) -> Result<(), NonConformance> {
    let probe = &run.probe(Clause::KeysApart);
    let elections = (0_u32..MANY).map(|number| {
        let key = run.key(&format!("many/{number}"));
        async move {
            let entry = probe.write(&key, None, &number.to_be_bytes()).await?;
            probe.write(&key, Some(&entry), b"again").await?;
            Ok(())
        }
    });
    try_join_all(elections).await?;
    // Reads at the same time: a register may send them as one question, and must not mix up the answers.
    let (there, absent) = (run.key("many/0"), run.key("many/absent"));
    let asked = [&there, &absent, &there].repeat(10);
    let found = try_join_all(asked.iter().map(|key| probe.read(key))).await?;
    for (key, found) in asked.into_iter().zip(found) {
        Clause::KeysApart.check(found.is_some() == (*key == there), || {
            format!("of reads at one time, that of {key} has the answer of another one")
        })?;
    }
    Ok(())
}

/// Tests that a confirmed write of one connection is read by every other connection from then on.
pub(super) async fn seen_by_others(run: &SuiteRun) -> Result<(), NonConformance> {
    let key = run.key("seen");
    let (one, other) = (run.probe(Clause::SeenAtOnce), run.other(Clause::SeenAtOnce));
    let mut last = None;
    for round in 0_u32..ROUNDS {
        let (writer, reader) = if round % 2 == 0 {
            (&one, &other)
        } else {
            (&other, &one)
        };
        // The reader reads the former entry first: a cache must not return it after the swap.
        reader.read(&key).await?;
        let swap = writer
            .swap(&key, last.as_ref(), &round.to_be_bytes())
            .await?;
        let found = reader.read(&key).await?;
        let is_seen = match (&swap, &found) {
            (Swap::Done(version), Some(entry)) => entry.version == *version,
            (Swap::Done(_), None) | (Swap::Conflict(_), _) => false,
        };
        Clause::SeenAtOnce.check(is_seen, || {
            format!(
                "write {round} to {key} ended with {swap:?}, and another connection reads {found:?}"
            )
        })?;
        last = found;
    }
    Ok(())
}

pub(super) async fn waits_for_poll(run: &SuiteRun) -> Result<(), NonConformance> {
    let (key, probe) = (run.key("unpolled"), run.probe(Clause::WaitsForPoll));
    drop(probe.register.swap(&key, None, b"never polled".to_vec()));
    sleep(A_WHILE).await;
    let found = probe.read(&key).await?;
    Clause::WaitsForPoll.check(found.is_none(), || {
        format!("{key} has an entry by a swap that was dropped before it was polled")
    })
}

pub(super) async fn dropped(run: &SuiteRun) -> Result<(), NonConformance> {
    let (key, probe) = (run.key("dropped"), run.probe(Clause::DropHarmsNothing));
    for polls in 0..DROPPED {
        let mut swap = probe.register.swap(&key, None, b"given up".to_vec());
        for _ in 0..polls % 5 {
            if (&mut swap).now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(swap);
        let mut read = probe.register.read(&key);
        drop((&mut read).now_or_never());
    }
    let before = probe.read(&key).await?;
    // A dropped swap may have been applied between the read and this swap, so a conflict is allowed.
    let entry = match probe.swap(&key, before.as_ref(), b"kept").await? {
        Swap::Done(_) => Some(probe.entry(&key).await?),
        Swap::Conflict(found) => found,
    };
    let is_whole = entry
        .as_ref()
        .is_some_and(|entry| [&b"kept"[..], b"given up"].contains(&&*entry.value));
    Clause::DropHarmsNothing.check(is_whole, || {
        format!("after swaps that were dropped, {key} has {entry:?}")
    })?;
    let entry = probe.entry(&key).await?;
    probe.write(&key, Some(&entry), b"afterwards").await?;
    Ok(())
}

/// Number of keys that are written at once.
const MANY: u32 = 400;
/// Number of writes, each of which another connection reads.
const ROUNDS: u32 = 50;
/// Number of operations that are dropped.
const DROPPED: u32 = 100;
/// Time in which an operation that begins before it is polled would have reached its store.
const A_WHILE: Duration = Duration::from_millis(50);
