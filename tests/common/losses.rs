//! Losses of messages: of one message alone, or of all messages that are sent at one moment.
//!
//! The same seed and the same calls give the same run. So a scene is played once to find its messages, and once more
//! for the loss of each message.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "in a helper of tests"
)]

use std::{collections::BTreeMap, ops::Range, time::Duration};

use actix_bully::{protocol::AgentId, testkit::faults::Conditions};
use bully_core::{elections::fixture::any::every_kind, protocol::Election};
use bully_sim::{
    sim::World,
    trace::{MessageText, What},
};

/// Number of lost messages of each kind.
type Losses = BTreeMap<&'static str, u64>;

/// A function that makes a world from a seed.
pub(crate) type Stage<E> = fn(u64) -> World<E>;

/// An action on a world; it takes no time.
pub(crate) enum Act<E: Election> {
    Nothing,
    Crash(&'static str),
    Restart(&'static str),
    Campaign(&'static str),
    StepDown(&'static str),
    Do(fn(&mut World<E>)),
}

impl<E: Election> Act<E> {
    fn on(&self, world: &mut World<E>) {
        let is_done = match *self {
            Self::Nothing => true,
            Self::Crash(agent) => world.crash(agent),
            Self::Restart(agent) => world.restart(agent),
            Self::Campaign(agent) => world.campaign(agent),
            Self::StepDown(agent) => world.step_down(agent, None),
            Self::Do(act) => {
                act(world);
                true
            }
        };
        assert!(is_done, "the world refuses the action");
    }
}

/// A situation in which agents send messages.
pub(crate) struct Scene<E: Election> {
    /// The world before the action.
    pub(crate) stage: Stage<E>,
    /// The action that begins the scene.
    pub(crate) act: Act<E>,
    /// Time after the action during which messages are lost.
    pub(crate) span: Duration,
    /// The expected leader in the end.
    pub(crate) leader: &'static str,
}

/// Returns the kinds of all messages of an election except the kinds in `spared`, which stand there with the reason.
pub(crate) fn every_kind_but<E>(spared: &[(&str, &str)]) -> Vec<&'static str>
where
    E: Election<Message: serde::de::DeserializeOwned>,
{
    let mut kinds = every_kind::<E::Message>();
    for (kind, _) in spared {
        assert!(kinds.remove(*kind), "no message has the name {kind}");
    }
    kinds.into_iter().collect()
}

/// The kinds of messages to lose, and scenes that contain each of them.
pub(crate) struct LossSuite<E: Election> {
    pub(crate) kinds: Vec<&'static str>,
    pub(crate) scenes: Vec<Scene<E>>,
    pub(crate) seeds: Range<u64>,
    /// The check after each loss.
    pub(crate) then: fn(&mut World<E>, &str),
}

impl<E: Election> LossSuite<E> {
    /// Loses one message alone, for each kind; at most `most` messages of a kind in a scene.
    #[track_caller]
    pub(crate) fn lose_each(&self, most: usize) {
        self.lose(|scene, seed, lost| scene.lose_each(seed, &self.kinds, most, self.then, lost));
    }

    /// Loses all messages of a kind that are sent at one moment, for each kind.
    #[track_caller]
    pub(crate) fn lose_first(&self) {
        self.lose(|scene, seed, lost| scene.lose_first(seed, &self.kinds, self.then, lost));
    }

    #[track_caller]
    fn lose(&self, how: impl Fn(&Scene<E>, u64, &mut Losses)) {
        let mut lost = Losses::new();
        for seed in self.seeds.clone() {
            for scene in &self.scenes {
                how(scene, seed, &mut lost);
            }
        }
        println!("{lost:?}");
        let missing = self.kinds.iter().filter(|kind| !lost.contains_key(*kind));
        assert_eq!(missing.collect::<Vec<_>>(), [&""; 0], "lost: {lost:?}");
    }
}

/// A message to lose, and the number of steps between the action and its sending.
#[derive(Debug)]
struct Loss {
    steps: u64,
    kind: &'static str,
    from: AgentId,
    to: AgentId,
    /// Whether another message goes from the same sender to the same receiver at the same moment.
    in_company: bool,
}

impl<E: Election> Scene<E> {
    /// Returns a function that makes scenes in which messages are lost for `span`.
    pub(crate) fn lasting(span: Duration) -> impl Fn(Stage<E>, Act<E>, &'static str) -> Self {
        move |stage, act, leader| Self {
            stage,
            act,
            span,
            leader,
        }
    }

    /// Plays the scene once for each of its messages of the given kinds, loses that message alone, and checks the
    /// outcome. Of each kind it loses at most `most` messages, spread over the scene.
    fn lose_each(
        &self,
        seed: u64,
        kinds: &[&'static str],
        most: usize,
        then: fn(&mut World<E>, &str),
        lost: &mut Losses,
    ) {
        let messages = self.messages(seed, kinds);
        for kind in kinds {
            let of_kind = || messages.iter().filter(|message| message.kind == *kind);
            let every = of_kind().count().div_ceil(most).max(1);
            for message in of_kind().step_by(every) {
                let mut world = self.without(seed, message);
                then(&mut world, self.leader);
                *lost.entry(kind).or_default() += 1;
            }
        }
    }

    /// Plays the scene once for each kind, loses all messages of the kind at the first moment that has any, and checks
    /// the outcome.
    fn lose_first(
        &self,
        seed: u64,
        kinds: &[&'static str],
        then: fn(&mut World<E>, &str),
        lost: &mut Losses,
    ) {
        for kind in kinds {
            let mut world = (self.stage)(seed);
            let before = world.tally().ignored;
            world.ignore(kind);
            self.act.on(&mut world);
            world.run_until(|world| world.tally().ignored > before, self.span);
            let count = world.tally().ignored - before;
            world.recover();
            if count > 0 {
                then(&mut world, self.leader);
                *lost.entry(kind).or_default() += count;
            }
        }
    }

    fn messages(&self, seed: u64, kinds: &[&'static str]) -> Vec<Loss> {
        let mut world = (self.stage)(seed);
        let mut read = world.trace().entries().len();
        self.act.on(&mut world);
        let end = world.now().after(self.span);
        let mut messages = Vec::new();
        let mut steps = 0;
        loop {
            let new = sent(&world, read);
            let along = |one: &MessageText| {
                let same = |other: &&&MessageText| (&one.from, &one.to) == (&other.from, &other.to);
                new.iter().filter(same).count()
            };
            let of_kind =
                |one: &MessageText| new.iter().filter(|other| other.kind == one.kind).count();
            // A message is left out if others go the same way and others of its kind go elsewhere: it cannot be lost
            // alone.
            let may_be_lost =
                |message: &&&MessageText| along(message) == 1 || of_kind(message) == 1;
            for message in new.iter().filter(may_be_lost) {
                let Some(kind) = kinds.iter().copied().find(|kind| message.kind == *kind) else {
                    continue;
                };
                messages.push(Loss {
                    steps,
                    kind,
                    from: message.from.clone(),
                    to: message.to.clone(),
                    in_company: along(message) > 1,
                });
            }
            read = world.trace().entries().len();
            if world.next_at().is_none_or(|at| at > end) || !world.step() {
                return messages;
            }
            steps += 1;
        }
    }

    /// Plays the scene up to this message, and loses it.
    fn without(&self, seed: u64, message: &Loss) -> World<E> {
        let mut world = (self.stage)(seed);
        let Some(before) = message.steps.checked_sub(1) else {
            lose(&mut world, message, |world| self.act.on(world));
            return world;
        };
        self.act.on(&mut world);
        for _ in 0..before {
            world.step();
        }
        lose(&mut world, message, |world| {
            world.step();
        });
        world
    }
}

/// Returns the messages that were sent after the first `since` entries of the trace.
fn sent<E: Election>(world: &World<E>, since: usize) -> Vec<&MessageText> {
    let new = world.trace().entries().skip(since);
    new.filter_map(|entry| match &entry.what {
        What::Sent { message, .. } => Some(message),
        _ => None,
    })
    .collect()
}

/// Loses the message while `happens` runs: either nothing arrives from its sender at its receiver, or, if other
/// messages go the same way, no message of its kind arrives anywhere. In both cases one message is lost.
fn lose<E: Election>(world: &mut World<E>, message: &Loss, happens: impl Fn(&mut World<E>)) {
    let Loss { from, to, kind, .. } = message;
    let lost = |world: &World<E>| {
        let tally = world.tally();
        (
            tally.lost + tally.ignored,
            world.trace().count_of(kind).lost,
        )
    };
    let before = lost(world);
    if message.in_company {
        world.ignore(kind);
        happens(world);
        world.recover();
    } else {
        let nothing = Conditions::builder().loss(1_000).build().unwrap();
        world.set_link(from, to, Some(nothing));
        happens(world);
        world.set_link(from, to, None);
    }
    let after = lost(world);
    assert_eq!(
        after.0 - before.0,
        1,
        "exactly one message is lost: {message:?}"
    );
    assert!(
        after.1 > before.1,
        "the lost message is of this kind: {message:?}"
    );
}
