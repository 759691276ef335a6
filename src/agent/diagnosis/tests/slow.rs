//! Disks, networks and agents that are too slow for the timings, and the consequences.

use super::*;
use crate::{
    agent::strain::{Renewal, Strain},
    protocol::{Measurement, Prospects},
};

pub(super) fn play(scenes: &mut Scenes) {
    echoes(scenes);
    writes(scenes);
    stalls(scenes);
    renewals(scenes);
    faster(scenes);
}

/// Returns a peer with an echo of this many milliseconds.
fn echo(millis: u64) -> PeerReport {
    PeerReport {
        echo: Some(MS(millis)),
        ..peer("host-c")
    }
}

fn echoes(scenes: &mut Scenes) {
    // The timings of a local network assume 9 ms one way.
    for millis in [18, 19, 80, 81, 153, 601] {
        let what = format!("an echo of {millis} ms");
        scenes.add(&what, with_peer(echo(millis)), |_| ());
    }
}

/// Returns a strain with a write of this many milliseconds.
fn wrote(millis: u64) -> Strain {
    let mut strain = Strain::default();
    strain.note_write(MS(millis));
    strain
}

fn writes(scenes: &mut Scenes) {
    let slow = |write, millis| {
        let mut facts = quorum();
        facts.signs.strain = Some(Box::new(wrote(write)));
        facts.peers = vec![echo(millis)];
        facts
    };
    // A round takes 20 ms.
    for (write, echo) in [(16, 3), (0, 97), (17, 3), (97, 3), (697, 3)] {
        let what = format!("a write of {write} ms and an echo of {echo} ms");
        scenes.add(&what, slow(write, echo), |_| ());
    }
    let led = || Facts {
        status: led_by("c").status,
        ..slow(97, 3)
    };
    scenes.add("a write of 97 ms while c leads", led(), |_| ());
    // Most of its last writes were slow, so the finding says why the agent does not lead.
    scenes.add("many writes of 97 ms while c leads", led(), |it| {
        it.signs.prospects = Prospects {
            slow_writes: Some(MS(97)),
            ..Prospects::default()
        }
        .into();
    });
    scenes.add(
        "a write of 97 ms where no agent asks for votes",
        slow(97, 3),
        |it| {
            it.requirements = vacant().requirements;
        },
    );
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

fn stalls(scenes: &mut Scenes) {
    let mut add = |what, facts, timings: &Timings, stall| {
        scenes.add(what, timed(facts, timings), |it| {
            it.signs.strain = Some(Box::new(stood_still(stall)));
        });
    };
    // A lease tolerates half of 240 ms - 60 ms.
    add("a stall of 90 ms", vacant(), &Timings::lan(), 90);
    add("a stall of 91 ms", vacant(), &Timings::lan(), 91);
    add("a stall in one process", vacant(), &Timings::fast(), 30);
    let networked = with_peer(peer("host-c"));
    add("a stall with a network", networked, &Timings::fast(), 30);
    // Nothing is tolerated or not without a lease and a detector.
    add("a stall by ASTRA", vacant(), &Timings::astra(), 5_000);
    scenes.add("a stall a minute ago", vacant(), |it| {
        it.signs.strain = Some(Box::new(stood_still(400)));
        it.now = Time::from_millis(119_000);
        it.last_step = Some(it.now);
    });
}

fn renewals(scenes: &mut Scenes) {
    // A renewal is late if less than half of the lease is left.
    let renewed = |left, times| {
        let mut strain = Strain::default();
        for _ in 0..times {
            let (left, renewed) = (MS(left), MS(220));
            strain.note_renewal(Renewal { left, renewed }, NOW);
        }
        let mut facts = quorum();
        facts.signs.strain = Some(Box::new(strain));
        facts.status.leading = Some(Term(6));
        facts
    };
    let late = |times| renewed(109, times);
    scenes.add("four timely renewals", renewed(110, 4), |_| ());
    scenes.add("three late renewals", late(3), |_| ());
    scenes.add("four late renewals", late(4), |_| ());
    let slowest = timed(late(4), &Timings::wan());
    scenes.add("four late renewals by the slowest timings", slowest, |_| ());
    scenes.add("four late renewals of a follower", late(4), |it| {
        it.status.leading = None;
    });
    // Another finding has the reason. It needs a store of the lease.
    scenes.add("four late renewals, and slow answers", late(4), |it| {
        it.signs.prospects = Prospects {
            slow_answers: Some(MS(97)),
            ..Prospects::default()
        }
        .into();
    });
}

fn faster(scenes: &mut Scenes) {
    let with = |timings: &Timings, millis, write| {
        let mut facts = timed(led_by("c"), timings);
        facts.signs.strain = Some(Box::new(wrote(write)));
        facts.peers = vec![echo(millis)];
        facts
    };
    let (lan, default, wan) = (Timings::lan(), Timings::default(), Timings::wan());
    // A round of a local network takes 20 ms, and twice the measured times have to fit.
    for (name, timings, echo, write) in [
        ("default", &default, 1, 8),
        ("default", &default, 1, 9),
        ("wan", &wan, 10, 0),
        ("wan", &wan, 30, 30),
        ("lan", &lan, 1, 0),
        ("astra", &Timings::astra(), 1, 0),
    ] {
        let what = format!("{name}, with an echo of {echo} ms and a write of {write} ms");
        scenes.add(&what, with(timings, echo, write), |_| ());
    }
    // A lease of a local network tolerates 89 ms.
    scenes.add(
        "default, with a stall of 46 ms",
        with(&default, 1, 0),
        |it| {
            it.signs.strain = Some(Box::new(stood_still(46)));
        },
    );
    scenes.add(
        "default, with a peer without an echo",
        with(&default, 1, 0),
        |it| {
            it.peers.push(peer("host-a"));
        },
    );
    scenes.add("default, without a network", with(&default, 1, 0), |it| {
        it.peers.clear();
    });
}

#[test]
fn with_a_network_the_preset_of_one_process_is_not_proposed() {
    let mut facts = quorum();
    facts.signs.strain = Some(Box::new(wrote(17)));
    facts.peers = vec![PeerReport {
        echo: Some(MS(3)),
        ..peer("host-c")
    }];
    let is_advised = |finding: &Finding| matches!(finding, Finding::WriteTooLong { advice, .. } if *advice == Some("Timings::default()"));
    assert!(facts.judge().iter().any(is_advised));
}

#[test]
fn a_measurement_is_the_longest_of_each_kind() {
    let mut facts = vacant();
    let mut gone = echo(400);
    gone.unlinked_for = Some(MS(1));
    facts.peers = vec![echo(3), echo(9), gone];
    let mut strain = stood_still(12);
    strain.note_write(MS(7));
    strain.note_stall(MS(5), NOW);
    facts.signs.strain = Some(Box::new(strain));
    let measured = Measurement {
        echo: MS(9),
        write: MS(7),
        stall: MS(12),
    };
    assert_eq!(facts.measured(), measured);
}
