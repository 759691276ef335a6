//! Losses of messages: of one message alone, or of all messages that are sent at one moment.
//!
//! The same seed and the same calls give the same run. So a scene is played once to find its messages, and once more
//! for the loss of each message.
#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "in a helper of tests"
)]

use std::{collections::BTreeMap, time::Duration};

use actix_bully::{protocol::AgentId, testkit::faults::Conditions};
use bully_core::{elections::fixture::any::every_kind, protocol::Election};
use bully_sim::{
    sim::World,
    trace::{MessageText, What},
};

/// Number of lost messages of each kind.
pub(crate) type Losses = BTreeMap<&'static str, u64>;

/// The action that begins a scene.
type Act<'a, E> = Box<dyn Fn(&mut World<E>) + 'a>;

/// A situation in which agents send messages.
pub(crate) struct Scene<'a, E: Election> {
    /// Makes the world before the action from a seed.
    pub(crate) stage: Box<dyn Fn(u64) -> World<E> + 'a>,
    /// Takes no time.
    pub(crate) act: Act<'a, E>,
    /// Time after the action during which messages are lost.
    pub(crate) span: Duration,
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

/// A message to lose.
#[derive(Debug)]
struct Loss {
    /// Number of steps from the action until the message is sent.
    steps: u64,
    kind: &'static str,
    from: AgentId,
    to: AgentId,
    /// Whether the sender sends the receiver another message at the same moment.
    in_company: bool,
}

impl<E: Election> Scene<'_, E> {
    /// Plays the scene once for each message of the given kinds, and loses this message alone. Of each kind it takes at
    /// most `most` messages, spread over the scene. `then` checks the world after each loss.
    pub(crate) fn lose_each(
        &self,
        seed: u64,
        kinds: &[&'static str],
        most: usize,
        then: &dyn Fn(&mut World<E>),
        lost: &mut Losses,
    ) {
        let messages = self.messages(seed, kinds);
        for kind in kinds {
            let of_kind = || messages.iter().filter(|message| message.kind == *kind);
            let every = of_kind().count().div_ceil(most).max(1);
            for message in of_kind().step_by(every) {
                let mut world = self.without(seed, message);
                then(&mut world);
                *lost.entry(kind).or_default() += 1;
            }
        }
    }

    /// Returns which of the kinds the scene sends.
    pub(crate) fn kinds_sent(&self, seed: u64, kinds: &[&'static str]) -> Vec<&'static str> {
        let mut world = (self.stage)(seed);
        let sent = |world: &World<E>, kind| world.trace().count_of(kind).sent;
        let before: Vec<_> = kinds.iter().map(|kind| sent(&world, kind)).collect();
        (self.act)(&mut world);
        world.run_for(self.span);
        let all = kinds.iter().zip(before);
        let is_sent = all.filter(|(kind, before)| sent(&world, kind) > *before);
        is_sent.map(|(kind, _)| *kind).collect()
    }

    /// Plays the scene once for each kind, and loses all messages of the kind that are sent at the first moment with
    /// such a message. `then` checks the world after the loss.
    pub(crate) fn lose_first(
        &self,
        seed: u64,
        kinds: &[&'static str],
        then: &dyn Fn(&mut World<E>),
        lost: &mut Losses,
    ) {
        for kind in self.kinds_sent(seed, kinds) {
            let mut world = (self.stage)(seed);
            let before = world.tally().ignored;
            world.ignore(kind);
            (self.act)(&mut world);
            world.run_until(|world| world.tally().ignored > before, self.span);
            let count = world.tally().ignored - before;
            world.recover();
            if count > 0 {
                then(&mut world);
                *lost.entry(kind).or_default() += count;
            }
        }
    }

    fn messages(&self, seed: u64, kinds: &[&'static str]) -> Vec<Loss> {
        let mut world = (self.stage)(seed);
        let mut read = world.trace().entries().len();
        (self.act)(&mut world);
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
            // A message is left out if it has company on its way and also goes to other receivers: no fault loses it alone.
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

    /// Plays the scene until `message` is sent, and loses it.
    fn without(&self, seed: u64, message: &Loss) -> World<E> {
        let mut world = (self.stage)(seed);
        let Some(before) = message.steps.checked_sub(1) else {
            lose(&mut world, message, |world| (self.act)(world));
            return world;
        };
        (self.act)(&mut world);
        for _ in 0..before {
            world.step();
        }
        lose(&mut world, message, |world| {
            world.step();
        });
        world
    }
}

/// Returns the messages that were sent since the trace had `since` entries.
fn sent<E: Election>(world: &World<E>, since: usize) -> Vec<&MessageText> {
    let new = world.trace().entries().skip(since);
    new.filter_map(|entry| match &entry.what {
        What::Sent { message, .. } => Some(message),
        _ => None,
    })
    .collect()
}

/// Loses `message` while `happens` runs: all messages on its way, or all of its kind if it has company. Asserts that
/// exactly one message is lost.
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
    assert_eq!(after.0 - before.0, 1, "one is lost: {message:?}");
    assert!(after.1 > before.1, "of this kind: {message:?}");
}
