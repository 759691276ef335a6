//! A panic, wherever it happens, costs one message: what follows is the same everywhere.

use actix::prelude::*;
use futures::future::join3;

use crate::supervision::probe::{Count, FailIn, FailInResponse, Fault, Mail, Moment};
use crate::supervision::stage::{ms, run, transient};

/// A panic, the backoff, and a first message for the new incarnation, from `at` on.
fn one_crash(at: u64) -> Vec<String> {
    let back = at + 100;
    vec![
        format!("{at} hook Panicked(\"injected\")"),
        format!("{at} parent Down Panicked(\"injected\") 100"),
        format!("{back} i1 restarting"),
        format!("{back} i1 started"),
        format!("{back} i1 count 1"),
        format!("{back} parent Up 1"),
    ]
}

fn one_crash_after(first: &[&str], at: u64) -> Vec<String> {
    first
        .iter()
        .map(|line| (*line).to_owned())
        .chain(one_crash(at))
        .collect()
}

#[test]
fn a_panic_in_a_handler_keeps_the_address_and_the_queue() {
    let outcome = run(transient(), &[], async |stage| {
        let addr = stage.addr();
        addr.do_send(Mail(1));
        let poison = addr.send(FailIn::Handler(Fault::Panic));
        let (poison, a, b) = join3(poison, addr.send(Mail(2)), addr.send(Count)).await;
        assert_eq!(poison, Err(MailboxError::Closed));
        assert_eq!(
            (a, b),
            (Ok(()), Ok((1, 1))),
            "the queue goes to the next incarnation"
        );
        assert_eq!(addr.send(Count).await, Ok((1, 2)), "by the same address");
    });
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 i0 mail 1",
            "0 hook Panicked(\"injected\")",
            "0 parent Down Panicked(\"injected\") 100",
            "100 i1 restarting",
            "100 i1 started",
            "100 i1 mail 2",
            "100 i1 count 1",
            "100 parent Up 1",
            "100 i1 count 2",
        ]
    );
}

#[test]
fn a_panic_in_started_is_followed_by_a_restart() {
    let outcome = run(
        transient(),
        &[(Moment::Started, 0, Fault::Panic)],
        async |stage| {
            assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
        },
    );
    assert_eq!(outcome.trace, one_crash_after(&["0 i0 started"], 0));
}

#[test]
fn a_panic_in_started_after_a_restart_is_one_more_failure() {
    let plans = [
        (Moment::Started, 0, Fault::Panic),
        (Moment::Started, 1, Fault::Panic),
    ];
    let outcome = run(transient(), &plans, async |stage| {
        assert_eq!(stage.addr().send(Count).await, Ok((2, 1)));
    });
    assert_eq!(
        outcome.trace,
        [
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
        ]
    );
}

#[test]
fn a_panic_in_a_timer_is_followed_by_a_restart() {
    let outcome = run(transient(), &[], async |stage| {
        assert_eq!(stage.addr().send(FailIn::Timer(Fault::Panic)).await, Ok(()));
        ms(10).await;
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
    });
    assert_eq!(outcome.trace, one_crash_after(&["0 i0 started"], 7));
}

#[test]
fn a_panic_in_a_spawned_future_is_followed_by_a_restart() {
    let outcome = run(transient(), &[], async |stage| {
        assert_eq!(
            stage.addr().send(FailIn::Spawned(Fault::Panic)).await,
            Ok(())
        );
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
    });
    assert_eq!(outcome.trace, one_crash_after(&["0 i0 started"], 0));
}

#[test]
fn a_panic_in_a_waited_future_is_followed_by_a_restart() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(FailIn::Wait(Fault::Panic));
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
    });
    assert_eq!(outcome.trace, one_crash_after(&["0 i0 started"], 0));
}

#[test]
fn a_panic_in_a_response_is_followed_by_a_restart_and_its_caller_hears_closed() {
    let outcome = run(transient(), &[], async |stage| {
        let answer = stage.addr().send(FailInResponse(Fault::Panic)).await;
        stage.trace.note("the caller hears");
        assert_eq!(answer, Err(MailboxError::Closed));
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
    });
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 hook Panicked(\"injected\")",
            "0 parent Down Panicked(\"injected\") 100",
            "100 i1 restarting",
            "100 i1 started",
            "100 parent Up 1",
            "100 the caller hears", // when the first incarnation's futures are dropped
            "100 i1 count 1",
        ]
    );
}

#[test]
fn a_panic_in_restarting_counts_the_half_made_incarnation_too() {
    let outcome = run(
        transient(),
        &[(Moment::Restarting, 1, Fault::Panic)],
        async |stage| {
            stage.addr().do_send(FailIn::Handler(Fault::Panic));
            assert_eq!(stage.addr().send(Count).await, Ok((2, 1)));
        },
    );
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
fn a_panic_in_stopping_is_a_crash_even_of_a_child_that_would_have_finished() {
    let outcome = run(
        transient(),
        &[(Moment::Stopping, 0, Fault::Panic)],
        async |stage| {
            stage.addr().do_send(FailIn::Handler(Fault::Stop));
            assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
        },
    );
    assert_eq!(
        outcome.trace,
        one_crash_after(&["0 i0 started", "0 i0 stopping"], 0)
    );
}

#[test]
fn a_panic_in_stopped_is_a_crash_even_of_a_child_that_would_have_finished() {
    let outcome = run(
        transient(),
        &[(Moment::Stopped, 0, Fault::Panic)],
        async |stage| {
            stage.addr().do_send(FailIn::Handler(Fault::Stop));
            assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
        },
    );
    let first = ["0 i0 started", "0 i0 stopping", "0 i0 stopped"];
    assert_eq!(outcome.trace, one_crash_after(&first, 0));
}

#[test]
fn a_panic_in_the_drop_of_a_pending_future_is_a_restart_that_failed() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(FailIn::Drop(Fault::Panic));
        stage.addr().do_send(FailIn::Handler(Fault::Panic));
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
        let neighbour = crate::supervision::probe::Probe::new(stage.trace.clone(), &[]).start();
        assert_eq!(neighbour.send(Count).await, Ok((0, 1)));
        stage.addr().do_send(FailIn::Handler(Fault::Panic));
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
        assert_eq!(
            neighbour.send(Count).await,
            Ok((0, 2)),
            "it has kept its state"
        );
    });
    assert_eq!(outcome.hooks().len(), 1);
}
