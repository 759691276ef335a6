//! Findings about the agent itself, its stores, its peers and its work.

use super::*;
use crate::{
    agent::{
        diagnosis::ScheduleFinding, saving::StoreFailure, vitals::RecordSigns, work::WorkSigns,
    },
    clock::WallTime,
    protocol::{StoreId, VotersEvent},
    register::keeper::StoreState,
};

pub(super) fn play(scenes: &mut Scenes) {
    agent(scenes);
    stores(scenes);
    registers(scenes);
    records(scenes);
    peers(scenes);
    groups(scenes);
    work(scenes);
    schedules(scenes);
}

/// Sets the agent's last step. It is earlier than an election takes, by this number of milliseconds more.
fn silent(facts: &mut Facts, more: u64) {
    let span = facts.assumed.patience + MS(more);
    let last = NOW.since(Time::ZERO).saturating_sub(span);
    facts.last_step = Some(Time::ZERO.after(last));
}

fn agent(scenes: &mut Scenes) {
    scenes.add("nothing is wrong", vacant(), |_| ());
    scenes.add("it crashed, and would cool down", vacant(), |it| {
        it.status.lifecycle = Lifecycle::Down;
        it.signs.prospects.edit().cooldown_until = Some(Time::MAX);
    });
    scenes.add("it has ended", vacant(), |it| {
        it.status.lifecycle = Lifecycle::Ended;
    });
    scenes.add("it is silent for 14.999 s more", vacant(), |it| {
        silent(it, 14_999);
    });
    scenes.add("it is silent for 15 s more", vacant(), |it| {
        silent(it, 15_000);
    });
    scenes.add("it is silent, and follows c", led_by("c"), |it| {
        silent(it, 15_000);
    });
    let name = "it is silent, follows c, and has no detector";
    scenes.add(name, led_by("c"), |it| {
        silent(it, 15_000);
        it.assumed.timings = Some(Timings::astra());
    });
    scenes.add("its clock is slow", vacant(), |it| {
        it.signs.is_clock_slow = true;
    });
}

pub(super) fn failed(since: u64, is_tried_again: bool) -> StoreFailure {
    StoreFailure {
        reason: "no space".to_owned(),
        since: Time::from_millis(since),
        is_tried_again,
    }
}

fn stores(scenes: &mut Scenes) {
    scenes.add("its store failed for good", vacant(), |it| {
        it.signs.store_failure = Some(Box::new(failed(58_000, false)));
    });
    // An agent that waits for its store does not hang.
    let name = "its store fails, and it has done nothing since its first millisecond";
    scenes.add(name, vacant(), |it| {
        it.signs.store_failure = Some(Box::new(failed(58_000, true)));
        it.last_step = Some(Time::from_millis(1));
    });
    scenes.add("its store takes 20 s", vacant(), |it| {
        it.signs.saving_since = Some(Time::from_millis(40_000));
        it.last_step = it.signs.saving_since;
    });
    scenes.add("its store has just begun to write", vacant(), |it| {
        it.signs.saving_since = Some(NOW);
    });
}

fn registers(scenes: &mut Scenes) {
    let fails = |reason: &str| Some((MS(3_000), reason.to_owned()));
    let mut add = |what, state| {
        scenes.add(what, vacant(), |it| {
            it.register = Some(("files /leases".to_owned(), state));
        });
    };
    add("a store of leases that works", StoreState::default());
    let state = StoreState {
        writes: fails("it is full"),
        ..StoreState::default()
    };
    add("a store of leases that takes no writes", state);
    let state = StoreState {
        lists: fails("more than 1000 entries"),
        ..StoreState::default()
    };
    add("a store of leases that lists nobody", state);
    let state = StoreState {
        reads: fails("locked"),
        writes: fails("it is full"),
        lists: fails("more than 1000 entries"),
        marks: fails("full"),
        refused: Some("hello".to_owned()),
        other: None,
        has_another: None,
    };
    add(
        "a store of leases that fails, and holds something else",
        state,
    );
}

/// Returns the report that this voter has the store 2 instead of the store 1.
fn report(voter: &str, later: Option<u64>) -> VotersEvent {
    VotersEvent::OtherStore {
        id: id(voter),
        kept: StoreId::new(1),
        found: StoreId::new(2),
        later: later.map(Incarnation),
    }
}

fn records(scenes: &mut Scenes) {
    let both = || vec![report("a", None), report("b", None)];
    let later = |later| vec![report("a", Some(later))];
    let mut add = |what, reports, stores: [u64; 2], gone: &[&str]| {
        scenes.add(what, quorum(), |it| {
            it.signs.records = Some(Box::new(RecordSigns(reports)));
            for (known, store) in it.members.iter_mut().zip(stores) {
                known.member.store = Some(StoreId::new(store));
            }
            away(it, gone);
        });
    };
    add("a and b have another store", both(), [2, 2], &[]);
    // The store of this agent itself does not change.
    add(
        "a has a third store, and b its old one",
        both(),
        [3, 1],
        &[],
    );
    add("a and b have their old stores again", both(), [1, 1], &[]);
    add("a has another store, and is gone", both(), [2, 2], &["a"]);
    // The incarnation that is heard began after the reported one.
    add("an earlier process of a is heard", later(2), [2, 2], &[]);
    add("the reported process of a is heard", later(1), [2, 2], &[]);
}

fn peers(scenes: &mut Scenes) {
    let text = str::to_owned;
    let mut add = |what: &str, change: &dyn Fn(&mut PeerReport)| {
        let mut peer = PeerReport {
            last_error: Some(text("it does not answer")),
            advice: Some("start it"),
            ..peer("host-c")
        };
        change(&mut peer);
        scenes.add(what, with_peer(peer), |_| ());
    };
    add("a peer that is linked", &|_| ());
    add("a peer with other rules", &|peer| {
        peer.mismatch = Some((text("epoch 2"), text("epoch 1")));
    });
    add("a peer with other timings", &|peer| {
        let theirs = text("messages of 9ms, detection after 250ms");
        let mine = text("messages of 40ms, detection after 900ms");
        peer.timings = Some((theirs, mine));
    });
    let unlinked = |peer: &mut PeerReport| peer.unlinked_for = Some(MS(3_000));
    add("a peer without a link", &unlinked);
    add("a peer that refuses this node's name", &|peer| {
        unlinked(peer);
        peer.is_name_disputed = true;
    });
    add("a peer without a link whose name two have", &|peer| {
        unlinked(peer);
        peer.is_contested = true;
    });
    add("a peer whose name two have", &|peer| {
        peer.is_contested = true;
    });
    add("a peer with an agent b", &|peer| {
        peer.refused = vec![id("b")];
    });
    add("a peer whose clock is ahead", &|peer| {
        peer.is_clock_ahead = true;
    });
    // The earlier process is found before all other findings of the peer.
    add("a peer with much that is wrong", &|peer| {
        peer.has_twin = true;
        peer.lacks_group = true;
        peer.is_clock_ahead = true;
    });
}

fn groups(scenes: &mut Scenes) {
    let lacks = |shares_no_group| PeerReport {
        lacks_group: true,
        shares_no_group,
        other_groups: vec!["job".to_owned()],
        ..peer("host-c")
    };
    scenes.add(
        "a peer with another group, without a leader",
        vacant(),
        |it| {
            it.peers = vec![lacks(false)];
        },
    );
    // The peer may belong to another group of this node.
    scenes.add(
        "a peer with another group, with a leader",
        led_by("c"),
        |it| {
            it.peers = vec![lacks(false)];
        },
    );
    let name = "a peer that shares no group, with a leader";
    scenes.add(name, led_by("c"), |it| it.peers = vec![lacks(true)]);
}

fn work(scenes: &mut Scenes) {
    let leads = |has_run, draining| {
        let mut facts = led_by("b");
        facts.status.leading = Some(Term(7));
        facts.status.draining = draining;
        let mut work = WorkSigns::default();
        work.given();
        if has_run {
            work.begun();
            work.dropped(true);
        }
        facts.signs.work = Some(Box::new(work));
        facts
    };
    scenes.add("its work was never polled", leads(false, false), |_| ());
    scenes.add("its work was stopped", leads(true, false), |_| ());
    scenes.add("it hands over without work", leads(false, true), |_| ());
    let fails = |failures, waits| Finding::WorkFails {
        failures,
        since: MS(1_500),
        reason: "no disk".to_owned(),
        waits,
    };
    let waits = Some(MS(59_000));
    scenes.tell(
        "its work fails",
        &[fails(1, None), fails(2, None), fails(3, waits)],
    );
}

fn schedules(scenes: &mut Scenes) {
    let at = WallTime::from_millis(1_767_323_045_000);
    let silent = |missing: &[&str], early: &[&str]| ScheduleFinding::NotAcknowledged {
        schedule: id("mail"),
        since: at,
        missing: missing.iter().map(|name| id(name)).collect(),
        early: early.iter().map(|name| id(name)).collect(),
    };
    let fails = |times| ScheduleFinding::TickFails {
        schedule: id("mail"),
        since: at,
        times,
        reason: "no disk".to_owned(),
    };
    let not_stored = ScheduleFinding::MarksNotStored {
        since: at,
        reason: "no disk".to_owned(),
    };
    for (what, found) in [
        ("no answer of two agents", silent(&["a", "b"], &[])),
        ("a clock that is behind", silent(&[], &["c"])),
        ("a tick that fails", fails(1)),
        ("ticks that fail", fails(3)),
        ("marks that are not stored", not_stored),
    ] {
        scenes.tell(what, &[Finding::Schedule(found)]);
    }
}
