//! Which connection loses its slot to which other connection, and that every slot becomes free again.

use actix::clock::{Instant, timeout};

use super::*;
use crate::{remote::LimitsBuilder, testkit::virtual_system};

fn gate(limits: &LimitsBuilder) -> Arc<Gate> {
    Arc::new(Gate::new(&limits.build().unwrap()))
}

/// Returns a gate for 4 connections in all, 3 of them not ready, 2 of them from one address.
fn small() -> Arc<Gate> {
    let limits = Limits::builder().inbound(4).unready(3);
    gate(&limits.unready_per_address(2))
}

fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

fn enter(gate: &Arc<Gate>, from: &str) -> Pass {
    gate.enter(from).unwrap()
}

/// Returns the indices of the passes that have lost their slots.
fn lost(passes: &[&Pass]) -> Vec<usize> {
    let numbered = passes.iter().enumerate();
    let gone = numbered.filter(|(_, pass)| {
        let slots = lock(&pass.gate.slots);
        let address = slots.addresses.get(&pass.from);
        !pass.is_ready && !address.is_some_and(|a| a.unready.contains_key(&pass.number))
    });
    gone.map(|(at, _)| at).collect()
}

fn is_empty(gate: &Gate) -> bool {
    let slots = lock(&gate.slots);
    (slots.inside, slots.strangers) == (0, 0) && slots.addresses.is_empty()
}

#[test]
fn the_oldest_of_an_address_gives_way_to_the_newest() {
    let gate = small();
    let (mut first, second) = (enter(&gate, "a"), enter(&gate, "a"));
    assert_eq!(lost(&[&first, &second]), [0; 0]);
    let third = enter(&gate, "a");
    assert_eq!(lost(&[&first, &second, &third]), [0], "two of one address");
    assert!(!first.ready(), "a place that was lost");
    let other = enter(&gate, "b");
    let all = [&first, &second, &third, &other];
    assert_eq!(lost(&all), [0], "that is three");
    drop((first, second, third, other));
    assert!(is_empty(&gate));
}

#[test]
fn the_address_with_the_most_gives_way_to_another() {
    let gate = small();
    let only = enter(&gate, "a");
    let (one, more) = (enter(&gate, "b"), enter(&gate, "b"));
    let last = enter(&gate, "c");
    assert_eq!(lost(&[&only, &one, &more, &last]), [1], "the elder of two");
    let next = enter(&gate, "d");
    assert_eq!(lost(&[&only, &more, &last, &next]), [0], "now the oldest");
}

#[test]
fn a_silent_connection_gives_way_before_one_that_has_spoken() {
    let gate = small();
    let (first, second) = (enter(&gate, "a"), enter(&gate, "a"));
    first.heard();
    let third = enter(&gate, "a");
    assert_eq!(lost(&[&first, &second, &third]), [1]);
    third.heard();
    let other = enter(&gate, "b");
    let last = enter(&gate, "c");
    assert_eq!(
        lost(&[&first, &third, &other, &last]),
        [2],
        "although of more"
    );
    last.heard();
    let newest = enter(&gate, "a");
    let all = [&first, &third, &last, &newest];
    assert_eq!(lost(&all), [0], "all have said something: the oldest");
}

/// Silent strangers cannot take the places of a peer's address. They would need an address of a peer for that.
#[test]
fn an_address_of_a_peer_has_places_of_its_own() {
    let gate = small();
    gate.expect(&node("p"), ["p".to_owned()]);
    let own = [enter(&gate, "p"), enter(&gate, "p")];
    let strangers = ["a", "b", "c", "d"].map(|from| enter(&gate, from));
    assert_eq!(lost(&own.each_ref()), [0; 0]);
    assert_eq!(
        lost(&strangers.each_ref()),
        [0, 1],
        "4 in all, 2 of them own"
    );
    let _third = enter(&gate, "p");
    assert_eq!(lost(&own.each_ref()), [0], "two of one address");
    gate.expect(&node("q"), ["p".to_owned()]);
    let fourth = enter(&gate, "p");
    assert_eq!(lost(&[&own[1], &fourth]), [0; 0], "two for each peer there");
    assert_eq!(lost(&strangers[2..].iter().collect::<Vec<_>>()), [0]);
}

#[test]
fn only_an_address_of_a_peer_takes_the_place_of_another_peers_address() {
    let gate = small();
    for (peer, address) in [("p", "p"), ("q", "p"), ("r", "r")] {
        gate.expect(&node(peer), [address.to_owned()]);
    }
    let own = [(); 4].map(|()| enter(&gate, "p"));
    assert!(gate.enter("a").is_none(), "a stranger");
    assert_eq!(lost(&own.each_ref()), [0; 0]);
    let _other = enter(&gate, "r");
    assert_eq!(lost(&own.each_ref()), [0]);
}

#[test]
fn a_connection_that_is_ready_never_gives_way() {
    let gate = small();
    let mut all = ["a", "b", "c", "d"].map(|from| {
        let mut pass = enter(&gate, from);
        assert!(pass.ready());
        pass
    });
    assert!(gate.enter("e").is_none(), "the newest is refused");
    assert_eq!(lost(&all.each_ref()), [0; 0]);
    assert!(all[0].ready(), "still");
    let mut all = Vec::from(all);
    drop(all.pop());
    assert!(gate.enter("e").is_some());
    drop(all);
    assert!(is_empty(&gate));
}

#[test]
fn an_address_is_a_peers_from_the_time_that_it_is_known_until_it_is_not() {
    let gate = small();
    let here = || {
        let slots = lock(&gate.slots);
        let of_peers = slots.addresses.iter().filter(|(_, a)| !a.is_strange());
        let names: Vec<_> = of_peers.map(|(name, _)| name.clone()).collect();
        (names.join(" "), slots.strangers)
    };
    let stays = enter(&gate, "a");
    assert_eq!(here(), (String::new(), 1));
    gate.expect(&node("p"), ["a".to_owned(), "b".to_owned()]);
    assert_eq!(here(), ("a b".to_owned(), 0));
    gate.met(&node("p"), "c");
    gate.met(&node("p"), "d");
    assert_eq!(here(), ("a b d".to_owned(), 0), "where it was last");
    gate.expect(&node("p"), ["b".to_owned()]);
    assert_eq!(here(), ("b d".to_owned(), 1));
    gate.expect(&node("q"), (0..100).map(|n| n.to_string()));
    assert_eq!(lock(&gate.slots).addresses.len(), 3 + MOST_NAMED);
    gate.forget(&node("p"));
    gate.forget(&node("q"));
    assert_eq!(here(), (String::new(), 1));
    drop(stays);
    assert!(is_empty(&gate));
}

/// Only a connection that says nothing within the limit loses its slot.
#[test]
fn the_first_byte_has_a_deadline_of_its_own() {
    virtual_system().block_on(async {
        let ms = Duration::from_millis;
        for (handshake, first_byte) in [(3_000, 600), (500, 500)] {
            let limits = Limits::builder().handshake(ms(handshake));
            let gate = gate(&limits.unready_per_address(1));
            let silent = enter(&gate, "a");
            let began = Instant::now();
            assert_eq!(silent.lost().await, Closed::HandshakeTimeout);
            assert_eq!(began.elapsed(), ms(first_byte));
            drop(silent);
            let talks = enter(&gate, "a");
            talks.heard();
            assert!(timeout(ms(60_000), talks.lost()).await.is_err());
            let newest = enter(&gate, "a");
            assert_eq!(talks.lost().await, Closed::TooManyConnections);
            drop((talks, newest));
            assert!(is_empty(&gate));
        }
    });
}

#[test]
fn strangers_wait_for_their_turns_and_peers_do_not() {
    virtual_system().block_on(async {
        let ms = Duration::from_millis;
        let gate = gate(&Limits::builder());
        gate.expect(&node("p"), ["p".to_owned()]);
        let check = || async { Instant::now() };
        let began = Instant::now();
        let strangers: Vec<_> = ["a", "b", "c"].map(|from| enter(&gate, from)).into();
        let own = [enter(&gate, "p"), enter(&gate, "p")];
        assert_eq!(strangers[0].in_turn(check()).await - began, ms(0));
        for own in &own {
            assert_eq!(own.in_turn(check()).await - began, ms(0), "no turn");
        }
        assert_eq!(strangers[1].in_turn(check()).await - began, ms(1));
        // A connection that loses its slot while it waits delays no other connection.
        let waiting = timeout(ms(0), strangers[2].in_turn(check())).await;
        assert!(waiting.is_err());
        let last = enter(&gate, "d");
        assert_eq!(last.in_turn(check()).await - began, ms(2));
        assert_eq!(strangers[0].in_turn(check()).await - began, ms(3));
    });
}
