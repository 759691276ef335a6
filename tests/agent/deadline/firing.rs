//! A deadline fires at the instant that was set last, in every place where it can be set.

use actix::prelude::*;
use actix_bully::supervisor::{Deadline, Guardian};

use crate::common::virtual_system;
use crate::deadline::watch::{FROM, OnFire, Set, Step, Watch, ms, soon};

use Step::{Crash, Pass, SetIn};

/// Runs a watch, and returns the times at which its deadline fired.
fn fired(on_fire: OnFire, body: impl AsyncFnOnce(Addr<Watch>, Deadline)) -> Vec<u128> {
    virtual_system().block_on(async {
        let watch = Watch::new(on_fire);
        let (fired, deadline) = (watch.fired.clone(), watch.deadline.clone());
        body(watch.start(), deadline).await;
        fired.take()
    })
}

/// The name of a case, the reaction of the callback, the steps, and the times at which the deadline fires.
type Row = (&'static str, OnFire, &'static [Step], &'static [u128]);

const ROWS: [Row; 4] = [
    (
        "due at once",
        OnFire::Nothing,
        &[Pass(10), SetIn(0), Pass(10)],
        &[10],
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
fn a_deadline_that_is_due_at_once_or_set_by_its_callback_fires_in_time() {
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
fn a_deadline_set_with_another_actors_context_fires_in_time() {
    let at = fired(OnFire::Nothing, async |_watch, deadline| {
        let other = Stranger(deadline).start();
        ms(10).await;
        other.send(Nudge(20)).await.unwrap();
        ms(1_000).await;
    });
    assert_eq!(at, [30]);
}

/// The deadline of a crashed incarnation is dropped with the futures of the incarnation.
#[test]
fn a_deadline_of_a_crashed_incarnation_does_not_fire_in_the_next_one() {
    let at = virtual_system().block_on(async {
        let watch = Watch::new(OnFire::Nothing);
        let (fired, deadline) = (watch.fired.clone(), watch.deadline.clone());
        let addr = Guardian::builder(0).start(|_| watch);
        for step in [Pass(10), SetIn(200), Crash, Pass(50)] {
            step.take(&addr, &deadline).await;
        }
        assert_eq!(deadline.get(), Some(soon(150)));
        ms(100).await;
        assert_eq!(deadline.get(), None);
        deadline.set(soon(70));
        ms(1_000).await;
        fired.take()
    });
    assert_eq!(at, [230], "set after the restart, by the same `Deadline`");
}

/// An actor that sets the deadline of another actor.
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
        // The deadline moves at even times and fires at odd times, so that two events never coincide.
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
                    None => watch.do_send(Step::Clear),
                }
            }
            ms(1_000).await;
            assert_eq!(deadline.get(), None, "a deadline that has fired is unset");
        });
        let expected: Vec<_> = expected.into_iter().map(u128::from).collect();
        assert_eq!(at, expected, "seed {seed}");
    }
}
