//! A run as a Mermaid sequence diagram: an arrow per message, a note per event.
//!
//! Decided here: an arrow is drawn when the message is sent. If the recording lacks the entry of the sending, the arrow
//! is drawn when the message arrives: the record of one agent has only the sendings of this agent. The diagram is valid
//! for any name and any text. Participants have generated names (`p0`), and the real names are escaped titles. A
//! character with a meaning in Mermaid or in HTML becomes a character reference.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    BoundedText, TooLong,
    lines::{Line, MOST_WRITTEN, Subject, Way},
};
use crate::protocol::AgentId;

/// Returns the lines as a diagram. The participants have the order of `order`; other participants follow, sorted by
/// name.
pub fn to_mermaid(lines: &[Line<'_>], order: &[AgentId]) -> String {
    let positions = positions(lines, order);
    let mut named: Vec<(usize, &AgentId)> = positions.iter().map(|(id, at)| (*at, *id)).collect();
    named.sort_unstable();
    let mut text = BoundedText::new(MOST_WRITTEN);
    // If a part does not fit, the last line of the diagram reports the loss.
    write(&mut text, lines, &named, &positions).ok();
    text.ended_by("    %% the run goes on: this is all that is drawn of it\n")
}

fn write(
    text: &mut BoundedText,
    lines: &[Line<'_>],
    named: &[(usize, &AgentId)],
    positions: &BTreeMap<&AgentId, usize>,
) -> Result<(), TooLong> {
    text.push("sequenceDiagram\n")?;
    if !lines.is_empty() {
        text.push("    title times in ms\n")?;
    }
    for (at, id) in named {
        let name = escape(id.as_str());
        text.append(format_args!("    participant p{at} as {name}\n"))?;
    }
    let position = |id: &AgentId| positions.get(id).copied().unwrap_or(0);
    let mut sent = BTreeSet::new();
    for line in lines {
        let (at, what) = (line.at, escape(&line.what));
        match &line.subject {
            Subject::All => {
                let over = match named.len() {
                    0 => continue,
                    1 => String::from("p0"),
                    many => format!("p0,p{}", many - 1),
                };
                text.append(format_args!("    Note over {over}: {at} {what}\n"))?;
            }
            Subject::Agents(agents) => {
                for agent in agents.iter().map(|id| position(id)) {
                    text.append(format_args!("    Note over p{agent}: {at} {what}\n"))?;
                }
            }
            Subject::Message { from, way, to } => {
                // The fate of the message is left out: two spaces separate it from the text of the message.
                let message = line.what.split("  ").next();
                for receiver in to {
                    let (p, q) = (position(from), position(receiver));
                    let of = (*from, *receiver, message);
                    let arrow = match way {
                        Way::Arrived | Way::Dropped if sent.contains(&of) => {
                            format!("Note over p{q}")
                        }
                        Way::Sent | Way::Arrived => format!("p{p}->>p{q}"),
                        Way::Lost | Way::Dropped => format!("p{p}-xp{q}"),
                    };
                    if *way == Way::Sent {
                        sent.insert(of);
                    }
                    text.append(format_args!("    {arrow}: {what}\n"))?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the positions of the participants, from left to right.
fn positions<'a>(lines: &'a [Line<'_>], order: &'a [AgentId]) -> BTreeMap<&'a AgentId, usize> {
    let mut seen: BTreeMap<&AgentId, usize> = BTreeMap::new();
    for line in lines {
        match &line.subject {
            Subject::All => {}
            Subject::Agents(agents) => seen.extend(agents.iter().map(|id| (*id, usize::MAX))),
            Subject::Message { from, to, .. } => {
                seen.insert(from, usize::MAX);
                seen.extend(to.iter().map(|id| (*id, usize::MAX)));
            }
        }
    }
    seen.extend(order.iter().zip(0..));
    let mut positions: Vec<(usize, &AgentId)> = seen.into_iter().map(|(id, at)| (at, id)).collect();
    positions.sort_unstable();
    positions
        .into_iter()
        .zip(0..)
        .map(|((_, id), at)| (id, at))
        .collect()
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '#' => safe.push_str("#35;"),
            ';' => safe.push_str("#59;"),
            '<' => safe.push_str("#lt;"),
            '>' => safe.push_str("#gt;"),
            '&' => safe.push_str("#amp;"),
            '"' => safe.push_str("#quot;"),
            '%' => safe.push_str("#37;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
