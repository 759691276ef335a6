//! The arguments.
//!
//! Decided here: the questions and commands, and how an agent is selected. A token is never an argument, because every
//! process of the host can read arguments.

use std::{path::PathBuf, time::Duration};

use actix_bully::{
    operate::{Command, Order},
    protocol::{AgentId, Contact, NewVoter, Score, VoterChange},
};
use clap::{Parser, Subcommand};

use crate::{failure::CODES, run};

/// Shows and commands a running node of actix-bully.
#[derive(Debug, Parser)]
#[command(name = "bullyctl", version, after_help = CODES)]
pub(crate) struct Args {
    /// The socket of the node: the path that it gave to `serve_socket`. Default without --url: `BULLYCTL_SOCKET` of the environment
    #[arg(long, value_name = "PATH", conflicts_with = "url")]
    pub(crate) socket: Option<PathBuf>,
    /// The address of the node's routes, such as `http://127.0.0.1:8080` or `http://127.0.0.1:8080/bully`. Default without --socket: `BULLYCTL_URL` of the environment
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A file with the token that commands by `--url` need
    #[arg(long, value_name = "FILE", conflicts_with = "socket")]
    pub(crate) token_file: Option<PathBuf>,
    /// Sends the token to another host, although any host on the way can read it
    #[arg(long, requires = "token_file")]
    pub(crate) plaintext: bool,
    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to do
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Shows the node: its agents, the members of their groups, its peers
    Status,
    /// Explains why no agent leads, or why this one leads, with advice
    Diagnosis,
    /// Shows the former leaders with their times and the reasons of their ends, the times without a leader, and the findings of the last half an hour
    History(History),
    /// Prints a line whenever the node has another leader, role or state; on a terminal, keeps a table up to date. It looks once a second: `history` also has the leaders between two looks
    Watch(Watch),
    /// Hands the leadership over, at the node that leads; prints the successor and its term
    Transfer(Transfer),
    /// Prepares the node for its stop: it hands over and leaves its group for good
    Drain(Whom),
    /// Sets the agent's score, or takes it away
    Score(SetScore),
    /// Makes the node's agents record the messages of their elections, and fetches the record
    Record(Record),
    /// Shows the voters of the node's groups, or changes them while the group runs, at any node
    Voters(Voters),
    /// Shows the schedules of the node's agents, or removes the mark of a schedule from the store of a lease
    Schedules(Schedules),
    /// Measures the disk, the store, the peers and this host before a node runs here; nothing is elected, no node is asked
    Preflight(Preflight),
    /// Elects by a configuration, and runs a command while this host leads. With --socket, operators command the node there
    Run(run::Run),
    /// The guard of `run`
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    RunGuard(run::GuardArgs),
    /// The process that becomes the command of `run`
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    RunCommand(run::WrapperArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Preflight {
    /// The configuration of the node
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Overrides the file by the variables of the environment with this prefix, as the node does
    #[arg(long, value_name = "PREFIX")]
    pub(crate) env: Option<String>,
    /// Measures for this time, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
    pub(crate) seconds: Duration,
}

#[derive(Debug, clap::Args)]
pub(crate) struct History {
    /// Number of leaderships of each group that it shows, the last ones
    #[arg(long, value_name = "COUNT", default_value = "20")]
    pub(crate) last: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Watch {
    /// Watches every node that this one knows, and marks the agents that follow another leader than most. With --socket, the other nodes of this host are asked, if their paths differ by the node's name. With --url, the hosts of the peers are asked, at the port of the URL or at the port that an agent publishes in its `about`. The other nodes are shown as this one knows them
    #[arg(long)]
    pub(crate) all: bool,
    /// Time between two looks, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) every: Duration,
    /// Ends after this number of lines; without it, a terminal shows a table that is kept up to date
    #[arg(long, value_name = "COUNT")]
    pub(crate) lines: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Record {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: RecordAction,
}

/// What to do with the records of a node's agents.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordAction {
    /// Begins a record. The record before it is lost, except the one that was kept when the leader was missed
    On,
    /// Ends the record, which can still be saved
    Off,
    /// Saves the record of one agent into a file, which `cluster --show` opens
    Save(RecordSave),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordSave {
    /// The file. If it exists already, it is left as it is, and the command is refused
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Saves the record that was kept when the leader was missed last, instead of the present one
    #[arg(long)]
    pub(crate) kept: bool,
    /// The group of the agent, if the node has several
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,
    /// The name of the agent, if the node has several
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<AgentId>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Transfer {
    /// The agent that shall lead; without it, the election decides
    #[arg(long, value_name = "AGENT")]
    to: Option<AgentId>,
    /// The agent without `--to`, which is refused: that may mean the present leader or the next leader
    #[arg(hide = true, value_name = "AGENT", value_parser = needs_to)]
    bare: Option<String>,
    #[command(flatten)]
    whom: Whom,
}

/// Refuses a name without an option. The error shows the options to type.
fn needs_to(name: &str) -> Result<String, String> {
    Err(format!(
        "write `transfer --to {name}` if {name} shall lead, and `transfer --agent {name}` if it shall hand over"
    ))
}

#[derive(Debug, clap::Args)]
pub(crate) struct SetScore {
    /// One to four whole numbers, compared from left to right
    #[arg(
        value_name = "NUMBER",
        num_args = 1..=4,
        allow_negative_numbers = true,
        required_unless_present = "withdraw",
        conflicts_with = "withdraw"
    )]
    parts: Vec<i64>,
    /// Takes the score away: the agent hands over, and is not elected until it gets a score again
    #[arg(long)]
    withdraw: bool,
    #[command(flatten)]
    whom: Whom,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Schedules {
    #[command(subcommand)]
    action: Option<SchedulesAction>,
}

#[derive(Debug, Subcommand)]
enum SchedulesAction {
    /// Removes the mark, for instance if a wrong clock has put it into the future; the leader begins anew within 10 s. Any node of the group takes the command
    Reset {
        /// The schedule
        #[arg(value_name = "NAME")]
        schedule: AgentId,
        #[command(flatten)]
        whom: Whom,
    },
}

/// Shows the voters, or changes them.
#[derive(Debug, clap::Args)]
pub(crate) struct Voters {
    #[command(subcommand)]
    change: Option<Change>,
}

/// Changes one voter at a time. Any node of the group takes the command.
#[derive(Debug, Subcommand)]
enum Change {
    /// Makes a learner a voter: an agent that runs with a store and `.learner()`
    Add {
        #[command(flatten)]
        new: New,
        #[command(flatten)]
        whom: Whom,
    },
    /// Takes a voter out of the list. It may continue as a learner if the others have its node in their `peers`
    Remove {
        /// The voter
        #[arg(value_name = "VOTER")]
        old: AgentId,
        #[command(flatten)]
        whom: Whom,
    },
    /// Replaces a voter by a learner, for instance a voter whose host is lost
    Replace {
        /// The voter to replace
        #[arg(value_name = "VOTER")]
        old: AgentId,
        #[command(flatten)]
        new: New,
        #[command(flatten)]
        whom: Whom,
    },
}

/// The learner that shall vote.
#[derive(Debug, clap::Args)]
struct New {
    /// The learner, by the name of its agent
    #[arg(value_name = "LEARNER")]
    id: AgentId,
    /// The name of its node, if the other nodes may not know it
    #[arg(long, value_name = "NODE", requires = "address")]
    node: Option<String>,
    /// The address at which the other nodes dial it
    #[arg(long, value_name = "HOST:PORT", requires = "node")]
    address: Option<String>,
}

impl New {
    fn voter(&self) -> NewVoter {
        let contact = self.node.clone().zip(self.address.clone());
        NewVoter {
            id: self.id.clone(),
            contact: contact.map(|(node, address)| Contact { node, address }),
        }
    }
}

impl Change {
    fn order(&self) -> Order {
        let (change, whom) = match self {
            Self::Add { new, whom } => (VoterChange::Add(new.voter()), whom),
            Self::Remove { old, whom } => (VoterChange::Remove(old.clone()), whom),
            Self::Replace { old, new, whom } => {
                let (old, new) = (old.clone(), new.voter());
                (VoterChange::Replace { old, new }, whom)
            }
        };
        whom.order(Command::ChangeVoters(change))
    }
}

/// The agent of the node, and the longest time to wait.
#[derive(Debug, clap::Args)]
pub(crate) struct Whom {
    /// The group of the agent, if the node has several
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// The name of the agent, if the node has several
    #[arg(long, value_name = "AGENT")]
    agent: Option<AgentId>,
    /// Longest time to wait for the outcome, in seconds: 60 at most
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    within: Duration,
}

impl Whom {
    fn order(&self, command: Command) -> Order {
        let mut order = Order::new(command).within(self.within);
        order.group.clone_from(&self.group);
        order.agent.clone_from(&self.agent);
        order
    }
}

impl Task {
    /// Returns the command to the agent, if the task is one.
    pub(crate) fn order(&self) -> Option<Order> {
        Some(match self {
            Self::Status
            | Self::Diagnosis
            | Self::History(_)
            | Self::Watch(_)
            | Self::Record(_)
            | Self::Preflight(_)
            | Self::Run(_) => return None,
            #[cfg(target_os = "linux")]
            Self::RunGuard(_) | Self::RunCommand(_) => return None,
            Self::Voters(Voters { change }) => return change.as_ref().map(Change::order),
            Self::Schedules(Schedules { action }) => {
                let SchedulesAction::Reset { schedule, whom } = action.as_ref()?;
                let schedule = schedule.clone();
                whom.order(Command::ResetSchedule { schedule })
            }
            Self::Transfer(Transfer { to, whom, .. }) => {
                whom.order(Command::StepDown { to: to.clone() })
            }
            Self::Drain(whom) => whom.order(Command::Drain),
            Self::Score(SetScore {
                withdraw: true,
                whom,
                ..
            }) => whom.order(Command::WithdrawScore),
            Self::Score(SetScore { parts, whom, .. }) => whom.order(Command::SetScore {
                score: score(parts),
            }),
        })
    }
}

/// Returns a score; missing parts on the right are 0.
fn score(parts: &[i64]) -> Score {
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    Score::from((part(0), part(1), part(2), part(3)))
}

/// Reads a span from 0.01 s to an hour.
fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text} is not a number of seconds from 0.01 to 3600");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if !(0.01..=3600.0).contains(&seconds) {
        return Err(wrong());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_arguments_fit_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn each_task_is_its_command() {
        let order = |line: &str| {
            let args = parse(&format!("bullyctl --socket s {line}")).unwrap();
            let order = args.task.order().unwrap();
            (order.command, order.within_ms)
        };
        let to = Some("b".parse().unwrap());
        assert_eq!(
            order("transfer --to b"),
            (Command::StepDown { to }, Some(10_000))
        );
        assert_eq!(order("drain --within 2.5"), (Command::Drain, Some(2_500)));
        let score = Score::from((2, -50));
        assert_eq!(order("score 2 -50").0, Command::SetScore { score });
        assert_eq!(order("score --withdraw").0, Command::WithdrawScore);
        let schedule = "nightly".parse().unwrap();
        assert_eq!(
            order("schedules reset nightly").0,
            Command::ResetSchedule { schedule }
        );
        let [old, id] = ["b", "d"].map(|name| name.parse::<AgentId>().unwrap());
        let contact = Some(Contact {
            node: "n4".to_owned(),
            address: "192.0.2.4:7400".to_owned(),
        });
        for (line, change) in [
            (
                "voters add d",
                VoterChange::Add(NewVoter {
                    id: id.clone(),
                    contact: None,
                }),
            ),
            ("voters remove b", VoterChange::Remove(old.clone())),
            (
                "voters replace b d --node n4 --address 192.0.2.4:7400",
                VoterChange::Replace {
                    old,
                    new: NewVoter { id, contact },
                },
            ),
        ] {
            assert_eq!(order(line).0, Command::ChangeVoters(change));
        }
        let shown = ["voters", "schedules"].map(|task| format!("bullyctl --socket s {task}"));
        let orders = shown.map(|line| parse(&line).unwrap().task.order());
        assert_eq!(orders, [None, None], "they are shown");
    }

    #[test]
    fn a_transfer_to_a_bare_name_says_what_to_type() {
        let refused = parse("bullyctl --socket s transfer api-1").unwrap_err();
        let says = "write `transfer --to api-1` if api-1 shall lead, and `transfer --agent api-1` if it shall hand over";
        assert!(refused.to_string().contains(says), "{refused}");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for line in [
            "bullyctl --socket s --url http://x status",
            "bullyctl --socket s --token-file f status",
            "bullyctl --socket s score",
            "bullyctl --socket s score 1 --withdraw",
            "bullyctl --socket s score 1 2 3 4 5",
            "bullyctl --socket s score 1.5",
            "bullyctl --socket s transfer --to a/b",
            "bullyctl --socket s drain --within 0",
            "bullyctl --socket s drain --within NaN",
            "bullyctl --socket s watch --every 4000",
            "bullyctl --socket s voters add",
            "bullyctl --socket s voters add d --node n4",
            "bullyctl --socket s voters add d --address 192.0.2.4:7400",
            "bullyctl --socket s voters replace b",
            "bullyctl --socket s voters remove",
            "bullyctl --socket s schedules reset",
            "bullyctl --socket s schedules reset a/b",
            "bullyctl preflight",
            "bullyctl preflight --config f --seconds 0",
            "bullyctl run --config f",
            "bullyctl run --config f --",
            "bullyctl run -- true",
            "bullyctl run --config f --try soon -- true",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
