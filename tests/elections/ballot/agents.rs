//! `Agent<Ballot>` on a System in virtual time, with stores that outlast a crash.

use std::{sync::Arc, time::Duration};

use actix::clock::{sleep, timeout};
use actix_bully::{
    agent::{Agent, ElectionHandle, StartError},
    elections::ballot::{Ballot, BallotConfig},
    group::Group,
    protocol::{Term, Timings},
    store::{FileStore, MemoryStore, StoreIdentity, TermStore},
    testkit::{Inject, cluster::Cluster},
};
use bully_classics::ballot::{BallotMessage, BallotNumber, BallotRecord, Resign};
use bully_core::protocol::MembershipError;

use crate::ballot::{
    common::virtual_system,
    kit::{id, ms},
    strangers,
};

const VOTERS: [&str; 3] = ["a", "b", "c"];

fn rules() -> Arc<BallotConfig> {
    let config = BallotConfig {
        timings: Timings::lan(),
        ..BallotConfig::new(VOTERS.map(id))
    };
    Arc::new(config)
}

fn start(
    name: &str,
    group: &Group<BallotMessage>,
    store: impl TermStore<BallotRecord> + 'static,
) -> ElectionHandle<Ballot> {
    let number = name.bytes().next().map_or(0, u32::from);
    let agent = Agent::<Ballot>::with_config(name, rules()).score(number);
    agent.store(store).join(group).start().unwrap()
}

/// Waits until exactly this one leads.
async fn leads(agents: &[ElectionHandle<Ballot>], name: &str) -> Term {
    agreed(agents, |leader| leader == name)
        .await
        .unwrap_or_else(|| panic!("{name} does not lead"))
}

/// Waits until an agent that fits leads and all follow it.
async fn agreed(agents: &[ElectionHandle<Ballot>], fits: impl Fn(&str) -> bool) -> Option<Term> {
    let found = timeout(Duration::from_secs(60), async {
        loop {
            sleep(ms(1)).await;
            let Some(leader) = agents.iter().find(|agent| agent.is_leader()) else {
                continue;
            };
            let follow = |agent: &ElectionHandle<Ballot>| agent.leader() == leader.leader();
            if fits(leader.id().as_str()) && agents.iter().all(follow) {
                return leader.leader().unwrap().term;
            }
        }
    });
    found.await.ok()
}

/// Scenario 41: its next incarnation stands with a larger ballot.
#[test]
fn a_leader_that_crashed_comes_back_and_leads_by_a_larger_ballot() {
    virtual_system().block_on(async {
        let group = Group::new("ballots").unwrap();
        let stores = VOTERS.map(|_| Arc::new(MemoryStore::new()));
        let agents: Vec<_> = VOTERS
            .iter()
            .zip(&stores)
            .map(|(name, store)| start(name, &group, Arc::clone(store)))
            .collect();
        assert_eq!(leads(&agents, "c").await, Term(1));
        let first = stores[2].record().unwrap();
        assert_eq!((first.n, first.max.unwrap().n), (1, 1));

        agents[2].addr().do_send(Inject::Crash);
        assert_eq!(
            leads(&agents, "b").await,
            Term(2),
            "the supervisor restarts c, which follows"
        );
        agents[2].campaign().unwrap();
        assert_eq!(leads(&agents, "c").await, Term(3));
        let last = stores[2].record().unwrap();
        assert_eq!((last.n, last.max.unwrap().n), (3, 3));
    });
}

/// All hosts go down: the ballots are in files.
#[test]
fn a_group_that_went_down_as_a_whole_goes_on_above_its_ballots() {
    let folder = tempfile::tempdir().unwrap();
    let identity = |name: &str| StoreIdentity {
        cluster: id("test"),
        group: id("ballots"),
        node: id(name),
    };
    let path = |name: &str| folder.path().join(name);
    for name in VOTERS {
        drop(FileStore::<BallotRecord>::create(path(name), identity(name)).unwrap());
    }
    let mut last = Term::ZERO;
    for _ in 0..3 {
        last = virtual_system().block_on(async {
            let group = Group::new("ballots").unwrap();
            let open = |name| FileStore::<BallotRecord>::open(path(name), identity(name)).unwrap();
            let agents = VOTERS.map(|name| start(name, &group, open(name)));
            // Whose file is written first has the first round, so any of them may lead.
            let term = agreed(&agents, |_| true).await.unwrap();
            assert!(term > last, "{term} after {last}");
            term
        });
    }
}

#[test]
fn a_leader_leaves_and_the_next_takes_over() {
    virtual_system().block_on(async {
        let group = Group::new("ballots").unwrap();
        let mut agents = VOTERS
            .map(|name| start(name, &group, MemoryStore::new()))
            .to_vec();
        leads(&agents, "c").await;
        let leaver = agents.pop().unwrap();
        let began = actix::clock::Instant::now();
        leaver.leave(ms(500)).await.unwrap();
        assert!(!leaver.is_leader());
        leads(&agents, "b").await;
        let round = rules().round();
        assert!(began.elapsed() <= round + ms(20), "{:?}", began.elapsed());
    });
}

#[test]
fn what_it_needs_is_asked_for() {
    virtual_system().block_on(async {
        let group = Group::new("ballots").unwrap();
        let builder = |name: &str| Agent::<Ballot>::with_config(name, rules()).join(&group);
        let forgetful = builder("a").start().unwrap_err();
        assert!(matches!(forgetful, StartError::NoStore));
        let stranger = builder("x").store(MemoryStore::new()).start().unwrap_err();
        let unlisted = matches!(
            stranger,
            StartError::Membership(MembershipError::NotListed { .. })
        );
        assert!(unlisted);
        assert!(group.members().is_empty(), "a refusal changes nothing");
    });
}

#[test]
fn s27_messages_of_strangers_and_former_incarnations_are_counted_and_dropped() {
    virtual_system().block_on(async {
        let names = (1..=5).map(strangers::id);
        let config = BallotConfig {
            timings: Timings::lan(),
            ..BallotConfig::new(names)
        };
        let builder = Cluster::<Ballot>::with_config(Arc::new(config));
        let mut cluster = builder.agents(5).needs_voters(3).start().unwrap();
        let resign = || {
            let ballot = BallotNumber {
                n: 1,
                score: 5.into(),
                id: strangers::id(5),
            };
            let successor = None;
            Resign { ballot, successor }.into()
        };
        strangers::are_dropped(&mut cluster, resign).await;
    });
}
