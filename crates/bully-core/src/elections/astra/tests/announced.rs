//! How a leader that is outranked hands over to the better agent, without a gap and without two leaders.

use super::*;

/// `lead-after-the-former`
#[test]
fn a_winner_that_knows_a_leader_leads_when_that_leader_has_stopped() {
    let mut named = Kit::announced();
    let names_me = || resign(MINE - 1, Some(ME));
    named
        .hear(LOW, names_me())
        .acquired(MINE)
        .nothing_else_happened();
    named.hear(LOW, names_me()).nothing_else_happened();
    let stops: [fn(&mut Kit) -> StepEffects; 2] =
        [|me| me.hear(LOW, resign(MINE - 1, None)), |me| me.ends(LOW)];
    for stops in stops {
        let mut me = Kit::announced();
        stops(&mut me).acquired(MINE).nothing_else_happened();
        // The leader stops before the deadline.
        let mut me = Kit::holding().after(LOW, answers(1, MINE - 1, 1));
        stops(&mut me).nothing_else_happened();
        me.later(DEADLINE)
            .fire(BullyTimer::Deadline)
            .sent_all(elected(MINE, 5))
            .acquired(MINE)
            .nothing_else_happened();
    }
    // Resignations from an earlier leadership, and from a leadership that another agent may have by now, do not count.
    let mut me = Kit::announced();
    me.hear(LOW, resign(OLD - 1, None)).nothing_else_happened();
    me.hear(LOW, resign(MINE - 1, Some(HIGH)))
        .nothing_else_happened();
    me.later(DEADLINE)
        .fire(BullyTimer::Deadline)
        .sent(LOW, elected(MINE, 5))
        .acquired(MINE)
        .nothing_else_happened();
}

/// A second copy of a resignation must not end the wait of a later election.
#[test]
fn an_old_resignation_gives_no_leadership() {
    let mut me = Kit::announced();
    me.hear(LOW, resign(MINE - 1, Some(ME))).whatever();
    assert_eq!(me.view().leading, Some(Term(MINE)));
    me.hear(HIGH, elected(MINE + 1, 9)).whatever();
    me.step(Input::Campaign).whatever();
    me.hear(LOW, answers(2, MINE + 2, 1)).whatever();
    me.later(DEADLINE).fire(BullyTimer::Deadline).whatever();
    me.hear(LOW, resign(MINE - 1, Some(ME)))
        .nothing_else_happened();
    assert_eq!(me.view().leading, None);
}

/// Otherwise the agent would ask again and again until the former leader has heard of the next leader.
#[test]
fn the_answer_of_the_former_leader_is_not_asked_about_again() {
    let mut me = Kit::following();
    let middle = Member::up(id("middle"), MemberKind::Voter, None, Incarnation(1));
    me.told(|m| m.join([middle])).nothing_else_happened();
    me.hear("middle", answers(1, OLD - 1, 7))
        .nothing_else_happened();
    // `middle` has led again since, in a later term.
    me.hear("middle", answers(1, OLD + 1, 7))
        .has_no_leader(OLD)
        .sent_to(&[HIGH, LOW, "middle"], ask(1, 5, OLD + 1))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

/// The next leader may wait for this resignation.
#[test]
fn an_agent_that_gave_way_passes_on_the_resignation_of_the_former_leader() {
    let mut me = Kit::announced().after(HIGH, elected(MINE + 1, 9));
    me.hear(LOW, resign(MINE - 1, Some(ME)))
        .sent(HIGH, resign(MINE + 1, Some(HIGH)))
        .nothing_else_happened();
    for successor in [ME, "middle"] {
        // A second copy, and a resignation for another agent.
        me.hear(LOW, resign(MINE - 1, Some(successor)))
            .nothing_else_happened();
    }
    let mut next = Kit::announced();
    next.hear(HIGH, resign(MINE - 1, Some(ME)))
        .acquired(MINE)
        .nothing_else_happened();
}

#[test]
fn an_agent_that_cooled_down_holds_an_election() {
    let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
    me.later(COOLDOWN)
        .fire(BullyTimer::Cooldown)
        .has_no_leader(MINE + 1)
        .sent_to(&[HIGH, LOW], ask(2, 5, MINE + 1))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}
