//! The reasons why the present leader leads.

use super::*;
use crate::{agent::diagnosis::NotLeading, protocol::Preemption, register::keeper::StoreState};

fn outranked(leader: &str, by: &str, because: NotLeading) -> Finding {
    Finding::Outranked {
        leader: id(leader),
        by: id(by),
        because,
    }
}

#[test]
fn the_highest_that_can_be_reached_leads() {
    let highest = |name| Finding::HighestLeads { leader: id(name) };
    assert_eq!(found(&led_by("c")), [highest("c")]);
    let mut facts = led_by("b");
    facts.members[2].is_reachable = false;
    let missing = vec![id("c")];
    assert_eq!(
        found(&facts),
        [
            Finding::VotersAway { missing },
            outranked("b", "c", NotLeading::Unreachable),
            highest("b"),
        ]
    );
    // An agent without a score ranks above no agent.
    let mut facts = led_by("b");
    facts.members[2].member.score = None;
    assert_eq!(found(&facts), [highest("b")]);
}

#[test]
fn an_agent_above_the_leader_says_what_it_waits_for() {
    let mut facts = led_by("a");
    facts.members.pop(); // b ranks highest and is asking
    let because = |facts: &Facts| match &found(facts)[..] {
        [Finding::Outranked { because, .. }] => *because,
        other => panic!("{other:?}"),
    };
    assert_eq!(because(&facts), NotLeading::Unknown);
    facts.signs.prospects.edit().preemption = Some(Preemption::Never);
    assert_eq!(because(&facts), NotLeading::Never);
    facts.signs.prospects.edit().preemption = Some(Preemption::After(MS(5_000)));
    facts.signs.prospects.edit().takeover_at = Some(NOW.after(MS(700)));
    assert_eq!(because(&facts), NotLeading::TakesOver { left: MS(700) });
    facts.signs.prospects.edit().cooldown_until = Some(NOW.after(MS(900)));
    assert_eq!(because(&facts), NotLeading::CoolsDown { left: MS(900) });
}

/// By the rules of an application, the agent with the lowest rank may lead.
#[test]
fn no_rank_is_reported_for_an_own_election_without_a_preemption() {
    for name in ["a", "c"] {
        let mut facts = led_by(name);
        let own = ElectionMode::own(facts.requirements.as_ref().unwrap());
        facts.offers = own.offers(true);
        assert_eq!(found(&facts), [], "{name}");
        facts.signs.prospects.edit().preemption = Some(Preemption::Never);
        assert_ne!(found(&facts), [], "{name}");
    }
}

#[test]
fn no_agent_takes_over_soon_without_a_majority() {
    let because = |names: &[&str]| {
        let mut facts = listed(1, names);
        let half = names.len() / 2 + 1;
        let voters: Vec<_> = names.iter().map(|name| id(name)).collect();
        let rules = facts.requirements.as_mut().unwrap();
        rules.voters = Some(Electorate::new(&voters, half, half));
        facts.status.leader = Some(leader("a"));
        facts.signs.leaderless_since = None;
        let of = |finding| {
            let Finding::Outranked { because, .. } = finding else {
                return None;
            };
            Some(because)
        };
        found(&facts).into_iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(because(&["a", "b", "c"]), [NotLeading::Unknown; 2]);
    let few = ["a", "b", "c", "v", "w", "x", "y"];
    assert_eq!(because(&few), [NotLeading::NoMajority; 2]);
}

#[test]
fn a_leader_knows_when_it_gives_way_and_a_third_agent_does_not() {
    let mut facts = led_by("b");
    facts.signs.prospects.edit().takeover_at = Some(NOW.after(MS(700)));
    facts.signs.prospects.edit().cooldown_until = Some(NOW.after(MS(900)));
    assert_eq!(
        found(&facts),
        [outranked("b", "c", NotLeading::TakesOver { left: MS(700) })],
        "the cool-down is of another agent than c"
    );
    facts.id = id("a");
    assert_eq!(found(&facts), [outranked("b", "c", NotLeading::Unknown)]);
}

#[test]
fn a_leader_that_hands_over_or_cannot_be_reached() {
    let mut facts = led_by("c");
    facts.status.draining = true;
    assert!(found(&facts).contains(&Finding::Drains));
    let mut facts = led_by("c");
    facts.members[2].is_reachable = false;
    let gone = Finding::LeaderUnreachable { leader: id("c") };
    assert_eq!(found(&facts)[0], gone);
    facts.members.pop();
    assert_eq!(found(&facts), [gone]);
}

fn store() -> String {
    "postgres at db-1".to_owned()
}

/// Agents that share only a store learn the leader from the store, so no link to the leader can be missing.
#[test]
fn a_leader_that_only_the_store_knows_is_no_trouble() {
    let mut facts = led_by("z");
    facts.members.retain(|known| known.member.id == id("b"));
    facts.register = Some((store(), StoreState::default()));
    facts.offers = ElectionMode::LeaseInStore.offers(false);
    let holds = Finding::HoldsLease {
        leader: id("z"),
        store: store(),
    };
    assert_eq!(found(&facts), [holds]);
    // The other agents may be eligible, but this agent does not know them.
    facts.members[0].member.score = None;
    assert!(!found(&facts).contains(&Finding::NoneEligible));
}

/// Some contenders for a lease have no link to this agent. Only the store knows them.
#[test]
fn with_a_lease_no_agent_is_eligible_only_if_the_store_agrees() {
    for has_links in [false, true] {
        let mut facts = led_by("c");
        for known in &mut facts.members {
            known.member.score = None;
        }
        facts.offers = ElectionMode::LeaseInStore.offers(has_links);
        for has_another in [None, Some(true), Some(false)] {
            let state = StoreState {
                has_another,
                ..StoreState::default()
            };
            facts.register = Some((store(), state));
            let is_found = found(&facts).contains(&Finding::NoneEligible);
            assert_eq!(is_found, has_another == Some(false), "{has_another:?}");
        }
    }
}

/// If the group also has links, a lost link to the leader is reported, but no problem of the election, because the
/// lease decides.
#[test]
fn a_holder_that_no_link_reaches_is_told_by_the_name_of_its_store() {
    let mut facts = led_by("c");
    facts.members[2].is_reachable = false;
    facts.register = Some((store(), StoreState::default()));
    facts.offers = ElectionMode::LeaseInStore.offers(true);
    let unlinked = Finding::LeaderUnlinked {
        leader: id("c"),
        store: store(),
    };
    assert_eq!(found(&facts)[0], unlinked);
}
