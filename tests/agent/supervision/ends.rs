//! How a guardian ends, and where it can live.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use actix::prelude::*;
use actix_bully::supervisor::{Exit, Guardian, RestartPolicy, Supervision};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use tokio::runtime::Builder;

use crate::common::virtual_system;
use crate::supervision::probe::{Count, FailIn, Fault, Probe, Trace, panic_quietly, poison};
use crate::supervision::stage::{Listener, Parent, guarded, ms, run, transient};

#[test]
fn a_child_finishes_when_its_addresses_are_dropped_during_the_backoff() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(poison());
        ms(10).await;
        stage.addr = None;
        ms(500).await;
    });
    assert_eq!(
        outcome.trace,
        [
            "0 i0 started",
            "0 hook Panicked(\"injected\")",
            "0 parent Down Panicked(\"injected\") 100",
            "100 parent Finished",
        ]
    );
}

#[test]
fn a_weak_address_can_save_a_child_during_the_backoff() {
    let outcome = run(transient(), &[], async |stage| {
        stage.addr().do_send(poison());
        let weak = stage.addr().downgrade();
        ms(10).await;
        stage.addr = None;
        ms(10).await;
        stage.addr = weak.upgrade();
        assert_eq!(stage.addr().send(Count).await, Ok((1, 1)));
    });
    assert_eq!(outcome.heard().last(), Some(&"100 parent Up 1"));
}

#[test]
fn a_child_that_finishes_drops_its_actor_before_the_parent_hears_of_it() {
    struct Short(Trace);
    impl Actor for Short {
        type Context = Context<Self>;
        fn started(&mut self, ctx: &mut Self::Context) {
            ctx.stop();
        }
    }
    impl Supervised for Short {}
    impl Drop for Short {
        fn drop(&mut self) {
            self.0.note("dropped");
        }
    }
    let noted = virtual_system().block_on(async {
        let trace = Trace::new();
        let addr = guarded(transient(), &trace).start(|_| Short(trace.clone()));
        ms(1).await;
        assert!(!addr.connected());
        trace.take()
    });
    assert_eq!(noted, ["0 hook Stopped", "0 dropped", "0 parent Finished"]);
}

#[test]
fn an_actor_that_refuses_to_stop_is_not_run_any_more_once_it_is_abandoned() {
    struct Stubborn(Trace);
    impl Actor for Stubborn {
        type Context = Context<Self>;
        fn stopping(&mut self, _: &mut Self::Context) -> Running {
            self.0.note("refuses");
            Running::Continue
        }
        fn stopped(&mut self, _: &mut Self::Context) {
            self.0.note("stopped after all");
        }
    }
    impl Supervised for Stubborn {}
    let system = virtual_system();
    let (trace, addr) = system.block_on(async {
        let trace = Trace::new();
        let addr = guarded(transient(), &trace).start(|_| Stubborn(trace.clone()));
        ms(1).await;
        (trace, addr)
    });
    drop((system, addr));
    let noted = trace.take();
    let words: Vec<_> = noted
        .iter()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let words: Vec<_> = words.iter().map(|(_time, what)| *what).collect();
    assert_eq!(words, ["refuses", "hook Abandoned"]);
}

#[test]
fn a_factory_that_panics_here_is_the_callers_affair() {
    let noted = virtual_system().block_on(async {
        let trace = Trace::new();
        let builder = guarded(transient(), &trace);
        let start = || builder.start(|_| -> Probe { panic_quietly() });
        assert!(catch_unwind(AssertUnwindSafe(start)).is_err());
        ms(1).await;
        trace.take()
    });
    assert_eq!(
        noted,
        Vec::<String>::new(),
        "nothing was started, so nothing ended"
    );
}

#[test]
fn a_runtime_without_timers_cannot_restart_but_still_tells_each_party_once() {
    let timeless = || Builder::new_current_thread().build().unwrap();
    System::with_tokio_rt(timeless).block_on(async {
        let Elsewhere {
            builder,
            mut heard,
            mut hooks,
        } = Elsewhere::new();
        let addr = builder.start(|_| Probe::new(Trace::new(), &[]));
        assert_eq!(addr.send(poison()).await, Err(MailboxError::Closed));
        let gave_up = Supervision::GaveUp {
            child: 9,
            exit: Exit::Abandoned,
        };
        assert_eq!(heard.next().await, Some(gave_up));
        assert_eq!(
            (hooks.next().await, hooks.next().await),
            (Some(panicked()), None)
        );
        assert!(!addr.connected());
    });
}

/// A builder for a child of another arbiter, what its parent hears, and the calls of its hook.
struct Elsewhere {
    builder: actix_bully::supervisor::GuardianBuilder<Probe, u32>,
    heard: UnboundedReceiver<Supervision<u32>>,
    hooks: UnboundedReceiver<Exit>,
}

impl Elsewhere {
    fn new() -> Self {
        let (sender, heard) = unbounded();
        let (hook, hooks) = unbounded();
        let policy = RestartPolicy::builder()
            .backoff_base(Duration::ZERO)
            .build()
            .unwrap();
        let builder = Guardian::builder(9)
            .policy(policy)
            .parent(Listener(sender).start().recipient())
            .on_exit(move |exit: &Exit| drop(hook.unbounded_send(exit.clone())));
        Self {
            builder,
            heard,
            hooks,
        }
    }
}

fn panicked() -> Exit {
    Exit::Panicked("injected".to_owned())
}

#[test]
fn a_child_on_its_own_arbiter_is_restarted_there() {
    virtual_system().block_on(async {
        let arbiter = Arbiter::new();
        let Elsewhere {
            builder,
            heard,
            hooks,
        } = Elsewhere::new();
        let trace = Trace::new();
        let addr = builder.start_in_arbiter(&arbiter.handle(), |_| Probe::new(trace, &[]));
        assert_eq!(addr.send(poison()).await, Err(MailboxError::Closed));
        assert_eq!(
            addr.send(Count).await,
            Ok((1, 1)),
            "the arbiter and the address are alive"
        );
        arbiter.stop();
        assert!(arbiter.join().is_ok());
        assert!(!addr.connected());
        let heard: Vec<_> = heard.take(3).collect().await;
        assert_eq!(
            heard,
            [
                Supervision::Down {
                    child: 9,
                    exit: panicked(),
                    restart_in: Duration::ZERO
                },
                Supervision::Up {
                    child: 9,
                    restarts: 1
                },
                Supervision::GaveUp {
                    child: 9,
                    exit: Exit::Abandoned
                },
            ]
        );
        assert_eq!(
            hooks.collect::<Vec<_>>().await,
            [panicked(), Exit::Abandoned]
        );
    });
}

#[test]
fn a_factory_that_panics_elsewhere_is_told_to_hook_and_parent() {
    virtual_system().block_on(async {
        let arbiter = Arbiter::new();
        let Elsewhere {
            builder,
            mut heard,
            hooks,
        } = Elsewhere::new();
        let addr = builder.start_in_arbiter(&arbiter.handle(), |_| -> Probe { panic_quietly() });
        let gave_up = Supervision::GaveUp {
            child: 9,
            exit: panicked(),
        };
        assert_eq!(heard.next().await, Some(gave_up));
        assert_eq!(hooks.collect::<Vec<_>>().await, [panicked()]);
        assert!(!addr.connected());
        assert!(arbiter.handle().alive());
        arbiter.stop();
        assert!(arbiter.join().is_ok());
    });
}

#[test]
fn a_child_of_an_arbiter_that_has_stopped_is_given_up_on_at_once() {
    virtual_system().block_on(async {
        let arbiter = Arbiter::new();
        let handle = arbiter.handle();
        arbiter.stop();
        assert!(arbiter.join().is_ok());
        let Elsewhere {
            builder,
            mut heard,
            hooks,
        } = Elsewhere::new();
        let trace = Trace::new();
        let addr = builder.start_in_arbiter(&handle, |_| Probe::new(trace, &[]));
        assert!(!addr.connected());
        let gave_up = Supervision::GaveUp {
            child: 9,
            exit: Exit::Abandoned,
        };
        assert_eq!(heard.next().await, Some(gave_up));
        assert_eq!(
            hooks.collect::<Vec<_>>().await,
            [],
            "there was no incarnation"
        );
    });
}

/// Tells the parent when it is dropped.
struct Farewell(Recipient<Supervision<u32>>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let (child, restarts) = (9, 99);
        self.0.do_send(Supervision::Up { child, restarts });
    }
}

/// Such as the child's name: a parent on another thread may start the next child of that name at once.
#[test]
fn what_a_hook_holds_is_dropped_before_the_parent_hears_of_the_end() {
    virtual_system().block_on(async {
        for (fault, end) in [(Fault::Stop, "Finished"), (Fault::Panic, "GaveUp")] {
            let trace = Trace::new();
            let parent = Parent(trace.clone()).start().recipient();
            let held = Farewell(parent.clone());
            let policy = RestartPolicy::builder().max_restarts(0).build().unwrap();
            let builder = Guardian::builder(9).policy(policy).parent(parent);
            let builder = builder.on_exit(move |_| _ = &held);
            let addr = builder.start(|_| Probe::new(Trace::new(), &[]));
            addr.do_send(FailIn::Handler(fault));
            ms(1).await;
            let heard = trace.take();
            assert_eq!(heard.first().map(String::as_str), Some("0 parent Up 99"));
            assert!(
                heard.last().is_some_and(|last| last.contains(end)),
                "{heard:?}"
            );
        }
    });
}
