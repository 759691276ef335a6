//! Signals that ask a process to end. The test sends them to its own process, in real time.

use std::time::Duration;

use actix::{Actor, Context, Handler, System, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, LeaveError, Lifecycle, Notice},
    config::Config,
    leader::{ShutdownError, leave_on_signals},
    protocol::{Event, Timings},
    supervisor::RestartPolicy,
    testkit::Inject,
};
use futures::FutureExt;
use rustix::process::{Signal, getpid, kill_process};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// An actor whose work never reports its end.
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

/// This is one test, because each signal reaches every listener of the process.
#[test]
fn a_signal_makes_an_agent_leave_and_a_second_one_at_once_and_its_own_end_needs_none() {
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
        // The address is held, because an agent does not keep its subscribers alive.
        let worker = Stubborn { is_draining: tell }.start();
        let draining_token = agent.subscribe_draining(worker.clone().recipient());
        assert!(draining_token.is_ok());
        // The future listens for signals before its first poll.
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

        // If an operator has ended the agent, for example by a drain, the process still waits for its signal.
        let agent = start("drained");
        let mut left = Box::pin(leave_on_signals(&agent, within));
        agent.leave(within).await.unwrap();
        assert!((&mut left).now_or_never().is_none(), "it was not asked");
        kill_process(getpid(), Signal::TERM).unwrap();
        left.await.unwrap();
        an_agent_that_ends_by_itself_needs_no_signal(within).await;
    });
}

async fn an_agent_that_ends_by_itself_needs_no_signal(within: Duration) {
    let node = Config::new("a", "g").starter().unwrap();
    let node = node.agent(|agent| agent.restart_policy(RestartPolicy::temporary()));
    let node = node.start().unwrap();
    let agent = node.agent();
    // The first future belongs to a node, and the second one to the agent alone.
    let (left, also) = (
        node.leave_on_signals(within),
        leave_on_signals(agent, within),
    );
    agent.addr().do_send(Inject::Crash);
    for left in [actix_rt::spawn(left), actix_rt::spawn(also)] {
        let left = actix::clock::timeout(within, left).await.unwrap().unwrap();
        assert!(matches!(left, Err(ShutdownError::Ended)), "{left:?}");
    }
    assert_eq!(agent.current().lifecycle, Lifecycle::Ended);
}

#[test]
fn outside_of_a_runtime_signals_cannot_be_waited_for_and_nothing_ends() {
    let system = System::new();
    let agent = system.block_on(async {
        let group = Group::new("g").unwrap();
        BullyAgent::builder("a").join(&group).start().unwrap()
    });
    // The thread has no System, like the threads of an application's own pool.
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
