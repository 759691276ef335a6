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
    let recording = usual(2, entries, 20);
    let script = recording.to_script().unwrap();
    let expected = "\
# cargo run --example cluster -- --protocol bully --agents 2 --seed 7 --script \"$(cat FILE)\"
settle
crash agent-1 agent-2
until 9ms
network delay 1ms..3ms loss 0.5%
cut agent-1 > agent-2
partition agent-1 | agent-2
score agent-1 3,-4
until 20ms
";
    assert_eq!(script, expected, "\n{script}");
    let test = recording.to_rust_test().unwrap();
    assert!(test.contains("assert_eq!(settled.leaders().collect::<Vec<_>>(), [\"agent-2\"]);"));
    assert!(test.contains("cluster.wait_until(Time::from_millis(9)).await;"));
}

#[test]
fn every_command_stands_in_a_script_and_in_a_test() {
    for command in every_command() {
        let recording = usual(2, [(1, What::Command(command.clone()))], 1);
        let script = recording.to_script().unwrap();
        assert_eq!(script.lines().nth(2), Some(&*command.to_string()));
        let test = recording.to_rust_test().unwrap();
        let call = if command == RecordedCommand::Settle {
            "        assert!(cluster.settle().await.is_err());\n".to_owned()
        } else {
            format!(".apply(&\"{command}\".parse()?)")
        };
        assert!(test.contains(&call), "{command}: {test}");
    }
}

#[test]
fn names_that_are_no_word_of_a_script_are_refused() {
    for name in ["a;crash5\"\\", "a|b", "a>b"] {
        let command = || What::Command(RecordedCommand::Partition(vec![vec![id(name)]]));
        let recording = usual(2, [(1, command())], 1);
        assert!(matches!(recording.to_script(), Err(Untold::Command { at, .. }) if at == AT(1)));
        assert!(recording.to_rust_test().is_err(), "{name}");
    }
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
    assert!(script.is_some_and(|text| text.starts_with("the recording lacks its first 3 entries")));
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
        Some(
            "the example `cluster` has no election `paxos`: play the run again in the program that recorded it"
        )
    );
    let [script, test] = untold(&|header| header.network = None);
    assert_eq!(
        script.as_deref(),
        Some(
            "the example `cluster` cannot begin like this recording: another network; play the run again in the program that recorded it"
        )
    );
    assert_eq!(test, None);
}

#[test]
fn a_run_is_played_again_only_if_its_time_is_virtual_and_its_commands_are_whole() {
    let run = |change: &dyn Fn(&mut crate::record::Header)| {
        let mut recording = usual(2, [], 1);
        change(recording.header_mut());
        recording.can_be_repeated().map_err(|why| why.to_string())
    };
    assert_eq!(run(&|_| {}), Ok(()));
    let of_an_application = run(&|header| "coin".clone_into(&mut header.protocol));
    assert_eq!(of_an_application, Ok(()));
    let refused = |change: &dyn Fn(&mut crate::record::Header)| run(change).unwrap_err();
    let real = refused(&|header| header.clock = crate::record::RecordedClock::Real);
    assert!(real.contains("--commands SCRIPT"), "{real}");
    let node = refused(&|header| header.began_unix_ms = Some(1));
    assert!(node.contains("running node"), "{node}");
    let history = refused(&|header| header.again = Some("simulate --seed 7".to_owned()));
    assert!(history.contains("`simulate --seed 7`"), "{history}");
    let forgotten = refused(&|header| header.forgotten = 3);
    assert!(forgotten.contains("its first 3 entries"), "{forgotten}");
}

/// For each protocol: the constructor in the test, and the calls after the agents.
#[test]
fn a_test_starts_the_election_of_the_recording() {
    for (protocol, first, last) in [
        ("bully", "Cluster::builder()", ""),
        ("astra", "Cluster::builder()", ".astra()"),
        ("quorum", "Cluster::builder()", ".quorum()"),
        ("lease", "Cluster::around_register(|_| {})", ""),
        (
            "ballot",
            "Cluster::<Ballot>::with_config(Arc::new(rules))",
            ".needs_voters(majority)",
        ),
        ("ring", "Cluster::<Ring>::with_config(Arc::new(rules))", ""),
    ] {
        let mut recording = usual(1, [], 1);
        protocol.clone_into(&mut recording.header_mut().protocol);
        if protocol == "lease" {
            // The cluster adds the register itself.
            let mut register = recording.header_mut().agents[0].clone();
            register.name = id("register");
            recording.header_mut().agents.push(register);
        }
        let test = recording.to_rust_test().unwrap();
        let calls = [
            ".agent(\"agent-1\", 1)",
            last,
            ".network(network)",
            ".seed(7)",
        ];
        let mut expected = format!("        let mut cluster = {first}\n");
        for call in calls.iter().filter(|call| !call.is_empty()) {
            expected.extend(["            ", call, "\n"]);
        }
        assert!(test.contains(&expected), "{protocol}: {test}");
    }
}

#[test]
fn a_test_has_the_network_of_the_recording_and_names_only_its_faults() {
    let network = |network| {
        let mut recording = usual(1, [], 1);
        recording.header_mut().network = Some(network);
        let test = recording.to_rust_test().unwrap();
        let calls = test.split_once("Conditions::builder()").unwrap().1;
        let calls = calls.split_once(".build()?;").unwrap().0;
        calls.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let delay = ".delay(Duration::from_millis(1)..=Duration::from_millis(3))";
    assert_eq!(network(super::usual_network()), delay);
    let bad = NetworkRecord {
        loss: 5,
        duplication: 6,
        slow: 7,
        slow_by_ns: (1_500, 2_000_000),
        any_order: true,
        ..super::usual_network()
    };
    assert_eq!(
        network(bad),
        format!(
            "{delay} .loss(5) .duplication(6) \
             .slow(7, Duration::from_nanos(1500)..=Duration::from_millis(2)) .in_any_order()"
        )
    );
}

#[test]
fn a_score_in_a_test_has_the_parts_that_are_not_zero() {
    let long = 1_i64 << 40;
    for (score, written) in [
        (Score::from(3), "3".to_owned()),
        (Score::from((3, -4)), "(3, -4)".to_owned()),
        (Score::from((3, 0, 5)), "(3, 0, 5)".to_owned()),
        (Score::from((0, 0, 0, 6)), "(0, 0, 0, 6)".to_owned()),
        (Score::from(long), format!("{long}_i64")),
    ] {
        let mut recording = usual(1, [], 1);
        recording.header_mut().agents[0].score = Some(score);
        let test = recording.to_rust_test().unwrap();
        let call = format!(".agent(\"agent-1\", {written})\n");
        assert!(test.contains(&call), "{call}: {test}");
    }
}

#[test]
fn a_long_number_in_a_test_has_groups_of_three_digits() {
    for (seed, written) in [
        (12_345, "12345"),
        (123_456, "123_456"),
        (1_234_567, "1_234_567"),
    ] {
        let mut recording = usual(1, [], 1);
        recording.header_mut().seed = seed;
        let test = recording.to_rust_test().unwrap();
        let call = format!(".seed({written})\n");
        assert!(test.contains(&call), "{call}: {test}");
    }
}
