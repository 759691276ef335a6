//! Drawings of many agents, and of voters that change.

use super::{AT, AgentId, Event, Happening, What, id, usual};
use crate::protocol::{Decree, NewVoter, VotersEvent};

/// Returns every value of an attribute, in the order of the text.
fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
    let name = format!(" {attribute}=\"");
    let parts = svg.split(&name).skip(1);
    let number = |part: &str| part.split('"').next().unwrap().parse().unwrap();
    parts.map(number).collect()
}

fn drawn(agents: u32) -> String {
    usual(agents, [], 100).to_svg(AT(0))
}

#[test]
fn the_circles_of_a_crowd_are_smaller_and_do_not_touch() {
    let radius = |agents| numbers(&drawn(agents), "r")[0];
    assert!([1, 2, 4].map(radius).iter().all(|radius| *radius >= 34.0));
    for agents in [40, 100] {
        let [x, y] = ["cx", "cy"].map(|attribute| numbers(&drawn(agents), attribute));
        let (apart, radius) = ((x[1] - x[0]).hypot(y[1] - y[0]), radius(agents));
        assert!(
            2.0 * radius < apart && apart < 3.0 * radius,
            "{agents}: {radius} of {apart}"
        );
    }
    let are_left_out = |agents| drawn(agents).contains("; 1000 agents drawn");
    assert_eq!([1000, 1001].map(are_left_out), [false, true]);
}

#[test]
fn an_installed_list_makes_voters_and_observers() {
    let voter = |name| NewVoter {
        id: id(name),
        contact: None,
    };
    let list = Decree {
        epoch: 1,
        voters: ["agent-1", "agent-3"].map(voter).into(),
        vote_quorum: None,
        lease_quorum: None,
    };
    let event = Event::Voters(Box::new(VotersEvent::Installed(list)));
    let [one, two] = ["agent-1", "agent-2"].map(id);
    let starts = |agent: &AgentId| What::Happened {
        agent: agent.clone(),
        what: Happening::Started,
    };
    let entries = vec![
        (0, starts(&one)),
        (0, starts(&two)),
        (1, What::Event { agent: one, event }),
    ];
    let recording = usual(3, entries, 9);
    let roles = |at| {
        let svg = recording.to_svg(AT(at));
        ["follower", "observer"].map(|role| svg.matches(&format!(">{role}</text>")).count())
    };
    assert_eq!([0, 1].map(roles), [[2, 0], [1, 1]]);
}
