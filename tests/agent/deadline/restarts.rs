//! Under a guardian a deadline belongs to one incarnation.

use std::panic::resume_unwind;

use actix::prelude::*;
use actix_bully::supervisor::Guardian;

use crate::common::virtual_system;
use crate::deadline::watch::{OnFire, Watch, ms, soon};

#[test]
fn a_deadline_of_a_crashed_incarnation_does_not_fire_in_the_next_one() {
    let at = virtual_system().block_on(async {
        let keeper = Keeper(Watch::new(OnFire::Nothing));
        let (fired, deadline) = (keeper.0.fired.clone(), keeper.0.deadline.clone());
        let addr = Guardian::builder(0).start(|_| keeper);
        ms(10).await;
        addr.do_send(SetAndCrash(200));
        ms(50).await;
        assert_eq!(
            deadline.get(),
            Some(soon(150)),
            "it is dropped with the futures"
        );
        ms(100).await;
        assert_eq!(deadline.get(), None);
        deadline.set(soon(70));
        ms(1_000).await;
        drop(addr);
        fired.take()
    });
    assert_eq!(
        at,
        [230],
        "only the one set after the restart, by the same `Deadline`"
    );
}

/// An actor that keeps its deadline over a restart.
struct Keeper(Watch);

impl Actor for Keeper {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.0
            .deadline
            .run(ctx, |keeper: &mut Self, _| keeper.0.fired.note());
    }
}

impl Supervised for Keeper {}

#[derive(Message)]
#[rtype(result = "()")]
struct SetAndCrash(u64);

impl Handler<SetAndCrash> for Keeper {
    type Result = ();

    fn handle(&mut self, message: SetAndCrash, ctx: &mut Context<Self>) {
        self.0.deadline.set_in(ctx, soon(message.0));
        resume_unwind(Box::new("injected"));
    }
}
