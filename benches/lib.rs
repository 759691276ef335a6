//! Parts that the measurements share.

use std::{cell::Cell, rc::Rc, sync::Arc};

use actix::{Actor, Context, Handler, Recipient};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    elections::{AnyMessage, bully::Elected},
    group::Envelope,
    protocol::{AgentId, Incarnation, MemberKind, Term, Time},
    supervisor::RestartPolicy,
};
use bully_core::{
    elections::bully::{Bully, BullyConfig},
    protocol::{Birth, Effects, EffectsOf, Election, Identity, Input, Member, Members},
};
use tokio::task::yield_now;

/// Returns the name of the k-th agent, whose score is k.
///
/// # Panics
/// Never: the name is valid.
pub fn name(k: u32) -> AgentId {
    AgentId::new(&format!("agent-{k}")).expect("a valid name")
}

/// Returns a closed group of the agents 1 to n, all up.
pub fn group(n: u32) -> Arc<Members> {
    let mut members = Members::new(true);
    let up = |k| Member::up(name(k), MemberKind::Voter, Some(k.into()), Incarnation(1));
    members.join((1..=n).map(up));
    Arc::new(members)
}

/// Returns the k-th agent of the group `members`, started at time zero, and its first effects.
pub fn started(k: u32, members: &Arc<Members>) -> (Bully, EffectsOf<Bully>) {
    let identity = Identity {
        id: name(k),
        incarnation: Incarnation(1),
        kind: MemberKind::Voter,
        score: Some(k.into()),
        birth: Birth::Started,
        store: None,
    };
    let mut bully = Bully::new(identity, &Arc::new(BullyConfig::default()), None);
    let mut out = Effects::new();
    bully.handle(Time::ZERO, Input::Start(Arc::clone(members)), &mut out);
    (bully, out)
}

/// Bare actix actors that receive the name of a leader, for comparison with an election.
#[derive(Debug)]
pub struct Peers {
    inboxes: Vec<Recipient<Envelope<AnyMessage>>>,
    told: Rc<Cell<usize>>,
}

impl Peers {
    /// Starts `n` actors.
    pub fn start(n: u32) -> Self {
        let told = Rc::new(Cell::new(0));
        let start = |_| {
            Peer {
                leader: None,
                told: Rc::clone(&told),
            }
            .start()
            .recipient()
        };
        Self {
            inboxes: (0..n).map(start).collect(),
            told,
        }
    }

    /// Sends every actor the message that ends an election, and waits until the last actor has counted it.
    pub async fn broadcast(&self) {
        self.told.set(0);
        let elected = Elected {
            term: Term(1),
            score: 1.into(),
            ..Elected::default()
        };
        let (from, incarnation) = (name(1), Incarnation(1));
        let envelope = Envelope {
            from,
            incarnation,
            message: AnyMessage::Elected(elected),
        };
        for inbox in &self.inboxes {
            inbox.do_send(envelope.clone());
        }
        while self.told.get() < self.inboxes.len() {
            yield_now().await;
        }
    }
}

struct Peer {
    leader: Option<AgentId>,
    told: Rc<Cell<usize>>,
}

impl Actor for Peer {
    type Context = Context<Self>;
}

impl Handler<Envelope<AnyMessage>> for Peer {
    type Result = ();
    fn handle(&mut self, envelope: Envelope<AnyMessage>, _: &mut Context<Self>) {
        self.leader = Some(envelope.from);
        self.told.set(self.told.get() + 1);
    }
}

/// Returns agents 1 to n that know their leader, in one group. They never come back from a crash.
pub async fn elect(n: u32) -> (Group, Vec<BullyHandle>) {
    let (group, agents) = begin("bench", n);
    settled(&agents).await;
    (group, agents)
}

/// Returns the agents of [`elect`] before their election, in a group with this name. All were started in the same turn
/// of the arbiter.
///
/// # Panics
/// Outside an actix System, or if the process has agents in another group with this name.
pub fn begin(group: &str, n: u32) -> (Group, Vec<BullyHandle>) {
    let group: Group = Group::new(group).expect("a valid name");
    let start = |k: u32| {
        BullyAgent::builder(name(k).as_str())
            .score(k)
            .join(&group)
            .restart_policy(RestartPolicy::temporary())
            .start()
            .expect("it starts")
    };
    let agents = (1..=n).map(start).collect();
    (group, agents)
}

/// Waits until every agent follows the highest-ranked one.
///
/// # Panics
/// Without agents.
pub async fn settled(agents: &[BullyHandle]) {
    let highest = agents.last().expect("at least one").id();
    for agent in agents {
        while agent.leader().is_none_or(|l| l.id != *highest) {
            yield_now().await;
        }
    }
}

/// Returns a System.
pub fn system() -> actix_rt::SystemRunner {
    actix_rt::System::new()
}
