//! Signals that ask a process to end. They are those of this very process, and come in real time.

use std::time::Duration;

use actix::{Actor, Context, Handler, System, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, LeaveError, Lifecycle, Notice},
    leader::{ShutdownError, leave_on_signals},
    protocol::{Event, Timings},
};
use futures::FutureExt;
use rustix::process::{Signal, getpid, kill_process};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Work that never says that it has ended.
struct Stubborn {
    is_draining: tokio::sync::watch::Sender<bool>,
}

impl Actor for Stubborn {
    type Context = Context<Self>;
}

impl Handler<Notice> for Stubborn {
    type Result = ();
    fn handle(&mut self, notice: Notice, _: &mut Context<Self>) {
        if let Event::Draining { .. } = notice.event {
            self.is_draining.send_replace(true);
        }
    }
}

/// In one test, since each signal reaches every listener of the process.
#[test]
fn a_signal_makes_an_agent_leave_and_a_second_one_at_once() {
    System::new().block_on(async {
        let within = Duration::from_secs(30);
        let group = Group::new("g").unwrap();
        let start = |name| {
            let agent = BullyAgent::builder(name).timings(Timings::in_process());
            agent
                .drain(Duration::from_secs(3_600))
                .join(&group)
                .start()
                .unwrap()
        };
        for signal in [Signal::TERM, Signal::INT] {
            let agent = start("idle");
            agent.wait_for_leader(within).await.unwrap();
            let mut left = Box::pin(leave_on_signals(&agent, within));
            sleep(MS(20)).await;
            assert!((&mut left).now_or_never().is_none(), "it was not asked");
            assert!(agent.is_leader());
            kill_process(getpid(), signal).unwrap();
            left.await.unwrap();
            assert_eq!(agent.current().lifecycle, Lifecycle::Ended);
        }

        let agent = start("busy");
        agent.wait_for_leader(within).await.unwrap();
        let (tell, mut draining) = tokio::sync::watch::channel(false);
        // Held: an agent does not keep its subscribers alive.
        let worker = Stubborn { is_draining: tell }.start();
        let draining_token = agent.subscribe_draining(worker.clone().recipient());
        assert!(draining_token.is_ok());
        // Listens already, before it is polled.
        let left = leave_on_signals(&agent, Duration::from_secs(3_600));
        kill_process(getpid(), Signal::TERM).unwrap();
        let left = actix_rt::spawn(left);
        draining.wait_for(|is_so| *is_so).await.unwrap();
        assert!(agent.is_leader(), "the work goes on");
        kill_process(getpid(), Signal::TERM).unwrap();
        let left = actix::clock::timeout(within, left).await.unwrap().unwrap();
        let at_once = LeaveError::TimedOut {
            deadline: Duration::ZERO,
        };
        assert!(
            matches!(left, Err(ShutdownError::Agent(error)) if error == at_once),
            "{left:?}"
        );
        assert!(!agent.is_leader());
        assert_eq!(agent.current().lifecycle, Lifecycle::Ended);
        drop(worker);
    });
}

#[test]
fn outside_of_a_runtime_signals_cannot_be_waited_for_and_nothing_ends() {
    let system = System::new();
    let agent = system.block_on(async {
        let group = Group::new("g").unwrap();
        BullyAgent::builder("a").join(&group).start().unwrap()
    });
    // On a thread without a System, as an application's own pool has them.
    let outside = std::thread::spawn({
        let agent = agent.clone();
        move || leave_on_signals(&agent, MS(1)).now_or_never()
    });
    let refused = outside.join().unwrap();
    assert!(
        matches!(refused, Some(Err(ShutdownError::Signals(_)))),
        "{refused:?}"
    );
    assert_eq!(agent.current().lifecycle, Lifecycle::Running);
}
