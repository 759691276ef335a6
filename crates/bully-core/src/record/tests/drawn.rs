//! The parts of a drawing.

use super::{
    AT, Event, Happening, Leader, MemberKind, RecordedCommand, Recording, Term, Time, What, golden,
    id, message, usual,
};
use crate::{protocol::Incarnation, record::moment::RecordedMoment};

fn starts(agents: u32) -> Vec<(u64, What)> {
    let names = (1..=agents).map(|number| id(&format!("agent-{number}")));
    let what = Happening::Started;
    names
        .map(|agent| (0, What::Happened { agent, what }))
        .collect()
}

fn event(at: u64, agent: &str, event: Event) -> (u64, What) {
    let agent = id(agent);
    (at, What::Event { agent, event })
}

/// Returns a recording of three agents. The third one leads from 5 ms on, is cut off from the first at 6 ms, and
/// crashes at 9 ms.
fn story() -> Recording {
    let leader = Leader {
        id: id("agent-3"),
        incarnation: Incarnation(1),
        term: Term(4),
    };
    let mut entries = starts(3);
    entries.push((
        2,
        What::Sent {
            message: message("agent-3", "agent-1", "elected"),
            arrives: vec![AT(6)],
        },
    ));
    entries.push(event(5, "agent-3", Event::Acquired { term: Term(4) }));
    entries.push(event(5, "agent-2", Event::NewLeader(leader)));
    let command = RecordedCommand::Cut(id("agent-1"), id("agent-3"));
    entries.push((6, What::Command(command)));
    entries.push((6, What::Mark("cut agent-1 agent-3".to_owned())));
    let what = Happening::Crashed;
    let agent = id("agent-3");
    entries.push((9, What::Happened { agent, what }));
    usual(3, entries, 10)
}

fn leaders(recording: &Recording, at: u64) -> Vec<String> {
    let moment = RecordedMoment::of(recording, AT(at));
    moment
        .leaders()
        .map(|agent| agent.name.to_string())
        .collect()
}

#[test]
fn a_moment_has_what_had_happened_by_then() {
    let story = story();
    assert_eq!(leaders(&story, 4), [""; 0]);
    assert_eq!(leaders(&story, 5), ["agent-3"]);
    assert_eq!(leaders(&story, 9), [""; 0]);
    let under_way = |at| RecordedMoment::of(&story, AT(at)).under_way.len();
    assert_eq!([1, 2, 5, 6].map(under_way), [0, 1, 1, 0]);
    let cut = |at| RecordedMoment::of(&story, AT(at)).cut.len();
    assert_eq!([5, 6].map(cut), [0, 2]);
    let follower = RecordedMoment::of(&story, AT(5)).agents[1]
        .leader
        .cloned()
        .unwrap();
    assert_eq!(follower.id, "agent-3");
}

/// Each row has commands, and the number of cut ways after each of them.
#[test]
fn each_fault_of_the_network_is_seen_and_healed() {
    for (commands, ways) in [
        ("cut agent-1 agent-2; heal", vec![2, 0]),
        ("cut agent-1 > agent-2; heal", vec![1, 0]),
        ("isolate agent-1; heal", vec![4, 0]),
        ("partition agent-1 agent-2; heal", vec![4, 0]),
        // A cut is not an isolation.
        (
            "cut agent-1 agent-2; isolate agent-1; mend agent-2 agent-1; rejoin agent-1",
            vec![2, 4, 4, 0],
        ),
    ] {
        let entries = commands.split("; ").map(|command| command.parse().unwrap());
        let recording = usual(3, (1..).zip(entries.map(What::Command)), 5);
        let cut = |at| RecordedMoment::of(&recording, AT(at)).cut.len();
        let seen: Vec<_> = (1..).take(ways.len()).map(cut).collect();
        assert_eq!(seen, ways, "{commands}");
    }
}

/// Returns a recording of four agents in a ring, with a message on each side and through the middle.
fn messages() -> Recording {
    let sent = |at, from: &str, to: &str| {
        let message = message(from, to, "elect");
        let arrives = vec![AT(50)];
        (at, What::Sent { message, arrives })
    };
    let entries = [
        sent(10, "agent-1", "agent-3"),
        sent(10, "agent-3", "agent-1"),
        sent(10, "agent-4", "agent-2"),
        sent(20, "agent-1", "agent-2"),
    ];
    usual(4, entries, 100)
}

/// Compares some moments with a golden text, from which the style of all drawings is left out. `BLESS=1` writes it.
#[test]
fn drawings_are_as_reviewed() {
    let mut text = String::new();
    for (name, recording, at) in [
        ("an agent leads, and a message is under way", story(), AT(5)),
        ("two agents are cut off from each other", story(), AT(9)),
        (
            "messages in both directions, one just sent",
            messages(),
            AT(20),
        ),
        ("a node that follows a leader", record_of_a_node(), AT(4)),
        ("a node without a leader", record_of_a_node(), AT(5)),
        ("no agent", usual(0, [], 0), Time::MAX),
        ("one agent", usual(1, [], 0), AT(0)),
    ] {
        let svg = recording.to_svg(at);
        let (head, rest) = svg.split_once("<style>").unwrap();
        let (_, parts) = rest.split_once("</defs>\n").unwrap();
        let (_, head) = head.split_once('\n').unwrap();
        text.extend(["## ", name, "\n", head, parts, "\n"]);
    }
    // The record of one node has the messages that it sent and those that it got.
    text.extend([
        "## the diagram of a node\n",
        &record_of_a_node().to_mermaid(),
    ]);
    golden("drawings.txt", &text);
}

#[test]
fn names_with_markup_are_text() {
    let name = "<script>\"&'";
    let mut entries = starts(1);
    let (agent, kind) = (id(name), MemberKind::Voter);
    let join = RecordedCommand::Join {
        agent,
        kind,
        score: None,
    };
    entries.push((1, What::Command(join)));
    entries.push((1, What::Mark(format!("{name}\u{1}]]>"))));
    entries.push((
        1,
        What::Sent {
            message: message(name, "agent-1", "</svg>"),
            arrives: vec![AT(3)],
        },
    ));
    let svg = usual(1, entries, 3).to_svg(AT(2));
    assert!(!svg.contains("<script"), "{svg}");
    assert_eq!(svg.matches("</svg>").count(), 1, "{svg}");
    assert!(svg.contains("&lt;script&gt;&quot;&amp;&#39;"), "{svg}");
    assert!(!svg.contains('\u{1}'));
}

#[test]
fn a_crowd_is_drawn_within_bounds() {
    let mut entries = starts(300);
    for number in 1..=299 {
        let (from, arrives) = (format!("agent-{number}"), vec![AT(9); 3]);
        let message = message(&from, "agent-300", "elect");
        entries.push((1, What::Sent { message, arrives }));
    }
    let command = RecordedCommand::Isolate(id("agent-1"));
    entries.push((1, What::Command(command)));
    let svg = usual(300, entries, 9).to_svg(AT(5));
    assert_eq!(svg.matches("<g class=\"message\">").count(), 200);
    assert!(
        svg.contains("897 messages under way, 200 of them drawn"),
        "{svg:.900}"
    );
    assert!(svg.contains("598 of the ways between agents cut, too many to draw"));
    assert!(svg.len() < 150_000, "{}", svg.len());
}

/// Returns the record of agent-1, which follows agent-3 in term 4 at first. No other agent writes it.
fn record_of_a_node() -> Recording {
    let leader = Leader {
        id: id("agent-3"),
        incarnation: Incarnation(1),
        term: Term(4),
    };
    let arrived = What::Delivered(message("agent-3", "agent-1", "elected"));
    let sent = What::Sent {
        message: message("agent-1", "agent-3", "elect"),
        arrives: Vec::new(),
    };
    let entries = [
        (2, arrived),
        event(3, "agent-1", Event::NewLeader(leader)),
        event(5, "agent-1", Event::NoLeader { term: Term(4) }),
        (6, sent),
    ];
    let mut recording = usual(3, entries, 7);
    recording.header_mut().began_unix_ms = Some(1);
    recording
}
