//! What holds when the network is slower than the stated delay bound, but 2 delays are still under
//! the deadline: leaders may change more often than they should; in the end there is one.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{sync::Arc, time::Duration};

use actix_bully::{
    protocol::{AgentId, Timings},
    testkit::faults::Conditions,
};
use bully_core::elections::bully::{Bully, BullyConfig};
use bully_sim::sim::{Detection, Participant, World};

fn world(delay: Duration, detection: Detection) -> World<Bully> {
    let config = Arc::new(BullyConfig {
        timings: Timings::lan(),
        ..BullyConfig::default()
    });
    let agents = (1..=5).map(|k| {
        let id: AgentId = format!("agent-{k}").parse().unwrap();
        Participant::voter(id, Some(k.into()), Arc::clone(&config))
    });
    World::builder(7)
        .agents(agents)
        .conditions(Conditions::delayed(delay))
        .detection(detection)
        .build()
}

#[test]
fn delays_over_the_bound_still_end_with_the_highest() {
    let bound = Timings::lan().delay_bound();
    let detections = [
        Detection::Certain(bound.into()),
        Detection::Suspect(bound.into()),
        Detection::Silent(bound.into()),
    ];
    for detection in detections {
        for percent in [100, 105, 110, 125, 150, 200, 300, 500, 900] {
            let mut world = world(bound * percent / 100, detection);
            let calm = Duration::from_secs(10);
            world
                .settle(calm)
                .unwrap_or_else(|e| panic!("start, {percent} %, {detection:?}: {e:?}"));
            world.crash("agent-5");
            world
                .settle(calm)
                .unwrap_or_else(|e| panic!("crash, {percent} %, {detection:?}: {e:?}"));
            world.restart("agent-5");
            let leader = world
                .settle(calm)
                .unwrap_or_else(|e| panic!("return, {percent} %, {detection:?}: {e:?}"));
            assert_eq!(leader.as_str(), "agent-5", "{percent} %, {detection:?}");
        }
    }
}
