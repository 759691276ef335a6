//! Tests of a quorum whose voters change while the cluster runs. A recording of such a run can be repeated.

use actix_bully::{
    protocol::{MemberKind, NewVoter, VoterChange},
    record::Recording,
    testkit::cluster::{Cluster, ClusterError},
};

use crate::{MS, command, five, leaders_after, refusal, settled, test};

fn new(name: &str) -> NewVoter {
    NewVoter {
        id: name.parse().unwrap(),
        contact: None,
    }
}

/// Returns the names of the agents that may vote.
fn voters(cluster: &Cluster) -> Vec<String> {
    let status = cluster.status();
    let agents = status.agents().iter();
    let voters = agents.filter(|agent| agent.kind == MemberKind::Voter);
    voters.map(|agent| agent.name.to_string()).collect()
}

/// Script with each kind of change, in the words of the example `cluster`.
const SCRIPT: &str = "join 6 60; settle; add-voter 6; settle; join 7; settle; replace-voter 1 7; settle; crash 2; \
     remove-voter 2; settle; remove-voter 3; settle";

async fn changed() -> Cluster {
    let mut cluster = settled(five().quorum()).await;
    for command in command::read(SCRIPT).unwrap() {
        command.run(&mut cluster).await.unwrap();
    }
    cluster
}

#[test]
fn voters_come_go_and_are_replaced() {
    test(|| async {
        let mut cluster = settled(five().quorum()).await;
        for (script, count) in [
            ("join 6 60; settle", 5), // the new agent only follows
            ("add-voter 6; settle", 6),
            ("join 7 7; settle; replace-voter 1 7; settle", 6),
            (
                "remove-voter 2; settle; remove-voter 3; settle; remove-voter 4; settle",
                3,
            ),
            ("remove-voter 5; settle", 2),
        ] {
            for command in command::read(script).unwrap() {
                command.run(&mut cluster).await.unwrap();
            }
            assert_eq!(voters(&cluster).len(), count, "{script}");
        }
        // The present list of voters decides how many voters a side needs: both of two voters, or the only one.
        assert_eq!(voters(&cluster), ["agent-6", "agent-7"]);
        cluster.crash("7").await.unwrap();
        // The leader's lease ends, and then one of two voters cannot elect a leader.
        actix::clock::sleep(MS(3_000)).await;
        assert_eq!(leaders_after(&cluster).await, "", "one of two elects none");
    });
}

#[test]
fn what_cannot_be_changed_is_refused_and_has_changed_nothing() {
    test(|| async {
        let remove = || VoterChange::Remove("1".parse().unwrap());
        let mut plain = settled(five()).await;
        let refused = plain.change_voters(remove()).unwrap_err();
        assert!(matches!(refused, ClusterError::NoVoters), "{refused}");

        let mut cluster = settled(five().quorum()).await;
        let stranger = VoterChange::Add(new("stranger"));
        let text = refusal(cluster.change_voters(stranger));
        assert!(text.contains("no agent \"stranger\""), "{text}");
        // A change to the present state asks no voter: an agent that already votes stays a voter.
        cluster.change_voters(VoterChange::Add(new("1"))).unwrap();
        cluster.settle().await.unwrap();
        assert_eq!(voters(&cluster).len(), 5);
        for name in ["1", "2", "3", "4", "5"] {
            cluster.stop(name).await.unwrap();
        }
        let text = refusal(cluster.change_voters(remove()));
        assert!(text.contains("is down"), "{text}");
    });
}

#[test]
fn a_recorded_change_of_voters_is_repeated_and_told() {
    test(|| async {
        let cluster = changed().await;
        let recorded = cluster.recording("quorum");
        let read = Recording::read(recorded.to_jsonl().as_bytes()).unwrap();
        let mut again = five().quorum().start().unwrap();
        again.repeat(&read).await.unwrap();
        let difference = recorded.first_difference(&again.recording("quorum"));
        assert_eq!(difference.map(|it| it.to_string()), None);
        assert_eq!(voters(&again), voters(&cluster));

        let test = recorded.to_rust_test().unwrap();
        for call in [
            "add-voter agent-6",
            "replace-voter agent-1 agent-7",
            "remove-voter agent-2",
        ] {
            assert!(test.contains(call), "{test}");
        }
    });
}
