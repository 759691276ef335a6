//! How soon a child is restarted, exactly, and when it is given up on.

use std::time::Duration;

use actix::prelude::*;
use actix_bully::supervisor::RestartPolicy;
use futures::future::join_all;

use crate::supervision::probe::{Count, Fault, Mail, Moment, Plan, poison};
use crate::supervision::stage::{lines_with, ms, run, transient};

#[test]
fn the_backoff_doubles_and_then_the_child_is_given_up_on() {
    let outcome = run(transient(), &[], async |stage| {
        for _ in 0..4 {
            stage.addr().do_send(poison());
        }
        ms(2_000).await;
    });
    assert_eq!(
        outcome.heard(),
        [
            "0 parent Down Panicked(\"injected\") 100",
            "100 parent Up 1",
            "100 parent Down Panicked(\"injected\") 200",
            "300 parent Up 2",
            "300 parent Down Panicked(\"injected\") 400",
            "700 parent Up 3",
            "700 parent GaveUp Panicked(\"injected\")",
        ]
    );
    let hook = "hook Panicked(\"injected\")";
    let hooks = [0, 100, 300, 700].map(|at| format!("{at} {hook}"));
    assert_eq!(
        outcome.hooks(),
        hooks,
        "once per incarnation, the last one included"
    );
}

#[test]
fn the_backoff_stays_at_its_maximum() {
    let policy = RestartPolicy::builder()
        .backoff_max(Duration::from_millis(250))
        .build();
    let outcome = run(policy.unwrap(), &[], async |stage| {
        for _ in 0..6 {
            stage.addr().do_send(poison());
        }
        ms(2_000).await;
    });
    let ups = lines_with(&outcome.trace, "Up");
    let expected = [
        "100 parent Up 1",
        "300 parent Up 2",
        "550 parent Up 3",
        "800 parent Up 4",
        "1050 parent Up 5",
        "1050 parent GaveUp Panicked(\"injected\")",
    ];
    assert_eq!(ups, expected);
}

#[test]
fn the_window_forgives_a_child_that_fails_rarely() {
    let outcome = run(transient(), &[], async |stage| {
        for crash in 0..20 {
            stage.addr().do_send(poison());
            ms(6_000).await;
            assert_eq!(stage.addr().send(Count).await, Ok((crash + 1, 1)));
        }
    });
    let heard = outcome.heard();
    assert_eq!(heard.len(), 40);
    // The failure before lies within the window, the one before that does not.
    assert_eq!(heard[38], "114000 parent Down Panicked(\"injected\") 200");
}

#[test]
fn the_backoff_begins_anew_when_the_window_has_passed() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(poison());
        ms(10_000).await; // still within
        stage.addr().do_send(poison());
        ms(10_001).await; // just outside
        stage.addr().do_send(poison());
        ms(1_000).await;
    });
    let downs = lines_with(&outcome.trace, "Down");
    let expected = [
        "0 parent Down Panicked(\"injected\") 100",
        "10000 parent Down Panicked(\"injected\") 200",
        "20001 parent Down Panicked(\"injected\") 100",
    ];
    assert_eq!(downs, expected);
}

#[test]
fn giving_up_closes_the_mailbox_and_whatever_was_in_it() {
    let outcome = run(RestartPolicy::temporary(), &[], async |stage| {
        let addr = stage.addr();
        addr.do_send(poison());
        let queued = join_all((0..100).map(|_| addr.send(Count))).await;
        assert!(
            queued
                .iter()
                .all(|answer| *answer == Err(MailboxError::Closed))
        );
        assert_eq!(queued.len(), 100);
        assert!(!addr.connected());
        addr.do_send(Mail(1)); // lost, silently
        assert!(addr.try_send(Mail(2)).is_err());
    });
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 hook Panicked(\"injected\")",
            "0 parent GaveUp Panicked(\"injected\")"
        ]
    );
}

#[test]
fn a_child_that_always_fails_at_its_start_is_given_up_on() {
    let at = |moment, incarnations: &[u32]| -> Vec<Plan> {
        let plan = |incarnation: &u32| (moment, *incarnation, Fault::Panic);
        incarnations.iter().map(plan).collect()
    };
    for plans in [
        at(Moment::Started, &[0, 1, 2, 3]),
        at(Moment::Restarting, &[1, 2, 3]),
    ] {
        let outcome = run(transient(), &plans, async |stage| {
            stage.addr().do_send(poison());
            let answer = stage.addr().send(Count).await;
            assert_eq!(answer, Err(MailboxError::Closed), "{plans:?}");
        });
        let heard = outcome.heard();
        let last = "700 parent GaveUp Panicked(\"injected\")";
        assert_eq!(heard.last(), Some(&last), "{plans:?}");
        assert_eq!(outcome.hooks().len(), 4, "{plans:?}");
        let was_up = heard.iter().any(|line| line.contains("parent Up"));
        assert_eq!(was_up, plans[0].0 == Moment::Started, "{heard:?}");
    }
}
