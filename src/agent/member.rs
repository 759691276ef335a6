//! An application's own actor as a member of a bully group.
//!
//! Decided here: the messages that such an actor gets: each message of the textbook, by its own type. The actor does
//! not need the other messages, with which agents repair a textbook election.

use actix::{Actor, Addr, Context, Handler, Recipient, dev::ToEnvelope};

use crate::{
    agent::any::{AnyBully, AnyConfig, AnyMessage},
    group::{Envelope, Group, MembersChanged},
    protocol::{AgentId, Election, Incarnation, Member, MemberKind, Score, To},
    supervisor::{Answered, InTurn},
};
use bully_core::elections::message::{BullyMessage, Elect, Elected, Ok};

use super::StartError;

/// The membership of an application's actor in a bully group (the available mode). It ends when this value is dropped.
///
/// The actor gets each [`Elect`], [`Ok`] and [`Elected`] that is addressed to it, in an [`Envelope`] of the message's
/// type, and sends its own messages with [`send`](Self::send). The actor never gets a `Yield`, a heartbeat, or another
/// message by which agents repair a textbook election. Its messages count like the messages of an agent. The example
/// `typed_messages` shows such an actor beside agents.
#[derive(Debug)]
#[must_use = "the actor is a member only as long as this is kept"]
pub struct BullyMember {
    group: Group<AnyMessage>,
    id: AgentId,
    incarnation: Incarnation,
}

impl BullyMember {
    /// Makes an actor a voter with the score `score`. Without a score the actor is an observer, which only listens.
    ///
    /// Agents rely on a voter that outranks them. If it answers `Elect` with `Ok`, they wait for it as long as they
    /// would wait for an agent.
    ///
    /// # Errors
    /// [`StartError::Join`] if the name is in use, or the group's agents follow other rules. Nothing was changed.
    pub fn join<A>(
        group: &Group<AnyMessage>,
        id: AgentId,
        score: Option<Score>,
        actor: &Addr<A>,
    ) -> Result<Self, StartError>
    where
        A: Actor + Handler<Envelope<Elect>> + Handler<Envelope<Ok>> + Handler<Envelope<Elected>>,
        A::Context: ToEnvelope<A, Envelope<Elect>>
            + ToEnvelope<A, Envelope<Ok>>
            + ToEnvelope<A, Envelope<Elected>>,
    {
        let kind = match score {
            Some(_) => MemberKind::Voter,
            None => MemberKind::Observer,
        };
        let config = AnyConfig::Available(<_>::default());
        let requirements = AnyBully::requirements(&config, &id, kind)?;
        let incarnation = group.reserve(&id, requirements)?;
        let by_type = ByType {
            elect: actor.clone().recipient(),
            ok: actor.clone().recipient(),
            elected: actor.clone().recipient(),
            in_turn: InTurn::new(),
        }
        .start();
        group.join(
            Member::up(id.clone(), kind, score, incarnation),
            by_type.clone().recipient(),
            by_type.recipient(),
        );
        Ok(Self {
            group: group.clone(),
            id,
            incarnation,
        })
    }

    /// Returns the actor's name in the group.
    pub const fn id(&self) -> &AgentId {
        &self.id
    }

    /// Returns the incarnation of the actor, which its messages and rounds contain.
    pub const fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Sends a bully message to another member. Nothing happens if the group has no member with the name `to`.
    ///
    /// The agents believe the message. Give an [`Elected`] a term that is one above the highest term heard. If the term
    /// is far ahead, its receivers follow the sender, or claim only terms above it. After the largest term there is no
    /// later term, so the group may need a restart.
    pub fn send(&self, to: &AgentId, message: impl Into<BullyMessage>) {
        let to = To::One(to.clone());
        let message: BullyMessage = message.into();
        self.group
            .deliver(&self.id, self.incarnation, &to, message.into());
    }
}

impl Drop for BullyMember {
    fn drop(&mut self) {
        self.group.leave(&self.id, self.incarnation);
    }
}

/// The mailbox of a [`BullyMember`]. It passes each message on to the actor, by the message's own type.
struct ByType {
    elect: Recipient<Envelope<Elect>>,
    ok: Recipient<Envelope<Ok>>,
    elected: Recipient<Envelope<Elected>>,
    in_turn: InTurn,
}

impl ByType {
    fn pass_on<M>(
        &self,
        to: &Recipient<Envelope<M>>,
        envelope: Envelope<M>,
        ctx: &mut Context<Self>,
    ) where
        M: Send + 'static,
    {
        let unanswered = None::<fn(Answered<Envelope<M>>)>;
        self.in_turn.hand(to.clone(), envelope, unanswered, ctx);
    }
}

impl Actor for ByType {
    type Context = Context<Self>;
}

impl Handler<Envelope<AnyMessage>> for ByType {
    type Result = ();

    fn handle(&mut self, envelope: Envelope<AnyMessage>, ctx: &mut Context<Self>) {
        let Envelope {
            from,
            incarnation,
            message,
        } = envelope;
        let around = Envelope {
            from,
            incarnation,
            message: (),
        };
        let Ok(message) = BullyMessage::try_from(message) else {
            return; // an agent of this group does not send it
        };
        match message {
            BullyMessage::Elect(message) => {
                self.pass_on(&self.elect, around.map(|()| message), ctx);
            }
            BullyMessage::Ok(message) => self.pass_on(&self.ok, around.map(|()| message), ctx),
            BullyMessage::Elected(message) => {
                self.pass_on(&self.elected, around.map(|()| message), ctx);
            }
            // An actor does not need the messages below: an `Ok` or a new election has the same consequence for it.
            BullyMessage::Yield(_)
            | BullyMessage::Heartbeat(_)
            | BullyMessage::Resign(_)
            | BullyMessage::Behind(_) => {}
        }
    }
}

impl Handler<MembersChanged> for ByType {
    type Result = ();

    fn handle(&mut self, MembersChanged: MembersChanged, _: &mut Context<Self>) {}
}
