//! `Ack` and `Nack`: what a candidate makes of them.

use super::*;

#[test]
fn with_all_acknowledgements_phase_follows_phase() {
    let mut me = Kit::halting();
    assert_eq!(
        me.hear(LOW, ack(Call::Halt)),
        ["low: new coordinator 4.me", "set Answer 200"],
        "HIGH is not halted, since it was not there when asked"
    );
    assert_eq!(me.machine.coordinator(), Some(&id(ME)));
    assert_eq!(
        me.hear(LOW, ack(Call::NewCoordinator)),
        [
            "eye: ready 4.me task 40",
            "low: ready 4.me task 40",
            "set Answer 200"
        ]
    );
    assert_eq!(
        (me.machine.status(), me.machine.task()),
        (PaperStatus::Reorganization, None)
    );
    assert_eq!(
        me.hear(LOW, ack(Call::Ready)),
        ["set Check 60", "acquired the leadership in term 4"]
    );
    assert_eq!(
        (me.machine.status(), me.machine.task()),
        (PaperStatus::Normal, Some(Task(40)))
    );
}

#[test]
fn an_answer_to_an_earlier_call_counts_for_nothing() {
    let old = Ack {
        call: Call::Halt,
        election: election(3, ME),
    };
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        assert_eq!(me.hear(LOW, old.clone()), NOTHING, "{state}");
        let refused = Nack {
            election: election(3, ME),
            ..nack(Call::Halt, 3, Some(1))
        };
        assert_eq!(me.hear(LOW, refused), NOTHING, "{state}");
        if state != "halting" {
            assert_eq!(me.hear(LOW, ack(Call::Halt)), NOTHING, "{state}");
        }
        assert_eq!(me.machine.state, before, "{state}");
    }
}

#[test]
fn a_refusal_ends_the_election_and_the_next_one_exceeds_what_it_tells() {
    for (mut me, call) in [
        (Kit::halting(), Call::Halt),
        (Kit::reorganizing(), Call::NewCoordinator),
        (Kit::readying(), Call::Ready),
    ] {
        assert_eq!(me.hear(LOW, nack(call, 30, Some(1))), ["set Takeover 18"]);
        assert_eq!(
            (me.machine.status(), me.role()),
            (PaperStatus::Election, Role::Waiting)
        );
        me.later(18);
        assert_eq!(
            me.fire(ReorganizationTimer::Takeover),
            ["persist 31", "high: are you there? 31.me", "set Answer 200"]
        );
    }
}

#[test]
fn an_agent_that_refuses_because_it_ranks_above_is_asked_next_time() {
    let mut me = Kit::halting();
    me.hear(LOW, nack(Call::Halt, 4, Some(6))).whatever();
    me.later(18);
    assert_eq!(
        me.fire(ReorganizationTimer::Takeover).lines()[1],
        "high low: are you there? 5.me"
    );
}
