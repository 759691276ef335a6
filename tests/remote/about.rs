//! What an agent says of itself, over links: to which incarnation it belongs.

use actix_bully::{
    agent::{BullyAgent, BullyHandle},
    protocol::{About, Incarnation, Timings},
    remote::{NodeIncarnation, transport::Pipes},
};
use futures::StreamExt;

use super::kit::{Host, MS, builder, scene, until};

/// A process of the node `b`, which is restarted: its agent leads, and says that, or nothing.
fn leading(pipes: &Pipes, process: u64, about: Option<&str>) -> (Host, BullyHandle) {
    let host = Host::with(|group| {
        let bridge = builder(pipes, "b", &["a"]);
        bridge.incarnation(NodeIncarnation(process)).carry(group)
    });
    let agent = BullyAgent::builder("b1").score(9).timings(Timings::lan());
    let agent = match about {
        Some(text) => agent.about(text),
        None => agent,
    };
    let agent = agent.join(&host.group).start().unwrap();
    (host, agent)
}

#[test]
fn what_a_process_said_is_not_said_of_the_next_process_of_its_name() {
    scene(async |pipes, _| {
        let mut a = Host::start(pipes, "a", &["b"]);
        let reader = a.agent("a1", 1);
        // Each status that names b1: its incarnation, and what it says there.
        let mut seen: Vec<(Incarnation, Option<About>)> = Vec::new();
        let mut changes = reader.changes();
        let mut said_by = Vec::new();
        for (process, about) in [(1_000, Some("old")), (2_000, None), (3_000, Some("new"))] {
            let (host, agent) = leading(pipes, process, about);
            until("it leads here as well", || a.follows("b1")).await;
            actix::clock::sleep(MS(500)).await;
            let expected = about.and_then(|text| About::new(text).ok());
            assert_eq!(reader.leader_about(), expected, "{process}");
            said_by.push((agent.current().incarnation, expected));
            while let Some(Some(status)) = futures::FutureExt::now_or_never(changes.next()) {
                if let Some(leader) = status.leader.filter(|leader| leader.id == "b1") {
                    seen.push((leader.incarnation, status.leader_about));
                }
            }
            host.stop().await;
            agent.addr().do_send(actix_bully::testkit::Inject::Stop);
            until("it is missed", || !a.follows("b1")).await;
        }
        seen.dedup();
        assert_eq!(seen, said_by);
    });
}
