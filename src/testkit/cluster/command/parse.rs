//! Reads a command: the first word says which, the others have their places.

use std::{iter::Peekable, str::FromStr, time::Duration, vec::IntoIter};

use super::{
    Command, CommandError,
    verbs::{VERBS, Verb},
};
use crate::protocol::{After, AgentId, Score};

impl FromStr for Command {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Self, CommandError> {
        // The signs between names are words of their own, with or without spaces.
        let spaced = text.replace('|', " | ").replace('>', " > ");
        let mut words = spaced.split_whitespace().map(str::to_owned);
        let first = words.next().ok_or(CommandError::Empty)?;
        let verb = VERBS.iter().find(|verb| verb.word == first);
        let verb = *verb.ok_or_else(|| CommandError::unknown(&first))?;
        let rest = words.collect::<Vec<_>>().into_iter().peekable();
        let mut words = Words { verb, rest };
        let command = words.command()?;
        words.end()?;
        Ok(command)
    }
}

/// What follows the first word of a command.
struct Words {
    verb: Verb,
    rest: Peekable<IntoIter<String>>,
}

impl Words {
    fn command(&mut self) -> Result<Command, CommandError> {
        Ok(match self.verb.word {
            "crash" => Command::Crash(self.names()?),
            "stop" => Command::Stop(self.names()?),
            "restart" => Command::Restart(self.names()?),
            "hang" => Command::Hang(self.names()?),
            "resume" => Command::Resume(self.names()?),
            "join" => self.join()?,
            "leave" => Command::Leave(self.names()?),
            "partition" => Command::Partition(self.sides()?),
            "cut" => self.cut()?,
            "isolate" => Command::Isolate(self.names()?),
            "heal" => Command::Heal,
            "delay" => Command::Delay(delay(&self.need("a duration")?)?),
            "loss" => Command::Loss {
                per_mille: share(&self.need("a share")?)?,
            },
            "duplicate" => Command::Duplicate {
                per_mille: share(&self.need("a share")?)?,
            },
            "score" => Command::Score {
                name: self.name()?,
                score: score(&self.need("a score")?)?,
            },
            "step-down" => Command::StepDown {
                name: self.name()?,
                to: self.rest.next().map(|word| name(&word)).transpose()?,
            },
            "campaign" => Command::Campaign(self.name()?),
            "settle" => Command::Settle,
            "wait" => Command::Wait(duration(&self.need("a duration")?)?),
            "status" => Command::Status,
            "trace" => Command::Trace,
            "help" => Command::Help,
            "quit" => Command::Quit,
            other => return Err(CommandError::unknown(other)),
        })
    }

    fn join(&mut self) -> Result<Command, CommandError> {
        let name = self.name()?;
        let score = match self.rest.next() {
            Some(word) => score(&word)?,
            None => Some(number_in(&name).into()),
        };
        Ok(Command::Join { name, score })
    }

    fn cut(&mut self) -> Result<Command, CommandError> {
        let first = self.name_of("two names")?;
        let one_way = self.rest.next_if(|word| word == ">").is_some();
        let second = self.name_of("two names")?;
        Ok(if one_way {
            Command::CutOneWay {
                from: first,
                to: second,
            }
        } else {
            Command::Cut {
                one: first,
                other: second,
            }
        })
    }

    fn sides(&mut self) -> Result<Vec<Vec<AgentId>>, CommandError> {
        let mut sides = vec![self.names()?];
        while self.rest.next_if(|word| word == "|").is_some() {
            sides.push(self.names()?);
        }
        Ok(sides)
    }

    /// One name or more, up to the next sign.
    fn names(&mut self) -> Result<Vec<AgentId>, CommandError> {
        let mut names = vec![self.name()?];
        while let Some(word) = self.rest.next_if(|word| word != "|" && word != ">") {
            names.push(name(&word)?);
        }
        Ok(names)
    }

    fn name(&mut self) -> Result<AgentId, CommandError> {
        self.name_of("the name of an agent")
    }

    fn name_of(&mut self, what: &'static str) -> Result<AgentId, CommandError> {
        if let Some("|" | ">") = self.rest.peek().map(String::as_str) {
            return Err(self.missing(what));
        }
        name(&self.need(what)?)
    }

    fn need(&mut self, what: &'static str) -> Result<String, CommandError> {
        self.rest.next().ok_or_else(|| self.missing(what))
    }

    fn end(&mut self) -> Result<(), CommandError> {
        let Some(word) = self.rest.next() else {
            return Ok(());
        };
        let Verb {
            word: verb, usage, ..
        } = self.verb;
        Err(CommandError::Surplus { verb, word, usage })
    }

    fn missing(&self, what: &'static str) -> CommandError {
        let Verb {
            word: verb, usage, ..
        } = self.verb;
        CommandError::Missing { verb, what, usage }
    }
}

fn name(word: &str) -> Result<AgentId, CommandError> {
    AgentId::new(word).map_err(|source| CommandError::Name {
        word: word.to_owned(),
        source,
    })
}

/// The number at a name's end, or 0.
fn number_in(name: &AgentId) -> i64 {
    let name = name.as_str();
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name.get(digits..)
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

fn delay(word: &str) -> Result<After, CommandError> {
    let Some((min, max)) = word.split_once("..") else {
        return duration(word).map(After::from);
    };
    let (min, max) = (duration(min)?, duration(max)?);
    if min > max {
        let word = word.to_owned();
        return Err(CommandError::Range { word });
    }
    Ok(After { min, max })
}

/// A number with its unit; fractions of a unit are read, those of a nanosecond are not.
fn duration(word: &str) -> Result<Duration, CommandError> {
    let refused = || CommandError::Duration {
        word: word.to_owned(),
    };
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = word.get(digits.len()..).unwrap_or_default();
    let (_, nanos) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(refused)?;
    let nanos = decimal(digits, *nanos).ok_or_else(refused)?;
    Ok(Duration::from_nanos(nanos))
}

/// A share in per cent, as per mille.
fn share(word: &str) -> Result<u16, CommandError> {
    word.strip_suffix('%')
        .and_then(|per_cent| decimal(per_cent, 10))
        .and_then(|per_mille| u16::try_from(per_mille).ok())
        .filter(|per_mille| *per_mille <= 1000)
        .ok_or_else(|| CommandError::Share {
            word: word.to_owned(),
        })
}

/// A number without a sign times `unit`, if that is a whole number.
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || text.ends_with('.') {
        return None;
    }
    let mut sum = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.bytes() {
        let digit = u64::from(digit.checked_sub(b'0')?);
        let shifted = place.is_multiple_of(10).then_some(place / 10);
        match shifted {
            Some(smaller) => place = smaller,
            None if digit == 0 => continue,
            None => return None,
        }
        sum = sum.checked_add(digit.checked_mul(place)?)?;
    }
    Some(sum)
}

fn score(word: &str) -> Result<Option<Score>, CommandError> {
    if word == "none" {
        return Ok(None);
    }
    let refused = || CommandError::Score {
        word: word.to_owned(),
    };
    let mut parts = [0_i64; 4];
    let mut places = parts.iter_mut();
    for part in word.split(',') {
        let place = places.next().ok_or_else(refused)?;
        *place = part.parse().map_err(|_| refused())?;
    }
    let [a, b, c, d] = parts;
    Ok(Some(Score::from((a, b, c, d))))
}

/// The units of durations, in nanoseconds; the largest first.
pub(super) const UNITS: [(&str, u64); 4] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
