//! Runs a guarded probe on virtual time and hands back the trace.

use std::time::Duration;

use actix::clock::sleep;
use actix::prelude::*;
use actix_bully::supervisor::{Exit, Guardian, GuardianBuilder, RestartPolicy, Supervision};
use futures::channel::mpsc::UnboundedSender;

use crate::common::virtual_system;
use crate::supervision::probe::{Plan, Probe, Trace};

/// What a test body has in its hands.
pub(crate) struct Stage {
    /// The probe; `None` drops the only address.
    pub(crate) addr: Option<Addr<Probe>>,
    pub(crate) trace: Trace,
}

impl Stage {
    pub(crate) fn addr(&self) -> &Addr<Probe> {
        self.addr.as_ref().unwrap()
    }
}

/// What happened until the body ended and 1 ms more, and what happened when the System was dropped.
pub(crate) struct Outcome {
    pub(crate) trace: Vec<String>,
    pub(crate) shutdown: Vec<String>,
}

impl Outcome {
    /// Only what the parent heard.
    pub(crate) fn heard(&self) -> Vec<&str> {
        lines_with(&self.trace, "parent ")
    }

    /// Only the calls of the hook.
    pub(crate) fn hooks(&self) -> Vec<&str> {
        lines_with(&self.trace, "hook ")
    }
}

pub(crate) fn lines_with<'a>(trace: &'a [String], what: &str) -> Vec<&'a str> {
    trace
        .iter()
        .filter(|line| line.contains(what))
        .map(String::as_str)
        .collect()
}

/// Runs `body` beside a guarded probe that has a parent and a hook.
pub(crate) fn run(
    policy: RestartPolicy,
    plans: &[Plan],
    body: impl AsyncFnOnce(&mut Stage),
) -> Outcome {
    let system = virtual_system();
    let stage = system.block_on(async {
        let trace = Trace::new();
        let probe = Probe::new(trace.clone(), plans);
        let addr = Some(guarded(policy, &trace).start(|_| probe));
        let mut stage = Stage { addr, trace };
        body(&mut stage).await;
        ms(1).await;
        stage
    });
    let trace = stage.trace.take();
    drop(system);
    // Without a System there is no virtual time to trust.
    let shutdown = stage.trace.take();
    let without_time = |line: &String| line.split_once(' ').map(|(_, what)| what.to_owned());
    Outcome {
        trace,
        shutdown: shutdown.iter().filter_map(without_time).collect(),
    }
}

/// A builder for a child named 1, with a parent and a hook that note what they hear.
pub(crate) fn guarded<A>(policy: RestartPolicy, trace: &Trace) -> GuardianBuilder<A, u32>
where
    A: Actor<Context = Context<A>> + Supervised,
{
    let hook_trace = trace.clone();
    Guardian::builder(1)
        .policy(policy)
        .parent(Parent(trace.clone()).start().recipient())
        .on_exit(move |exit: &Exit| hook_trace.note(format_args!("hook {exit:?}")))
}

/// Notes what it hears.
pub(crate) struct Parent(pub(crate) Trace);

impl Actor for Parent {
    type Context = Context<Self>;
}

impl Handler<Supervision<u32>> for Parent {
    type Result = ();

    fn handle(&mut self, event: Supervision<u32>, _: &mut Context<Self>) {
        self.0.note(format_args!("parent {}", short(&event)));
    }
}

/// Hands on what it hears, so that a test can wait for it, also from another thread.
pub(crate) struct Listener(pub(crate) UnboundedSender<Supervision<u32>>);

impl Actor for Listener {
    type Context = Context<Self>;
}

impl Handler<Supervision<u32>> for Listener {
    type Result = ();

    fn handle(&mut self, event: Supervision<u32>, ctx: &mut Context<Self>) {
        if self.0.unbounded_send(event).is_err() {
            ctx.stop();
        }
    }
}

fn short(event: &Supervision<u32>) -> String {
    match event {
        Supervision::Down {
            exit, restart_in, ..
        } => {
            format!("Down {exit:?} {}", restart_in.as_millis())
        }
        Supervision::Up { restarts, .. } => format!("Up {restarts}"),
        Supervision::GaveUp { exit, .. } => format!("GaveUp {exit:?}"),
        Supervision::Finished { .. } => "Finished".to_owned(),
        _ => "an unknown event".to_owned(),
    }
}

/// 3 restarts in 10 s, after 100 ms doubling up to 1 s.
pub(crate) fn transient() -> RestartPolicy {
    RestartPolicy::builder()
        .max_restarts(3)
        .window(Duration::from_secs(10))
        .backoff_base(Duration::from_millis(100))
        .backoff_max(Duration::from_secs(1))
        .build()
        .unwrap()
}

/// Lets virtual time pass.
pub(crate) async fn ms(n: u64) {
    sleep(Duration::from_millis(n)).await;
}
