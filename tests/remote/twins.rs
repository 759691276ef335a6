//! Two processes of one node name, in the mode in which each side of a partition has a leader.

use actix::clock::{Instant, sleep};
use actix_bully::{agent::Finding, protocol::Timings, remote::transport::Pipes};

use super::kit::{Host, MS, elsewhere, others, scene, until};

/// Whether the agent of this host finds, from the answers of both peers, that its node name is given twice.
fn says_twice(host: &Host) -> bool {
    let is_twice = |of| move |finding: &Finding| matches!(finding, Finding::NodeNameTwice { node, .. } if node == of);
    host.finds(is_twice("b")) && host.finds(is_twice("c"))
}

fn three(pipes: &Pipes) -> [Host; 3] {
    ["a", "b", "c"].map(|name| {
        let mut host = Host::start(pipes, name, &others(name));
        host.agent(&format!("{name}1"), if name == "a" { 9 } else { 1 });
        host
    })
}

#[test]
fn the_earlier_of_two_processes_of_the_leaders_name_steps_down_and_takes_part_again_after_the_later_one()
 {
    scene(async |pipes, _| {
        let [a, b, c] = three(pipes);
        until("a1 leads", || {
            a.agents[0].is_leader() && b.follows("a1") && c.follows("a1")
        })
        .await;
        let first = b.agents[0].leader().unwrap().incarnation;

        let mut later = Host::with(|group| elsewhere(pipes, "a", &["b", "c"]).carry(group));
        later.agent("a1", 9);
        until("the later one leads, and alone", || {
            let followed = |host: &Host| {
                let leader = host.agents[0].leader();
                leader
                    .is_some_and(|leader| leader.id.as_str() == "a1" && leader.incarnation > first)
            };
            let leads = later.agents[0].is_leader() && !a.agents[0].is_leader();
            leads && followed(&b) && followed(&c)
        })
        .await;
        assert!(a.bridge.counters().get("goodbye") > Some(0));
        for _ in 0..5_000 {
            sleep(MS(1)).await;
            assert!(later.agents[0].is_leader() && !a.agents[0].is_leader());
        }
        assert!(says_twice(&a));
        assert!(says_twice(&later), "{}", later.agents[0].diagnosis());
        assert!(a.agents[0].leader().is_none(), "so its health is red");

        // The later process ends. Then the earlier process is heard again, and its agent has the highest rank.
        let ended = Instant::now();
        later.stop().await;
        until("the earlier one leads again", || {
            a.agents[0].is_leader() && b.follows("a1") && c.follows("a1")
        })
        .await;
        let detection = Timings::lan().detector().unwrap().detection;
        assert!(ended.elapsed() < detection, "{:?}", ended.elapsed());
        let is_twice = |finding: &Finding| matches!(finding, Finding::NodeNameTwice { .. });
        assert!(!a.finds(is_twice));
    });
}
