//! What can be said to a cluster, as text: for scripts, for typing, and for telling how a run went.
//!
//! ```text
//!   "crash 5; settle; status" ── Script ──▶ [Crash, Settle, Status] ──▶ Cluster::run, one by one
//!                             ◀─ Display ──
//! ```
//!
//! Decided here: the words, and that what is written is what is read: a command that was read
//! writes itself so that it reads the same. Not here: who is there; that is the cluster's
//! business, at the moment when a command runs.

mod error;
mod parse;
mod verbs;
mod write;

#[cfg(test)]
mod tests;

use std::{str::FromStr, time::Duration};

pub use error::{CommandError, Nearest};
pub use verbs::Help;

use crate::protocol::{After, AgentId, Score};

/// One thing to do to a cluster, or to ask of it.
///
/// A name that is a number stands for `agent-<number>`, unless an agent has that very name.
///
/// ```
/// use actix_bully::testkit::cluster::Command;
/// let command: Command = "partition 1 2 | 3 4 5".parse()?;
/// assert_eq!(command.to_string(), "partition 1 2 | 3 4 5");
///
/// let refused = "crsh 5".parse::<Command>().unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "unknown command `crsh`, did you mean `crash`? `help` lists all commands"
/// );
/// # Ok::<(), actix_bully::testkit::cluster::CommandError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// `crash 5`: these agents panic, all at once.
    Crash(Vec<AgentId>),
    /// `stop 5`: these agents end without handing over.
    Stop(Vec<AgentId>),
    /// `restart 5`: these agents begin a new life.
    Restart(Vec<AgentId>),
    /// `hang 5`: these agents stand still.
    Hang(Vec<AgentId>),
    /// `resume 5`: these agents go on.
    Resume(Vec<AgentId>),
    /// `join 6`, `join 6 50`, `join 6 none`: a new agent; its score is the number in its name
    /// unless it is said.
    Join {
        /// Its name.
        name: AgentId,
        /// Its importance; `None` for a witness, which is never elected.
        score: Option<Score>,
    },
    /// `leave 5`: these agents hand over and leave, one after the other.
    Leave(Vec<AgentId>),
    /// `partition 1 2 | 3 4 5`: the sides do not reach each other.
    Partition(Vec<Vec<AgentId>>),
    /// `cut 1 2`: the two do not reach each other.
    Cut {
        /// One of them.
        one: AgentId,
        /// The other.
        other: AgentId,
    },
    /// `cut 1 > 2`: what the first says does not reach the second.
    CutOneWay {
        /// Who is not heard.
        from: AgentId,
        /// Who does not hear it.
        to: AgentId,
    },
    /// `isolate 3`: these agents reach nobody, and nobody reaches them.
    Isolate(Vec<AgentId>),
    /// `heal`: everybody reaches everybody again.
    Heal,
    /// `delay 5ms`, `delay 5ms..20ms`: how long a message is under way.
    Delay(After),
    /// `loss 10%`: how many messages are lost, of a thousand.
    Loss {
        /// Of a thousand.
        per_mille: u16,
    },
    /// `duplicate 10%`: how many messages arrive more than once, of a thousand.
    Duplicate {
        /// Of a thousand.
        per_mille: u16,
    },
    /// `score 2 50`, `score 2 10,-300`, `score 2 none`: another importance, or none.
    Score {
        /// Whose.
        name: AgentId,
        /// Which; `None` makes it ineligible.
        score: Option<Score>,
    },
    /// `step-down 5`, `step-down 5 3`: the leader hands over, to the second if one is named.
    StepDown {
        /// The leader.
        name: AgentId,
        /// Who shall be next.
        to: Option<AgentId>,
    },
    /// `campaign 1`: this agent holds an election.
    Campaign(AgentId),
    /// `settle`: waits until it is settled who leads.
    Settle,
    /// `wait 500ms`: lets time pass.
    Wait(Duration),
    /// `status`: who is there, and who leads.
    Status,
    /// `trace`: what happened so far.
    Trace,
    /// `help`: lists the commands.
    Help,
    /// `quit`: ends the run.
    Quit,
}

impl Command {
    /// All commands with an example of each, aligned.
    pub const fn help() -> Help {
        Help
    }
}

/// Commands one after the other, separated by `;` or lines; what follows a `#` is not read.
///
/// ```
/// use actix_bully::testkit::cluster::Script;
/// let script: Script = "crash 5; settle # the next one leads".parse()?;
/// assert_eq!(script.to_string(), "crash 5; settle");
/// # Ok::<(), actix_bully::testkit::cluster::CommandError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script(Vec<Command>);

impl Script {
    /// The commands, in order.
    pub fn commands(&self) -> &[Command] {
        &self.0
    }
}

impl FromStr for Script {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Self, CommandError> {
        let code = text
            .lines()
            .map(|line| line.split_once('#').map_or(line, |(code, _)| code));
        let words = code.flat_map(|line| line.split(';'));
        let written = words.filter(|command| !command.trim().is_empty());
        Ok(Self(written.map(str::parse).collect::<Result<_, _>>()?))
    }
}

impl FromIterator<Command> for Script {
    fn from_iter<I: IntoIterator<Item = Command>>(commands: I) -> Self {
        Self(commands.into_iter().collect())
    }
}

impl IntoIterator for Script {
    type Item = Command;
    type IntoIter = std::vec::IntoIter<Command>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
