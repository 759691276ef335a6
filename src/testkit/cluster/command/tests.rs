//! Every command is read and written, and everything else is refused with advice.

use std::time::Duration;

use super::{Command, CommandError, Script, verbs::VERBS};

fn read(text: &str) -> Command {
    text.parse()
        .unwrap_or_else(|refused| panic!("{text}: {refused}"))
}

fn refused(text: &str) -> String {
    text.parse::<Command>().unwrap_err().to_string()
}

#[test]
fn what_is_written_is_what_was_read() {
    for text in [
        "crash agent-5",
        "crash 4 5",
        "stop 5",
        "restart 4 5",
        "hang 5",
        "resume 5",
        "join 6 6",
        "join db-1 10,-300",
        "join 7 none",
        "leave 5",
        "partition 1 2 | 3 4 5",
        "partition 1 | 2 | 3",
        "partition 1",
        "cut 1 2",
        "cut 1 > 2",
        "isolate 3 4",
        "heal",
        "delay 5ms",
        "delay 0s..20ms",
        "delay 1500us",
        "loss 10%",
        "loss 0.5%",
        "loss 100%",
        "duplicate 0%",
        "score 2 50",
        "score 2 -50",
        "score 2 1,2,3,4",
        "score 2 none",
        "step-down 5",
        "step-down 5 3",
        "campaign 1",
        "settle",
        "wait 500ms",
        "wait 2s",
        "wait 1ns",
        "status",
        "trace",
        "help",
        "quit",
    ] {
        let command = read(text);
        assert_eq!(command.to_string(), text);
        assert_eq!(read(&command.to_string()), command);
    }
}

#[test]
fn there_is_more_than_one_way_to_say_it() {
    for (said, canonical) in [
        ("  crash   5 ", "crash 5"),
        ("partition 1 2|3", "partition 1 2 | 3"),
        ("cut 1>2", "cut 1 > 2"),
        ("join 6", "join 6 6"),
        ("join agent-12", "join agent-12 12"),
        ("join db", "join db 0"),
        ("join 99999999999999999999", "join 99999999999999999999 0"),
        ("wait 1.5s", "wait 1500ms"),
        ("wait 1000ms", "wait 1s"),
        ("wait 0.0000000010s", "wait 1ns"),
        ("delay 5ms..5ms", "delay 5ms"),
        ("loss 10.0%", "loss 10%"),
        ("score 2 7,0,0", "score 2 7"),
        ("score 2 +7", "score 2 7"),
    ] {
        assert_eq!(read(said).to_string(), canonical, "{said}");
    }
}

#[test]
fn durations_and_shares_are_exact() {
    assert_eq!(
        read("wait 1.25ms"),
        Command::Wait(Duration::from_micros(1_250))
    );
    assert_eq!(read("loss 0.1%"), Command::Loss { per_mille: 1 });
    assert_eq!(read("loss 100%"), Command::Loss { per_mille: 1_000 });
}

#[test]
fn every_verb_has_an_example_that_is_read() {
    for verb in VERBS {
        for usage in verb.usage.split(", ") {
            let usage = usage.split(" [").next().unwrap_or(usage);
            assert_eq!(read(usage).to_string().split(' ').next(), Some(verb.word));
        }
        assert!(Command::help().to_string().contains(verb.usage));
    }
}

#[test]
fn an_unknown_word_names_the_nearest() {
    assert_eq!(
        refused("crsh 5"),
        "unknown command `crsh`, did you mean `crash`? `help` lists all commands"
    );
    assert_eq!(
        refused("frobnicate"),
        "unknown command `frobnicate`: `help` lists all commands"
    );
    assert_eq!("".parse::<Command>(), Err(CommandError::Empty));
    assert_eq!(
        refused(" "),
        "there is no command here: `help` lists all commands"
    );
    assert!(refused("Crash 5").contains("did you mean `crash`?"));
}

#[test]
fn what_is_missing_or_too_much_is_named() {
    for (said, answer) in [
        (
            "crash",
            "`crash` needs the name of an agent: write `crash 5`",
        ),
        ("cut 1", "`cut` needs two names: write `cut 1 2, cut 1 > 2`"),
        (
            "cut > 2",
            "`cut` needs two names: write `cut 1 2, cut 1 > 2`",
        ),
        (
            "cut 1 2 3",
            "`3` is too much for `cut`: write `cut 1 2, cut 1 > 2`",
        ),
        (
            "cut 1 > > 2",
            "`cut` needs two names: write `cut 1 2, cut 1 > 2`",
        ),
        ("heal now", "`now` is too much for `heal`: write `heal`"),
        (
            "partition 1 |",
            "`partition` needs the name of an agent: write `partition 1 2 | 3 4 5`",
        ),
        (
            "partition | 1",
            "`partition` needs the name of an agent: write `partition 1 2 | 3 4 5`",
        ),
        (
            "partition 1 > 2",
            "`>` is too much for `partition`: write `partition 1 2 | 3 4 5`",
        ),
        (
            "crash 1 | 2",
            "`|` is too much for `crash`: write `crash 5`",
        ),
        (
            "score 2",
            "`score` needs a score: write `score 2 50, score 2 none`",
        ),
        ("wait", "`wait` needs a duration: write `wait 500ms`"),
        ("loss", "`loss` needs a share: write `loss 10%`"),
        (
            "campaign 1 2",
            "`2` is too much for `campaign`: write `campaign 1`",
        ),
    ] {
        assert_eq!(refused(said), answer, "{said}");
    }
}

#[test]
fn a_word_that_is_none_is_named() {
    for (said, word) in [
        ("wait 5", "`5` is no duration"),
        ("wait ms", "`ms` is no duration"),
        ("wait -5ms", "`-5ms` is no duration"),
        ("wait 5.ms", "`5.ms` is no duration"),
        ("wait .5ms", "`.5ms` is no duration"),
        ("wait 0.5ns", "`0.5ns` is no duration"),
        ("wait 5 ms", "`5` is no duration"),
        ("wait 99999999999s", "`99999999999s` is no duration"),
        ("wait 5parsec", "`5parsec` is no duration"),
        ("delay 20ms..5ms", "`20ms..5ms` is no range of durations"),
        ("delay ..5ms", "`` is no duration"),
        ("loss 10", "`10` is no share"),
        ("loss 101%", "`101%` is no share"),
        ("loss 0.05%", "`0.05%` is no share"),
        ("loss %", "`%` is no share"),
        ("score 2 high", "`high` is no score"),
        ("score 2 1,2,3,4,5", "`1,2,3,4,5` is no score"),
        ("score 2 1,", "`1,` is no score"),
        (
            "score 2 9999999999999999999",
            "`9999999999999999999` is no score",
        ),
        ("crash a/b", "`a/b` is no agent's name"),
    ] {
        let answer = refused(said);
        assert!(answer.starts_with(word), "{said}: {answer}");
    }
}

#[test]
fn a_script_is_commands_in_order() {
    let script: Script = "crash 5; settle\n# a remark\n\nstatus # another;; quit\n;heal"
        .parse()
        .unwrap();
    assert_eq!(script.to_string(), "crash 5; settle; status; heal");
    assert_eq!(script.to_string().parse(), Ok(script));
    assert_eq!("".parse::<Script>().unwrap().commands(), []);
    let refused = "crash 5; setle".parse::<Script>().unwrap_err();
    assert!(matches!(refused, CommandError::Unknown { word, .. } if word == "setle"));
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
                for text in [format!("{a} {b} {c}"), format!("{a}{b}{c}")] {
                    if let Ok(command) = text.parse::<Command>() {
                        assert_eq!(command.to_string().parse(), Ok(command));
                    }
                }
            }
        }
    }
}
