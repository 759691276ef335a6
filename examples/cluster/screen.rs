//! The output: an aligned line for each election, and tables. Or the same as JSON.

use std::{
    env,
    error::Error,
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use actix_bully::{
    protocol::AgentId,
    record::Recording,
    testkit::cluster::{AgentStatus, ClusterStatus, Settled},
};

use crate::{args::Args, board, json, protocol::Protocol};

/// An election that is over.
pub(crate) struct Election<'a> {
    /// The event that caused it.
    pub(crate) what: &'a str,
    pub(crate) settled: &'a Settled,
}

/// See the [module's page](self).
#[derive(Debug)]
pub(crate) struct Screen {
    json: bool,
    colours: bool,
    /// The lines below the table; `None` if each line is printed at once.
    said: Option<Vec<String>>,
}

impl Screen {
    pub(crate) fn new(args: &Args) -> Self {
        let wanted = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let is_terminal = io::stdout().is_terminal();
        let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_typed = args.interactive && io::stdin().is_terminal() && !args.json;
        Self {
            json: args.json,
            colours: wanted && is_terminal,
            said: (is_typed && is_terminal && !is_dumb).then(Vec::new),
        }
    }

    pub(crate) fn head(&mut self, args: &Args) {
        let Args {
            agents,
            protocol,
            seed,
            real_time,
            ..
        } = *args;
        // The header of the recording serves as the head.
        if self.json {
            return;
        }
        let s = if agents == 1 { "" } else { "s" };
        let article = article(protocol);
        let time = if real_time { "real" } else { "virtual" };
        self.say(&format!(
            "{article} {protocol} election among {agents} agent{s}; a message takes 1 to 3 ms; {time} time, seed {seed}.\n"
        ));
        let head = columns("WHAT HAPPENS", "LEADER", "TIME", "MESSAGES");
        self.say(&self.paint(DIM, &head));
    }

    pub(crate) fn election(&mut self, election: &Election<'_>) {
        // The recording has an entry for it.
        if self.json {
            return;
        }
        let Election { what, settled, .. } = election;
        let leaders: Vec<&str> = settled.leaders().map(AgentId::as_str).collect();
        let leaders = if leaders.is_empty() {
            String::from("none")
        } else {
            leaders.join(" | ")
        };
        let what = if what.is_empty() {
            "(nothing new)"
        } else {
            what
        };
        let plain = columns(
            what,
            &leaders,
            &span(settled.took),
            &settled.messages.to_string(),
        );
        self.say(&plain.replacen(&leaders, &self.paint(BOLD, &leaders), 1));
    }

    pub(crate) fn status(&mut self, status: &ClusterStatus) {
        if self.json {
            return self.say(&json::status(status));
        }
        self.say("");
        if status.agents().len() > CROWD {
            for group in groups(status) {
                self.say(&format!("  {group}"));
            }
            return self.say("");
        }
        for (at, row) in status.to_string().lines().enumerate() {
            let leads = at
                .checked_sub(1)
                .and_then(|at| status.agents().get(at))
                .is_some_and(|a| a.leads);
            let style = match at {
                0 => DIM,
                _ if leads => BOLD,
                _ => PLAIN,
            };
            self.say(&format!("  {}", self.paint(style, row)));
        }
        self.say("");
    }

    pub(crate) fn text(&mut self, text: &str) {
        if self.json {
            return self.say(&json::text(text));
        }
        self.say(text);
    }

    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Shows a run that was repeated.
    pub(crate) fn repeated(&mut self, again: &Recording) {
        recording(again, self.json);
    }

    /// Reports that a repeated run equals the recorded one.
    pub(crate) fn equal(&mut self, entries: usize) {
        if !self.json {
            line(&format!(
                "\nThe replay equals the recording: {entries} entries."
            ));
        }
    }

    /// Asks for a command, below the table if there is one.
    pub(crate) fn prompt(&mut self, table: impl FnOnce() -> Vec<String>) {
        let prompt = self.paint(DIM, "> ");
        let Some(said) = &mut self.said else {
            return write_now(&prompt);
        };
        write_now(&board::page(&table(), said, &prompt, self.colours));
        // Keep all of the last answer, and a few earlier lines.
        let forgotten = said.len().saturating_sub(REMEMBERED);
        said.drain(..forgotten);
    }

    /// Shows the table anew while the user types.
    pub(crate) fn refresh(&mut self, table: impl FnOnce() -> Vec<String>) {
        if self.said.is_some() {
            write_now(&board::refresh(&table(), self.colours));
        }
    }

    /// Shows the error of a command.
    pub(crate) fn complain(&mut self, wrong: &dyn Error) {
        match &mut self.said {
            Some(said) => said.extend(format!("error: {wrong}").lines().map(str::to_owned)),
            None => error(wrong),
        }
    }

    /// Prints a line now, or adds it below the table.
    fn say(&mut self, text: &str) {
        match &mut self.said {
            Some(said) => said.extend(text.lines().map(str::to_owned)),
            None => line(text),
        }
    }

    fn paint(&self, style: &str, text: &str) -> String {
        if self.colours && !style.is_empty() {
            format!("\x1b[{style}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Prints a whole run.
pub(crate) fn recording(recording: &Recording, json: bool) {
    let text = if json {
        recording.to_jsonl()
    } else {
        recording.to_text()
    };
    line(text.trim_end());
}

/// Prints an error on standard error.
pub(crate) fn error(wrong: &dyn Error) {
    writeln!(io::stderr(), "error: {wrong}").unwrap_or_default();
}

static WRITTEN: AtomicUsize = AtomicUsize::new(0);
const MOST_WRITTEN: usize = 64 << 20;

/// Writes at once, and without an end of line.
fn write_now(text: &str) {
    let mut out = io::stdout();
    let written = write!(out, "{text}").and_then(|()| out.flush());
    written.unwrap_or_default();
}

/// Writes a line, up to [`MOST_WRITTEN`] bytes in all: a recording may be endless.
pub(crate) fn line(line: &str) {
    let before = WRITTEN.fetch_add(line.len().saturating_add(1), Relaxed);
    if before > MOST_WRITTEN {
        return;
    }
    let is_last = before.saturating_add(line.len()) >= MOST_WRITTEN;
    let line = if is_last {
        "(there is more than 64 MiB to print: the output ends here)"
    } else {
        line
    };
    // A reader such as `head` may have gone; that is not a failure.
    writeln!(io::stdout(), "{line}").unwrap_or_default();
}

/// Returns the article before the name of the election.
const fn article(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Bully
        | Protocol::Quorum
        | Protocol::Lease
        | Protocol::Ballot
        | Protocol::Ring
        | Protocol::Reorganization => "A",
        Protocol::Astra | Protocol::Invitation => "An",
    }
}

fn columns(what: &str, leaders: &str, took: &str, messages: &str) -> String {
    format!("{what:<44}  {leaders:<19}  {took:>9}  {messages:>8}")
}

/// Returns a line for each group of neighbours with the same status.
fn groups(status: &ClusterStatus) -> Vec<String> {
    let of = |agent: &AgentStatus| {
        let leader = agent.status.leader.as_ref().map(|leader| leader.id.clone());
        (agent.condition, agent.isolated, agent.leads, leader)
    };
    let chunks = status.agents().chunk_by(|one, next| of(one) == of(next));
    let tell = |chunk: &[AgentStatus]| {
        let (first, last) = (chunk.first()?, chunk.last()?);
        let (state, isolated, leads, leader) = of(first);
        let isolated = if isolated { ", isolated" } else { "" };
        let what = match leader {
            _ if leads => format!("leads in term {}", first.status.term),
            Some(leader) => format!("follow {leader}"),
            None => String::from("without a leader"),
        };
        let names = match chunk.len() {
            1 => first.name.to_string(),
            _ => format!("{} to {}", first.name, last.name),
        };
        Some(format!("{names}: {state}{isolated}, {what}"))
    };
    chunks.filter_map(tell).collect()
}

fn span(span: Duration) -> String {
    match span.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if span.subsec_nanos().is_multiple_of(1_000_000) => {
            format!("{:.0} ms", seconds * 1e3)
        }
        seconds => format!("{:.1} ms", seconds * 1e3),
    }
}

/// Largest number of agents that are listed one by one; more agents are shown in groups.
const CROWD: usize = 20;

/// Number of lines that stay below the table.
const REMEMBERED: usize = 8;

const PLAIN: &str = "";
const BOLD: &str = "1;32";
const DIM: &str = "2";
