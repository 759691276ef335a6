//! Many failures at once, and failures amid much mail.

use std::cell::Cell;
use std::future::poll_fn;
use std::iter::once;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use actix::prelude::*;
use actix_bully::supervisor::{OnStop, RestartPolicy, RestartPolicyBuilder, Supervision};
use futures::StreamExt;
use futures::channel::mpsc::unbounded;
use futures::future::join_all;

use crate::common::virtual_system;
use crate::supervision::probe::{Count, Fault, Mail, Moment, Plan, Probe, Trace, poison};
use crate::supervision::stage::{Listener, guarded, lines_with, ms, run, transient};

/// `max_restarts` within an hour, each after `backoff` milliseconds.
fn stubborn(max_restarts: usize, backoff: u64) -> RestartPolicyBuilder {
    let backoff = Duration::from_millis(backoff);
    let policy = RestartPolicy::builder().max_restarts(max_restarts);
    policy
        .window(Duration::from_secs(3_600))
        .backoff_base(backoff)
        .backoff_max(backoff)
}

#[test]
fn a_hundred_panics_in_a_row_cost_a_hundred_messages_and_nothing_else() {
    let outcome = run(stubborn(100, 1).build().unwrap(), &[], async |stage| {
        for _ in 0..100 {
            stage.addr().do_send(poison());
        }
        assert_eq!(stage.addr().send(Count).await, Ok((100, 1)));
    });
    assert_eq!(outcome.hooks().len(), 100);
    let heard = outcome.heard();
    assert_eq!(heard.len(), 200);
    assert_eq!(
        heard[198..],
        [
            "99 parent Down Panicked(\"injected\") 1",
            "100 parent Up 100"
        ]
    );
}

#[test]
fn mail_between_panics_is_delivered_once_and_in_order() {
    let outcome = run(stubborn(50, 10).build().unwrap(), &[], async |stage| {
        for number in 0..50 {
            stage.addr().do_send(Mail(number));
            stage.addr().do_send(poison());
        }
        ms(1_000).await;
    });
    let expected: Vec<_> = (0..50)
        .map(|number| format!("{} i{number} mail {number}", number * 10))
        .collect();
    assert_eq!(lines_with(&outcome.trace, "mail"), expected);
}

#[test]
fn a_panic_while_the_queue_is_full_loses_nothing_of_it() {
    let outcome = run(transient(), &[], async |stage| {
        let addr = stage.addr();
        assert!(addr.try_send(poison()).is_ok());
        let mut accepted = 0;
        while addr.try_send(Mail(accepted)).is_ok() {
            accepted += 1;
        }
        assert_eq!(accepted, 15, "a full mailbox, the poison included");
        // These wait for room, which there is only when the next incarnation works the queue off.
        let waiting = join_all((accepted..accepted + 40).map(|number| addr.send(Mail(number))));
        assert_eq!(waiting.await, vec![Ok(()); 40]);
    });
    let expected: Vec<_> = (0..55)
        .map(|number| format!("100 i1 mail {number}"))
        .collect();
    let mut delivered = lines_with(&outcome.trace, "mail");
    assert_eq!(delivered[..15], expected[..15], "what was queued, in order");
    delivered.sort_by_key(|line| {
        line.rsplit(' ')
            .next()
            .and_then(|number| number.parse::<u32>().ok())
    });
    assert_eq!(delivered, expected, "and what waited for room, each once");
}

#[test]
fn mail_sent_during_the_backoff_waits_for_the_next_incarnation() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(poison());
        ms(50).await;
        for number in 0..10_000 {
            stage.addr().do_send(Mail(number));
        }
        ms(100).await;
    });
    let expected: Vec<_> = (0..10_000)
        .map(|number| format!("100 i1 mail {number}"))
        .collect();
    assert_eq!(lines_with(&outcome.trace, "mail"), expected);
}

#[test]
fn children_that_panic_at_the_same_time_come_back_each_on_its_own() {
    const CHILDREN: u32 = 50;
    let (heard, answers) = virtual_system().block_on(async {
        let trace = Trace::new();
        let (sender, receiver) = unbounded();
        let parent = Listener(sender).start();
        let children: Vec<_> = (0..CHILDREN)
            .map(|key| {
                let child = actix_bully::supervisor::Guardian::builder(key);
                let child = child.policy(transient()).parent(parent.clone().recipient());
                child.start(|_| Probe::new(trace.clone(), &[]))
            })
            .collect();
        for child in &children {
            child.do_send(poison());
        }
        let answers = join_all(children.iter().map(|child| child.send(Count))).await;
        let heard: Vec<_> = receiver.take(100).collect().await;
        (heard, answers)
    });
    assert!(
        answers.iter().all(|answer| *answer == Ok((1, 1))),
        "{answers:?}"
    );
    for key in 0..CHILDREN {
        let of_child: Vec<_> = heard
            .iter()
            .filter(|event| child_of(event) == key)
            .collect();
        assert!(
            matches!(
                of_child[..],
                [
                    Supervision::Down { .. },
                    Supervision::Up { restarts: 1, .. }
                ]
            ),
            "child {key}: {of_child:?}"
        );
    }
}

#[test]
fn a_child_that_always_stops_in_started_does_not_hold_up_its_neighbours() {
    let plans: Vec<_> = (0..=1_000)
        .map(|n| (Moment::Started, n, Fault::Stop))
        .collect();
    let turns = turns_beside(&plans);
    assert!(turns >= 1_000, "the neighbour had {turns} turns only");
}

#[test]
fn a_child_that_always_panics_in_restarting_does_not_hold_up_its_neighbours() {
    let first = (Moment::Started, 0, Fault::Stop);
    let plans = (1..=1_000).map(|n| (Moment::Restarting, n, Fault::Panic));
    let plans: Vec<_> = once(first).chain(plans).collect();
    let turns = turns_beside(&plans);
    assert!(turns >= 1_000, "the neighbour had {turns} turns only");
}

/// How many turns a neighbour has until a child is given up on that fails 1001 times, without backoff.
fn turns_beside(plans: &[Plan]) -> u32 {
    let policy = stubborn(1_000, 0).on_stop(OnStop::Restart).build().unwrap();
    virtual_system().block_on(async {
        let trace = Trace::new();
        let turns = Rc::new(Cell::new(0));
        let neighbour = Rc::clone(&turns);
        // Not `yield_now`, which waits until the arbiter has nothing better to do.
        actix_rt::spawn(poll_fn(move |task| {
            neighbour.set(neighbour.get() + 1);
            task.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        let child = guarded(policy, &trace).start(|_| Probe::new(trace.clone(), plans));
        assert_eq!(child.send(Count).await, Err(MailboxError::Closed));
        assert_eq!(lines_with(&trace.take(), "hook").len(), 1_001);
        turns.get()
    })
}

fn child_of(event: &Supervision<u32>) -> u32 {
    match event {
        Supervision::Down { child, .. }
        | Supervision::Up { child, .. }
        | Supervision::GaveUp { child, .. }
        | Supervision::Finished { child } => *child,
        _ => u32::MAX,
    }
}
