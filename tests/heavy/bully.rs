//! The plain bully: the strict profile, in which ranks alone decide and somebody must wish for an
//! election, and the default one.
//!
//! Held against the strict profile: at every instant at most one believes that it leads; and once
//! nothing will happen by itself any more, everybody follows the most important one. The default
//! profile never rests. It promises less, and is asked less: from some tick on all agree.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::bully::{Bully, BullyConfig, BullyMessage, Profile},
    protocol::Timings,
};

use crate::{
    relative::ticks,
    rules::{Rules, name},
    timed::World,
};

/// A bully election, and how it is judged.
#[derive(Clone, Debug)]
pub struct Plain {
    config: Arc<BullyConfig>,
    memory: Duration,
    /// From this tick on all agree; `None` where every instant counts.
    settled: Option<u16>,
}

impl Plain {
    /// The strict profile with a deadline of T ticks. What the machines take for the delay bound is
    /// far below it, so that the builder of the timings does not refuse what the model is to find.
    ///
    /// # Panics
    /// If `deadline` is zero.
    pub fn strict(deadline: u8) -> Self {
        let deadline = ticks(deadline.into());
        let timings = Timings::astra()
            .to_builder()
            .delay_bound(deadline / 4)
            .deadline(deadline)
            .build()
            .expect("the deadline is above twice its quarter");
        let config = BullyConfig {
            timings,
            ..BullyConfig::strict()
        };
        // By these rules a deadline has passed or it has not; nobody asks how long ago.
        Self::new(config, Duration::ZERO, None)
    }

    /// The default profile, as it comes. Its timings are not in ticks: for models without time.
    pub fn swift() -> Self {
        Self::new(BullyConfig::default(), Duration::MAX, None)
    }

    fn new(config: BullyConfig, memory: Duration, settled: Option<u16>) -> Self {
        Self {
            config: Arc::new(config),
            memory,
            settled,
        }
    }
}

impl Rules for Plain {
    type Election = Bully;
    type Books = ();

    fn config(&self) -> &Arc<BullyConfig> {
        &self.config
    }

    fn memory(&self) -> Duration {
        self.memory
    }

    fn waits_for_wishes(&self) -> bool {
        self.config.profile == Profile::Strict
    }

    /// The number of the round that a question belongs to.
    fn effort(message: &BullyMessage) -> u64 {
        match message {
            BullyMessage::Elect(elect) => elect.round.counter,
            _ => 0,
        }
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if let Some(settled) = self.settled {
            return (world.now >= settled && !agree(world, false))
                .then_some("from then on all agree");
        }
        if world.believers().nth(1).is_some() {
            return Some("at most one leads");
        }
        (world.is_at_rest() && !agree(world, true)).then_some("at rest all agree")
    }
}

/// Whether all who live follow the most important of them. Nobody need have a leader before
/// somebody began, or after a crash: who had asked may be gone, and who ranks below it waits.
fn agree(world: &World<Plain>, may_wait: bool) -> bool {
    let living = || (0..world.len()).filter(|who| world.view(*who).is_some());
    let best = living().max_by_key(|who| (world.scores[*who], *who));
    let leader = |who| world.view(who).and_then(|view| view.leader);
    let crashed =
        living().count() < world.len() || (0..world.len()).any(|who| world.life(who).0 > 1);
    if may_wait && (!world.stirred || crashed) && living().all(|who| leader(who).is_none()) {
        return true;
    }
    let best = best.map(name);
    living().all(|who| leader(who).map(|leader| leader.id) == best)
}
