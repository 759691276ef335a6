//! A deadline fires at the instant that was set last, wherever it was set.

use actix::prelude::*;
use actix_bully::supervisor::Deadline;

use crate::common::virtual_system;
use crate::deadline::watch::{FROM, OnFire, Set, Step, Watch, ms, soon};

use Step::{Clear, Pass, SetIn};

/// Runs a watch and hands back when its deadline fired.
fn fired(on_fire: OnFire, body: impl AsyncFnOnce(Addr<Watch>, Deadline)) -> Vec<u128> {
    virtual_system().block_on(async {
        let watch = Watch::new(on_fire);
        let (fired, deadline) = (watch.fired.clone(), watch.deadline.clone());
        body(watch.start(), deadline).await;
        fired.take()
    })
}

/// What is done, in which steps, and when the deadline fires by that.
type Row = (&'static str, OnFire, &'static [Step], &'static [u128]);

const ROWS: [Row; 8] = [
    (
        "set once",
        OnFire::Nothing,
        &[SetIn(100), Pass(1_000)],
        &[100],
    ),
    (
        "moved later",
        OnFire::Nothing,
        &[SetIn(100), Pass(50), SetIn(100), Pass(1_000)],
        &[150],
    ),
    (
        "moved earlier",
        OnFire::Nothing,
        &[SetIn(1_000), Pass(10), SetIn(20), Pass(2_000)],
        &[30],
    ),
    (
        "due at once",
        OnFire::Nothing,
        &[Pass(10), SetIn(0), Pass(10)],
        &[10],
    ),
    (
        "cleared, and set again",
        OnFire::Nothing,
        &[
            SetIn(50),
            Clear,
            Pass(100),
            SetIn(50),
            Pass(10),
            Clear,
            SetIn(60),
            Pass(100),
        ],
        &[170],
    ),
    (
        "set by its own callback",
        OnFire::SetAgain(30),
        &[SetIn(10), Pass(99)],
        &[10, 40, 70],
    ),
    (
        "by a callback that then waits",
        OnFire::SetAgainAndWait(30),
        &[SetIn(10), Pass(99)],
        &[10, 40, 70],
    ),
    (
        "due while the actor waits",
        OnFire::SetAgainAndWait(0),
        &[SetIn(10), Pass(14)],
        &[10, 11, 12, 13],
    ),
];

#[test]
fn a_deadline_fires_at_the_instant_that_was_set_last_and_not_where_it_was_cleared() {
    for (what, on_fire, steps, expected) in ROWS {
        let at = fired(on_fire, async |watch, deadline| {
            for step in steps {
                step.take(&watch, &deadline).await;
            }
        });
        assert_eq!(at, expected, "{what}");
    }
}

#[test]
fn a_deadline_that_has_fired_is_unset() {
    let at = fired(OnFire::Nothing, async |watch, deadline| {
        watch.send(Step::Set(100)).await.unwrap();
        assert_eq!(deadline.get(), Some(soon(100)));
        ms(1_000).await;
        assert_eq!(deadline.get(), None);
    });
    assert_eq!(at, [100]);
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
                    None => watch.do_send(Clear),
                }
            }
            ms(1_000).await;
        });
        let expected: Vec<_> = expected.into_iter().map(u128::from).collect();
        assert_eq!(at, expected, "seed {seed}");
    }
}
