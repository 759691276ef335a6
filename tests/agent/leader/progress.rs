//! Work that notes no progress for too long: its agent steps down.

use std::{
    future::{pending, ready},
    panic::resume_unwind,
    sync::mpsc,
    time::Duration,
};

use actix::{Actor, Arbiter, AsyncContext, Context, clock};
use actix_bully::{
    Group,
    agent::{
        BullyAgent, BullyHandle, ElectionArbiter, ElectionHandle, LeaderGuard, OnPanic,
        ProgressError,
    },
    leader::Singleton,
    supervisor::RestartPolicy,
};
use futures::StreamExt;

use crate::{
    leases::suspendable,
    stage::{Log, MS, play, play_toy},
    toy::{Act, Toy},
};

/// Leads by work that has to note its progress within `within`, and then hangs.
fn lead(toy: &ElectionHandle<Toy>, log: &Log, within: Duration) -> actix_rt::task::JoinHandle<()> {
    let (toy, log) = (toy.clone(), log.clone());
    actix_rt::spawn(async move {
        let work = |guard: LeaderGuard| {
            let log = log.clone();
            async move {
                log.add("works");
                let refused = guard.progress_within(Duration::ZERO).err();
                assert_eq!(refused, Some(ProgressError::ZeroSpan));
                let _progress = guard.progress_within(within).unwrap();
                guard.stepping_down().await;
                log.add("told");
                pending::<()>().await;
            }
        };
        toy.lead_with(OnPanic::StepDown, work).await.unwrap();
    })
}

#[test]
fn work_that_notes_nothing_makes_its_agent_step_down_and_is_told() {
    play_toy(async |stage, toy, log| {
        let _task = lead(&toy, &log, MS(100));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.inputs.take();
        clock::sleep(MS(97)).await;
        assert_eq!(stage.inputs.take(), [""; 0], "a start counts");
        clock::sleep(MS(4)).await;
        assert_eq!(stage.inputs.take(), ["toy.1 step down"]);
        assert_eq!(log.take(), ["works", "told"]);
        assert_eq!(toy.current().work_stalls, 1);
        assert!(toy.is_leader() && toy.current().draining);
        clock::sleep(Duration::from_secs(10)).await;
        assert_eq!(toy.current().work_stalls, 1, "it is said once");
    });
}

#[test]
fn nothing_is_asked_of_work_that_has_dropped_its_progress() {
    play_toy(async |stage, toy, _| {
        let leader = toy.clone();
        let _task = actix_rt::spawn(async move {
            let work = |guard: LeaderGuard| async move {
                let progress = guard.progress_within(MS(100)).unwrap();
                let clone = progress.clone();
                clock::sleep(MS(90)).await;
                drop(progress);
                clone.note();
                clock::sleep(MS(90)).await;
                drop(clone);
                pending::<()>().await;
            };
            leader.lead(work).await
        });
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(Duration::from_secs(60)).await;
        assert_eq!(toy.current().work_stalls, 0);
        assert!(toy.is_leader());
    });
}

#[test]
fn the_clock_of_the_agent_counts_and_a_lease_that_ended_in_a_suspend_is_no_stall() {
    for lease in [Duration::from_secs(10), Duration::from_secs(1_000)] {
        play(async {
            let (stage, boot, toy) = suspendable();
            let within = Duration::from_secs(60);
            let _task = lead(&toy, &Log::default(), within);
            let acts = [Act::Acquire(1), Act::Limit(lease)];
            stage.prompt(&toy, &acts).await;
            boot.suspend(Duration::from_secs(70));
            clock::sleep(MS(110)).await;
            let stalls = u32::from(toy.is_leader());
            assert_eq!(stalls, u32::from(lease > Duration::from_secs(70)));
            assert_eq!(toy.current().work_stalls, stalls);
        });
    }
}

#[test]
fn work_that_is_stuck_is_dropped_at_the_limit_and_another_agent_works() {
    play(async {
        let group = Group::new("two").unwrap();
        let log = Log::default();
        let [a, b] = [("a", 1), ("b", 2)].map(|(name, score)| {
            let agent = BullyAgent::builder(name).score(score).drain(MS(200));
            let agent = agent.join(&group).start().unwrap();
            let (leader, log) = (agent.clone(), log.clone());
            actix_rt::spawn(async move {
                let work = |guard: LeaderGuard| {
                    let log = log.clone();
                    async move {
                        log.add(format_args!("{name} works"));
                        let _held = guard.progress_within(Duration::from_secs(1)).unwrap();
                        pending::<()>().await;
                    }
                };
                leader.lead(work).await
            });
            agent
        });
        clock::sleep(MS(900)).await;
        assert!(b.is_leader());
        log.take();
        clock::sleep(MS(200)).await;
        assert!(b.is_leader() && b.current().draining, "it is told first");
        clock::sleep(MS(150)).await;
        assert!(a.is_leader() && !b.is_leader());
        assert_eq!(b.current().work_stalls, 1);
        assert_eq!(log.take(), ["a works"]);
    });
}

/// An actor that notes its progress, and panics after 450 ms. The singleton checks the progress.
struct Ticker(LeaderGuard);

impl Actor for Ticker {
    type Context = Context<Self>;
    fn started(&mut self, ctx: &mut Context<Self>) {
        let progress = self.0.progress();
        ctx.run_interval(MS(90), move |_, _| progress.note());
        let panics = |_: &mut Self, _: &mut Context<Self>| resume_unwind(Box::new("a bug"));
        ctx.run_later(MS(450), panics);
    }
}

#[test]
fn an_actor_that_backs_off_after_a_panic_is_not_late() {
    play_toy(async |stage, toy, _| {
        let policy = RestartPolicy::builder().backoff_base(Duration::from_secs(2));
        let policy = policy.window(Duration::from_secs(60)).build().unwrap();
        let singleton = Singleton::builder(&toy, Ticker)
            .on_panic(OnPanic::RestartOrStepDown(policy))
            .progress_within(MS(100))
            .start_without_handler()
            .unwrap();
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(Duration::from_secs(3)).await;
        assert_eq!(singleton.status().panics, 2);
        assert_eq!(toy.current().work_stalls, 0);
        assert!(toy.is_leader());
    });
}

/// Waits until this agent leads.
async fn leads(agent: &BullyHandle) {
    let changes = agent.changes();
    let mut leading = changes.filter(|status| ready(status.leading.is_some()));
    let status = clock::timeout(Duration::from_secs(20), leading.next()).await;
    assert!(status.is_ok_and(|status| status.is_some()), "it leads");
}

/// The test uses the real clock, because each arbiter has a clock of its own. It waits for events only.
#[test]
fn an_actor_that_blocks_its_own_arbiter_is_noticed_by_its_agent() {
    struct Blocker(LeaderGuard, Option<mpsc::Receiver<()>>);
    impl Actor for Blocker {
        type Context = Context<Self>;
        fn started(&mut self, _: &mut Context<Self>) {
            assert!(self.0.is_leader());
            if let Some(blocked) = &self.1 {
                blocked.recv().ok(); // until the test has seen the next leader
            }
        }
    }
    actix::System::new().block_on(async {
        let group = Group::new("blocked").unwrap();
        let elections = ElectionArbiter::new().unwrap();
        let agents = [("a", 1), ("b", 2)].map(|(name, score)| {
            let agent = BullyAgent::builder(name).score(score).drain(MS(50));
            let agent = agent.join(&group);
            agent.start_in_arbiter(&elections.handle()).unwrap()
        });
        let [a, b] = agents;
        leads(&b).await;
        let (free, blocked) = mpsc::channel();
        let busy = Arbiter::new();
        let handle = b.clone();
        busy.spawn(async move {
            let mut blocked = Some(blocked);
            let builder =
                Singleton::builder(&handle, move |leader| Blocker(leader, blocked.take()));
            let builder = builder.progress_within(MS(100));
            drop(builder.start_without_handler().unwrap());
        });
        leads(&a).await;
        assert!(a.is_leader() && !b.is_leader());
        assert_eq!(b.current().work_stalls, 1);
        drop(free);
        busy.stop();
        busy.join().unwrap();
    });
}
