//! The record of an agent that is present: an entry of its own in the store, beside the lease.
//!
//! Decided here: the fields and the text of this record. Not here: which agents write it, and its uses. No rule of an
//! election reads it.
//!
//! ```text
//! actix-bully present 1
//! cluster shop
//! group cron
//! agent api-1 115964116992       the name and the incarnation
//! score 7 0 0 0                  in four parts; without a score it cannot lead: score -
//! wall 1764230400000             the wall clock when it was written, in milliseconds since 1970 began in UTC
//! about http://10.0.0.3:8080     the text that it publishes about itself; without one there is no such line
//! ```

use super::{
    LeaseName, RecordError, RecordParts, RecordReader, RegisterRecord, head, line, name, number,
    only, score,
};
use crate::protocol::{About, AgentId, Incarnation, Score};

/// The record of an agent that is present.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PresentRecord {
    /// The name of the lease.
    pub name: LeaseName,
    /// The name of the agent.
    pub id: AgentId,
    /// The incarnation of the agent.
    pub incarnation: Incarnation,
    /// The score of the agent; `None` if it cannot lead.
    pub score: Option<Score>,
    /// Reading of the wall clock of the agent's host when the record was written, in milliseconds since 1970 began in
    /// UTC.
    pub wall: u64,
    /// The text that the agent publishes about itself in this incarnation.
    pub about: Option<About>,
}

impl RegisterRecord for PresentRecord {
    fn encode(&self) -> String {
        let mut text = head("present", &self.name);
        line(
            &mut text,
            "agent",
            format_args!("{} {}", self.id, self.incarnation),
        );
        match self.score {
            None => line(&mut text, "score", '-'),
            Some(score) => line(&mut text, "score", RecordParts(score)),
        }
        line(&mut text, "wall", self.wall);
        if let Some(about) = &self.about {
            line(&mut text, "about", about);
        }
        text
    }

    fn decode(text: &[u8]) -> Result<Self, RecordError> {
        let mut lines = RecordReader::of(text, "present")?;
        let of_this = lines.name()?;
        let (id, incarnation) = lines.one("agent", |words| {
            Some((name(words)?, Incarnation(number(words)?)))
        })?;
        let record = Self {
            name: of_this,
            id,
            incarnation,
            score: lines.option("score", score)?,
            wall: lines.one("wall", number)?,
            about: lines.about()?,
        };
        only(text, record)
    }

    fn name(&self) -> &LeaseName {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written_and_in_no_other_form() {
        let id = |name: &str| AgentId::new(name).unwrap();
        let mut row = PresentRecord {
            name: LeaseName {
                cluster: id("shop"),
                group: id("cron"),
            },
            id: id("api-1"),
            incarnation: Incarnation(7),
            score: Some(Score::from((3, -2))),
            wall: 1_764_230_400_000,
            about: None,
        };
        let text = row.encode();
        assert_eq!(
            text,
            "actix-bully present 1\ncluster shop\ngroup cron\nagent api-1 7\nscore 3 -2 0 0\nwall 1764230400000\n"
        );
        assert_eq!(PresentRecord::decode(text.as_bytes()), Ok(row.clone()));
        for wrong in ["wall 01764230400000\n", "wall -1\n", "wall\n"] {
            let text = text.replace("wall 1764230400000\n", wrong);
            assert!(PresentRecord::decode(text.as_bytes()).is_err(), "{wrong}");
        }
        row.score = None;
        assert_eq!(
            PresentRecord::decode(row.encode().as_bytes()),
            Ok(row.clone())
        );
        row.about = About::new("http://10.0.0.3:8080").ok();
        let text = row.encode();
        assert!(text.ends_with("\nabout http://10.0.0.3:8080\n"), "{text}");
        assert_eq!(PresentRecord::decode(text.as_bytes()), Ok(row));
        for wrong in ["about a\u{202e}b\n", "about \n", "about a\nabout b\n"] {
            let text = text.replace("about http://10.0.0.3:8080\n", wrong);
            assert!(PresentRecord::decode(text.as_bytes()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_longest_row_has_room() {
        let long = AgentId::new(&"x".repeat(AgentId::MAX_LEN)).unwrap();
        let row = PresentRecord {
            name: LeaseName {
                cluster: long.clone(),
                group: long.clone(),
            },
            id: long,
            incarnation: Incarnation(u64::MAX),
            score: Some(Score::from((i64::MIN, i64::MIN, i64::MIN, i64::MIN))),
            wall: u64::MAX,
            about: About::new(&"x".repeat(About::MAX_LEN)).ok(),
        };
        assert_eq!(PresentRecord::decode(row.encode().as_bytes()), Ok(row));
    }
}
