//! The same as text, and what there is to read. The commands are those of the example `cluster`.

use std::time::Duration;

use actix_bully::{protocol::Role, testkit::cluster::Cluster};
use clap::CommandFactory;

use super::{
    MS,
    command::{Answer, Command, Verb, read},
    five, settled, test,
};

#[test]
fn every_command_does_what_its_verb_does() {
    test(|| async {
        let script = "settle; crash 5; settle; restart 5; settle; stop 4; restart 4; hang 5; \
             settle; resume 5; settle; join 6; settle; leave 6; settle; partition 1 | 2 3; settle; heal; settle; \
             cut 1 2; cut 1 > 3; isolate 4; heal; delay 1ms..2ms; loss 1%; duplicate 1%; \
             loss 0%; duplicate 0%; score 1 10; settle; score 1 none; settle; step-down 5 2; settle; \
             campaign 5; settle; join 7 none; wait 5ms; settle; status; trace; help";
        let mut cluster = five().start().unwrap();
        let mut last = None;
        for command in read(script).unwrap() {
            let said = command.to_string();
            match command.run(&mut cluster).await {
                Ok(Answer::Settled(settled)) => last = settled.leader().cloned(),
                Ok(Answer::Text(text)) if said == "help" => {
                    assert!(text.contains("partition 1 2 | 3 4 5"));
                }
                Ok(Answer::Status(status)) => assert_eq!(status.agents().len(), 6),
                Ok(_) => {}
                Err(wrong) => panic!("{said}: {wrong}"),
            }
        }
        assert_eq!(last.unwrap(), "agent-5");
        assert_eq!(cluster.conditions().delay().max, MS(2));
        let quit: Command = "quit".parse().unwrap();
        assert!(matches!(quit.run(&mut cluster).await, Ok(Answer::Quit)));
    });
}

/// What is read, with all that follows from it.
fn verb(text: &str) -> String {
    let command: Command = text.parse().expect(text);
    format!("{:?}", command.verb)
}

#[test]
fn there_is_more_than_one_way_to_say_it() {
    for (said, canonical) in [
        ("  crash   5 ", "crash 5"),
        ("partition 1 2|3", "partition 1 2 | 3"),
        ("partition  1 ", "partition 1"),
        ("cut 1>2", "cut 1 > 2"),
        ("wait 1.5s", "wait 1500ms"),
        ("wait 1000ms", "wait 1s"),
        ("wait 0.000001s", "wait 1us"),
        ("wait 0.0000000010s", "wait 1ns"),
        ("wait 0.001us", "wait 1ns"),
        ("wait 9.0ns", "wait 9ns"),
        ("wait 0.50000000000000000000000000s", "wait 500ms"),
        ("delay 5ms..5ms", "delay 5ms"),
        ("delay 0s..20ms", "delay 0ms..20ms"),
        ("loss 10.0%", "loss 10%"),
        ("loss 0.10%", "loss 0.1%"),
        ("score 2 7,0,0", "score 2 7"),
        ("score 2 +7", "score 2 7"),
    ] {
        assert_eq!(verb(said), verb(canonical), "{said}");
    }
    assert_ne!(verb("cut 1 > 2"), verb("cut 1 2"));
    assert_ne!(verb("score 2 -50"), verb("score 2 50"));
    assert_ne!(verb("score 2 1,2,3,4"), verb("score 2 1,2,3"));
    assert_ne!(verb("step-down 5 3"), verb("step-down 5"));
}

#[test]
fn the_score_of_a_new_agent_is_its_number_unless_one_is_given() {
    test(|| async {
        let mut cluster = five().start().unwrap();
        let script = "join 6; join agent-12; join db; join 99999999999999999999; join db-1 10,-300; join 7 none";
        for command in read(script).unwrap() {
            command.run(&mut cluster).await.unwrap();
        }
        let status = cluster.status();
        let scores = status
            .agents()
            .iter()
            .skip(5)
            .map(|agent| agent.score.map(|score| score.to_string()));
        let scores: Vec<_> = scores.map(Option::unwrap_or_default).collect();
        assert_eq!(scores, ["6", "12", "0", "0", "(10, -300)", ""]);
    });
}

#[test]
fn durations_and_shares_are_exact() {
    let read = |text: &str| text.parse::<Command>().unwrap().verb;
    assert!(
        matches!(read("wait 1.25ms"), Verb::Wait { time } if time == Duration::from_micros(1_250))
    );
    assert!(matches!(read("loss 0.1%"), Verb::Loss { share: 1 }));
    assert!(matches!(
        read("duplicate 100%"),
        Verb::Duplicate { share: 1_000 }
    ));
}

#[test]
fn every_verb_has_an_example_that_is_read() {
    let verbs = Verb::command();
    assert_eq!(verbs.get_subcommands().count(), 28);
    for known in verbs.get_subcommands() {
        let about = known.get_about().unwrap().to_string();
        let mut examples = about.split('`').skip(1).step_by(2).peekable();
        assert!(examples.peek().is_some(), "{about}");
        for example in examples {
            assert_eq!(example.split(' ').next(), Some(known.get_name()));
            verb(example);
        }
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_advice() {
    refused(&[
        (
            "crsh 5",
            "there is no command `crsh`; did you mean `crash`?",
        ),
        (
            "Crash 5",
            "there is no command `Crash`; did you mean `crash`?",
        ),
        (
            "xyzzy",
            "there is no command `xyzzy`, but help, crash, stop, restart",
        ),
        ("crash", "<NAMES>..."),
        ("crash 1 | 2", "`|` has no meaning here"),
        ("crash a/b", "'a/b'"),
        ("cut", "write `cut 1 2` or `cut 1 > 2`"),
        ("cut 1", "write `cut 1 2` or `cut 1 > 2`"),
        ("cut > 2", "name is empty"),
        ("cut 1 2 3", "'1 2 3'"),
        ("cut 1 > > 2", "`> 2` has no meaning here"),
        ("heal now", "unexpected argument 'now'"),
        ("partition", "each side has an agent"),
        ("partition 1 |", "each side has an agent"),
        ("partition | 1", "each side has an agent"),
        ("partition 1 > 2", "`>` has no meaning here"),
        ("score 2", "Usage: score <NAME> <SCORE>"),
        ("score 2 high", "'high'"),
        ("score 2 1,2,3,4,5", "up to four"),
        ("score 2 1,", "write a number"),
        ("score 2 9999999999999999999", "write a number"),
        ("campaign 1 2", "unexpected argument '2'"),
    ]);
}

#[test]
fn a_number_that_is_not_exact_or_not_plain_is_refused() {
    const TIME: &str = "write a number with ns, us, ms or s";
    const SHARE: &str = "write 0% to 100%";
    refused(&[
        ("wait", "Usage: wait <TIME>"),
        ("wait 5", TIME),
        ("wait ms", TIME),
        ("wait -5ms", "unexpected argument '-5'"),
        ("wait 5 ms", "unexpected argument 'ms'"),
        ("wait 1e99s", TIME),
        ("wait nans", TIME),
        ("wait .5ms", TIME),
        ("wait 5.ms", TIME),
        ("wait .ms", TIME),
        ("wait 1.2.3ms", TIME),
        ("wait +5ms", TIME),
        ("wait 1.+5ms", TIME),
        ("wait 0.5ns", TIME),
        ("wait 0.0000000001s", TIME),
        ("wait 99999999999s", TIME),
        ("wait 5MS", TIME),
        ("wait 5parsec", TIME),
        ("delay 20ms..5ms", "write the shorter one first"),
        ("delay ..5ms", TIME),
        ("loss", "Usage: loss <SHARE>"),
        ("loss 10", SHARE),
        ("loss 101%", SHARE),
        ("loss 0.05%", SHARE),
        ("loss .5%", SHARE),
        ("loss 5.%", SHARE),
        ("loss +5%", SHARE),
        ("loss 100.1%", SHARE),
        ("loss %", SHARE),
    ]);
}

fn refused(cases: &[(&str, &str)]) {
    for (said, advice) in cases {
        let refused = said.parse::<Command>().unwrap_err();
        assert!(refused.contains(advice), "{said}: {refused}");
    }
}

#[test]
fn a_script_is_commands_in_order_or_refused_as_a_whole() {
    let script = read("crash 5; settle\n# a remark\n\nstatus # another;; quit\n;heal").unwrap();
    let script: Vec<_> = script.iter().map(ToString::to_string).collect();
    assert_eq!(script, ["crash 5", "settle", "status", "heal"]);
    assert!(read("").unwrap().is_empty());
    assert!(read("crash 5; setle").unwrap_err().contains("`setle`"));
}

#[test]
fn no_text_makes_a_parser_panic() {
    let pieces = [
        "cut",
        "1",
        ">",
        "|",
        "é",
        "delay",
        "..",
        "%",
        ";",
        "-",
        "999999999999",
        "ß.",
        "\u{0}",
    ];
    for a in pieces {
        for b in pieces {
            for c in pieces {
                drop(read(&format!("{a} {b} {c}")));
                drop(read(&format!("{a}{b}{c}")));
            }
        }
    }
}

#[test]
fn what_was_done_is_recorded_as_it_would_be_typed() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.partition([["1", "2"], ["3", "4"]]).unwrap();
        cluster.set_score("1", (7, -3)).unwrap();
        cluster.cut_one_way("1", "2").unwrap();
        let text = cluster.trace().to_text();
        for typed in [
            "partition agent-1 agent-2 | agent-3 agent-4",
            "score agent-1 7,-3",
            "cut agent-1 > agent-2",
        ] {
            assert!(text.contains(typed), "{text}");
            verb(typed);
        }
    });
}

#[test]
fn the_status_is_an_aligned_table() {
    test(|| async {
        let builder = Cluster::builder()
            .agent("a", (3, -20))
            .witness("witness")
            .observer("o");
        let mut cluster = settled(builder).await;
        cluster.join("late", 1).unwrap();
        cluster.crash("late").await.unwrap();
        cluster.settle().await.unwrap();
        assert_eq!(
            cluster.status().to_string(),
            "AGENT    SCORE     STATE  ROLE      TERM  LEADER\n\
             a        (3, -20)  up     leader    1     a\n\
             witness  none      up     follower  1     a\n\
             o        observer  up     follower  1     a\n\
             late     1         down   -         -     -"
        );
        assert_eq!(cluster.status().agents()[0].role, Role::Leader);
    });
}
