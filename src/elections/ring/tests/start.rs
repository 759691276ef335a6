//! `Start`: a life begins (N1).

use super::*;

fn begin(mut kit: Kit) -> (Kit, Seen) {
    let members = Arc::new(kit.members.clone());
    let seen = kit.step(Input::Start(members));
    (kit, seen)
}

#[test]
fn the_most_important_member_begins_at_once() {
    let kit = Kit::unborn(lan(), MemberKind::Voter, Some(50));
    let (kit, seen) = begin(kit);
    seen.set(Timer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(1, (ME, 50), &[(ME, 50)]))
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Candidate);
}

#[test]
fn the_others_wait_for_their_turn_in_order_of_rank() {
    let (mut kit, seen) = begin(Kit::voter(lan()));
    seen.set(Timer::Turn, S).nothing_else_happened();
    kit.later(S)
        .fire(Timer::Turn)
        .set(Timer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(1, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
    let (_, seen) = begin(Kit::unborn(lan(), MemberKind::Voter, Some(0)));
    seen.set(Timer::Turn, 3 * S).nothing_else_happened();
}

#[test]
fn who_finds_a_leader_waits_for_its_heartbeat() {
    let mut kit = Kit::unborn(lan(), MemberKind::Voter, Some(50));
    kit.members.note_leader(leader(Z, OLD));
    let (mut kit, seen) = begin(kit);
    seen.set(Timer::Turn, LOST).nothing_else_happened();
    kit.later(LOST)
        .fire(Timer::Turn)
        .set(Timer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(OLD + 1, (ME, 50), &[(ME, 50)]))
        .nothing_else_happened();
}

#[test]
fn who_cannot_be_elected_waits() {
    let (_, seen) = begin(Kit::unborn(lan(), MemberKind::Voter, None));
    seen.nothing_else_happened();
    let (_, seen) = begin(Kit::unborn(lan(), MemberKind::Observer, Some(5)));
    seen.nothing_else_happened();
}

#[test]
fn one_alone_leads_at_once() {
    let mut kit = Kit::voter(lan());
    for name in [A, B, Z, EYE] {
        kit.members.leave(&id(name));
    }
    let (kit, seen) = begin(kit);
    seen.set(Timer::Token, 2 * HOP) // begun
        .set(Timer::Token, 2 * HOP) // and won
        .set(Timer::Beat, H)
        .set(Timer::Lost, L + HOP)
        .notified(Event::Acquired { term: Term(1) })
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Leader);
}

#[test]
fn before_its_life_nothing_happens_but_its_score_counts() {
    let mut kit = Kit::voter(lan());
    for input in [
        Input::Campaign,
        Input::Drained,
        Input::TimedOut(Timer::Turn),
        Input::StepDown { to: None },
    ] {
        kit.step(input).nothing_else_happened();
    }
    kit.hear(B, coordinator(B, OLD, 9)).nothing_else_happened();
    kit.set_score(50).nothing_else_happened();
    let (_, seen) = begin(kit);
    seen.set(Timer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(1, (ME, 50), &[(ME, 50)]))
        .nothing_else_happened();
}
