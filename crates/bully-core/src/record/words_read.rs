//! Reads the words of a command.
//!
//! Decided here: a text is read completely or refused, and numbers are exact. Not here: the words (`words.rs`).

use std::{str::FromStr, time::Duration};

use super::{CommandError, NetworkRecord, RecordedCommand, words::verbs};
use crate::protocol::{AgentId, MemberKind, NewVoter, Score, VoterChange};

impl FromStr for RecordedCommand {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Self, CommandError> {
        let apart = text.replace('|', " | ").replace('>', " > ");
        let words: Vec<&str> = apart.split_whitespace().collect();
        Ok(match *words {
            ["crash", ref names @ ..] if !names.is_empty() => Self::Crash(ids(names)?),
            ["stop", ref names @ ..] if !names.is_empty() => Self::Stop(ids(names)?),
            ["kill", name] => Self::Kill(id(name)?),
            ["restart", name] => Self::Restart(id(name)?),
            ["hang", name] => Self::Hang(id(name)?),
            ["freeze", name] => Self::Freeze(id(name)?),
            ["resume", name] => Self::Resume(id(name)?),
            ["expire", name] => Self::Expire(id(name)?),
            ["join", name] => join(name, MemberKind::Voter, Some(number_of(name)))?,
            ["join", name, score] => join(name, MemberKind::Voter, read_rating(score)?)?,
            ["join-observer", name] => join(name, MemberKind::Observer, None)?,
            ["join-observer", name, score] => {
                join(name, MemberKind::Observer, read_rating(score)?)?
            }
            ["leave", name] => Self::Leave(id(name)?),
            ["score", name, score] => Self::Score {
                agent: id(name)?,
                score: read_rating(score)?,
            },
            ["step-down", name] => Self::StepDown {
                agent: id(name)?,
                to: None,
            },
            ["step-down", name, to] => Self::StepDown {
                agent: id(name)?,
                to: Some(id(to)?),
            },
            ["add-voter", name] => Self::ChangeVoters(VoterChange::Add(voter(name)?)),
            ["remove-voter", name] => Self::ChangeVoters(VoterChange::Remove(id(name)?)),
            ["replace-voter", old, new] => Self::ChangeVoters(VoterChange::Replace {
                old: id(old)?,
                new: voter(new)?,
            }),
            ["campaign", name] => Self::Campaign(id(name)?),
            ["partition", ref sides @ ..] if sides.split(is_bar).all(|side| !side.is_empty()) => {
                Self::Partition(sides.split(is_bar).map(ids).collect::<Result<_, _>>()?)
            }
            ["cut", one, other] => Self::Cut(id(one)?, id(other)?),
            ["cut", from, ">", to] => Self::CutOneWay(id(from)?, id(to)?),
            ["isolate", name] => Self::Isolate(id(name)?),
            ["mend", one, other] => Self::Mend(id(one)?, id(other)?),
            ["rejoin", name] => Self::Rejoin(id(name)?),
            ["heal"] => Self::Heal,
            ["network", ref parts @ ..] => Self::Network(read_network(parts)?),
            ["settle"] => Self::Settle,
            [verb, ..] if verbs().contains(&verb) => return Err(wrong_form(verb)),
            ref others => {
                let verb = (*others.first().unwrap_or(&"")).to_owned();
                return Err(CommandError::Unknown { verb });
            }
        })
    }
}

fn wrong_form(verb: &str) -> CommandError {
    let verb = verb.to_owned();
    CommandError::Form { verb }
}

fn is_bar(word: &&str) -> bool {
    *word == "|"
}

fn id(word: &str) -> Result<AgentId, CommandError> {
    let word = || word.to_owned();
    if word().contains(['|', '>', ';']) {
        return Err(CommandError::NoName { word: word() });
    }
    word().parse().map_err(|source| CommandError::Name {
        word: word(),
        source,
    })
}

fn ids(words: &[&str]) -> Result<Vec<AgentId>, CommandError> {
    words.iter().map(|word| id(word)).collect()
}

fn voter(word: &str) -> Result<NewVoter, CommandError> {
    Ok(NewVoter {
        id: id(word)?,
        contact: None,
    })
}

fn join(
    name: &str,
    kind: MemberKind,
    score: Option<Score>,
) -> Result<RecordedCommand, CommandError> {
    Ok(RecordedCommand::Join {
        agent: id(name)?,
        kind,
        score,
    })
}

/// Returns the number at the end of a name, or 0.
fn number_of(name: &str) -> Score {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let number = name.get(digits..).and_then(|number| number.parse().ok());
    Score::from(number.unwrap_or(0_i64))
}

fn read_rating(word: &str) -> Result<Option<Score>, CommandError> {
    if word == "none" {
        return Ok(None);
    }
    let parts: Result<Vec<i64>, _> = word.split(',').map(str::parse).collect();
    let score = match parts.unwrap_or_default()[..] {
        [a] => Score::from(a),
        [a, b] => Score::from((a, b)),
        [a, b, c] => Score::from((a, b, c)),
        [a, b, c, d] => Score::from((a, b, c, d)),
        _ => {
            return Err(CommandError::Score {
                word: word.to_owned(),
            });
        }
    };
    Ok(Some(score))
}

fn read_network(mut parts: &[&str]) -> Result<NetworkRecord, CommandError> {
    let mut network = NetworkRecord::default();
    loop {
        parts = match *parts {
            [] => return Ok(network),
            ["delay", by, ref rest @ ..] => {
                network.delay_ns = read_range(by)?;
                rest
            }
            ["loss", share, ref rest @ ..] => {
                network.loss = read_share(share)?;
                rest
            }
            ["duplicate", share, ref rest @ ..] => {
                network.duplication = read_share(share)?;
                rest
            }
            ["slow", share, by, ref rest @ ..] => {
                network.slow = read_share(share)?;
                network.slow_by_ns = read_range(by)?;
                rest
            }
            ["any-order", ref rest @ ..] => {
                network.any_order = true;
                rest
            }
            _ => return Err(wrong_form("network")),
        };
    }
}

fn read_range(word: &str) -> Result<(u64, u64), CommandError> {
    let (min, max) = word.split_once("..").unwrap_or((word, word));
    Ok((read_nanos(min)?, read_nanos(max)?))
}

/// Reads a number with its unit. Fractions of a unit are allowed, fractions of a nanosecond are refused: the span is
/// used without rounding.
///
/// # Errors
/// [`CommandError::Span`] if the word is not a span of time.
pub fn read_span(word: &str) -> Result<Duration, CommandError> {
    read_nanos(word).map(Duration::from_nanos)
}

fn read_nanos(word: &str) -> Result<u64, CommandError> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let nanos = match word.get(digits.len()..) {
        Some("s") => decimal(digits, 1_000_000_000),
        Some("ms") => decimal(digits, 1_000_000),
        Some("us") => decimal(digits, 1_000),
        Some("ns") => decimal(digits, 1),
        _ => None,
    };
    nanos.ok_or_else(|| CommandError::Span {
        word: word.to_owned(),
    })
}

/// Reads a share in per cent. Returns it in thousandths.
fn read_share(word: &str) -> Result<u16, CommandError> {
    word.strip_suffix('%')
        .and_then(|per_cent| decimal(per_cent, 10))
        .and_then(|per_mille| u16::try_from(per_mille).ok())
        .filter(|per_mille| *per_mille <= 1_000)
        .ok_or_else(|| CommandError::Share {
            word: word.to_owned(),
        })
}

/// Returns a number without a sign times `unit`, if the result is a whole number of at most 64 bits. It uses
/// integers, because a floating-point number would round without an error.
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
