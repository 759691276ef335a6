//! Many histories, on all cores: a thread that is free takes the next few seeds.

use std::{
    any::Any,
    io::{IsTerminal, Write, stderr},
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use bully_sim::trace::Trace;

use super::{args::Args, summary::Summary};

/// The results of a run, and its speed.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) summary: Summary,
    pub(crate) threads: u16,
    pub(crate) took: Duration,
}

impl Run {
    /// Returns the number of histories per second and core.
    pub(crate) fn rate(&self) -> u128 {
        let spent = self
            .took
            .saturating_mul(u32::from(self.threads))
            .as_micros();
        u128::from(self.summary.histories) * 1_000_000 / spent.max(1)
    }
}

/// Runs the histories of the seeds `seeds`.
#[expect(
    clippy::disallowed_methods,
    reason = "the speed is measured in real time"
)]
pub(crate) fn run(args: &Args, seeds: &Range<u64>) -> Run {
    let cores = || thread::available_parallelism().ok()?.get().try_into().ok();
    let threads = args.threads.or_else(cores).unwrap_or(1);
    let began = Instant::now();
    let mut summary = Summary::default();
    let (next, done) = (AtomicU64::new(seeds.start), AtomicU64::new(0));
    thread::scope(|scope| {
        let (finished, results) = mpsc::channel();
        for _ in 0..threads {
            let (finished, next, done) = (finished.clone(), &next, &done);
            scope.spawn(move || {
                let summary = work(args, seeds.end, next, done);
                drop(finished.send(summary)); // no thread receives only if the program ends
            });
        }
        drop(finished);
        let all = seeds.end - seeds.start;
        gather(&results, &mut summary, || {
            let (took, done) = (began.elapsed(), done.load(Ordering::Relaxed));
            progress(took, &to_go(took, done, all));
        });
    });
    progress(began.elapsed(), "");
    Run {
        summary,
        threads,
        took: began.elapsed(),
    }
}

/// Runs the histories of one thread.
fn work(args: &Args, end: u64, next: &AtomicU64, done: &AtomicU64) -> Summary {
    let mut summary = Summary::default();
    loop {
        let first = next.fetch_add(AT_ONCE, Ordering::Relaxed);
        if first >= end {
            return summary;
        }
        for seed in first..end.min(first.saturating_add(AT_ONCE)) {
            one(args, seed, &mut summary);
            done.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Runs one history; a panic counts as a broken promise.
fn one(args: &Args, seed: u64, summary: &mut Summary) {
    let plan = args.plan(seed);
    let trace = if args.hash {
        Trace::digesting()
    } else {
        Trace::off()
    };
    match catch_unwind(AssertUnwindSafe(|| plan.run(trace))) {
        Ok(Ok(outcome)) => summary.add(&plan, &outcome),
        Ok(Err(wrong)) => summary.breaks(&plan, format!("seed {seed}: {wrong}")),
        Err(panic) => summary.breaks(&plan, format!("seed {seed}: panicked: {}", words(&*panic))),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a text")
}

/// Waits for all threads.
fn gather(results: &Receiver<Summary>, summary: &mut Summary, mut meanwhile: impl FnMut()) {
    loop {
        match results.recv_timeout(Duration::from_millis(200)) {
            Ok(part) => summary.merge(part),
            Err(RecvTimeoutError::Timeout) => meanwhile(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn to_go(took: Duration, done: u64, all: u64) -> String {
    let left = took.as_millis() * u128::from(all - done) / u128::from(done.max(1));
    format!("{done} of {all} histories, {} s to go", left / 1_000)
}

/// Shows a line in place of the last one, for a long run.
#[expect(clippy::print_stderr, reason = "it shows the progress of a long run")]
fn progress(took: Duration, line: &str) {
    if took >= SILENT && stderr().is_terminal() {
        eprint!("\r\x1b[K{line}");
        drop(stderr().flush());
    }
}

/// Number of seeds that a thread takes at once.
const AT_ONCE: u64 = 8;
/// Time after which a run shows its progress.
const SILENT: Duration = Duration::from_secs(2);
