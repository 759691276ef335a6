//! A script of commands is played in a world: who led, and how long the last change took.

use std::{collections::BTreeSet, time::Duration};

use actix_bully::{
    protocol::{AgentId, Event, Term, Time},
    testkit::faults::Conditions,
};
use bully_core::{
    protocol::Election,
    record::{RecordedCommand, read_span},
};
use bully_sim::sim::{Reaction, World};

use super::MS;

/// A group is settled once all follow one leader, or no agent leads, and nothing happened for so long.
const QUIET: Duration = Duration::from_secs(3);
const LIMIT: Duration = Duration::from_secs(20);
/// More leaders are not named.
const MANY: usize = 6;

/// What came of a script.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// For each `settle`: the agents that came to lead, `=` for none; in brackets those that noticed anything, unless all
    /// did; then the leader of all, if it is another one.
    pub(super) steps: Vec<String>,
    /// From the last command until the last event.
    pub(super) took: Duration,
    /// For each `settle` the terms of its leaderships.
    pub(super) terms: Vec<Vec<Term>>,
}

/// The words are those of a cluster's commands, and `wait`; `until` a message of that kind is sent.
#[track_caller]
pub(super) fn play<E: Election>(world: &mut World<E>, script: &str) -> Story {
    let mut story = Story::default();
    let mut told: Vec<_> = world
        .agents()
        .map(|name| news(world, name).count())
        .collect();
    world.run_for(Duration::ZERO);
    let mut done = world.now();
    for command in script.split(';').map(str::trim).filter(|it| !it.is_empty()) {
        match command.split_once(' ') {
            Some(("wait", span)) => world.run_for(read_span(span).unwrap()),
            Some(("until", kind)) => {
                let before = world.trace().count_of(kind).sent;
                let sent = |w: &World<E>| w.trace().count_of(kind).sent > before;
                assert!(world.run_until(sent, LIMIT), "{command}");
            }
            _ if command == "settle" => {
                let settled = settle(world, &mut told, done);
                story.took = settled.1;
                story.steps.push(settled.0);
                story.terms.push(settled.2);
            }
            _ => {
                apply(world, command);
                done = world.now();
            }
        }
    }
    let text = || world.trace().to_text();
    assert_eq!(world.violation(), None, "{script}\n{}", text());
    story
}

fn apply<E: Election>(world: &mut World<E>, command: &str) {
    let given = command.parse().unwrap();
    let is_done = match given {
        RecordedCommand::Crash(names) => names.iter().all(|name| world.crash(name)),
        RecordedCommand::Restart(name) => world.restart(name),
        RecordedCommand::Hang(name) => world.pause(name),
        RecordedCommand::Resume(name) => world.resume(name),
        RecordedCommand::Leave(name) => world.leave(name),
        RecordedCommand::Score { agent, score } => world.set_score(agent, score),
        RecordedCommand::StepDown { agent, to } => world.step_down(agent, to),
        RecordedCommand::Campaign(name) => world.campaign(name),
        other => {
            match other {
                RecordedCommand::Partition(sides) => world.partition(sides),
                RecordedCommand::Cut(one, other) => world.cut(one, other),
                RecordedCommand::CutOneWay(from, to) => world.cut_one_way(from, to),
                RecordedCommand::Isolate(name) => world.isolate(name),
                RecordedCommand::Heal => world.heal(),
                RecordedCommand::Network(network) => {
                    world.set_conditions(Conditions::try_from(network).unwrap());
                }
                _ => panic!("no world is told `{command}`"),
            }
            true
        }
    };
    let is_dead = world.sprung(Reaction::Crash) > 0; // by the trap of a scene
    let violation = world.violation();
    assert!(is_done || is_dead, "`{command}` can be done: {violation:?}");
}

/// Goes on until nothing more happens. `told` is how many events each agent had before.
fn settle<E: Election>(
    world: &mut World<E>,
    told: &mut Vec<usize>,
    done: Time,
) -> (String, Duration, Vec<Term>) {
    let end = world.now().after(LIMIT);
    let mut last = done;
    while world.now() < end && world.now().since(last) < QUIET {
        world.run_for(MS(100));
        let latest = world.agents().filter_map(|name| news(world, name).last());
        last = latest.map(|(at, _)| *at).max().unwrap_or(done).max(done);
    }
    told.resize(world.agents().count(), 0);
    let (mut acquired, mut noticed) = (Vec::new(), BTreeSet::new());
    for (name, told) in world.agents().zip(told) {
        for (at, event) in news(world, name).skip(*told) {
            noticed.insert(name.clone());
            if let Event::Acquired { term } = event {
                acquired.push((*at, *term, name.clone()));
            }
        }
        *told = news(world, name).count();
    }
    acquired.sort();
    let mut leaders: Vec<_> = acquired.iter().map(|(_, _, name)| name.as_str()).collect();
    leaders.dedup();
    let mut text = match leaders.as_slice() {
        [] => String::from("="),
        [.., last] if leaders.len() > MANY => format!("many, {last}"),
        leaders => leaders.join(" "),
    };
    let running: BTreeSet<_> = world.views().map(|(name, _)| name.clone()).collect();
    if !noticed.is_empty() && !noticed.is_superset(&running) {
        let names: Vec<_> = noticed.iter().map(AgentId::as_str).collect();
        text = format!("{text} ({})", names.join(" "));
    }
    let leader = world.agreed().map(|leader| leader.id.to_string());
    match leader {
        None if world.is_contested() => text += ", two lead",
        None if world.believers().is_empty() => text += ", none leads",
        None => text += ", not all follow",
        Some(leader) if leaders.last().is_some_and(|last| *last != leader) => {
            text = format!("{text}, {leader}");
        }
        Some(_) => {}
    }
    let terms = acquired.iter().map(|(_, term, _)| *term);
    (text, last.since(done), terms.collect())
}

/// The events of an agent, but for those that tell nothing new.
fn news<'a, E: Election>(
    world: &'a World<E>,
    name: &AgentId,
) -> impl DoubleEndedIterator<Item = &'a (Time, Event)> {
    let events = world.events(name).iter();
    events.filter(|(_, event)| {
        !matches!(
            event,
            Event::Renewed { .. } | Event::Draining { .. } | Event::Voters(_)
        )
    })
}
