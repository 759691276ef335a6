//! A run as text, and as a sequence diagram.

use super::{AT, What, message, usual};

fn text(arrives: &[u64]) -> String {
    let what = What::Sent {
        message: message("agent-1", "agent-2", "elect"),
        arrives: arrives.iter().map(|at| AT(*at)).collect(),
    };
    let text = usual(2, [(5, what)], 9).to_text();
    let line = text.lines().find(|line| line.contains("elect"));
    line.unwrap().trim().to_owned()
}

#[test]
fn a_sent_message_has_the_delay_of_each_arrival_unless_it_arrives_at_once() {
    let sent = "5.000  agent-1 -> agent-2  elect 1.1";
    assert_eq!(text(&[5]), sent);
    assert_eq!(text(&[8]), format!("{sent}  +3.000"));
    assert_eq!(text(&[5, 8]), format!("{sent}  +0.000  +3.000"));
}

#[test]
fn a_run_names_the_unit_of_its_times_and_an_empty_one_has_none() {
    let run = usual(1, [(1, What::Mark("cut".to_owned()))], 9);
    assert!(run.to_text().starts_with("(times in ms)\n"));
    let head = "sequenceDiagram\n    title times in ms\n";
    assert!(run.to_mermaid().starts_with(head));
    let empty = usual(1, [], 9);
    assert_eq!(empty.to_text(), "");
}

/// Each of these characters would be markup of the diagram, or end its line.
#[test]
fn characters_with_a_meaning_in_a_diagram_are_replaced() {
    let mark = What::Mark("a\u{1}b\tc#;<>&\"%".to_owned());
    let drawn = usual(1, [(1, mark)], 9).to_mermaid();
    let expected = "a b c#35;#59;#lt;#gt;#amp;#quot;#37;";
    assert!(drawn.contains(expected), "{drawn}");
}
