//! Plays a script of commands in a world, and records the leaders and the duration of the last change.

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

/// Time without an event after which a group is settled.
const QUIET: Duration = Duration::from_secs(3);
const LIMIT: Duration = Duration::from_secs(20);
/// Largest number of leaders that a step names. With more leaders it names only the last.
const MANY: usize = 6;

/// Outcome of a script.
#[derive(Debug, Default)]
pub(crate) struct Story {
    /// Text for each `settle`. It lists the agents that became leader, or has `=` for none. If not all agents had an
    /// event, the agents with an event follow in brackets. If all agents follow a leader that is not the last in the
    /// list, its name ends the text.
    pub(crate) steps: Vec<String>,
    /// Time from the last command until the last event.
    pub(super) took: Duration,
    /// Terms of the new leaderships, for each `settle`.
    pub(super) terms: Vec<Vec<Term>>,
}

/// Plays a script and returns its outcome. A script has the commands of a cluster, `wait`, `settle`, and `until`, which
/// waits until an agent sends a message of the given kind.
#[track_caller]
pub(crate) fn play<E: Election>(world: &mut World<E>, script: &str) -> Story {
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

pub(crate) fn apply<E: Election>(world: &mut World<E>, command: &str) {
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
    let is_dead = world.sprung(Reaction::Crash) > 0; // a trap of the scene crashed the agent
    let violation = world.violation();
    assert!(is_done || is_dead, "`{command}` can be done: {violation:?}");
}

/// Runs the world until no more events happen. `told` has the number of events that each agent had before.
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

/// Returns the events of an agent without renewals, drains and changes of the voters, which do not change the leader.
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
