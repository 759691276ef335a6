//! The actor that receives messages of other agents' applications for one agent.
//!
//! Decided here: the endpoint accepts messages of members whose incarnation has not ended, and of its own agent. The
//! endpoint ends with its agent. It looks at its inboxes at each change, and at the earliest time that an inbox asks
//! for. Not here: the time that an inbox asks for (`Inbox::look` of each kind: `channel.rs`, `waiting.rs`).

use std::{sync::Arc, time::Duration};

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, StreamHandler, clock::Instant};
use tracing::error;

use crate::{
    agent::{AgentReader, Status, can_spawn_here},
    group::{
        AppMessage, Envelope, Group, Holder, JoinError, MembersChanged, RemoteEnvelope, Snapshot,
        companion_requirements,
    },
    leader::proxy::unregistered,
    protocol::{Incarnation, Member, MemberKind, Time, Unheard},
    supervisor::{Deadline, contain},
};

use super::{
    MessagesError,
    state::{Arrived, EndpointState, Inbox, InboxContext, Look},
};

/// Makes the endpoint of an agent: its member of the companion, the group for messages of applications.
pub(super) fn start(agent: &AgentReader) -> Result<Arc<EndpointState>, MessagesError> {
    if !can_spawn_here() {
        return Err(MessagesError::NoSystem);
    }
    let group = agent.companion().ok_or_else(|| MessagesError::GroupName {
        group: agent.group().into(),
    })?;
    let incarnation = reserve(&group, agent)?;
    let node = group.newest().node();
    let state = EndpointState::new(agent.id().clone(), (node, incarnation), group);
    let state = Arc::new(state);
    let shared = Arc::clone(&state);
    let reader = agent.clone();
    Endpoint::create(|ctx| {
        shared.set_endpoint(ctx.address().recipient());
        let member = Member::up(
            shared.id().clone(),
            MemberKind::Observer, // no member of a companion is elected
            None,
            shared.incarnation(),
        );
        shared.group().join_counted(member, ctx.address());
        let snapshot = shared.group().snapshot(shared.id());
        Endpoint {
            state: shared,
            agent: reader,
            snapshot,
            deadline: Deadline::default(),
        }
    });
    Ok(state)
}

/// Takes the agent's name in the companion group. If an endpoint in this process still has the name, it belongs to a
/// former agent with this name, and is removed: in the agents' own group, the present agent has the name.
fn reserve(group: &Group<AppMessage>, agent: &AgentReader) -> Result<Incarnation, JoinError> {
    let id = agent.id();
    match group.reserve(id, companion_requirements()) {
        Err(JoinError::Taken {
            holder: Holder::Here,
            ..
        }) => {
            let former = group.members().get(id).and_then(|known| known.incarnation);
            group.leave(id, former.unwrap_or_default());
            group.reserve(id, companion_requirements())
        }
        reserved => reserved,
    }
}

/// One agent's receiver of application messages.
pub(crate) struct Endpoint {
    state: Arc<EndpointState>,
    agent: AgentReader,
    snapshot: Arc<Snapshot<AppMessage>>,
    deadline: Deadline,
}

impl Endpoint {
    fn receive(&mut self, arrived: Arrived, ctx: &mut Context<Self>) {
        let envelope = &arrived.envelope;
        let id = self.state.id();
        let admitted = if envelope.from == *id {
            Ok(())
        } else {
            let members = self.snapshot.members();
            let admitted = members.admit(id, &envelope.from, envelope.incarnation);
            admitted.map(drop)
        };
        match admitted {
            Ok(()) => {}
            Err(Unheard::Stranger) => return self.snapshot.count_stranger(),
            Err(Unheard::Ended) => return self.snapshot.count_stale(),
        }
        match self.state.inbox(&envelope.message.name) {
            Some(inbox) => {
                self.call(|here| inbox.receive(here, arrived));
                let next = self.look_at(&*inbox);
                if let Some(next) = next {
                    self.look_by(self.state.instant(next), ctx);
                }
            }
            None if unregistered(&self.state, &self.snapshot, envelope).is_some() => {}
            None => self
                .state
                .note_unknown(&envelope.message.name, &envelope.from),
        }
    }

    fn look(&mut self, ctx: &mut Context<Self>) {
        self.state.looks();
        let looks = self.state.all().into_iter();
        let next = looks.filter_map(|inbox| self.look_at(&*inbox));
        match next.min() {
            Some(next) => self.deadline.set_in(ctx, self.state.instant(next)),
            None => self.deadline.clear(),
        }
    }

    /// Returns the time of the next look at the inbox. A panic ends a look before the inbox could set that time, although
    /// messages may still wait there, so the next look follows soon.
    fn look_at(&self, inbox: &dyn Inbox) -> Option<Time> {
        self.call(|here| inbox.look(here))
            .unwrap_or_else(|| Some(self.state.now().after(AFTER_PANIC)))
    }

    /// Sets the time of the next look at the inboxes to `at`, unless an earlier look is already set.
    fn look_by(&self, at: Instant, ctx: &Context<Self>) {
        if self.deadline.get().is_none_or(|known| at < known) {
            self.deadline.set_in(ctx, at);
        }
    }

    /// Calls an inbox, which may run code of the application. If that code panics, only this call is lost.
    fn call<T>(&self, call: impl FnOnce(&InboxContext<'_>) -> T) -> Option<T> {
        let here = InboxContext {
            state: &self.state,
            agent: &self.agent,
            snapshot: &self.snapshot,
            now: self.state.now(),
        };
        let called = contain(|| call(&here));
        called
            .inspect_err(|reason| error!(node = %self.state.id(), reason, "message panicked"))
            .ok()
    }
}

impl Actor for Endpoint {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.deadline.run(ctx, Self::look);
        ctx.add_stream(self.agent.changes());
    }
}

impl Handler<Envelope<AppMessage>> for Endpoint {
    type Result = ();

    fn handle(&mut self, envelope: Envelope<AppMessage>, ctx: &mut Context<Self>) {
        let arrived = Arrived {
            envelope,
            _held: None,
        };
        self.receive(arrived, ctx);
    }
}

impl Handler<RemoteEnvelope<AppMessage>> for Endpoint {
    type Result = ();

    fn handle(&mut self, envelope: RemoteEnvelope<AppMessage>, ctx: &mut Context<Self>) {
        let (envelope, held) = envelope.split();
        let arrived = Arrived {
            envelope,
            _held: Some(held),
        };
        self.receive(arrived, ctx);
    }
}

impl Handler<MembersChanged> for Endpoint {
    type Result = ();

    fn handle(&mut self, MembersChanged: MembersChanged, ctx: &mut Context<Self>) {
        self.snapshot = self.state.group().snapshot(self.state.id());
        self.look(ctx);
    }
}

impl Handler<Look> for Endpoint {
    type Result = ();

    fn handle(&mut self, Look: Look, ctx: &mut Context<Self>) {
        self.look(ctx);
    }
}

impl StreamHandler<Status> for Endpoint {
    fn handle(&mut self, _: Status, ctx: &mut Context<Self>) {
        self.look(ctx);
    }

    /// The agent left or ended for good.
    fn finished(&mut self, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.state.end();
    }
}

/// Time from a panic of an inbox to the next look at it. Chosen: shorter than the time after which a proxy asks about
/// its messages (200 ms), and long enough that an application that panics again and again does not fill its log.
const AFTER_PANIC: Duration = Duration::from_millis(100);
