//! Disks, networks and agents that are too slow for the timings, and the consequences.

use super::*;
use crate::{
    agent::strain::{Renewal, Strain},
    protocol::{Measurement, Prospects},
};

#[test]
fn an_echo_that_takes_longer_than_the_timings_assume() {
    let slow = |echo| {
        with_peer(PeerReport {
            echo: Some(echo),
            ..peer("host-c")
        })
    };
    let lan = |echo, advice| Finding::EchoTooLong {
        node: "host-c".to_owned(),
        echo,
        assumed: MS(9),
        preset: Some("Timings::lan()"),
        advice,
    };
    assert_eq!(found(&slow(MS(18))), [], "9 ms there and 9 ms back");
    let of = |echo, advice| assert_eq!(found(&slow(echo)), [lan(echo, advice)]);
    of(MS(19), Some("Timings::default()"));
    of(MS(80), Some("Timings::default()"));
    of(MS(81), Some("Timings::wan()"));
    of(MS(153), Some("Timings::wan()"));
    of(MS(601), None);
}

#[test]
fn a_store_that_writes_for_longer_than_a_round_lasts() {
    let slow = |write, echo| {
        let mut facts = quorum();
        facts.signs.strain = Some(Box::new(wrote(write)));
        facts.peers = vec![PeerReport {
            echo: Some(MS(echo)),
            ..peer("host-c")
        }];
        facts
    };
    let lan = |write, advice| Finding::WriteTooLong {
        write: MS(write),
        round: MS(20),
        waits: false,
        advice,
    };
    assert_eq!(found(&slow(16, 3)), [], "19 of 20 ms");
    let is_write = |finding: &Finding| matches!(finding, Finding::WriteTooLong { .. });
    let unwritten = found(&slow(0, 97));
    assert!(!unwritten.iter().any(is_write), "only the network is slow");
    let of = |write, advice| assert_eq!(found(&slow(write, 3)), [lan(write, advice)]);
    of(17, Some("Timings::default()"));
    of(97, Some("Timings::wan()"));
    of(697, None);
    let mut led = slow(97, 3);
    led.status.leader = Some(leader("c"));
    assert!(!found(&led).contains(&lan(97, Some("Timings::wan()"))));
    // Most of its last writes were slow, so the finding says why the agent does not lead.
    led.signs.prospects = Prospects {
        slow_writes: Some(MS(97)),
        ..Prospects::default()
    }
    .into();
    let waits = Finding::WriteTooLong {
        write: MS(97),
        round: MS(20),
        waits: true,
        advice: Some("Timings::wan()"),
    };
    assert!(found(&led).contains(&waits), "{:?}", found(&led));
    assert_eq!(
        waits.to_string(),
        "the store takes 97 ms to write a vote, and a round of 20 ms may be over before the votes come, so this voter leaves the leadership to others until its disk is faster: use Timings::wan(), Timings::measured(..) or a faster disk"
    );
    let available = Facts {
        requirements: vacant().requirements,
        ..slow(97, 3)
    };
    assert_eq!(found(&available), [], "no agent asks for votes");
    assert_eq!(
        lan(100, Some("Timings::wan()")).to_string(),
        "the store takes 100 ms to write a vote, and a round of 20 ms may be over before the votes come, so elections take longer: use Timings::wan(), Timings::measured(..) or a faster disk"
    );
}

/// Returns a strain with a write of this many milliseconds.
fn wrote(millis: u64) -> Strain {
    let mut strain = Strain::default();
    strain.note_write(MS(millis));
    strain
}

/// Returns a strain with a stall of this many milliseconds, one second ago.
fn stood_still(millis: u64) -> Strain {
    let mut strain = Strain::default();
    strain.note_stall(MS(millis), Time::from_millis(59_000));
    strain
}

fn timed(mut facts: Facts, timings: &Timings) -> Facts {
    facts.assumed = Assumptions::new(MemberKind::Voter, Some(timings), None);
    facts
}

#[test]
fn an_agent_that_stood_still_for_longer_than_a_lease_bears() {
    let of = |timings, stall| {
        let mut facts = timed(vacant(), &timings);
        facts.signs.strain = Some(Box::new(stood_still(stall)));
        found(&facts)
    };
    let stalls = |stall, tolerated, preset, advice| Finding::Stalls {
        stall: MS(stall),
        tolerated: MS(tolerated),
        preset,
        advice,
    };
    let lan = (Some("Timings::lan()"), Some("Timings::default()"));
    assert_eq!(of(Timings::lan(), 90), [], "240 - 60 of a lease, twice");
    assert_eq!(of(Timings::lan(), 91), [stalls(91, 90, lan.0, lan.1)]);
    let fast = of(Timings::fast(), 30);
    let is_advised = |found: &[Finding], to| {
        let preset = Some("Timings::fast()");
        assert_eq!(found, [stalls(30, 22, preset, Some(to))]);
    };
    is_advised(&fast, "Timings::in_process()");
    let mut networked = timed(with_peer(peer("host-c")), &Timings::fast());
    networked.signs.strain = Some(Box::new(stood_still(30)));
    is_advised(&found(&networked), "Timings::lan()");
    let astra = of(Timings::astra(), 5_000);
    assert_eq!(astra, [Finding::NotAsked], "no lease, and no detector");
    let mut facts = vacant();
    facts.signs.strain = Some(Box::new(stood_still(400)));
    facts.now = Time::from_millis(119_000);
    facts.last_step = Some(facts.now);
    assert_eq!(found(&facts), [], "a minute ago");
    assert_eq!(
        stalls(91, 90, lan.0, lan.1).to_string(),
        "this agent stood still for 91 ms, and Timings::lan() tolerates 90 ms, so a leader loses its leadership: use Timings::default(), Timings::measured(..), or give the agent an arbiter of its own and the host a spare core"
    );
}

#[test]
fn a_leader_that_steadily_renews_late() {
    let late = |times| {
        let mut strain = Strain::default();
        for _ in 0..times {
            let (left, renewed) = (MS(40), MS(220));
            strain.note_renewal(Renewal { left, renewed }, NOW);
        }
        let mut facts = quorum();
        facts.signs.strain = Some(Box::new(strain));
        facts.status.leading = Some(Term(6));
        facts
    };
    assert_eq!(found(&late(3)), []);
    let renews = |advice| Finding::RenewsLate {
        left: MS(40),
        renewed: MS(220),
        advice,
    };
    assert_eq!(found(&late(4)), [renews(Some("Timings::default()"))]);
    let slowest = timed(late(4), &Timings::wan());
    assert_eq!(found(&slowest), [renews(None)]);
    let mut follows = late(4);
    follows.status.leading = None;
    assert_eq!(found(&follows), [], "a follower has no lease");
    let mut slow = late(4);
    slow.signs.prospects = Prospects {
        slow_answers: Some(MS(97)),
        ..Prospects::default()
    }
    .into();
    let is_late = |finding: &Finding| matches!(finding, Finding::RenewsLate { .. });
    assert!(!found(&slow).iter().any(is_late), "one finding is enough");
    assert_eq!(
        renews(Some("Timings::default()")).to_string(),
        "this leader renews its lease late again and again, with 40 ms of 220 ms left, so a few more late answers end it: use Timings::default(), Timings::measured(..), or find out what delays the voters' answers"
    );
}

#[test]
fn a_preset_that_would_notice_a_silent_leader_much_earlier() {
    let with = |timings, echo, write| {
        let mut facts = timed(led_by("c"), &timings);
        facts.signs.strain = Some(Box::new(wrote(write)));
        facts.peers = vec![PeerReport {
            echo: Some(MS(echo)),
            ..peer("host-c")
        }];
        facts
    };
    let faster = |facts: &Facts| {
        let found = found(facts).into_iter();
        let presets = found.filter_map(|finding| {
            if let Finding::FasterFits { preset, .. } = finding {
                return Some(preset);
            }
            None
        });
        presets.collect::<Vec<_>>()
    };
    let (lan, default) = ("Timings::lan()", "Timings::default()");
    assert_eq!(faster(&with(Timings::default(), 1, 8)), [lan]);
    assert_eq!(
        faster(&with(Timings::default(), 1, 9)),
        [""; 0],
        "twice 10 of 20 ms"
    );
    assert_eq!(faster(&with(Timings::wan(), 10, 0)), [default]);
    assert_eq!(faster(&with(Timings::wan(), 30, 30)), [""; 0]);
    assert_eq!(faster(&with(Timings::lan(), 1, 0)), [""; 0]);
    assert_eq!(faster(&with(Timings::astra(), 1, 0)), [""; 0]);
    let mut alone = with(Timings::default(), 1, 0);
    alone.signs.strain = Some(Box::new(stood_still(46)));
    assert_eq!(faster(&alone), [""; 0], "twice 46 of 89 ms");
    alone.peers.push(peer("host-a"));
    alone.signs.strain = None;
    assert_eq!(faster(&alone), [""; 0], "nothing is known of host-a");
    alone.peers.clear();
    assert_eq!(faster(&alone), [""; 0], "there is no network");

    let all = found(&with(Timings::default(), 1, 0));
    assert_eq!(
        all.last().unwrap().to_string(),
        "Timings::lan() has twice the room that the network, the disk and this host needed recently: it notices a silent leader after 250 ms instead of 900 ms"
    );
    assert!(all.len() == 2, "{all:?}");
}

#[test]
fn a_measurement_is_the_longest_of_each_kind() {
    let mut facts = vacant();
    let peers = [(3, None), (9, None), (400, Some(MS(1)))];
    facts.peers = peers
        .map(|(echo, unlinked_for)| PeerReport {
            echo: Some(MS(echo)),
            unlinked_for,
            ..peer("host")
        })
        .into();
    let mut strain = stood_still(12);
    strain.note_write(MS(7));
    facts.signs.strain = Some(Box::new(strain));
    let measured = Measurement {
        echo: MS(9),
        write: MS(7),
        stall: MS(12),
    };
    assert_eq!(facts.measured(), measured);
}
