//! Commands of a page to a cluster: their effects, refusals, and the view of the page.

use std::collections::BTreeSet;

use actix_bully::dashboard::stage::{Stage, Story};
use actix_bully_dashboard_tests::{
    Viewer, command, done, five, five_led, get, in_real_time, led, quorum, run, rust_test, stage,
};
use bully_core::record::RecordedCommand;
use serde_json::json;

#[test]
fn a_crash_is_seen_and_the_next_one_leads() {
    run(async {
        let (page, mut viewer, thread) = five_led(10).await;
        let has_settled = |v: &Viewer| v.said.iter().any(|said| said["what"] == "election");
        viewer.until("it is settled", has_settled).await;
        done(&page, r#"{"command":"crash agent-5"}"#).await;
        viewer
            .until("it is down", |v| v.agent("agent-5")["state"] == "down")
            .await;
        viewer.led_by(&["agent-4"]).await;
        viewer
            .until("the election", |v| {
                v.said.iter().any(|said| {
                    said["what"] == "election"
                        && said["leaders"] == json!(["agent-4"])
                        && said["cause"] == "agent-5 crashes"
                        && said["took_ms"].as_f64() > Some(0.0)
                        && said["messages"].as_u64() > Some(0)
                })
            })
            .await;
        let sent = |v: &Viewer| {
            let kinds = v.said.iter().filter(|said| said["what"] == "sent");
            kinds
                .filter(|said| said["kind"] == "elected" && said["from"] == "agent-4")
                .count()
        };
        assert!(sent(&viewer) >= 3, "messages are told");
        done(&page, r#"{"command":"restart agent-5"}"#).await;
        viewer.led_by(&["agent-5"]).await;
        assert_ne!(viewer.agent("agent-5")["incarnation"], "1");
        drop((page, viewer));
        assert_eq!(thread.join().unwrap(), None, "the stage ends with its page");
    });
}

#[test]
fn each_command_shows_in_the_moment_of_the_page() {
    run(async {
        let (page, mut viewer, _thread) = five_led(10).await;
        assert!(viewer.agent("agent-5")["lease_until_ms"].is_number());
        for (words, place, value) in [
            ("partition agent-1 agent-2", "/agents/0/side", json!(1)),
            ("heal", "/agents/0/side", json!(0)),
            ("cut agent-1 > agent-2", "/cuts", json!([[0, 1]])),
            ("cut agent-1 agent-2", "/cuts", json!([[0, 1], [1, 0]])),
            ("mend agent-2 agent-1", "/cuts", json!([])),
            ("isolate agent-3", "/agents/2/isolated", json!(true)),
            ("rejoin agent-3", "/agents/2/isolated", json!(false)),
            ("hang agent-4", "/agents/3/state", json!("hung")),
            ("resume agent-4", "/agents/3/state", json!("up")),
            ("step-down agent-5 agent-2", "/agents/4/leads", json!(false)),
            ("join agent-9 9", "/agent_count", json!(6)),
            (
                "network delay 1ms..5ms loss 2%",
                "/network/delay_ns",
                json!([1_000_000, 5_000_000]),
            ),
        ] {
            done(&page, &json!({ "command": words }).to_string()).await;
            let shows = |v: &Viewer| v.moment.pointer(place) == Some(&value);
            viewer.until(words, shows).await;
        }
    });
}

const REFUSED: &str = r#"
    404 | {"command":"crash nobody"} | the cluster has no agent "nobody"
    409 | {"command":"restart agent-1"} | crash or stop it first
    409 | {"command":"crash agent-1 agent-1"} | named twice
    409 | {"command":"cut agent-1 agent-1"} | twice
    409 | {"command":"step-down agent-1"} | does not lead
    409 | {"command":"join agent-1 1"} | already
    409 | {"command":"remove-voter agent-1"} | no list of voters
    409 | {"scenario":"rolling_change"} | no list of voters
    400 | {"speed":0} | 0.001
    409 | {"command":"network delay 9ms..1ms loss 0%"} | backwards
    400 | {"command":"network delay -1ms..1ms loss 0%"} | `-1ms` is not a span of time
    400 | {"command":"network delay 0ms..1ms loss 100.1%"} | write 0% to 100%
    404 | {"election":"coin"} | no election "coin"
    404 | {"beside":"coin"} | no election "coin"
    400 | {"scenario":"doom"} | doom
    400 | {"command":"crash a/b"} | this is not a command
    400 | {"command":"cut a"} | write `cut
"#;

#[test]
fn what_cannot_be_done_is_refused_in_words() {
    run(async {
        let (page, _thread) = stage(five);
        for row in REFUSED.trim().lines() {
            let [status, body, says] = row.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("three columns: {row}");
            };
            let told = command(&page, body).await;
            assert_eq!(told.status.to_string(), status.trim(), "{body}: {told:?}");
            assert!(told.message().contains(says), "{body}: {told:?}");
        }
        let viewer = Viewer::new(&page).await.unwrap();
        for number in 1..=5 {
            assert_eq!(viewer.agent(&format!("agent-{number}"))["state"], "up");
        }
    });
}

#[test]
fn what_the_page_sends_is_read() {
    run(async {
        let (page, _thread) = stage(five);
        let source = get(&page, "/page.js").await.text;
        let mut sent = BTreeSet::new();
        for text in source.split("words`").skip(1) {
            let mut pieces = text.split('`').next().unwrap().split("${");
            let mut words = pieces.next().unwrap().to_owned();
            for piece in pieces {
                let (value, rest) = piece.split_once('}').unwrap();
                // Each value is a name or a number. A value with a `?` is a word that may be missing.
                words += if value.contains('?') { "" } else { "1" };
                words += rest;
            }
            let command = words.parse::<RecordedCommand>().expect(&words);
            let command = command.to_string();
            sent.insert(command.split(' ').next().unwrap().to_owned());
        }
        assert_eq!(sent.len(), 18, "{sent:?}");
    });
}

/// The copied test repeats the commands of the page.
#[test]
fn a_change_of_the_voters_is_shown_and_copied() {
    run(async {
        let (page, mut viewer, _thread) = led(quorum(5), 20, "agent-5").await;
        assert_eq!(viewer.moment["voters"], 0);
        done(&page, r#"{"command":"join agent-6 6"}"#).await;
        viewer
            .until("it follows as a learner", |v| {
                let new = v.agent("agent-6");
                new["kind"] == "observer" && new["leader"] == "agent-5"
            })
            .await;
        done(&page, r#"{"command":"remove-voter agent-1"}"#).await;
        viewer
            .until("it votes no more", |v| {
                v.moment["voters"] == 1 && v.agent("agent-1")["kind"] == "observer"
            })
            .await;
        viewer.led_by(&["agent-5"]).await;
        let test = get(&page, "/copies/recorded_run.rs").await.text;
        assert!(test.contains("remove-voter agent-1"), "{test}");
        rust_test::passes(&test);
    });
}

#[test]
fn a_rolling_change_takes_one_voter_at_a_time_off_the_list_and_back() {
    run(async {
        let (page, mut viewer, _thread) = led(quorum(3), 50, "agent-3").await;
        done(&page, r#"{"scenario":"rolling_change"}"#).await;
        for (step, name) in (1..).zip(["agent-1", "agent-2", "agent-3"]) {
            let voters = |v: &Viewer| {
                let agents = v.moment["agents"].as_array().unwrap().iter();
                agents.filter(|agent| agent["kind"] == "voter").count()
            };
            viewer
                .until("it is off the list", |v| {
                    v.moment["voters"] == 2 * step - 1 && v.agent(name)["kind"] == "observer"
                })
                .await;
            assert_eq!(voters(&viewer), 2);
            viewer
                .until("it is back", |v| {
                    v.moment["voters"] == 2 * step && voters(v) == 3
                })
                .await;
        }
        viewer
            .until("it is over", |v| v.moment["scenario"].is_null())
            .await;
    });
}

#[test]
fn time_stands_still_goes_by_steps_and_goes_on() {
    run(async {
        let (page, _thread) = stage(five);
        let mut viewer = Viewer::new(&page).await.unwrap();
        viewer.pause(&page).await;
        let at = |v: &Viewer| v.moment["at_ms"].as_f64().unwrap();
        // A command in a paused stage has a visible effect at once, and takes none of the agents' time.
        let before = at(&viewer);
        done(&page, r#"{"command":"isolate agent-1"}"#).await;
        viewer
            .until("isolated", |v| v.agent("agent-1")["isolated"] == true)
            .await;
        assert!(
            (at(&viewer) - before).abs() < f64::EPSILON,
            "{before} {}",
            at(&viewer)
        );
        for waits in ["leave agent-3", "settle"] {
            let told = command(&page, &format!(r#"{{"command":"{waits}"}}"#)).await;
            assert_eq!(told.status, 409, "{told:?}");
            assert!(told.message().contains("let it go on first"), "{told:?}");
        }
        let said = viewer.said.len();
        done(&page, r#"{"command":"campaign agent-2"}"#).await;
        done(&page, r#""step""#).await;
        viewer
            .until("something happens", |v| {
                v.said.len() > said && at(v) >= before
            })
            .await;
        assert_eq!(viewer.moment["clock"]["paused"], true);
        done(&page, r#""play""#).await;
        viewer
            .until("it goes on", |v| v.moment["clock"]["paused"] == false)
            .await;
        done(&page, r#"{"command":"leave agent-3"}"#).await;
    });
}

#[test]
fn in_real_time_there_is_no_pause() {
    run(async {
        let (page, mut viewer, thread) = in_real_time().await;
        for body in [r#""pause""#, r#""step""#, r#"{"speed":2}"#] {
            let told = command(&page, body).await;
            assert_eq!(told.status, 409, "{told:?}");
            assert!(told.message().contains("real time"), "{told:?}");
        }
        done(&page, r#"{"command":"crash agent-3"}"#).await;
        viewer.led_by(&["agent-2"]).await;
        drop((viewer, page));
        assert_eq!(thread.join().unwrap(), None);
    });
}

#[test]
fn a_story_begins_by_itself() {
    run(async {
        let (stage, page) = Stage::virtual_time();
        let stage = stage.story(Story::Go);
        let _thread = std::thread::spawn(move || {
            let mut stage = stage;
            actix_bully::testkit::virtual_system()
                .block_on(async { stage.play(five().start().unwrap()).await })
        });
        let mut viewer = Viewer::new(&page).await.unwrap();
        viewer
            .until("its first scene", |v| {
                v.moment["agents"].is_array() && v.agent("agent-5")["state"] == "down"
            })
            .await;
        assert_eq!(viewer.moment["scenario"], "go");
    });
}

#[test]
fn another_election_is_handed_to_whoever_plays() {
    run(async {
        let (page, thread) = stage(five);
        let mut viewer = Viewer::new(&page).await.unwrap();
        assert_eq!(viewer.head["elections"], json!(["bully", "quorum"]));
        done(&page, r#"{"election":"quorum"}"#).await;
        let chosen = thread.join().unwrap().unwrap();
        assert_eq!((&*chosen.election, chosen.beside), ("quorum", None));
        viewer
            .until("it is named", |v| v.head["election"] == "quorum")
            .await;
        let told = command(&page, r#"{"command":"heal"}"#).await;
        assert_eq!(told.status, 503, "nobody plays any more: {told:?}");
    });
}
