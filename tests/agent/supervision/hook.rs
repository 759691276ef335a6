//! The hook: once for each incarnation that ends, before its parent hears of it, whatever it does itself.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as Task, Wake, Waker};

use actix::prelude::*;
use actix_bully::supervisor::{Exit, Guardian, RestartPolicy};

use crate::common::virtual_system;
use crate::supervision::probe::{Count, FailIn, Fault, Moment, Probe, Trace, panic_quietly};
use crate::supervision::stage::{Parent, guarded, lines_with, ms, run, transient};

/// Notes the instant at which a waiter is told, before it can do anything about it.
struct Told(Trace, &'static str);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.0.note(self.1);
    }
}

fn told(trace: &Trace, name: &'static str) -> Waker {
    Waker::from(Arc::new(Told(trace.clone(), name)))
}

/// Lets a child end by `fault`, with a parent and a queued caller whose wakes are noted.
fn wakes_after(policy: RestartPolicy, fault: Fault) -> Vec<String> {
    virtual_system().block_on(async {
        let trace = Trace::new();
        // Not spawned but polled by hand, so that its waker is ours.
        let parent = Context::new().into_future(Parent(trace.clone()));
        let parent_addr = parent.address();
        let mut parent = pin!(parent);
        let parent_waker = told(&trace, "parent is told");
        assert!(
            parent
                .as_mut()
                .poll(&mut Task::from_waker(&parent_waker))
                .is_pending()
        );

        let hook_trace = trace.clone();
        let child = Guardian::builder(1)
            .policy(policy)
            .parent(parent_addr.recipient())
            .on_exit(move |_: &Exit| hook_trace.note("hook"))
            .start(|_| Probe::new(trace.clone(), &[]));
        child.do_send(FailIn::Handler(fault));
        let mut queued = pin!(child.send(Count));
        let queued_waker = told(&trace, "queued caller is told");
        assert!(
            queued
                .as_mut()
                .poll(&mut Task::from_waker(&queued_waker))
                .is_pending()
        );
        ms(200).await;
        trace.take()
    })
}

#[test]
fn the_hook_is_called_before_the_parent_is_told_of_a_restart() {
    assert_eq!(
        wakes_after(transient(), Fault::Panic),
        [
            "0 i0 started",
            "0 hook",
            "0 parent is told",
            "100 i1 restarting",
            // The parent has not been polled since: a second wake is not due.
            "100 i1 started",
            "100 i1 count 1",
            "100 queued caller is told",
        ]
    );
}

#[test]
fn the_hook_is_called_before_anybody_is_told_of_the_end() {
    let expected = |stop: &[&str]| -> Vec<String> {
        let end = ["0 hook", "0 queued caller is told", "0 parent is told"];
        ["0 i0 started"]
            .iter()
            .chain(stop)
            .chain(&end)
            .map(|line| (*line).to_owned())
            .collect()
    };
    let stopped = expected(&["0 i0 stopping", "0 i0 stopped"]);
    assert_eq!(wakes_after(transient(), Fault::Stop), stopped);
    assert_eq!(
        wakes_after(RestartPolicy::temporary(), Fault::Panic),
        expected(&[])
    );
}

#[test]
fn the_hook_is_called_once_when_the_last_address_of_a_child_is_dropped_whatever_its_policy() {
    for policy in [transient(), RestartPolicy::permanent()] {
        let outcome = run(policy, &[], async |stage| stage.addr = None);
        let end = ["stopping", "stopped"].map(|what| format!("0 i0 {what}"));
        assert_eq!(outcome.trace[1..3], end);
        assert_eq!(outcome.trace[3..], ["0 hook Stopped", "0 parent Finished"]);
        assert_eq!(outcome.shutdown, Vec::<String>::new());
    }
}

#[test]
fn the_hook_is_called_when_the_system_is_dropped() {
    let outcome = run(transient(), &[], async |stage| {
        assert_eq!(stage.addr().send(Count).await, Ok((0, 1)));
    });
    assert_eq!(outcome.hooks(), Vec::<&str>::new());
    assert_eq!(
        outcome.shutdown,
        ["i0 stopping", "i0 stopped", "hook Abandoned"]
    );
}

#[test]
fn the_hook_is_not_called_again_when_the_system_is_dropped_during_the_backoff() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(FailIn::Handler(Fault::Panic));
        ms(50).await;
    });
    assert_eq!(outcome.hooks().len(), 1);
    assert_eq!(
        outcome.shutdown,
        Vec::<String>::new(),
        "and no code of the crashed one is run"
    );
}

#[test]
fn the_hook_is_called_for_a_child_that_never_came_to_start() {
    let trace = virtual_system().block_on(async {
        let trace = Trace::new();
        let child = guarded(transient(), &trace).start(|_| Probe::new(trace.clone(), &[]));
        drop((child, trace.clone()));
        trace
    });
    let noted = trace.take();
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert!(noted[0].ends_with("hook Abandoned"), "{noted:?}");
}

/// Runs a child whose hook panics each time, after it has noted the call.
fn with_a_broken_hook(
    policy: RestartPolicy,
    plans: &[crate::supervision::probe::Plan],
    body: impl AsyncFnOnce(Addr<Probe>),
) -> Vec<String> {
    let system = virtual_system();
    let (trace, addr) = system.block_on(async {
        let trace = Trace::new();
        let hook_trace = trace.clone();
        let hook = move |exit: &Exit| {
            hook_trace.note(format_args!("hook {exit:?}"));
            panic_quietly();
        };
        let child = guarded(policy, &trace).on_exit(hook);
        let addr = child.start(|_| Probe::new(trace.clone(), plans));
        body(addr.clone()).await;
        ms(1).await;
        (trace, addr)
    });
    drop((system, addr));
    trace.take()
}

#[test]
fn a_panic_in_the_hook_changes_nothing_about_a_restart() {
    let plans = [(Moment::Restarting, 1, Fault::Panic)];
    let noted = with_a_broken_hook(transient(), &plans, async |addr| {
        addr.do_send(FailIn::Handler(Fault::Panic));
        assert_eq!(addr.send(Count).await, Ok((2, 1)));
    });
    assert_eq!(
        noted[..10],
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
    let shutdown: Vec<_> = noted[10..]
        .iter()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let words: Vec<_> = shutdown.iter().map(|(_time, what)| *what).collect();
    assert_eq!(words, ["i2 stopping", "i2 stopped", "hook Abandoned"]);
}

#[test]
fn a_panic_in_the_hook_changes_nothing_about_the_end() {
    for (policy, fault, last_word) in [
        (transient(), Fault::Stop, "0 parent Finished"),
        (
            RestartPolicy::temporary(),
            Fault::Panic,
            "0 parent GaveUp Panicked(\"injected\")",
        ),
    ] {
        let noted = with_a_broken_hook(policy, &[], async |addr| {
            addr.do_send(FailIn::Handler(fault));
            assert_eq!(addr.send(Count).await, Err(MailboxError::Closed));
        });
        assert_eq!(lines_with(&noted, "hook").len(), 1, "{noted:?}");
        assert_eq!(noted.last().map(String::as_str), Some(last_word));
    }
}

#[test]
fn a_hook_that_panics_when_it_is_dropped_does_not_keep_the_parent_from_hearing() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_quietly();
        }
    }
    let noted = virtual_system().block_on(async {
        let arbiter = Arbiter::new();
        let handle = arbiter.handle();
        arbiter.stop();
        assert!(arbiter.join().is_ok());
        let trace = Trace::new();
        let bomb = Bomb;
        let child = guarded(transient(), &trace).on_exit(move |_: &Exit| {
            let _bomb = &bomb;
        });
        let probe_trace = trace.clone();
        // There is nothing to run it on, so that all is dropped here.
        let addr = child.start_in_arbiter(&handle, |_| Probe::new(probe_trace, &[]));
        assert!(!addr.connected());
        ms(1).await;
        trace.take()
    });
    assert_eq!(noted, ["0 parent GaveUp Abandoned"]);
}

#[test]
fn a_system_that_is_dropped_by_a_panic_still_calls_the_hook_past_a_broken_child() {
    // The panic of a test body, say: everything is dropped while unwinding, and `stopped` panics too.
    let trace = virtual_system().block_on(async { Trace::new() });
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        virtual_system().block_on(async {
            let plans = [(Moment::Stopped, 0, Fault::Panic)];
            let child = guarded(transient(), &trace).start(|_| Probe::new(trace.clone(), &plans));
            assert_eq!(child.send(Count).await, Ok((0, 1)));
            panic_quietly();
        });
    }));
    assert!(outcome.is_err());
    let noted = trace.take();
    assert!(
        noted
            .last()
            .is_some_and(|line| line.ends_with("hook Abandoned")),
        "{noted:?}"
    );
}
