//! How numbers in reports and commands are written as JSON, and how they are read.
//!
//! Decided here: a score of one part is a number, a score of several parts an array. A part or a count beyond 2^53 is
//! text. Not here: terms, incarnations and leaders (`shown.rs`), and which fields exist (`report.rs`, `outcome.rs`).
#![expect(
    clippy::ref_option,
    reason = "serde gives a function that serializes a field a reference to it"
)]

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};

use crate::protocol::Score;
pub(super) use crate::shown::{Numbered, leader, optional_leader, optional_text, text};

/// The limit up to which a 64-bit float holds every whole number exactly.
const EXACT: u64 = 1 << 53;

/// One part of a score.
struct Part(i64);

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.unsigned_abs() > EXACT {
            to.collect_str(&self.0)
        } else {
            to.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match ScoreReading::read(from)?.parts() {
            [part, 0, 0, 0] => Ok(Self(part)),
            _ => Err(D::Error::custom("a part of a score is one whole number")),
        }
    }
}

struct ScoreReading;

impl ScoreReading {
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Score, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for ScoreReading {
    type Value = Score;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, its text, or an array of one to four of them")
    }

    fn visit_i64<E: Error>(self, part: i64) -> Result<Score, E> {
        Ok(Score::from(part))
    }

    fn visit_u64<E: Error>(self, part: u64) -> Result<Score, E> {
        i64::try_from(part).map(Score::from).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Score, E> {
        text.parse::<i64>().map(Score::from).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Score, A::Error> {
        let mut read = [0; 4];
        let mut count = 0;
        while let Some(Part(part)) = parts.next_element()? {
            let Some(place) = read.get_mut(count) else {
                return Err(A::Error::custom("a score has four parts at most"));
            };
            *place = part;
            count += 1;
        }
        if count == 0 {
            return Err(A::Error::custom("a score has one part at least"));
        }
        Ok(Score::from((read[0], read[1], read[2], read[3])))
    }
}

pub(super) mod score {
    use super::{Deserializer, Part, Score, ScoreReading, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Score, to: S) -> Result<S::Ok, S::Error> {
        let [first, rest @ ..] = value.parts();
        if rest == [0; 3] {
            Part(first).serialize(to)
        } else {
            to.collect_seq(value.parts().map(Part))
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Score, D::Error> {
        ScoreReading::read(from)
    }
}

pub(super) mod optional_score {
    use super::{Deserialize, Deserializer, Score, Serialize, Serializer, score};

    #[derive(Serialize, Deserialize)]
    struct Shown(#[serde(with = "score")] Score);

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Score>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(Shown).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Score>, D::Error> {
        Ok(Option::<Shown>::deserialize(from)?.map(|Shown(score)| score))
    }
}

/// A count. It is written as text if it exceeds 2^53.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count(pub(super) u64);

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0 > EXACT {
            to.collect_str(&self.0)
        } else {
            to.serialize_u64(self.0)
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Numbered for Count {
    fn of(number: u64) -> Self {
        Self(number)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        text::deserialize(from)
    }
}

pub(super) mod counts {
    use std::collections::BTreeMap;

    use super::{Count, Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        value: &BTreeMap<String, u64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(value.iter().map(|(name, count)| (name, Count(*count))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<String, u64>, D::Error> {
        let read = BTreeMap::<String, Count>::deserialize(from)?;
        Ok(read
            .into_iter()
            .map(|(name, Count(count))| (name, count))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Term;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Scored(#[serde(with = "score")] Score);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct InTerm(#[serde(with = "text")] Term);

    fn scored(json: &str) -> Result<Scored, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn scores_are_written_shortly_and_read_again() {
        for (score, json) in [
            (Score::from(7), "7"),
            (Score::from(-7), "-7"),
            (Score::from((2, -50)), "[2,-50,0,0]"),
            (Score::from(i64::MIN), r#""-9223372036854775808""#),
            (
                Score::from((1, i64::MAX)),
                r#"[1,"9223372036854775807",0,0]"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&Scored(score)).unwrap(), json);
            assert_eq!(scored(json), Ok(Scored(score)));
        }
        assert_eq!(scored("[2,-50]"), Ok(Scored(Score::from((2, -50)))));
        assert_eq!(scored(r#""12""#), Ok(Scored(Score::from(12))));
    }

    #[test]
    fn a_value_that_is_not_a_score_is_refused() {
        for json in [
            "null",
            "1.5",
            "[]",
            "[1,2,3,4,5]",
            "[[1,2]]",
            r#""x""#,
            "{}",
            "18446744073709551615",
            "true",
        ] {
            assert!(scored(json).is_err(), "{json}");
        }
    }

    #[test]
    fn large_numbers_are_text_and_both_forms_are_read() {
        let large = InTerm(Term(u64::MAX));
        let json = serde_json::to_string(&large).unwrap();
        assert_eq!(json, r#""18446744073709551615""#);
        assert_eq!(serde_json::from_str::<InTerm>(&json).unwrap(), large);
        assert_eq!(
            serde_json::from_str::<InTerm>("7").unwrap(),
            InTerm(Term(7))
        );
        for json in [
            "-1",
            "1.5",
            r#""-1""#,
            r#""x""#,
            r#""18446744073709551616""#,
        ] {
            assert!(serde_json::from_str::<InTerm>(json).is_err(), "{json}");
        }
        assert_eq!(
            serde_json::to_string(&Count(EXACT)).unwrap(),
            "9007199254740992"
        );
        assert_eq!(
            serde_json::to_string(&Count(EXACT + 1)).unwrap(),
            r#""9007199254740993""#
        );
    }
}
