//! Which moment shows which outcome; `a` is the agent that is commanded.

use std::time::Duration;

use crate::{
    agent::{Lifecycle, Status, StoreContender, StoreContenders},
    operate::{
        Command, CommandRefusal, Outcome,
        judge::{Judge, Moment},
    },
    protocol::{AgentId, Incarnation, Leader, Member, MemberKind, Members, Role, Score, Term},
};

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn leader(name: &str, term: u64) -> Leader {
    Leader {
        id: id(name),
        incarnation: Incarnation(1),
        term: Term(term),
    }
}

fn member(name: &str, kind: MemberKind, score: Option<i32>) -> Member {
    Member::up(id(name), kind, score.map(Score::from), Incarnation(1))
}

/// `a` and `b` may lead; `eye` observes, `mute` has no score, `gone` is down.
fn members(own: Option<i32>) -> Members {
    let mut members = Members::new(false);
    let voter = MemberKind::Voter;
    members.join([
        member("a", voter, own),
        member("b", voter, Some(2)),
        member("eye", MemberKind::Observer, Some(9)),
        member("mute", voter, None),
        member("gone", voter, Some(4)),
    ]);
    members.down(&id("gone"), Incarnation(1));
    members
}

fn alone() -> Members {
    let mut members = members(Some(3));
    members.leave(&id("b"));
    members
}

fn status(leading: Option<u64>, leader: Option<Leader>) -> Status {
    Status {
        lifecycle: Lifecycle::Running,
        incarnation: Incarnation(1),
        role: Role::Follower,
        term: Term(5),
        leader,
        leader_about: None,
        leading: leading.map(Term),
        draining: false,
        work_panics: 0,
        work_stalls: 0,
        tie_broken: false,
    }
}

fn moment(leading: Option<u64>, leader: Option<Leader>) -> Moment {
    Moment::of(&id("a"), status(leading, leader), &members(Some(3)), None)
}

fn leads(term: u64) -> Moment {
    moment(Some(term), Some(leader("a", term)))
}

fn follows(name: &str, term: u64) -> Moment {
    moment(None, Some(leader(name, term)))
}

fn step_down(to: Option<&str>) -> Command {
    Command::StepDown { to: to.map(id) }
}

fn judge(command: &Command, before: &Moment, members: &Members) -> Result<Judge, CommandRefusal> {
    Judge::new(&id("a"), command, before, members)
}

fn given(command: &Command, before: &Moment) -> Judge {
    judge(command, before, &members(Some(3))).unwrap()
}

#[test]
fn a_command_that_is_impossible_is_refused_with_the_reason() {
    let all = members(Some(3));
    for (to, refusal) in [
        ("nobody", CommandRefusal::NoMember { to: id("nobody") }),
        ("a", CommandRefusal::LeadsAlready { to: id("a") }),
        ("eye", CommandRefusal::NoSuccessor { to: id("eye") }),
        ("mute", CommandRefusal::NoSuccessor { to: id("mute") }),
        ("gone", CommandRefusal::NoSuccessor { to: id("gone") }),
    ] {
        let refused = judge(&step_down(Some(to)), &leads(5), &all);
        assert_eq!(refused.unwrap_err(), refusal);
    }
    let led = Some(leader("b", 5));
    for command in [step_down(None), step_down(Some("b"))] {
        let refused = judge(&command, &follows("b", 5), &all).unwrap_err();
        assert_eq!(
            refused,
            CommandRefusal::NotLeading {
                leader: led.clone(),
                about: None,
            }
        );
    }
    let lonely = Moment::of(&id("a"), leads(5).status, &alone(), None);
    assert!(!lonely.has_other);
    let refused = judge(&step_down(None), &lonely, &alone()).unwrap_err();
    assert_eq!(refused, CommandRefusal::NoOther);
    let mut ended = leads(5);
    ended.status.lifecycle = Lifecycle::Ended;
    for command in [step_down(None), Command::WithdrawScore, Command::Drain] {
        assert_eq!(
            judge(&command, &ended, &all).unwrap_err(),
            CommandRefusal::AgentEnded
        );
    }
}

#[test]
fn a_leadership_that_was_handed_over_names_the_successor_and_its_term() {
    let mut judge = given(&step_down(None), &leads(5));
    assert_eq!(judge.see(&leads(5)), None, "it has not begun");
    let mut draining = leads(5);
    draining.status.draining = true;
    assert_eq!(judge.see(&draining), None, "its work ends");
    assert_eq!(
        judge.see(&moment(None, None)),
        None,
        "no other one leads yet"
    );
    let stale = follows("a", 5);
    assert_eq!(judge.see(&stale), None, "it is no successor of itself");
    let handed = Outcome::HandedOver {
        leader: leader("b", 6),
    };
    assert_eq!(judge.see(&follows("b", 6)), Some(handed.clone()));

    let mut judge = given(&step_down(Some("b")), &leads(5));
    assert_eq!(judge.see(&follows("b", 6)), Some(handed));
    let mut judge = given(&step_down(Some("b")), &leads(5));
    let another = Outcome::LedByAnother {
        asked: id("b"),
        leader: leader("c", 6),
    };
    assert_eq!(judge.see(&follows("c", 6)), Some(another));
}

#[test]
fn an_agent_that_leads_again_says_so() {
    let mut judge = given(&step_down(None), &leads(5));
    assert_eq!(judge.see(&moment(None, None)), None);
    assert_eq!(
        judge.see(&leads(6)),
        Some(Outcome::LedAgain { term: Term(6) })
    );
    // A leadership that goes on in a higher term was not given up.
    let mut judge = given(&step_down(None), &leads(5));
    assert_eq!(judge.see(&leads(6)), None);
}

#[test]
fn what_is_known_when_the_time_is_over() {
    let judge = given(&step_down(None), &leads(5));
    assert_eq!(judge.overdue(&leads(5)), Outcome::Unheard);
    let mut draining = leads(5);
    draining.status.draining = true;
    assert_eq!(
        judge.overdue(&draining),
        Outcome::StillDraining { term: Term(5) }
    );
    assert_eq!(
        judge.overdue(&moment(None, None)),
        Outcome::Vacant { term: Term(5) }
    );
    assert_eq!(
        judge.overdue(&leads(6)),
        Outcome::LedAgain { term: Term(6) }
    );
    let score = Command::SetScore {
        score: Score::from(9),
    };
    let judge = given(&score, &follows("b", 5));
    assert_eq!(judge.overdue(&follows("b", 5)), Outcome::Unheard);
    assert_eq!(judge.overdue(&leads(6)), Outcome::Unheard);
}

#[test]
fn an_agent_that_ends_meanwhile_says_so() {
    let mut ended = moment(None, None);
    ended.status.lifecycle = Lifecycle::Ended;
    let score = Command::SetScore {
        score: Score::from(9),
    };
    for command in [step_down(None), score, Command::WithdrawScore] {
        let mut judge = given(&command, &leads(5));
        assert_eq!(judge.see(&ended), Some(Outcome::Ended));
    }
    // A crash is no end: another incarnation follows, and others lead meanwhile.
    let mut down = moment(None, None);
    down.status.lifecycle = Lifecycle::Down;
    let mut judge = given(&step_down(None), &leads(5));
    assert_eq!(judge.see(&down), None);
    assert!(judge.see(&follows("b", 6)).is_some());
}

#[test]
fn a_score_is_set_when_the_group_has_it() {
    let [score, other] = [3, 9].map(Score::from);
    let mut judge = given(&Command::SetScore { score: other }, &follows("b", 5));
    assert_eq!(
        judge.see(&follows("b", 5)),
        None,
        "the group has the former one"
    );
    let mut judge = given(&Command::SetScore { score }, &follows("b", 5));
    let set = Outcome::ScoreSet {
        score,
        leader: Some(leader("b", 5)),
    };
    assert_eq!(judge.see(&follows("b", 5)), Some(set));
    let mut untied = follows("b", 5);
    untied.status.tie_broken = true;
    assert_eq!(judge.see(&untied), Some(Outcome::ScoreWaits { score }));
}

#[test]
fn a_score_is_withdrawn_when_the_agent_leads_no_longer() {
    let without =
        |leading, leader| Moment::of(&id("a"), status(leading, leader), &members(None), None);
    let withdrawn = |leader| Some(Outcome::ScoreWithdrawn { leader });
    let command = Command::WithdrawScore;
    let mut judge = given(&command, &leads(5));
    assert_eq!(judge.see(&leads(5)), None, "it has a score");
    assert_eq!(
        judge.see(&without(Some(5), Some(leader("a", 5)))),
        None,
        "it leads"
    );
    assert_eq!(judge.see(&without(None, None)), None, "b can lead");
    let next = Some(leader("b", 6));
    assert_eq!(
        judge.see(&without(None, next.clone())),
        withdrawn(next.clone())
    );
    // One that did not lead has nothing to wait for; neither has one that no other can follow.
    let mut judge = given(&command, &follows("b", 6));
    assert_eq!(judge.see(&without(None, next.clone())), withdrawn(next));
    let mut judge = given(&command, &leads(5));
    let mut lonely = without(None, None);
    lonely.has_other = false;
    assert_eq!(judge.see(&lonely), withdrawn(None));
}

fn row(name: &str, score: Option<i64>) -> StoreContender {
    StoreContender {
        id: id(name),
        score: score.map(Score::from),
        about: None,
        unchanged: Duration::ZERO,
    }
}

/// `released-for-whom-it-names`: with a lease the store names the agents of other processes.
#[test]
fn with_a_lease_whoever_its_store_names_can_take_over_and_an_absent_agent_cannot() {
    let judged = |to: Option<&str>, contenders: StoreContenders| {
        let before = Moment::of(&id("a"), leads(5).status, &alone(), Some(contenders));
        let command = Command::StepDown { to: to.map(id) };
        Judge::new(&id("a"), &command, &before, &alone()).map(|_| ())
    };
    let listed = || {
        let rows = [("a", Some(1)), ("far", Some(2)), ("still", None)];
        StoreContenders::Listed(rows.map(|(name, score)| row(name, score)).into())
    };
    assert_eq!(judged(Some("far"), listed()), Ok(()));
    assert_eq!(judged(None, listed()), Ok(()));
    let no_successor = |to| Err(CommandRefusal::NoSuccessor { to: id(to) });
    assert_eq!(judged(Some("still"), listed()), no_successor("still"));
    let absent = Err(CommandRefusal::NoMember { to: id("absent") });
    assert_eq!(judged(Some("absent"), listed()), absent);
    let only_me = StoreContenders::Listed(vec![row("a", Some(1))]);
    assert_eq!(judged(None, only_me), Err(CommandRefusal::NoOther));
    // A store that cannot list: the hand-over shows whether somebody is there.
    assert_eq!(judged(Some("far"), StoreContenders::Unknown), Ok(()));
    assert_eq!(judged(None, StoreContenders::Unknown), Ok(()));
}
