//! A run as commands, and as a test.

use super::{AT, RecordedCommand, Score, Untold, What, every_command, id, usual};
use crate::record::NetworkRecord;

fn settled(leader: &str) -> What {
    What::Settled {
        sides: vec![super::RecordedSide {
            agents: vec![id(leader)],
            leader: Some(id(leader)),
            term: super::Term(1),
        }],
        took_ns: 0,
        messages: 0,
    }
}

#[test]
fn a_script_has_the_commands_at_their_times() {
    let (one, two) = (id("agent-1"), id("agent-2"));
    let network = NetworkRecord {
        loss: 5,
        ..super::usual_network()
    };
    let entries = [
        (0, What::Command(RecordedCommand::Settle)),
        (5, settled("agent-2")),
        (5, What::Command(RecordedCommand::Settle)),
        (7, settled("agent-2")),
        (
            7,
            What::Command(RecordedCommand::Crash(vec![one.clone(), two.clone()])),
        ),
        (9, What::Command(RecordedCommand::Network(network))),
        (
            9,
            What::Command(RecordedCommand::CutOneWay(one.clone(), two.clone())),
        ),
        (
            9,
            What::Command(RecordedCommand::Partition(vec![
                vec![one.clone()],
                vec![two],
            ])),
        ),
        (
            9,
            What::Command(RecordedCommand::Score {
                agent: one,
                score: Some(Score::from((3, -4))),
            }),
        ),
    ];
    let script = usual(2, entries, 20).to_script().unwrap();
    let expected = "\
# cargo run --example cluster -- --protocol bully --agents 2 --seed 7 --script \"$(cat FILE)\"
settle
crash agent-1 agent-2
until 9ms
loss 0.5%
cut agent-1 > agent-2
partition agent-1 | agent-2
score agent-1 3,-4,0,0
until 20ms
";
    assert_eq!(script, expected, "\n{script}");
}

#[test]
fn every_command_has_words_or_is_named() {
    let mut without_words = 0;
    for command in every_command() {
        let recording = usual(2, [(1, What::Command(command.clone()))], 1);
        match recording.to_script() {
            Ok(script) => assert_eq!(script.lines().count(), 3, "{script}"),
            Err(wrong) => {
                without_words += 1;
                assert!(
                    wrong
                        .to_string()
                        .starts_with("at 1.000 ms the command has no form there")
                );
            }
        }
        let test = recording.to_rust_test().unwrap();
        let says = test.contains("cluster.settle()") || test.contains("        cluster.");
        assert!(says, "{command:?}: {test}");
    }
    assert_eq!(without_words, 2, "an expiry, and an observer that joins");
}

#[test]
fn names_that_are_no_word_of_a_script_are_refused_and_quoted_in_rust() {
    let name = "a;crash5\"\\";
    let command = || What::Command(RecordedCommand::Crash(vec![id(name)]));
    let recording = usual(2, [(1, command())], 1);
    assert!(matches!(recording.to_script(), Err(Untold::Command { at, .. }) if at == AT(1)));
    let test = recording.to_rust_test().unwrap();
    assert!(
        test.contains(r#"cluster.crash("a;crash5\"\\").await?;"#),
        "{test}"
    );
}

#[test]
fn a_run_that_cannot_be_told_is_refused() {
    let untold = |change: &dyn Fn(&mut super::Header)| {
        let mut recording = usual(2, [], 1);
        change(recording.header_mut());
        [
            recording.to_script().err().map(|wrong| wrong.to_string()),
            recording
                .to_rust_test()
                .err()
                .map(|wrong| wrong.to_string()),
        ]
    };
    assert_eq!(untold(&|_| {}), [None, None]);
    let [script, test] = untold(&|header| header.forgotten = 3);
    assert!(script.is_some_and(|text| text.starts_with("3 earlier entries are forgotten")));
    assert!(test.is_some());
    assert!(
        untold(&|header| header.agents.clear())
            .iter()
            .all(Option::is_some)
    );
    let [script, test] = untold(&|header| "paxos".clone_into(&mut header.protocol));
    assert_eq!(script, test);
    assert_eq!(
        script.as_deref(),
        Some("no cluster is begun by the name `paxos` of the election")
    );
    let [script, test] = untold(&|header| header.network = None);
    assert_eq!(
        script.as_deref(),
        Some("the example `cluster` begins otherwise: another network")
    );
    assert_eq!(test, None);
}
