//! `Start`: boot and recovery.

use super::*;

#[test]
fn nothing_happens_before_the_start() {
    let mut me = Kit::voter(&lan());
    me.hear(LOW, elect(1)).nothing_else_happened();
    me.hear(HIGH, elected(3, 9)).nothing_else_happened();
    me.hear(HIGH, resign(3, Some(ME))).nothing_else_happened();
    me.told(|_| ()).nothing_else_happened();
    me.fire(Timer::Campaign).nothing_else_happened();
    me.step(Input::Campaign).nothing_else_happened();
    me.step(Input::StepDown { to: None })
        .nothing_else_happened();
    me.step(Input::Drained).nothing_else_happened();
}

#[test]
fn a_score_set_before_the_start_counts_from_the_start_on() {
    let mut me = Kit::new(&lan(), MemberKind::Voter, None);
    me.set_score(10).nothing_else_happened();
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members))
        .asked(&[HIGH, LOW], elect(10))
        .set(Timer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn a_second_start_is_a_snapshot_like_any_other() {
    for (role, mut me) in Kit::roles() {
        let before = me.machine.state.clone();
        let members = Arc::new(me.members.clone());
        me.step(Input::Start(members)).nothing_else_happened();
        assert_eq!(me.machine.state, before, "{role}");
    }
}

#[test]
fn an_agent_that_is_not_first_in_an_open_group_waits_for_its_slot() {
    let mut me = Kit::voter(&lan());
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members))
        .set(Timer::Campaign, S)
        .nothing_else_happened();
    assert_eq!(me.view().leader, None);
}

#[test]
fn the_first_in_an_open_group_asks() {
    let mut me = Kit::voter(&lan());
    me.members.suspect(&id(HIGH), Incarnation(1));
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members))
        .asked(&[HIGH, LOW], elect(5))
        .set(Timer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn the_first_in_a_closed_group_announces_itself() {
    let mut me = Kit::voter(&lan());
    me.members.set_closed(true);
    me.members.leave(&id(HIGH));
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members))
        .led(1)
        .nothing_else_happened();
}

#[test]
fn the_second_in_a_closed_group_waits_and_then_announces_itself() {
    let mut me = Kit::voter(&lan());
    me.members.set_closed(true);
    let mut me = me.started();
    me.later(S)
        .fire(Timer::Campaign)
        .led(1)
        .nothing_else_happened();
}

#[test]
fn the_only_agent_leads_at_once() {
    let mut me = Kit::voter(&lan());
    me.members = Members::new(false);
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members))
        .led(1)
        .nothing_else_happened();
}

#[test]
fn the_leader_in_the_snapshot_is_asked_and_no_other_agent() {
    let mut me = Kit::voter(&lan());
    me.members.note_leader(leader(LOW, OLD));
    let members = Arc::new(me.members.clone());
    let seen = Term(OLD);
    me.step(Input::Start(members))
        .sent(LOW, Elect { seen, ..elect(5) })
        .set(Timer::Widen, 2 * D)
        .nothing_else_happened();
    assert_eq!(me.view().leader, None, "it has not heard it");
}

#[test]
fn the_leader_in_the_snapshot_that_is_gone_is_not_asked() {
    let mut me = Kit::voter(&lan());
    me.members.note_leader(leader(LOW, OLD));
    me.members.down(&id(LOW), Incarnation(1));
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members))
        .set(Timer::Campaign, S)
        .nothing_else_happened();
    assert_eq!(me.view().term, Term(OLD), "its term is known");
}

#[test]
fn a_former_incarnation_of_its_own_is_not_asked() {
    let mut me = Kit::voter(&lan());
    me.members.note_leader(leader(ME, OLD));
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members))
        .set(Timer::Campaign, S)
        .nothing_else_happened();
}

#[test]
fn an_ineligible_agent_follows_the_leader_in_the_snapshot() {
    for mut me in [
        Kit::new(&lan(), MemberKind::Observer, Some(5)),
        Kit::new(&lan(), MemberKind::Voter, None),
    ] {
        me.members.note_leader(leader(LOW, OLD));
        let members = Arc::new(me.members.clone());
        me.step(Input::Start(members))
            .followed(LOW, OLD)
            .nothing_else_happened();
    }
}

#[test]
fn an_ineligible_agent_without_a_leader_waits() {
    for mut me in [
        Kit::new(&lan(), MemberKind::Observer, Some(5)),
        Kit::new(&lan(), MemberKind::Voter, None),
    ] {
        let members = Arc::new(me.members.clone());
        me.step(Input::Start(members)).nothing_else_happened();
    }
}
