//! The commands to a cluster, as text: for scripts, for typing, and for the report of a run.
//!
//! Decided here: how commands are separated, which may name several agents, and the words about the run itself. Not
//! here: the words of the commands to the agents and their network ([`RecordedCommand`]). The cluster checks whether an
//! agent exists, at the moment when the command runs.

use std::{fmt, str::FromStr, time::Duration};

use actix_bully::{
    protocol::Time,
    testkit::cluster::{Cluster, ClusterError, ClusterStatus, Settled},
};
use bully_core::{
    protocol::Election,
    record::{CommandError, RecordedCommand, read_span},
};

/// A command that was read, with its text.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    text: String,
    pub(crate) verb: Verb,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verb {
    /// A command to the cluster.
    Given(RecordedCommand),
    /// Lets time pass.
    Wait(Duration),
    /// Lets time pass until this moment, counted from the beginning.
    Until(Duration),
    Status,
    Trace,
    Help,
    Quit,
}

/// The answer of a command.
#[derive(Debug)]
pub(crate) enum Answer {
    Done,
    Settled(Settled),
    Status(ClusterStatus),
    Text(String),
    /// The run ends.
    Quit,
}

/// Reads commands separated by `;` or lines. Returns all of them, or an error.
pub(crate) fn read(script: &str) -> Result<Vec<Command>, String> {
    let code = script.lines().map(|line| line.split('#').next());
    let commands = code.flatten().flat_map(|line| line.split(';'));
    let commands = commands.map(str::trim).filter(|text| !text.is_empty());
    commands.flat_map(for_each).map(|it| it.parse()).collect()
}

/// Returns one command for each agent: `restart 4 5` is `restart 4; restart 5`.
fn for_each(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match *words {
        [
            verb @ ("restart" | "hang" | "resume" | "leave" | "isolate" | "rejoin"),
            ref names @ ..,
        ] if names.len() > 1 => names.iter().map(|name| format!("{verb} {name}")).collect(),
        _ => vec![text.to_owned()],
    }
}

impl FromStr for Command {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let verb = match *words {
            ["wait", time] => Verb::Wait(read_span(time).map_err(|wrong| wrong.to_string())?),
            ["until", time] => Verb::Until(read_span(time).map_err(|wrong| wrong.to_string())?),
            ["status"] => Verb::Status,
            ["trace"] => Verb::Trace,
            ["help"] => Verb::Help,
            ["quit"] => Verb::Quit,
            _ => Verb::Given(text.parse().map_err(|wrong| advice(&wrong))?),
        };
        let text = words.join(" ");
        Ok(Self { text, verb })
    }
}

/// The error of a command, with a hint: the list in the error lacks the commands about the run itself.
fn advice(wrong: &CommandError) -> String {
    if matches!(wrong, CommandError::Unknown { .. }) {
        return format!("{wrong} `help` lists all.");
    }
    wrong.to_string()
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Command {
    /// Runs the command.
    pub(crate) async fn run<E: Election>(
        self,
        cluster: &mut Cluster<E>,
    ) -> Result<Answer, ClusterError> {
        match self.verb {
            Verb::Given(RecordedCommand::Settle) => {
                return Ok(Answer::Settled(cluster.settle().await?));
            }
            Verb::Given(command) => cluster.apply(&command).await?,
            Verb::Wait(time) => actix::clock::sleep(time).await,
            Verb::Until(time) => cluster.wait_until(Time::ZERO.after(time)).await,
            Verb::Status => return Ok(Answer::Status(cluster.status())),
            Verb::Trace => return Ok(Answer::Text(cluster.trace().to_text().trim_end().into())),
            Verb::Help => return Ok(Answer::Text(help())),
            Verb::Quit => return Ok(Answer::Quit),
        }
        Ok(Answer::Done)
    }
}

/// Returns each form of a command, with its meaning.
fn help() -> String {
    let forms = RecordedCommand::FORMS.iter().chain(&OURS);
    let lines = forms.map(|(form, meaning)| match form.len() {
        ..36 => format!("  {form:<35}  {meaning}\n"),
        _ => format!("  {form}\n{:39}{meaning}\n", ""),
    });
    let remark = "\n5 means agent-5; `restart 4 5` is one command for each; commands are separated by `;` or lines, `#` begins \
                  a remark.";
    lines.chain([remark.to_owned()]).collect()
}

/// The commands about the run itself.
const OURS: [(&str, &str); 6] = [
    ("wait 500ms", "lets time pass"),
    (
        "until 2s",
        "lets time pass until then, counted from the beginning",
    ),
    ("status", "the state of every agent, and its leader"),
    ("trace", "what happened so far"),
    ("help", "these lines"),
    ("quit", "ends the run"),
];
