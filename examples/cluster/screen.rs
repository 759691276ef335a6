//! What there is to see: an aligned line for each election, and tables. Or the same as JSON.

use std::{
    env,
    error::Error,
    io::{self, IsTerminal, Write},
    time::Duration,
};

use actix_bully::{
    cluster::{ClusterStatus, Settled},
    protocol::{AgentId, Time},
};

use crate::{args::Args, json};

/// An election that is over.
pub(crate) struct Election<'a> {
    /// What led to it.
    pub(crate) what: &'a str,
    /// When it was seen to be over.
    pub(crate) ended: Time,
    pub(crate) settled: &'a Settled,
}

/// See the [module's page](self).
#[derive(Debug)]
pub(crate) struct Screen {
    json: bool,
    colours: bool,
}

impl Screen {
    pub(crate) fn new(json: bool) -> Self {
        let wanted = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let colours = wanted && io::stdout().is_terminal();
        Self { json, colours }
    }

    pub(crate) fn head(&mut self, args: &Args) {
        let Args {
            agents,
            seed,
            real_time,
            ..
        } = *args;
        if self.json {
            return self.line(&json::head(args));
        }
        let s = if agents == 1 { "" } else { "s" };
        let time = if real_time { "real" } else { "virtual" };
        self.line(&format!(
            "A bully election among {agents} agent{s}; a message takes 1 to 3 ms; {time} time, seed {seed}.\n"
        ));
        let head = columns("WHAT HAPPENS", "LEADER", "TIME", "MESSAGES");
        self.line(&self.paint(DIM, &head));
    }

    pub(crate) fn election(&mut self, election: &Election<'_>) {
        if self.json {
            return self.line(&json::election(election));
        }
        let Election { what, settled, .. } = election;
        let leaders: Vec<&str> = settled.leaders().map(AgentId::as_str).collect();
        let leaders = match leaders.is_empty() {
            true => String::from("nobody"),
            false => leaders.join(" | "),
        };
        let what = if what.is_empty() { "-" } else { what };
        let line = columns(
            what,
            &leaders,
            &span(settled.took),
            &settled.messages.to_string(),
        );
        self.line(&line.replacen(&leaders, &self.paint(BOLD, &leaders), 1));
    }

    pub(crate) fn status(&mut self, status: &ClusterStatus) {
        if self.json {
            return self.line(&json::status(status));
        }
        self.line("");
        for (at, line) in status.to_string().lines().enumerate() {
            let leads = at
                .checked_sub(1)
                .and_then(|at| status.agents().get(at))
                .is_some_and(|a| a.leads);
            let style = match at {
                0 => DIM,
                _ if leads => BOLD,
                _ => PLAIN,
            };
            self.line(&format!("  {}", self.paint(style, line)));
        }
        self.line("");
    }

    pub(crate) fn text(&mut self, text: &str) {
        if self.json {
            return self.line(&json::text(text));
        }
        self.line(text);
    }

    pub(crate) fn prompt(&mut self) {
        print!("{}", self.paint(DIM, "> "));
        io::stdout().flush().unwrap_or_default();
    }

    /// On standard error, with its causes.
    pub(crate) fn error(&self, wrong: &dyn Error) {
        let mut text = wrong.to_string();
        let mut cause = wrong.source();
        while let Some(deeper) = cause {
            text.push_str(&format!(": {deeper}"));
            cause = deeper.source();
        }
        eprintln!("error: {text}");
    }

    fn line(&self, line: &str) {
        // A reader that has gone, such as `head`, is no reason to fail.
        writeln!(io::stdout(), "{line}").unwrap_or_default();
    }

    fn paint(&self, style: &str, text: &str) -> String {
        if self.colours && !style.is_empty() {
            format!("\x1b[{style}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

fn columns(what: &str, leaders: &str, took: &str, messages: &str) -> String {
    format!("{what:<44}  {leaders:<19}  {took:>9}  {messages:>8}")
}

fn span(span: Duration) -> String {
    match span.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if span.subsec_nanos() % 1_000_000 == 0 => format!("{:.0} ms", seconds * 1e3),
        seconds => format!("{:.1} ms", seconds * 1e3),
    }
}

const PLAIN: &str = "";
const BOLD: &str = "1;32";
const DIM: &str = "2";
