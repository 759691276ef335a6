//! A run as commands, and as a test.

use super::{
    AT, Header, MemberKind, RecordedCommand, Recording, Score, Untold, What, every_command, golden,
    id, usual,
};
use crate::record::{NetworkRecord, RecordedClock};

fn settled(leaders: &[&str]) -> What {
    let side = |leader: &&str| super::RecordedSide {
        agents: vec![id(leader)],
        leader: Some(id(leader)),
        term: super::Term(1),
    };
    What::Settled {
        sides: leaders.iter().map(side).collect(),
        took_ns: 0,
        messages: 0,
    }
}

/// Returns a run of two agents with every command. It is settled with one leader, with two, and without one.
fn every_call() -> Recording {
    let settle = || What::Command(RecordedCommand::Settle);
    let mut entries = vec![(0, settle()), (5, settled(&["agent-2"]))];
    entries.extend([(5, settle()), (7, settled(&["agent-1", "agent-2"]))]);
    entries.extend([(7, settle()), (9, settled(&[]))]);
    entries.extend((9..).zip(every_command().into_iter().map(What::Command)));
    usual(2, entries, 60_000)
}

/// Returns a run of agents of each kind, with scores of several parts, a long seed and a network with each fault.
fn every_agent() -> Recording {
    let long = 1_i64 << 40;
    let scores = [
        Score::from((3, -4)),
        Score::from((3, 0, 5)),
        Score::from((0, 0, 0, 6)),
        Score::from(long),
    ];
    let mut recording = usual(7, [], 100_001);
    let header = recording.header_mut();
    header.seed = 1_234_567;
    for (agent, score) in header.agents.iter_mut().zip(scores) {
        agent.score = Some(score);
    }
    header.agents[5].score = None;
    header.agents[6].kind = MemberKind::Observer;
    header.network = Some(NetworkRecord {
        loss: 5,
        duplication: 6,
        slow: 7,
        slow_by_ns: (1_500, 2_000_000),
        any_order: true,
        ..super::usual_network()
    });
    recording
}

/// Returns a run of one agent by these rules.
fn by(protocol: &str) -> Recording {
    let mut recording = usual(1, [], 1);
    let header = recording.header_mut();
    protocol.clone_into(&mut header.protocol);
    header.seed = 123_456;
    if protocol == "lease" {
        // The cluster adds the register itself.
        let mut register = header.agents[0].clone();
        register.name = id("register");
        header.agents.push(register);
    }
    recording
}

/// Returns the part of a test that builds the cluster.
fn built(test: &str) -> &str {
    let (_, body) = test.split_once("block_on(async {\n").unwrap();
    body.split_once(".start()?;").unwrap().0.trim_end()
}

type Change = fn(&mut Header);

/// Changes of a header. Some of such recordings cannot be told as a script or a test, or be played again.
const CHANGES: [(&str, Change); 9] = [
    ("nothing more", |_| ()),
    ("3 forgotten entries", |header| header.forgotten = 3),
    ("no agent", |header| header.agents.clear()),
    ("an unknown election", |header| {
        "paxos".clone_into(&mut header.protocol);
    }),
    ("an election of an application", |header| {
        "coin".clone_into(&mut header.protocol);
    }),
    ("no network", |header| header.network = None),
    ("a real clock", |header| header.clock = RecordedClock::Real),
    ("the entries of one node", |header| {
        header.began_unix_ms = Some(1);
    }),
    ("a command of its own", |header| {
        header.again = Some("simulate --seed 7".to_owned());
    }),
];

/// Compares scripts and tests with a golden text. `BLESS=1` writes it. Tests of other crates run such texts.
#[test]
fn scripts_and_tests_are_as_reviewed() {
    let run = every_call();
    let (script, test) = (run.to_script().unwrap(), run.to_rust_test().unwrap());
    let agents = every_agent().to_rust_test().unwrap();
    let mut written = format!(
        "## a script with every command\n{script}\n## the test of it\n{test}\n\
         ## each kind of agent, and each fault of a network\n{}\n",
        built(&agents)
    );
    for protocol in ["astra", "quorum", "lease", "ballot", "ring"] {
        let test = by(protocol).to_rust_test().unwrap();
        written.extend(["## ", protocol, "\n", built(&test), "\n"]);
    }
    for (name, change) in CHANGES {
        let mut recording = usual(2, [], 1);
        change(recording.header_mut());
        written.extend(["## a recording with ", name, "\n"]);
        let script = recording.to_script().err().map(|wrong| wrong.to_string());
        let test = recording.to_rust_test().err();
        let test = test.map(|wrong| wrong.to_string());
        let again = recording.can_be_repeated().err();
        let again = again.map(|wrong| wrong.to_string());
        for (of, refusal) in [("script", script), ("test", test), ("repetition", again)] {
            let refusal = refusal.unwrap_or_else(|| "possible".to_owned());
            written.extend([of, ": ", &refusal, "\n"]);
        }
    }
    golden("told.txt", &written);
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
fn a_long_number_in_a_test_has_groups_of_three_digits() {
    for (seed, written) in [
        (12_345, "12345"),
        (123_456, "123_456"),
        (1_234_567, "1_234_567"),
    ] {
        let mut recording = usual(1, [], 1);
        recording.header_mut().seed = seed;
        let test = recording.to_rust_test().unwrap();
        assert!(test.contains(&format!(".seed({written})\n")), "{test}");
    }
}
