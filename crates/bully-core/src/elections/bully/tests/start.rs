//! `Start`: boot and recovery.

use super::*;

#[test]
fn an_agent_that_is_not_first_in_an_open_group_waits_for_its_slot() {
    let mut me = Kit::voter(&lan());
    me.start()
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
    assert_eq!(me.view().leader, None);
}

#[test]
fn the_first_in_an_open_group_asks() {
    let mut me = Kit::voter(&lan());
    me.members.suspect(&id(HIGH), Incarnation(1));
    me.start()
        .sent_to(&[HIGH, LOW], elect(5))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn the_first_in_a_closed_group_announces_itself() {
    let mut me = Kit::voter(&lan());
    me.members.set_closed(true);
    me.members.leave(&id(HIGH));
    me.start().led(1).nothing_else_happened();
}

#[test]
fn the_second_in_a_closed_group_waits_and_then_announces_itself() {
    let mut me = Kit::voter(&lan());
    me.members.set_closed(true);
    let mut me = me.started();
    me.later(S)
        .fire(BullyTimer::Campaign)
        .led(1)
        .nothing_else_happened();
}

#[test]
fn the_only_agent_leads_at_once() {
    let mut me = Kit::voter(&lan());
    me.members = Members::new(false);
    me.start().led(1).nothing_else_happened();
}

#[test]
fn the_leader_in_the_snapshot_is_asked_and_no_other_agent() {
    let mut me = Kit::voter(&lan());
    me.members.note_leader(leader(LOW, OLD));
    let members = Arc::new(me.members.clone());
    let seen = Term(OLD);
    me.step(Input::Start(members))
        .sent(LOW, Elect { seen, ..elect(5) })
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
    assert_eq!(me.view().leader, None, "it has not heard it");
}

#[test]
fn the_leader_in_the_snapshot_that_is_gone_is_not_asked() {
    let mut me = Kit::voter(&lan());
    me.members.note_leader(leader(LOW, OLD));
    me.members.down(&id(LOW), Incarnation(1));
    me.start()
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
    assert_eq!(me.view().term, Term(OLD), "its term is known");
}

#[test]
fn a_former_incarnation_of_its_own_is_not_asked() {
    let mut me = Kit::voter(&lan());
    me.members.note_leader(leader(ME, OLD));
    me.start()
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
}

#[test]
fn an_ineligible_agent_follows_the_leader_in_the_snapshot() {
    for mut me in [
        Kit::new(&lan(), MemberKind::Observer, Some(5)),
        Kit::new(&lan(), MemberKind::Voter, None),
    ] {
        me.members.note_leader(leader(LOW, OLD));
        me.start().followed(LOW, OLD).nothing_else_happened();
    }
}

#[test]
fn an_ineligible_agent_without_a_leader_waits() {
    for mut me in [
        Kit::new(&lan(), MemberKind::Observer, Some(5)),
        Kit::new(&lan(), MemberKind::Voter, None),
    ] {
        me.start().nothing_else_happened();
    }
}
