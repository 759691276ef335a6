//! One carried group, whatever its members say to each other.

use std::{fmt::Debug, sync::Arc};

use crate::{
    group::{Group, Incoming, JoinError, OpenError, Snapshot, Watch},
    protocol::{AgentId, Demands, Incarnation, Leader, Member, Presence, Score, Term},
    remote::{
        Closed, RemoteMessage,
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
    /// The rules that the group follows here, once anybody does.
    fn rules(&self) -> Option<Rules>;

    /// Adds a member of another node.
    fn join(&self, member: Member, way: &Arc<Way>) -> Result<(), JoinError>;
    fn leave(&self, id: &AgentId);
    fn suspect(&self, id: &AgentId, life: Incarnation);
    fn up(&self, id: &AgentId, life: Incarnation);
    fn down(&self, id: &AgentId, life: Incarnation);
    fn set_score(&self, id: &AgentId, score: Option<Score>);
    fn note_leader(&self, leader: Leader);

    /// Begins to take letters in, by the membership as it is now: for the letters of one frame.
    fn intake(&self) -> Box<dyn Intake + '_>;
}

/// Takes letters of one group in; made by [`Carried::intake`].
pub(crate) trait Intake {
    /// Decodes a letter, has its term judged, and delivers it: to all members here, or to these.
    fn take(
        &mut self,
        from: &AgentId,
        life: Incarnation,
        to: Option<&[&AgentId]>,
        payload: &[u8],
        judge: &mut Judge<'_>,
    ) -> Result<(), Closed>;
}

/// Says whether a peer may name this term.
pub(crate) type Judge<'a> = dyn FnMut(Option<Term>) -> Result<(), Closed> + 'a;

/// Looks at the members of a group that live here; made by [`Carried::watch`].
pub(crate) trait Lookout: Debug + Send {
    /// The next change rings.
    fn look(&self) -> Home;
}

/// The members of a group that live here.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Home {
    pub(crate) rules: Option<Rules>,
    /// Ordered by name.
    pub(crate) members: Vec<Member>,
    /// Who leads, if it is one of them.
    pub(crate) leader: Option<Leader>,
}

/// What all members of a group follow. Where two nodes differ, nothing crosses for that group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) mode: &'static str,
    /// Which choice of voters.
    pub(crate) epoch: u64,
}

impl Rules {
    /// Whether the other side names the same.
    pub(crate) fn are(self, mode: &str, epoch: u64) -> bool {
        self.mode == mode && self.epoch == epoch
    }
}

fn rules<M: RemoteMessage>(group: &Group<M>) -> Option<Rules> {
    let Demands { mode, epoch, .. } = group.rules()?;
    Some(Rules { mode, epoch })
}

/// A group with its message type.
#[derive(Debug)]
pub(crate) struct Carrier<M: RemoteMessage> {
    group: Group<M>,
    bounds: Bounds,
}

impl<M: RemoteMessage> Carrier<M> {
    pub(crate) fn new(group: Group<M>, bounds: Bounds) -> Self {
        Self { group, bounds }
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

    fn rules(&self) -> Option<Rules> {
        rules(&self.group)
    }

    fn join(&self, member: Member, way: &Arc<Way>) -> Result<(), JoinError> {
        let way = Arc::<Way>::clone(way);
        self.group.join_remote(member, way)
    }

    fn leave(&self, id: &AgentId) {
        self.group.leave_remote(id);
    }

    fn suspect(&self, id: &AgentId, life: Incarnation) {
        self.group.suspect(id, life);
    }

    fn up(&self, id: &AgentId, life: Incarnation) {
        self.group.up(id, life);
    }

    fn down(&self, id: &AgentId, life: Incarnation) {
        self.group.down(id, life);
    }

    fn set_score(&self, id: &AgentId, score: Option<Score>) {
        self.group.set_score(id, score);
    }

    fn note_leader(&self, leader: Leader) {
        self.group.note_leader(leader);
    }

    fn intake(&self) -> Box<dyn Intake + '_> {
        Box::new(Desk {
            snapshot: self.group.newest(),
            bounds: self.bounds,
            taken: 0,
        })
    }
}

/// Takes letters in by one snapshot: no lock of the group is taken for each.
struct Desk<M: RemoteMessage> {
    snapshot: Arc<Snapshot<M>>,
    bounds: Bounds,
    /// Handed over, not yet counted.
    taken: u64,
}

impl<M: RemoteMessage> Intake for Desk<M> {
    fn take(
        &mut self,
        from: &AgentId,
        life: Incarnation,
        to: Option<&[&AgentId]>,
        payload: &[u8],
        judge: &mut Judge<'_>,
    ) -> Result<(), Closed> {
        let message: M = decode_payload(payload, self.bounds)?;
        judge(message.term())?;
        let letter = Incoming {
            from: from.clone(),
            incarnation: life,
            message,
        };
        let taken = self.snapshot.hand(letter, to);
        self.taken = self.taken.saturating_add(taken);
        Ok(())
    }
}

impl<M: RemoteMessage> Drop for Desk<M> {
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
            rules: rules(group),
            members,
            leader,
        }
    }
}

fn is_there(member: &Member) -> bool {
    member.presence != Presence::Down
}
