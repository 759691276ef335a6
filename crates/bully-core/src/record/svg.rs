//! A moment as a drawing: the agents in a ring, the leader marked by colour and by a word, messages as arrows.
//!
//! Decided here: the drawing is valid for any name and any text, a word repeats the meaning of each colour, and the
//! size of the drawing is limited for every recording. The drawing is light or dark as the viewer's system prefers.

use std::{collections::BTreeMap, f64::consts::TAU};

use super::{
    Recording,
    lines::append,
    moment::{AgentCondition, AgentMoment, RecordedMoment, UnderWay},
};
use crate::protocol::{AgentId, MemberKind, Role};

pub(super) fn to_svg(moment: &RecordedMoment<'_>, recording: &Recording) -> String {
    let places = places(&moment.agents);
    let mut out = String::new();
    let (title, said) = (title(moment, recording), summary(moment));
    let (head, about) = (escape(&title), escape(&said));
    append(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" \
             aria-labelledby=\"title about\" font-family=\"sans-serif\" font-size=\"14\">\n\
             <title id=\"title\">{head}</title>\n<desc id=\"about\">{about}</desc>\n{STYLE}\
             <rect class=\"ground\" width=\"{WIDE}\" height=\"{HIGH}\"/>\n\
             <text class=\"head\" x=\"20\" y=\"30\">{head}</text>\n\
             <text x=\"20\" y=\"52\">{about}</text>\n"
        ),
    );
    if let Some((at, caption)) = &moment.caption {
        let caption = escape(&shortened(caption, 90));
        let y = HIGH - 16.0;
        append(
            &mut out,
            format_args!(
                "<text class=\"dim\" x=\"20\" y=\"{y}\">last, at {at} ms: {caption}</text>\n"
            ),
        );
    }
    cuts(&mut out, moment, &places);
    messages(&mut out, moment, &places);
    for agent in moment.agents.iter().take(MOST_NODES) {
        node(&mut out, agent, &places);
    }
    out.push_str("</svg>\n");
    out
}

/// The positions of the agents.
struct Places<'a> {
    at: BTreeMap<&'a AgentId, Point>,
    /// The radius of an agent's circle.
    radius: f64,
}

#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

impl Point {
    /// Returns the point at this distance from this point, in the direction of another point.
    fn towards(self, other: Self, distance: f64) -> Self {
        let (dx, dy) = (other.x - self.x, other.y - self.y);
        let long = dx.hypot(dy).max(f64::EPSILON);
        Self {
            x: self.x + dx / long * distance,
            y: self.y + dy / long * distance,
        }
    }

    /// Returns the offset of length `far` at a right angle to the direction of another point, on the right side.
    fn side(self, other: Self, far: f64) -> Self {
        let ahead = self.towards(other, far);
        Self {
            x: self.y - ahead.y,
            y: ahead.x - self.x,
        }
    }

    fn shifted(self, by: Self) -> Self {
        Self {
            x: self.x + by.x,
            y: self.y + by.y,
        }
    }

    fn distance(self, other: Self) -> f64 {
        (other.x - self.x).hypot(other.y - self.y)
    }
}

/// Returns the positions on a ring, clockwise from the top.
fn places<'a>(agents: &[AgentMoment<'a>]) -> Places<'a> {
    let many = count(agents.len());
    let ring = if agents.len() == 1 { 0.0 } else { RING };
    let at = agents.iter().zip(0_u32..).map(|(agent, number)| {
        let angle = TAU * f64::from(number) / many.max(1.0);
        let (x, y) = (angle.sin() * ring, -angle.cos() * ring);
        let (x, y) = (x + WIDE / 2.0, y + MIDDLE);
        (agent.name, Point { x, y })
    });
    Places {
        at: at.collect(),
        radius: (RING * TAU / many.max(1.0) * 0.36).clamp(2.5, 34.0),
    }
}

fn node(out: &mut String, agent: &AgentMoment<'_>, places: &Places<'_>) {
    let Some(Point { x, y }) = places.at.get(agent.name).copied() else {
        return;
    };
    let r = places.radius;
    let (class, role) = state(agent);
    let name = escape(&shortened(agent.name.as_str(), 16));
    let words = escape(&words(agent));
    append(
        out,
        format_args!(
            "<g class=\"{class}\"><title>{words}</title>\
             <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/>"
        ),
    );
    // Names that would overlap are left out, except the leader's name, because the titles contain all names.
    if r >= 16.0 {
        let (score, size) = fitted(&score(agent), r);
        append(
            out,
            format_args!(
                "<text class=\"mid\" x=\"{x:.1}\" y=\"{:.1}\"{size}>{score}</text>",
                y + 5.0
            ),
        );
    }
    if r >= 16.0 || agent.leads() {
        let (name_at, role_at) = (y + r + 16.0, y + r + 32.0);
        append(
            out,
            format_args!(
                "<text class=\"name\" x=\"{x:.1}\" y=\"{name_at:.1}\">{name}</text>\
                 <text class=\"role\" x=\"{x:.1}\" y=\"{role_at:.1}\">{role}</text>"
            ),
        );
    }
    out.push_str("</g>\n");
}

/// Returns a text that fits into a circle, and the attribute of its size if it is smaller than the other texts. A text
/// that is still too long is shortened: the title of the agent has all of it.
fn fitted(text: &str, radius: f64) -> (String, String) {
    let room = (radius - 3.0) * 2.0 / LETTER;
    let letters = text.chars().count();
    let size = (room / count(letters).max(1.0)).clamp(8.0, 14.0);
    let fits = |many: &usize| count(*many) * size <= room + 0.01;
    let most = (1..=letters).take_while(fits).count().max(1);
    let smaller = if size < 14.0 {
        format!(" font-size=\"{size:.1}\"")
    } else {
        String::new()
    };
    (shortened(text, most), smaller)
}

/// Draws the cut links, if their number is small enough to distinguish them.
fn cuts(out: &mut String, moment: &RecordedMoment<'_>, places: &Places<'_>) {
    if moment.cut.len() > MOST_LINES {
        return;
    }
    for (from, to) in &moment.cut {
        let both = moment.cut.contains(&(*to, *from));
        if both && from > to {
            continue;
        }
        let (Some(one), Some(other)) = (places.at.get(from), places.at.get(to)) else {
            continue;
        };
        let (a, b) = (
            one.towards(*other, places.radius),
            other.towards(*one, places.radius),
        );
        let (ways, mark) = if both {
            ("cut both ways", "")
        } else {
            ("cut one way", " marker-end=\"url(#stop)\"")
        };
        let title = escape(&format!("{from} and {to}: {ways}"));
        append(
            out,
            format_args!(
                "<g class=\"cut\"><title>{title}</title><line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" \
                 y2=\"{:.1}\"{mark}/></g>\n",
                a.x, a.y, b.x, b.y
            ),
        );
    }
}

fn messages(out: &mut String, moment: &RecordedMoment<'_>, places: &Places<'_>) {
    for UnderWay {
        message,
        left,
        arrives,
    } in moment.under_way.iter().take(MOST_LINES)
    {
        let (Some(from), Some(to)) = (places.at.get(&message.from), places.at.get(&message.to))
        else {
            continue;
        };
        let whole = arrives.since(*left).as_secs_f64();
        let gone = moment.at.since(*left).as_secs_f64();
        let share = if whole > 0.0 { gone / whole } else { 1.0 };
        let free = (from.distance(*to) - 2.0 * places.radius).max(0.0);
        // The arrow is drawn beside the direct line, so that two arrows in opposite directions do not overlap. The
        // words stand a little further from the line than the arrow.
        let (aside, beside) = (from.side(*to, 5.0), from.side(*to, 14.0));
        let begin = from.towards(*to, places.radius);
        // The arrow is at least 14 long if there is room, because a message that has just left also gets an arrow.
        let long = (free * share).max(14.0_f64.min(free));
        let label = begin.towards(*to, long / 2.0).shifted(beside);
        let head = begin.towards(*to, long).shifted(aside);
        let begin = begin.shifted(aside);
        let text = escape(&shortened(&message.kind, 16));
        let title = escape(&shortened(
            &format!(
                "{} to {}: {} (arrives at {arrives} ms)",
                message.from, message.to, message.text
            ),
            200,
        ));
        append(
            out,
            format_args!(
                "<g class=\"message\"><title>{title}</title><line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" \
                 y2=\"{:.1}\" marker-end=\"url(#head)\"/><text x=\"{:.1}\" y=\"{:.1}\">{text}</text></g>\n",
                begin.x,
                begin.y,
                head.x,
                head.y,
                label.x,
                label.y + 4.0
            ),
        );
    }
}

/// Returns the CSS class of an agent, and its role in a word.
fn state(agent: &AgentMoment<'_>) -> (&'static str, &'static str) {
    match agent.condition {
        AgentCondition::Absent => ("down", "not started"),
        AgentCondition::Unknown => ("down", "not recorded"),
        AgentCondition::Down => ("down", "down"),
        AgentCondition::Hung if agent.leads() => ("hung", "LEADER, hung"),
        AgentCondition::Hung => ("hung", "hung"),
        AgentCondition::Up if agent.leads() => ("leader", "LEADER"),
        AgentCondition::Up => match (agent.role, agent.kind) {
            (Role::Candidate, _) => ("electing", "candidate"),
            (Role::Waiting, _) => ("electing", "waiting"),
            (Role::Follower | Role::Leader, MemberKind::Observer) => ("follower", "observer"),
            (Role::Follower | Role::Leader, MemberKind::Voter) => ("follower", "follower"),
        },
    }
}

/// Returns all known facts about an agent.
fn words(agent: &AgentMoment<'_>) -> String {
    let (_, role) = state(agent);
    let mut words = format!("{}: {role}, score {}", agent.name, score(agent));
    if agent.leads() {
        append(&mut words, format_args!(", term {}", agent.term));
    }
    if let Some(leader) = agent.leader {
        append(
            &mut words,
            format_args!(
                ", follows {} (incarnation {}) in term {}",
                leader.id, leader.incarnation.0, leader.term
            ),
        );
    }
    words
}

fn score(agent: &AgentMoment<'_>) -> String {
    agent
        .score
        .map_or_else(|| "-".to_owned(), |score| score.to_string())
}

fn title(moment: &RecordedMoment<'_>, recording: &Recording) -> String {
    let header = recording.header();
    let many = moment.agents.len();
    let s = if many == 1 { "" } else { "s" };
    let protocol = shortened(&header.protocol, 30);
    format!("{protocol} election, {many} agent{s}, at {} ms", moment.at)
}

/// Returns a summary: which agents lead, which messages are on their way, and which links are cut.
fn summary(moment: &RecordedMoment<'_>) -> String {
    let mut said = leading(moment);
    if moment.agents.len() > MOST_NODES {
        append(&mut said, format_args!("; {MOST_NODES} agents drawn"));
    }
    let under_way = moment.under_way.len();
    if under_way > 0 {
        let s = if under_way == 1 { "" } else { "s" };
        append(
            &mut said,
            format_args!("; {under_way} message{s} under way"),
        );
    }
    if under_way > MOST_LINES {
        append(&mut said, format_args!(", {MOST_LINES} of them drawn"));
    }
    let cut = moment.cut.len();
    if cut > 0 {
        append(
            &mut said,
            format_args!("; {cut} of the ways between agents cut"),
        );
    }
    if cut > MOST_LINES {
        said.push_str(", too many to draw");
    }
    said
}

/// Returns which agents lead. The record of a node shows only the leader that its own agents follow.
fn leading(moment: &RecordedMoment<'_>) -> String {
    let leaders: Vec<String> = moment
        .leaders()
        .map(|leader| {
            let name = shortened(leader.name.as_str(), 30);
            format!("{name} (term {})", leader.term)
        })
        .collect();
    match leaders.as_slice() {
        [] => followed(moment),
        [one] => format!("{one} leads"),
        [one, other] => format!("{one} and {other} lead"),
        [one, ..] => format!("{one} and {} others lead", leaders.len() - 1),
    }
}

/// Returns which leader the agents follow, if no recorded agent leads and other agents may lead.
fn followed(moment: &RecordedMoment<'_>) -> String {
    let mut agents = moment.agents.iter();
    if agents.all(|agent| agent.condition != AgentCondition::Unknown) {
        return "no agent leads".to_owned();
    }
    let leaders = moment.agents.iter().filter_map(|agent| agent.leader);
    let Some(leader) = leaders.max_by_key(|leader| leader.term) else {
        return "no agent is known to lead".to_owned();
    };
    let mut followers = moment
        .agents
        .iter()
        .filter(|agent| agent.leader == Some(leader))
        .map(|agent| shortened(agent.name.as_str(), 30));
    let first = followers.next().unwrap_or_default();
    let who = match followers.count() {
        0 => format!("{first} follows"),
        1 => format!("{first} and 1 other follow"),
        others => format!("{first} and {others} others follow"),
    };
    let name = shortened(leader.id.as_str(), 30);
    format!("{who} {name} (term {})", leader.term)
}

/// Replaces characters with a meaning in XML by references, and characters that XML forbids by spaces.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// Returns at most `most` characters. An ellipsis shows that some are left out.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}\u{2026}")
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

const WIDE: f64 = 760.0;
const HIGH: f64 = 640.0;
const RING: f64 = 220.0;
/// The width of a digit of a sans-serif font, as a share of its size.
const LETTER: f64 = 0.56;
/// The vertical position of the ring's centre.
const MIDDLE: f64 = 325.0;
/// Largest number of agents in a drawing. A ring of more agents looks like a line. The limit also limits the size of
/// the drawing, because the length of a name is limited.
const MOST_NODES: usize = 1_000;
/// Largest number of lines of one kind. More lines cannot be distinguished.
const MOST_LINES: usize = 200;

/// Each colour of text and the colour behind it have a contrast of at least 4.5 to 1.
const STYLE: &str = "<style>
.ground{fill:#ffffff}text{fill:#1b1f24;paint-order:stroke;stroke:#ffffff;stroke-width:3px}.mid{stroke:none}.head{font-weight:bold;font-size:18px}.dim{fill:#57606a}
circle{fill:#eaeef2;stroke:#57606a;stroke-width:2}.mid,.name,.role{text-anchor:middle}.name{font-weight:bold}
.role{font-size:12px}.leader circle{fill:#ffd33d;stroke:#7a5200;stroke-width:4}.leader .mid{fill:#1b1f24}
.electing circle{fill:#cfe3ff;stroke:#0a58ca}.hung circle{stroke-dasharray:4 3}
.down circle{fill:none;stroke-dasharray:2 4}.down text{fill:#57606a}
.message line{stroke:#0a58ca;stroke-width:2}.message text{fill:#0a58ca;font-size:12px;text-anchor:middle}
.cut line{stroke:#b3261e;stroke-width:1.5;stroke-dasharray:6 5;opacity:.55}#head path{fill:#0a58ca}#stop path{fill:#b3261e}
@media (prefers-color-scheme:dark){.ground{fill:#0d1117}text{fill:#e6edf3;stroke:#0d1117}.dim,.down text{fill:#9da7b3}
circle{fill:#21262d;stroke:#9da7b3}.leader circle{fill:#ffd33d;stroke:#fff2b3}
.electing circle{fill:#10305c;stroke:#79b8ff}.down circle{fill:none}.message line{stroke:#79b8ff}.message text{fill:#79b8ff}
.cut line{stroke:#ff8a80}#head path{fill:#79b8ff}#stop path{fill:#ff8a80}}
</style>
<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"11\" markerHeight=\"11\" \
orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0 8 4 0 8z\"/></marker>
<marker id=\"stop\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"11\" markerHeight=\"11\" \
orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>
";

#[cfg(test)]
mod tests {
    #[test]
    fn a_score_of_several_parts_is_written_smaller_and_a_long_one_is_shortened() {
        let fitted = |text| super::fitted(text, 34.0);
        assert_eq!(fitted("-1000"), ("-1000".into(), String::new()));
        let small = " font-size=\"9.2\"";
        assert_eq!(
            fitted("(1, 20, 300)"),
            ("(1, 20, 300)".into(), small.into())
        );
        let (score, size) = fitted("(1000000, 2000000, 3000000)");
        assert_eq!((score.chars().count(), &*size), (13, " font-size=\"8.0\""));
    }
}
