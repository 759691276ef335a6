//! `AreYouThere`: `answer-truthfully`.

use super::*;

fn eager() -> ReorganizationConfig {
    ReorganizationConfig {
        when_asked: WhenAsked::Elect,
        ..lan()
    }
}

#[test]
fn every_voter_is_there_in_every_state() {
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        let said = me.hear(LOW, are_you_there(9, LOW, 1));
        match state {
            "observer" => assert_eq!(said, NOTHING),
            "cooling down" | "witness" => assert_eq!(said, ["low: there, not standing 9.low"]),
            _ => assert_eq!(said, ["low: there 9.low"], "{state}"),
        }
        assert_eq!(
            me.machine.state, before,
            "an agent that is asked begins nothing: {state}"
        );
    }
}

#[test]
fn a_coordinator_says_whether_it_knows_the_askers_election() {
    let ask = |me: &mut Kit, count| {
        let effects = me.hear(LOW, are_you_there(count, ME, 1));
        let coordinates = |m: &&ReorganizationMessage| matches!(m, ReorganizationMessage::There(m) if m.coordinates);
        effects.messages().iter().any(coordinates)
    };
    for (state, mut me) in Kit::states() {
        let knows = ["reorganizing", "readying", "leading", "draining"].contains(&state);
        assert_eq!(ask(&mut me, 4), knows, "{state}");
        assert!(!ask(&mut me, 3), "{state}");
    }
}

#[test]
fn an_eager_agent_starts_an_election_of_its_own() {
    let mut me = Kit::began_by(eager(), MemberKind::Voter, Some(5)).started();
    assert_eq!(
        me.hear(LOW, are_you_there(9, LOW, 1)),
        ["low: there 9.low"],
        "it does"
    );
    me.hear(HIGH, there(Some(9))).whatever();
    assert_eq!(
        me.hear(LOW, are_you_there(9, LOW, 1)),
        [
            "low: there 9.low",
            "persist 10",
            "high: are you there? 10.me",
            "set Answer 200"
        ]
    );
    me.hear(HIGH, halt(12, HIGH, 9)).whatever();
    assert_eq!(
        me.hear(LOW, are_you_there(13, LOW, 1)).lines().len(),
        1,
        "halted"
    );
    assert_eq!(
        me.hear(HIGH, are_you_there(14, HIGH, 9)).lines().len(),
        1,
        "from above"
    );
}
