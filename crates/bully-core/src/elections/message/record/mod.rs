//! The contents of a register: the record of a lease, the record of a claim, the records of present agents, and their
//! text. Decided here: the fields, the strict and bounded text of the records, and which text is refused. Not here:
//! which agent may write which record, and when ([`lease`](crate::elections::lease)), and how a store keeps a record.
//!
//! ```text
//! actix-bully lease 1            the kind of record, and its format
//! cluster shop
//! group cron
//! term 42
//! holder api-1 115964116992 7    the agent and its incarnation, its score in four parts; or: holder -
//! lease 900000                   for how long it is not taken over, in microseconds
//! nonce api-1 115964116992 17    who wrote it, and its number among the attempts of that incarnation
//! next api-2 40000               for whom it was released, and for how long; or: next -
//! about http://10.0.0.3:8080     what the holder says of itself; without that there is no such line
//! ```
//!
//! All lines except the last are always present, in this order, and each ends with a line feed. Numbers are decimal,
//! without sign (except the parts of a score) and without leading zeros. So one record has one text, and a store may
//! compare texts.

mod present;

use std::{
    fmt::{self, Write as _},
    str::{FromStr, Lines},
};

pub use present::PresentRecord;

use super::Micros;
use crate::protocol::{About, AgentId, Incarnation, Score, Term};

/// The format that is written. Only this format can be read.
const RECORD_FORMAT: u32 = 1;

/// Longest text of a record, in bytes: six names and the text that the holder publishes, each of up to 256 bytes, and
/// 256 bytes for words and numbers.
pub const MAX_RECORD: usize = 2_048;

/// Largest valid term. After a higher term, few or no terms would be left for later leaders.
const LAST_TERM: u64 = u64::MAX - (1 << 32);

/// The name of a lease: one group in one cluster. Both names follow the rules of an [`AgentId`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseName {
    /// The name of the cluster.
    pub cluster: AgentId,
    /// The name of the group in the cluster.
    pub group: AgentId,
}

/// The number of one attempt to write. No two attempts, of the same agent or of different agents, have the same nonce.
///
/// No randomness is needed: the name is unique in the group, the incarnation is unique for the name, and the attempt is
/// unique in the incarnation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nonce {
    /// The agent that wrote the record.
    pub id: AgentId,
    /// The incarnation of the agent that wrote the record.
    pub incarnation: Incarnation,
    /// The number of the attempt among the attempts of this incarnation.
    pub attempt: u64,
}

/// The holder of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Holder {
    /// The name of the holder.
    pub id: AgentId,
    /// The incarnation in which the holder took the lease.
    pub incarnation: Incarnation,
    /// The score with which the holder leads.
    pub score: Score,
    /// The text that the holder publishes about itself.
    pub about: Option<About>,
}

/// The agent for which a lease was released.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Successor {
    /// The agent that may take the lease at once.
    pub id: AgentId,
    /// Time for which every other agent leaves the lease to this agent. Each agent counts the time from its own first
    /// reading of the record.
    pub wait: Micros,
}

/// The record of a lease. Only its holder renews it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseRecord {
    /// The name of the lease.
    pub name: LeaseName,
    /// The number of the leadership, which is also the fencing token.
    pub term: Term,
    /// The holder; `None` if the lease was released.
    pub holder: Option<Holder>,
    /// Time for which no other agent takes the lease over, counted from when that agent first sees this record.
    pub lease: Micros,
    /// The attempt that wrote this record.
    pub nonce: Nonce,
    /// The agent for which the lease was released; `None` if the lease was released for no certain agent, or was not
    /// released.
    pub next: Option<Successor>,
}

/// The second record of a register, written by an agent that does not lead. A claim informs the holder that the writer
/// ranks above the holder, or has seen a higher term. Because a claim is a separate record, it never makes a renewal of
/// the holder fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimRecord {
    /// The name of the lease.
    pub name: LeaseName,
    /// The score of the agent in the nonce; `None` if this agent does not ask for the lease.
    pub score: Option<Score>,
    /// The highest term that the writer has seen: the holder has to lead in a higher term.
    pub seen: Term,
    /// The attempt that wrote this record. The nonce contains the agent's name.
    pub nonce: Nonce,
}

/// A record that can be written as text.
pub trait RegisterRecord: Sized {
    /// Returns the text of the record, in the form that the page of this file shows; at most [`MAX_RECORD`] bytes.
    fn encode(&self) -> String;

    /// Reads a record from its text.
    ///
    /// # Errors
    /// [`RecordError`] for every text that [`encode`](Self::encode) does not write.
    fn decode(text: &[u8]) -> Result<Self, RecordError>;

    /// Returns the name of the lease to which the record belongs.
    fn name(&self) -> &LeaseName;
}

/// The reason why the content of a register is not a record of this election.
#[derive(Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The text is longer than any record.
    #[error(
        "the entry in the store has {len} bytes, and a lease has {MAX_RECORD} at most, so another program wrote it: give this group another name or another store"
    )]
    TooLong {
        /// Length of the text in bytes.
        len: usize,
    },
    /// The first line belongs to another kind of record, or the text has no first line.
    #[error(
        "the entry in the store is not a lease, so another program wrote it: give this group another name or another store"
    )]
    Kind,
    /// The record was written in another format.
    #[error(
        "the lease in the store has format {found}, of another release, and this release reads {RECORD_FORMAT}: run the same release at all agents of the group"
    )]
    Format {
        /// The format in the first line.
        found: u32,
    },
    /// A line is missing, is in another place, or has a content that no record has.
    #[error(
        "the line `{line}` of the record in the store is missing or damaged: delete that record, and an agent writes a new one"
    )]
    Line {
        /// The first word of the wrong or missing line.
        line: &'static str,
    },
    /// The record belongs to another group or cluster.
    #[error(
        "the entry in the store is the lease of group {group} in cluster {cluster}: give each group a store of its own"
    )]
    Elsewhere {
        /// The group of the record.
        group: AgentId,
        /// The cluster of the record.
        cluster: AgentId,
    },
}

debug_is_text!(RecordError);

impl RegisterRecord for LeaseRecord {
    fn encode(&self) -> String {
        let mut text = head("lease", &self.name);
        line(&mut text, "term", self.term);
        match &self.holder {
            None => line(&mut text, "holder", '-'),
            Some(Holder {
                id,
                incarnation,
                score,
                about: _,
            }) => line(
                &mut text,
                "holder",
                format_args!("{id} {incarnation} {}", RecordParts(*score)),
            ),
        }
        line(&mut text, "lease", self.lease.0);
        line(&mut text, "nonce", &self.nonce);
        match &self.next {
            None => line(&mut text, "next", '-'),
            Some(next) => line(
                &mut text,
                "next",
                format_args!("{} {}", next.id, next.wait.0),
            ),
        }
        // The line is left out if the holder publishes no text, because each renewal writes the whole record.
        if let Some(about) = self
            .holder
            .as_ref()
            .and_then(|holder| holder.about.as_ref())
        {
            line(&mut text, "about", about);
        }
        text
    }

    fn decode(text: &[u8]) -> Result<Self, RecordError> {
        let mut lines = RecordReader::of(text, "lease")?;
        let mut record = Self {
            name: lines.name()?,
            term: lines.one("term", term)?,
            holder: lines.option("holder", |words| {
                Some(Holder {
                    id: name(words)?,
                    incarnation: Incarnation(number(words)?),
                    score: score(words)?,
                    about: None,
                })
            })?,
            lease: lines.one("lease", |words| number(words).map(Micros))?,
            nonce: lines.one("nonce", nonce)?,
            next: lines.option("next", |words| {
                Some(Successor {
                    id: name(words)?,
                    wait: Micros(number(words)?),
                })
            })?,
        };
        let about = lines.about()?;
        if let Some(holder) = &mut record.holder {
            holder.about = about;
        }
        only(text, record)
    }

    fn name(&self) -> &LeaseName {
        &self.name
    }
}

impl RegisterRecord for ClaimRecord {
    fn encode(&self) -> String {
        let mut text = head("claim", &self.name);
        match self.score {
            None => line(&mut text, "score", '-'),
            Some(score) => line(&mut text, "score", RecordParts(score)),
        }
        line(&mut text, "seen", self.seen);
        line(&mut text, "nonce", &self.nonce);
        text
    }

    fn decode(text: &[u8]) -> Result<Self, RecordError> {
        let mut lines = RecordReader::of(text, "claim")?;
        let record = Self {
            name: lines.name()?,
            score: lines.option("score", score)?,
            seen: lines.one("seen", term)?,
            nonce: lines.one("nonce", nonce)?,
        };
        only(text, record)
    }

    fn name(&self) -> &LeaseName {
        &self.name
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.id, self.incarnation, self.attempt)
    }
}

/// Writes a score with all its parts.
struct RecordParts(Score);

impl fmt::Display for RecordParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, rest @ ..] = self.0.parts();
        write!(f, "{first}")?;
        rest.iter().try_for_each(|part| write!(f, " {part}"))
    }
}

fn head(kind: &str, name: &LeaseName) -> String {
    let mut text = String::new();
    line(
        &mut text,
        "actix-bully",
        format_args!("{kind} {RECORD_FORMAT}"),
    );
    line(&mut text, "cluster", &name.cluster);
    line(&mut text, "group", &name.group);
    text
}

fn line(text: &mut String, word: &str, says: impl fmt::Display) {
    // The result is not passed on, because writing to a text cannot fail and no value's `Display` returns an error.
    let written = writeln!(text, "{word} {says}");
    debug_assert!(written.is_ok(), "text has room");
}

/// The words of one line, after its first word.
type Words<'a> = std::str::Split<'a, char>;

struct RecordReader<'a>(Lines<'a>);

impl<'a> RecordReader<'a> {
    fn of(text: &'a [u8], kind: &str) -> Result<Self, RecordError> {
        if text.len() > MAX_RECORD {
            return Err(RecordError::TooLong { len: text.len() });
        }
        let text = str::from_utf8(text).map_err(|_| RecordError::Kind)?;
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let named = first.strip_prefix("actix-bully ");
        let format = named.and_then(|named| named.strip_prefix(kind)?.strip_prefix(' '));
        match format.and_then(|format| format.parse().ok()) {
            None => Err(RecordError::Kind),
            Some(RECORD_FORMAT) => Ok(Self(lines)),
            Some(found) => Err(RecordError::Format { found }),
        }
    }

    fn name(&mut self) -> Result<LeaseName, RecordError> {
        Ok(LeaseName {
            cluster: self.one("cluster", name)?,
            group: self.one("group", name)?,
        })
    }

    fn one<T>(
        &mut self,
        word: &'static str,
        read: impl FnOnce(&mut Words<'a>) -> Option<T>,
    ) -> Result<T, RecordError> {
        let read = || {
            let mut words = self.0.next()?.split(' ');
            words.next().filter(|first| *first == word)?;
            read(&mut words)
        };
        read().ok_or(RecordError::Line { line: word })
    }

    /// Reads the last line; `None` if it is absent.
    fn about(&mut self) -> Result<Option<About>, RecordError> {
        let line = self.0.next().and_then(|line| line.strip_prefix("about "));
        let about = line.map(About::new).transpose();
        about.map_err(|_| RecordError::Line { line: "about" })
    }

    fn option<T>(
        &mut self,
        word: &'static str,
        read: impl FnOnce(&mut Words<'a>) -> Option<T>,
    ) -> Result<Option<T>, RecordError> {
        self.one(word, |words| {
            if words.clone().eq(["-"]) {
                return Some(None);
            }
            read(words).map(Some)
        })
    }
}

/// Accepts only the canonical text: writes the record again and compares the texts. So a text with another line, or
/// with another spelling of a value, is refused.
fn only<R: RegisterRecord>(text: &[u8], record: R) -> Result<R, RecordError> {
    if record.encode().as_bytes() == text {
        Ok(record)
    } else {
        Err(RecordError::Line {
            line: "actix-bully",
        })
    }
}

fn value<T: FromStr>(words: &mut Words<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn number(words: &mut Words<'_>) -> Option<u64> {
    value(words)
}

fn term(words: &mut Words<'_>) -> Option<Term> {
    number(words).filter(|term| *term <= LAST_TERM).map(Term)
}

fn name(words: &mut Words<'_>) -> Option<AgentId> {
    value(words)
}

fn score(words: &mut Words<'_>) -> Option<Score> {
    let parts: (i64, i64, i64, i64) = (value(words)?, value(words)?, value(words)?, value(words)?);
    Some(Score::from(parts))
}

fn nonce(words: &mut Words<'_>) -> Option<Nonce> {
    Some(Nonce {
        id: name(words)?,
        incarnation: Incarnation(number(words)?),
        attempt: number(words)?,
    })
}

#[cfg(test)]
mod tests;
