//! Tests that a seed gives the same history each time, and that a broken rule makes a history fail.

use std::{cell::Cell, collections::BTreeSet, ops::Range, time::Duration};

use actix_bully::{
    clock::{Clock, WallTime},
    elections::quorum::Vote,
    protocol::{AgentId, Incarnation, NewVoter, Term, Time},
};
use bully_core::{
    elections::quorum::{Candidate, SealRecord, VotersRecord},
    protocol::Decree,
};
use futures::FutureExt;

use simulated_network::{
    check,
    clock::SimulatedClock,
    freeze::Freezer,
    history::{Tale, play_with},
    kinds::{Fault, Kinds},
    ledger::{Ledger, MESSAGE, TICK},
    lists::Lists,
    many::{Sum, play, play_all, play_twice},
    plan::Plan,
    setting::agent_of,
    voters::{ADDED, NEW_NAME, REMOVED, REPLACED},
    wire::Peaks,
};

/// Plays the histories of all seeds, and checks that none of them is broken.
#[track_caller]
fn hold(seeds: Range<u64>, kinds: &Kinds, play: impl Fn(u64, &Kinds) -> Tale + Sync) -> Sum {
    let sum = play_all(&seeds, kinds, 2, play);
    let broken = sum.broken.as_ref();
    assert_eq!(broken.map(|(seed, tale)| (seed, &tale.broken)), None);
    sum
}

#[test]
fn histories_keep_every_promise_and_meet_every_kind_of_host() {
    let sum = hold(0..60, &Fault::all(), play);
    assert_eq!(sum.histories, 60);
    assert!(sum.slowest > Duration::ZERO);
    assert!(sum.peaks.dials > 0 && sum.peaks.streams > 0);
}

#[test]
fn the_same_seed_is_the_same_history_and_another_one_is_another() {
    let mut logs = BTreeSet::new();
    for seed in 100..108 {
        let tale = play_twice(play, seed, &Fault::all());
        assert_eq!(tale.broken, None, "seed {seed}");
        assert!(tale.log.lines().count() > 4, "seed {seed}: {}", tale.log);
        logs.insert(tale.log);
    }
    assert_eq!(logs.len(), 8);
    for kinds in [
        Fault::of_voters(),
        Fault::of_sentinels(),
        Fault::of_diskless(),
    ] {
        assert_eq!(play_twice(play, 7, &kinds).broken, None);
    }
}

#[test]
fn too_many_dials_or_streams_break_a_history() {
    let peaks = |dials, streams| check::bounded(Peaks { dials, streams }, 3);
    assert_eq!(peaks(5, 5), Ok(()));
    assert!(peaks(100, 5).is_err_and(|why| why.contains("dials")));
    assert!(peaks(5, 100).is_err_and(|why| why.contains("streams")));
}

#[test]
fn what_never_happened_is_named() {
    let names: BTreeSet<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
    assert_eq!(names.len(), Fault::ALL.len(), "each has a name of its own");
    let none = Sum::default().missing(&Fault::all());
    assert!(none.contains(&"power-off met leader".to_owned()));
    assert!(none.contains(&"counted silent".to_owned()));
    let rare = "counted slow_peer".to_owned();
    assert!(!none.contains(&rare));
    let many = Sum {
        histories: 10_000,
        ..Sum::default()
    };
    assert!(many.missing(&Fault::all()).contains(&rare));
}

#[test]
fn nothing_of_a_frozen_process_runs() {
    let (freezer, steps) = (Freezer::default(), Cell::new(0));
    let mut process = Box::pin(freezer.run(async {
        loop {
            steps.set(steps.get() + 1);
            tokio::task::yield_now().await;
        }
    }));
    for (frozen, expected) in [(false, 1), (true, 1), (true, 1), (false, 2)] {
        if frozen {
            freezer.freeze();
        } else {
            freezer.thaw();
        }
        let never: Option<()> = process.as_mut().now_or_never();
        assert_eq!((never, steps.get()), (None, expected));
    }
}

#[test]
fn a_clock_counts_a_suspend_at_its_own_rate() {
    let clock = SimulatedClock::default().at_rate(110);
    assert_eq!(clock.now(), Time::ZERO);
    clock.suspend(Duration::from_secs(10));
    assert_eq!(clock.now(), Time::from_millis(11_000));
}

#[test]
fn a_second_vote_or_a_record_that_goes_back_breaks_a_history() {
    let [a, b, c] = [0, 1, 2].map(agent_of);
    let ledger = Ledger::default();
    ledger.voted(&a, Term(1), &b);
    ledger.voted(&a, Term(1), &b);
    ledger.voted(&a, Term(2), &c);
    assert_eq!(ledger.check(), Ok(()));
    ledger.voted(&a, Term(1), &c);
    assert!(ledger.check().is_err_and(|why| why.contains("voted for")));
    let record = |term| Vote {
        term: Term(term),
        voted_for: Some(Candidate {
            id: b.clone(),
            incarnation: Incarnation(1),
        }),
        ..Vote::default()
    };
    ledger.wrote(&a, &record(4));
    ledger.wrote(&a, &record(4));
    ledger.wrote(&b, &record(2));
    assert_eq!(ledger.check(), Ok(()));
    ledger.wrote(&a, &record(3));
    assert!(ledger.check().is_err_and(|why| why.contains("record")));
}

/// This test draws the kinds of faults that every other history draws, so each kind has to occur here as well.
#[test]
fn schedules_and_proxies_keep_their_promises_under_every_kind_of_fault() {
    let play = |seed, kinds: &Kinds| {
        play_with(seed, kinds, |plan| {
            plan.has_application = true;
            plan.is_quorum = true;
        })
    };
    let sum = hold(0..75, &Fault::all(), play);
    for fault in Fault::all() {
        let happened = |what: &&str| {
            sum.seen
                .contains_key(&format!("{} met {what}", fault.name()))
        };
        let met = ["leader", "other", "no agent"];
        assert!(met.iter().any(happened), "{} never happened", fault.name());
    }
    let (ticks, messages) = (sum.seen[TICK], sum.seen[MESSAGE]);
    assert!(ticks > 300 && messages > 3_000, "{ticks}, {messages}");
}

#[test]
fn a_second_beginning_or_a_message_out_of_order_breaks_a_history() {
    let ledger = Ledger::default();
    let at = WallTime::from_millis;
    ledger.begun(at(1));
    ledger.begun(at(2));
    ledger.handled(0, 1, 1);
    ledger.handled(0, 1, 3);
    ledger.handled(0, 2, 2); // of another start
    assert_eq!(ledger.check(), Ok(()));
    ledger.begun(at(1));
    assert!(ledger.check().is_err_and(|why| why.contains("began twice")));
    ledger.handled(0, 1, 3);
    assert!(
        ledger
            .check()
            .is_err_and(|why| why.contains("handled twice"))
    );
    ledger.handled(0, 2, 5);
    ledger.handled(0, 2, 4);
    assert!(
        ledger
            .check()
            .is_err_and(|why| why.contains("handled late"))
    );
}

/// Returns the first seed whose history is broken, and the broken invariant.
fn first_broken(seeds: Range<u64>, change: fn(&mut Plan)) -> Option<(u64, String)> {
    let mut tales = seeds.map(|seed| (seed, play_with(seed, &Fault::all(), change)));
    tales.find_map(|(seed, tale)| tale.broken.map(|broken| (seed, broken)))
}

/// A clock at a third of the speed makes a lease last longer than the promises on which it depends.
#[test]
fn clocks_that_are_too_slow_are_found() {
    let (_, broken) = first_broken(0..500, |plan| {
        plan.is_quorum = true;
        plan.clocks = [100, 100, 100, 100, 30]; // the highest
    })
    .unwrap();
    assert!(
        broken.contains("lead") || broken.contains("led"),
        "{broken}"
    );
}

/// A voter that forgets its vote may vote twice. If its store counts as a new one, too few voters may hear it.
#[test]
fn disks_that_forget_are_found() {
    let (seed, broken) = first_broken(0..2_000, |plan| {
        plan.is_quorum = true;
        plan.is_forgetful = true;
    })
    .unwrap();
    let is_found = ["lead", "voted", "record", "no agreement"]
        .iter()
        .any(|word| broken.contains(word));
    assert!(is_found, "seed {seed}: {broken}");
}

#[test]
fn voters_change_beside_every_other_kind_of_fault() {
    let sum = hold(0..60, &Fault::of_voters(), play);
    for what in [ADDED, REMOVED, REPLACED, NEW_NAME] {
        let times = sum.seen.get(what).copied();
        assert!(times > Some(2), "{what}: {times:?}");
    }
}

#[test]
fn two_lists_of_one_epoch_or_one_that_nobody_sealed_for_break_a_history() {
    let [a, b, c] = [0, 1, 2].map(agent_of);
    let begun = || {
        let mut lists = Lists::default();
        lists.begin(vec![a.clone(), b.clone(), c.clone()]);
        lists
    };
    let decree = |voters: [&AgentId; 2]| Decree {
        epoch: 1,
        voters: voters.map(new).into(),
        vote_quorum: None,
        lease_quorum: None,
    };
    let record = |installed, seal| Vote {
        voters: Some(Box::new(VotersRecord {
            installed,
            seal,
            tells: false,
        })),
        ..Vote::default()
    };
    let seals = |term, next| {
        let term = Term(term);
        record(None, Some(SealRecord { term, next }))
    };
    let installed = record(Some(decree([&a, &b])), None);
    let mut lists = begun();
    assert_eq!(lists.wrote(&a, &seals(1, decree([&a, &b]))), Ok(()));
    let early = lists.wrote(&b, &installed);
    assert!(early.is_err_and(|why| why.contains("no quorum has sealed")));
    let other = lists.wrote(&b, &seals(1, decree([&a, &c])));
    assert!(other.is_err_and(|why| why.contains("and for")));
    assert_eq!(lists.wrote(&b, &seals(1, decree([&a, &b]))), Ok(()));
    assert_eq!(lists.wrote(&b, &installed), Ok(()));
    assert_eq!(lists.latest(), (1, &[a.clone(), b.clone()][..]));
    assert_eq!(lists.knows(&c, 1, &[a.clone(), b.clone()]), Ok(()));
    assert!(lists.knows(&c, 1, &[a.clone(), c.clone()]).is_err());
}

fn new(id: &AgentId) -> NewVoter {
    NewVoter {
        id: id.clone(),
        contact: None,
    }
}

#[test]
fn sentinels_that_end_and_notices_that_are_late_lost_or_forged_break_no_promise() {
    let sum = hold(0..60, &Fault::of_sentinels(), play);
    for what in ["believed", "replayed", "wrong_bytes", "other_incarnation"] {
        let times = sum.seen.get(&format!("counted notice_{what}")).copied();
        assert!(times > Some(3), "{what}: {times:?}");
    }
}

/// A process that stands still considers itself leader until its lease is over, so its peers must not take it for
/// ended.
#[test]
fn sentinels_that_take_a_stopped_process_for_ended_are_found() {
    let tell = |plan: &mut Plan| (plan.is_quorum, plan.is_pause_told) = (true, true);
    let kinds = Kinds::from([Fault::Pause, Fault::KillSentinel]);
    let mut tales = (0..300).map(|seed| play_with(seed, &kinds, tell));
    let due = "lead at the same time";
    assert!(tales.any(|tale| tale.broken.is_some_and(|broken| broken.contains(due))));
}

#[test]
fn voters_without_disks_keep_their_promises_beside_every_other_kind_of_fault() {
    let sum = hold(0..60, &Fault::of_diskless(), play);
    for what in [
        "outage met leader",
        "outage met other",
        "start met no agent",
    ] {
        let times = sum.seen.get(what).copied();
        assert!(times > Some(5), "{what}: {times:?}");
    }
}

/// The histories of seed 187 handled a message twice when two hosts had endpoints of the same name and the agents did
/// not tell them apart.
#[test]
fn schedules_and_proxies_keep_their_promises_while_the_voters_change() {
    let play = |seed, kinds: &Kinds| {
        play_with(seed, kinds, |plan| {
            plan.has_application = true;
            plan.is_lossy = false;
        })
    };
    let sum = hold(180..190, &Fault::of_voters(), play);
    assert!(sum.seen[TICK] > 20 && sum.seen[MESSAGE] > 200);
}
