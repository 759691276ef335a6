//! Stores of voters: a voter that lost its store comes back to hosts that know the old store. A voter also needs a
//! store for the marks of schedules.

use std::{fs, path::Path};

use actix::clock::sleep;
use actix_bully::{
    agent::Finding,
    leader::schedule::{ScheduleError, ScheduleRecord, Tick},
    remote::{Limits, NodeIncarnation},
    store::FileStore,
};

use super::{
    kit::{Host, MS, builder, elsewhere, identity, others, scene, until},
    voters::{all_follow_alone, believer, elected, host, of_epoch},
};

/// Whether the agent of this host reports that the voter has voted with another store.
fn tells_of(host: &Host, voter: &str) -> bool {
    host.finds(|finding| matches!(finding, Finding::OtherStore { voter: of, kept, found, .. } if of.as_str() == voter && kept != found))
}

#[test]
fn a_voter_with_another_store_is_refused_by_the_leader_and_both_say_so() {
    scene(async |pipes, folder| {
        let [a, b, c] = elected(pipes, folder).await;
        a.stop().await;
        fs::remove_file(folder.join("a1")).unwrap();
        let a = host(pipes, "a", 2_000, folder);
        // The leader has heard acknowledgements of this voter with the old store.
        until("both say so", || {
            [&a, &c].iter().all(|host| tells_of(host, "a1"))
        })
        .await;
        let said = a.agents[0].diagnosis().to_string();
        assert!(
            said.contains("a1 has voted with another store") && said.contains("raise the epoch"),
            "{said}"
        );
        // The voter with the new store does not count. Without `b1`, `c1` leads no more, and no other agent leads.
        assert_eq!(believer(&[&a, &b, &c]).as_deref(), Some("c1"));
        b.stop().await;
        until("c1 leads no more", || believer(&[&a, &c]).is_none()).await;
        for _ in 0..2_000 {
            sleep(MS(10)).await;
            assert_eq!(believer(&[&a, &c]), None);
        }
    });
}

/// `a1` has heard no message of the other follower, so the later process is the first process of `b1` that `a1` hears.
#[test]
fn a_later_process_with_another_store_is_told_of_while_it_is_there_and_a_restart_of_the_earlier_one_is_enough()
 {
    scene(async |pipes, folder| {
        let start = |name, incarnation, folder: &Path| {
            let limits = Limits::builder().forget(MS(5_000)).build().unwrap();
            let bridge = builder(pipes, name, &others(name)).limits(limits);
            let bridge = bridge.incarnation(NodeIncarnation(incarnation));
            Host::of_voter(bridge, folder, of_epoch(0))
        };
        let [a, b, c] = ["a", "b", "c"].map(|name| start(name, 1_000, folder));
        all_follow_alone(&[&a, &b, &c], "c1").await;
        let folder_of_later = tempfile::tempdir().unwrap();
        let later = elsewhere(pipes, "b", &["a", "c"]);
        let later = Host::of_voter(later, folder_of_later.path(), of_epoch(0));
        until("the leader says so", || tells_of(&c, "b1")).await;
        assert!(!tells_of(&a, "b1"));
        later.stop().await;
        until("it is gone, and c says so no more", || !tells_of(&c, "b1")).await;

        until("the earlier process takes part again", || {
            b.is_linked("a") && b.is_linked("c") && b.follows("c1")
        })
        .await;
        c.stop().await;
        until("a does not hear it", || tells_of(&a, "b1")).await;
        let said = a.agents[0].diagnosis().to_string();
        assert!(
            said.contains("a later process with its name was here") && !said.contains("has voted"),
            "{said}"
        );
        b.stop().await;
        let b = start("b", 3_000, folder);
        until("one leads", || believer(&[&a, &b]).is_some()).await;
        assert!(!tells_of(&a, "b1") && !tells_of(&b, "b1"));
    });
}

#[test]
fn a_voter_of_several_hosts_has_to_store_the_marks_that_it_acknowledges() {
    scene(async |pipes, folder| {
        let host = host(pipes, "a", 1_000, folder);
        let agent = &host.agents[0];
        let nothing = |_: Tick| async {};
        let refused = agent.every("job", MS(1_000)).start(nothing).unwrap_err();
        assert!(matches!(refused, ScheduleError::VolatileStore), "{refused}");
        // The store of another agent is refused as well.
        let store = |of: &str| {
            FileStore::<ScheduleRecord>::create(folder.join(format!("{of}.marks")), identity(of))
        };
        let foreign = store("b1").unwrap();
        let refused = agent.schedules().store(foreign).start().unwrap_err();
        let is_foreign = matches!(refused, ScheduleError::ForeignStore { .. });
        assert!(is_foreign, "{refused}");
        // The refusals have changed nothing, so the right store is accepted.
        let own = store("a1").unwrap();
        agent.schedules().store(own).start().unwrap();
        agent.every("job", MS(1_000)).start(nothing).unwrap();
    });
}
