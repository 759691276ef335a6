//! `Start`: boot and recovery.

use super::*;

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
fn an_ineligible_agent_follows_the_leader_in_the_snapshot() {
    for mut me in [
        Kit::new(&lan(), MemberKind::Observer, Some(5)),
        Kit::new(&lan(), MemberKind::Voter, None),
    ] {
        me.members.note_leader(leader(LOW, OLD));
        me.start().followed(LOW, OLD).nothing_else_happened();
    }
}
