//! A child that fails: a row for each cause and moment, under each policy, with all visible events.
//!
//! The golden text is `children.txt`, which `BLESS=1` writes. A line has the time, and then the events in their
//! order: the call of the hook, the messages to the parent (`Down`, `Up`, `GaveUp`, `Finished`), the answer to the
//! caller of a message, and the next steps of the incarnation `i0`.

use std::fmt::Write;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Wake, Waker};

use actix::prelude::*;
use actix_bully::supervisor::RestartPolicy;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, MaybeDone, maybe_done};

use Fault::{Panic, Refuse, Stop, Terminate};
use Step::{Address, Again, Fail, Letter, Pass, Quit, Reply};

use crate::common::virtual_system;
use crate::golden::golden;
use crate::supervision::probe::{
    FailIn, Fault, Mail, Moment, Plan, Probe, Respond, panic_quietly, poison,
};
use crate::supervision::stage::{Noted, Trace, by_policy, ms};

#[derive(Clone, Copy)]
enum Step {
    Fail(FailIn),
    Reply(Respond),
    Letter,
    Pass(u64),
    /// Drops the only address.
    Address,
    /// Makes an address from a weak address.
    Again,
    /// Drops the System at once.
    Quit,
}

/// A fault of a child, and its moment.
struct Row {
    name: String,
    plans: Vec<Plan>,
    steps: Vec<Step>,
}

fn row(name: &str, plans: &[Plan], steps: &[Step]) -> Row {
    let (plans, steps) = (plans.to_vec(), steps.to_vec());
    let name = name.to_owned();
    Row { name, plans, steps }
}

/// Returns the rows of one fault in each place.
fn everywhere(fault: Fault) -> Vec<Row> {
    let what = if fault == Panic { "a panic" } else { "a stop" };
    let at = |place: &str, plans: &[Plan], steps: &[Step]| {
        let steps = [steps, &[Letter]].concat();
        row(&format!("{what} in {place}"), plans, &steps)
    };
    let stop = Fail(FailIn::Handler(Stop));
    let pending = Fail(FailIn::Drop(fault));
    vec![
        at("a handler", &[], &[Fail(FailIn::Handler(fault))]),
        at("a timer", &[], &[Fail(FailIn::Timer(fault))]),
        at("a spawned future", &[], &[Fail(FailIn::Spawned(fault))]),
        at("a waited future", &[], &[Fail(FailIn::Wait(fault))]),
        at("a response", &[], &[Reply(Respond(Some(fault)))]),
        at(
            "a handler, while a response is pending",
            &[],
            &[Reply(Respond(None)), Fail(FailIn::Handler(fault))],
        ),
        at("started", &[(Moment::Started, 0, fault)], &[]),
        at("stopping", &[(Moment::Stopping, 0, fault)], &[stop]),
        at("stopped", &[(Moment::Stopped, 0, fault)], &[stop]),
        at(
            "restarting",
            &[(Moment::Restarting, 1, fault)],
            &[Fail(poison())],
        ),
        at(
            "started after a restart",
            &[(Moment::Started, 1, fault)],
            &[Fail(poison())],
        ),
        at(
            "the drop of a future after a panic",
            &[],
            &[pending, Fail(poison())],
        ),
        at("the drop of a future after a stop", &[], &[pending, stop]),
    ]
}

fn rows() -> Vec<Row> {
    let crash = Fail(poison());
    let stop = Fail(FailIn::Handler(Stop));
    let panics = |moment, first| [0_u32, 1, 2, 3].map(|n| (moment, first + n, Panic));
    let refuses = [(Moment::Stopping, 0, Refuse)];
    let mut rows = everywhere(Panic);
    rows.extend(everywhere(Stop));
    rows.extend([
        row(
            "terminate",
            &[],
            &[Fail(FailIn::Handler(Terminate)), Letter],
        ),
        row("a stop that is refused", &refuses, &[stop, Letter]),
        row("a panic between letters", &[], &[Letter, crash, Letter]),
        row("four panics in a row", &[], &[crash; 4]),
        row(
            "panics within the window, and just outside",
            &[],
            &[crash, Pass(10_000), crash, Pass(10_001), crash],
        ),
        row(
            "a panic in each started",
            &panics(Moment::Started, 0),
            &[Letter],
        ),
        row(
            "a panic in each restarting",
            &panics(Moment::Restarting, 1),
            &[crash, Letter],
        ),
        row("the last address is dropped", &[], &[Pass(1), Address]),
        row(
            "the last address is dropped during the backoff",
            &[],
            &[crash, Pass(10), Address],
        ),
        row(
            "a weak address saves the child during the backoff",
            &[],
            &[crash, Pass(10), Address, Pass(10), Again, Letter],
        ),
        row("the System ends before the child starts", &[], &[Quit]),
        row(
            "the System ends during the backoff",
            &[],
            &[crash, Pass(50), Quit],
        ),
        row(
            "the System ends, and the child refuses to stop",
            &refuses,
            &[Pass(1), Quit],
        ),
    ]);
    rows
}

/// The action of the hook beside its note.
#[derive(Clone, Copy, Debug)]
enum Hook {
    Notes,
    Panics,
    PanicsWhenDropped,
}

/// A value that the hook holds.
struct Held(Trace, Hook);

impl Held {
    fn is_called(&self) {
        if let Hook::Panics = self.1 {
            panic_quietly();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.note("hook dropped");
        if let Hook::PanicsWhenDropped = self.1 {
            panic_quietly();
        }
    }
}

/// The caller of a message. Its waker notes the instant of the answer, before the caller can react.
struct Caller {
    number: usize,
    answer: Pin<Box<MaybeDone<LocalBoxFuture<'static, String>>>>,
}

struct Hears(Trace, usize);

impl Wake for Hears {
    fn wake(self: Arc<Self>) {
        self.0.note(format_args!("caller {} hears", self.1));
    }
}

impl Caller {
    fn new<M>(addr: &Addr<Probe>, message: M, number: usize, trace: &Trace) -> Self
    where
        M: Message<Result: Send + std::fmt::Debug> + Send + 'static,
        Probe: Handler<M>,
    {
        let asked = addr.send(message);
        let answer = asked.map(|answer| match answer {
            Ok(answer) => format!("{answer:?}"),
            Err(MailboxError::Closed) => "Closed".to_owned(),
            Err(MailboxError::Timeout) => "Timeout".to_owned(),
        });
        let mut answer = Box::pin(maybe_done(answer.boxed_local()));
        let hears = Waker::from(Arc::new(Hears(trace.clone(), number)));
        let _is_refused = answer.as_mut().poll(&mut Task::from_waker(&hears));
        Self { number, answer }
    }

    fn heard(mut self) -> String {
        let mut task = Task::from_waker(Waker::noop());
        let _waits = self.answer.as_mut().poll(&mut task);
        match self.answer.as_mut().take_output() {
            Some(answer) => format!("{} heard {answer}", self.number),
            None => format!("{} waits", self.number),
        }
    }
}

fn play(row: &Row, policy: RestartPolicy, hook: Hook) -> String {
    let system = virtual_system();
    let (noted, end, addr) = system.block_on(async {
        let (trace, noted) = Noted::new();
        let held = Held(trace.clone(), hook);
        let child = trace.guarded(policy, move || held.is_called());
        let child = child.start(|_| Probe::new(trace.clone(), &row.plans));
        let weak = child.downgrade();
        let mut addr = Some(child);
        let mut callers = Vec::new();
        for step in &row.steps {
            let number = callers.len() + 1;
            match (*step, &addr) {
                (Fail(place), Some(addr)) => {
                    callers.push(Caller::new(addr, place, number, &trace));
                }
                (Reply(response), Some(addr)) => {
                    callers.push(Caller::new(addr, response, number, &trace));
                }
                (Letter, Some(addr)) => {
                    callers.push(Caller::new(addr, Mail(0), number, &trace));
                }
                (Pass(time), _) => ms(time).await,
                (Address, _) => addr = None,
                (Again, _) => addr = weak.upgrade(),
                (Quit, _) => return (noted, String::new(), addr),
                (Fail(_) | Reply(_) | Letter, None) => {} // the child was given up
            }
        }
        ms(5_000).await;
        let mut end: Vec<_> = callers.into_iter().map(Caller::heard).collect();
        let is_open = addr.as_ref().is_some_and(Addr::connected);
        end.push(if is_open { "open" } else { "closed" }.to_owned());
        (noted, end.join(", "), addr)
    });
    let lines = noted.take();
    drop(system);
    drop(addr);
    let mut text = String::new();
    let mut last = "";
    for (time, what) in lines.iter().filter_map(|line| line.split_once(' ')) {
        let begin = if time == last {
            ", ".to_owned()
        } else {
            format!("\n    {time}: ")
        };
        text += &(begin + what);
        last = time;
    }
    if !end.is_empty() {
        write!(text, "\n    then: {end}").unwrap();
    }
    let shutdown = noted.take();
    if !shutdown.is_empty() {
        write!(text, "\n    the System ends: {}", shutdown.join(", ")).unwrap();
    }
    text.replace("Panicked(\"injected\")", "Panicked") + "\n"
}

#[test]
fn each_cause_at_each_moment_under_each_policy_is_followed_by_what_was_reviewed() {
    let mut text = String::new();
    for row in rows() {
        writeln!(text, "{}", row.name).unwrap();
        text += &by_policy(|policy| {
            let outcome = play(&row, policy.clone(), Hook::Notes);
            for hook in [Hook::Panics, Hook::PanicsWhenDropped] {
                let same = play(&row, policy.clone(), hook);
                assert_eq!(same, outcome, "{}: a hook that {hook:?}", row.name);
            }
            outcome
        });
    }
    golden("tests/agent/supervision/children.txt", &text);
}
