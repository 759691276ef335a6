//! Prints the outcomes of the searches, and fails if one is not as expected. With `BLESS=1` it writes their numbers
//! anew.
//!
//! ```text
//!   models                       every group but the soak
//!   models threshold quorum      these groups
//!   models --traces threshold    with the shortest path to each broken invariant
//!   models --only D=2            the searches whose name contains the text
//!   models --most 400000         the searches with at most this number of states
//!   models --threads 1           searches at a time; default 2, since each takes memory
//! ```

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    process::ExitCode,
    sync::{Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use actix_bully_heavy::{
    case::{Case, Outcome, grouped},
    suite::Group,
};

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
    for group in &arguments.groups {
        print_group(*group, &arguments, &mut sum);
    }
    let seconds = (now() - start).as_secs();
    println!(
        "\n{} searches, {} unique states, {seconds} s",
        sum.searches,
        grouped(sum.unique)
    );
    if sum.faults == 0 {
        return ExitCode::SUCCESS;
    }
    println!("{} of them are not as expected", sum.faults);
    ExitCode::FAILURE
}

/// The arguments of the command line.
struct Arguments {
    groups: Vec<Group>,
    with_traces: bool,
    only: Option<String>,
    most: usize,
    threads: usize,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            groups: Vec::new(),
            with_traces: false,
            only: None,
            most: usize::MAX,
            threads: 2,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--traces" => arguments.with_traces = true,
                "--only" => arguments.only = Some(words.next().ok_or("--only needs a text")?),
                "--most" => arguments.most = number(&word, words.next())?,
                "--threads" => arguments.threads = number(&word, words.next())?,
                _ => arguments.groups.push(group(&word)?),
            }
        }
        if arguments.groups.is_empty() {
            arguments.groups.extend(Group::ALL);
            arguments.groups.retain(|group| *group != Group::Soak);
        }
        Ok(arguments)
    }

    fn cases(&self, group: Group) -> Vec<Case> {
        let is_meant = |case: &Case| {
            let only = self.only.as_ref();
            case.size.is_none_or(|(unique, _)| unique <= self.most)
                && only.is_none_or(|only| case.name.contains(only))
        };
        group.cases().into_iter().filter(is_meant).collect()
    }
}

fn number(option: &str, word: Option<String>) -> Result<usize, String> {
    let number = word.and_then(|word| word.parse().ok());
    number.ok_or_else(|| format!("{option} needs a number"))
}

fn group(name: &str) -> Result<Group, String> {
    let found = Group::ALL.into_iter().find(|group| group.name() == name);
    found.ok_or_else(|| {
        let names: Vec<_> = Group::ALL.iter().map(|group| group.name()).collect();
        format!("no group '{name}'; there are: {}", names.join(" "))
    })
}

#[derive(Default)]
struct Sum {
    searches: usize,
    unique: usize,
    faults: usize,
}

/// Prints a line for each search as soon as this search and all before it have ended.
fn print_group(group: Group, arguments: &Arguments, sum: &mut Sum) {
    let cases = arguments.cases(group);
    if cases.is_empty() {
        return;
    }
    println!("\n{} ({})", group.question(), group.name());
    println!(
        "{:<52} {:>10} {:>5} {:>7}  ends",
        "", "unique", "depth", "seconds"
    );
    let (results, ended) = mpsc::channel();
    // The longest searches start first, so that no long search runs alone at the end.
    let mut positions: Vec<usize> = (0..cases.len()).collect();
    positions.sort_by_key(|position| Reverse(cases[*position].size));
    let next = Mutex::new(positions.into_iter());
    thread::scope(|scope| {
        for _ in 0..arguments.threads.clamp(1, cases.len()) {
            let (results, next, cases) = (results.clone(), &next, &cases);
            scope.spawn(move || {
                while let Some(position) = take(next) {
                    let start = now();
                    let outcome = cases[position].run();
                    let sent = results.send((position, outcome, now() - start));
                    sent.expect("a printer listens");
                }
            });
        }
        drop(results);
        let mut early = BTreeMap::new();
        let mut printed = 0;
        for (position, outcome, took) in ended {
            early.insert(position, (outcome, took));
            while let Some((outcome, took)) = early.remove(&printed) {
                print_case(&cases[printed], &outcome, took, arguments.with_traces, sum);
                printed += 1;
            }
        }
    });
}

fn take(next: &Mutex<std::vec::IntoIter<usize>>) -> Option<usize> {
    next.lock().expect("no thread panics with the lock").next()
}

fn print_case(case: &Case, outcome: &Outcome, took: Duration, with_traces: bool, sum: &mut Sum) {
    println!(
        "{:<52} {:>10} {:>5} {:>7.1}  {}",
        case.name,
        grouped(outcome.unique),
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
