//! The place of each part in a drawing, and the words beside it.

use super::{AT, Event, Happening, RecordedCommand, What, id, message, usual};
use crate::protocol::{Decree, NewVoter, VotersEvent};

/// Returns every value of an attribute, in the order of the text.
fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
    let name = format!(" {attribute}=\"");
    let parts = svg.split(&name).skip(1);
    let number = |part: &str| part.split('"').next().unwrap().parse().unwrap();
    parts.map(number).collect()
}

fn centres(svg: &str) -> Vec<(f64, f64)> {
    let (x, y) = (numbers(svg, "cx"), numbers(svg, "cy"));
    x.into_iter().zip(y).collect()
}

/// Returns the two ends of the only line of the group.
fn line(svg: &str, group: &str) -> [(f64, f64); 2] {
    let part = svg.split(&format!("<g class=\"{group}\">")).nth(1).unwrap();
    let part = part.split("</g>").next().unwrap();
    let end = |x, y| (numbers(part, x)[0], numbers(part, y)[0]);
    [end("x1", "y1"), end("x2", "y2")]
}

fn drawn(agents: u32, entries: Vec<(u64, What)>, at: u64) -> String {
    usual(agents, entries, 100).to_svg(AT(at))
}

#[test]
fn the_agents_form_a_ring_clockwise_from_the_top() {
    assert_eq!(centres(&drawn(1, vec![], 0)), [(380.0, 325.0)]);
    let ring = [
        (380.0, 105.0),
        (600.0, 325.0),
        (380.0, 545.0),
        (160.0, 325.0),
    ];
    assert_eq!(centres(&drawn(4, vec![], 0)), ring);
}

#[test]
fn the_circles_of_a_crowd_are_smaller_and_do_not_touch() {
    let radius = |agents| numbers(&drawn(agents, vec![], 0), "r")[0];
    assert!([1, 2, 4].map(radius).iter().all(|radius| *radius >= 34.0));
    for agents in [40, 100] {
        let svg = drawn(agents, vec![], 0);
        let [(x, y), (other_x, other_y)] = centres(&svg)[..2] else {
            panic!("{svg}");
        };
        let (apart, radius) = ((other_x - x).hypot(other_y - y), radius(agents));
        assert!(
            2.0 * radius < apart && apart < 3.0 * radius,
            "{agents}: {radius} of {apart}"
        );
    }
}

#[test]
fn the_words_of_an_agent_are_in_and_below_its_circle() {
    let svg = drawn(4, vec![], 0);
    // The top of the ring is the circle around 380, 105 with the radius 34.
    for part in [
        "<text class=\"mid\" x=\"380.0\" y=\"110.0\">1</text>",
        "<text class=\"name\" x=\"380.0\" y=\"155.0\">agent-1</text>",
        "<text class=\"role\" x=\"380.0\" y=\"171.0\">not started</text>",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
}

#[test]
fn a_cut_reaches_from_one_circle_to_the_other() {
    let cut = RecordedCommand::Cut(id("agent-1"), id("agent-2"));
    let svg = drawn(4, vec![(0, What::Command(cut))], 1);
    // The line begins at the edge of a circle: 34 of the distance 311, so 24 down and 24 to the right.
    assert_eq!(line(&svg, "cut"), [(404.0, 129.0), (576.0, 301.0)]);
}

#[test]
fn a_message_moves_from_one_circle_to_the_other_beside_the_way() {
    let sent = |from: &str, to: &str| What::Sent {
        message: message(from, to, "elect"),
        arrives: vec![AT(50)],
    };
    // From the top to the bottom: the centres are 440 apart, and 372 remain between the circles.
    let down = |at| {
        line(
            &drawn(4, vec![(10, sent("agent-1", "agent-3"))], at),
            "message",
        )
    };
    assert_eq!(down(20), [(375.0, 139.0), (375.0, 232.0)], "a quarter");
    assert_eq!(down(40), [(375.0, 139.0), (375.0, 418.0)], "three quarters");
    assert_eq!(
        down(10),
        [(375.0, 139.0), (375.0, 153.0)],
        "it has just left"
    );
    let up = line(
        &drawn(4, vec![(10, sent("agent-3", "agent-1"))], 20),
        "message",
    );
    assert_eq!(up, [(385.0, 511.0), (385.0, 418.0)], "on the other side");
    let right = line(
        &drawn(4, vec![(10, sent("agent-4", "agent-2"))], 20),
        "message",
    );
    assert_eq!(right, [(194.0, 330.0), (287.0, 330.0)]);
}

#[test]
fn the_summary_says_how_many_agents_are_drawn_if_some_are_not() {
    let words = |agents| drawn(agents, vec![], 0).contains("; 1000 agents drawn");
    assert_eq!([999, 1000, 1001].map(words), [false, false, true]);
}

#[test]
fn an_installed_list_makes_voters_and_observers() {
    let voters = ["agent-1", "agent-3"].map(|name| NewVoter {
        id: id(name),
        contact: None,
    });
    let list = Decree {
        epoch: 1,
        voters: voters.into(),
        vote_quorum: None,
        lease_quorum: None,
    };
    let event = Event::Voters(Box::new(VotersEvent::Installed(list)));
    let start = |name: &str| What::Happened {
        agent: id(name),
        what: Happening::Started,
    };
    let agent = id("agent-1");
    let entries = vec![
        (0, start("agent-1")),
        (0, start("agent-2")),
        (1, What::Event { agent, event }),
    ];
    let recording = usual(3, entries, 9);
    let roles = |at| {
        let svg = recording.to_svg(AT(at));
        ["follower", "observer"].map(|role| svg.matches(&format!(">{role}</text>")).count())
    };
    assert_eq!([0, 1].map(roles), [[2, 0], [1, 1]]);
}
