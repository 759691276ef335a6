//! Places where a guardian can live, panics around it, and its log lines.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use actix::prelude::*;
use actix_bully::supervisor::RestartPolicy;
use actix_rt::SystemRunner;
use tokio::runtime::Builder;
use tracing::Level;

use crate::common::virtual_system;
use crate::logs::logged;
use crate::supervision::probe::{Fault, Mail, Moment, Probe, panic_quietly, poison};
use crate::supervision::stage::{Noted, Trace, ms, three_restarts};

/// Runs a test in this System. Returns its notes until the end of the System, without the times.
fn noted_in(system: SystemRunner, test: impl AsyncFnOnce(Trace)) -> Vec<String> {
    let (trace, noted) = system.block_on(async { Noted::new() });
    system.block_on(test(trace));
    drop(system);
    let lines = noted.take().into_iter();
    let words = |line: String| {
        line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ')
            .to_owned()
    };
    lines.map(words).collect()
}

fn at_once() -> RestartPolicy {
    let policy = RestartPolicy::builder().backoff_base(Duration::ZERO);
    policy.build().unwrap()
}

const PANICKED: &str = "hook Panicked(\"injected\")";

#[test]
fn a_factory_that_panics_here_is_the_callers_affair() {
    let noted = noted_in(virtual_system(), async |trace| {
        let builder = trace.guarded(at_once(), || ());
        let start = || builder.start(|_| -> Probe { panic_quietly() });
        assert!(catch_unwind(AssertUnwindSafe(start)).is_err());
        trace.note("nothing was started");
    });
    assert_eq!(noted, ["nothing was started"], "so nothing ended");
}

#[test]
fn a_runtime_without_timers_cannot_restart_but_still_tells_each_party_once() {
    let timeless = || Builder::new_current_thread().build().unwrap();
    let noted = noted_in(System::with_tokio_rt(timeless), async |trace| {
        let child = trace.guarded(at_once(), || ());
        let addr = child.start(|_| Probe::new(trace.clone(), &[]));
        assert_eq!(addr.send(poison()).await, Err(MailboxError::Closed));
        assert!(!addr.connected());
        trace.note("the end");
    });
    let expected = ["i0 started", PANICKED, "i0 dropped", "GaveUp Abandoned"];
    assert_eq!(noted[..4], expected);
    assert_eq!(noted[4..], ["the end"]);
}

#[test]
fn a_child_on_its_own_arbiter_is_restarted_there() {
    let noted = noted_in(virtual_system(), async |trace| {
        let arbiter = Arbiter::new();
        let child = trace.guarded(at_once(), || ());
        let probe = trace.clone();
        let addr = child.start_in_arbiter(&arbiter.handle(), |_| Probe::new(probe, &[]));
        assert_eq!(addr.send(poison()).await, Err(MailboxError::Closed));
        assert_eq!(addr.send(Mail(0)).await, Ok(1), "by the same address");
        arbiter.stop();
        assert!(arbiter.join().is_ok());
        assert!(!addr.connected());
    });
    let expected = [
        "i0 started",
        PANICKED,
        "Down Panicked(\"injected\") 0",
        "i1 restarting",
        "Up 1",
        "i1 started",
        "i1 mail 0",
        "i1 stopping",
        "i1 stopped",
        "hook Abandoned",
        "i1 dropped",
        "GaveUp Abandoned",
    ];
    assert_eq!(noted, expected);
}

#[test]
fn a_factory_that_panics_elsewhere_is_told_to_hook_and_parent() {
    let noted = noted_in(virtual_system(), async |trace| {
        let arbiter = Arbiter::new();
        let child = trace.guarded(at_once(), || ());
        let addr = child.start_in_arbiter(&arbiter.handle(), |_| -> Probe { panic_quietly() });
        assert_eq!(addr.send(Mail(0)).await, Err(MailboxError::Closed));
        assert!(arbiter.handle().alive());
        arbiter.stop();
        assert!(arbiter.join().is_ok());
    });
    assert_eq!(noted, [PANICKED, "GaveUp Panicked(\"injected\")"]);
}

#[test]
fn a_child_of_an_arbiter_that_has_stopped_is_given_up_on_at_once() {
    let noted = noted_in(virtual_system(), async |trace| {
        let arbiter = Arbiter::new();
        let handle = arbiter.handle();
        arbiter.stop();
        assert!(arbiter.join().is_ok());
        let child = trace.guarded(at_once(), || ());
        let probe = trace.clone();
        let addr = child.start_in_arbiter(&handle, |_| Probe::new(probe, &[]));
        assert!(!addr.connected());
        trace.note("the end");
    });
    let expected = ["GaveUp Abandoned", "the end"];
    assert_eq!(noted, expected, "there was no incarnation");
}

/// The panic stands for a failed test: everything is dropped while the stack unwinds, and `stopped` panics too.
#[test]
fn a_system_that_is_dropped_by_a_panic_still_calls_the_hook_past_a_broken_child() {
    let (trace, noted) = virtual_system().block_on(async { Noted::new() });
    let ended = catch_unwind(AssertUnwindSafe(|| {
        virtual_system().block_on(async {
            let plans = [(Moment::Stopped, 0, Fault::Panic)];
            let child = trace.guarded(three_restarts().build().unwrap(), || ());
            let child = child.start(|_| Probe::new(trace.clone(), &plans));
            assert_eq!(child.send(Mail(0)).await, Ok(0));
            panic_quietly();
        });
    }));
    assert!(ended.is_err());
    let expected = ["hook Abandoned", "i0 dropped", "GaveUp Abandoned"];
    assert!(noted.take().ends_with(&expected.map(str::to_owned)));
}

#[test]
fn a_warning_is_logged_when_the_last_restart_is_granted_and_never_an_error() {
    let reason = r#"node="api-1" reason=Panicked("injected")"#;
    let hook = r#"WARN exit hook panicked node="api-1" reason="injected""#;
    logged(Level::DEBUG, async |lines| {
        let (trace, _noted) = Noted::new();
        let policy = RestartPolicy::builder().max_restarts(2).build().unwrap();
        let child = trace.child("api-1", policy).on_exit(|_| panic_quietly());
        let fails = [0, 1, 2].map(|incarnation| (Moment::Started, incarnation, Fault::Panic));
        let _addr = child.start(|_| Probe::new(trace.clone(), &fails));
        ms(1).await;
        let down = format!("INFO child is down {reason} after_ms=100");
        assert_eq!(lines.about(""), [&down, hook]);
        ms(100).await;
        let said = [
            &format!("INFO child is down {reason} after_ms=200"),
            r#"INFO child is up node="api-1" restarts=1"#,
            hook,
            r#"WARN restart budget nearly spent node="api-1""#,
        ];
        assert_eq!(lines.about(""), said);
        ms(1_000).await;
        let said = [
            r#"INFO child is up node="api-1" restarts=2"#,
            hook,
            &format!("WARN restart budget spent {reason}"),
        ];
        assert_eq!(lines.about(""), said);
    });
}
