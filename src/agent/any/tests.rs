//! Each election behaves the same behind one type, and ignores messages of the other elections.

use std::time::Duration;

use bully_sim::sim::{Detection, Participant, World};

use super::*;
use crate::{
    elections::quorum::{Elected, Takeover},
    protocol::{AgentId, Effects, Event, Incarnation, Input, Role, Term, Timings},
};

fn names() -> [AgentId; 3] {
    ["a", "b", "c"].map(|name| AgentId::new(name).unwrap())
}

fn available() -> AnyConfig {
    AnyConfig::Available(Arc::new(BullyConfig {
        timings: Timings::in_process(),
        ..BullyConfig::default()
    }))
}

fn quorum() -> AnyConfig {
    let config = QuorumConfig {
        timings: Timings::in_process(),
        ..QuorumConfig::new(names())
    };
    AnyConfig::Quorum(Arc::new(config))
}

fn world(config: &AnyConfig) -> World<AnyBully> {
    let scored = names().into_iter().zip(1..);
    World::builder(1)
        .agents(
            scored
                .map(|(id, score)| Participant::voter(id, Some(i32::into(score)), config.clone())),
        )
        .detection(Detection::Silent(Duration::ZERO.into()))
        .build()
}

#[test]
fn a_timer_of_the_other_mode_is_ignored() {
    let foreign = [
        (available(), BullyTimer::Election),
        (quorum(), BullyTimer::Campaign),
    ];
    for (config, timer) in foreign {
        let mut world = world(&config);
        world.run_for(Duration::from_millis(200));
        let mut machine = world.machine("a").unwrap().clone();
        let mut out = Effects::new();
        machine.handle(Time::from_millis(201), Input::TimedOut(timer), &mut out);
        assert!(out.is_empty());
        assert_eq!(machine.view(Time::from_millis(201)).role, Role::Follower);
        assert!(matches!(world.events("a"), [(_, Event::NewLeader(_)), ..]));
    }
}

#[test]
fn a_message_of_another_election_is_refused() {
    let (term, score) = (Term(99), 9.into());
    let elected = Elected {
        term,
        score,
        ..Elected::default()
    };
    let lease = AnyConfig::Lease(Arc::new(LeaseConfig::new("c", "g").unwrap()));
    let heard = [
        (available(), elected.clone().into(), true),
        (available(), Takeover { term }.into(), false),
        (
            AnyConfig::Astra(<_>::default()),
            elected.clone().into(),
            true,
        ),
        (
            AnyConfig::Astra(<_>::default()),
            Takeover { term }.into(),
            false,
        ),
        (quorum(), elected.clone().into(), true),
        (lease, elected.into(), false),
    ];
    for (config, message, is_heard) in heard {
        let mut world = world(&config);
        world.run_for(Duration::from_millis(1));
        let mut machine = world.machine("a").unwrap().clone();
        let before = machine.clone();
        let mut out = Effects::new();
        let said: AnyMessage = message;
        let input = Input::Received {
            from: names()[2].clone(),
            incarnation: Incarnation(1),
            message: said.clone(),
        };
        machine.handle(Time::from_millis(2), input, &mut out);
        assert_eq!(machine != before, is_heard, "{config:?}: {said}");
        assert!(is_heard || out.is_empty(), "{config:?}: {said}");
    }
}
