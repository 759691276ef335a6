//! The log lines about leaders that operators read: their levels and their number.

use std::sync::Arc;

use actix::{Actor, clock};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    store::{FileStore, MemoryStore, StoreIdentity},
    testkit::{FaultyStore, Inject, VirtualClock},
};
use tracing::Level;
use tracing_subscriber::{Registry, filter::Targets, fmt, layer::SubscriberExt as _};

use crate::{
    logging::{self, Lines},
    stage::{MS, Scribe, VOTERS, play, three, voter},
};

/// Plays a scene that reads the log up to this level.
pub(crate) fn logged(level: Level, scene: impl AsyncFnOnce(Lines)) {
    logging::logged(level, |lines| play(scene(lines)));
}

/// The machines are in another crate, but they log under the crate name that a user filters for.
#[test]
fn a_filter_by_the_name_of_the_crate_shows_the_elections_too() {
    logging::beside_others();
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = Registry::default()
        .with(
            fmt::layer()
                .with_writer(move || writer.clone())
                .with_ansi(false),
        )
        .with(Targets::new().with_target("actix_bully", Level::DEBUG));
    tracing::subscriber::with_default(subscriber, || {
        play(async {
            let group = Group::new("jobs").unwrap();
            let agent = BullyAgent::builder("a").score(1).join(&group).quorum(["a"]);
            let agent = agent.clock(VirtualClock::new()).store(MemoryStore::new());
            let agent = agent.start().unwrap();
            clock::sleep(MS(10_000)).await;
            drop(agent);
        });
    });
    let begun = lines.about("election begins");
    assert!(!begun.is_empty(), "the core says when an election begins");
    assert!(
        begun.iter().all(|line| line.contains(" actix_bully: ")),
        "{begun:?}"
    );
}

#[test]
fn every_agent_says_once_per_change_which_one_leads() {
    logged(Level::INFO, async |lines| {
        let agents = three(&Group::new("jobs").unwrap());
        clock::sleep(MS(1_000)).await;
        assert_eq!(
            lines.about("lead"),
            [
                "INFO bully.agent{node=a group=\"jobs\"}: leader followed leader=c term=1",
                "INFO bully.agent{node=b group=\"jobs\"}: leader followed leader=c term=1",
                "INFO bully.agent{node=c group=\"jobs\"}: leadership acquired term=1",
            ]
        );
        clock::sleep(MS(60_000)).await;
        assert!(
            lines.about("lead").is_empty(),
            "a leader that stays is no news"
        );
        drop(agents);
    });
}

#[test]
fn a_leader_that_crashes_logs_the_loss_and_one_that_hands_over_no_warning() {
    logged(Level::INFO, async |lines| {
        let agents = three(&Group::new("jobs").unwrap());
        clock::sleep(MS(1_000)).await;
        lines.about("lead");
        agents[2].addr().do_send(Inject::Crash);
        clock::sleep(MS(50)).await;
        let crashed = lines.about("lead");
        let lost = "WARN bully.agent{node=c group=\"jobs\"}: leadership lost term=1 reason=ended";
        assert_eq!(
            crashed.iter().filter(|line| *line == lost).count(),
            1,
            "{crashed:#?}"
        );
        let next = "INFO bully.agent{node=a group=\"jobs\"}: leader followed leader=b term=2";
        assert_eq!(
            crashed.iter().filter(|line| *line == next).count(),
            1,
            "{crashed:#?}"
        );

        clock::sleep(MS(5_000)).await; // c leads again
        lines.about("lead");
        agents[2].step_down(None).unwrap();
        clock::sleep(MS(1_000)).await;
        let resigned = lines.about("lead");
        assert!(
            resigned.iter().all(|line| line.starts_with("INFO")),
            "{resigned:#?}"
        );
        let own = "INFO bully.agent{node=c group=\"jobs\"}: ";
        for line in [
            "leader drains term=3",
            "leadership lost term=3 reason=resigned",
        ] {
            assert!(resigned.contains(&format!("{own}{line}")), "{resigned:#?}");
        }
    });
}

#[test]
fn a_leadership_that_runs_out_is_logged_though_its_agent_hangs() {
    logged(Level::WARN, async |lines| {
        let agents = three(&Group::new("jobs").unwrap());
        let heard = Scribe(<_>::default());
        let heard = heard.start();
        agents[2].subscribe(heard.recipient()).unwrap();
        clock::sleep(MS(1_000)).await;
        agents[2]
            .addr()
            .do_send(Inject::hang(clock::sleep(MS(5_000))));
        clock::sleep(MS(4_000)).await;
        assert_eq!(
            lines.about("lead"),
            ["WARN bully.agent{node=c group=\"jobs\"}: leadership lost term=1 reason=stalled"]
        );
    });
}

/// The wait is known before the start. Each incarnation logs the wait once, and a restart within the process begins a
/// new incarnation.
#[test]
fn a_voter_without_a_record_says_how_long_it_abstains() {
    logged(Level::INFO, async |lines| {
        let group = Group::new("jobs").unwrap();
        let agent = BullyAgent::builder("a").quorum(["a"]).diskless();
        assert!(agent.worst_case_start().unwrap() > MS(1_250));
        let agent = agent
            .clock(VirtualClock::new())
            .join(&group)
            .start()
            .unwrap();
        clock::sleep(MS(60_000)).await;
        let said =
            ["INFO bully.agent{node=a group=\"jobs\"}: abstains for 1.2 s, since it has no record"];
        assert_eq!(lines.about("abstains"), said);
        assert!(agent.is_leader());
        agent.addr().do_send(Inject::Crash);
        clock::sleep(MS(60_000)).await;
        assert_eq!(lines.about("abstains"), said);
    });
}

/// While an agent saves a record it does nothing else, and its timers wait too.
#[test]
fn an_agent_whose_store_hangs_says_so_every_ten_seconds() {
    logged(Level::WARN, async |lines| {
        let group = Group::new("jobs").unwrap();
        let store = Arc::new(FaultyStore::new(MemoryStore::new()));
        store.hold();
        let agent = BullyAgent::builder("a").score(1).quorum(["a"]);
        let agent = agent.clock(VirtualClock::new()).store(Arc::clone(&store));
        let agent = agent.join(&group).start().unwrap();
        clock::sleep(MS(4_149)).await;
        assert!(
            lines.about("lead").is_empty(),
            "an election may take so long"
        );
        clock::sleep(MS(2)).await;
        let is_told = |line: &String, seconds: &str| {
            let said = format!(
                "WARN bully.agent{{node=a group=\"jobs\"}}: no leader for {seconds} s: a record has been on its way to the store for"
            );
            line.starts_with(&said) && line.contains("the disk is too slow or hangs")
        };
        let first = lines.about("lead");
        assert!(first.len() == 1 && is_told(&first[0], "4.2"), "{first:#?}");
        clock::sleep(MS(10_000)).await;
        let next = lines.about("lead");
        assert!(next.len() == 1 && is_told(&next[0], "14.2"), "{next:#?}");
        clock::sleep(MS(60_000)).await;
        assert_eq!(lines.about("lead").len(), 6);

        store.release();
        clock::sleep(MS(60_000)).await;
        // The agent had won at once, but its lease had expired before the record was durable.
        let lost =
            "WARN bully.agent{node=a group=\"jobs\"}: leadership lost term=1 reason=lease expired";
        assert_eq!(lines.about("lead"), [lost]);
        assert!(agent.is_leader(), "it has won again");
    });
}

/// Both agents were asked to vote for the successor, and the record of the vote never becomes durable. So neither
/// agent learns of the end of the leader.
#[test]
fn stores_that_hang_while_a_leader_is_known_are_told_as_well() {
    logged(Level::WARN, async |lines| {
        let group = Group::new("jobs").unwrap();
        let stores = VOTERS.map(|_| Arc::new(FaultyStore::new(MemoryStore::new())));
        let start = |(name, store): (_, &Arc<_>)| {
            let agent = voter(&group, name, VOTERS).store(Arc::clone(store));
            agent.start().unwrap()
        };
        let agents: Vec<_> = VOTERS.into_iter().zip(&stores).map(start).collect();
        clock::sleep(MS(5_000)).await;
        assert!(agents[2].is_leader());
        for store in &stores {
            store.hold();
        }
        lines.about("lead");
        agents[2].leave(MS(1_000)).await.unwrap();
        clock::sleep(MS(30_000)).await;
        let told = lines.about("store");
        for name in ["a", "b"] {
            let beginning = format!(
                "WARN bully.agent{{node={name} group=\"jobs\"}}: no messages are received or sent: a record has been on its way"
            );
            let of = told.iter().filter(|line| line.starts_with(&beginning));
            assert_eq!(of.count(), 3, "{name}: {told:#?}");
        }
    });
}

fn three_voters(group: &Group, epoch: u64, names: [&str; 3]) -> [BullyHandle; 3] {
    names.map(|name| voter(group, name, names).epoch(epoch).start().unwrap())
}

/// Each epoch has a leader, so no agent reports that it has no leader.
#[test]
fn a_leader_warns_of_agents_of_another_configured_epoch_and_not_of_a_decided_one() {
    logged(Level::WARN, async |lines| {
        let group = Group::new("jobs").unwrap();
        let older = three_voters(&group, 1, ["a", "b", "c"]);
        clock::sleep(MS(15_000)).await;
        assert!(older[2].is_leader());
        let changed = older[0].remove_voter(older[1].id().clone(), MS(5_000));
        assert_eq!(changed.await.unwrap().epoch, 2);
        clock::sleep(MS(15_000)).await;
        assert_eq!(lines.about("epoch"), [""; 0], "all have learned of it");

        let newer = three_voters(&group, 3, ["d", "e", "f"]);
        clock::sleep(MS(8_000)).await;
        assert!(newer[2].is_leader());
        assert_eq!(lines.about("epoch"), [""; 0], "it may be learned of");
        clock::sleep(MS(10_000)).await;
        let told = lines.about("epoch");
        for (line, name) in told.iter().zip(["a", "b", "c"]) {
            let said = format!(
                "WARN bully.agent{{node=f group=\"jobs\"}}: {name} has epoch 2 of the voters, which is over, and this agent has epoch 3: if this lasts"
            );
            assert!(line.starts_with(&said), "{line}");
        }
        assert_eq!(told.len(), 3, "{told:#?}");
    });
}

#[test]
fn a_store_that_is_made_is_warned_of_and_one_that_is_opened_again_is_not() {
    logged(Level::WARN, async |lines| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs");
        let name = || "a".parse().unwrap();
        let identity = || StoreIdentity {
            cluster: name(),
            group: name(),
            node: name(),
        };
        drop(FileStore::<u64>::open_or_create(&path, identity()).unwrap());
        let told = lines.about("store created: this node has kept nothing in it before");
        assert!(told.len() == 1 && told[0].contains("node=a"), "{told:?}");
        drop(FileStore::<u64>::open_or_create(&path, identity()).unwrap());
        assert_eq!(lines.about("store"), [""; 0]);
    });
}
