//! Every role by every input: no cell panics, and none leaves the machine without a timer that
//! moves it on. What each cell does is in the files of the inputs.

use super::*;

fn messages(me: &Kit) -> Vec<BullyMessage> {
    let seen = me.bully.seen.0;
    let mut all = Vec::new();
    for term in [0, seen.saturating_sub(1), seen, seen + 1, u64::MAX] {
        for score in [0, 5, 20] {
            let elect = Elect {
                seen: Term(term),
                ..elect(score)
            };
            all.extend([elect.into(), elected(term, score).into()]);
            all.push(heartbeat(term, score).into());
            all.push(answers(me.bully.rounds, term, score).into());
        }
        for counter in [0, me.bully.rounds, me.bully.rounds + 1] {
            let seen = Term(term);
            let (ok, no) = (ok(counter), yields(counter));
            all.extend([Ok { seen, ..ok }.into(), Yield { seen, ..no }.into()]);
            all.push(releases(counter, term).into());
        }
        for successor in [None, Some(ME), Some(LOW), Some(STRANGER)] {
            all.push(resign(term, successor).into());
        }
    }
    all
}

const CHANGES: [fn(&mut Members, &AgentId) -> bool; 7] = [
    Members::leave,
    |m, id| m.down(id, Incarnation(1)),
    |m, id| m.suspect(id, Incarnation(1)),
    |m, id| m.up(id, Incarnation(2)),
    |m, id| m.down(id, Incarnation(9)),
    |m, id| m.set_score(id, None),
    |m, id| m.set_score(id, Some(20.into())),
];

fn snapshots(me: &Kit) -> Vec<Members> {
    let mut all = vec![Members::default(), me.members.clone()];
    for name in [LOW, HIGH, ME, EYE] {
        for change in CHANGES {
            let mut members = me.members.clone();
            change(&mut members, &id(name));
            all.push(members);
        }
        let mut members = me.members.clone();
        members.note_leader(leader(name, 20));
        all.push(members);
    }
    all
}

pub(super) fn inputs(me: &Kit) -> Vec<InputOf<Bully>> {
    let mut all = vec![Input::Campaign, Input::Drained];
    for name in [LOW, HIGH, EYE, ME, STRANGER] {
        for life in [0, 1, 2] {
            all.extend(messages(me).into_iter().map(|message| Input::Received {
                from: id(name),
                incarnation: Incarnation(life),
                message,
            }));
        }
        all.push(Input::StepDown { to: Some(id(name)) });
    }
    all.push(Input::StepDown { to: None });
    let scores = [None, Some(0.into()), Some(5.into()), Some(20.into())];
    all.extend(scores.map(Input::SetScore));
    for members in snapshots(me) {
        let members = Arc::new(members);
        all.push(Input::Members(Arc::clone(&members)));
        all.push(Input::Start(members));
    }
    all.extend(timer::TIMERS.map(Input::TimedOut));
    all
}

/// The contract is checked in every step.
#[test]
fn no_cell_panics_and_none_loses_its_timer() {
    for (_, me) in Kit::roles() {
        for late in [0, D, S + J, T, L + J, VICTORY, DRAIN, 2 * REST] {
            for input in inputs(&me) {
                let mut me = me.clone();
                me.later(late).step(input).whatever();
            }
        }
    }
}

/// Whatever one input has done, an agent that may stand and hears nobody leads in the end.
#[test]
fn who_hears_nobody_leads_in_the_end() {
    for (role, me) in Kit::roles() {
        if role == "observer" {
            continue;
        }
        for input in inputs(&me) {
            let mut me = me.clone();
            me.step(input).whatever();
            me.set_score(5).whatever();
            for _ in 0..40 {
                let next = me.contract.armed().into_iter().min_by_key(|(_, due)| *due);
                let Some((timer, due)) = next else { break };
                me.now = me.now.max(due);
                me.fire(timer).whatever();
                if me.role() == Role::Leader {
                    break;
                }
            }
            let ended = me.bully.seen == Term(u64::MAX);
            assert!(ended || me.role() == Role::Leader, "{role}: {:?}", me.bully);
        }
    }
}
