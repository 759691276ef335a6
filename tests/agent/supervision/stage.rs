//! A guarded actor in virtual time, and the trace of all events.

use std::cell::RefCell;
use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as Task, Poll, Waker};
use std::time::Duration;

use actix::clock::{Instant, sleep};
use actix::dev::ContextFut;
use actix::prelude::*;
use actix_bully::supervisor::{
    Exit, Guardian, GuardianBuilder, RestartPolicy, RestartPolicyBuilder, Supervision,
};
use tokio::runtime::Handle;

use crate::supervision::probe::Probe;

/// The parent of every child. All events are in its mailbox in the order of sending, so a hook that is called after
/// the message to the parent would be noticed.
struct Scribe {
    lines: Rc<RefCell<Vec<String>>>,
    start: Instant,
}

impl Scribe {
    fn add(&self, what: impl Display) {
        // Without a System no virtual clock exists, so the line has no time.
        let line = match Handle::try_current() {
            Ok(_) => format!("{} {what}", self.start.elapsed().as_millis()),
            Err(_) => what.to_string(),
        };
        self.lines.borrow_mut().push(line);
    }
}

impl Actor for Scribe {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Note(String);

impl Handler<Note> for Scribe {
    type Result = ();

    fn handle(&mut self, note: Note, _: &mut Context<Self>) {
        self.add(note.0);
    }
}

impl Handler<Supervision<String>> for Scribe {
    type Result = ();

    fn handle(&mut self, event: Supervision<String>, _: &mut Context<Self>) {
        let (child, what) = match event {
            Supervision::Down {
                child,
                exit,
                restart_in,
            } => (child, format!("Down {exit:?} {}", restart_in.as_millis())),
            Supervision::Up { child, restarts } => (child, format!("Up {restarts}")),
            Supervision::GaveUp { child, exit } => (child, format!("GaveUp {exit:?}")),
            Supervision::Finished { child } => (child, "Finished".to_owned()),
            _ => panic!("an unknown event"),
        };
        self.add(format!("{child} {what}").trim_start());
    }
}

/// Notes everything that happens, with its virtual time: `"100 i1 started"`.
#[derive(Clone)]
pub(crate) struct Trace(Addr<Scribe>);

impl Trace {
    pub(crate) fn note(&self, what: impl Display) {
        self.0.do_send(Note(what.to_string()));
    }

    /// Returns the builder of a probe with this name. The trace is the parent of the probe.
    pub(crate) fn child(
        &self,
        name: &str,
        policy: RestartPolicy,
    ) -> GuardianBuilder<Probe, String> {
        let parent = self.0.clone().recipient();
        Guardian::builder(name.to_owned())
            .policy(policy)
            .parent(parent)
    }

    /// Returns a builder as [`child`](Self::child) does, without a name. Its hook notes each call and then runs
    /// `then`.
    pub(crate) fn guarded(
        &self,
        policy: RestartPolicy,
        mut then: impl FnMut() + Send + 'static,
    ) -> GuardianBuilder<Probe, String> {
        let trace = self.clone();
        self.child("", policy).on_exit(move |exit: &Exit| {
            trace.note(format_args!("hook {exit:?}"));
            then();
        })
    }
}

/// The notes of a trace. They outlive the System of the trace.
pub(crate) struct Noted {
    lines: Rc<RefCell<Vec<String>>>,
    scribe: Rc<RefCell<ContextFut<Scribe, Context<Scribe>>>>,
    /// An address that keeps the scribe alive.
    _trace: Trace,
}

impl Noted {
    /// Makes a trace in the present System, and its notes.
    pub(crate) fn new() -> (Trace, Self) {
        let lines = Rc::<RefCell<Vec<String>>>::default();
        let scribe = Context::new().into_future(Scribe {
            lines: Rc::clone(&lines),
            start: Instant::now(),
        });
        let trace = Trace(scribe.address());
        let scribe = Rc::new(RefCell::new(scribe));
        let noted = Self {
            lines,
            scribe: Rc::clone(&scribe),
            _trace: trace.clone(),
        };
        actix_rt::spawn(poll_fn(move |task| poll(&scribe, task)));
        (trace, noted)
    }

    /// Takes the notes so far. This works after the end of the scribe's System, too.
    pub(crate) fn take(&self) -> Vec<String> {
        if Handle::try_current().is_err() {
            let running = poll(&self.scribe, &mut Task::from_waker(Waker::noop()));
            assert!(running.is_pending(), "its address is kept");
        }
        self.lines.take()
    }
}

fn poll(scribe: &RefCell<ContextFut<Scribe, Context<Scribe>>>, task: &mut Task<'_>) -> Poll<()> {
    Pin::new(&mut *scribe.borrow_mut()).poll(task)
}

/// Returns a policy of 3 restarts in 10 s. The first backoff is 100 ms, and the backoff doubles up to 1 s.
pub(crate) fn three_restarts() -> RestartPolicyBuilder {
    RestartPolicy::builder()
        .max_restarts(3)
        .window(Duration::from_secs(10))
        .backoff_base(Duration::from_millis(100))
        .backoff_max(Duration::from_secs(1))
}

/// Returns the outcome under each policy. Policies with the same outcome share it.
pub(crate) fn by_policy(play: impl Fn(RestartPolicy) -> String) -> String {
    let mut seen = Vec::<(Vec<&str>, String)>::new();
    for (name, policy) in [
        ("transient", three_restarts().build().unwrap()),
        (
            "permanent",
            three_restarts().restart_on_stop().build().unwrap(),
        ),
        ("temporary", RestartPolicy::temporary()),
    ] {
        let outcome = play(policy);
        match seen.iter_mut().find(|(_, known)| *known == outcome) {
            Some((names, _)) => names.push(name),
            None => seen.push((vec![name], outcome)),
        }
    }
    let lines = seen
        .into_iter()
        .map(|(names, outcome)| format!("  {}{outcome}", names.join(", ")));
    lines.collect()
}

/// Lets virtual time pass.
pub(crate) async fn ms(n: u64) {
    sleep(Duration::from_millis(n)).await;
}
