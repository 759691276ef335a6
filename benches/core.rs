//! One step of the pure core: nanoseconds, and allocations.
//!
//! `cargo bench --bench core` in this folder.

use std::{hint::black_box, time::Duration};

use actix_bully::{
    elections::{bully::Elected, quorum::QuorumConfig},
    protocol::{AgentId, Incarnation, Term, Time, Timings},
};
use actix_bully_benches::{group, name, started};
use bully_core::{
    elections::{
        bully::{BullyMessage, BullyTimer, Heartbeat},
        quorum::QuorumBully,
    },
    protocol::{Effect, Effects, Election, Input},
};
use bully_sim::sim::{Participant, World};
use criterion::{Criterion, criterion_group, criterion_main};

const N: u32 = 100;
const BEAT: u64 = 180;

/// A leader sends a heartbeat to all; the list of effects is taken out, as a driver does.
fn heartbeat_sent(c: &mut Criterion) {
    let (mut leader, mut out) = started(N, &group(N));
    out.drain().for_each(drop);
    let mut at = 0;
    let mut step = move || {
        at += BEAT;
        leader.handle(
            Time::from_millis(at),
            Input::TimedOut(BullyTimer::Heartbeat),
            &mut out,
        );
        assert_eq!(out.drain().map(black_box).count(), 2);
    };
    report_allocations("heartbeat sent", &mut step);
    c.bench_function("core/heartbeat sent", |b| b.iter(&mut step));
}

/// A follower hears its leader.
fn heartbeat_received(c: &mut Criterion) {
    let (mut follower, mut out) = started(1, &group(N));
    out.drain().for_each(drop);
    let (from, incarnation, term, score) = (name(N), Incarnation(1), Term(1), N.into());
    let elected = BullyMessage::Elected(Elected {
        term,
        score,
        ..Elected::default()
    });
    let first = Input::Received {
        from: from.clone(),
        incarnation,
        message: elected,
    };
    follower.handle(Time::ZERO, first, &mut out);
    out.drain().for_each(drop);
    let mut at = 0;
    let mut step = move || {
        at += BEAT;
        let message = BullyMessage::Heartbeat(Heartbeat {
            term,
            score,
            ..Heartbeat::default()
        });
        let input = Input::Received {
            from: from.clone(),
            incarnation,
            message,
        };
        follower.handle(Time::from_millis(at), black_box(input), &mut out);
        assert_eq!(out.drain().map(black_box).count(), 1);
    };
    report_allocations("heartbeat received", &mut step);
    c.bench_function("core/heartbeat received", |b| b.iter(&mut step));
}

/// All steps of one survivor after a leader's crash in a group of 100, until it follows again.
fn failover_step(c: &mut Criterion) {
    let members = group(N);
    let mut after = (*members).clone();
    after.down(&name(N), Incarnation(1));
    let after = std::sync::Arc::new(after);
    let (mut follower, mut out) = started(1, &members);
    let elected = |k: u32, term| Input::Received {
        from: name(k),
        incarnation: Incarnation(1),
        message: BullyMessage::Elected(Elected {
            term: Term(term),
            score: k.into(),
            ..Elected::default()
        }),
    };
    follower.handle(Time::ZERO, elected(N, 1), &mut out);
    out.drain().for_each(drop);
    let (from, to) = (
        elected(N - 1, 2),
        Input::Members(std::sync::Arc::clone(&after)),
    );
    c.bench_function("core/survivor of a leader", |b| {
        b.iter_batched_ref(
            || (follower.clone(), Effects::new(), from.clone(), to.clone()),
            |(follower, out, from, to)| {
                follower.handle(Time::from_millis(1), to.clone(), out);
                follower.handle(Time::from_millis(1), from.clone(), out);
                out.drain().map(black_box).count()
            },
            criterion::BatchSize::SmallInput,
        );
    });
}

/// Quorum mode, three voters: the leader sends a heartbeat, a follower acknowledges it, and the
/// leader extends its lease.
fn quorum_round(c: &mut Criterion) {
    let ids = [1, 2, 3].map(name);
    let config = QuorumConfig {
        timings: Timings::lan(),
        ..QuorumConfig::new(ids.clone())
    };
    let config = std::sync::Arc::new(config);
    let voter = |(id, score): (_, i32)| Participant::voter(id, Some(score.into()), config.clone());
    let mut world: World<QuorumBully> = World::builder(1)
        .agents(ids.clone().into_iter().zip(1..).map(voter))
        .build();
    world.settle(Duration::from_secs(5)).expect("they elect");
    let machine = |id| world.machine(id).expect("it runs").clone();
    let (mut leader, mut follower) = (machine(&ids[2]), machine(&ids[0]));
    let (mut out, mut answer) = (Effects::new(), Effects::new());
    let mut at = world.now();
    let from = |id: &AgentId, message| Input::Received {
        from: id.clone(),
        incarnation: Incarnation(1),
        message,
    };
    c.bench_function("core/quorum heartbeat, sent, received, acknowledged", |b| {
        b.iter(|| {
            at = at.after(Duration::from_millis(60));
            leader.handle(at, Input::TimedOut(BullyTimer::Heartbeat), &mut out);
            for effect in out.drain() {
                if let Effect::Send { message, .. } = effect {
                    follower.handle(at, from(&ids[2], message), &mut answer);
                }
            }
            let mut acks = 0;
            for effect in answer.drain() {
                if let Effect::Send { message, .. } = effect {
                    acks += 1;
                    leader.handle(at, from(&ids[0], message), &mut out);
                }
            }
            assert_eq!(acks, 1);
            out.drain().map(black_box).count()
        });
    });
}

fn report_allocations(what: &str, step: &mut impl FnMut()) {
    step();
    let counted = allocation_counter::measure(|| (0..1_000).for_each(|_| step()));
    println!(
        "core/{what}: {} allocations in 1,000 steps",
        counted.count_total
    );
    assert_eq!(counted.count_total, 0, "a steady step allocates nothing");
}

criterion_group!(
    benches,
    heartbeat_sent,
    heartbeat_received,
    failover_step,
    quorum_round
);
criterion_main!(benches);
