//! A run that goes on live from a moment of an earlier run: it has the agents of this moment, and nothing from later.

use std::{thread::JoinHandle, time::Duration};

use actix_bully::{
    dashboard::{Dashboard, stage::Chosen},
    protocol::Time,
    record::Recording,
};
use actix_bully_dashboard_tests::{
    SOON, Viewer, ask, command, done, five, five_led, get, led, opened, own_request, quorum,
    recorded, run, stage, watched,
};
use bully_core::record::{Header, RecordedClock, RecordedCommand, What};
use serde_json::{Value, json};

/// A moment as a page keeps it for its timeline.
#[derive(Clone, Debug)]
struct Seen {
    at_ms: Value,
    given: Value,
    agents: Value,
}

impl Seen {
    fn of(viewer: &Viewer) -> Self {
        Self {
            at_ms: viewer.moment["at_ms"].clone(),
            given: viewer.moment["given"].clone(),
            agents: viewer.moment["agents"].clone(),
        }
    }

    fn at(&self) -> f64 {
        self.at_ms.as_f64().unwrap()
    }

    fn request(&self) -> String {
        json!({ "go_on_from": { "at_ms": self.at_ms, "given": self.given } }).to_string()
    }
}

/// Waits as [`Viewer::until`] does, and returns every moment that it saw.
async fn seen_until(viewer: &mut Viewer, what: &str, holds: impl Fn(&Viewer) -> bool) -> Vec<Seen> {
    let mut seen = vec![Seen::of(viewer)];
    while !holds(viewer) {
        let before = viewer.moment["at_ms"].clone();
        let is_over = |v: &Viewer| v.moment["at_ms"] != before || holds(v);
        viewer.until(what, is_over).await;
        seen.push(Seen::of(viewer));
    }
    seen
}

/// Goes on from a moment, and waits until the page shows the new run.
async fn gone_on(page: &Dashboard, viewer: &mut Viewer, request: &str) {
    let before = viewer.head["run"].as_u64().unwrap();
    done(page, request).await;
    viewer
        .until("the new run", |v| v.head["run"].as_u64() > Some(before))
        .await;
    assert_eq!(viewer.head["from"]["run"], before);
    assert!(viewer.head["from"]["differs"].is_null(), "{}", viewer.head);
}

fn commands(run: &Recording) -> Vec<String> {
    let of = |what: &What| match what {
        What::Command(command) if *command != RecordedCommand::Settle => Some(command.to_string()),
        _ => None,
    };
    run.entries()
        .iter()
        .filter_map(|entry| of(&entry.what))
        .collect()
}

/// Crashes the leader of a page. Returns the page, its viewer, the moments of the next election, and the thread of
/// the stage.
async fn crashed() -> (Dashboard, Viewer, Vec<Seen>, JoinHandle<Option<Chosen>>) {
    let (page, mut viewer, thread) = five_led(10).await;
    done(&page, r#"{"speed":0.1}"#).await;
    done(&page, r#"{"command":"crash agent-5"}"#).await;
    let is_over = |v: &Viewer| v.leaders() == ["agent-4"];
    let seen = seen_until(&mut viewer, "the next one leads", is_over).await;
    done(&page, r#"{"speed":10}"#).await;
    done(&page, r#"{"command":"isolate agent-4"}"#).await;
    let is_later = |v: &Viewer| v.leaders().contains(&"agent-3");
    seen_until(&mut viewer, "a later leader", is_later).await;
    done(&page, r#""pause""#).await;
    (page, viewer, seen, thread)
}

/// Returns whether the old leader is down and some agent does not follow the next leader yet.
fn is_electing(seen: &Seen) -> bool {
    let agents = seen.agents.as_array().unwrap();
    let mut up = agents.iter().filter(|agent| agent["state"] == "up");
    up.clone().count() == 4 && up.any(|agent| agent["leader"] != "agent-4")
}

#[test]
fn a_run_goes_on_from_the_middle_of_an_election_and_drops_what_came_later() {
    run(async {
        let (page, mut viewer, seen, _thread) = crashed().await;
        let whole = recorded(&page, "").await;
        let moment = seen.iter().find(|seen| is_electing(seen)).unwrap();
        gone_on(&page, &mut viewer, &moment.request()).await;
        assert_eq!(viewer.moment["agents"], moment.agents);
        assert_eq!(viewer.moment["at_ms"], moment.at_ms);
        assert_eq!(viewer.moment["clock"]["paused"], true, "as before");
        let again = recorded(&page, "").await;
        assert_eq!(
            commands(&again),
            ["crash agent-5"],
            "the isolation came later"
        );
        let end = again.ended();
        assert_eq!(
            json!(end.since(Time::ZERO).as_secs_f64() * 1e3),
            moment.at_ms
        );
        let until = |run: &Recording| {
            let entries = run.entries().iter().filter(|entry| entry.at < end);
            entries.cloned().collect::<Vec<_>>()
        };
        assert_eq!(
            until(&again),
            until(&whole),
            "every entry before, messages too"
        );
        assert!(viewer.said.iter().any(|said| said["what"] == "election"));

        done(&page, r#""play""#).await;
        viewer.led_by(&["agent-4"]).await;
        done(&page, r#"{"command":"restart agent-5"}"#).await;
        viewer.led_by(&["agent-5"]).await;
        let last = recorded(&page, "").await;
        assert_eq!(commands(&last), ["crash agent-5", "restart agent-5"]);
    });
}

#[test]
fn moments_of_one_time_differ_by_the_commands_given() {
    run(async {
        let (page, mut viewer, _thread) = five_led(10).await;
        viewer.pause(&page).await;
        let before = Seen::of(&viewer);
        done(&page, r#"{"command":"crash agent-5"}"#).await;
        let is_down = |v: &Viewer| v.agent("agent-5")["state"] == "down";
        viewer.until("it is down", is_down).await;
        let after = Seen::of(&viewer);
        assert_eq!(before.at_ms, after.at_ms);
        for moment in [&after, &before, &before] {
            gone_on(&page, &mut viewer, &moment.request()).await;
            assert_eq!(viewer.agent("agent-5")["state"], moment.agents[4]["state"]);
        }
        let told = command(&page, r#"{"go_on_from":{"at_ms":9e9}}"#).await;
        assert_eq!(told.status, 409, "{told:?}");
        assert!(told.message().contains("has not come yet"), "{told:?}");
    });
}

#[test]
fn a_recording_goes_on_live_on_a_stage() {
    run(async {
        let (earlier, _viewer, seen, _thread) = crashed().await;
        let whole = recorded(&earlier, "").await;
        let moment = seen.iter().find(|seen| is_electing(seen)).unwrap();
        let (page, mut viewer, _thread) = five_led(10).await;
        done(&page, r#""pause""#).await;
        let told = opened(&page, moment.at(), whole.to_jsonl()).await;
        assert_eq!(told.status, 200, "{told:?}");
        viewer
            .until("the new run", |v| v.head["from"]["run"] == 0)
            .await;
        assert!(viewer.head["from"]["differs"].is_null(), "{}", viewer.head);
        assert_eq!(viewer.moment["agents"], moment.agents);
        assert_eq!(commands(&recorded(&page, "").await), ["crash agent-5"]);
        // A recording with a wrong entry is played, and the page reports the difference.
        let changed = whole.to_jsonl().replacen("\"started\"", "\"joined\"", 1);
        let told = opened(&page, moment.at(), changed).await;
        assert_eq!(told.status, 200, "{told:?}");
        viewer
            .until("it differs", |v| v.head["from"]["differs"].is_string())
            .await;
        let differs = viewer.head["from"]["differs"].as_str().unwrap();
        assert!(
            differs.contains("joined") && differs.contains("started"),
            "{differs}"
        );
    });
}

#[test]
fn a_recording_of_other_agents_is_begun_by_the_caller_of_the_stage() {
    run(async {
        let (other, _viewer, _thread) = led(quorum(3), 20, "agent-3").await;
        let whole = recorded(&other, "").await;
        let (page, thread) = stage(five);
        let asked = opened(&page, 1.0, whole.to_jsonl());
        let told = actix::clock::timeout(SOON, asked).await.unwrap();
        let chosen = thread.join().unwrap().unwrap();
        assert_eq!((&*chosen.election, &chosen.beside), ("quorum", &None));
        assert_eq!(chosen.agents, Some(whole.header().agents.clone()));
        assert_eq!(told.status, 503, "this caller begins nothing: {told:?}");
    });
}

#[test]
fn a_leader_that_was_leaving_has_left_when_the_run_goes_on() {
    run(async {
        let (page, mut viewer, _thread) = led(quorum(3), 10, "agent-3").await;
        done(&page, r#"{"command":"leave agent-3"}"#).await;
        viewer.pause(&page).await;
        let whole = recorded(&page, "").await;
        let leave = What::Command("leave agent-3".parse().unwrap());
        let mut entries = whole.entries().iter();
        let at = entries.find(|entry| entry.what == leave).unwrap().at;
        let at_ms = at.since(Time::ZERO).as_secs_f64() * 1e3;
        let request = json!({ "go_on_from": { "at_ms": at_ms } }).to_string();
        gone_on(&page, &mut viewer, &request).await;
        assert_eq!(viewer.head["from"]["at_ms"], viewer.moment["at_ms"]);
        assert!(viewer.moment["at_ms"].as_f64() > Some(at_ms));
    });
}

/// Pauses a page after its first election. Returns the page, its viewer and its recording.
async fn paused() -> (Dashboard, Viewer, Recording) {
    let (page, mut viewer, _thread) = five_led(10).await;
    let is_over = |v: &Viewer| v.moment["at_ms"].as_f64() > Some(1_000.0);
    viewer.until("it is over", is_over).await;
    viewer.pause(&page).await;
    let run = recorded(&page, "").await;
    (page, viewer, run)
}

type HeaderChange<'a> = &'a dyn Fn(&mut Header);

/// Returns the text of the recording with a changed header.
fn changed(run: &Recording, change: impl FnOnce(&mut Header)) -> String {
    let mut run = run.clone();
    change(run.header_mut());
    run.to_jsonl()
}

#[test]
fn what_cannot_go_on_is_refused_in_words() {
    run(async {
        let (page, viewer, good) = paused().await;
        let refused: [(HeaderChange<'_>, &str); 7] = [
            (&|header| header.clock = RecordedClock::Real, "in real time"),
            (
                &|header| header.began_unix_ms = Some(1),
                "of a running node",
            ),
            (
                &|header| header.again = Some("simulate --seed 7".to_owned()),
                "play it again by `simulate --seed 7`",
            ),
            (&|header| header.forgotten = 9, "its first 9"),
            (&|header| header.agents.clear(), "its first"),
            (
                &|header| "coin".clone_into(&mut header.protocol),
                "cannot run the recording's election",
            ),
            (
                // Other timings are refused first, so that the caller of the stage starts no agents in vain.
                &|header| {
                    header.timings_ns.clear();
                    header.agents.truncate(3);
                },
                "other timings",
            ),
        ];
        for (change, says) in refused {
            let told = opened(&page, 1.0, changed(&good, change)).await;
            assert_eq!(told.status, 409, "{says}: {told:?}");
            assert!(told.message().contains(says), "{says}: {told:?}");
        }
        assert_eq!(opened(&page, 1.0, "").await.status, 400);
        assert_eq!(viewer.head["run"], 1, "the run is the same");
        for (at, status) in [("-1", 400), ("NaN", 400), ("x", 400), ("1e9", 409)] {
            let request = own_request().uri(&format!("/election/go_on?at_ms={at}"));
            let told = ask(&page, request.set_payload(good.to_jsonl())).await;
            assert_eq!(told.status, status, "{at}: {told:?}");
        }
        // A film already contains the reason, before the page asks to go on.
        let film = async |body: String| {
            let request = own_request().uri("/election/film").set_payload(body);
            ask(&page, request).await.json()["unrepeatable"].clone()
        };
        assert_eq!(film(good.to_jsonl()).await, Value::Null);
        let node = film(changed(&good, |header| header.began_unix_ms = Some(1))).await;
        assert!(node.as_str().unwrap().contains("running node"), "{node}");
    });
}

#[test]
fn going_on_is_a_command_of_the_page_itself() {
    run(async {
        let (_page, _viewer, good) = paused().await;
        let (watched, _thread) = watched();
        assert_eq!(opened(&watched, 1.0, good.to_jsonl()).await.status, 403);
        let replay = Dashboard::replay(good.clone());
        let told = opened(&replay.allow_faults(), 1.0, good.to_jsonl()).await;
        assert!(told.message().contains("only a stage"), "{told:?}");
    });
}

#[test]
fn a_long_run_holds_nothing_up() {
    run(async {
        let (page, mut viewer, good) = paused().await;
        // A run of hours is longer than any machine can play before the page lets it go on.
        let end = 1e10;
        let ended = Time::ZERO.after(Duration::from_secs_f64(end / 1e3));
        let entries = good
            .entries()
            .iter()
            .filter(|entry| entry.what != What::Ended);
        let long = Recording::new(good.header().clone(), entries.cloned(), ended);
        let told = opened(&page, end, long.to_jsonl()).await;
        assert_eq!(told.status, 200, "{told:?}");
        let is_played = |v: &Viewer| v.moment["clock"]["again"].is_object();
        viewer.until("it is played again", is_played).await;
        let told = command(&page, r#"{"command":"heal"}"#).await;
        assert_eq!(told.status, 409, "{told:?}");
        assert!(told.message().contains("being played again"), "{told:?}");
        assert_eq!(get(&page, "/copies/run.jsonl").await.status, 409);
        done(&page, r#""play""#).await;
        viewer.until("it goes on", |v| v.head["run"] == 2).await;
        let from = viewer.head["from"]["at_ms"].as_f64();
        assert!(from < Some(end) && from > Some(0.0), "{from:?} of {end}");
        assert!(viewer.head["from"]["differs"].is_null(), "{}", viewer.head);
        done(&page, r#"{"command":"heal"}"#).await;
    });
}
