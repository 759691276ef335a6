//! The election by a lease in a store: agents and one register, which is the last member of their world.
//!
//! The model checks that at most one agent considers itself leader at any instant, that tokens increase, and that no
//! agent leads after it released the lease. The wall clock is the clock of the model, so a term is never lower than the
//! tick in which it begins.
//!
//! The faults of a store are commands to the register. A command to campaign makes it keep a backup. A score makes it
//! apply one question and answer with a failure. The word `forgets` makes the store unavailable for one tick, after which
//! it may go back to its backup. Where the store forgets, a message arrives within its tick or never: an answer that was
//! on its way during the outage would show the lost record as unchanged.
//!
//! Most searches begin when an agent has just taken a lease of two readings of its clock, and end after another agent
//! leads in the third tick.

use std::{sync::Arc, time::Duration};

use bully_core::{
    elections::{
        bully::BullyTimer,
        lease::{
            Answer, LeaseConfig, Preemption, RegisterConfig, RegisterMessage, RegisterQuestion,
            Simulated, SimulatedConfig,
        },
    },
    protocol::{
        Effect, EffectOf, Event, Incarnation, Input, InputOf, LostReason, Score, Timings, To,
    },
};

use crate::{
    limits::number,
    relative::{EPOCH, TICK, ticks},
    rules::{Rules, Seen, name},
    timed::{Bounds, World},
};

/// Position of the register among the members; every other member is an agent.
const REGISTER: usize = 2;

/// Rules of an election by a lease, for a model.
#[derive(Clone, Debug)]
pub struct Leases {
    agent: SimulatedConfig,
    register: SimulatedConfig,
    lease: u8,
    /// The tick in which no question reaches the register. When the register restarts after it, it goes back to its
    /// backup, or becomes empty.
    outage: Option<u16>,
    /// Whether a read that a timer asks for is answered at once or never, while writes and their answers travel.
    calls_reads: bool,
}

/// Number of leaderships that the model explores.
const LEADERSHIPS: u8 = 3;

/// The leases of one history that were acquired and released.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tokens {
    leaderships: u8,
    highest: u64,
    resigned: Vec<(usize, u64)>,
    broken: Option<&'static str>,
}

impl Leases {
    /// Returns the rules with a lease that covers `lease` readings of its holder's clock.
    ///
    /// # Panics
    /// If `lease` is less than two: then no leader can renew it in time.
    pub fn new(lease: u8) -> Self {
        let readings = f64::from(lease) - 0.01;
        let timings = Timings::lan()
            .to_builder()
            .delay_bound(ticks(0.001))
            // Two reads in consecutive ticks leave no gap. If the read of a tick is missing, there is a gap.
            .detector(ticks(0.6), ticks(0.8))
            .step(ticks(0.01))
            .jitter(Duration::ZERO)
            .round(ticks(0.01))
            .lease(ticks(readings), ticks(readings * 1.25))
            .build()
            .expect("every relation holds");
        let mut config = LeaseConfig::new("cluster", "group").expect("valid names");
        config.timings = timings;
        config.preemption = Preemption::Never;
        config.cooldown = ticks(0.5);
        config.wall_at_zero = Some(1 - i64::try_from(EPOCH / TICK).expect("a date"));
        config.check().expect("a sound configuration");
        Self {
            agent: SimulatedConfig::Agent(Arc::new(config), name(REGISTER)),
            register: SimulatedConfig::Register(RegisterConfig {
                is_faulty: true,
                ..RegisterConfig::default()
            }),
            lease,
            outage: None,
            calls_reads: false,
        }
    }
}

impl Rules for Leases {
    type Election = Simulated;
    type Ledger = Tokens;

    fn set(&mut self, bounds: &mut Bounds, name: &str, value: &'static str) -> bool {
        match name {
            "lease" => *self = Self::new(number(value)),
            "preempts" => {
                if let SimulatedConfig::Agent(config, _) = &mut self.agent {
                    Arc::make_mut(config).preemption = Preemption::Immediately;
                }
            }
            "calls-reads" => self.calls_reads = true,
            // The register reports each change without a question.
            "tells" => {
                if let SimulatedConfig::Register(register) = &mut self.register {
                    register.tells = true;
                }
            }
            "forgets" => {
                let away = number(value);
                self.outage = Some(away);
                (bounds.crash_within, bounds.mortal) = (away..=away, Some(REGISTER));
                (bounds.budget.crashes, bounds.budget.campaigns) = (1, 1);
                bounds.budget.campaigners = vec![false, false, true];
                bounds.delay = Some(0);
            }
            _ => return false,
        }
        true
    }

    fn config(&self) -> &SimulatedConfig {
        &self.agent
    }

    fn config_of(&self, member: usize, _: Incarnation) -> &SimulatedConfig {
        if member == REGISTER {
            &self.register
        } else {
            &self.agent
        }
    }

    fn score(&self, k: usize) -> Option<Score> {
        (k != REGISTER).then(|| Score::from(u32::try_from(k).unwrap_or(0)))
    }

    /// The duration of a lease by another clock, and of a claim.
    fn memory(&self) -> Duration {
        ticks(f64::from(self.lease) * 1.25 + 2.0)
    }

    fn reads_wall_clocks(&self) -> bool {
        true
    }

    fn taught(&self, member: usize) -> Vec<InputOf<Simulated>> {
        if member == REGISTER && self.outage.is_some() {
            vec![Input::StepDown { to: None }]
        } else {
            Vec::new()
        }
    }

    fn shortcut(&self, now: u16, effect: &EffectOf<Simulated>) -> Option<Vec<InputOf<Simulated>>> {
        let is_question =
            matches!(effect, Effect::Send { to: To::One(id), .. } if *id == name(REGISTER));
        (is_question && self.outage == Some(now)).then(Vec::new)
    }

    fn is_call(&self, message: &RegisterMessage) -> bool {
        let is_read = match message {
            RegisterMessage::Ask(question) => matches!(question, RegisterQuestion::Read(_)),
            RegisterMessage::Told(shown) => {
                shown.request.is_some() && matches!(shown.answer, Answer::Holds { .. })
            }
        };
        is_read && self.calls_reads
    }

    fn makes_calls(&self, timer: BullyTimer) -> bool {
        let reads = matches!(timer, BullyTimer::Detect | BullyTimer::Heartbeat);
        reads && self.calls_reads
    }

    fn note(&self, tokens: &mut Tokens, seen: &Seen<'_, Simulated>) {
        match seen.effect {
            Effect::Notify(Event::Acquired { term }) => {
                if term.0 <= tokens.highest {
                    tokens.broken = Some("TokenMonotone");
                }
                tokens.highest = tokens.highest.max(term.0);
                tokens.leaderships = tokens.leaderships.saturating_add(1);
            }
            Effect::Notify(Event::Lost {
                term,
                reason: LostReason::Resigned,
            }) => tokens.resigned.push((seen.agent, term.0)),
            _ => {}
        }
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if world.believers().nth(1).is_some() {
            return Some("OneBeliever");
        }
        let resigned = |leader| world.ledger.resigned.contains(&leader);
        if world.believers().any(resigned) {
            return Some("ResignFinal");
        }
        world.ledger.broken
    }

    fn sights(&self) -> &'static [&'static str] {
        &["an agent leads after another one"]
    }

    fn shows(&self, _: usize, world: &World<Self>) -> bool {
        world.ledger.leaderships > 1 && world.believers().next().is_some()
    }

    fn is_within(&self, tokens: &Tokens) -> bool {
        tokens.leaderships <= LEADERSHIPS
    }
}
