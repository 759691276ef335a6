//! Messages of a run are lost: one and no other, or all that are sent at one moment.
//!
//! The same seed and the same calls give the same run. So a scene is played once to see which messages
//! are sent in it, and once more for each message that is to be lost.
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

/// How many messages of each kind were lost.
pub(crate) type Losses = BTreeMap<&'static str, u64>;

/// Something that makes agents send messages.
pub(crate) struct Scene<'a, E: Election> {
    /// Makes the world before, by seed.
    pub(crate) stage: &'a dyn Fn(u64) -> World<E>,
    /// What is done to it; it takes no time.
    pub(crate) act: &'a dyn Fn(&mut World<E>),
    /// For how long from then on messages are lost.
    pub(crate) span: Duration,
}

/// Returns the kinds of all messages of an election, but for these; each of these has the reason why no suite loses it.
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

/// A message to be lost, and how many steps are made behind the act until it is sent.
#[derive(Debug)]
struct Loss {
    steps: u64,
    kind: &'static str,
    from: AgentId,
    to: AgentId,
    /// Whether something else goes the same way at the same moment.
    in_company: bool,
}

impl<E: Election> Scene<'_, E> {
    /// Plays the scene once for each of its messages of these kinds, which alone is lost, but for
    /// no more than `most` of a kind, spread over the scene; each time looks what comes of it.
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

    /// Plays the scene once for each kind, and loses all messages of that kind that are sent at the
    /// first moment that has any; looks what comes of it.
    pub(crate) fn lose_first(
        &self,
        seed: u64,
        kinds: &[&'static str],
        then: &dyn Fn(&mut World<E>),
        lost: &mut Losses,
    ) {
        for kind in kinds {
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
            // One that goes along with others, and to others as well, cannot be told apart.
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

    /// The scene up to this message, which is lost.
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

/// What was sent since so much was recorded.
fn sent<E: Election>(world: &World<E>, since: usize) -> Vec<&MessageText> {
    let new = world.trace().entries().skip(since);
    new.filter_map(|entry| match &entry.what {
        What::Sent { message, .. } => Some(message),
        _ => None,
    })
    .collect()
}

/// While that happens, nothing goes this way; there is one message that would. Of several only
/// those of its kind are lost, and then all of these: there is one.
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
