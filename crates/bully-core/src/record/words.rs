//! The words of a command. A user types these words; they are sent, recorded in a script and given in a test.
//!
//! Decided here: one text for each command. A reader of the text gets the same command (`words_read.rs`), but without
//! the contact of a new voter, which a cluster does not need. Not here: the list of commands (`command.rs`), and
//! whether an agent has such a name (`testkit::cluster`).

use std::fmt;

use super::{NetworkRecord, RecordedCommand};
use crate::protocol::{AgentId, IdError, MemberKind, Score, VoterChange};

impl RecordedCommand {
    /// An example of each form, with its meaning.
    pub const FORMS: [(&str, &str); 32] = [
        (
            "crash agent-4 agent-5",
            "these agents panic at the same moment",
        ),
        (
            "stop agent-4 agent-5",
            "these agents end at the same moment, without handing over",
        ),
        ("kill agent-5", "the process of this agent ends at once"),
        (
            "restart agent-5",
            "this agent starts again, in a new incarnation",
        ),
        (
            "hang agent-5",
            "this agent handles neither messages nor timers",
        ),
        ("freeze agent-5", "the process of this agent stands still"),
        ("resume agent-5", "this agent goes on after a hang"),
        (
            "expire agent-5",
            "the leadership of this agent runs out by its own clock",
        ),
        (
            "join agent-6",
            "a new agent joins; its score is the number at the end of its name",
        ),
        ("join agent-6 50", "a new agent joins with this score"),
        (
            "join agent-6 none",
            "a new agent joins that cannot be elected",
        ),
        (
            "join-observer agent-6",
            "a new agent joins that only follows",
        ),
        (
            "join-observer agent-6 50",
            "the same, with a score that counts when it becomes a voter",
        ),
        (
            "leave agent-5",
            "this agent hands over, and leaves for good",
        ),
        ("score agent-2 50", "changes a score"),
        (
            "score agent-2 10,-300",
            "changes a score of several parts, four at most",
        ),
        ("score agent-2 none", "this agent can no longer be elected"),
        ("step-down agent-5", "the leader hands over"),
        (
            "step-down agent-5 agent-3",
            "the leader hands over to the second agent",
        ),
        (
            "add-voter agent-6",
            "an agent that has joined a quorum votes from now on",
        ),
        (
            "remove-voter agent-5",
            "a voter of a quorum only follows from now on",
        ),
        (
            "replace-voter agent-5 agent-6",
            "one agent votes in the place of another",
        ),
        ("campaign agent-1", "this agent holds an election"),
        (
            "partition agent-1 agent-2 | agent-3",
            "separates sides; agents on none are one more side",
        ),
        ("cut agent-1 agent-2", "cuts a link, both ways"),
        (
            "cut agent-1 > agent-2",
            "cuts a link one way: the second does not hear the first",
        ),
        ("isolate agent-3", "cuts all links of this agent"),
        ("mend agent-1 agent-2", "mends the link of two agents"),
        ("rejoin agent-3", "ends the isolation of this agent"),
        ("heal", "ends every partition, cut and isolation"),
        (
            "network delay 5ms..20ms loss 10% duplicate 0.5% slow 1% 1s any-order",
            "what happens to all messages; a part that is left out does not happen",
        ),
        ("settle", "waits until it is settled which agents lead"),
    ];
}

/// The reason why a text cannot be read as a command.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The first word is not a command.
    #[error("there is no command `{verb}`{}", instead(verb))]
    Unknown {
        /// The first word of the text.
        verb: String,
    },
    /// The words after the first word do not fit it.
    #[error("the words after `{verb}` do not fit it: write {}", forms(verb))]
    Form {
        /// The first word of the command.
        verb: String,
    },
    /// A word in the place of an agent's name is a separator, or cannot be used in a script.
    #[error("`{word}` has no meaning here: write the name of an agent")]
    NoName {
        /// The word that cannot be a name.
        word: String,
    },
    /// The word cannot be the name of an agent.
    #[error("{word:?} cannot be the name of an agent: {source}")]
    Name {
        /// The word that cannot be a name.
        word: String,
        /// The reason why it cannot be a name.
        source: IdError,
    },
    /// A word is not a score.
    #[error(
        "`{word}` is not a score: write a number, up to four joined by commas as in `10,-300`, or `none`"
    )]
    Score {
        /// The word that is not a score.
        word: String,
    },
    /// A word is not a span of time.
    #[error(
        "`{word}` is not a span of time: write a number with ns, us, ms or s, such as `500ms` or `1.5s`"
    )]
    Span {
        /// The word that is not a span of time.
        word: String,
    },
    /// A word is not a share.
    #[error("`{word}` is not a share of messages: write 0% to 100%, such as `10%` or `0.5%`")]
    Share {
        /// The word that is not a share.
        word: String,
    },
}

debug_is_text!(CommandError);

/// Returns the first words of all forms.
pub(super) fn verbs() -> Vec<&'static str> {
    let forms = RecordedCommand::FORMS.iter();
    let mut verbs: Vec<_> = forms
        .filter_map(|(form, _)| form.split(' ').next())
        .collect();
    verbs.dedup();
    verbs
}

/// Returns a suggestion in place of an unknown word.
fn instead(word: &str) -> String {
    let part = RecordedCommand::FORMS
        .iter()
        .map(|(form, _)| *form)
        .find(|form| form.split(' ').any(|part| part == word));
    match nearest(word).or(part) {
        Some(other) => format!("; did you mean `{other}`?"),
        None => format!(", but {}.", verbs().join(", ")),
    }
}

/// Returns the first word of a command that differs from `word` in at most two successive letters: a typing error.
fn nearest(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    verbs().into_iter().find(|verb| {
        let same = |(one, other): &(char, char)| one == other;
        let front = word.chars().zip(verb.chars()).take_while(same);
        let back = word.chars().rev().zip(verb.chars().rev());
        let alike = front.count() + back.take_while(same).count();
        word.len().max(verb.len()) <= alike + 2
    })
}

fn forms(verb: &str) -> String {
    let forms = RecordedCommand::FORMS.iter();
    let of_verb = forms.filter(|(form, _)| form.split(' ').next() == Some(verb));
    let quoted: Vec<_> = of_verb.map(|(form, _)| format!("`{form}`")).collect();
    quoted.join(" or ")
}

impl fmt::Display for RecordedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash(agents) => write!(f, "crash {}", names(agents)),
            Self::Stop(agents) => write!(f, "stop {}", names(agents)),
            Self::Kill(agent) => write!(f, "kill {agent}"),
            Self::Restart(agent) => write!(f, "restart {agent}"),
            Self::Hang(agent) => write!(f, "hang {agent}"),
            Self::Freeze(agent) => write!(f, "freeze {agent}"),
            Self::Resume(agent) => write!(f, "resume {agent}"),
            Self::Expire(agent) => write!(f, "expire {agent}"),
            Self::Join { agent, kind, score } => match (kind, score) {
                (MemberKind::Voter, score) => write!(f, "join {agent} {}", rating(*score)),
                (MemberKind::Observer, None) => write!(f, "join-observer {agent}"),
                (MemberKind::Observer, score) => {
                    write!(f, "join-observer {agent} {}", rating(*score))
                }
            },
            Self::Leave(agent) => write!(f, "leave {agent}"),
            Self::Score { agent, score } => write!(f, "score {agent} {}", rating(*score)),
            Self::StepDown { agent, to: None } => write!(f, "step-down {agent}"),
            Self::StepDown {
                agent,
                to: Some(to),
            } => write!(f, "step-down {agent} {to}"),
            Self::ChangeVoters(VoterChange::Add(new)) => write!(f, "add-voter {}", new.id),
            Self::ChangeVoters(VoterChange::Remove(old)) => write!(f, "remove-voter {old}"),
            Self::ChangeVoters(VoterChange::Replace { old, new }) => {
                write!(f, "replace-voter {old} {}", new.id)
            }
            Self::Campaign(agent) => write!(f, "campaign {agent}"),
            Self::Partition(sides) => {
                let sides: Vec<String> = sides.iter().map(|side| names(side)).collect();
                write!(f, "partition {}", sides.join(" | "))
            }
            Self::Cut(one, other) => write!(f, "cut {one} {other}"),
            Self::CutOneWay(from, to) => write!(f, "cut {from} > {to}"),
            Self::Isolate(agent) => write!(f, "isolate {agent}"),
            Self::Mend(one, other) => write!(f, "mend {one} {other}"),
            Self::Rejoin(agent) => write!(f, "rejoin {agent}"),
            Self::Heal => f.write_str("heal"),
            Self::Network(network) => write!(f, "network {network}"),
            Self::Settle => f.write_str("settle"),
        }
    }
}

/// Writes the conditions as in the command `network`.
impl fmt::Display for NetworkRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delay {}", range(self.delay_ns))?;
        if self.loss > 0 {
            write!(f, " loss {}", per_cent(self.loss))?;
        }
        if self.duplication > 0 {
            write!(f, " duplicate {}", per_cent(self.duplication))?;
        }
        if self.slow > 0 || self.slow_by_ns != (0, 0) {
            write!(
                f,
                " slow {} {}",
                per_cent(self.slow),
                range(self.slow_by_ns)
            )?;
        }
        f.write_str(if self.any_order { " any-order" } else { "" })
    }
}

fn names(agents: &[AgentId]) -> String {
    let names: Vec<&str> = agents.iter().map(AgentId::as_str).collect();
    names.join(" ")
}

fn rating(score: Option<Score>) -> String {
    score.map_or_else(
        || String::from("none"),
        |score| score.to_string().replace(['(', ')', ' '], ""),
    )
}

fn per_cent(per_mille: u16) -> String {
    match (per_mille / 10, per_mille % 10) {
        (whole, 0) => format!("{whole}%"),
        (whole, tenth) => format!("{whole}.{tenth}%"),
    }
}

fn range((min, max): (u64, u64)) -> String {
    if min == max {
        return span(min);
    }
    format!("{}..{}", span(min), span(max))
}

/// Writes nanoseconds with their unit, in whole milliseconds if possible.
pub(super) fn span(nanos: u64) -> String {
    if nanos.is_multiple_of(1_000_000) {
        format!("{}ms", nanos / 1_000_000)
    } else {
        format!("{nanos}ns")
    }
}
