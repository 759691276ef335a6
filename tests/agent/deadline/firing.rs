//! A deadline fires at the instant that was set last, wherever it was set.

use actix::prelude::*;
use actix_bully::supervisor::Deadline;

use crate::common::virtual_system;
use crate::deadline::watch::{FROM, OnFire, Plain, Set, Watch, ms, soon};

/// Runs a watch and hands back when its deadline fired.
fn fired(on_fire: OnFire, body: impl AsyncFnOnce(Addr<Watch>, Deadline)) -> Vec<u128> {
    virtual_system().block_on(async {
        let watch = Watch::new(on_fire);
        let (fired, deadline) = (watch.fired.clone(), watch.deadline.clone());
        body(watch.start(), deadline).await;
        fired.take()
    })
}

#[test]
fn a_deadline_fires_once() {
    let at = fired(OnFire::Nothing, async |watch, deadline| {
        watch.send(Plain::Set(100)).await.unwrap();
        assert_eq!(deadline.get(), Some(soon(100)));
        ms(1_000).await;
        assert_eq!(deadline.get(), None);
    });
    assert_eq!(at, [100]);
}

#[test]
fn a_deadline_moved_later_fires_at_the_later_time_only() {
    let at = fired(OnFire::Nothing, async |watch, _| {
        for _ in 0..10 {
            watch.send(Plain::SetIn(100)).await.unwrap();
            ms(50).await;
        }
        ms(1_000).await;
    });
    assert_eq!(at, [550]);
}

#[test]
fn a_deadline_moved_earlier_fires_at_the_earlier_time_only() {
    let at = fired(OnFire::Nothing, async |watch, _| {
        watch.send(Plain::SetIn(1_000)).await.unwrap();
        ms(10).await;
        watch.send(Plain::SetIn(20)).await.unwrap();
        ms(2_000).await;
    });
    assert_eq!(at, [30]);
}

#[test]
fn a_deadline_in_the_past_fires_at_once() {
    let at = fired(OnFire::Nothing, async |watch, _| {
        ms(10).await;
        watch.send(Plain::SetIn(0)).await.unwrap();
        ms(10).await;
    });
    assert_eq!(at, [10]);
}

#[test]
fn a_cleared_deadline_does_not_fire_and_can_be_set_again() {
    let at = fired(OnFire::Nothing, async |watch, _| {
        watch.send(Plain::SetIn(50)).await.unwrap();
        watch.send(Plain::Clear).await.unwrap();
        ms(100).await;
        watch.send(Plain::SetIn(50)).await.unwrap();
        ms(10).await;
        watch.send(Plain::Clear).await.unwrap();
        watch.send(Plain::SetIn(60)).await.unwrap();
        ms(100).await;
    });
    assert_eq!(at, [170]);
}

#[test]
fn a_deadline_set_by_its_own_callback_fires_again() {
    let at = fired(OnFire::SetAgain(30), async |watch, _| {
        watch.send(Plain::SetIn(10)).await.unwrap();
        ms(105).await;
    });
    assert_eq!(at, [10, 40, 70, 100]);
}

#[test]
fn a_deadline_set_by_a_callback_that_then_waits_fires_again() {
    let at = fired(OnFire::SetAgainAndWait(30), async |watch, _| {
        watch.send(Plain::SetIn(10)).await.unwrap();
        ms(99).await;
    });
    assert_eq!(at, [10, 40, 70]);
}

#[test]
fn a_deadline_that_comes_while_the_actor_waits_fires_when_the_wait_is_over() {
    let at = fired(OnFire::SetAgainAndWait(0), async |watch, _| {
        watch.send(Plain::SetIn(10)).await.unwrap();
        ms(14).await;
    });
    assert_eq!(at, [10, 11, 12, 13]);
}

#[test]
fn a_deadline_set_from_any_place_fires_in_time() {
    for from in FROM {
        for armed in [None, Some(500)] {
            let at = fired(OnFire::Nothing, async |watch, deadline| {
                if let Some(armed) = armed {
                    deadline.set(soon(armed));
                }
                ms(10).await;
                watch.send(Set(from, 20)).await.unwrap();
                ms(1_000).await;
            });
            assert_eq!(at, [30], "from {from:?}, armed: {armed:?}");
        }
    }
}

#[test]
fn a_deadline_set_from_outside_fires_in_time() {
    let at = fired(OnFire::Nothing, async |watch, deadline| {
        deadline.set(soon(500));
        ms(10).await;
        deadline.set(soon(20));
        ms(1_000).await;
        drop(watch);
    });
    assert_eq!(at, [30]);
}

#[test]
fn a_deadline_set_with_another_actors_context_fires_in_time() {
    let at = fired(OnFire::Nothing, async |_watch, deadline| {
        let other = Stranger(deadline).start();
        ms(10).await;
        other.send(Nudge(20)).await.unwrap();
        ms(1_000).await;
    });
    assert_eq!(at, [30]);
}

/// An actor that sets the deadline of another one.
struct Stranger(Deadline);

impl Actor for Stranger {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Nudge(u64);

impl Handler<Nudge> for Stranger {
    type Result = ();

    fn handle(&mut self, nudge: Nudge, ctx: &mut Context<Self>) {
        self.0.set_in(ctx, soon(nudge.0));
    }
}

#[test]
fn however_it_is_moved_it_fires_at_the_instant_set_last() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        // Moves at even times, deadlines at odd ones: nothing falls together.
        let moves: Vec<_> = (0..40)
            .map(|_| {
                (
                    random.u64(1..30) * 2,
                    random.usize(0..10),
                    random.u64(0..60) * 2 + 1,
                )
            })
            .collect();
        let mut expected = Vec::new();
        let (mut now, mut deadline) = (0, None);
        for &(pause, place, after) in &moves {
            now += pause;
            expected.extend(deadline.take_if(|at| *at < now));
            deadline = (place != 9).then_some(now + after);
        }
        expected.extend(deadline);
        let at = fired(OnFire::Nothing, async |watch, deadline| {
            for (pause, place, after) in moves {
                ms(pause).await;
                match FROM.get(place) {
                    Some(&from) => watch.do_send(Set(from, after)),
                    None if place == 8 => deadline.set(soon(after)),
                    None => watch.do_send(Plain::Clear),
                }
            }
            ms(1_000).await;
        });
        let expected: Vec<_> = expected.into_iter().map(u128::from).collect();
        assert_eq!(at, expected, "seed {seed}");
    }
}
