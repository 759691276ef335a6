//! The record of a run that never ends keeps its bounds.

use super::{AT, Header, Recording, What};
use crate::{
    protocol::{AgentId, Role},
    record::{RecordLimits, ring::BoundedRecord},
};

fn limits(entries: usize, bytes: usize) -> RecordLimits {
    RecordLimits { entries, bytes }
}

fn read(ring: &BoundedRecord, now: u64) -> Recording {
    let text = ring.to_jsonl(Header::default(), AT(now));
    Recording::read(text.as_bytes()).unwrap()
}

#[test]
fn the_oldest_are_forgotten_and_counted() {
    let mut ring = BoundedRecord::new(limits(3, 1_000));
    for at in 1..=5 {
        ring.push(AT(at), What::Mark(at.to_string()));
    }
    let recording = read(&ring, 9);
    assert_eq!(recording.entries()[0].what, What::Mark("3".to_owned()));
    assert_eq!(recording.entries().len(), 4, "three and the end");
    assert_eq!(recording.header().forgotten, 2);
    assert_eq!(recording.ended(), AT(9));
}

#[test]
fn bytes_are_bounded_too_and_what_never_fits_is_not_kept() {
    let mut ring = BoundedRecord::new(limits(1_000, 200));
    for at in 1..=100 {
        ring.push(AT(at), What::Mark("x".repeat(30)));
        let text = ring.to_jsonl(Header::default(), AT(at));
        let lines: usize = text.lines().skip(1).map(str::len).sum();
        assert!(lines <= 200 + 40, "{lines}");
    }
    ring.push(AT(101), What::Mark("y".repeat(1_000)));
    assert_eq!(read(&ring, 101).entries().len(), 1, "the end");
    ring.push(AT(102), What::Mark("z".to_owned()));
    assert_eq!(read(&ring, 102).entries().len(), 2);
}

#[test]
fn no_limit_can_be_asked_for_that_exceeds_the_largest() {
    let mut ring = BoundedRecord::new(limits(usize::MAX, usize::MAX));
    for at in 1..=50_010 {
        ring.push(AT(at), What::Mark(String::new()));
    }
    let recording = read(&ring, 60_000);
    assert_eq!(recording.header().forgotten, 10);
    assert!(
        BoundedRecord::new(limits(0, 0))
            .to_jsonl(Header::default(), AT(1))
            .lines()
            .count()
            == 2
    );
}

#[test]
fn a_role_is_said_when_it_is_another_one_and_times_never_run_backwards() {
    let mut ring = BoundedRecord::new(RecordLimits::default());
    let agent = AgentId::new("a").unwrap();
    for (at, role) in [(5, Role::Follower), (6, Role::Follower), (4, Role::Leader)] {
        let agent = agent.clone();
        ring.role(role, || (AT(at), What::Role { agent, role }));
    }
    let recording = read(&ring, 1);
    let times: Vec<_> = recording.entries().iter().map(|entry| entry.at).collect();
    assert_eq!(times, [AT(5), AT(5), AT(5)]);
}
