//! A panic, wherever it happens, costs one message: what follows is the same everywhere.

use actix::prelude::*;
use futures::future::join3;

use crate::supervision::probe::{
    Count, FailIn, FailInResponse, Fault, Mail, Moment, Plan, Probe, poison,
};
use crate::supervision::stage::{ms, run, transient};

/// The child does `first`, crashes at that time by the message, and its next incarnation has its state anew.
fn crashes(place: &str, plans: &[Plan], first: &[&str], at: u64, fail: Option<FailIn>) {
    let outcome = run(transient(), plans, async |stage| {
        if let Some(fail) = fail {
            stage.addr().do_send(fail);
        }
        ms(10).await;
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)), "{place}");
    });
    let back = at + 100;
    let mut expected: Vec<String> = first.iter().map(|line| (*line).to_owned()).collect();
    expected.extend([
        format!("{at} hook Panicked(\"injected\")"),
        format!("{at} parent Down Panicked(\"injected\") 100"),
        format!("{back} i1 restarting"),
        format!("{back} i1 started"),
        format!("{back} i1 count 1"),
        format!("{back} parent Up 1"),
    ]);
    assert_eq!(outcome.trace, expected, "{place}");
}

#[test]
fn a_panic_is_followed_by_a_restart_wherever_it_happens() {
    use Fault::{Panic, Stop};
    let at = |moment| vec![(moment, 0, Panic)];
    let stop = || Some(FailIn::Handler(Stop));
    let first = ["0 i0 started", "0 i0 stopping", "0 i0 stopped"];
    for (place, plans, lines, time, message) in [
        ("started", at(Moment::Started), 1, 0, None),
        ("a handler", vec![], 1, 0, Some(poison())),
        ("a timer", vec![], 1, 7, Some(FailIn::Timer(Panic))),
        (
            "a spawned future",
            vec![],
            1,
            0,
            Some(FailIn::Spawned(Panic)),
        ),
        ("a waited future", vec![], 1, 0, Some(FailIn::Wait(Panic))),
        // A child that would have finished has crashed.
        ("stopping", at(Moment::Stopping), 2, 0, stop()),
        ("stopped", at(Moment::Stopped), 3, 0, stop()),
    ] {
        crashes(place, &plans, &first[..lines], time, message);
    }
}

#[test]
fn a_panic_in_a_handler_keeps_the_address_and_the_queue() {
    let outcome = run(transient(), &[], async |stage| {
        let addr = stage.addr();
        addr.do_send(Mail(1));
        let poison = addr.send(poison());
        let (poison, a, b) = join3(poison, addr.send(Mail(2)), addr.send(Count)).await;
        assert_eq!(poison, Err(MailboxError::Closed));
        assert_eq!((a, b), (Ok(()), Ok((1, 1))), "the next one has the queue");
        assert_eq!(addr.send(Count).await, Ok((1, 2)), "by the same address");
    });
    let mail = outcome.trace.iter().filter(|line| line.contains("mail"));
    assert!(
        mail.eq(["0 i0 mail 1", "100 i1 mail 2"]),
        "{:?}",
        outcome.trace
    );
}

#[test]
fn a_panic_in_started_after_a_restart_is_one_more_failure() {
    let plans = [0, 1].map(|incarnation| (Moment::Started, incarnation, Fault::Panic));
    let outcome = run(transient(), &plans, async |stage| {
        assert_eq!(stage.addr().send(Count).await, Ok((2, 1)));
    });
    let expected = [
        "0 i0 started",
        "0 hook Panicked(\"injected\")",
        "0 parent Down Panicked(\"injected\") 100",
        "100 i1 restarting",
        "100 i1 started",
        "100 hook Panicked(\"injected\")",
        "100 parent Up 1",
        "100 parent Down Panicked(\"injected\") 200",
        "300 i2 restarting",
        "300 i2 started",
        "300 i2 count 1",
        "300 parent Up 2",
    ];
    assert_eq!(outcome.trace, expected);
}

#[test]
fn a_panic_in_a_response_is_followed_by_a_restart_and_its_caller_hears_closed() {
    let outcome = run(transient(), &[], async |stage| {
        let answer = stage.addr().send(FailInResponse(Fault::Panic)).await;
        stage.trace.note("the caller hears");
        assert_eq!(answer, Err(MailboxError::Closed));
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
    });
    let expected = [
        "0 i0 started",
        "0 hook Panicked(\"injected\")",
        "0 parent Down Panicked(\"injected\") 100",
        "100 i1 restarting",
        "100 i1 started",
        "100 parent Up 1",
        "100 the caller hears", // when the first incarnation's futures are dropped
        "100 i1 count 1",
    ];
    assert_eq!(outcome.trace, expected);
}

#[test]
fn a_panic_in_restarting_counts_the_half_made_incarnation_too() {
    let plans = [(Moment::Restarting, 1, Fault::Panic)];
    let outcome = run(transient(), &plans, async |stage| {
        stage.addr().do_send(poison());
        assert_eq!(stage.addr().send(Count).await, Ok((2, 1)));
    });
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 hook Panicked(\"injected\")",
            "0 parent Down Panicked(\"injected\") 100",
            "100 i1 restarting",
            "100 hook Panicked(\"injected\")",
            "100 parent Down Panicked(\"injected\") 200",
            "300 i2 restarting",
            "300 i2 started",
            "300 i2 count 1",
            "300 parent Up 1",
        ]
    );
}

#[test]
fn a_panic_in_the_drop_of_a_pending_future_is_a_restart_that_failed() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(FailIn::Drop(Fault::Panic));
        stage.addr().do_send(poison());
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
    });
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 hook Panicked(\"injected\")",
            "0 parent Down Panicked(\"injected\") 100",
            // Dropping what the first one left behind fails; there is no `restarting` yet.
            "100 hook Panicked(\"injected\")",
            "100 parent Down Panicked(\"injected\") 200",
            "300 i1 restarting",
            "300 i1 started",
            "300 i1 count 1",
            "300 parent Up 1",
        ]
    );
}

#[test]
fn a_panic_in_the_drop_of_a_pending_future_does_not_keep_a_child_from_finishing() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(FailIn::Drop(Fault::Panic));
        stage.addr().do_send(FailIn::Handler(Fault::Stop));
        assert_eq!(stage.addr().send(Count).await, Err(MailboxError::Closed));
    });
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 i0 stopping",
            "0 i0 stopped",
            "0 hook Stopped",
            "0 parent Finished"
        ]
    );
}

#[test]
fn a_panic_while_it_is_supervised_does_not_reach_its_neighbours() {
    let outcome = run(transient(), &[], async |stage| {
        let neighbour = Probe::new(stage.trace.clone(), &[]).start();
        assert_eq!(neighbour.send(Count).await, Ok((0, 1)));
        stage.addr().do_send(poison());
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
        assert_eq!(
            neighbour.send(Count).await,
            Ok((0, 2)),
            "it has kept its state"
        );
    });
    assert_eq!(outcome.hooks().len(), 1);
}
