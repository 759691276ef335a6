//! In every mode a group without a leader reports this: in the log at intervals, and in the diagnosis.

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyBuilder},
    store::MemoryStore,
    testkit::VirtualClock,
};
use tracing::Level;

use crate::{logs::logged, stage::MS, store::Store};

/// Asserts that an agent that is alone in its group reports for two minutes why no agent leads.
fn says(mode: &str, why: &str, set: impl FnOnce(BullyBuilder) -> BullyBuilder) {
    logged(Level::WARN, async |lines| {
        let agent = BullyAgent::builder("a").clock(VirtualClock::new());
        let group = Group::new("jobs").unwrap();
        let agent = set(agent).join(&group).start().unwrap();
        clock::sleep(MS(60_000)).await;
        let said = lines.about("no leader for");
        assert!(!said.is_empty(), "{mode}: none leads for a minute");
        clock::sleep(MS(60_000)).await;
        let said = lines.about("no leader for");
        assert_eq!(said.len(), 6, "{mode}: every ten seconds: {said:#?}");
        let explains = |line: &String| line.contains("WARN") && line.contains(why);
        assert!(said.iter().all(explains), "{mode}: {said:#?}");

        let diagnosis = agent.diagnosis();
        assert_eq!(diagnosis.leader, None, "{mode}");
        let span = diagnosis.leaderless_for.unwrap();
        assert!(span >= MS(119_000), "{mode}: {span:?}");
        let text = diagnosis.to_string();
        assert!(
            text.starts_with("a has known no leader of jobs for 120.0 s"),
            "{text}"
        );
        assert!(text.contains(why), "{mode}: {text}");
    });
}

const NONE: &str = "no voter that can be reached has a score: give one of them a score";
const ALONE: &str = "1 of 3 voters can be reached, and 2 are needed: start b, c";

#[test]
fn a_group_without_a_leader_says_why_in_each_mode() {
    let names = ["a", "b", "c"];
    let unasked = "an agent has to be asked for an election: call campaign()";
    says("available", NONE, BullyBuilder::ineligible);
    says("astra", unasked, |agent| agent.astra().score(1));
    says("astra", NONE, |agent| agent.astra().ineligible());
    says("quorum", ALONE, |agent| {
        agent.score(1).quorum(names).store(MemoryStore::new())
    });
    says("diskless", ALONE, |agent| {
        agent.score(1).quorum(names).diskless()
    });
    let store = Store::default();
    store.cut(true);
    says("lease", "has been out of reach for", |agent| {
        agent.score(1).lease(store)
    });
    says("lease", "has no score", |agent| {
        agent.lease(Store::default()).ineligible()
    });
}
