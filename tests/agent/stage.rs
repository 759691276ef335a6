//! A System in virtual time, and actors that write down the messages that they receive.

use std::{
    fmt::Display,
    future::Future,
    panic::resume_unwind,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use actix::{Actor, ActorContext, Addr, Context, Handler, Message, Recipient, clock};
use actix_bully::{
    agent::{BullyAgent, BullyBuilder, BullyHandle, ElectionHandle, Notice},
    elections::AnyMessage,
    group::{Envelope, Group, LocalWire, MembersChanged},
    protocol::{AgentId, Incarnation, MemberKind, Timings},
    store::MemoryStore,
    supervisor::Supervision,
    testkit::VirtualClock,
};
use bully_core::protocol::Member;

use crate::{
    common::virtual_system,
    toy::{Act, Said, Toy},
};

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;

/// Runs a test in virtual time, one hour of it at most.
pub(crate) fn play(test: impl Future<Output = ()>) {
    virtual_system().block_on(async {
        let ended = clock::timeout(Duration::from_secs(3_600), test).await;
        assert!(ended.is_ok(), "the test hangs");
    });
}

/// Runs a test like `play`, with an agent "toy" that was started and an empty log.
pub(crate) fn play_toy(test: impl AsyncFnOnce(Stage, ElectionHandle<Toy>, Log)) {
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).start().unwrap();
        test(stage, toy, Log::default()).await;
    });
}

/// Lets every actor finish its work. It takes a virtual millisecond.
pub(crate) async fn settle() {
    clock::sleep(MS(1)).await;
}

/// Waits until this is so, for a minute at most.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    let waited = async {
        while !is_so() {
            clock::sleep(MS(1)).await;
        }
    };
    let waited = clock::timeout(Duration::from_secs(60), waited).await;
    assert!(waited.is_ok(), "it never is so");
}

pub(crate) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

/// Starts an agent of the bully with the timings of a local network.
pub(crate) fn bully(group: &Group<AnyMessage>, name: &str, score: i32) -> BullyHandle {
    let agent = BullyAgent::builder(name).score(score).join(group);
    agent.timings(Timings::lan()).start().unwrap()
}

/// Starts three agents. Agent `c` will lead.
pub(crate) fn three(group: &Group<AnyMessage>) -> [BullyHandle; 3] {
    [("a", 1), ("b", 2), ("c", 3)].map(|(name, score)| bully(group, name, score))
}

pub(crate) const VOTERS: [&str; 3] = ["a", "b", "c"];

/// Returns the builder of a voter, or of another agent of these voters. A later name has a higher score.
pub(crate) fn voter(group: &Group<AnyMessage>, name: &str, voters: [&str; 3]) -> BullyBuilder {
    let score: i32 = name.bytes().map(i32::from).sum();
    BullyAgent::builder(name)
        .score(score)
        .timings(Timings::lan())
        .quorum(voters)
        .clock(VirtualClock::new())
        .store(MemoryStore::new())
        .join(group)
}

/// Starts three voters.
pub(crate) fn three_voters() -> [BullyHandle; 3] {
    let group = Group::new("jobs").unwrap();
    VOTERS.map(|name| voter(&group, name, VOTERS).start().unwrap())
}

/// The lines that a test has noted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: impl Display) {
        self.0.lock().unwrap().push(line.to_string());
    }

    /// Returns the lines since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// An actor that notes each message.
pub(crate) struct Scribe(pub(crate) Log);

impl Actor for Scribe {
    type Context = Context<Self>;
}

impl Handler<Notice> for Scribe {
    type Result = ();
    fn handle(&mut self, notice: Notice, _: &mut Context<Self>) {
        self.0
            .add(format_args!("{}: {}", notice.agent, notice.event));
    }
}

impl Handler<Envelope<Said>> for Scribe {
    type Result = ();
    fn handle(&mut self, envelope: Envelope<Said>, _: &mut Context<Self>) {
        self.0.add(envelope.message);
    }
}

impl Handler<MembersChanged> for Scribe {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {
        self.0.add("members changed");
    }
}

/// An actor that does nothing, and ends on demand.
pub(crate) struct Idle;

impl Actor for Idle {
    type Context = Context<Self>;
}

impl Handler<Notice> for Idle {
    type Result = ();
    fn handle(&mut self, _: Notice, _: &mut Context<Self>) {}
}

#[derive(Message)]
#[rtype(result = "()")]
pub(crate) enum End {
    Stop,
    Panic,
}

impl Handler<End> for Idle {
    type Result = ();
    fn handle(&mut self, how: End, ctx: &mut Context<Self>) {
        match how {
            End::Stop => ctx.stop(),
            End::Panic => resume_unwind(Box::new("a bug in the actor")),
        }
    }
}

/// An actor that gives each message of a supervisor to a closure.
pub(crate) struct Parent(pub(crate) Box<dyn FnMut(Supervision<AgentId>)>);

impl Actor for Parent {
    type Context = Context<Self>;
}

impl Handler<Supervision<AgentId>> for Parent {
    type Result = ();
    fn handle(&mut self, event: Supervision<AgentId>, _: &mut Context<Self>) {
        (self.0)(event);
    }
}

pub(crate) fn parent(
    see: impl FnMut(Supervision<AgentId>) + 'static,
) -> Recipient<Supervision<AgentId>> {
    Parent(Box::new(see)).start().recipient()
}

/// A tap that notes each message when it is sent, and whether its sender considers itself leader then.
#[derive(Debug, Default)]
pub(crate) struct Tap {
    pub(crate) log: Log,
    pub(crate) handle: OnceLock<ElectionHandle<Toy>>,
}

impl LocalWire<Said> for Tap {
    fn carry(&self, to: &AgentId, envelope: Envelope<Said>, inbox: &Recipient<Envelope<Said>>) {
        let leads = self.handle.get().is_some_and(ElectionHandle::is_leader);
        let state = if leads { "leads" } else { "follows" };
        self.log
            .add(format_args!("{} to {to}, {state}", envelope.message));
        inbox.do_send(envelope);
    }
}

/// A group with one scripted agent "toy" and a member "prompter" that sends the agent its acts.
pub(crate) struct Stage {
    pub(crate) group: Group<Said>,
    pub(crate) tap: Arc<Tap>,
    /// The inputs of the machine.
    pub(crate) inputs: Log,
    /// The messages that the prompter receives.
    pub(crate) heard: Log,
    prompter: Incarnation,
    _prompter: Addr<Scribe>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let tap = Arc::new(Tap::default());
        let wire = Arc::<Tap>::clone(&tap);
        Self::set(Group::with_wire("stage", wire).unwrap(), tap)
    }

    /// Makes a stage without a tap: messages go straight into the mailboxes.
    pub(crate) fn untapped() -> Self {
        Self::set(Group::new("stage").unwrap(), Arc::default())
    }

    fn set(group: Group<Said>, tap: Arc<Tap>) -> Self {
        let heard = Log::default();
        let scribe = Scribe(heard.clone()).start();
        let name = id("prompter");
        let prompter = group.reserve(&name, super::toy::requirements()).unwrap();
        let (inbox, changes) = (scribe.clone().recipient(), scribe.clone().recipient());
        let member = Member::up(name, MemberKind::Voter, None, prompter);
        assert!(group.join(member, inbox, changes));
        Self {
            group,
            tap,
            inputs: Log::default(),
            heard,
            prompter,
            _prompter: scribe,
        }
    }

    /// Tells an agent to carry out these acts in one step.
    pub(crate) fn tell(&self, agent: &ElectionHandle<Toy>, acts: &[Act]) {
        agent.addr().do_send(Envelope {
            from: id("prompter"),
            incarnation: self.prompter,
            message: Said::Do(acts.to_vec()),
        });
    }

    /// Tells an agent like `tell`, and waits until it has carried out the acts.
    pub(crate) async fn prompt(&self, agent: &ElectionHandle<Toy>, acts: &[Act]) {
        self.tell(agent, acts);
        settle().await;
    }
}
