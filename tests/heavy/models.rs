//! Prints the outcomes of the searches, and fails if one is not as expected. With `BLESS=1` it writes their numbers
//! anew.
//!
//! ```text
//!   models                       every group but the soak and the planted defects
//!   models threshold quorum      these groups
//!   models --traces threshold    with the shortest path to each broken invariant
//!   models --only D=2            the searches whose name contains the text
//!   models --most 400000         the searches with at most this number of states
//!   models --threads 1           searches at a time; default 2, since each takes memory
//! ```

use std::{
    cmp::Reverse,
    process::ExitCode,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use actix_bully_heavy::case::{Case, Outcome, PLANTED, SOAK, cases, groups};

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let start = now();
    let mut sum = Sum::default();
    for (group, question) in groups() {
        if arguments.groups.iter().any(|named| named == group) {
            print_group(group, question, &arguments, &mut sum);
        }
    }
    let seconds = (now() - start).as_secs();
    println!(
        "\n{} searches, {} unique states, {seconds} s",
        sum.searches, sum.unique
    );
    if sum.faults == 0 {
        return ExitCode::SUCCESS;
    }
    println!("{} of them are not as expected", sum.faults);
    ExitCode::FAILURE
}

/// The arguments of the command line.
struct Arguments {
    groups: Vec<String>,
    with_traces: bool,
    only: String,
    most: usize,
    threads: usize,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            groups: Vec::new(),
            with_traces: false,
            only: String::new(),
            most: usize::MAX,
            threads: 2,
        };
        let all = || groups().map(|(name, _)| name.to_owned());
        while let Some(word) = words.next() {
            match word.as_str() {
                "--traces" => arguments.with_traces = true,
                "--only" => arguments.only = words.next().ok_or("--only needs a text")?,
                "--most" => arguments.most = number(&word, words.next())?,
                "--threads" => arguments.threads = number(&word, words.next())?,
                _ if all().any(|name| name == word) => arguments.groups.push(word),
                _ => {
                    let names: Vec<_> = all().collect();
                    return Err(format!("no group '{word}'; there are: {}", names.join(" ")));
                }
            }
        }
        if arguments.groups.is_empty() {
            let usual = all().filter(|name| name != SOAK && name != PLANTED);
            arguments.groups.extend(usual);
        }
        Ok(arguments)
    }

    fn is_meant(&self, case: &Case) -> bool {
        case.size.is_none_or(|(unique, _)| unique <= self.most) && case.name.contains(&self.only)
    }
}

fn number(option: &str, word: Option<String>) -> Result<usize, String> {
    let number = word.and_then(|word| word.parse().ok());
    number.ok_or_else(|| format!("{option} needs a number"))
}

#[derive(Default)]
struct Sum {
    searches: usize,
    unique: usize,
    faults: usize,
}

/// Runs the searches of a group, and prints a line for each as soon as it has ended.
fn print_group(group: &str, question: &str, arguments: &Arguments, sum: &mut Sum) {
    let mut cases = cases();
    cases.retain(|case| case.group == group && arguments.is_meant(case));
    if cases.is_empty() {
        return;
    }
    println!("\n{question} ({group})");
    println!(
        "{:<52} {:>10} {:>5} {:>7}  ends",
        "", "unique", "depth", "seconds"
    );
    // The longest searches start first, so that no long search runs alone at the end.
    cases.sort_by_key(|case| Reverse(case.size));
    let (next, sum) = (Mutex::new(cases.into_iter()), Mutex::new(sum));
    thread::scope(|scope| {
        for _ in 0..arguments.threads.max(1) {
            scope.spawn(|| {
                while let Some(case) = take(&next) {
                    let start = now();
                    let outcome = case.search()();
                    let mut sum = sum.lock().expect("no thread panics with the lock");
                    print_case(
                        &case,
                        &outcome,
                        now() - start,
                        arguments.with_traces,
                        &mut sum,
                    );
                }
            });
        }
    });
}

fn take(next: &Mutex<std::vec::IntoIter<Case>>) -> Option<Case> {
    next.lock().expect("no thread panics with the lock").next()
}

fn print_case(case: &Case, outcome: &Outcome, took: Duration, with_traces: bool, sum: &mut Sum) {
    println!(
        "{:<52} {:>10} {:>5} {:>7.1}  {}",
        case.name,
        outcome.unique,
        outcome.depth,
        took.as_secs_f64(),
        outcome.end
    );
    if with_traces && !outcome.trace.is_empty() {
        println!("{}", outcome.trace);
    }
    sum.searches += 1;
    sum.unique += outcome.unique;
    if let Some(fault) = case.fault(outcome, std::env::var_os("BLESS").is_some()) {
        sum.faults += 1;
        println!("    {fault}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a search is measured in real time"
)]
fn now() -> Instant {
    Instant::now()
}
