//! The reasons why the present leader leads.

use super::*;
use crate::{protocol::Preemption, register::keeper::StoreState};

pub(super) fn play(scenes: &mut Scenes) {
    highest(scenes);
    outranked(scenes);
    leases(scenes);
}

fn highest(scenes: &mut Scenes) {
    scenes.add("c leads", led_by("c"), |_| ());
    scenes.add("b leads while c is away", led_by("b"), |it| {
        away(it, &["c"]);
    });
    scenes.add("b leads, and c has no score", led_by("b"), |it| {
        it.members[2].member.score = None;
    });
    scenes.add("c hands over", led_by("c"), |it| it.status.draining = true);
    scenes.add("c leads, and is away", led_by("c"), |it| away(it, &["c"]));
    scenes.add("c leads, and is unknown", led_by("c"), |it| {
        it.members.pop();
    });
    // By the rules of an application, the agent with the lowest rank may lead.
    for (name, preemption) in [
        ("a", None),
        ("a", Some(Preemption::Never)),
        ("c", None),
        ("c", Some(Preemption::Never)),
    ] {
        let what = format!("{name} leads in an own election, preemption {preemption:?}");
        scenes.add(&what, led_by(name), |it| {
            let own = ElectionMode::own(it.requirements.as_ref().unwrap());
            it.offers = own.offers(true);
            it.signs.prospects.edit().preemption = preemption;
        });
    }
}

fn outranked(scenes: &mut Scenes) {
    let of_a = || {
        let mut facts = led_by("a");
        facts.members.pop();
        facts
    };
    scenes.add("a leads below this agent", of_a(), |_| ());
    scenes.add("a leads, and nobody preempts", of_a(), |it| {
        it.signs.prospects.edit().preemption = Some(Preemption::Never);
    });
    scenes.add("a leads, and this agent takes over", of_a(), |it| {
        it.signs.prospects.edit().preemption = Some(Preemption::After(MS(5_000)));
        it.signs.prospects.edit().takeover_at = Some(NOW.after(MS(700)));
    });
    let cools = |it: &mut Facts| {
        it.signs.prospects.edit().takeover_at = Some(NOW.after(MS(700)));
        it.signs.prospects.edit().cooldown_until = Some(NOW.after(MS(900)));
    };
    scenes.add("a leads, and this agent cools down", of_a(), cools);
    // The cool-down of this agent is not a cool-down of c.
    scenes.add("this agent leads until c takes over", led_by("b"), cools);
    scenes.add(
        "b leads until c takes over, as a sees it",
        led_by("b"),
        |it| {
            cools(it);
            it.id = id("a");
        },
    );
    for names in [&["a", "b", "c"][..], &["a", "b", "c", "v", "w", "x", "y"]] {
        let mut facts = listed(1, names);
        let half = names.len() / 2 + 1;
        let voters: Vec<_> = names.iter().map(|name| id(name)).collect();
        let rules = facts.requirements.as_mut().unwrap();
        rules.voters = Some(Electorate::new(&voters, half, half));
        facts.status.leader = Some(leader("a"));
        facts.signs.leaderless_since = None;
        let what = format!("a leads three reachable voters of {}", names.len());
        scenes.add(&what, facts, |_| ());
    }
}

fn leases(scenes: &mut Scenes) {
    let in_store = |name, has_links, has_another| {
        let state = StoreState {
            has_another,
            ..StoreState::default()
        };
        let mut facts = led_by(name);
        facts.register = Some(("postgres at db-1".to_owned(), state));
        facts.offers = ElectionMode::LeaseInStore.offers(has_links);
        facts
    };
    // Agents that share only a store learn the leader from the store, so no link to the leader can be missing.
    scenes.add(
        "z holds the lease, without links",
        in_store("z", false, None),
        |it| {
            it.members.retain(|known| known.member.id == id("b"));
        },
    );
    let name = "z holds the lease, without links, and this agent has no score";
    scenes.add(name, in_store("z", false, None), |it| {
        it.members.retain(|known| known.member.id == id("b"));
        it.members[0].member.score = None;
    });
    // A lost link to the leader is no problem of the election, because the lease decides.
    let name = "c holds the lease, and its link is lost";
    scenes.add(name, in_store("c", true, None), |it| away(it, &["c"]));
    // Some contenders for a lease have no link to this agent. Only the store knows them.
    for has_links in [false, true] {
        for has_another in [None, Some(true), Some(false)] {
            let what = format!("no score is known, links {has_links}, another {has_another:?}");
            scenes.add(&what, in_store("c", has_links, has_another), |it| {
                for known in &mut it.members {
                    known.member.score = None;
                }
            });
        }
    }
}
