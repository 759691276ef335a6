//! The length of a failover in virtual time: the time until every survivor knows the next leader, for each preset. The
//! end of the leader is either confirmed at once, or only its silence shows it.
//!
//! `cargo bench --bench failover` in this folder. Five agents, 200 seeds a row; delays up to half of the preset's
//! bound. The bench fails when a row exceeds its formula.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::quorum::QuorumConfig,
    protocol::{Time, Timings},
    testkit::faults::Conditions,
};
use actix_bully_benches::name;
use bully_core::{
    elections::{
        bully::{Bully, BullyConfig},
        quorum::QuorumBully,
    },
    protocol::Election,
};
use bully_sim::sim::{Detection, Participant, World};

const AGENTS: u32 = 5;

fn main() {
    let seeds = if std::env::args().any(|arg| arg == "--test") {
        5
    } else {
        200
    };
    println!(
        "{:<11} {:<10} {:<8} {:>9} {:>9} {:>9} {:>9}",
        "preset", "mode", "end", "p50 ms", "p99 ms", "most ms", "bound ms"
    );
    let presets = [
        ("default", Timings::default()),
        ("lan", Timings::lan()),
        ("fast", Timings::fast()),
        ("wan", Timings::wan()),
        ("in_process", Timings::in_process()),
    ];
    for (preset, timings) in &presets {
        let config = BullyConfig {
            timings: timings.clone(),
            ..BullyConfig::default()
        };
        let bound = timings.worst_case_failover(0).expect("a detector");
        rows::<Bully>(
            preset,
            "available",
            &Arc::new(config),
            timings,
            bound,
            seeds,
        );
        let voters = (1..=AGENTS).map(name);
        let config = QuorumConfig {
            timings: timings.clone(),
            ..QuorumConfig::new(voters)
        };
        let bound = timings.worst_case_quorum_failover(0);
        rows::<QuorumBully>(preset, "quorum", &Arc::new(config), timings, bound, seeds);
    }
}

fn rows<E: Election>(
    preset: &str,
    mode: &str,
    config: &E::Config,
    timings: &Timings,
    bound: Duration,
    seeds: u64,
) {
    let ends = [
        ("certain", Detection::Certain(Duration::ZERO.into())),
        ("silent", Detection::Silent(Duration::ZERO.into())),
    ];
    for (end, detection) in ends {
        let mut took: Vec<Duration> = (0..seeds)
            .map(|seed| fail_over::<E>(seed, config, timings, detection))
            .collect();
        took.sort();
        let at = |percent| millis(took[(took.len() - 1) * percent / 100]);
        println!(
            "{preset:<11} {mode:<10} {end:<8} {:>9.1} {:>9.1} {:>9.1} {:>9.1}",
            at(50),
            at(99),
            at(100),
            millis(bound)
        );
        assert!(
            took.iter().all(|took| *took <= bound),
            "{preset} {mode} {end}: over the bound"
        );
    }
}

fn fail_over<E: Election>(
    seed: u64,
    config: &E::Config,
    timings: &Timings,
    detection: Detection,
) -> Duration {
    let delays = Conditions::builder()
        .delay(Duration::ZERO..=timings.delay_bound() / 2)
        .build();
    let agents = (1..=AGENTS).map(|k| Participant::voter(name(k), Some(k.into()), config.clone()));
    let mut world: World<E> = World::builder(seed)
        .agents(agents)
        .conditions(delays.expect("a range"))
        .detection(detection)
        .build();
    let calm = Duration::from_secs(60);
    world.settle(calm).expect("they elect");
    world.run_for(Duration::from_millis(seed * 7)); // at any moment between two heartbeats
    world.crash(name(AGENTS));
    let began: Time = world.now();
    let next = name(AGENTS - 1);
    let told = world.run_until(
        |world| {
            (1..AGENTS).all(|k| {
                let view = world.view(name(k));
                view.is_some_and(|v| v.leader.is_some_and(|l| l.id == next))
            }) && world.believers() == [next.clone()]
        },
        calm,
    );
    assert!(told, "seed {seed}: no agent follows");
    world.now().since(began)
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
