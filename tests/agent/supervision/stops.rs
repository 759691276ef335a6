//! A regular stop finishes a transient child and restarts a permanent one, wherever it is asked for.

use std::time::Duration;

use actix::prelude::*;
use actix_bully::supervisor::RestartPolicy;

use crate::supervision::probe::{Count, FailIn, FailInResponse, Fault, Moment, Plan, Probe};
use crate::supervision::stage::{Outcome, Stage, ms, run, transient};

const FINISHED: [&str; 5] = [
    "0 i0 started",
    "0 i0 stopping",
    "0 i0 stopped",
    "0 hook Stopped",
    "0 parent Finished",
];

/// Gives the cause and expects the mailbox to be closed soon after.
fn finished_by(plans: &[Plan], cause: impl FnOnce(&Addr<Probe>)) -> Outcome {
    run(transient(), plans, async |stage: &mut Stage| {
        cause(stage.addr());
        ms(10).await;
        assert!(!stage.addr().connected());
        assert_eq!(stage.addr().send(Count).await, Err(MailboxError::Closed));
    })
}

fn stop(addr: &Addr<Probe>) {
    addr.do_send(FailIn::Handler(Fault::Stop));
}

#[test]
fn a_stop_in_a_handler_finishes_the_child() {
    assert_eq!(finished_by(&[], stop).trace, FINISHED);
}

#[test]
fn a_stop_in_started_finishes_the_child_before_its_mail() {
    let outcome = finished_by(&[(Moment::Started, 0, Fault::Stop)], |addr| {
        addr.do_send(Count);
    });
    assert_eq!(outcome.trace, FINISHED);
}

#[test]
fn a_stop_in_a_timer_finishes_the_child() {
    let outcome = finished_by(&[], |addr| addr.do_send(FailIn::Timer(Fault::Stop)));
    let later = FINISHED.map(|line| line.replacen('0', "7", 1));
    assert_eq!(outcome.trace[0], FINISHED[0]);
    assert_eq!(outcome.trace[1..], later[1..]);
}

#[test]
fn a_stop_in_a_spawned_future_finishes_the_child() {
    assert_eq!(
        finished_by(&[], |addr| addr.do_send(FailIn::Spawned(Fault::Stop))).trace,
        FINISHED
    );
}

#[test]
fn a_stop_in_a_waited_future_finishes_the_child() {
    assert_eq!(
        finished_by(&[], |addr| addr.do_send(FailIn::Wait(Fault::Stop))).trace,
        FINISHED
    );
}

#[test]
fn a_stop_in_a_response_finishes_the_child() {
    assert_eq!(
        finished_by(&[], |addr| addr.do_send(FailInResponse(Fault::Stop))).trace,
        FINISHED
    );
}

#[test]
fn a_stop_in_stopping_changes_nothing() {
    let outcome = finished_by(&[(Moment::Stopping, 0, Fault::Stop)], stop);
    assert_eq!(outcome.trace, FINISHED);
}

#[test]
fn a_stop_in_stopped_changes_nothing() {
    let outcome = finished_by(&[(Moment::Stopped, 0, Fault::Stop)], stop);
    assert_eq!(outcome.trace, FINISHED);
}

#[test]
fn a_stop_in_restarting_finishes_the_child_after_started() {
    let outcome = run(
        transient(),
        &[(Moment::Restarting, 1, Fault::Stop)],
        async |stage| {
            stage.addr().do_send(FailIn::Handler(Fault::Panic));
            assert_eq!(stage.addr().send(Count).await, Err(MailboxError::Closed));
        },
    );
    // actix calls `started` whatever `restarting` has asked for. A stop there does end the state that
    // was rebuilt, so it is one more incarnation for the hook.
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 hook Panicked(\"injected\")",
            "0 parent Down Panicked(\"injected\") 100",
            "100 i1 restarting",
            "100 i1 started",
            "100 i1 stopping",
            "100 i1 stopped",
            "100 hook Stopped",
            "100 parent Up 1",
            "100 parent Finished",
        ]
    );
}

#[test]
fn a_stop_sent_from_the_drop_of_a_pending_future_stops_the_next_incarnation() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(FailIn::Drop(Fault::Stop));
        stage.addr().do_send(FailIn::Handler(Fault::Panic));
        assert_eq!(
            stage.addr().send(Count).await,
            Ok((1, 1)),
            "queued before that stop"
        );
        assert_eq!(stage.addr().send(Count).await, Err(MailboxError::Closed));
    });
    assert_eq!(
        outcome.trace[2..],
        [
            "0 parent Down Panicked(\"injected\") 100",
            "100 i1 restarting",
            "100 i1 started",
            "100 i1 count 1",
            "100 i1 stopping",
            "100 i1 stopped",
            "100 hook Stopped",
            "100 parent Up 1",
            "100 parent Finished",
        ]
    );
}

#[test]
fn terminate_finishes_the_child_without_stopping() {
    #[derive(Message)]
    #[rtype(result = "()")]
    struct Terminate;
    impl Handler<Terminate> for Probe {
        type Result = ();
        fn handle(&mut self, _: Terminate, ctx: &mut Context<Self>) {
            ctx.terminate();
        }
    }
    let without_stopping = [FINISHED[0], FINISHED[2], FINISHED[3], FINISHED[4]];
    assert_eq!(
        finished_by(&[], |addr| addr.do_send(Terminate)).trace,
        without_stopping
    );
}

#[test]
fn a_stop_restarts_a_permanent_child_with_a_fresh_state() {
    let outcome = run(RestartPolicy::permanent(), &[], async |stage| {
        assert_eq!(stage.addr().send(Count).await, Ok((0, 1)));
        stage.addr().do_send(FailIn::Handler(Fault::Stop));
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
    });
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 i0 count 1",
            "0 i0 stopping",
            "0 i0 stopped",
            "0 hook Stopped",
            "0 parent Down Stopped 100",
            "100 i1 restarting",
            "100 i1 started",
            "100 i1 count 1",
            "100 parent Up 1",
        ]
    );
}

#[test]
fn a_stop_restarts_a_permanent_child_wherever_it_is_asked_for() {
    let in_handler = || FailIn::Handler(Fault::Stop);
    let cases = [
        (vec![(Moment::Started, 0, Fault::Stop)], None),
        (vec![], Some(in_handler())),
        (vec![], Some(FailIn::Timer(Fault::Stop))),
        (vec![], Some(FailIn::Spawned(Fault::Stop))),
        (vec![], Some(FailIn::Wait(Fault::Stop))),
        (vec![(Moment::Stopping, 0, Fault::Stop)], Some(in_handler())),
        (vec![(Moment::Stopped, 0, Fault::Stop)], Some(in_handler())),
    ];
    for (number, (plans, message)) in cases.into_iter().enumerate() {
        let outcome = run(RestartPolicy::permanent(), &plans, async |stage| {
            if let Some(message) = message {
                stage.addr().do_send(message);
            }
            ms(50).await;
            assert_eq!(stage.addr().send(Count).await, Ok((1, 1)), "case {number}");
        });
        let (heard, hooks) = (outcome.heard(), outcome.hooks());
        assert_eq!(hooks.len(), 1, "case {number}: {hooks:?}");
        assert!(
            heard[0].ends_with("parent Down Stopped 100"),
            "case {number}: {heard:?}"
        );
        assert!(
            heard[1].ends_with("parent Up 1"),
            "case {number}: {heard:?}"
        );
        assert_eq!(heard.len(), 2, "case {number}");
    }
}

#[test]
fn the_caller_of_a_response_cut_off_by_a_stop_hears_closed_when_the_backoff_is_over() {
    #[derive(Message)]
    #[rtype(result = "()")]
    struct Never;
    impl Handler<Never> for Probe {
        type Result = ResponseActFuture<Self, ()>;
        fn handle(&mut self, _: Never, _: &mut Context<Self>) -> Self::Result {
            Box::pin(std::future::pending().into_actor(self))
        }
    }
    run(RestartPolicy::permanent(), &[], async |stage| {
        let start = actix::clock::Instant::now();
        let never = stage.addr().send(Never);
        stage.addr().do_send(FailIn::Handler(Fault::Stop));
        assert_eq!(never.await, Err(MailboxError::Closed));
        assert_eq!(start.elapsed(), Duration::from_millis(100));
    });
}
