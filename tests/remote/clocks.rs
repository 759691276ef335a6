//! A node whose wall clock was wrong at one start: it is not locked out of its group. One that remembers is let in at
//! once: `configured`.

use actix_bully::{
    protocol::Presence,
    remote::{Limits, NodeIncarnation, transport::Pipes},
};

use super::kit::{Host, MS, all_follow, are_linked, builder, id, play, until};

/// What a bridge makes of its wall clock: milliseconds, and room for chance.
fn at(millis: u64) -> NodeIncarnation {
    NodeIncarnation(millis << 16)
}

const NOW: u64 = 1_800_000_000_000;
const HOUR: u64 = 60 * 60 * 1_000;
const TEN_YEARS: u64 = 10 * 365 * 24 * HOUR;

fn host(pipes: &Pipes, name: &str, peer: &str, by_clock: u64) -> Host {
    let limits = Limits::builder().forget(MS(60_000)).build().unwrap();
    Host::with(|group| {
        builder(pipes, name, &[peer])
            .incarnation(at(by_clock))
            .limits(limits)
            .carry(group)
    })
}

/// A clock that was wrong once, and what it shows at the next start.
const WRONG: [[u64; 2]; 2] = [[NOW + TEN_YEARS, NOW + 1_000], [NOW, NOW - HOUR]];

#[test]
fn a_node_with_an_earlier_number_is_let_in_once_the_later_one_is_gone() {
    play(async {
        for [first, next] in WRONG {
            let pipes = Pipes::new();
            let mut a = host(&pipes, "a", "b", NOW);
            a.agent("a1", 1);
            let mut b = host(&pipes, "b", "a", first);
            b.agent("b1", 2);
            all_follow(&[&a, &b], "b1").await;
            b.stop().await;
            until("a1 leads", || a.follows("a1")).await;

            let mut b = host(&pipes, "b", "a", next);
            b.agent("b1", 2);
            are_linked(&a, &b).await;
            all_follow(&[&a, &b], "b1").await;
            let member = a.group.members().get(&id("b1")).unwrap().clone();
            assert_eq!(member.presence, Presence::Up);
            assert_eq!(member.incarnation, Some(b.agents[0].current().incarnation));
            assert_eq!(a.bridge.peers()[0].incarnation, Some(at(next)));

            // Its end is noticed as any other's.
            b.agents[0].leave(MS(1_000)).await.unwrap();
            until("a1 leads again", || a.follows("a1")).await;
            assert!(a.group.members().get(&id("b1")).is_none());
        }
    });
}
