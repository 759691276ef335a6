//! `Campaign`: the user asks for an election.

use super::*;

#[test]
fn a_follower_begins_an_election_and_goes_on_following() {
    let mut kit = Kit::following();
    kit.step(Input::Campaign)
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(OLD + 1, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
    assert_eq!(kit.leader().as_deref(), Some(B));
}

#[test]
fn an_agent_that_takes_part_in_one_or_cannot_be_elected_begins_none() {
    for mut kit in [Kit::candidate(), Kit::waiting(), Kit::announced()] {
        kit.step(Input::Campaign).nothing_else_happened();
    }
    for mut kit in [Kit::witness(), Kit::observer()] {
        kit.step(Input::Campaign).nothing_else_happened();
    }
}

#[test]
fn a_cool_down_ends_when_the_agent_is_told_to_campaign() {
    let mut kit = Kit::cooling_down();
    kit.step(Input::Campaign).whatever();
    assert_eq!(kit.role(), Role::Candidate);
    assert!(!kit.machine.core.cooldown.has_begun());
}

#[test]
fn the_terms_end_and_do_not_wrap() {
    let mut kit = Kit::scheduled().after(B, coordinator(B, u64::MAX, 9));
    kit.step(Input::Campaign).nothing_else_happened();
    kit.ends(B).has_no_leader(u64::MAX).whatever();
    assert_eq!(kit.role(), Role::Follower);
}
