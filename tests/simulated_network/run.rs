//! Plays histories of many seeds, and prints how to play the first broken history again.
//!
//! ```text
//! cargo run --release --manifest-path tests/simulated_network/Cargo.toml -- --seeds 0..2000
//!     --seeds A..B   the seeds to play; 0..2000 by default
//!     --twice        play each seed twice, and compare the logs
//!     --threads N    number of threads; the number of cores by default
//!     --log          print the log of each history
//!     --faults a,b   only these kinds of faults; all kinds by default
//!     --without a,b  all kinds of faults without these kinds
//!     --voters       voters that change while the group runs
//!     --diskless     voters without disks
//!     --sentinels    hosts with sentinels, and strangers that forge their notices
//!     --application  agents with votes, schedules and proxies
//! ```

use std::{
    env,
    ops::Range,
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use simulated_network::{
    history::Tale,
    kinds::{Fault, Kinds},
    many::{Play, Sum, play, play_all, play_twice, play_with_application},
};

struct Options {
    seeds: Range<u64>,
    kinds: Kinds,
    threads: usize,
    is_twice: bool,
    is_logged: bool,
    has_application: bool,
}

fn main() -> ExitCode {
    let options = match options(env::args().skip(1)) {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!(
                "{wrong}; there are: --seeds A..B --twice --threads N --log --faults a,b --without a,b --voters --diskless --sentinels --application"
            );
            return ExitCode::from(2);
        }
    };
    let play: Play = if options.has_application {
        play_with_application
    } else {
        play
    };
    let how = |seed, kinds: &Kinds| match (options.is_twice, options.is_logged) {
        (true, _) => play_twice(play, seed, kinds),
        (false, true) => play_aloud(play, seed, kinds),
        (false, false) => play(seed, kinds),
    };
    #[expect(clippy::disallowed_methods, reason = "how fast it is, in real time")]
    let began = Instant::now();
    let sum = play_all(&options.seeds, &options.kinds, options.threads, how);
    tell(&sum, began.elapsed());
    if let Some((seed, tale)) = &sum.broken {
        return broken(*seed, tale, &options);
    }
    let missing = sum.missing(&options.kinds);
    if sum.histories >= ENOUGH && !missing.is_empty() {
        println!("never happened: {}", missing.join(", "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn play_aloud(play: Play, seed: u64, kinds: &Kinds) -> Tale {
    let tale = play(seed, kinds);
    print!("-- seed {seed}\n{}", tale.log);
    tale
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let cores = thread::available_parallelism().map_or(1, Into::into);
    let mut options = Options {
        seeds: 0..2_000,
        kinds: Fault::all(),
        threads: cores,
        is_twice: false,
        is_logged: false,
        has_application: false,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--seeds" => options.seeds = seeds(&value()?)?,
            "--threads" => options.threads = number::<usize>(&value()?)?.max(1),
            "--diskless" => options.kinds = Fault::of_diskless(),
            "--sentinels" => options.kinds = Fault::of_sentinels(),
            "--voters" => options.kinds = Fault::of_voters(),
            "--application" => options.has_application = true,
            "--twice" => options.is_twice = true,
            "--log" => options.is_logged = true,
            "--faults" => options.kinds = kinds(&value()?)?,
            "--without" => {
                let without = kinds(&value()?)?;
                options.kinds.retain(|fault| !without.contains(fault));
            }
            other => return Err(format!("no `{other}`")),
        }
    }
    if options.is_logged {
        options.threads = 1;
    }
    Ok(options)
}

fn seeds(word: &str) -> Result<Range<u64>, String> {
    let (first, end) = word.split_once("..").ok_or("seeds are A..B")?;
    Ok(number(first)?..number(end)?)
}

fn kinds(list: &str) -> Result<Kinds, String> {
    let named = |name| Fault::named(name).ok_or_else(|| format!("no fault `{name}`"));
    list.split(',').map(named).collect()
}

fn number<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("no number: {word}"))
}

fn tell(sum: &Sum, took: Duration) {
    for (what, times) in &sum.seen {
        println!("{times:>9} {what}");
    }
    let (n, seconds) = (sum.histories, took.as_secs_f64().max(1e-3));
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = n as f64 / seconds;
    println!(
        "{n} histories in {seconds:.1} s, {rate:.0} a second; agreement within {:?}; at most {} \
         dials of a peer in a second, {} streams of a host",
        sum.slowest, sum.peaks.dials, sum.peaks.streams
    );
}

fn broken(seed: u64, tale: &Tale, options: &Options) -> ExitCode {
    let lines: Vec<_> = tale.log.lines().collect();
    for line in &lines[lines.len().saturating_sub(40)..] {
        println!("{line}");
    }
    println!(
        "seed {seed}: {}",
        tale.broken.as_deref().unwrap_or_default()
    );
    let how = if options.is_twice { "--twice" } else { "--log" };
    let with = if options.has_application {
        " --application"
    } else {
        ""
    };
    let kinds: Vec<_> = options.kinds.iter().map(|fault| fault.name()).collect();
    println!(
        "REPRODUCE: cargo run --release --manifest-path tests/simulated_network/Cargo.toml -- \
         --seeds {seed}..{} --faults {}{with} {how}",
        seed + 1,
        kinds.join(",")
    );
    ExitCode::FAILURE
}

/// Number of histories that must have met everything.
const ENOUGH: u64 = 1_000;
