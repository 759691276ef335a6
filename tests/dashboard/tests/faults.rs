//! Commands of a page to a cluster: their effects, refusals, and the view of the page.

use std::collections::BTreeSet;

use actix_bully::{
    dashboard::{
        Dashboard,
        stage::{Stage, Story},
    },
    record::Recording,
};
use actix_bully_dashboard_tests::{
    Viewer, command, done, five, five_led, get, in_real_time, led, quorum, run, rust_test, stage,
};
use bully_core::record::{RecordedCommand, What};
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
        viewer
            .until("the next", |v| v.leaders() == ["agent-4"])
            .await;
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
        viewer
            .until("it comes back", |v| v.leaders() == ["agent-5"])
            .await;
        assert_ne!(viewer.agent("agent-5")["incarnation"], "1");
        drop((page, viewer));
        assert_eq!(thread.join().unwrap(), None, "the stage ends with its page");
    });
}

#[test]
fn hangs_and_hand_overs() {
    run(async {
        let (page, mut viewer, _thread) = five_led(10).await;
        done(&page, r#"{"command":"hang agent-5"}"#).await;
        viewer
            .until("it hangs", |v| v.agent("agent-5")["state"] == "hung")
            .await;
        viewer
            .until("its lease ends", |v| v.leaders() == ["agent-4"])
            .await;
        done(&page, r#"{"command":"resume agent-5"}"#).await;
        viewer
            .until("it is back", |v| v.leaders() == ["agent-5"])
            .await;
        assert!(viewer.agent("agent-5")["lease_until_ms"].is_number());
        let down = r#"{"command":"step-down agent-5 agent-2"}"#;
        done(&page, down).await;
        viewer
            .until("it hands over", |v| {
                !v.leaders().is_empty() && !v.leaders().contains(&"agent-5")
            })
            .await;
        let join = r#"{"command":"join agent-9 9"}"#;
        done(&page, join).await;
        viewer
            .until("it joins", |v| v.moment["agent_count"] == 6)
            .await;
        viewer
            .until("it leads", |v| v.leaders().contains(&"agent-9"))
            .await;
    });
}

#[test]
fn links_are_cut_and_heal() {
    run(async {
        let (page, mut viewer, _thread) = five_led(10).await;
        let halves = r#"{"command":"partition agent-1 agent-2"}"#;
        done(&page, halves).await;
        viewer
            .until("two sides", |v| {
                v.agent("agent-1")["side"] == 1 && v.agent("agent-3")["side"] == 0
            })
            .await;
        viewer
            .until("two leaders", |v| v.leaders() == ["agent-2", "agent-5"])
            .await;
        done(&page, r#"{"command":"heal"}"#).await;
        viewer
            .until("one leader", |v| v.leaders() == ["agent-5"])
            .await;
        assert_eq!(viewer.agent("agent-1")["side"], 0);
        let one_way = r#"{"command":"cut agent-1 > agent-2"}"#;
        done(&page, one_way).await;
        viewer
            .until("one way", |v| v.moment["cuts"] == json!([[0, 1]]))
            .await;
        done(&page, r#"{"command":"cut agent-1 agent-2"}"#).await;
        viewer
            .until("both ways", |v| v.moment["cuts"] == json!([[0, 1], [1, 0]]))
            .await;
        done(&page, r#"{"command":"mend agent-2 agent-1"}"#).await;
        viewer
            .until("mended", |v| v.moment["cuts"] == json!([]))
            .await;
        done(&page, r#"{"command":"isolate agent-3"}"#).await;
        viewer
            .until("isolated", |v| v.agent("agent-3")["isolated"] == true)
            .await;
        let network = r#"{"command":"network delay 1ms..5ms loss 2%"}"#;
        done(&page, network).await;
        viewer
            .until("slower", |v| v.moment["network"]["loss"] == 20)
            .await;
        assert_eq!(viewer.moment["network"]["delay_ns"][1], 5_000_000);
    });
}

#[test]
fn what_cannot_be_done_is_refused_in_words() {
    run(async {
        let (page, _thread) = stage(five);
        let agents = (1..=5).map(|number| format!("agent-{number}"));
        let agents: Vec<_> = agents.collect();
        for (body, status, says) in [
            (
                r#"{"command":"crash nobody"}"#,
                404,
                "the cluster has no agent \"nobody\"",
            ),
            (
                r#"{"command":"restart agent-1"}"#,
                409,
                "crash or stop it first",
            ),
            (r#"{"command":"crash agent-1 agent-1"}"#, 409, "named twice"),
            (r#"{"command":"cut agent-1 agent-1"}"#, 409, "twice"),
            (r#"{"command":"step-down agent-1"}"#, 409, "does not lead"),
            (r#"{"command":"join agent-1 1"}"#, 409, "already"),
            (r#"{"speed":0}"#, 400, "0.001"),
            (
                r#"{"command":"network delay 9ms..1ms loss 0%"}"#,
                409,
                "backwards",
            ),
            (
                r#"{"command":"network delay -1ms..1ms loss 0%"}"#,
                400,
                "`-1ms` is not a span of time",
            ),
            (
                r#"{"command":"network delay 0ms..1ms loss 100.1%"}"#,
                400,
                "write 0% to 100%",
            ),
            (r#"{"election":"coin"}"#, 404, "no election \"coin\""),
            (r#"{"scenario":"doom"}"#, 400, "doom"),
            (r#"{"command":"crash a/b"}"#, 400, "this is not a command"),
            (r#"{"command":"cut a"}"#, 400, "write `cut"),
        ] {
            let told = command(&page, body).await;
            assert_eq!(told.status, status, "{body}: {told:?}");
            assert!(told.message().contains(says), "{body}: {told:?}");
        }
        let viewer = Viewer::new(&page).await.unwrap();
        for agent in &agents {
            assert_eq!(viewer.agent(agent)["state"], "up");
        }
    });
}

#[test]
fn a_command_of_each_form_reaches_the_cluster() {
    run(async {
        let (page, _thread) = stage(five);
        for (form, _) in RecordedCommand::FORMS {
            let told = command(&page, &format!(r#"{{"command":"{form}"}}"#)).await;
            // If a command cannot be carried out at this moment, the cluster refuses it, and not the parser.
            assert!([200, 404, 409].contains(&told.status), "{form}: {told:?}");
        }
        let run = get(&page, "/copies/run.jsonl").await.text;
        let recording = Recording::read(run.as_bytes()).unwrap();
        for done in ["crash agent-4 agent-5", "isolate agent-3", "heal"] {
            let done = What::Command(done.parse().unwrap());
            let entries = recording.entries();
            assert!(entries.iter().any(|entry| entry.what == done), "{done:?}");
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

#[test]
fn the_voters_of_a_quorum_are_changed() {
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
        add_sixth(&page, &mut viewer).await;
        viewer
            .until("it votes", |v| {
                v.moment["voters"] == 1 && v.agent("agent-6")["kind"] == "voter"
            })
            .await;
        let replace = r#"{"command":"replace-voter agent-5 agent-7"}"#;
        let told = command(&page, replace).await;
        assert_eq!(told.status, 404, "no such agent: {told:?}");
        viewer
            .until("the next one leads", |v| v.leaders().len() == 1)
            .await;
        done(&page, r#"{"command":"remove-voter agent-1"}"#).await;
        viewer
            .until("it votes no more", |v| {
                v.moment["voters"] == 2 && v.agent("agent-1")["kind"] == "observer"
            })
            .await;
        // The copied test repeats the commands of the page.
        viewer
            .until("the next one leads", |v| v.leaders().len() == 1)
            .await;
        let test = get(&page, "/copies/recorded_run.rs").await.text;
        assert!(test.contains("remove-voter agent-1"), "{test}");
        rust_test::passes(&test);
        let (plain, _thread) = stage(five);
        for body in [
            r#"{"command":"remove-voter agent-1"}"#,
            r#"{"scenario":"rolling_change"}"#,
        ] {
            let told = command(&plain, body).await;
            assert_eq!(told.status, 409, "{told:?}");
            assert!(told.message().contains("no list of voters"), "{told:?}");
        }
    });
}

/// Puts agent-6 on the list of voters. The leader refuses an agent from which it has heard nothing yet, so the
/// command is repeated.
async fn add_sixth(page: &Dashboard, viewer: &mut Viewer) {
    let refused = |v: &Viewer| {
        let texts = v.said.iter().filter_map(|said| said["text"].as_str());
        texts.filter(|text| text.starts_with("did not")).count()
    };
    let mut before = None;
    while before != Some(refused(viewer)) {
        before = Some(refused(viewer));
        done(page, r#"{"command":"add-voter agent-6"}"#).await;
        viewer
            .until("an answer", |v| {
                v.moment["voters"] == 1 || Some(refused(v)) > before
            })
            .await;
    }
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
        viewer
            .until("the next", |v| v.leaders() == ["agent-2"])
            .await;
        drop((viewer, page));
        assert_eq!(thread.join().unwrap(), None);
    });
}

#[test]
fn a_scenario_is_played_to_its_end() {
    run(async {
        let (page, mut viewer, _thread) = five_led(50).await;
        done(&page, r#"{"scenario":"one_way"}"#).await;
        viewer
            .until("it is played", |v| v.moment["scenario"] == "one_way")
            .await;
        viewer
            .until("a way is cut", |v| v.moment["cuts"] == json!([[4, 3]]))
            .await;
        viewer
            .until("it is over", |v| v.moment["scenario"].is_null())
            .await;
        assert_eq!(viewer.moment["cuts"], json!([]));
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
