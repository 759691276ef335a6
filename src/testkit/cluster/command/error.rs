//! Why a command is refused: which word, and what to write instead.

use std::fmt;

use super::verbs::VERBS;
use crate::protocol::IdError;

/// Why a command is refused. Each says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Nothing was said.
    #[error("there is no command here: `help` lists all commands")]
    Empty,
    /// No command begins with that word.
    #[error("unknown command `{word}`{nearest} `help` lists all commands")]
    Unknown {
        /// The word.
        word: String,
        /// The commands that look like it.
        nearest: Nearest,
    },
    /// Something is left out.
    #[error("`{verb}` needs {what}: write `{usage}`")]
    Missing {
        /// The command.
        verb: &'static str,
        /// What is left out.
        what: &'static str,
        /// How to write it.
        usage: &'static str,
    },
    /// There is a word too many.
    #[error("`{word}` is too much for `{verb}`: write `{usage}`")]
    Surplus {
        /// The command.
        verb: &'static str,
        /// The first word too many.
        word: String,
        /// How to write it.
        usage: &'static str,
    },
    /// A word cannot be a name.
    #[error("`{word}` is no agent's name: write a name such as `agent-5`, or its number")]
    Name {
        /// The word.
        word: String,
        /// The rule it breaks.
        #[source]
        source: IdError,
    },
    /// A word is no duration.
    #[error("`{word}` is no duration: write a number with us, ms or s, such as `500ms`")]
    Duration {
        /// The word.
        word: String,
    },
    /// A range of durations is none, or runs backwards.
    #[error("`{word}` is no range of durations: write the shorter one first, as in `5ms..20ms`")]
    Range {
        /// The words.
        word: String,
    },
    /// A word is no share.
    #[error("`{word}` is no share: write 0% to 100%, such as `10%` or `0.5%`")]
    Share {
        /// The word.
        word: String,
    },
    /// A word is no score.
    #[error(
        "`{word}` is no score: write a number, up to four joined by commas as in `10,-300`, or `none`"
    )]
    Score {
        /// The word.
        word: String,
    },
}

impl CommandError {
    pub(super) fn unknown(word: &str) -> Self {
        Self::Unknown {
            word: word.to_owned(),
            nearest: Nearest::to(word),
        }
    }
}

/// The commands that look like a word; may be none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest(Vec<&'static str>);

impl Nearest {
    /// The commands, the most similar first.
    pub fn words(&self) -> &[&'static str] {
        &self.0
    }

    fn to(word: &str) -> Self {
        let word = word.to_lowercase();
        let mut near: Vec<(usize, &'static str)> = VERBS
            .iter()
            .map(|verb| (distance(&word, verb.word), verb.word))
            .filter(|(far, verb)| *far <= FAR.min((verb.len() + 1) / 3) || begins(&word, verb))
            .collect();
        near.sort_by_key(|(far, verb)| (!begins(&word, verb), *far));
        near.truncate(3);
        Self(near.into_iter().map(|(_, verb)| verb).collect())
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return f.write_str(":");
        };
        write!(f, ", did you mean `{first}`")?;
        for other in others {
            write!(f, " or `{other}`")?;
        }
        f.write_str("?")
    }
}

fn begins(word: &str, verb: &str) -> bool {
    word.len() > 1 && (verb.starts_with(word) || word.starts_with(verb))
}

/// How many letters have to be added, dropped, changed or swapped with their neighbour
/// (Damerau and Levenshtein, restricted form).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (line, letter) in from.chars().enumerate() {
        let mut row = vec![line + 1];
        for (at, wanted) in to.iter().enumerate() {
            let change = usize::from(letter != *wanted);
            let mut best = (cell(&last, at) + change)
                .min(cell(&last, at + 1) + 1)
                .min(cell(&row, at) + 1);
            let swapped = at > 0 && previous == Some(*wanted) && to.get(at - 1) == Some(&letter);
            if swapped {
                best = best.min(cell(&before, at - 1) + 1);
            }
            row.push(best);
        }
        previous = Some(letter);
        before = std::mem::replace(&mut last, row);
    }
    cell(&last, to.len())
}

/// More than this many letters apart is another word.
const FAR: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_near_by_letters() {
        let apart = |from, to| distance(from, to);
        assert_eq!(apart("crash", "crash"), 0);
        assert_eq!(apart("crsh", "crash"), 1, "one is missing");
        assert_eq!(apart("carsh", "crash"), 1, "two are swapped");
        assert_eq!(apart("", "heal"), 4);
        assert_eq!(apart("heal", ""), 4);
    }

    #[test]
    fn the_nearest_come_first_and_nothing_is_made_up() {
        let near = |word| Nearest::to(word).words().to_vec();
        assert_eq!(near("crsh"), ["crash"]);
        assert_eq!(near("RESTART"), ["restart"]);
        assert_eq!(near("stpo"), ["stop"]);
        assert_eq!(near("stat"), ["status"]);
        assert_eq!(near("step"), ["step-down", "stop"]);
        assert!(near("xyzzy").is_empty());
        assert!(near("").is_empty());
    }
}
