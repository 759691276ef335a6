//! Hosts as processes of a test: each with its bridge, its agent and a store that outlives it, in virtual time.

use std::collections::BTreeMap;

use actix::clock::sleep;
use actix_bully::{
    agent::{BullyAgent, BullyHandle},
    elections::quorum::Vote,
    protocol::Timings,
    remote::{BridgeHandle, NodeIncarnation, transport::Pipes},
    store::TermStore as _,
    testkit::{KeptStore, Process, VirtualClock},
};

use super::kit::{MS, builder, group, others, patient, play, until};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// What one host has started.
struct Running {
    process: Process,
    agent: BullyHandle,
    bridge: BridgeHandle,
}

struct Hosts {
    pipes: Pipes,
    stores: BTreeMap<&'static str, KeptStore<Vote>>,
    running: BTreeMap<&'static str, Running>,
    starts: u64,
}

impl Hosts {
    fn start(&mut self, name: &'static str) {
        self.starts += 1;
        let store = self.stores.entry(name).or_default().clone();
        let process = Process::new();
        let (agent, bridge) = process.run(|| {
            let group = group();
            let bridge = builder(&self.pipes, name, &others(name))
                .incarnation(NodeIncarnation(1_000 + self.starts))
                .carry(&group)
                .start()
                .unwrap();
            let agent = BullyAgent::builder(name)
                .timings(Timings::lan())
                .quorum(NAMES)
                .restart_policy(patient())
                .clock(VirtualClock::new())
                .store(store)
                .join(&group);
            (agent.start().unwrap(), bridge)
        });
        let running = Running {
            process,
            agent,
            bridge,
        };
        self.running.insert(name, running);
    }

    fn leads(&self, name: &str) -> bool {
        let leaders = self
            .running
            .iter()
            .filter(|(_, host)| host.agent.is_leader());
        leaders.map(|(name, _)| *name).eq([name])
    }
}

#[test]
fn the_hosts_of_a_test_keep_their_votes_through_kills_and_freezes() {
    play(async {
        let mut hosts = Hosts {
            pipes: Pipes::new(),
            stores: BTreeMap::new(),
            running: BTreeMap::new(),
            starts: 0,
        };
        for name in NAMES {
            hosts.start(name);
        }
        until("c leads", || hosts.leads("c")).await;

        hosts.running["c"].process.kill();
        assert!(!hosts.running["c"].agent.is_leader());
        until("its connections are closed", || {
            hosts.pipes.connections("c", "a") == 0
        })
        .await;
        until("b leads", || hosts.leads("b")).await;
        let vote = hosts.stores["c"].load().unwrap();
        assert!(vote.is_some(), "the vote outlives the process");

        hosts.start("c");
        until("c follows b", || {
            let leader = hosts.running["c"].agent.leader();
            leader.is_some_and(|leader| leader.id.as_str() == "b")
        })
        .await;

        // The bridge stands still with the agent: peers hear nothing, and are told nothing.
        hosts.running["b"].process.freeze();
        let sent = hosts.running["b"].bridge.traffic().frames_out;
        until("c leads", || hosts.leads("c")).await;
        assert_eq!(hosts.running["b"].bridge.traffic().frames_out, sent);
        hosts.running["b"].process.resume();
        sleep(MS(500)).await;
        assert!(hosts.leads("c"));
    });
}
