//! A lease ends while the agent or its host stands still: the work does not run after the end, and every waiter
//! learns of it.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use actix::clock;
use actix_bully::{
    agent::{ElectionHandle, LeaderGuard},
    clock::{Clock, RuntimeClock},
    protocol::Time,
    testkit::Inject,
};
use futures::StreamExt;

use crate::{
    stage::{Log, MS, Stage, play, play_toy, settle},
    toy::{Act, Toy},
};

/// A clock that counts a suspend. The timers of the runtime stand still during a suspend.
#[derive(Clone, Debug)]
pub(crate) struct Boot {
    awake: RuntimeClock,
    suspended: Arc<AtomicU64>,
}

impl Boot {
    pub(crate) fn new() -> Self {
        Self {
            awake: RuntimeClock::new(),
            suspended: Arc::default(),
        }
    }

    /// Suspends the host for the time `long`.
    pub(crate) fn suspend(&self, long: Duration) {
        let nanos = u64::try_from(long.as_nanos()).unwrap_or(u64::MAX);
        self.suspended.fetch_add(nanos, SeqCst);
    }
}

impl Clock for Boot {
    fn now(&self) -> Time {
        let suspended = Duration::from_nanos(self.suspended.load(SeqCst));
        self.awake.now().after(suspended)
    }

    fn counts_suspend(&self) -> bool {
        true
    }
}

/// A value that notes its drop.
struct Held(Log);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.add("dropped");
    }
}

/// Starts an agent on a host that can be suspended.
pub(crate) fn suspendable() -> (Stage, Boot, ElectionHandle<Toy>) {
    let (stage, boot) = (Stage::new(), Boot::new());
    let toy = Toy::builder("toy", &stage).clock(boot.clone());
    (stage, boot, toy.start().unwrap())
}

/// Leads with this work, in a task of its own.
fn lead<W>(
    toy: &ElectionHandle<Toy>,
    work: impl FnMut(LeaderGuard) -> W + 'static,
) -> actix_rt::task::JoinHandle<()>
where
    W: Future<Output = ()> + 'static,
{
    let toy = toy.clone();
    actix_rt::spawn(async move { toy.lead(work).await.unwrap() })
}

#[test]
fn nothing_of_the_work_is_polled_after_its_lease_not_even_after_a_suspend() {
    play(async {
        let (stage, boot, toy) = suspendable();
        let log = Log::default();
        let seen = log.clone();
        let task = lead(&toy, move |guard| {
            let log = seen.clone();
            async move {
                let _held = Held(log.clone());
                loop {
                    log.add(format_args!("leads {}", guard.is_leader()));
                    clock::sleep(MS(10)).await;
                }
            }
        });
        let acts = [Act::Acquire(1), Act::Limit(Duration::from_secs(10))];
        stage.prompt(&toy, &acts).await;
        clock::sleep(MS(24)).await;
        assert_eq!(log.take(), ["leads true"; 3]);
        boot.suspend(Duration::from_secs(30));
        clock::sleep(MS(10)).await;
        assert_eq!(log.take(), ["dropped"], "the timers have 10 s to go");
        task.abort();
    });
}

#[test]
fn work_that_waits_is_dropped_soon_after_a_suspend_that_outlasts_its_lease() {
    play(async {
        let (stage, boot, toy) = suspendable();
        let log = Log::default();
        let seen = log.clone();
        let task = lead(&toy, move |_guard| {
            let held = Held(seen.clone());
            async move {
                pending::<()>().await;
                drop(held);
            }
        });
        let acts = [Act::Acquire(1), Act::Limit(Duration::from_secs(10))];
        stage.prompt(&toy, &acts).await;
        let (mut changes, heard) = (toy.changes(), log.clone());
        let listener = actix_rt::spawn(async move {
            while let Some(status) = changes.next().await {
                heard.add(format_args!("leading {:?}", status.leading));
            }
        });
        settle().await;
        assert_eq!(log.take(), ["leading Some(Term(1))"]);
        boot.suspend(Duration::from_secs(30));
        clock::sleep(MS(101)).await;
        let mut seen = log.take();
        seen.sort();
        assert_eq!(seen, ["dropped", "leading None"]);
        task.abort();
        listener.abort();
    });
}

#[test]
fn a_guard_answers_by_the_clock_and_ends_its_waits_by_it() {
    play_toy(async |stage, toy, _| {
        let (sender, mut guards) = tokio::sync::mpsc::unbounded_channel();
        let task = lead(&toy, move |guard| {
            sender.send(guard).unwrap(); // the new holder is not dropped with the work
            pending()
        });
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        let guard = guards.recv().await.unwrap();
        assert_eq!(guard.holds_for(), None, "it cannot run out");
        stage.prompt(&toy, &[Act::Limit(MS(30))]).await; // done at 0 ms, checked at 1 ms
        toy.addr().do_send(Inject::hang(clock::sleep(MS(500))));
        clock::sleep(MS(28)).await;
        assert!(guard.is_leader(), "29 of 30 ms have passed");
        assert_eq!(guard.holds_for(), Some(MS(1)));
        let began = clock::Instant::now();
        guard.stepping_down().await;
        assert_eq!(began.elapsed(), MS(1));
        assert!(!guard.is_leader());
        assert_eq!(guard.holds_for(), Some(Duration::ZERO));
        task.abort();
    });
}
