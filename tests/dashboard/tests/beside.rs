//! Two elections side by side: both get each command at the same instant, and the page shows the cost of each
//! election.

use actix_bully::{dashboard::Dashboard, protocol::Time};
use actix_bully_dashboard_tests::{
    Shown, Viewer, command, done, five, get, recorded, run, side_by_side, stage,
};
use bully_core::record::{RecordedCommand, What};
use serde_json::Value;

/// Starts two elections, and waits until both are over. A fault that comes earlier would count as a cause of the
/// first election.
async fn led() -> (Dashboard, Viewer) {
    let (page, _thread) = side_by_side();
    done(&page, r#"{"speed":10}"#).await;
    let mut viewer = Viewer::new(&page).await.unwrap();
    viewer
        .until("both are led", |v| {
            let is_over = |shown: &Shown| {
                shown.leaders() == ["agent-5"]
                    && shown.said.iter().any(|said| said["what"] == "election")
            };
            is_over(v) && is_over(&v.beside)
        })
        .await;
    (page, viewer)
}

/// Returns the election that followed from this cause.
fn election<'a>(shown: &'a Shown, cause: &str) -> Option<&'a Value> {
    let mut said = shown.said.iter();
    said.find(|said| said["what"] == "election" && said["cause"] == cause)
}

/// Returns the times at which a command was given in one of the two runs.
async fn given(page: &Dashboard, query: &str, wanted: &RecordedCommand) -> Vec<Time> {
    let recording = recorded(page, query).await;
    let is_wanted = |what: &What| matches!(what, What::Command(command) if command == wanted);
    let entries = recording.entries().iter();
    entries
        .filter(|entry| is_wanted(&entry.what))
        .map(|entry| entry.at)
        .collect()
}

#[test]
fn both_get_each_command_at_the_same_instant() {
    run(async {
        let (page, mut viewer) = led().await;
        assert_eq!(viewer.head["election"], "bully");
        assert_eq!(viewer.beside.head["election"], "quorum");
        done(&page, r#"{"command":"crash agent-5"}"#).await;
        viewer
            .until("both have elected", |v| {
                election(v, "agent-5 crashes").is_some()
                    && election(&v.beside, "agent-5 crashes").is_some()
            })
            .await;
        for shown in [&*viewer, &viewer.beside] {
            let over = election(shown, "agent-5 crashes").unwrap();
            assert_eq!(over["leaders"], serde_json::json!(["agent-4"]));
            assert!(over["took_ms"].as_f64() > Some(0.0), "{over}");
            assert!(over["messages"].as_u64() > Some(0), "{over}");
            assert_eq!(shown.agent("agent-5")["state"], "down");
        }
        let crash = RecordedCommand::Crash(vec!["agent-5".parse().unwrap()]);
        let first = given(&page, "", &crash).await;
        assert_eq!(first.len(), 1);
        assert_eq!(first, given(&page, "?beside=true", &crash).await);

        // A change of the network applies to both elections.
        let network = r#"{"command":"network delay 1ms..5ms loss 2%"}"#;
        done(&page, network).await;
        let lossy = |shown: &Shown| shown.moment["network"]["loss"] == 20;
        viewer.until("loss", |v| lossy(v) && lossy(&v.beside)).await;
    });
}

/// Each step ends at an instant at which more events may follow. The commands are given at such instants.
#[test]
fn both_play_again_what_was_given_at_any_instant() {
    run(async {
        let (page, mut viewer) = led().await;
        viewer.pause(&page).await;
        for agent in [5, 4, 3, 5, 4, 3, 5, 4, 3, 5] {
            for words in ["crash", "restart"] {
                done(&page, &format!(r#"{{"command":"{words} agent-{agent}"}}"#)).await;
                for _ in 0..3 {
                    done(&page, r#""step""#).await;
                }
            }
        }
        let runs = async || {
            [
                recorded(&page, "").await,
                recorded(&page, "?beside=true").await,
            ]
        };
        let before = runs().await;
        let end = before[0].ended();
        let at_ms = end.since(Time::ZERO).as_secs_f64() * 1e3;
        done(&page, &format!(r#"{{"go_on_from":{{"at_ms":{at_ms}}}}}"#)).await;
        let is_again = |shown: &Shown| shown.head["run"] == 2;
        viewer
            .until("both go on", |v| is_again(v) && is_again(&v.beside))
            .await;
        for shown in [&*viewer, &viewer.beside] {
            let from = &shown.head["from"];
            assert!(from["differs"].is_null(), "{from}");
        }
        for (before, again) in before.iter().zip(runs().await) {
            let entries = before.entries().iter().zip(again.entries());
            let mut differ = entries.filter(|(one, other)| one.at < end && one != other);
            assert_eq!(differ.next(), None, "messages too");
        }
    });
}

#[test]
fn what_only_one_of_them_can_do_is_said() {
    run(async {
        let (page, mut viewer) = led().await;
        // A minority elects a leader in the bully election, and no leader in the quorum election.
        done(&page, r#"{"command":"partition agent-1 agent-2"}"#).await;
        viewer.led_by(&["agent-2", "agent-5"]).await;
        assert_eq!(viewer.beside.leaders(), ["agent-5"]);
        let told = command(&page, r#"{"command":"step-down agent-2"}"#).await;
        assert_eq!(told.status, 200, "{told:?}");
        let note = told.json()["note"].clone();
        let note = note.as_str().unwrap();
        assert!(note.contains("the election beside did not do it"), "{note}");
        assert!(note.contains("agent-2 does not lead"), "{note}");
        // A command that neither election can carry out is refused.
        let told = command(&page, r#"{"command":"crash nobody"}"#).await;
        assert_eq!(told.status, 404, "{told:?}");
    });
}

#[test]
fn a_scenario_waits_for_both() {
    run(async {
        let (page, mut viewer) = led().await;
        done(&page, r#"{"speed":50}"#).await;
        done(&page, r#"{"scenario":"flapping"}"#).await;
        viewer
            .until("it plays", |v| v.beside.moment["scenario"] == "flapping")
            .await;
        viewer
            .until("it crashes in both", |v| {
                let down = |shown: &Shown| shown.agent("agent-5")["state"] == "down";
                down(v) && down(&v.beside)
            })
            .await;
        // The next scene begins when the slower election has a leader, too.
        viewer
            .until("it comes back", |v| v.agent("agent-5")["state"] == "up")
            .await;
        assert!(election(&viewer.beside, "agent-5 crashes").is_some());
    });
}

#[test]
fn another_one_is_chosen_beside_the_first() {
    run(async {
        let (page, thread) = stage(five);
        let viewer = Viewer::new(&page).await.unwrap();
        assert!(viewer.beside.head["election"].is_null(), "one is shown");
        let told = get(&page, "/copies/run.jsonl?beside=true").await;
        assert_eq!(told.status, 409, "{told:?}");
        assert!(told.message().contains("no second election runs"));
        done(&page, r#"{"beside":"quorum"}"#).await;
        let chosen = thread.join().unwrap().unwrap();
        assert_eq!(chosen.election, "bully");
        assert_eq!(chosen.beside.as_deref(), Some("quorum"));
    });
}
