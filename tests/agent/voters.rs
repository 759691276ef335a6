//! The voters of a group change while it runs: real agents of one process, in virtual time.

use std::{future::pending, time::Duration};

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyBuilder, BullyHandle, Finding, VotersError},
    protocol::{ChangeError, Contact, MemberKind, NewVoter},
    store::MemoryStore,
    testkit::Inject,
};

use crate::stage::{MS, VOTERS, id, play, until, voter};

const LIMIT: Duration = Duration::from_secs(10);

fn agent(name: &str, group: &Group) -> BullyBuilder {
    voter(group, name, VOTERS)
}

fn learner(name: &str, group: &Group) -> BullyHandle {
    agent(name, group).learner().start().unwrap()
}

/// Starts three voters, and waits until the last one leads.
async fn three(group: &Group) -> Vec<BullyHandle> {
    let agents: Vec<_> = VOTERS
        .iter()
        .map(|name| agent(name, group).start().unwrap())
        .collect();
    until(|| leads(&agents) == Some("c".to_owned())).await;
    agents
}

/// Returns the name of the leader, if exactly one agent leads.
fn leads(agents: &[BullyHandle]) -> Option<String> {
    let mut leaders = agents.iter().filter(|agent| agent.is_leader());
    let leader = leaders.next()?;
    assert_eq!(leaders.next().map(BullyHandle::id), None, "two lead");
    Some(leader.id().to_string())
}

fn new(name: &str) -> NewVoter {
    NewVoter {
        id: id(name),
        contact: None,
    }
}

/// Returns the epoch and the voters that the agent knows.
fn voters(agent: &BullyHandle) -> (u64, Vec<String>) {
    let voters = agent.voters().unwrap();
    let ids = voters.ids.iter().map(ToString::to_string).collect();
    (voters.epoch, ids)
}

fn list(epoch: u64, names: &[&str]) -> (u64, Vec<String>) {
    (epoch, names.iter().map(ToString::to_string).collect())
}

#[test]
fn three_voters_become_four_and_three_again_and_tokens_increase() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let mut agents = three(&group).await;
        let first = agents[2].current().leading.unwrap();
        agents.push(learner("d", &group));
        until(|| agents[3].leader().is_some()).await;
        let kind = |name| group.members().get(&id(name)).unwrap().kind;
        assert_eq!(kind("d"), MemberKind::Observer);

        // A follower passes the request on to the leader.
        let changed = agents[0].add_voter(new("d"), LIMIT).await.unwrap();
        assert_eq!((changed.epoch, changed.is_even()), (1, true));
        until(|| leads(&agents).is_some()).await;
        assert_eq!(voters(&agents[3]), list(1, &["a", "b", "c", "d"]));
        assert_eq!(kind("d"), MemberKind::Voter);
        let leading = |agents: &[BullyHandle]| {
            let leading = agents.iter().find_map(|agent| agent.current().leading);
            leading.unwrap()
        };
        let second = leading(&agents);
        assert!(first < second, "{first} then {second}");

        // The removed voter is the agent that gets the request. It goes on as a follower.
        let changed = agents[1].remove_voter(id("b"), LIMIT).await.unwrap();
        assert_eq!((changed.epoch, changed.is_even()), (2, false));
        until(|| leads(&agents).is_some()).await;
        assert!(second < leading(&agents));
        assert_eq!(voters(&agents[1]), list(2, &["a", "c", "d"]));
        assert_eq!(kind("b"), MemberKind::Observer);
        until(|| agents[1].leader().is_some()).await;

        // The voter was removed before, so nothing changes.
        let again = agents[0].remove_voter(id("b"), LIMIT).await.unwrap();
        assert!(again.already && again.epoch == 2);
    });
}

#[test]
fn a_diagnosis_tells_of_a_change_that_somebody_waits_for_and_of_a_configuration_that_it_overruled()
{
    play(async {
        let group = Group::new("jobs").unwrap();
        let mut agents = three(&group).await;
        let found = |agent: &BullyHandle| agent.diagnosis().findings;
        let overruled = Finding::ConfigurationOlder {
            epoch: 1,
            voters: ["b", "c"].map(id).into(),
        };
        agents[0].remove_voter(id("a"), LIMIT).await.unwrap();
        until(|| leads(&agents[1..]) == Some("c".to_owned())).await;
        assert!(found(&agents[1]).contains(&overruled));

        agents.pop().unwrap().leave(LIMIT).await.unwrap();
        until(|| agents[1].leader().is_none()).await;
        let asked = agents[1].clone();
        let waits = clock::timeout(MS(2_000), asked.remove_voter(id("c"), LIMIT));
        let look = async {
            clock::sleep(MS(1_000)).await;
            found(&agents[1])
        };
        let (outcome, during) = futures::future::join(waits, look).await;
        assert!(outcome.is_err(), "nobody leads");
        let asks = |finding: &Finding| matches!(finding, Finding::VotersChange { epoch: None, is_asked_here: true, since, .. } if *since >= MS(900));
        assert!(during.iter().any(asks), "{during:?}");
        let is_change = |finding: &Finding| matches!(finding, Finding::VotersChange { .. });
        assert!(
            !found(&agents[1]).iter().any(is_change),
            "nobody waits any more"
        );
    });
}

/// No quorum has decided the later epoch, so no agent tells the agents of the earlier epoch its list.
#[test]
fn agents_of_two_configured_epochs_are_told_by_both_and_no_second_agent_leads() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let of = |name: &str, epoch, voters: [&str; 3]| {
            agent(name, &group).quorum(voters).epoch(epoch).start()
        };
        let older = VOTERS.map(|name| of(name, 1, VOTERS).unwrap());
        until(|| leads(&older) == Some("c".to_owned())).await;
        let newer = of("d", 2, ["c", "d", "e"]).unwrap();
        clock::sleep(LIMIT).await;
        assert_eq!(leads(&older), Some("c".to_owned()), "it goes on");
        assert_eq!(newer.leader(), None, "one of three elects none");

        let ours = newer.diagnosis();
        let behind = |name: &str| Finding::OtherListOlder {
            node: name.to_owned(),
            theirs: 1,
            mine: 2,
        };
        assert_eq!(ours.findings[..3], VOTERS.map(behind), "{ours}");
        let later = Finding::ListOlder {
            node: "d".to_owned(),
            theirs: 2,
            mine: 1,
        };
        for agent in &older {
            let found = agent.diagnosis();
            assert_eq!(found.findings[0], later, "{found}");
            let is_of_list = |finding: &Finding| {
                matches!(
                    finding,
                    Finding::ConfigurationOlder { .. } | Finding::Learner { .. }
                )
            };
            assert!(!found.findings.iter().any(is_of_list), "{found}");
        }
        let advice = later.to_string();
        assert!(advice.ends_with(
            "stop this agent, give it the voters and the epoch of d, and start it again"
        ));

        // The operator follows the advice. The agent `a` keeps the old list, and one of three voters cannot elect a
        // leader.
        let [a, b, c] = older;
        for agent in [b, c] {
            agent.leave(LIMIT).await.unwrap();
        }
        let moved = of("c", 2, ["c", "d", "e"]);
        let voters = [moved.unwrap(), newer];
        until(|| leads(&voters).is_some()).await;
        assert_eq!(a.leader(), None);
    });
}

#[test]
fn a_dead_voter_is_replaced_and_one_that_returns_learns_of_it() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let memory = MemoryStore::new();
        let first = || agent("a", &group).store(memory.clone());
        let agents: Vec<_> = [first(), agent("b", &group), agent("c", &group)]
            .map(|agent| agent.start().unwrap())
            .into();
        until(|| leads(&agents) == Some("c".to_owned())).await;
        agents[0].leave(LIMIT).await.unwrap();
        let d = learner("d", &group);
        until(|| d.leader().is_some()).await;
        let changed = agents[1]
            .replace_voter(id("a"), new("d"), LIMIT)
            .await
            .unwrap();
        assert_eq!(changed.voters, ["b", "c", "d"].map(id));
        let rest = [agents[1].clone(), agents[2].clone(), d];
        until(|| leads(&rest).is_some()).await;
        let leader = rest[0].leader();

        // The agent comes back with its old list, and with a store from before the change.
        let back = first().start().unwrap();
        until(|| back.leader().is_some()).await;
        assert_eq!(voters(&back), list(1, &["b", "c", "d"]));
        let kind = group.members().get(&id("a")).unwrap().kind;
        assert_eq!(kind, MemberKind::Observer, "it votes no more");
        clock::sleep(MS(2_000)).await;
        assert_eq!(rest[0].leader(), leader, "it disturbs nobody");
        let installed = memory.record().unwrap().installed().map(|list| list.epoch);
        assert_eq!(installed, Some(1), "its store knows it from now on");
        let other = agent("e", &group).learner().start().unwrap();
        until(|| other.leader().is_some()).await;
        assert_eq!(voters(&other), list(1, &["b", "c", "d"]));
    });
}

#[test]
fn what_cannot_be_done_is_refused_with_words() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group).await;
        let refused = |reason: ChangeError| Err(VotersError::Refused(reason));
        let never = agents[0].add_voter(new("z"), LIMIT).await;
        assert_eq!(never, refused(ChangeError::NotSeen { id: id("z") }));
        let stranger = agents[0].replace_voter(id("y"), new("z"), LIMIT).await;
        assert_eq!(stranger, refused(ChangeError::NotAVoter { id: id("y") }));
        for (name, epoch) in [("c", 1), ("b", 2)] {
            let changed = agents[0].remove_voter(id(name), LIMIT).await.unwrap();
            assert_eq!(changed.epoch, epoch);
            until(|| agents[0].leader().is_some()).await;
        }
        let last = agents[0].remove_voter(id("a"), LIMIT).await;
        assert_eq!(last, refused(ChangeError::LastVoter));
        for agent in &agents {
            agent.leave(LIMIT).await.unwrap();
        }
        let gone = agents[0].remove_voter(id("a"), LIMIT).await;
        assert_eq!(gone, Err(VotersError::Ended));
        let others = Group::new("others").unwrap();
        let plain = BullyAgent::builder("p").join(&others).start().unwrap();
        let none = plain.remove_voter(id("p"), LIMIT).await;
        assert_eq!((none, plain.voters()), (Err(VotersError::NoVoters), None));
    });
}

#[test]
fn a_caller_that_gave_up_is_in_the_way_of_no_other() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let alone = agent("a", &group).start().unwrap();
        clock::sleep(MS(2_000)).await;
        let in_vain = |within| Err(VotersError::TimedOut { within });
        let first = alone.remove_voter(id("b"), MS(600));
        let beside = alone.remove_voter(id("c"), MS(300));
        let (first, beside) = futures::future::join(first, beside).await;
        assert_eq!(first, in_vain(MS(600)));
        assert_eq!(beside, Err(VotersError::Refused(ChangeError::UnderWay)));
        let after = alone.remove_voter(id("c"), MS(300)).await;
        assert_eq!(after, in_vain(MS(300)));
    });
}

/// A refusal proves that nothing was changed. A missing answer does not prove this.
#[test]
fn a_change_whose_last_question_has_no_answer_is_not_told_as_refused() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group).await;
        let z = NewVoter {
            id: id("z"),
            contact: Some(Contact {
                node: "host-z".to_owned(),
                address: "127.0.0.1:1".to_owned(),
            }),
        };
        let silence = async {
            clock::sleep(MS(700)).await;
            for agent in &agents[1..] {
                agent.addr().do_send(Inject::hang(pending()));
            }
        };
        let asked = agents[0].add_voter(z, MS(3_000));
        let (outcome, ()) = futures::future::join(asked, silence).await;
        assert_eq!(outcome, Err(VotersError::TimedOut { within: MS(3_000) }));
    });
}

#[test]
fn a_change_goes_on_when_the_agent_that_was_asked_crashes() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group).await;
        let asked = agents[0].remove_voter(id("b"), LIMIT);
        let crash = async { agents[0].addr().do_send(Inject::Crash) };
        let (changed, ()) = futures::future::join(asked, crash).await;
        assert_eq!(changed.unwrap().epoch, 1);
    });
}
