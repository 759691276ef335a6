//! The records that an agent writes of its own election while it runs.

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    history::LeadershipEnd,
    operate::{Operated, RecordFolder, RecordRequest},
    protocol::{Event, LostReason, Timings},
    record::{RecordLimits, Recording},
    testkit::Inject,
};
use bully_core::record::{Happening, What};

use tracing::Level;

use crate::{
    logs::logged,
    stage::{MS, bully, id, play, three},
};

fn read(text: Option<String>) -> Recording {
    Recording::read(text.unwrap().as_bytes()).unwrap()
}

/// Returns the begins and ends of incarnations in the agent's record.
fn happened(to: &BullyHandle) -> Vec<Happening> {
    let recording = read(to.recorded());
    let happened = recording.entries().iter().filter_map(|entry| {
        if let What::Happened { what, .. } = &entry.what {
            Some(*what)
        } else {
            None
        }
    });
    happened.collect()
}

#[test]
fn a_record_has_the_messages_of_the_election_and_what_the_agent_made_of_them() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group);
        clock::sleep(MS(1_000)).await;
        let [a, _, c] = &agents;
        assert!(
            !a.is_recording() && a.recorded().is_none(),
            "off by default"
        );
        a.record(Some(RecordLimits::default()));
        c.record(Some(RecordLimits::default()));
        clock::sleep(MS(5_000)).await;
        let quiet = read(a.recorded());
        let messages = |what: &What| matches!(what, What::Sent { .. } | What::Delivered(_));
        let heard = quiet.entries().iter().filter(|entry| messages(&entry.what));
        assert_eq!(heard.count(), 0, "heartbeats are not written");

        c.step_down(None).unwrap();
        clock::sleep(MS(1_000)).await;
        let recording = read(a.recorded());
        let follows_b = |what: &What| {
            if let What::Event {
                agent,
                event: Event::NewLeader(leader),
            } = what
            {
                *agent == "a" && leader.id == "b"
            } else {
                false
            }
        };
        assert!(
            recording
                .entries()
                .iter()
                .any(|entry| follows_b(&entry.what))
        );
        let from_b = |what: &What| matches!(what, What::Delivered(message) if message.from == "b" && message.to == "a");
        assert!(recording.entries().iter().any(|entry| from_b(&entry.what)));
        let header = recording.header();
        let names: Vec<_> = header
            .agents
            .iter()
            .map(|agent| agent.name.clone())
            .collect();
        assert_eq!(names, ["a", "b", "c"].map(id));
        assert!(header.began_unix_ms.is_some());
        let of_c = read(c.recorded()).to_text();
        assert!(of_c.contains("lost the leadership"), "{of_c}");
        assert!(of_c.contains("c -> "), "it told the others: {of_c}");
        assert!(of_c.contains(" leader\n"), "its role: {of_c}");
        c.addr().do_send(Inject::Crash);
        clock::sleep(MS(1_000)).await;
        let of_c = read(c.recorded()).to_text();
        assert!(of_c.contains("restarts"), "{of_c}");
        c.leave(MS(5_000)).await.unwrap();
        let ends = [Happening::Crashed, Happening::Restarted, Happening::Left];
        assert_eq!(happened(c), ends);
    });
}

#[test]
fn an_operator_switches_and_reads_the_records_of_a_node() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group);
        clock::sleep(MS(1_000)).await;
        let node = Operated::new(&agents[0]).agent(&agents[2]);
        let on = node.record(RecordRequest::On(RecordLimits::default()));
        assert!(on.iter().all(|one| one.is_on && one.jsonl.is_none()) && on.len() == 2);
        agents[2].step_down(None).unwrap();
        clock::sleep(MS(1_000)).await;
        let before = node.record(RecordRequest::Read);
        let folder = tempfile::tempdir().unwrap();
        node.save_records(RecordFolder::new(folder.path())).unwrap();
        let read_again = node.record(RecordRequest::Read);
        assert_eq!(read_again, before, "a record that is on goes on");
        for one in before {
            let recording = read(one.jsonl);
            assert!(recording.entries().len() > 2, "{}", one.agent);
        }
        let off = node.record(RecordRequest::Off);
        assert!(off.iter().all(|one| !one.is_on));
        assert!(!agents[0].is_recording());
        let lines = || agents[0].recorded().unwrap().lines().count();
        let before = lines();
        agents[1].step_down(None).unwrap();
        clock::sleep(MS(1_000)).await;
        assert_eq!(lines(), before, "nothing is written while it is off");
        let kept = node.record(RecordRequest::ReadKept);
        assert!(
            kept.iter().all(|one| one.jsonl.is_none()),
            "no leader was missed"
        );
    });
}

/// Returns the names of the records in a folder, in the order of their times.
fn saved(folder: &std::path::Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn a_record_is_saved_by_itself_when_the_leader_is_missed() {
    play(async {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("records");
        let group = Group::new("jobs").unwrap();
        let witness = BullyAgent::builder("w.1").ineligible().join(&group);
        let witness = witness.timings(Timings::lan()).start().unwrap();
        let first = bully(&group, "a", 1);
        let node = Operated::new(&witness);
        let records = RecordFolder::new(&folder).at_most(2, 1 << 20);
        node.save_records(records).unwrap();
        assert!(witness.is_recording(), "it begins to write");
        assert_eq!(witness.recorded_without_leader(), None);
        clock::sleep(MS(10_000)).await;
        assert!(saved(&folder).is_empty(), "no leader was missed");
        let mut leading = first;
        let mut seen = Vec::new();
        for name in ["b", "c", "d"] {
            leading.leave(MS(100)).await.unwrap();
            // One vacancy makes one file, even if it lasts long.
            clock::sleep(MS(900_000)).await;
            seen.push(saved(&folder).pop().unwrap());
            leading = bully(&group, name, 1);
            clock::sleep(MS(10_000)).await;
        }
        assert!(
            seen.is_sorted() && seen[0] != seen[1] && seen[1] != seen[2],
            "{seen:?}"
        );
        assert_eq!(saved(&folder), seen[1..], "the oldest one made room");
        assert!(seen[2].ends_with("-jobs-w_1.jsonl"), "{seen:?}");
        let text = std::fs::read_to_string(folder.join(&seen[2])).unwrap();
        witness.record(Some(RecordLimits::default())); // an operator looks for the cause
        for text in [Some(text), witness.recorded_without_leader()] {
            let kept = read(text).to_text();
            for said in [
                "w.1 has known no leader of jobs",
                "has no leader since term",
                "a led in term 1 from ",
            ] {
                assert!(kept.contains(said), "{said}: {kept}");
            }
        }
    });
}

/// After a kill of the process, the file still has every change up to the last one.
#[test]
fn the_past_of_a_group_outlives_its_process() {
    play(async {
        let folder = tempfile::tempdir().unwrap();
        let rows = |node: &Operated| {
            let groups = node.history();
            assert_eq!(groups.len(), 1, "one group");
            let rows = groups[0].leaderships.iter();
            rows.map(|one| (one.leader.to_string(), one.end))
                .collect::<Vec<_>>()
        };
        let start = async |name: &str, group: &Group| {
            let agent = bully(group, name, 1);
            agent.wait_for_leader(MS(5_000)).await.unwrap();
            agent
        };
        let group = Group::new("jobs").unwrap();
        let (first, second) = (start("a", &group).await, start("b", &group).await);
        let node = Operated::new(&first).agent(&second);
        node.keep_history(Some(folder.path())).unwrap();
        second.leave(MS(5_000)).await.unwrap();
        clock::sleep(MS(3_000)).await;
        let resigned = LeadershipEnd::Lost(LostReason::Resigned);
        let before = rows(&node);
        assert!(before.ends_with(&[("b".to_owned(), Some(resigned)), ("a".to_owned(), None)]));
        // The test restores this file later, as if the process had been killed now. The first process must end,
        // because two groups of one name are refused.
        let file = folder.path().join("history-jobs@a.jsonl");
        let killed = std::fs::read(&file).unwrap();
        first.leave(MS(5_000)).await.unwrap();
        clock::sleep(MS(3_000)).await;
        std::fs::write(&file, killed).unwrap();
        drop((group, first, second));
        // The group of the next process knows nothing of the former group.
        let next = Group::new("jobs").unwrap();
        let after = start("a", &next).await;
        let node = Operated::new(&after);
        node.keep_history(Some(folder.path())).unwrap();
        let mut expected = before;
        expected.last_mut().unwrap().1 = Some(LeadershipEnd::Unseen);
        expected.push(("a".to_owned(), None));
        assert_eq!(rows(&node), expected);
        assert_eq!(saved(folder.path()), ["history-jobs@a.jsonl"]);
    });
}

/// The group outlives the task that saved its history.
#[test]
fn the_past_is_kept_again_for_the_next_agent_of_a_group() {
    play(async {
        let folder = tempfile::tempdir().unwrap();
        let group = Group::new("jobs").unwrap();
        let file = folder.path().join("history-jobs@a.jsonl");
        for leaderships in 1..=2 {
            let agent = bully(&group, "a", 1);
            agent.wait_for_leader(MS(5_000)).await.unwrap();
            let node = Operated::new(&agent);
            node.keep_history(Some(folder.path())).unwrap();
            node.keep_history(Some(folder.path())).unwrap(); // one task writes the file
            agent.leave(MS(5_000)).await.unwrap();
            clock::sleep(MS(3_000)).await;
            let text = std::fs::read_to_string(&file).unwrap();
            let led = text
                .lines()
                .filter(|line| line.contains("\"leader\""))
                .count();
            assert_eq!(led, leaderships, "{text}");
        }
    });
}

/// No leadership changes meanwhile, so only a retry can save the file.
#[test]
fn a_past_that_cannot_be_saved_is_told_once_and_saved_as_soon_as_it_can() {
    logged(Level::WARN, async |lines| {
        let folder = tempfile::tempdir().unwrap();
        let group = Group::new("jobs").unwrap();
        let agent = bully(&group, "a", 1);
        let in_the_way = folder.path().join("history-jobs@a.unfinished");
        std::fs::create_dir(&in_the_way).unwrap();
        Operated::new(&agent)
            .keep_history(Some(folder.path()))
            .unwrap();
        clock::sleep(MS(20_000)).await;
        assert_eq!(saved(folder.path()), ["history-jobs@a.unfinished"]);
        assert_eq!(lines.about("history not saved").len(), 1);
        std::fs::remove_dir(&in_the_way).unwrap();
        clock::sleep(MS(3_000)).await;
        assert_eq!(saved(folder.path()), ["history-jobs@a.jsonl"]);
    });
}

/// The history keeps the diagnosis of an agent without a leader for an operator who asks later.
#[test]
fn what_was_found_is_known_after_it_is_over() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let witness = BullyAgent::builder("w").ineligible().join(&group);
        let witness = witness.timings(Timings::lan()).start().unwrap();
        let node = Operated::new(&witness);
        node.keep_history(None).unwrap();
        clock::sleep(MS(20_000)).await;
        let leader = bully(&group, "a", 1);
        leader.wait_for_leader(MS(5_000)).await.unwrap();
        clock::sleep(MS(60_000)).await;
        let findings = &node.history()[0].findings;
        let of_witness = findings.iter().filter(|found| found.agent == *witness.id());
        let kinds: Vec<_> = of_witness.map(|found| &*found.kind).collect();
        assert!(kinds.contains(&"none_eligible"), "{kinds:?}");
    });
}
