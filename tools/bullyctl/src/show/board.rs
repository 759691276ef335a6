//! The agents of a node as a table that is kept up to date in its place on a terminal.
//!
//! Decided here: what is in the table, and what is written to a terminal so that it stays in its place. Each line
//! is cut where the terminal ends, so that a frame has as many lines on the screen as it has here; and a frame is
//! never so tall that its first line has left the screen. Not here: when it is asked for (`watch.rs`).

use std::{borrow::Cow, fmt::Write};

use actix_bully::operate::{AgentReport, Explanation, Report};

use super::{leader, none, table::Table};

/// The table, and the lines below it. No colours, no control characters.
pub(crate) fn board(report: &Report, why: &[Explanation]) -> String {
    let mut table = Table::new([
        "AGENT", "GROUP", "ROLE", "TERM", "INC", "SCORE", "LEASE", "LEADER", "WHY",
    ]);
    for (at, agent) in report.agents.iter().enumerate().take(MOST) {
        let own = agent
            .members
            .iter()
            .find(|member| member.agent == agent.agent);
        let score = own.and_then(|member| member.score);
        table.row([
            agent.agent.to_string(),
            agent.group.clone(),
            role(agent),
            agent.term.to_string(),
            agent.incarnation.to_string(),
            score.map_or_else(none, |score| score.to_string()),
            agent
                .lease_left_ms
                .map_or_else(none, |left| format!("{left} ms")),
            leader(agent),
            why.get(at).map_or_else(none, reason),
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
    text
}

/// The role, in capitals where the agent leads: what a colour says a word says too.
fn role(agent: &AgentReport) -> String {
    if agent.leading.is_some() {
        "LEADER".to_owned()
    } else {
        agent.role.to_string()
    }
}

/// The worst finding; without one, the line that says which agent leads.
fn reason(why: &Explanation) -> String {
    let mut lines = why.text.lines();
    let first = lines.next().unwrap_or_default();
    let finding = lines.next().map(|line| line.trim_start_matches("- "));
    finding.unwrap_or(first).to_owned()
}

/// A place on a terminal that is written over.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// How many lines it has.
    tall: usize,
    colours: bool,
}

impl Board {
    /// Nothing yet, below what is there.
    pub(crate) const fn new(colours: bool) -> Self {
        Self { tall: 0, colours }
    }

    /// What writes this text over the one before, on a terminal of so many columns, as far as that is known.
    pub(crate) fn frame(&mut self, text: &str, columns: Option<usize>) -> String {
        let mut out = String::new();
        if self.tall > 0 {
            write!(out, "\x1b[{}F", self.tall).ok();
        }
        // Without this a line that is too long would take two.
        out.push_str("\x1b[?7l");
        for line in text.lines() {
            let is_leader =
                line.split_whitespace().any(|word| word == "LEADER") && !line.starts_with("AGENT");
            let (begin, end) = if is_leader && self.colours {
                ("\x1b[1;32m", "\x1b[0m")
            } else {
                ("", "")
            };
            for part in [begin, &*cut(line, columns), end, "\x1b[K\n"] {
                out.push_str(part);
            }
        }
        out.push_str("\x1b[J\x1b[?7h");
        self.tall = text.lines().count();
        out
    }
}

/// The line, or as much of it as has room, with a mark that there is more.
fn cut(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns @ 1..) if line.chars().count() > columns => {
            let shown = line.chars().take(columns - 1);
            Cow::Owned(shown.chain(['…']).collect())
        }
        Some(_) | None => Cow::Borrowed(line),
    }
}

/// More agents than this would not fit into the smallest of terminals.
const MOST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn report(agents: &[&str]) -> Report {
        let agents: Vec<_> = agents
            .iter()
            .map(|name| {
                let leads = *name == "n2";
                serde_json::json!({
                    "agent": name, "group": "orders", "lifecycle": "running", "incarnation": "3",
                    "role": if leads { "leader" } else { "follower" }, "term": "7",
                    "leader": {"id": "n2", "incarnation": "1", "term": "7"},
                    "leading": leads.then_some("7"), "lease_left_ms": leads.then_some(640),
                    "draining": false, "work_panics": 0, "work_stalls": 0, "tie_broken": false,
                    "members": [], "member_count": 0, "messages": {},
                })
            })
            .collect();
        serde_json::from_value(serde_json::json!({ "bridge": null, "agents": agents })).unwrap()
    }

    fn why(texts: &[&str]) -> Vec<Explanation> {
        let texts: Vec<_> = texts
            .iter()
            .map(|text| serde_json::json!({ "text": text, "diagnosis": null }))
            .collect();
        serde_json::from_value(texts.into()).unwrap()
    }

    #[test]
    fn the_table_has_an_agent_a_line_with_its_reason() {
        let why = why(&["n1 follows n2\n- it is late\n- more", "n2 leads\u{1b}[2J"]);
        let expected = "\
AGENT  GROUP   ROLE      TERM  INC  SCORE  LEASE   LEADER  WHY
n1     orders  follower  7     3    -      -       n2      it is late
n2     orders  LEADER    7     3    -      640 ms  n2      n2 leads?[2J
";
        assert_eq!(board(&report(&["n1", "n2"]), &why), expected);
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
        let why = why(&["n1 follows größe", "n2 leads"]);
        let text = board(&report(&["n1", "n2"]), &why);
        let lines = |columns| {
            let frame = Board::new(false).frame(&text, columns);
            let lines = frame.split("\x1b[K\n").map(str::to_owned);
            lines.collect::<Vec<_>>()
        };
        let whole = lines(Some(200));
        assert_eq!(whole, lines(None), "all of it has room");
        assert!(whole[1].ends_with("n1 follows größe"), "{whole:?}");
        let length = whole[1].chars().count();
        assert_eq!(lines(Some(length)), whole, "it just has room");
        let narrow = lines(Some(length - 1));
        assert!(narrow[1].ends_with("n1 follows grö…"), "{narrow:?}");
        assert_eq!(lines(Some(1))[1], "…");
        assert_eq!(lines(Some(0)), whole, "a terminal that does not know");
    }

    #[test]
    fn colours_are_there_only_when_they_are_wanted() {
        let text = board(&report(&["n1", "n2"]), &[]);
        let plain = Board::new(false).frame(&text, None);
        let coloured = Board::new(true).frame(&text, None);
        assert!(!plain.contains("\x1b[1;32m"), "{plain}");
        assert_eq!(coloured.matches("\x1b[1;32m").count(), 1, "{coloured}");
    }
}
