//! Moves a group from a quorum to a lease in a store, and back, by the recipe on the page of the lease. At no instant
//! two agents lead, and tokens increase.

use std::{collections::BTreeMap, rc::Rc};

use actix_bully::{
    agent::{BullyAgent, BullyBuilder},
    elections::{AnyBully, quorum::Vote},
    protocol::{Term, Timings},
    register::MemoryRegister,
    store::MemoryStore,
    testkit::cluster::Cluster,
};

use super::{MS, raise::raise, test};

const NAMES: [&str; 3] = ["api-1", "api-2", "api-3"];

type Stores = BTreeMap<&'static str, MemoryStore<Vote>>;

/// Starts three processes whose agents the application builds with `starts`.
fn group(starts: impl Fn(&str, BullyBuilder) -> BullyBuilder + 'static) -> Cluster<AnyBully> {
    let starts = Rc::new(starts);
    let mut cluster = Cluster::builder().needs_voters(2).timeout(MS(30_000));
    for (name, score) in NAMES.into_iter().zip(1_i32..) {
        let starts = Rc::clone(&starts);
        cluster = cluster.wired(name, move |node| {
            let agent = node.prepare(BullyAgent::builder(name));
            let agent = agent.timings(Timings::lan()).score(score);
            Ok(starts(name, agent).start()?)
        });
    }
    cluster.start().unwrap()
}

fn by_quorum(stores: &Stores) -> Cluster<AnyBully> {
    let stores = stores.clone();
    group(move |name, agent| agent.quorum(NAMES).store(stores.get(name).unwrap().clone()))
}

fn by_lease() -> Cluster<AnyBully> {
    let register = MemoryRegister::new();
    group(move |_, agent| agent.lease(register.clone()))
}

/// Returns the token of the leader. Before that it withdraws all scores, checks that no agent leads, and ends the
/// processes.
async fn led_and_left(mut cluster: Cluster<AnyBully>) -> Term {
    cluster.settle().await.unwrap();
    let leader = cluster.handle("api-1").unwrap().leader().unwrap();
    assert_eq!(leader.id, "api-3");
    for name in NAMES {
        cluster.withdraw_score(name).unwrap();
    }
    assert_eq!(cluster.settle().await.unwrap().leader(), None);
    assert!(cluster.believers().is_empty());
    for name in NAMES {
        cluster.kill(name).await.unwrap();
    }
    leader.term
}

#[test]
fn a_group_moves_to_a_lease_and_back_and_tokens_increase() {
    test(|| async {
        let stores: Stores = NAMES.map(|name| (name, MemoryStore::default())).into();
        let first = led_and_left(by_quorum(&stores)).await;
        let second = led_and_left(by_lease()).await;
        assert!(second > first, "{second} after {first}");
        for store in stores.values() {
            raise(store, second).await.unwrap();
        }
        let third = led_and_left(by_quorum(&stores)).await;
        assert!(third > second, "{third} after {second}");
    });
}

/// The third step of the recipe raises the records. Without it, new tokens are lower than earlier tokens.
#[test]
fn records_that_are_not_raised_give_tokens_that_were_given() {
    test(|| async {
        let stores: Stores = NAMES.map(|name| (name, MemoryStore::default())).into();
        let lease = led_and_left(by_lease()).await;
        let quorum = led_and_left(by_quorum(&stores)).await;
        assert!(quorum < lease, "{quorum} after {lease}");
    });
}
