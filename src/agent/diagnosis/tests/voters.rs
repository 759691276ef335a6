//! Findings while no agent leads: the voters, the agent's own wait, and its recovery.

use super::{findings::failed, *};
use crate::protocol::{ClockGap, Recovering};

pub(super) fn play(scenes: &mut Scenes) {
    reachable(scenes);
    eligible(scenes);
    waits(scenes);
    recovers(scenes);
}

fn reachable(scenes: &mut Scenes) {
    scenes.add("all voters of a quorum are there", quorum(), |_| ());
    scenes.add("a is away", quorum(), |it| away(it, &["a"]));
    let name = "a is away, no message of c was ever heard, and d is no voter";
    scenes.add(name, quorum(), |it| {
        away(it, &["a"]);
        it.members.pop();
        it.members.push(member("d", Some(9)));
    });
    // No voter is heard, so it is unknown whether a voter is eligible.
    scenes.add("all voters are away", quorum(), |it| {
        away(it, &["a", "b", "c"]);
    });
    let name = "a and c are away where each side elects its own leader";
    scenes.add(name, vacant(), |it| away(it, &["a", "c"]));
    scenes.add("seven agents are away", vacant(), |it| {
        let names = ["a", "c", "d", "e", "f", "g", "h"];
        it.members = names.map(|name| member(name, Some(1))).into();
        away(it, &names);
        it.members.push(member("b", Some(1)));
    });
    scenes.add("it has ended, and all others are there", quorum(), |it| {
        it.status.lifecycle = Lifecycle::Ended;
        away(it, &["b"]);
    });
    scenes.add("it has ended, and a was never heard", quorum(), |it| {
        it.status.lifecycle = Lifecycle::Ended;
        away(it, &["b"]);
        it.members.remove(0);
    });
    scenes.add("the worst comes first", quorum(), |it| {
        away(it, &["a", "c"]);
        it.status.role = Role::Candidate;
        it.score = None;
        it.signs.store_failure = Some(Box::new(failed(60_000, false)));
        it.peers = vec![PeerReport {
            unlinked_for: Some(MS(5)),
            ..peer("host-c")
        }];
    });
}

fn eligible(scenes: &mut Scenes) {
    let no_scores = |it: &mut Facts| {
        for known in &mut it.members {
            known.member.score = None;
        }
        it.score = None;
    };
    scenes.add("no agent has a score", vacant(), no_scores);
    scenes.add(
        "no agent has a score, and its tie is broken",
        vacant(),
        |it| {
            no_scores(it);
            it.status.tie_broken = true;
        },
    );
    scenes.add("it observes", vacant(), |it| {
        it.assumed.kind = MemberKind::Observer;
        it.score = None;
    });
}

fn waits(scenes: &mut Scenes) {
    scenes.add("it waits for its slot", vacant(), |it| {
        it.signs.prospects.edit().waits_until = Some(NOW.after(MS(300)));
    });
    // The cool-down delays its slot.
    scenes.add("it waits and cools down", vacant(), |it| {
        it.signs.prospects.edit().waits_until = Some(NOW.after(MS(300)));
        it.signs.prospects.edit().cooldown_until = Some(NOW.after(MS(900)));
    });
    scenes.add("its wait and its cool-down are over", vacant(), |it| {
        it.signs.prospects.edit().waits_until = Some(NOW);
        it.signs.prospects.edit().cooldown_until = Some(NOW);
    });
    for role in [Role::Candidate, Role::Waiting] {
        scenes.add(&format!("its role is {role:?}"), vacant(), |it| {
            it.status.role = role;
        });
    }
    scenes.add("it has done nothing yet", vacant(), |it| {
        it.last_step = None;
    });
    scenes.add("it elects by the rules of ASTRA", vacant(), |it| {
        it.assumed = Assumptions::new(MemberKind::Voter, Some(&Timings::astra()), None);
    });
}

fn recovers(scenes: &mut Scenes) {
    let mut add = |what, left, recover: u32, remember: &[&str], silent: &[&str], restarts| {
        let names = |names: &[&str]| names.iter().copied().map(id).collect::<Vec<_>>();
        let remembering = u32::try_from(remember.len()).unwrap();
        scenes.add(what, vacant(), |it| {
            // An agent that recovers has no slot, so its wait is not told.
            it.signs.prospects.edit().waits_until = Some(Time::from_millis(90_000));
            it.signs.prospects.edit().recovers = Some(Box::new(Recovering {
                until: NOW.after(MS(left)),
                answers: remembering + recover,
                recover,
                needed: 2,
                remember: names(remember),
                silent: names(silent),
                restarts,
            }));
        });
    };
    add("it abstains", 1_200, 0, &[], &["a", "b"], None);
    add("both others recover too", 0, 2, &[], &[], Some(0));
    add("no answer came", 0, 0, &[], &["a", "b"], None);
    add("one of two is silent", 0, 0, &["b"], &["c"], Some(1));
    add("two remember", 0, 1, &["b", "d"], &["c"], Some(1));
    let silent = &["c", "d"];
    add(
        "one recovers too, and two are silent",
        0,
        1,
        &["b"],
        silent,
        Some(1),
    );
    add("it goes on by itself", 0, 0, &["b"], &["c"], Some(0));
    scenes.add("one of two that remember has to restart", vacant(), |it| {
        it.signs.prospects.edit().recovers = Some(Box::new(Recovering {
            until: NOW,
            answers: 3,
            recover: 1,
            needed: 3,
            remember: ["b", "d"].map(id).into(),
            silent: ["e", "f"].map(id).into(),
            restarts: Some(1),
        }));
    });
    for (is_ahead, what) in [(true, "b's clock is ahead"), (false, "b's clock is behind")] {
        scenes.add(what, vacant(), |it| {
            it.signs.prospects.edit().clock_gap = Some(Box::new(ClockGap {
                voter: id("b"),
                is_ahead,
                by: MS(3_600_000),
            }));
        });
    }
}
