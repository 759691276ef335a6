//! The agents of a node as a table on a terminal, which is kept up to date in its place.
//!
//! Decided here: the contents of the table, and the text that keeps it in its place on a terminal. Each row is cut at
//! the edge of the terminal, with a mark, so that a frame has the same number of lines here and on the screen. The
//! findings are below the table, and a long finding continues in the next line. The first line of a frame never leaves
//! the screen: if a frame would be too tall, its last line has the number of lines that are left out. Not here: when
//! the node is asked (`watch.rs`).

use std::{borrow::Cow, fmt::Write};

use actix_bully::operate::{AgentReport, Explanation, Report};
use bully_core::elections::quorum::epoch::SpokenTerm;

use super::{clean, leader, none, table::Table};

/// Returns the table and, below an empty line, the findings. No colours, no control characters.
pub(crate) fn board(report: &Report, why: &[Explanation]) -> String {
    let mut table = Table::new([
        "AGENT", "GROUP", "ROLE", "TERM", "INC", "SCORE", "LEASE", "LEADER",
    ]);
    for agent in report.agents.iter().take(MOST) {
        let own = agent
            .members
            .iter()
            .find(|member| member.agent == agent.agent);
        let score = own.and_then(|member| member.score);
        table.row([
            agent.agent.to_string(),
            agent.group.clone(),
            role(agent),
            SpokenTerm(agent.status.term).to_string(),
            agent.status.incarnation.to_string(),
            score.map_or_else(none, |score| score.to_string()),
            agent
                .lease_left_ms
                .map_or_else(none, |left| format!("{left} ms")),
            leader(agent),
        ]);
    }
    let mut text = table.to_string();
    if let Some(more) = report
        .agents
        .len()
        .checked_sub(MOST)
        .filter(|more| *more > 0)
    {
        writeln!(text, "and {more} more agents").ok();
    }
    let both = report.agents.iter().zip(why);
    let found: Vec<_> = both
        .filter_map(|(agent, why)| Some((agent, reason(why)?)))
        .collect();
    if !found.is_empty() {
        text.push('\n');
    }
    for (agent, reason) in found.iter().take(FOUND) {
        let line = format!("{} in {}: {reason}", agent.agent, agent.group);
        writeln!(text, "{}", clean(&line)).ok();
    }
    if let Some(more) = found.len().checked_sub(FOUND).filter(|more| *more > 0) {
        writeln!(
            text,
            "{more} more agents found something: `bullyctl diagnosis`"
        )
        .ok();
    }
    text
}

/// Returns the role, in capitals for a leader: the word gives the same information as the colour.
pub(super) fn role(agent: &AgentReport) -> String {
    if agent.status.leading.is_some() {
        "LEADER".to_owned()
    } else {
        agent.status.role.to_string()
    }
}

/// Returns the worst finding, which is the second line of the text; `None` without a finding.
fn reason(why: &Explanation) -> Option<String> {
    let finding = why.text.lines().nth(1)?;
    Some(finding.trim_start_matches("- ").to_owned())
}

/// A part of a terminal that is written again and again.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// Number of lines that the last frame has.
    tall: usize,
    colours: bool,
}

impl Board {
    /// Returns an empty board, which begins below the present text.
    pub(crate) const fn new(colours: bool) -> Self {
        Self { tall: 0, colours }
    }

    /// Returns the text that replaces the last frame, for a terminal with this number of columns, if the number is
    /// known.
    pub(crate) fn frame(&mut self, text: &str, columns: Option<usize>) -> String {
        let mut out = String::new();
        if self.tall > 0 {
            write!(out, "\x1b[{}F", self.tall).ok();
        }
        // Without this code a line that is too long would take two rows.
        out.push_str("\x1b[?7l");
        let (rows, sentences) = text.split_once("\n\n").unwrap_or((text, ""));
        let rows = rows.lines().map(|row| cut(row, columns));
        let wrapped = sentences.lines().flat_map(|line| wrapped(line, columns));
        let mut lines: Vec<_> = rows.chain(wrapped.map(Cow::Owned)).collect();
        if let Some(more @ 1..) = lines.len().checked_sub(TALLEST) {
            lines.truncate(TALLEST - 1);
            lines.push(Cow::Owned(format!("… {} more lines", more + 1)));
        }
        for (place, line) in lines.iter().enumerate() {
            // The first line has the names of the columns.
            let is_leader = place > 0 && line.split_whitespace().any(|word| word == "LEADER");
            let (begin, end) = if is_leader && self.colours {
                ("\x1b[1;32m", "\x1b[0m")
            } else {
                ("", "")
            };
            for part in [begin, &**line, end, "\x1b[K\n"] {
                out.push_str(part);
            }
        }
        out.push_str("\x1b[J\x1b[?7h");
        self.tall = lines.len();
        out
    }
}

/// Returns the line, or the part of it that fits, with a mark for the rest.
fn cut(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns @ 1..) if line.chars().count() > columns => {
            let shown = line.chars().take(columns - 1);
            Cow::Owned(shown.chain(['…']).collect())
        }
        Some(_) | None => Cow::Borrowed(line),
    }
}

/// Returns the sentence in lines that fit, divided between words if possible.
fn wrapped(sentence: &str, columns: Option<usize>) -> Vec<String> {
    let columns = columns.filter(|columns| *columns > 0).unwrap_or(usize::MAX);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in sentence.split(' ') {
        let long: Vec<char> = word.chars().collect();
        let gap = usize::from(used > 0);
        if used > 0 && used + gap + long.len() > columns {
            lines.push(String::new());
            used = 0;
        } else if used > 0 {
            lines.last_mut().into_iter().for_each(|line| line.push(' '));
            used += 1;
        }
        for part in long.chunks(columns) {
            if used + part.len() > columns {
                lines.push(String::new());
                used = 0;
            }
            used += part.len();
            lines
                .last_mut()
                .into_iter()
                .for_each(|line| line.extend(part));
        }
    }
    lines
}

/// Largest number of agents whose findings are shown.
const FOUND: usize = 3;

/// Largest number of lines of a frame: the smallest terminals have 24 rows.
const TALLEST: usize = 23;

/// Largest number of agents in the table: more agents would not fit into the smallest terminals.
const MOST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn report(agents: &[&str]) -> Report {
        crate::fixture::report(agents.iter().map(|name| {
            let leads = *name == "n2";
            let more = serde_json::json!({
                "role": if leads { "leader" } else { "follower" },
                "leader": {"id": "n2", "incarnation": "1", "term": "7"},
                "leading": leads.then_some("7"), "lease_left_ms": leads.then_some(640),
            });
            crate::fixture::agent(name, &more)
        }))
    }

    fn why(texts: &[&str]) -> Vec<Explanation> {
        let texts: Vec<_> = texts
            .iter()
            .map(|text| serde_json::json!({ "text": text, "diagnosis": null }))
            .collect();
        serde_json::from_value(texts.into()).unwrap()
    }

    #[test]
    fn the_table_has_an_agent_a_line_and_what_it_found_stands_below() {
        let why = why(&["n1 follows n2\n- it is late\u{1b}[2J\n- more", "n2 leads"]);
        let expected = "\
AGENT  GROUP   ROLE      TERM  INC  SCORE  LEASE   LEADER
n1     orders  follower  7     3    -      -       n2
n2     orders  LEADER    7     3    -      640 ms  n2

n1 in orders: it is late?[2J
";
        assert_eq!(board(&report(&["n1", "n2"]), &why), expected);
    }

    #[test]
    fn the_findings_of_many_agents_are_counted() {
        let names = ["n1", "n2", "n3", "n4", "n5"];
        let text = board(&report(&names), &why(&["it follows\n- it is late"; 5]));
        assert!(
            text.ends_with(
                "\nn3 in orders: it is late\n2 more agents found something: `bullyctl diagnosis`\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_sentence_goes_on_in_the_next_line_and_loses_nothing() {
        let sentence =
            "n1 in orders: 1 of 3 voters can be reached: start aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        assert_eq!(wrapped(sentence, None), [sentence]);
        assert_eq!(wrapped(sentence, Some(0)), [sentence]);
        for columns in 1..100 {
            let lines = wrapped(sentence, Some(columns));
            assert!(lines.iter().all(|line| line.chars().count() <= columns));
            let said = |text: &str| text.replace(' ', "");
            assert_eq!(said(&lines.concat()), said(sentence), "{columns}");
        }
        assert_eq!(
            wrapped("two of three agree", Some(12)),
            ["two of three", "agree"]
        );
    }

    #[test]
    fn a_crowd_is_counted() {
        let names: Vec<String> = (0..30).map(|number| format!("a{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = board(&report(&names), &[]);
        assert_eq!(text.lines().count(), 22);
        assert!(text.ends_with("and 10 more agents\n"), "{text}");
    }

    #[test]
    fn a_frame_is_written_over_the_one_before() {
        let mut board = Board::new(false);
        let first = board.frame("AGENT\na LEADER\n", None);
        assert_eq!(first, "\x1b[?7lAGENT\x1b[K\na LEADER\x1b[K\n\x1b[J\x1b[?7h");
        assert!(board.frame("one\n", None).starts_with("\x1b[2F\x1b[?7lone"));
        assert!(board.frame("one\n", None).starts_with("\x1b[1F"));
    }

    #[test]
    fn a_line_that_has_no_room_ends_with_a_mark() {
        let text = board(&report(&["größe", "n2"]), &[]);
        let lines = |columns| {
            let frame = Board::new(false).frame(&text, columns);
            let lines = frame.split("\x1b[K\n").map(str::to_owned);
            lines.collect::<Vec<_>>()
        };
        let whole = lines(Some(200));
        assert_eq!(whole, lines(None), "all of it has room");
        assert!(whole[1].ends_with("n2"), "{whole:?}");
        let length = text.lines().next().map_or(0, |names| names.chars().count());
        assert_eq!(lines(Some(length)), whole, "it just has room");
        let narrow = lines(Some(length - 1));
        assert!(narrow[0].ends_with("  LEAD…"), "{narrow:?}");
        assert_eq!(lines(Some(1))[1], "…");
        assert_eq!(lines(Some(0)), whole, "a terminal that does not know");
    }

    #[test]
    fn a_frame_that_is_too_tall_ends_with_a_mark() {
        let lines = |sentence: &str| {
            let frame = Board::new(false).frame(&format!("AGENT\n\n{sentence}"), Some(10));
            let lines = frame.split("\x1b[K\n").map(str::to_owned);
            lines.collect::<Vec<_>>()
        };
        let fits = lines("123456789 ".repeat(22).trim_end());
        assert_eq!((fits.len(), &*fits[22]), (TALLEST + 1, "123456789"));
        let taller = lines("123456789 ".repeat(30).trim_end());
        assert_eq!(taller.len(), TALLEST + 1);
        assert_eq!(
            (&*taller[21], &*taller[22]),
            ("123456789", "… 9 more lines")
        );
    }

    #[test]
    fn colours_are_there_only_when_they_are_wanted() {
        let text = board(&report(&["n1", "n2"]), &[]);
        let plain = Board::new(false).frame(&text, None);
        let coloured = Board::new(true).frame(&text, None);
        assert!(!plain.contains("\x1b[1;32m"), "{plain}");
        assert_eq!(coloured.matches("\x1b[1;32m").count(), 1, "{coloured}");
        // The names of the columns contain the same word.
        let heading = Board::new(true).frame("   NODE  LEADER\n   n1    -\n", None);
        assert!(!heading.contains("\x1b[1;32m"), "{heading}");
    }
}
