//! Scenarios 23 and 24, on one machine: mail that is out of date. And its messages as text.

use std::sync::Arc;

use actix_bully::{
    elections::ballot::Ballot,
    protocol::{Event, Incarnation, MemberKind, Round, Term, Time},
};
use bully_classics::ballot::{
    BallotMessage, BallotNumber, BallotRecord, BallotTimer, HeartbeatReply, HeartbeatRequest,
    Resign, Standing,
};
use bully_core::protocol::{
    Birth, Effect, Effects, EffectsOf, Election, Identity, Input, InputOf, Member, Members,
};

use crate::ballot::kit::{config, id, names};

/// Agent `c` of `a`, `b`, `c`, in its second incarnation.
struct One {
    machine: Ballot,
    out: EffectsOf<Ballot>,
    round: u64,
}

impl One {
    fn leader() -> Self {
        let me = Identity {
            id: id("c"),
            incarnation: Incarnation(2),
            kind: MemberKind::Voter,
            score: Some(3.into()),
            birth: Birth::Restarted,
            store: None,
        };
        let mut members = Members::new(false);
        let up = |name| Member::up(name, MemberKind::Voter, Some(1.into()), Incarnation(1));
        members.join(names(3).into_iter().map(up));
        let max = Some(ballot(4, "c"));
        let record = BallotRecord { n: 4, max };
        let machine = Ballot::new(me, &Arc::new(config(3)), Some(record));
        let out = Effects::new();
        let mut one = Self {
            machine,
            out,
            round: 1,
        };
        one.step(Input::Start(Arc::new(members)));
        one.round_over();
        one.round_over();
        assert_eq!(one.machine.view(Time::ZERO).leading, Some(Term(5)));
        one
    }

    fn step(&mut self, input: InputOf<Ballot>) -> Vec<Event> {
        self.machine.handle(Time::ZERO, input, &mut self.out);
        let events = self.out.drain().filter_map(|effect| match effect {
            Effect::Notify(event) => Some(event),
            Effect::Persist(_)
            | Effect::Send { .. }
            | Effect::SetTimer { .. }
            | Effect::CancelTimer(_) => None,
        });
        events.collect()
    }

    fn hear(&mut self, from: &str, message: impl Into<BallotMessage>) -> Vec<Event> {
        self.step(Input::Received {
            from: id(from),
            incarnation: Incarnation(1),
            message: message.into(),
        })
    }

    fn reply(&mut self, incarnation: u64, counter: u64, standing: Standing) -> Vec<Event> {
        let incarnation = Incarnation(incarnation);
        let round = Round {
            incarnation,
            counter,
        };
        self.hear("a", HeartbeatReply { round, standing })
    }

    /// `a` answers, and the round ends.
    fn round_over(&mut self) -> Vec<Event> {
        let mut events = self.reply(2, self.round, idle());
        events.extend(self.step(Input::TimedOut(BallotTimer::Round)));
        self.round += 1;
        events
    }
}

fn ballot(n: u64, name: &str) -> BallotNumber {
    BallotNumber {
        n,
        score: 3.into(),
        id: id(name),
    }
}

fn idle() -> Standing {
    Standing {
        ballot: None,
        eligible: true,
        connected: true,
        hears: None,
    }
}

#[test]
fn s23_a_stale_answer_does_not_move_a_standing_leader() {
    let mut one = One::leader();
    let stale = Standing {
        ballot: Some(ballot(9, "a")),
        ..idle()
    };
    assert_eq!(
        one.reply(1, one.round, stale.clone()),
        [],
        "of its first incarnation"
    );
    assert_eq!(one.reply(2, 1, stale), [], "of its first round");
    assert_eq!(one.round_over(), []);
    assert_eq!(one.machine.view(Time::ZERO).leading, Some(Term(5)));
}

#[test]
fn s24_a_stale_bmax_of_a_lower_agent_does_not_move_a_standing_leader() {
    let mut one = One::leader();
    let round = Round {
        incarnation: Incarnation(1),
        counter: 1,
    };
    for n in 1..5 {
        let max = Some(ballot(n, "a"));
        let standing = Standing {
            ballot: max.clone(),
            hears: max.clone(),
            ..idle()
        };
        let stale = HeartbeatRequest {
            round,
            max,
            standing,
        };
        assert_eq!(one.hear("a", stale), []);
    }
    assert_eq!(one.round_over(), []);
    assert_eq!(one.machine.record().max, Some(ballot(5, "c")));
}

#[test]
fn messages_travel_as_text_and_nothing_unknown_is_skipped() {
    let resign = Resign {
        ballot: ballot(7, "c"),
        successor: None,
    };
    let resign = BallotMessage::from(resign);
    let text = serde_json::to_string(&resign).unwrap();
    let expected = r#"{"resign":{"ballot":{"n":7,"score":[3,0,0,0],"id":"c"},"successor":null}}"#;
    assert_eq!(text, expected);
    assert_eq!(
        serde_json::from_str::<BallotMessage>(&text).unwrap(),
        resign
    );
    let more = text.replace(r#""n":7"#, r#""n":7,"m":8"#);
    assert!(serde_json::from_str::<BallotMessage>(&more).is_err());
}
