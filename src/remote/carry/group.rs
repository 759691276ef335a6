//! One carried group, whatever its members say to each other.

use std::{
    fmt::{self, Debug},
    mem,
    sync::Arc,
};

use crate::{
    group::{
        Group, Handed, Holder, Incoming, Link, OpenError, Remote, Size, Snapshot, Update, Watch,
    },
    protocol::{AgentId, Incarnation, Leader, Member, MinimumRole, Presence, Requirements, Term},
    remote::{
        Closed, Dropped, Limits, RemoteMessage,
        wire::{Bounds, decode_payload},
    },
};

use super::Way;

/// A group without its message type.
pub(crate) trait Carried: Debug + Send + Sync {
    fn name(&self) -> &str;
    /// Lets other hosts in; see [`Group::open`].
    fn open(&self, floor: Incarnation) -> Result<(), OpenError>;
    /// Takes that back.
    fn close(&self);
    /// Watches the members that live here.
    fn watch(&self, ring: Box<dyn Fn() + Send + Sync>) -> Box<dyn Lookout>;
    /// What the group's agents here share; `None` before there are any.
    fn requirements(&self) -> Option<Requirements>;

    /// The route of another node into the group; `lost` hears of names that others have taken.
    fn route(&self, node: &str, way: Arc<Way>, lost: Lost) -> Arc<dyn Route>;
}

/// Hears of a name that was an agent's of that node, and who has it now. Called under a lock of the
/// group: it must neither block nor use it.
pub(crate) type Lost = Box<dyn Fn(&AgentId, &Holder) + Send + Sync>;

/// One other node's route into a group: what it says counts for its own agents; see [`Remote`].
pub(crate) trait Route: Debug + Send + Sync {
    /// Whether the node is linked.
    fn set_up(&self, is_up: bool);
    /// Applies what the node says; gives back the members whose names others have.
    fn apply(&self, updates: Vec<Update>) -> Vec<Member>;
    fn note_leader(&self, leader: Leader);
    /// Begins to take letters in, by the membership as it is now: for the letters of one frame.
    fn intake(&self) -> Box<dyn Intake + '_>;
}

/// Takes letters of one group and node in; made by [`Route::intake`].
pub(crate) trait Intake {
    /// Decodes a letter, has it judged, and delivers it: to all members here, or to these.
    /// Says why it was dropped, if it was.
    fn take(
        &mut self,
        from: &AgentId,
        life: Incarnation,
        to: Option<&[&AgentId]>,
        payload: &[u8],
        judge: &mut Judge<'_>,
    ) -> Result<Option<Dropped>, Closed>;

    /// To how many the last letter went, and how many mailboxes had no room for it.
    fn handed(&mut self) -> Handed;
}

/// Says whether a peer's agent may say this.
pub(crate) type Judge<'a> = dyn FnMut(&Said) -> Result<(), Closed> + 'a;

/// What has to be judged of a message, whatever its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) kind: &'static str,
    pub(crate) needs: MinimumRole,
    pub(crate) term: Option<Term>,
}

/// Looks at the members of a group that live here; made by [`Carried::watch`].
pub(crate) trait Lookout: Debug + Send {
    /// The next change rings.
    fn look(&self) -> Home;
}

/// The members of a group that live here.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Home {
    /// What they share, if there are any.
    pub(crate) requirements: Option<Requirements>,
    /// Ordered by name.
    pub(crate) members: Vec<Member>,
    /// Who leads, if it is one of them.
    pub(crate) leader: Option<Leader>,
}

/// A group with its message type.
#[derive(Debug)]
pub(crate) struct Carrier<M: RemoteMessage> {
    group: Group<M>,
    bounds: Bounds,
    /// Bytes that wait in a mailbox.
    mailbox: usize,
}

impl<M: RemoteMessage> Carrier<M> {
    pub(crate) fn new(group: Group<M>, limits: &Limits) -> Self {
        let (bounds, mailbox) = (limits.bounds(), limits.mailbox());
        Self {
            group,
            bounds,
            mailbox,
        }
    }
}

impl<M: RemoteMessage> Carried for Carrier<M> {
    fn name(&self) -> &str {
        self.group.name()
    }

    fn open(&self, floor: Incarnation) -> Result<(), OpenError> {
        self.group.open(floor)
    }

    fn close(&self) {
        self.group.set_closed(true);
    }

    fn watch(&self, ring: Box<dyn Fn() + Send + Sync>) -> Box<dyn Lookout> {
        Box::new(self.group.watch(ring))
    }

    fn requirements(&self) -> Option<Requirements> {
        self.group.requirements()
    }

    fn route(&self, node: &str, way: Arc<Way>, lost: Lost) -> Arc<dyn Route> {
        let line = Arc::new(Wire { way, lost });
        Arc::new(Path {
            remote: self.group.remote(node, line),
            bounds: self.bounds,
            mailbox: self.mailbox,
        })
    }
}

/// The way to the members on another node, and who is told when one of them loses its name.
struct Wire {
    way: Arc<Way>,
    lost: Lost,
}

impl<M: RemoteMessage> Link<M> for Wire {
    fn carry(&self, to: &[AgentId], letter: Incoming<M>) {
        Link::<M>::carry(&*self.way, to, letter);
    }

    fn lost(&self, id: &AgentId, to: &Holder) {
        (self.lost)(id, to);
    }
}

impl Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wire").field(&self.way).finish()
    }
}

/// A route with its group's message type.
#[derive(Debug)]
struct Path<M: RemoteMessage> {
    remote: Remote<M>,
    bounds: Bounds,
    mailbox: usize,
}

impl<M: RemoteMessage> Route for Path<M> {
    fn set_up(&self, is_up: bool) {
        self.remote.set_up(is_up);
    }

    fn apply(&self, updates: Vec<Update>) -> Vec<Member> {
        self.remote.apply(updates)
    }

    fn note_leader(&self, leader: Leader) {
        self.remote.note_leader(leader);
    }

    fn intake(&self) -> Box<dyn Intake + '_> {
        Box::new(Desk {
            remote: &self.remote,
            snapshot: self.remote.group().routes(),
            bounds: self.bounds,
            mailbox: self.mailbox,
            taken: 0,
            handed: Handed::default(),
        })
    }
}

/// Takes letters in by one snapshot: no lock of the group is taken for each.
struct Desk<'a, M: RemoteMessage> {
    remote: &'a Remote<M>,
    snapshot: Arc<Snapshot<M>>,
    bounds: Bounds,
    mailbox: usize,
    /// Handed over, not yet counted.
    taken: u64,
    /// What became of the last letter.
    handed: Handed,
}

impl<M: RemoteMessage> Intake for Desk<'_, M> {
    fn take(
        &mut self,
        from: &AgentId,
        life: Incarnation,
        to: Option<&[&AgentId]>,
        payload: &[u8],
        judge: &mut Judge<'_>,
    ) -> Result<Option<Dropped>, Closed> {
        let message: M = decode_payload(payload, self.bounds)?;
        judge(&Said {
            kind: message.kind(),
            needs: message.needs(from),
            term: message.term(),
        })?;
        // Somebody else has the name: this is not the member that the others know by it.
        if !self.remote.has(&self.snapshot, from) {
            return Ok(Some(Dropped::RefusedName));
        }
        let letter = Incoming {
            from: from.clone(),
            incarnation: life,
            message,
        };
        let size = Size::of(payload.len(), self.mailbox);
        self.handed = self.snapshot.hand(letter, to, size);
        self.taken = self.taken.saturating_add(self.handed.sent);
        Ok(None)
    }

    fn handed(&mut self) -> Handed {
        mem::take(&mut self.handed)
    }
}

impl<M: RemoteMessage> Drop for Desk<'_, M> {
    fn drop(&mut self) {
        self.snapshot.count_sent(self.taken);
    }
}

impl<M: RemoteMessage> Lookout for Watch<M> {
    fn look(&self) -> Home {
        let snapshot = Self::look(self);
        let members: Vec<Member> = snapshot.here().cloned().collect();
        let group = self.group();
        let leads = |leader: &&Leader| {
            let at = members.binary_search_by(|member| member.id.cmp(&leader.id));
            at.is_ok_and(|at| members.get(at).is_some_and(is_there))
        };
        let leader = group.members().leader().filter(leads).cloned();
        Home {
            requirements: group.requirements(),
            members,
            leader,
        }
    }
}

fn is_there(member: &Member) -> bool {
    member.presence != Presence::Down
}
