//! A host that has missed more than 2^20 elections, and a host that only claims such a term.

use std::path::Path;

use actix::clock::sleep;
use actix_bully::{
    elections::quorum::Vote,
    protocol::Term,
    store::{FileStore, TermStore},
};

use super::{
    kit::{Host, MS, identity, scene, until},
    voters::{believer, elected, host, leads_alone},
};

/// Changes the record of a voter to this term, as after many elections.
async fn age(folder: &Path, voter: &str, term: Term) {
    let store = FileStore::open(folder.join(voter), identity(voter)).unwrap();
    let generation = TermStore::<Vote>::begin(&store).unwrap();
    let record = TermStore::<Vote>::load(&store).unwrap().unwrap();
    let record = Vote {
        term,
        voted_for: None,
        ..record
    };
    store.save(generation, record).await.unwrap();
}

/// Returns the number of links that a host closed because of a term, and the number of terms that it ignored.
fn refused(host: &Host) -> (u64, u64) {
    let counters = host.bridge.counters();
    let of = |name| counters.get(name).unwrap();
    (of("term"), of("unvouched_term"))
}

fn term(host: &Host) -> Option<Term> {
    host.agents[0].leader().map(|leader| leader.term)
}

#[test]
fn a_host_that_missed_millions_of_elections_joins_on_the_word_of_a_quorum() {
    scene(async |pipes, folder| {
        let [a, b, c] = elected(pipes, folder).await;
        pipes.partition("a", "b");
        pipes.partition("a", "c");
        // The term after years of elections.
        let years = Term(5_000_000);
        b.stop().await;
        c.stop().await;
        for voter in ["b1", "c1"] {
            age(folder, voter, years).await;
        }
        let [b, c] = ["b", "c"].map(|name| host(pipes, name, 2_000, folder));
        until("one of them leads", || believer(&[&a, &b, &c]).is_some()).await;
        pipes.heal("a", "b");
        pipes.heal("a", "c");
        until("a1 follows", || {
            believer(&[&a, &b, &c]).is_some_and(|leader| a.follows(&leader))
        })
        .await;
        assert!(term(&a) > Some(years), "{:?}", term(&a));
        let (closed, unheard) = refused(&a);
        assert_eq!(closed, 0, "no link was closed for it");
        assert!(unheard > 0, "one word did not suffice");
        assert_eq!((refused(&b), refused(&c)), ((0, 0), (0, 0)));
    });
}

#[test]
fn the_word_of_one_voter_takes_no_group_to_the_end_of_its_terms() {
    scene(async |pipes, folder| {
        let [a, b, c] = elected(pipes, folder).await;
        c.stop().await;
        let absurd = Term(1 << 39);
        age(folder, "c1", absurd).await;
        leads_alone(&[&a, &b], "b1").await;
        let c = host(pipes, "c", 2_000, folder);
        for _ in 0..2_000 {
            sleep(MS(10)).await;
            for host in [&a, &b] {
                let term = term(host);
                assert!(term < Some(Term(1 << 20)), "{term:?}: one word sufficed");
            }
        }
        assert_eq!(believer(&[&a, &b, &c]).as_deref(), Some("b1"));
        assert!(refused(&b).1 > 0, "it was said, and not heard");
        assert_eq!((refused(&a).0, refused(&b).0), (0, 0));
    });
}
