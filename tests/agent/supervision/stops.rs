//! A regular stop finishes a transient child and restarts a permanent one, wherever it is asked for.

use std::time::Duration;

use actix::prelude::*;
use actix_bully::supervisor::RestartPolicy;

use crate::supervision::probe::{Count, FailIn, FailInResponse, Fault, Moment, Plan, Probe};
use crate::supervision::stage::{ms, run, transient};

const FINISHED: [&str; 5] = [
    "0 i0 started",
    "0 i0 stopping",
    "0 i0 stopped",
    "0 hook Stopped",
    "0 parent Finished",
];

/// Calls `context.terminate`.
#[derive(Message)]
#[rtype(result = "()")]
struct Terminate;

impl Handler<Terminate> for Probe {
    type Result = ();
    fn handle(&mut self, _: Terminate, ctx: &mut Context<Self>) {
        ctx.terminate();
    }
}

#[test]
fn a_stop_finishes_a_transient_child_wherever_it_is_asked_for() {
    type Cause = fn(&Addr<Probe>);
    let finished = FINISHED.map(str::to_owned).to_vec();
    let at = |moment| vec![(moment, 0, Fault::Stop)];
    let stop: Cause = |addr| addr.do_send(FailIn::Handler(Fault::Stop));
    let rows: [(&str, Vec<Plan>, Cause); 9] = [
        ("a handler", vec![], stop),
        ("started, before its mail", at(Moment::Started), |addr| {
            addr.do_send(Count);
        }),
        ("a timer", vec![], |addr| {
            addr.do_send(FailIn::Timer(Fault::Stop));
        }),
        ("a spawned future", vec![], |addr| {
            addr.do_send(FailIn::Spawned(Fault::Stop));
        }),
        ("a waited future", vec![], |addr| {
            addr.do_send(FailIn::Wait(Fault::Stop));
        }),
        ("a response", vec![], |addr| {
            addr.do_send(FailInResponse(Fault::Stop));
        }),
        ("stopping, once more", at(Moment::Stopping), stop),
        ("stopped, once more", at(Moment::Stopped), stop),
        ("terminate", vec![], |addr| addr.do_send(Terminate)),
    ];
    for (place, plans, cause) in rows {
        let outcome = run(transient(), &plans, async |stage| {
            cause(stage.addr());
            ms(10).await;
            assert!(!stage.addr().connected(), "{place}");
            let answer = stage.addr().send(Count).await;
            assert_eq!(answer, Err(MailboxError::Closed), "{place}");
        });
        let mut expected = finished.clone();
        if place == "terminate" {
            expected.remove(1); // nobody is asked
        } else if place == "a timer" {
            for line in &mut expected[1..] {
                line.replace_range(..1, "7");
            }
        }
        assert_eq!(outcome.trace, expected, "{place}");
    }
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
fn a_stop_restarts_a_permanent_child_with_a_fresh_state_wherever_it_is_asked_for() {
    let at = |moment| vec![(moment, 0, Fault::Stop)];
    let handler = || Some(FailIn::Handler(Fault::Stop));
    for (place, plans, message) in [
        ("started", at(Moment::Started), None),
        ("a handler", vec![], handler()),
        ("a timer", vec![], Some(FailIn::Timer(Fault::Stop))),
        (
            "a spawned future",
            vec![],
            Some(FailIn::Spawned(Fault::Stop)),
        ),
        ("a waited future", vec![], Some(FailIn::Wait(Fault::Stop))),
        ("stopping", at(Moment::Stopping), handler()),
        ("stopped", at(Moment::Stopped), handler()),
    ] {
        let outcome = run(RestartPolicy::permanent(), &plans, async |stage| {
            if let Some(message) = message {
                stage.addr().do_send(message);
            }
            ms(50).await;
            assert_eq!(stage.addr().send(Count).await, Ok((1, 1)), "{place}");
        });
        let down = if place == "a timer" { 7 } else { 0 };
        let expected = [
            format!("{down} i0 stopped"),
            format!("{down} hook Stopped"),
            format!("{down} parent Down Stopped 100"),
            format!("{} i1 restarting", down + 100),
            format!("{} i1 started", down + 100),
            format!("{} i1 count 1", down + 100),
            format!("{} parent Up 1", down + 100),
        ];
        assert_eq!(outcome.trace[2..], expected, "{place}");
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
