//! Tests of leaders whose work fails: the number of leaderships in the first quarter of an hour, and the time until a
//! leader works after the work can succeed. The command prints the figures of `tests/README.md`:
//!
//! `cargo test --test cluster -- failing_work --nocapture`

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use actix::{clock, spawn};
use actix_bully::{
    protocol::Timings,
    testkit::{
        cluster::{Cluster, ClusterBuilder},
        faults::Conditions,
    },
};
use bully_core::protocol::Election;

use super::{MS, common::virtual_system};

const HOUR: Duration = Duration::from_secs(3_600);

/// Record of the work of all agents.
#[derive(Default)]
struct Attempts {
    can_succeed: Cell<bool>,
    /// Name of each agent whose work began, and the time since the start of the group.
    begun: RefCell<Vec<(String, Duration)>>,
}

/// Starts a cluster, and gives each agent work that fails on the hosts that `fails` selects, until the work can
/// succeed.
fn attempts<E: Election>(
    cluster: ClusterBuilder<E>,
    n: u32,
    fails: fn(&str) -> bool,
) -> (Cluster<E>, Rc<Attempts>) {
    let mut cluster = cluster.start().unwrap();
    let began = clock::Instant::now();
    let attempts = Rc::new(Attempts::default());
    for at in 1..=n {
        let name = format!("agent-{at}");
        let (handle, attempts) = (cluster.handle(&name).unwrap().clone(), Rc::clone(&attempts));
        spawn(async move {
            let work = handle.lead(|leader| {
                let (attempts, name) = (Rc::clone(&attempts), name.clone());
                async move {
                    let now = began.elapsed();
                    attempts.begun.borrow_mut().push((name.clone(), now));
                    if attempts.can_succeed.get() || !fails(&name) {
                        leader.stepping_down().await;
                    }
                }
            });
            work.await.unwrap();
        });
    }
    // An ASTRA election begins only on a command.
    cluster.campaign("agent-1").unwrap();
    (cluster, attempts)
}

/// Returns the number of leaderships in the first quarter of an hour, and the time until the work runs after it can
/// succeed.
async fn first_quarter<E: Election>(cluster: ClusterBuilder<E>, n: u32) -> (usize, Duration) {
    let (_cluster, attempts) = attempts(cluster, n, |_| true);
    clock::sleep(HOUR / 4).await;
    let before = attempts.begun.borrow().len();
    attempts.can_succeed.set(true);
    let mut waited = Duration::ZERO;
    while attempts.begun.borrow().len() == before {
        clock::sleep(MS(10)).await;
        waited += MS(10);
    }
    clock::sleep(HOUR / 60).await;
    assert_eq!(attempts.begun.borrow().len(), before + 1, "it works");
    (before, waited)
}

/// `wait-after-failure`
async fn is_bounded<E: Election>(mode: &str, cluster: ClusterBuilder<E>, n: u32, loss: u16) {
    let network = Conditions::builder().delay(MS(0)..=MS(2)).loss(loss);
    let cluster = cluster.network(network.build().unwrap());
    let (leaderships, waited) = first_quarter(cluster, n).await;
    println!("{mode}, {n} agents, loss {loss} of 1000: {leaderships}, then {waited:?}");
    assert!(
        (15..=25).contains(&leaderships),
        "{mode}, {n}: {leaderships}"
    );
    assert!(waited <= Duration::from_secs(61), "{mode}, {n}: {waited:?}");
}

#[test]
fn work_that_fails_everywhere_moves_the_leadership_once_a_minute() {
    virtual_system().block_on(async {
        is_bounded("available", Cluster::builder().agents(5), 5, 0).await;
        let around = Cluster::around_register(|rules| rules.timings = Timings::default());
        is_bounded("lease", around.agents(3), 3, 0).await;
        is_bounded("ASTRA", Cluster::builder().agents(3).astra(), 3, 0).await;
    });
}

#[test]
fn so_it_is_with_a_quorum() {
    virtual_system().block_on(async {
        for loss in [0, 100] {
            is_bounded("quorum", quorum(3), 3, loss).await;
        }
    });
}

#[test]
fn so_it_is_with_a_quorum_of_seven() {
    virtual_system().block_on(is_bounded("quorum", quorum(7), 7, 0));
}

fn quorum(n: u32) -> ClusterBuilder {
    Cluster::builder().agents(n).quorum()
}

/// `held-back-after-failure`
#[test]
fn work_that_fails_on_the_best_host_runs_on_another() {
    virtual_system().block_on(async {
        let (_cluster, attempts) = attempts(quorum(3), 3, |name| name == "agent-3");
        clock::sleep(HOUR).await;
        let begun = attempts.begun.borrow();
        let failed = begun.iter().filter(|(name, _)| name == "agent-3").count();
        println!("the best host fails: {failed} attempts of it in an hour");
        assert!((1..=6).contains(&failed), "{begun:?}");
        assert_eq!(begun.iter().find(|(name, _)| name == "agent-1"), None);
    });
}
