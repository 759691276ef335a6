//! The agent of a bully election: its typed messages, and its own settings.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use actix::{Context, Handler};

use crate::{
    elections::bully::{
        Bully, BullyConfig, Elect, Elected, Heartbeat, Ok, Preemption, Resign, Yield,
    },
    group::Incoming,
    protocol::{Input, Score, Timings},
};

use super::{Agent, AgentBuilder, BullyElection, ElectionHandle, StartError};

/// An agent of a bully election.
///
/// Beside letters of the general form ([`Incoming`]`<BullyMessage>`) it takes those of each kind,
/// such as [`Incoming`]`<`[`Elect`]`>`, and [`BullyElection`].
pub type BullyAgent = Agent<Bully>;

/// An application's side of a [`BullyAgent`].
pub type BullyHandle = ElectionHandle<Bully>;

impl BullyAgent {
    /// Names an agent; its name is checked when it starts.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use actix_bully::{Group, agent::BullyAgent};
    ///
    /// actix::System::new().block_on(async {
    ///     let group = Group::new("demo")?;
    ///     let low = BullyAgent::builder("a").score(10).join(&group).start()?;
    ///     let high = BullyAgent::builder("b").score(30).join(&group).start()?;
    ///
    ///     let leader = low.wait_for_leader(Duration::from_secs(5)).await?;
    ///     assert_eq!(&leader.id, high.id());
    ///     # Ok::<(), Box<dyn std::error::Error>>(())
    /// }).unwrap();
    /// ```
    pub fn builder(name: &str) -> AgentBuilder<Bully> {
        static DEFAULT: OnceLock<Arc<BullyConfig>> = OnceLock::new();
        Self::with_config(name, Arc::clone(DEFAULT.get_or_init(Arc::default)))
    }
}

impl AgentBuilder<Bully> {
    /// How long to wait for what; the same at every member. Default: [`Timings::default`].
    pub fn timings(self, timings: Timings) -> Self {
        self.configure(|config| config.timings = timings)
    }

    /// The plain ASTRA rules; replaces all settings made so far by [`BullyConfig::strict`].
    pub fn strict(self) -> Self {
        self.configure(|config| *config = BullyConfig::strict())
    }

    /// When the agent, as a leader, gives way to a more important one. Default: at once.
    pub fn preemption(self, preemption: Preemption) -> Self {
        self.configure(|config| config.preemption = preemption)
    }

    /// By how much a challenger's score must exceed the leader's. Default: by anything at all.
    /// No part may be negative.
    pub fn margin(mut self, margin: impl Into<Score>) -> Self {
        let margin = margin.into();
        if margin.parts().iter().any(|part| *part < 0) {
            self.refused.get_or_insert(StartError::Margin { margin });
        }
        self.configure(|config| config.margin = Some(margin))
    }

    /// The longest that work may go on when the agent has to hand over. Default: 5 s; 0 waits for
    /// nobody.
    pub fn drain(self, drain: Duration) -> Self {
        self.configure(|config| config.drain = drain)
    }

    /// For how long an agent that stepped down does not stand for election. Default: 60 s.
    pub fn rest(self, rest: Duration) -> Self {
        self.configure(|config| config.rest = rest)
    }

    /// All of these settings at once; agents that share one `Arc` share the memory.
    pub fn config(mut self, config: Arc<BullyConfig>) -> Self {
        self.config = config;
        self
    }

    fn configure(mut self, change: impl FnOnce(&mut BullyConfig)) -> Self {
        change(Arc::make_mut(&mut self.config));
        self
    }
}

impl Handler<BullyElection> for BullyAgent {
    type Result = ();

    fn handle(&mut self, BullyElection: BullyElection, ctx: &mut Context<Self>) {
        self.step(Input::Campaign, ctx);
    }
}

macro_rules! handle_letters_of {
    ($($message:ident),*) => { $(
        impl Handler<Incoming<$message>> for BullyAgent {
            type Result = ();

            fn handle(&mut self, letter: Incoming<$message>, ctx: &mut Context<Self>) {
                self.receive(letter.map(Into::into), ctx);
            }
        }
    )* };
}
handle_letters_of!(Elect, Ok, Yield, Elected, Heartbeat, Resign);
