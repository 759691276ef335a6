//! An actor that is slower than its senders: its messages, and the answers to the senders, in virtual time.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use actix::{
    Actor, ActorFutureExt, Addr, AsyncContext, Context, Handler, Message, clock::sleep,
    fut::wrap_future,
};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    group::Envelope,
    leader::{LeaderProxy, Messages, ProxyError, SendError},
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::stage::{MS, play, settle};

thread_local! {
    /// Number of decoded messages that still exist, and its maximum so far.
    static LIVE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn most_live() -> usize {
    LIVE.get().1
}

/// A counter of the decoded messages. Each decoded message has one until its drop.
struct Counted(bool);

impl Default for Counted {
    fn default() -> Self {
        let (live, most) = LIVE.get();
        LIVE.set((live + 1, most.max(live + 1)));
        Self(true)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.0 {
            let (live, most) = LIVE.get();
            LIVE.set((live - 1, most));
        }
    }
}

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "()")]
struct Job {
    from: u64,
    number: u64,
    text: String,
    #[serde(skip)]
    _counted: Counted,
}

impl Job {
    fn new(from: u64, number: u64) -> Self {
        Self {
            from,
            number,
            text: "x".repeat(100),
            _counted: Counted(false),
        }
    }
}

/// The handled messages, each with its sender and its number.
type Done = Rc<RefCell<Vec<(u64, u64)>>>;

/// An actor that works on each message for a while, and handles no other message meanwhile.
#[derive(Clone)]
struct Slow {
    done: Done,
    goes_on: watch::Receiver<bool>,
}

impl Slow {
    fn start_new() -> (Addr<Self>, Done, watch::Sender<bool>) {
        let (go, goes_on) = watch::channel(true);
        let done = Rc::default();
        let slow = Self {
            done: Rc::clone(&done),
            goes_on,
        };
        (slow.start(), done, go)
    }

    fn work(&self, from: u64, number: u64, ctx: &mut Context<Self>) {
        self.done.borrow_mut().push((from, number));
        let mut goes_on = self.goes_on.clone();
        let work = async move {
            sleep(MS(5)).await;
            goes_on.wait_for(|goes_on| *goes_on).await.ok();
        };
        ctx.wait(wrap_future::<_, Self>(work).map(|(), _, _| ()));
    }
}

impl Actor for Slow {
    type Context = Context<Self>;
}

impl Handler<Job> for Slow {
    type Result = ();
    fn handle(&mut self, job: Job, ctx: &mut Context<Self>) {
        self.work(job.from, job.number, ctx);
    }
}

impl Handler<Envelope<Job>> for Slow {
    type Result = ();
    fn handle(&mut self, job: Envelope<Job>, ctx: &mut Context<Self>) {
        self.work(job.message.from, job.message.number, ctx);
    }
}

impl Handler<Envelope<u64>> for Slow {
    type Result = ();
    fn handle(&mut self, number: Envelope<u64>, ctx: &mut Context<Self>) {
        self.work(0, number.message, ctx);
    }
}

fn agents<const N: usize>(names: [&str; N]) -> [BullyHandle; N] {
    let group = Group::new("g").unwrap();
    let mut score = 0;
    names.map(|name| {
        score += 1;
        let agent = BullyAgent::builder(name).score(score);
        agent.join(&group).start().unwrap()
    })
}

fn of(from: u64, numbers: &[u64]) -> Vec<(u64, u64)> {
    numbers.iter().map(|number| (from, *number)).collect()
}

/// Starts two agents. The leader has a slow actor behind a proxy with room for `room` messages. Returns the proxy of
/// the other agent, the handled messages, and the switch of the slow actor.
async fn slow_leader(room: usize) -> (LeaderProxy<Job>, Done, watch::Sender<bool>) {
    let [low, high] = agents(["a", "b"]);
    let (slow, done, go) = Slow::start_new();
    let at_high = LeaderProxy::<Job>::builder(&high, "job").deliver_to(slow.recipient());
    at_high.buffer(room, 1 << 20).start().unwrap();
    let jobs = LeaderProxy::<Job>::builder(&low, "job").start().unwrap();
    settle().await;
    (jobs, done, go)
}

/// Most decoded messages at one time. A mailbox of actix holds 16 messages and one more for each recipient, one
/// message is being handled, and one was decoded in vain.
const MAILBOX: usize = 24;

#[test]
fn a_slow_leader_has_what_its_mailbox_takes_and_senders_are_refused() {
    play(async {
        let (jobs, done, go) = slow_leader(1 << 10).await;
        let (mut accepted, mut refused) = (Vec::new(), 0);
        for number in 0..5_000 {
            match jobs.try_send(Job::new(0, number)) {
                Ok(()) => accepted.push(number),
                Err(ProxyError::Full) => refused += 1,
                Err(wrong) => panic!("{wrong}"),
            }
            if number % 50 == 0 {
                sleep(MS(1)).await;
            }
        }
        assert!(refused > 3_000, "{refused} were refused");
        assert!(most_live() <= MAILBOX, "{}", most_live());
        // The actor stands still for longer than a sender waits for an answer. Still no message becomes unknown.
        go.send(false).unwrap();
        sleep(MS(100)).await;
        let before = done.borrow().len();
        sleep(MS(20_000)).await;
        assert_eq!(
            (done.borrow().len(), before < accepted.len()),
            (before, true)
        );
        go.send(true).unwrap();
        sleep(MS(10_000)).await;
        assert_eq!(*done.borrow(), of(0, &accepted));
        let counts = jobs.counts();
        assert_eq!(
            (counts.unknown, counts.undeliverable, counts.waiting),
            (0, 0, 0)
        );
        assert_eq!(counts.delivered, u64::try_from(accepted.len()).unwrap());
        assert!(most_live() <= MAILBOX, "{}", most_live());
    });
}

#[test]
fn each_sender_has_its_turn_at_a_slow_leader_and_its_order() {
    play(async {
        let [first, second, leader] = agents(["a", "b", "c"]);
        let (slow, done, _go) = Slow::start_new();
        let at_leader = LeaderProxy::<Job>::builder(&leader, "job").deliver_to(slow.recipient());
        let own = at_leader.buffer(64, 1 << 20).start().unwrap();
        let proxy = |of| LeaderProxy::<Job>::builder(of, "job").start().unwrap();
        let all = [proxy(&first), proxy(&second), own];
        settle().await;
        let mut accepted = [const { Vec::new() }; 3];
        for number in 0..2_000_u64 {
            for ((from, jobs), accepted) in (0..).zip(&all).zip(&mut accepted) {
                if jobs.try_send(Job::new(from, number)).is_ok() {
                    accepted.push(number);
                }
            }
            sleep(MS(1)).await;
        }
        for from in 0..3 {
            let had = done.borrow().iter().filter(|done| done.0 == from).count();
            assert!(had > 50, "{from}: {had} of {}", done.borrow().len());
        }
        sleep(MS(60_000)).await;
        for (from, accepted) in (0..).zip(&accepted) {
            let all = done.borrow();
            let had: Vec<_> = all.iter().filter(|done| done.0 == from).copied().collect();
            assert_eq!(had, of(from, accepted), "{from}");
        }
    });
}

#[test]
fn what_waits_for_a_slow_leader_goes_to_the_next_one_when_it_steps_down() {
    play(async {
        let [low, next, high] = agents(["a", "b", "c"]);
        let (stuck, had, go) = Slow::start_new();
        let (slow, then, _go) = Slow::start_new();
        let deliver = |of, to: &Addr<Slow>| {
            let proxy = LeaderProxy::<Job>::builder(of, "job");
            proxy.deliver_to(to.clone().recipient()).start().unwrap()
        };
        let _leaders = [deliver(&high, &stuck), deliver(&next, &slow)];
        let jobs = LeaderProxy::<Job>::builder(&low, "job").start().unwrap();
        settle().await;
        go.send(false).unwrap();
        let numbers: Vec<u64> = (0..300).collect();
        let (last, first) = numbers.split_last().unwrap();
        for number in first {
            jobs.try_send(Job::new(0, *number)).unwrap();
        }
        let (asks, last) = (jobs.clone(), Job::new(0, *last));
        let answer = actix::spawn(async move { asks.send(last, MS(60_000)).await });
        sleep(MS(1_000)).await;
        // A command is not a message of an application, so it finds room in the agent.
        high.step_down(None).unwrap();
        sleep(MS(10_000)).await;
        assert!(next.is_leader());
        go.send(true).unwrap();
        sleep(MS(1_000)).await;
        let all = [had.borrow().clone(), then.borrow().clone()].concat();
        assert_eq!(all, of(0, &numbers), "each once, in order");
        assert!(had.borrow().len() <= MAILBOX, "{}", had.borrow().len());
        assert_eq!(answer.await.unwrap(), Ok(()), "of the agent that has it");
        assert_eq!(jobs.counts().unknown, 0);
    });
}

#[test]
fn a_listener_that_stands_still_is_handed_a_mebibyte_of_long_messages() {
    play(async {
        let [_a, b] = agents(["a", "b"]);
        let (slow, done, go) = Slow::start_new();
        go.send(false).unwrap();
        let at_b = Messages::of(&b).unwrap();
        at_b.register::<Job>("job", slow.recipient()).unwrap();
        let jobs = at_b.channel::<Job>("job").unwrap();
        settle().await;
        let job = Job {
            text: "x".repeat(Messages::MAX_LEN - 100),
            ..Job::new(0, 0)
        };
        let at_most = (1 << 20) / Messages::MAX_LEN + 1;
        let mut refused = 0;
        for _ in 0..8 * at_most {
            refused += usize::from(jobs.send_to(b.id(), &job).is_err());
            sleep(MS(1)).await;
        }
        assert!(refused > at_most, "{refused}");
        let handed = most_live();
        assert!((2..=at_most).contains(&handed), "{handed} of {at_most}");
        let full = SendError::Full { to: b.id().clone() };
        assert_eq!(jobs.send_to(b.id(), &job), Err(full));
        assert_eq!(jobs.send_to_all(&job), Ok(0));
        // Each message that is handled frees its room.
        let mut accepted = 8 * at_most - refused;
        for _ in 0..4 {
            go.send(true).unwrap();
            sleep(MS(10_000)).await;
            assert_eq!(done.borrow().len(), accepted);
            go.send(false).unwrap();
            for _ in 0..8 * at_most {
                accepted += usize::from(jobs.send_to(b.id(), &job).is_ok());
                sleep(MS(1)).await;
            }
        }
    });
}

#[test]
fn types_of_one_actor_keep_their_order_while_it_is_slow() {
    play(async {
        let [a, b] = agents(["a", "b"]);
        let (slow, done, _go) = Slow::start_new();
        let (at_a, at_b) = (Messages::of(&a).unwrap(), Messages::of(&b).unwrap());
        let (job, number) = (slow.clone().recipient(), slow.recipient());
        at_b.register::<Job>("job", job).unwrap();
        at_b.register::<u64>("number", number).unwrap();
        let (jobs, numbers) = (
            at_a.channel("job").unwrap(),
            at_a.channel("number").unwrap(),
        );
        settle().await;
        let all: Vec<u64> = (0..300).collect();
        for number in &all {
            if number % 3 == 0 {
                numbers.send_to(b.id(), number).unwrap();
            } else {
                jobs.send_to(b.id(), &Job::new(0, *number)).unwrap();
            }
        }
        sleep(MS(10_000)).await;
        assert_eq!(*done.borrow(), of(0, &all));
    });
}
