//! Tests of a cluster's run as a recording: it is played again, written as a script, and written as a test that repeats
//! the run.

use std::sync::Arc;

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        invitation::InvitationElection,
        reorganization::Reorganization,
        ring::Ring,
    },
    protocol::Score,
    record::Recording,
    testkit::{cluster::Cluster, faults::Conditions},
};
use bully_core::record::What;

use crate::{MS, five, golden::golden, test};

/// Records a run of three agents with every kind of command that a script can express.
async fn story() -> Recording {
    let network = Conditions::builder().delay(MS(1)..=MS(3)).build().unwrap();
    let builder = Cluster::builder().agents(3).network(network).seed(3);
    let mut cluster = builder.start().unwrap();
    cluster.settle().await.unwrap();
    cluster.crash("3").await.unwrap();
    cluster.settle().await.unwrap();
    cluster.restart("3").unwrap();
    cluster.hang("1").await.unwrap();
    actix::clock::sleep(MS(40)).await;
    cluster.resume("1").unwrap();
    cluster.partition([["1"]]).unwrap();
    cluster.settle().await.unwrap();
    cluster.heal();
    cluster.set_network(network.to_builder().loss(20).build().unwrap());
    cluster.join("4", (9, -1)).unwrap();
    cluster.settle().await.unwrap();
    cluster.step_down("4", Some("2")).unwrap();
    cluster.settle().await.unwrap();
    cluster.set_score("1", Score::from(50)).unwrap();
    cluster.leave("2").await.unwrap();
    cluster.settle().await.unwrap();
    cluster.recording("bully")
}

/// Starts a cluster with the seed and the network of the recording, and repeats its commands.
async fn again(recording: &Recording) -> Recording {
    let network = recording.header().network.unwrap();
    let builder = Cluster::builder()
        .agents(3)
        .network(Conditions::try_from(network).unwrap())
        .seed(recording.header().seed);
    let mut cluster = builder.start().unwrap();
    cluster.repeat(recording).await.unwrap();
    cluster.recording("bully")
}

#[test]
fn a_replay_equals_the_recording() {
    test(|| async {
        let recorded = story().await;
        assert!(recorded.entries().len() > 100, "{}", recorded.to_text());
        let file = recorded.to_jsonl();
        let read = Recording::read(file.as_bytes()).unwrap();
        let replayed = again(&read).await;
        let difference = recorded.first_difference(&replayed);
        assert_eq!(difference.map(|it| it.to_string()), None);
        assert_eq!(replayed.to_jsonl(), file);
    });
}

#[test]
fn a_command_that_is_refused_ends_the_replay() {
    test(|| async {
        let recorded = story().await;
        let mut cluster = five().start().unwrap();
        let refused = cluster.repeat(&recorded).await.unwrap_err();
        assert!(refused.to_string().contains("agent-4"), "{refused}");
    });
}

#[test]
fn a_refused_command_is_not_recorded() {
    test(|| async {
        let mut cluster = five().start().unwrap();
        cluster.resume("1").unwrap_err();
        cluster.crash("9").await.unwrap_err();
        cluster.cut("1", "1").unwrap_err();
        cluster.join("1", 1).unwrap_err();
        cluster.step_down("1", None).unwrap_err();
        let recording = cluster.recording("bully");
        let is_command = |what: &What| matches!(what, What::Command(_));
        let mut commands = recording
            .entries()
            .iter()
            .filter(|entry| is_command(&entry.what));
        assert_eq!(commands.next(), None);
    });
}

/// Compares the written test with a file of this crate, so the test also compiles and passes.
fn is_compiled_here(name: &str, recording: &Recording) {
    let written = recording.to_rust_test().unwrap();
    golden(&format!("tests/cluster/repeated/{name}.rs"), &written);
}

#[test]
fn the_test_that_repeats_the_run_is_compiled_here() {
    test(|| async { is_compiled_here("bully", &story().await) });
}

/// Records a run of three agents: they elect, the leader crashes, and the other agents elect again if their election
/// notices the crash.
macro_rules! crash {
    ($name:literal, $builder:expr) => {
        let mut cluster = $builder.seed(3).start().unwrap();
        cluster.campaign("1").unwrap();
        cluster.settle().await.unwrap();
        cluster.crash("3").await.unwrap();
        drop(cluster.settle().await);
        is_compiled_here($name, &cluster.recording($name));
    };
}

#[test]
fn that_of_every_other_election_is_as_well() {
    test(|| async {
        let names = ["agent-1", "agent-2", "agent-3"].map(|name| name.parse().unwrap());
        let ballot = BallotConfig::new(names);
        let majority = ballot.majority();
        let ballot = Cluster::<Ballot>::with_config(Arc::new(ballot)).agents(3);
        crash!("lease", Cluster::around_register(|_| {}).agents(3));
        crash!("ballot", ballot.needs_voters(majority));
        crash!(
            "ring",
            Cluster::<Ring>::with_config(Arc::default()).agents(3)
        );
        let reorganization = Cluster::<Reorganization>::with_config(Arc::default()).agents(3);
        crash!("reorganization", reorganization);
        let invitation = Cluster::<InvitationElection>::with_config(Arc::default()).agents(3);
        crash!("invitation", invitation);
    });
}

#[test]
fn a_trace_that_forgot_its_beginning_says_so() {
    test(|| async {
        let trace = bully_sim::trace::Trace::new().bounded(10);
        let cluster = five().trace(trace).start().unwrap();
        cluster.settle().await.unwrap();
        let recording = cluster.recording("bully");
        assert_eq!(recording.entries().len(), 11, "and the end");
        assert!(recording.header().forgotten > 0);
        assert!(recording.to_script().is_err() && recording.to_rust_test().is_err());
        assert!(Recording::read(recording.to_jsonl().as_bytes()).is_ok());
    });
}

#[test]
fn the_script_of_a_lease_counts_no_register() {
    test(|| async {
        let network = Conditions::builder().delay(MS(1)..=MS(3)).build().unwrap();
        let cluster = Cluster::around_register(|_| {}).agents(3).network(network);
        let mut cluster = cluster.seed(3).start().unwrap();
        cluster.settle().await.unwrap();
        cluster.isolate("register").unwrap();
        let script = cluster.recording("lease").to_script().unwrap();
        assert!(script.contains(" --protocol lease --agents 3 "), "{script}");
        assert!(script.contains("\nisolate register\n"), "{script}");
    });
}

/// The picture of the README shows the moment after a leader's crash, in which the next leader announces itself.
#[test]
fn the_picture_of_the_readme_is_drawn_by_the_program() {
    test(|| async {
        let network = Conditions::builder().delay(MS(1)..=MS(3)).build().unwrap();
        let builder = Cluster::builder().agents(5).network(network).seed(1);
        let mut cluster = builder.start().unwrap();
        cluster.settle().await.unwrap();
        let crash = cluster.now();
        cluster.crash("5").await.unwrap();
        cluster.settle().await.unwrap();
        let recording = cluster.recording("bully");
        let drawn = recording.to_svg(crash.after(MS(1)));
        golden("examples/expected/crash.svg", &drawn);
        assert!(include_str!("../../README.md").contains("examples/expected/crash.svg"));
    });
}
