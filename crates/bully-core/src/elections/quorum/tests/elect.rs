//! `Elect`, `Ok` and `Yield`: questions and their answers. Also `Campaign`.

use super::*;

#[test]
fn an_agent_objects_only_once_to_the_same_leader() {
    let mut me = Kit::vacant();
    me.hear(LOW, elect(4, 1))
        .sent(LOW, objects(1, 4))
        .whatever();
    me.hear(LOW, elect(4, 1))
        .sent(LOW, yields_at(1, 4))
        .nothing_else_happened();
    let mut me = me.after(HIGH, heartbeat(OLD, 9));
    me.later(P).fire(BullyTimer::Election).whatever();
    me.hear(LOW, elect(4, 1))
        .sent(LOW, objects(1, 4))
        .whatever();
}

#[test]
fn an_agent_whose_cooldown_is_over_objects_again() {
    let cooldown = Duration::from_secs(1);
    let mut me = Kit::leading_by(QuorumConfig {
        cooldown,
        ..config()
    });
    me.step_down(None).whatever();
    me.step(Input::Drained).whatever();
    let (seen, _) = me.durable();
    me.later(1_000 - 1)
        .hear(LOW, elect(seen, 1))
        .sent(LOW, yields_at(1, seen))
        .nothing_else_happened();
    me.later(1)
        .hear(LOW, elect(seen, 1))
        .sent(LOW, objects(1, seen))
        .whatever(); // this agent asks too
}

#[test]
fn refusals_by_all_end_the_round_at_once() {
    let mut me = Kit::asking();
    me.hear(LOW, alive(1, 0, 40)).nothing_else_happened();
    me.hear(HIGH, alive(1, 0, 60))
        .set(BullyTimer::Election, 60 + S)
        .nothing_else_happened();
}

/// Scenario 80
#[test]
fn at_the_end_of_the_terms_it_does_not_campaign() {
    let vote = vote(LAST_TERM.0, None, P);
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), vote).started();
    me.later(P + S)
        .fire(BullyTimer::Election)
        .nothing_else_happened();
    me.step(Input::Campaign).nothing_else_happened();
    assert_eq!(me.view().role, Role::Follower);
}

#[test]
fn campaigning_ends_a_cooldown() {
    let mut cools_down = Kit::leading();
    cools_down.step_down(None).whatever();
    cools_down.step(Input::Drained).whatever();
    let mut me = cools_down.clone();
    let asks = Elect {
        round: round(2),
        released: Some(leader(ME, MINE)),
        ..elect(MINE, 5)
    };
    me.step(Input::Campaign).asked(asks).whatever();
    cools_down
        .fire(BullyTimer::Election)
        .set(BullyTimer::Election, W + 9 * S)
        .nothing_else_happened();
}
