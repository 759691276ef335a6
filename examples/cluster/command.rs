//! What can be done to a cluster, as text: for scripts, for typing, and for telling how a run went.
//!
//! A verb is a variant of [`Verb`], and its comment is its line in `help`; `clap` reads its arguments. Whether
//! there is an agent of a name is the cluster's business, at the moment when the command runs.

use std::{fmt, str::FromStr, time::Duration};

use actix_bully::{
    protocol::{AgentId, Election, NewVoter, Score, Time, VoterChange},
    testkit::{
        cluster::{Cluster, ClusterError, ClusterStatus, Settled},
        faults::ConditionsBuilder,
    },
};
use clap::{
    Args, CommandFactory, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// A command that was read, and its text.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    text: String,
    pub(crate) verb: Verb,
}

#[derive(Clone, Debug, Parser)]
#[command(
    multicall = true,
    disable_help_flag = true,
    help_template = "{subcommands}{after-help}",
    after_help = "5 means agent-5; commands are separated by `;` or lines, `#` begins a remark."
)]
pub(crate) enum Verb {
    /// These agents panic at the same moment: `crash 4 5`
    Crash(Names),
    /// These agents end at the same moment, without handing over: `stop 5`
    Stop(Names),
    /// These agents start again, each in a new incarnation: `restart 5`
    Restart(Names),
    /// These agents handle neither messages nor timers: `hang 5`
    Hang(Names),
    /// These agents go on after a hang: `resume 5`
    Resume(Names),
    /// A new agent joins; its score is its number unless one is given: `join 6`, `join 6 50`, `join 6 none`
    Join {
        name: Name,
        #[arg(allow_hyphen_values = true)]
        score: Option<Rating>,
    },
    /// These agents hand over, one after the other, and leave for good: `leave 5`
    Leave(Names),
    /// Separates sides, which do not reach each other: `partition 1 2 | 3 4 5`
    Partition {
        #[arg(required = true)]
        sides: Vec<Side>,
    },
    /// Cuts a link, both ways or one way: `cut 1 2`, `cut 1 > 2`
    Cut { link: Link },
    /// Cuts all links of these agents: `isolate 3`
    Isolate(Names),
    /// Mends the link of two agents: `mend 1 2`
    Mend { one: Name, other: Name },
    /// Ends the isolation of these agents: `rejoin 3`
    Rejoin(Names),
    /// Ends every partition, cut and isolation: `heal`
    Heal,
    /// How long a message is under way: `delay 5ms`, `delay 5ms..20ms`
    Delay { range: Range },
    /// How many messages are lost: `loss 10%`
    Loss {
        #[arg(value_parser = per_mille)]
        share: u16,
    },
    /// How many messages arrive twice: `duplicate 0.5%`
    Duplicate {
        #[arg(value_parser = per_mille)]
        share: u16,
    },
    /// Changes a score: `score 2 50`, `score 2 10,-300`, `score 2 none`
    Score {
        name: Name,
        #[arg(allow_hyphen_values = true)]
        score: Rating,
    },
    /// The leader hands over, to the second if one is named: `step-down 5`, `step-down 5 3`
    StepDown { name: Name, to: Option<Name> },
    /// An agent that has joined a quorum votes from now on: `add-voter 6`
    AddVoter { name: Name },
    /// A voter of a quorum only follows from now on: `remove-voter 5`
    RemoveVoter { name: Name },
    /// One agent votes in the place of another: `replace-voter 5 6`
    ReplaceVoter { old: Name, new: Name },
    /// This agent holds an election: `campaign 1`
    Campaign { name: Name },
    /// Waits until it is settled which agents lead: `settle`
    Settle,
    /// Lets time pass: `wait 500ms`
    Wait {
        #[arg(value_parser = span)]
        time: Duration,
    },
    /// Lets time pass until then, counted from the beginning: `until 2s`
    Until {
        #[arg(value_parser = span)]
        time: Duration,
    },
    /// The state of every agent, and its leader: `status`
    Status,
    /// What happened so far: `trace`
    Trace,
    /// Ends the run: `quit`
    Quit,
    #[command(skip)]
    Help(String),
}

/// The agents that a verb is about.
#[derive(Args, Clone, Debug)]
pub(crate) struct Names {
    #[arg(required = true)]
    pub(crate) names: Vec<Name>,
}

/// What a command has to say.
#[derive(Debug)]
pub(crate) enum Answer {
    Done,
    Settled(Settled),
    Status(ClusterStatus),
    Text(String),
    /// No more commands are to be run.
    Quit,
}

/// Reads commands separated by `;` or lines. Either all of them can be read, or none is returned.
pub(crate) fn read(script: &str) -> Result<Vec<Command>, String> {
    let code = script.lines().map(|line| line.split('#').next());
    let commands = code.flatten().flat_map(|line| line.split(';'));
    let commands = commands.map(str::trim).filter(|text| !text.is_empty());
    commands.map(str::parse).collect()
}

impl FromStr for Command {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (verb, arguments) = text.split_once(' ').unwrap_or((&text, ""));
        let mut words = vec![verb];
        match verb {
            // A side and a link are one argument each, spaces or not.
            "partition" => words.extend(arguments.split('|')),
            "cut" => words.push(arguments),
            _ => words.extend(arguments.split_whitespace()),
        }
        let verb = match Verb::try_parse_from(words) {
            Ok(verb) => verb,
            Err(help) if help.kind() == ErrorKind::DisplayHelp => Verb::Help(help.to_string()),
            Err(wrong) => return Err(advice(&wrong)),
        };
        Ok(Self { text, verb })
    }
}

/// What is wrong with a command, and what to write instead.
fn advice(wrong: &clap::Error) -> String {
    let Some(word) = wrong.get(ContextKind::InvalidSubcommand) else {
        let text = wrong.to_string();
        return text.trim_start_matches("error: ").trim_end().to_owned();
    };
    if let Some(ContextValue::Strings(near)) = wrong.get(ContextKind::SuggestedSubcommand)
        && let Some(near) = near.first()
    {
        return format!("there is no command `{word}`; did you mean `{near}`?");
    }
    let verbs = Verb::command();
    let known: Vec<_> = verbs
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    format!(
        "there is no command `{word}`, but help, {}",
        known.join(", ")
    )
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Command {
    /// Does it. Of several agents those before the one that was refused are done, except for `crash` and
    /// `stop`, which are all or nothing.
    pub(crate) async fn run<E: Election>(
        self,
        cluster: &mut Cluster<E>,
    ) -> Result<Answer, ClusterError> {
        match self.verb {
            Verb::Settle => return Ok(Answer::Settled(cluster.settle().await?)),
            Verb::Status => return Ok(Answer::Status(cluster.status())),
            Verb::Trace => return Ok(Answer::Text(cluster.trace().to_text().trim_end().into())),
            Verb::Help(text) => return Ok(Answer::Text(text.trim_end().into())),
            Verb::Quit => return Ok(Answer::Quit),

            Verb::Crash(Names { names }) => cluster.crash_all(names).await?,
            Verb::Stop(Names { names }) => cluster.stop_all(names).await?,
            Verb::Restart(Names { names }) => each(&names, |name| cluster.restart(name))?,
            Verb::Hang(Names { names }) => {
                for name in names {
                    cluster.hang(name.as_ref()).await?;
                }
            }
            Verb::Resume(Names { names }) => each(&names, |name| cluster.resume(name))?,
            Verb::Join { name, score } => match score.unwrap_or_else(|| name.rating()).0 {
                Some(score) => cluster.join(name.as_ref(), score)?,
                None => cluster.join_witness(name.as_ref())?,
            },
            Verb::Leave(Names { names }) => {
                for name in names {
                    cluster.leave(name.as_ref()).await?;
                }
            }

            Verb::Score { name, score } => match score.0 {
                Some(score) => cluster.set_score(name.as_ref(), score)?,
                None => cluster.withdraw_score(name.as_ref())?,
            },
            Verb::StepDown { name, to } => {
                cluster.step_down(name.as_ref(), to.as_ref().map(AsRef::as_ref))?;
            }
            Verb::AddVoter { name } => cluster.change_voters(VoterChange::Add(name.voter()))?,
            Verb::RemoveVoter { name } => cluster.change_voters(VoterChange::Remove(name.0))?,
            Verb::ReplaceVoter { old, new } => cluster.change_voters(old.replaced_by(new))?,
            Verb::Campaign { name } => cluster.campaign(name.as_ref())?,

            Verb::Partition { sides } => cluster.partition(sides.into_iter().map(|side| side.0))?,
            Verb::Cut {
                link:
                    Link {
                        one,
                        other,
                        one_way: false,
                    },
            } => cluster.cut(one.as_ref(), other.as_ref())?,
            Verb::Cut { link } => cluster.cut_one_way(link.one.as_ref(), link.other.as_ref())?,
            Verb::Isolate(Names { names }) => each(&names, |name| cluster.isolate(name))?,
            Verb::Mend { one, other } => cluster.mend(one.as_ref(), other.as_ref())?,
            Verb::Rejoin(Names { names }) => each(&names, |name| cluster.rejoin(name))?,
            Verb::Heal => cluster.heal(),
            Verb::Delay {
                range: Range(min, max),
            } => network(cluster, |c| c.delay(min..=max))?,
            Verb::Loss { share } => network(cluster, |c| c.loss(share))?,
            Verb::Duplicate { share } => network(cluster, |c| c.duplication(share))?,
            Verb::Wait { time } => actix::clock::sleep(time).await,
            Verb::Until { time } => cluster.wait_until(Time::ZERO.after(time)).await,
        }
        Ok(Answer::Done)
    }
}

fn each(
    names: &[Name],
    mut act: impl FnMut(&str) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    names.iter().try_for_each(|name| act(name.as_ref()))
}

fn network<E: Election>(
    cluster: &mut Cluster<E>,
    change: impl FnOnce(ConditionsBuilder) -> ConditionsBuilder,
) -> Result<(), ClusterError> {
    let conditions = change(cluster.conditions().to_builder()).build()?;
    cluster.set_network(conditions);
    Ok(())
}

/// The name of an agent; a number means `agent-<number>`, unless an agent has that very name.
#[derive(Clone, Debug)]
pub(crate) struct Name(AgentId);

impl Name {
    /// The number at its end, or 0.
    fn rating(&self) -> Rating {
        let name = self.as_ref();
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number = name.get(digits..).and_then(|number| number.parse().ok());
        Rating(Some(Score::from(number.unwrap_or(0_i64))))
    }
}

impl Name {
    /// As a voter of a cluster, which needs no address.
    fn voter(self) -> NewVoter {
        let contact = None;
        NewVoter {
            id: self.0,
            contact,
        }
    }

    fn replaced_by(self, new: Self) -> VoterChange {
        VoterChange::Replace {
            old: self.0,
            new: new.voter(),
        }
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if word.contains(['|', '>']) {
            return Err(format!("`{word}` has no meaning here"));
        }
        let name = word.parse().map_err(|wrong| format!("{wrong}"))?;
        Ok(Self(name))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Side(pub(crate) Vec<Name>);

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = text
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<Vec<_>, _>>()?;
        if names.is_empty() {
            return Err("each side has an agent, as in `partition 1 2 | 3 4 5`".into());
        }
        Ok(Self(names))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Link {
    one: Name,
    other: Name,
    /// Only what the first says is not heard.
    one_way: bool,
}

impl FromStr for Link {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('>').or_else(|| text.split_once(' '));
        let (one, other) = parts.ok_or("write `cut 1 2` or `cut 1 > 2`")?;
        Ok(Self {
            one: one.trim().parse()?,
            other: other.trim().parse()?,
            one_way: text.contains('>'),
        })
    }
}

/// A score, or none: the agent is not eligible.
#[derive(Clone, Debug)]
pub(crate) struct Rating(Option<Score>);

impl FromStr for Rating {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        const RULE: &str = "write a number, up to four joined by commas as in `10,-300`, or `none`";
        if word == "none" {
            return Ok(Self(None));
        }
        let parts: Result<Vec<i64>, _> = word.split(',').map(str::parse).collect();
        let mut parts = parts.map_err(|_| RULE)?;
        parts.resize(parts.len().max(4), 0);
        let [a, b, c, d] = parts.try_into().map_err(|_| RULE)?;
        Ok(Self(Some(Score::from((a, b, c, d)))))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Range(Duration, Duration);

impl FromStr for Range {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let (min, max) = word.split_once("..").unwrap_or((word, word));
        let (min, max) = (span(min)?, span(max)?);
        if min > max {
            return Err("write the shorter one first, as in `5ms..20ms`");
        }
        Ok(Self(min, max))
    }
}

/// A number with its unit. Fractions of a unit are read, fractions of a nanosecond are not: what was typed is
/// what happens.
pub(crate) fn span(word: &str) -> Result<Duration, &'static str> {
    const RULE: &str = "write a number with ns, us, ms or s, such as `500ms` or `1.5s`";
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let nanos_per_unit = match word.get(digits.len()..) {
        Some("s") => 1_000_000_000,
        Some("ms") => 1_000_000,
        Some("us") => 1_000,
        Some("ns") => 1,
        _ => return Err(RULE),
    };
    decimal(digits, nanos_per_unit)
        .map(Duration::from_nanos)
        .ok_or(RULE)
}

/// A share in per cent, as per mille.
fn per_mille(word: &str) -> Result<u16, &'static str> {
    word.strip_suffix('%')
        .and_then(|per_cent| decimal(per_cent, 10))
        .and_then(|per_mille| u16::try_from(per_mille).ok())
        .filter(|per_mille| *per_mille <= 1_000)
        .ok_or("write 0% to 100%, such as `10%` or `0.5%`")
}

/// A number without a sign times `unit`, if that is a whole number of at most 64 bits. It is computed in whole
/// numbers: a floating-point number would round in silence.
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (text, ""),
    };
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let parts: u64 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().ok()?
    };
    let parts = parts.checked_mul(unit)?;
    if parts % scale != 0 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(unit)?.checked_add(parts / scale)
}
