//! One carried group, independent of its type of messages.

use std::{
    fmt::Debug,
    mem,
    sync::{Arc, Weak},
};

use crate::{
    group::{
        Envelope, Group, Handed, Holder, MembershipWatch, OpenError, Pace, PeerReporter, Remote,
        Size, Snapshot, Update,
    },
    protocol::{AgentId, Incarnation, Leader, Member, MinimumRole, Presence, Requirements},
    remote::{
        Closed, DropReason, Limits, MessageSender, RemoteMessage,
        wire::{Bounds, decode_payload},
    },
};

use super::{GroupSink, GroupTermGuard};

/// A group without its message type.
pub(crate) trait Carried: Debug + Send + Sync {
    fn name(&self) -> &str;
    fn open(&self, node: &str, floor: Incarnation) -> Result<(), OpenError>;
    fn close(&self);
    /// Watches the members of this process. Each call of the returned function reads the members, and `notify` is
    /// called at the first change after that call.
    fn watch(&self, notify: Box<dyn Fn() + Send + Sync>) -> LookAtMembers;
    /// Returns the requirements that the group's agents of this process share; `None` if the process has no agent yet.
    fn requirements(&self) -> Option<Requirements>;
    /// Returns the timings of the group's agents of this process; `None` if the process has no agent yet.
    fn pace(&self) -> Option<Pace>;
    /// Gives the group a reporter that knows its peers.
    fn add_reporter(&self, reporter: &Weak<dyn PeerReporter>);

    /// Returns the route of another node into the group.
    fn route(&self, node: &str, sink: Arc<GroupSink>) -> Arc<dyn NodeRoute>;
}

/// A callback for a name that an agent of another node has lost. It receives the name and the agent that has the name
/// now. It is called under a lock of the group: it must neither block nor use the group.
pub(crate) type Lost = Box<dyn Fn(&AgentId, &Holder) + Send + Sync>;

/// The route of one other node into a group. By this route the node reports its own agents only; see [`Remote`].
pub(crate) trait NodeRoute: Debug + Send + Sync {
    /// Notes whether a link to the node exists.
    fn set_up(&self, is_up: bool);
    /// Applies the node's updates. Returns the members whose names belong to other agents.
    fn apply(&self, updates: Vec<Update>) -> Vec<Member>;
    fn note_leader(&self, leader: Leader);
    /// Returns the mailboxes of the agents of this process, by the present membership, for the messages of one frame.
    /// Terms in these messages have to pass the guard `terms`.
    fn mailboxes<'a>(&'a self, terms: &'a GroupTermGuard) -> Box<dyn Mailboxes + 'a>;
}

/// The mailboxes of a group's agents of this process, for messages of one node; see [`NodeRoute::mailboxes`].
pub(crate) trait Mailboxes {
    /// Decodes a message, checks that its sender may send it, and delivers it to the agents `to`, or to all members of
    /// this process. No other function puts a message of another host into a mailbox.
    ///
    /// Returns the number of mailboxes that accepted the message and the number of full mailboxes, or the reason why
    /// the message was dropped.
    fn deliver(
        &mut self,
        sender: &MessageSender<'_>,
        to: Option<&[&AgentId]>,
        payload: &[u8],
    ) -> Result<Result<Handed, DropReason>, Closed>;

    /// Returns whether a leader's heartbeat was delivered since the last call.
    fn take_beat(&mut self) -> bool;
}

/// Reads the members of a group in this process; see [`Carried::watch`].
pub(crate) type LookAtMembers = Box<dyn Fn() -> LocalMembers + Send>;

/// The members of a group in this process.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct LocalMembers {
    /// The requirements that the members share; `None` without a member.
    pub(crate) requirements: Option<Requirements>,
    /// The members, ordered by name.
    pub(crate) members: Vec<Member>,
    /// The leader of the group, if it is in `members`.
    pub(crate) leader: Option<Leader>,
}

/// A group with its message type.
#[derive(Debug)]
pub(crate) struct GroupCarrier<M: RemoteMessage> {
    group: Group<M>,
    bounds: Bounds,
    /// Largest number of bytes from other hosts that wait in the mailbox of an agent.
    mailbox: usize,
}

impl<M: RemoteMessage> GroupCarrier<M> {
    pub(crate) fn new(group: Group<M>, limits: &Limits) -> Self {
        let (bounds, mailbox) = (limits.bounds(), limits.mailbox());
        Self {
            group,
            bounds,
            mailbox,
        }
    }
}

impl<M: RemoteMessage> Carried for GroupCarrier<M> {
    fn name(&self) -> &str {
        self.group.name()
    }

    fn open(&self, node: &str, floor: Incarnation) -> Result<(), OpenError> {
        self.group.open(node, floor)
    }

    fn close(&self) {
        self.group.set_closed(true);
    }

    fn watch(&self, notify: Box<dyn Fn() + Send + Sync>) -> LookAtMembers {
        let watch = self.group.watch(notify);
        Box::new(move || look(&watch))
    }

    fn requirements(&self) -> Option<Requirements> {
        self.group.requirements()
    }

    fn pace(&self) -> Option<Pace> {
        self.group.pace()
    }

    fn add_reporter(&self, reporter: &Weak<dyn PeerReporter>) {
        self.group.add_reporter(reporter);
    }

    fn route(&self, node: &str, sink: Arc<GroupSink>) -> Arc<dyn NodeRoute> {
        Arc::new(TypedRoute {
            remote: self.group.remote(node, sink),
            bounds: self.bounds,
            mailbox: self.mailbox,
        })
    }
}

/// A route with its group's message type.
#[derive(Debug)]
struct TypedRoute<M: RemoteMessage> {
    remote: Remote<M>,
    bounds: Bounds,
    mailbox: usize,
}

impl<M: RemoteMessage> NodeRoute for TypedRoute<M> {
    fn set_up(&self, is_up: bool) {
        self.remote.set_up(is_up);
    }

    fn apply(&self, updates: Vec<Update>) -> Vec<Member> {
        self.remote.apply(updates)
    }

    fn note_leader(&self, leader: Leader) {
        self.remote.note_leader(leader);
    }

    fn mailboxes<'a>(&'a self, terms: &'a GroupTermGuard) -> Box<dyn Mailboxes + 'a> {
        Box::new(TypedMailboxes {
            route: self,
            terms,
            snapshot: self.remote.group().routes(),
            sent: 0,
            has_beat: false,
        })
    }
}

/// The mailboxes by one snapshot of the group, so that the group's lock is not taken for each message.
struct TypedMailboxes<'a, M: RemoteMessage> {
    route: &'a TypedRoute<M>,
    terms: &'a GroupTermGuard,
    snapshot: Arc<Snapshot<M>>,
    /// Number of delivered messages that the group's counter does not contain yet. All threads share the counter, so it
    /// is changed only once for each frame.
    sent: u64,
    /// Whether a leader's heartbeat was delivered.
    has_beat: bool,
}

impl<M: RemoteMessage> Mailboxes for TypedMailboxes<'_, M> {
    fn deliver(
        &mut self,
        sender: &MessageSender<'_>,
        to: Option<&[&AgentId]>,
        payload: &[u8],
    ) -> Result<Result<Handed, DropReason>, Closed> {
        let mut message: M = decode_payload(payload, self.route.bounds)?;
        // The rights come before the term: a message beyond the rights must not raise the highest known term.
        let is_allowed = sender.may_be.covers(message.needs(sender.from));
        if !is_allowed {
            let kind = message.kind();
            message = message.unentitled().ok_or(Closed::Role { kind })?;
        }
        let is_member = self.route.remote.has(&self.snapshot, sender.from);
        if let Some(term) = message.term() {
            let by = Some(sender.from).filter(|_| is_member);
            if !self.terms.admit(term, by)? {
                return Ok(Err(DropReason::UnvouchedTerm));
            }
        }
        // The name belongs to another agent, so the sender is not the member that other agents know by this name. Or
        // the sender's node followed other rules, so its agents were removed here, and this late message came on a link
        // that was replaced.
        if !is_member {
            return Ok(Err(DropReason::RefusedName));
        }
        // A repeated message that only a leader may send is a heartbeat of the leader.
        self.has_beat |= message.is_repeated() && message.needs(sender.from) == MinimumRole::Leader;
        let incoming = Envelope {
            from: sender.from.clone(),
            incarnation: sender.incarnation,
            message,
        };
        let size = Size::of(payload.len(), self.route.mailbox);
        let handed = self.snapshot.hand(incoming, to, size);
        self.sent = self.sent.saturating_add(handed.sent);
        Ok(Ok(handed))
    }

    fn take_beat(&mut self) -> bool {
        mem::take(&mut self.has_beat)
    }
}

impl<M: RemoteMessage> Drop for TypedMailboxes<'_, M> {
    fn drop(&mut self) {
        self.snapshot.count_sent(self.sent);
    }
}

fn look<M: RemoteMessage>(watch: &MembershipWatch<M>) -> LocalMembers {
    // The members are read first. A later change is signalled again, so that no change is missed.
    let members: Vec<Member> = watch.look().here().cloned().collect();
    let group = watch.group();
    let leads = |leader: &&Leader| {
        let at = members.binary_search_by(|member| member.id.cmp(&leader.id));
        at.is_ok_and(|at| members.get(at).is_some_and(is_there))
    };
    // Only a leader of this process has a number here, since each node announces its own agents only.
    let leader = group.members().leader().filter(leads).cloned();
    LocalMembers {
        requirements: group.requirements(),
        members,
        leader,
    }
}

fn is_there(member: &Member) -> bool {
    member.presence != Presence::Down
}
