//! Many histories on all cores: their results, and whether they met every fault.
//!
//! Decided here: a panic anywhere in a history breaks the history, although event loops survive it. Also decided
//! here: the faults and events that many histories together must meet.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    ops::Range,
    panic::{self, AssertUnwindSafe},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use crate::{
    history::{self, Tale},
    kinds::{Fault, Kinds},
    voters::{ADDED, NEW_NAME, REMOVED, REPLACED},
    wire::Peaks,
};

/// The results of many histories.
#[derive(Debug, Default)]
pub struct Sum {
    pub histories: u64,
    pub seen: BTreeMap<String, u64>,
    pub peaks: Peaks,
    /// Longest time from a repair to agreement.
    pub slowest: Duration,
    /// A broken history, and its seed.
    pub broken: Option<(u64, Tale)>,
}

impl Sum {
    fn add(&mut self, seed: u64, tale: Tale) {
        self.histories += 1;
        for (what, times) in &tale.seen {
            *self.seen.entry(what.clone()).or_default() += times;
        }
        self.peaks = self.peaks.max(tale.peaks);
        self.slowest = self.slowest.max(tale.agreed);
        if tale.broken.is_some() {
            self.broken.get_or_insert((seed, tale));
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.histories += other.histories;
        for (what, times) in other.seen {
            *self.seen.entry(what).or_default() += times;
        }
        self.peaks = self.peaks.max(other.peaks);
        self.slowest = self.slowest.max(other.slowest);
        if let Some(broken) = other.broken {
            self.broken.get_or_insert(broken);
        }
    }

    /// Returns the faults and events that this number of histories with these kinds of faults should have met but did
    /// not.
    pub fn missing(&self, kinds: &Kinds) -> Vec<String> {
        let met = kinds.iter().flat_map(|fault| {
            let what = fault.name();
            ["leader", "other"].map(|met| format!("{what} met {met}"))
        });
        let ends = ENDS.iter().filter(|(_, among)| self.histories >= *among);
        let ends = ends.map(|(name, _)| format!("counted {name}"));
        let follows = FOLLOWS.iter().filter(|(fault, _)| kinds.contains(fault));
        let follows = follows.map(|(_, what)| (*what).to_owned());
        let due = met.chain(ends).chain(follows);
        due.filter(|what| !self.seen.contains_key(what)).collect()
    }
}

pub type Play = fn(u64, &Kinds) -> Tale;

/// Plays the history of a seed. A panic breaks the history.
pub fn play(seed: u64, kinds: &Kinds) -> Tale {
    guarded(|| history::play(seed, kinds))
}

/// Plays the history of a seed with agents that have votes, schedules and proxies. Votes are necessary, because a due
/// time may begin twice without them.
pub fn play_with_application(seed: u64, kinds: &Kinds) -> Tale {
    guarded(|| {
        history::play_with(seed, kinds, |plan| {
            (plan.is_quorum, plan.has_application) = (true, true);
        })
    })
}

fn guarded(play: impl FnOnce() -> Tale) -> Tale {
    PANICKED.take();
    let played = panic::catch_unwind(AssertUnwindSafe(play));
    let mut tale = played.unwrap_or_default();
    if let Some(panicked) = PANICKED.take() {
        tale.broken.get_or_insert(panicked);
    }
    tale
}

/// Plays the history twice, and checks that both logs are equal line by line.
pub fn play_twice(play: Play, seed: u64, kinds: &Kinds) -> Tale {
    let (once, mut again) = (play(seed, kinds), play(seed, kinds));
    if once.log != again.log {
        let mut lines = once.log.lines().zip(again.log.lines());
        let differing = lines.find(|(once, again)| once != again);
        let (before, now) = differing.unwrap_or(("an end", "more"));
        let broken = format!("two histories of one seed: first `{before}`, then `{now}`");
        again.broken = Some(broken);
    }
    again
}

/// Plays the histories of these seeds on `threads` threads, until one history is broken.
pub fn play_all(
    seeds: &Range<u64>,
    kinds: &Kinds,
    threads: usize,
    play: impl Fn(u64, &Kinds) -> Tale + Sync,
) -> Sum {
    note_panics();
    let (next, is_broken) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let some = || {
        let mut sum = Sum::default();
        while !is_broken.load(Relaxed) {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= seeds.end {
                break;
            }
            sum.add(seed, play(seed, kinds));
            is_broken.fetch_or(sum.broken.is_some(), Relaxed);
        }
        sum
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        let mut all = Sum::default();
        for thread in running {
            match thread.join() {
                Ok(sum) => all.merge(sum),
                Err(panicked) => panic::resume_unwind(panicked),
            }
        }
        all
    })
}

/// Keeps each later panic for the player of the history; otherwise the panic would only be printed. A crash that a
/// history draws is not kept, because it does not call the panic hook.
fn note_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        before(panicked);
        PANICKED.with_borrow_mut(|first| {
            first.get_or_insert_with(|| format!("a panic: {panicked}"));
        });
    }));
}

thread_local! {
    /// The first panic of the history that runs on this thread.
    static PANICKED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Events that must have followed some of the faults. It is not enough that the fault happened to an agent.
const FOLLOWS: [(Fault, &str); 16] = [
    (Fault::Kill, "start met no agent"),
    (Fault::Hang, "one that was asked to leave was given up"),
    (Fault::Hang, "one that was given up woke"),
    (Fault::Move, "start away from its first host"),
    (Fault::RestartAgent, "one that was asked to leave left"),
    (Fault::LateRosters, "rosters of a former process read"),
    (Fault::OtherVoters, "told Mismatch"),
    (Fault::NextEpoch, "told Mismatch"),
    (Fault::ChangeVoters, ADDED),
    (Fault::ChangeVoters, REMOVED),
    (Fault::ChangeVoters, REPLACED),
    (Fault::ChangeVoters, NEW_NAME),
    (Fault::KillSentinel, "counted notice_believed"),
    (Fault::ForgeNotice, "counted notice_wrong_bytes"),
    (Fault::ForgeNotice, "counted notice_replayed"),
    (Fault::ForgeNotice, "counted notice_other_incarnation"),
];

/// Ends of links that faults must have caused, each with the number of histories from which it is expected.
const ENDS: [(&str, u64); 7] = [
    ("handshake_timeout", 0),
    ("stale", 0),
    // A link between followers carries few messages, so its peer is hardly ever too slow for it: once in 1,100
    // histories. `tests/found` keeps such a history.
    ("slow_peer", 10_000),
    ("silent", 0),
    ("replaced", 0),
    ("lost", 0),
    ("goodbye", 0),
];
