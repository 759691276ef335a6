//! Former leaders are refused: fences of real quorum elections, and gates inside of actors and before actors.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use actix::{
    Actor, ActorContext, AsyncContext, Context, Handler, MailboxError, Message, Recipient,
    Supervised, WrapFuture, clock, fut::ActorFutureExt,
};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, LeaderGuard},
    elections::{AnyBully, quorum::QuorumConfig},
    leader::fence::{FenceNumber, Fenced, FencingActor, FencingGate, NoFence, ReadGate, Stale},
    protocol::Timings,
    store::MemoryStore,
    supervisor::Guardian,
    testkit::VirtualClock,
};
use bully_core::protocol::Election;

use crate::stage::{MS, id, play, settle};

#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "usize")]
struct Append(&'static str);

#[derive(Message)]
#[rtype(result = "()")]
enum Do {
    Pause,
    Stop,
    Crash,
}

/// The protected actor. It has no fence of its own, and shares its rows with the test.
#[derive(Clone, Default)]
struct Ledger {
    rows: Rc<RefCell<Vec<&'static str>>>,
}

impl Actor for Ledger {
    type Context = Context<Self>;
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_mailbox_capacity(1); // the order of messages must hold for a full mailbox, too
    }
}

impl Handler<Append> for Ledger {
    type Result = usize;
    fn handle(&mut self, row: Append, _: &mut Context<Self>) -> usize {
        self.rows.borrow_mut().push(row.0);
        self.rows.borrow().len()
    }
}

impl Handler<Do> for Ledger {
    type Result = ();
    fn handle(&mut self, what: Do, ctx: &mut Context<Self>) {
        match what {
            Do::Pause => ctx.wait(clock::sleep(MS(100)).into_actor(self).map(|(), _, _| ())),
            Do::Stop => ctx.stop(),
            Do::Crash => panic!("a defect"),
        }
    }
}

impl Supervised for Ledger {}

fn fence(number: i64) -> FenceNumber {
    FenceNumber::try_from(number).unwrap()
}

fn fenced<M>(number: i64, message: M) -> Fenced<M> {
    let fence = fence(number);
    Fenced { fence, message }
}

fn append(number: i64, row: &'static str) -> Fenced<Append> {
    fenced(number, Append(row))
}

/// Starts a voter that is a majority alone, in this epoch of voters.
fn voter(store: &MemoryStore<<AnyBully as Election>::Durable>, epoch: u64) -> BullyHandle {
    let group = Group::new("ledgers").unwrap();
    let config = QuorumConfig {
        epoch,
        timings: Timings::lan(),
        ..QuorumConfig::new([id("a")])
    };
    BullyAgent::builder("a")
        .quorum_config(Arc::new(config))
        .score(1)
        .store(store.clone())
        .clock(VirtualClock::new())
        .join(&group)
        .start()
        .unwrap()
}

/// Returns the value that `read` takes from the guard of the agent's next leadership.
pub(crate) async fn of_next_leadership<T>(
    agent: &BullyHandle,
    read: impl Fn(&LeaderGuard) -> T,
) -> T {
    let found = RefCell::new(None);
    let work = |guard: LeaderGuard| {
        found.borrow_mut().get_or_insert_with(|| read(&guard));
        async move { guard.stepping_down().await }
    };
    let wait = async {
        while found.borrow().is_none() {
            clock::sleep(MS(1)).await;
        }
    };
    futures::future::select(Box::pin(agent.lead(work)), Box::pin(wait)).await;
    found.take().unwrap()
}

#[test]
fn fences_grow_with_each_leadership_and_with_each_epoch_of_voters() {
    play(async {
        let mut gate = FencingGate::default();
        let store = MemoryStore::new();
        let mut fences = Vec::new();
        // 8,388,607 is the last epoch whose fences fit into an `i64`.
        for epoch in [0, 0, 1, 8_388_607] {
            let agent = voter(&store, epoch);
            let fence = of_next_leadership(&agent, FenceNumber::of).await.unwrap();
            assert_eq!(gate.admit(fence), Ok(()));
            fences.push(fence.get());
            agent.leave(MS(1_000)).await.unwrap();
        }
        let (first, second) = (fences[0], fences[1]);
        assert!(0 < first && first < second, "{fences:?}");
        assert_eq!(fences[2] >> 40, 1);
        assert_eq!(fences[3] >> 40, 8_388_607);
        assert!(gate.admit(fence(second)).is_err(), "of former voters");
        let refused = of_next_leadership(&voter(&store, 8_388_608), FenceNumber::of).await;
        assert!(matches!(refused, Err(NoFence::TooLarge { .. })));
    });
}

#[test]
fn an_actor_behind_a_gate_hears_nothing_of_a_former_leader() {
    play(async {
        let ledger = Ledger::default();
        let rows = Rc::clone(&ledger.rows);
        let gate = FencingActor::new(ledger.start(), FencingGate::default()).start();
        let recipient: Recipient<Fenced<Append>> = gate.clone().recipient();
        assert_eq!(recipient.send(append(2, "new")).await, Ok(Ok(1)));
        let stale = Stale {
            fence: fence(1),
            highest: fence(2),
        };
        assert_eq!(recipient.send(append(1, "old")).await, Ok(Err(stale)));
        recipient.do_send(append(1, "old, without waiting"));
        recipient.do_send(append(2, "new, without waiting"));
        settle().await;
        assert_eq!(*rows.borrow(), ["new", "new, without waiting"]);
        let gate = gate.send(ReadGate).await.unwrap();
        assert_eq!((gate.highest(), gate.refused()), (Some(fence(2)), 2));
    });
}

/// The ledger's mailbox has room for one message and is full. Messages are still handled in the order of their
/// admission.
#[test]
fn a_full_mailbox_does_not_change_the_order_of_admission() {
    play(async {
        let ledger = Ledger::default();
        let rows = Rc::clone(&ledger.rows);
        let gate = FencingActor::new(ledger.start(), FencingGate::default()).start();
        settle().await;
        gate.do_send(fenced(1, Do::Pause));
        settle().await;
        // Some senders wait for their answers, and others do not.
        let old: Vec<_> = ["1", "1", "1"].map(|row| gate.send(append(1, row))).into();
        gate.do_send(append(1, "1"));
        let new: Vec<_> = ["2", "2", "2"].map(|row| gate.send(append(2, row))).into();
        gate.do_send(append(2, "2"));
        let late = gate.send(append(1, "late"));
        let all = old.into_iter().chain(new);
        let answers: Vec<_> = futures::future::join_all(all).await;
        let answers: Vec<_> = answers
            .into_iter()
            .map(|answer| answer.unwrap().unwrap())
            .collect();
        assert_eq!(answers, [1, 2, 3, 5, 6, 7]);
        assert!(late.await.unwrap().is_err());
        settle().await;
        assert_eq!(*rows.borrow(), ["1", "1", "1", "1", "2", "2", "2", "2"]);
    });
}

#[test]
fn an_admitted_message_is_handled_though_its_sender_waits_no_longer() {
    play(async {
        let ledger = Ledger::default();
        let rows = Rc::clone(&ledger.rows);
        let gate = FencingActor::new(ledger.start(), FencingGate::default()).start();
        gate.do_send(fenced(1, Do::Pause));
        let waits = clock::timeout(MS(10), gate.send(append(1, "patient for 10 ms"))).await;
        assert!(waits.is_err());
        clock::sleep(MS(200)).await;
        assert_eq!(*rows.borrow(), ["patient for 10 ms"]);
    });
}

/// An actor that begins anew remembers no leader. The gate before the actor remembers the leader.
#[test]
fn a_gate_outlives_a_crash_of_the_actor_behind_it() {
    play(async {
        let ledger = Guardian::builder("ledger").start(|_| Ledger::default());
        let gate = FencingActor::new(ledger, FencingGate::default()).start();
        assert_eq!(
            gate.send(fenced(2, Do::Crash)).await,
            Err(MailboxError::Closed)
        );
        // A message of any kind raises the fence for messages of all kinds.
        assert!(gate.send(append(1, "old")).await.unwrap().is_err());
        let waits = gate.send(append(2, "waits for the next incarnation"));
        assert_eq!(waits.await, Ok(Ok(1)));
        assert!(gate.connected());
    });
}

#[test]
fn a_gate_in_front_of_nothing_answers_as_nothing_does_and_stops() {
    play(async {
        let ledger = Ledger::default().start();
        let gate = FencingActor::new(ledger.clone(), FencingGate::default()).start();
        assert_eq!(gate.send(append(1, "a")).await, Ok(Ok(1)));
        ledger.do_send(Do::Stop);
        settle().await;
        assert_eq!(gate.send(append(1, "b")).await, Err(MailboxError::Closed));
        settle().await;
        assert!(!gate.connected());
    });
}
