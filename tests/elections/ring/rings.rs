//! What only a ring can suffer: scenarios 33 to 38.

use std::time::Duration;

use actix_bully::{
    elections::ring::{Ring, RingConfig},
    protocol::{AgentId, Role, Term, Time},
    testkit::faults::Conditions,
};
use actix_bully_oracles::RingScenario;
use bully_sim::{
    sim::{
        Detection, Reaction, World,
        chaos::{ChaosOptions, Fault, chaos},
    },
    trace::{Happening, Trace, What},
};

use crate::{
    ring::kit::{
        D, MS, acquired, builder, comes_to_lead, comes_to_lead_above, config, leads, led,
        led_rings, mark, names, ring, seeds, sent,
    },
    seeds::worlds::dies_of,
};

const DELAY: Duration = Duration::from_millis(7);

/// The leader is dead, and so are these; `d` begins at this moment, knowing nothing of it.
fn begins(scores: &[i32], dead: &[&str], starter: &str, config: &RingConfig) -> World<Ring> {
    let world = builder(1, scores, config).conditions(Conditions::delayed(DELAY));
    let mut world = world.build();
    world.settle(MS(5_000)).unwrap();
    world.run_for(MS(60)); // no heartbeat is under way
    for name in dead {
        world.crash(name);
    }
    world.campaign(starter);
    world
}

#[test]
fn s33_two_adjacent_dead_members_cost_two_hops() {
    let once = RingConfig {
        sends: 1,
        hop: Some(D * 2 + MS(20)),
        ..RingConfig::default()
    };
    for config in [config(), once] {
        let mut world = begins(&[1, 2, 3, 4, 5, 6], &["c", "d"], "b", &config);
        let began = world.now();
        let took = comes_to_lead_above(&mut world, Term(1), "f", MS(10_000));
        // a, b, e, f are left: b collects 4, nominates f 2 hops on, f announces itself over 4; the
        // last acknowledgement makes it quiet.
        let hops = 4 + 2 + 4 + 1;
        assert_eq!(took, config.hop() * 2 + DELAY * hops, "2 Hop and 11 d");
        assert!(took <= config.worst_case_election(6, 2));
        // Each was tried as often as a message is sent, and then no more.
        let tries = lost_on(&world, &["c", "d"], began);
        assert_eq!(tries, usize::try_from(config.sends).unwrap() * 2);
    }
}

/// How many messages but probes went to these since then.
fn lost_on(world: &World<Ring>, dead: &[&str], since: Time) -> usize {
    let entries = world.trace().entries().filter(|entry| entry.at >= since);
    let to_them = entries.filter(|entry| match &entry.what {
        What::Sent { message, .. } => {
            dead.contains(&message.to.as_str()) && message.kind != "probe" && message.kind != "beat"
        }
        _ => false,
    });
    to_them.count()
}

#[test]
fn s34_the_origin_dies_while_its_token_circulates() {
    seeds(|seed| {
        // The origin dies with the first hop, or when its token is anywhere else.
        for hops in 0..4 {
            let mut world = led(seed, 5);
            world.run_for(MS(500));
            let before = sent(&world, "collect");
            let term = world.view("a").unwrap().term;
            world.campaign("c");
            let gone = |w: &World<Ring>| sent(w, "collect") > before + hops;
            assert!(world.run_until(gone, MS(5_000)));
            world.crash("c");
            let bound = config().worst_case_election(5, 1) + D * 2;
            comes_to_lead_above(&mut world, term, "e", bound);
            // The next one closed the circle: this election has a winner, no other was begun.
            assert_eq!(world.view("a").unwrap().term, term.next().unwrap());
        }
    });
}

#[test]
fn s35_the_winner_dies_before_its_nomination() {
    for mut world in led_rings() {
        world.run_for(MS(500));
        let before = mark(&world);
        dies_of(&mut world, "e", "collect", 0); // it is on the list, and dies
        world.campaign("b");
        assert!(world.run_until(|w| sent(w, "nominate") > 0, MS(5_000)));
        assert_eq!(
            (world.sprung(Reaction::Crash), world.is_running("e")),
            (1, false)
        );
        // The nomination comes round without having met it: another election, at once.
        let bound = config().worst_case_election(5, 1) * 2;
        comes_to_lead(&mut world, "d", bound);
        assert_eq!(acquired(&world, before), ["d"]);
    }
}

#[test]
fn s36_the_token_is_lost_with_the_one_that_held_it() {
    seeds(|seed| {
        // Acknowledged, and not passed on; no member leads, and the timer `Token` ends the wait.
        let mut world = ring(seed, 5);
        dies_of(&mut world, "a", "hop_ack", 0);
        world.run_for(MS(200));
        assert_eq!(
            (world.sprung(Reaction::Crash), world.is_running("a")),
            (1, false)
        );
        let view = world.view("e").unwrap();
        assert_eq!((view.role, view.leader), (Role::Candidate, None));
        let bound = config().token(5) + config().worst_case_election(5, 1);
        let took = comes_to_lead_above(&mut world, view.term, "e", bound);
        assert!(took + MS(200) > config().token(5), "{took:?}");
    });
}

/// The leader is dead, and b has begun; the member that has the nomination of d dies with it.
#[test]
fn s36_the_nomination_is_lost_with_the_one_that_held_it() {
    for mut world in led_rings() {
        world.run_for(MS(500));
        let term = world.view("b").unwrap().term;
        world.crash("e");
        dies_of(&mut world, "c", "hop_ack", 1); // its first acknowledgement is the token's
        let began = world.now();
        world.campaign("b");
        assert!(world.run_until(|w| w.sprung(Reaction::Crash) == 1, MS(2_000)));
        assert_eq!(acknowledged(&world, "c", began), ["collect", "nominate"]);
        // d never hears that it was chosen. The leader is missed, and no member begins: each waits for
        // the outcome.
        world.run_to(began.after(config().silence(5)));
        for name in ["a", "b", "d"] {
            assert_eq!(world.view(name).unwrap().leader, None, "{name}");
            assert!(world.machine(name).unwrap().election().is_some(), "{name}");
        }
        let left = config().token(5).saturating_sub(config().silence(5));
        // The last one began to wait when the token had been round, over the dead leader.
        let bound = left + D * 5 + config().hop() + config().worst_case_election(5, 2);
        comes_to_lead_above(&mut world, term.next().unwrap(), "d", bound);
    }
}

/// What this one has acknowledged since then.
fn acknowledged(world: &World<Ring>, by: &str, since: Time) -> Vec<String> {
    let entries = world.trace().entries().filter(|entry| entry.at >= since);
    let acks = entries.filter_map(|entry| match &entry.what {
        What::Sent { message, .. } if message.from == by && message.kind == "hop_ack" => {
            Some(&message.text)
        }
        _ => None,
    });
    let lap = |text: &String| text.split(' ').nth(1).unwrap().to_owned();
    acks.map(lap).collect()
}

#[test]
fn s37_all_start_and_suppression_leaves_one_token() {
    seeds(|seed| {
        for scores in [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [2, 5, 1, 4, 3]] {
            let mut world = builder(seed, &scores, &config()).build();
            world.run_for(Duration::ZERO);
            for name in names(5) {
                assert!(world.campaign(name));
            }
            let begun = names(5);
            let role = |name: &AgentId| world.view(name).unwrap().role;
            assert!(begun.iter().all(|name| role(name) == Role::Candidate));
            world.settle(MS(5_000)).unwrap();
            let laps = ["collect", "nominate", "coordinator"].map(|kind| sent(&world, kind));
            let all: u64 = laps.iter().sum();
            assert!(all <= 5 * 6 / 2 + 2 * 5, "n (n + 1) / 2 + 2 n: {laps:?}");
            assert_eq!(acquired(&world, 0).len(), 1);
        }
    });
}

/// The seed wrote the leader into dead nodes. Here nothing at all goes to a member that is known to be dead,
/// and one that comes back asks for itself.
#[test]
fn s38_the_dead_acquire_no_leader() {
    seeds(|seed| {
        let confirmed = Detection::Certain(Duration::ZERO.into());
        let mut world = builder(seed, &[1, 2, 3, 4, 5], &config())
            .detection(confirmed)
            .build();
        leads(&mut world, "e");
        world.crash("e");
        world.crash("d");
        let told = |w: &World<Ring>| w.events("d").len() + w.events("e").len();
        let before = told(&world);
        let began = world.now();
        comes_to_lead(&mut world, "c", MS(5_000));
        world.run_for(MS(10_000));
        assert_eq!((world.view("d"), world.view("e")), (None, None));
        assert_eq!(told(&world), before);
        assert_eq!(to_the_dead(world.trace(), began), 0);
    });
}

/// How many messages went to a dead member since then.
fn to_the_dead(trace: &Trace, since: Time) -> usize {
    let mut dead: Vec<&AgentId> = Vec::new();
    let mut count = 0;
    for entry in trace.entries() {
        match &entry.what {
            What::Happened {
                agent,
                what: Happening::Crashed,
            } => dead.push(agent),
            What::Happened {
                agent,
                what: Happening::Restarted,
            } => dead.retain(|id| *id != agent),
            What::Sent { message, .. } if entry.at >= since => {
                count += usize::from(dead.contains(&&message.to));
            }
            _ => {}
        }
    }
    count
}

/// The same where everything goes wrong: the scenario looks after every step which agent waits for an
/// answer of a member that it knows to be dead, or of an agent that is no member.
#[test]
fn s38_no_member_waits_for_the_dead_in_chaos() {
    let (mut deaths, mut suppressed) = (0, 0);
    for seed in 0..100 {
        let options = ChaosOptions {
            faults_for: Duration::from_secs(10),
            ..ChaosOptions::default()
        };
        let mut scenario = RingScenario::default();
        let report = chaos(seed, 5, &options, &mut scenario);
        assert!(report.violation.is_none(), "{report}");
        deaths += report.coverage.of(Fault::Crash);
        suppressed += scenario.suppressed();
    }
    assert!(deaths > 40 && suppressed > 40, "{deaths}, {suppressed}");
}
