//! The copies that a page gives, and recordings that are opened on a page.

use actix_bully::{
    Group,
    agent::BullyAgent,
    dashboard::Dashboard,
    operate::{Operated, RecordFolder},
    record::Recording,
};
use actix_bully_dashboard_tests::{
    SOON, Told, Viewer, ask, command, done, five, five_led, get, own_request, run, rust_test,
    simulated, stage,
};
use bully_core::record::What;

/// Returns the page of five agents: agent-5 has crashed and agent-4 leads.
async fn crashed() -> (Dashboard, Viewer) {
    let (page, mut viewer, _thread) = five_led(10).await;
    for body in [
        r#"{"command":"cut agent-1 agent-2"}"#,
        r#"{"command":"isolate agent-1"}"#,
        r#"{"command":"mend agent-1 agent-2"}"#,
        r#"{"command":"rejoin agent-1"}"#,
        r#"{"command":"crash agent-5"}"#,
    ] {
        done(&page, body).await;
    }
    viewer
        .until("the next", |v| {
            v.said.iter().any(|said| {
                said["what"] == "election" && said["leaders"] == serde_json::json!(["agent-4"])
            })
        })
        .await;
    // The agents stand still, so that two copies have the same run.
    command(&page, r#""pause""#).await;
    (page, viewer)
}

async fn opened(page: &Dashboard, body: impl Into<String>) -> Told {
    let request = own_request().uri("/election/film");
    ask(page, request.set_payload(body.into())).await
}

#[test]
fn a_run_can_be_copied_in_each_form() {
    run(async {
        let (page, viewer) = crashed().await;
        let copy = async |name: &str| {
            let told = get(&page, &format!("/copies/{name}")).await;
            assert_eq!(told.status, 200, "{name}: {told:?}");
            assert_eq!(told.header("x-content-type-options"), "nosniff");
            told.text
        };
        let recording = Recording::read(copy("run.jsonl").await.as_bytes()).unwrap();
        assert_eq!(recording.header().protocol, "bully");
        assert!(copy("run.mmd").await.starts_with("sequenceDiagram\n"));
        let now = copy("moment.svg").await;
        assert!(now.contains("agent-4 (term"), "the present moment: {now}");
        let then = copy("moment.svg?at_ms=0").await;
        assert!(then.contains("agent-5 (term 1) leads"), "{then}");
        let told = get(&page, "/copies/script.txt").await;
        assert_eq!(told.status, 409, "that example begins with other delays");
        assert!(told.message().contains("another network"), "{told:?}");
        let test = copy("recorded_run.rs").await;
        for call in [
            "\"mend agent-1 agent-2\"",
            "\"rejoin agent-1\"",
            "(), [\"agent-4\"])",
        ] {
            assert!(test.contains(call), "{test}");
        }
        rust_test::passes(&test);
        // A test with another leader fails, which proves that the first test checks the leader.
        rust_test::fails(&test.replace("(), [\"agent-4\"])", "(), [\"agent-3\"])"));
        drop(viewer);
    });
}

#[test]
fn a_copy_that_does_not_exist_is_refused_in_words() {
    run(async {
        let (page, _thread) = stage(five);
        for (path, status, says) in [
            ("run.exe", 404, "run.jsonl"),
            ("moment.svg?at_ms=-1", 400, "at_ms"),
            ("moment.svg?at_ms=NaN", 400, "at_ms"),
            ("moment.svg?at_ms=1e300", 400, "at_ms"),
            ("moment.svg?agent=a%20b", 400, "agent"),
        ] {
            let told = get(&page, &format!("/copies/{path}")).await;
            assert_eq!(told.status, status, "{path}: {told:?}");
            assert!(told.message().contains(says), "{path}: {told:?}");
        }
    });
}

#[test]
fn the_record_of_a_running_node_is_switched_and_copied() {
    run(async {
        let group = Group::new("orders").unwrap();
        let agents = [("b", 2), ("c", 3)].map(|(name, score)| {
            let agent = BullyAgent::builder(name).score(score).join(&group);
            agent.start().unwrap()
        });
        agents[0].wait_for_leader(SOON).await.unwrap();
        let operated = || Operated::new(&agents[0]).agent(&agents[1]);
        let shows = Dashboard::new(operated());
        let told = get(&shows, "/copies/run.jsonl").await;
        let says = "there is no record: switch it on";
        assert!(
            told.status == 409 && told.message().contains(says),
            "{told:?}"
        );
        let switch = || own_request().uri("/election/record");
        let told = ask(&shows, switch().set_payload(r#"{"on":{}}"#)).await;
        assert_eq!(told.status, 403, "it only shows: {told:?}");

        let page = Dashboard::new(operated()).allow_faults();
        let told = ask(&page, switch().set_payload(r#"{"on":{}}"#)).await;
        assert_eq!(told.status, 200, "{told:?}");
        assert!(agents[0].is_recording() && agents[1].is_recording());
        let told = ask(&page, switch().set_payload(r#"{"on":{"files":1}}"#)).await;
        assert_eq!(told.status, 400, "{told:?}");
        agents[1].step_down(None).unwrap();
        while !agents[0].is_leader() {
            actix::clock::sleep(std::time::Duration::from_millis(5)).await;
        }
        let told = get(&page, "/copies/run.jsonl?agent=c").await;
        let recording = Recording::read(told.text.as_bytes()).unwrap();
        assert_eq!(recording.header().protocol, "bully");
        let of_c = |what: &What| matches!(what, What::Event { agent, .. } if *agent == "c");
        assert!(recording.entries().iter().any(|entry| of_c(&entry.what)));
        for wanted in ["agent=d", "kept=true"] {
            let told = get(&page, &format!("/copies/run.jsonl?{wanted}")).await;
            assert_eq!(told.status, 409, "there is none by {wanted}: {told:?}");
        }
        // The recording opens on the page as any other recording does.
        let film = opened(&page, recording.to_jsonl()).await;
        assert_eq!(film.status, 200, "{film:?}");
        assert!(film.json()["began_unix_ms"].is_number());
        let told = ask(&page, switch().set_payload(r#""off""#)).await;
        assert_eq!(told.status, 200);
        assert!(!agents[0].is_recording());
    });
}

#[test]
fn the_page_of_a_recording_shows_the_same_film_and_copies_the_recording() {
    run(async {
        let (page, _viewer) = crashed().await;
        let copied = get(&page, "/copies/run.jsonl").await.text;
        let told = opened(&page, copied.clone()).await;
        assert_eq!(told.status, 200, "{told:?}");
        let recording = Recording::read(copied.as_bytes()).unwrap();
        let replay = Dashboard::replay(recording);
        assert_eq!(get(&replay, "/film").await.text, told.text);
        assert_eq!(get(&replay, "/copies/run.jsonl").await.text, copied);
        let viewer = Viewer::new(&replay).await.unwrap();
        assert_eq!(viewer.head["film"], true);
        assert_eq!(viewer.head["election"], "bully");
        assert_eq!(get(&page, "/film").await.status, 404, "that one runs");
        let told = command(&replay.allow_faults(), r#"{"command":"heal"}"#).await;
        assert_eq!(told.status, 409, "{told:?}");
    });
}

#[test]
fn a_history_that_the_simulator_failed_opens_where_the_promise_was_broken() {
    run(async {
        let (recording, violation) = simulated::failed();
        let page = Dashboard::replay(recording.clone());
        let film = get(&page, "/film").await.json();
        assert_eq!(film["broken"].as_array().unwrap().len(), 1);
        assert_eq!(film["broken"][0]["text"], violation);
        // A frame has exactly this moment, so the page can stop there.
        let at = &film["broken"][0]["at_ms"];
        let frames = film["frames"].as_array().unwrap();
        let frame = frames.iter().find(|frame| frame["at_ms"] == *at).unwrap();
        let said = frame["said"].as_array().unwrap();
        assert!(said.iter().any(|said| said["text"] == violation), "{frame}");
        // A live page that opens the recording as a file finds the same violation.
        let (live, _thread) = stage(five);
        let told = opened(&live, recording.to_jsonl()).await;
        assert_eq!(told.json()["broken"], film["broken"]);
    });
}

/// Makes a folder as a node leaves it: one record, and files that are not records.
fn saved(recording: &Recording) -> (tempfile::TempDir, RecordFolder) {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("records");
    std::fs::create_dir(&inner).unwrap();
    let write = |name: &str, text: &str| std::fs::write(inner.join(name), text).unwrap();
    write(&format!("{SAVED}.jsonl"), &recording.to_jsonl());
    write("record-1764126720001-orders-broken.jsonl", "no recording");
    write("notes.jsonl", "mine");
    std::fs::write(
        folder.path().join("record-1-outside.jsonl"),
        recording.to_jsonl(),
    )
    .unwrap();
    let records = RecordFolder::new(inner);
    (folder, records)
}

const SAVED: &str = "record-1764126720000-orders-api-1";

#[test]
fn saved_records_are_listed_and_opened_and_nothing_else_is() {
    run(async {
        let (recording, _) = simulated::failed();
        let (_folder, records) = saved(&recording);
        let (bare, _thread) = stage(five);
        let told = get(&bare, "/records").await;
        assert_eq!(told.status, 404, "{told:?}");
        let page = Dashboard::replay(recording.clone()).records(records);
        assert_eq!(Viewer::new(&page).await.unwrap().head["records"], true);
        let listed = get(&page, "/records").await.json();
        let files: Vec<_> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["of"].clone())
            .collect();
        assert_eq!(files, ["orders-broken", "orders-api-1"], "the newest first");
        assert_eq!(listed[1]["unix_ms"], 1_764_126_720_000_u64);

        let film = get(&page, &format!("/records/{SAVED}.jsonl")).await;
        assert_eq!(film.status, 200, "{film:?}");
        assert_eq!(
            film.text,
            get(&page, "/film").await.text,
            "it is the same one"
        );
        let told = get(&page, "/records/record-1764126720001-orders-broken.jsonl").await;
        assert_eq!(told.status, 409, "{told:?}");
        assert!(told.message().contains("line 1"), "{told:?}");
        for path in ["notes.jsonl", "..%2Frecord-1-outside.jsonl"] {
            let told = get(&page, &format!("/records/{path}")).await;
            assert_eq!(told.status, 404, "{path}: {told:?}");
        }
    });
}

#[test]
fn a_file_that_is_not_a_recording_is_refused_with_its_line() {
    run(async {
        let (page, _viewer) = crashed().await;
        let good = get(&page, "/copies/run.jsonl").await.text;
        let newer = good.replacen("\"version\":1", "\"version\":9", 1);
        for (body, says) in [
            (newer, "format 9"),
            (format!("{good}{{}}\n"), "follows the end"),
        ] {
            let told = opened(&page, body).await;
            assert_eq!(told.status, 400, "{told:?}");
            assert!(told.message().contains(says), "{says}: {told:?}");
        }
        let told = opened(&page, "x".repeat((16 << 20) + 1)).await;
        assert_eq!(told.status, 413, "{told:?}");
    });
}
