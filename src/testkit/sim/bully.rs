//! The bully under chaos: what the available mode and the plain ASTRA rules owe.
//!
//! Decided here: what is owed. In every history: once all is healed, the most important agent that
//! may be elected leads, and all follow it. In histories in which messages keep within the delay
//! bound and nobody hangs ([`BullyScenario::BOUNDED`]) also, after every step: one leads, or two for
//! no longer than two delays.

use std::{sync::Arc, time::Duration};

use super::{
    Participant, TermOrder, World,
    chaos::{Expected, Fault, Scenario},
};
use crate::{
    elections::bully::{Bully, BullyConfig, Preemption, Profile},
    protocol::{AgentId, MemberKind, Score, Time},
    testkit::faults::SplitMix64,
};

/// A group of bullies with one configuration: after healing, the highest-ranked agent that may be
/// elected leads, and all follow it.
///
/// ```
/// use actix_bully::testkit::sim::{BullyScenario, chaos::{ChaosOptions, chaos}};
/// let report = chaos(7, 3, &ChaosOptions::default(), &mut BullyScenario::default());
/// assert!(report.violation.is_none(), "{report}");
/// ```
#[derive(Clone, Debug)]
pub struct BullyScenario {
    config: Arc<BullyConfig>,
    contested_for: Option<Duration>,
    since: Option<Time>,
}

impl Default for BullyScenario {
    fn default() -> Self {
        Self::new(BullyConfig::default())
    }
}

impl BullyScenario {
    /// The faults that leave messages within the delay bound and agents awake: crashes and returns
    /// at any time, duplicates, any order, hand-overs, members who leave, and importance that
    /// changes.
    ///
    /// Not among them: a newcomer. Until all know of it, it is heard by some and not by others.
    pub const BOUNDED: [Fault; 9] = [
        Fault::Duplication,
        Fault::Reordering,
        Fault::Crash,
        Fault::Restart,
        Fault::ScoreChange,
        Fault::Leave,
        Fault::CrashAfterSend,
        Fault::Campaign,
        Fault::StepDown,
    ];

    /// With these rules; the times for draining and resting are cut to half a second, so that a
    /// history need not wait for them.
    pub fn new(config: BullyConfig) -> Self {
        let short = Duration::from_millis(500);
        let config = BullyConfig {
            drain: config.drain.min(short),
            rest: config.rest.min(short),
            ..config
        };
        Self {
            config: Arc::new(config),
            contested_for: None,
            since: None,
        }
    }

    /// The same with a rule broken on purpose.
    #[cfg(any(test, feature = "planted"))]
    #[doc(hidden)]
    #[must_use]
    pub fn planted(self, defect: crate::elections::bully::Defect) -> Self {
        let config = BullyConfig {
            defect: Some(defect),
            ..BullyConfig::clone(&self.config)
        };
        Self {
            config: Arc::new(config),
            ..self
        }
    }

    /// The history keeps messages within the delay bound d, and agents awake: two lead at one time
    /// for 2 d at most, which is checked after every step. Only with faults that are
    /// [`BOUNDED`](Self::BOUNDED).
    #[must_use]
    pub fn as_bounded(self) -> Self {
        let longest = self.delay_bound() * 2;
        self.contested_for(longest)
    }

    /// Two may lead at one time for so long and no longer. Only where no fault separates agents,
    /// and nobody hangs.
    #[must_use]
    pub fn contested_for(mut self, longest: Duration) -> Self {
        self.contested_for = Some(longest);
        self
    }

    /// A known limit of the plain ASTRA rules: who cannot be elected cannot ask who leads, and of
    /// two announcements that cross each other it may believe the wrong one for ever. So in their
    /// histories everybody can be elected.
    fn is_strict(&self) -> bool {
        self.config.profile == Profile::Strict
    }
}

impl Scenario for BullyScenario {
    type Election = Bully;

    /// Mostly voters with scores from 0 to 9; now and then a witness or an observer, unless the
    /// rules are the plain ASTRA ones.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Bully> {
        let config = Arc::clone(&self.config);
        let score = self.score(random);
        let kind = if random.chance(80) && !self.is_strict() {
            MemberKind::Observer
        } else {
            MemberKind::Voter
        };
        Participant {
            kind,
            ..Participant::voter(id, score, config)
        }
    }

    fn score(&mut self, random: &mut SplitMix64) -> Option<Score> {
        let score = i64::try_from(random.below(10)).unwrap_or(0);
        (!random.chance(70) || self.is_strict()).then(|| Score::from(score))
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    /// Waiting for a superior that is gone, an election, a second one by somebody more important;
    /// before that a silence that has to be noticed, and a rest.
    fn settles_within(&self, skew: u32) -> Duration {
        let t = &self.config.timings;
        let detection = t.detector().map_or(Duration::ZERO, |d| d.detection);
        let turns = (t.step() + t.jitter()) * 9;
        let rounds = t.victory_wait() + (t.deadline() + t.delay_bound() * 2) * 2;
        let idle = self.config.drain + self.config.rest;
        let all = detection * 2 + turns + rounds + idle + t.delay_bound() * 8;
        all + all * skew / 1_000_000 * 2
    }

    fn decisive(&self) -> &[&'static str] {
        &["elected", "yield", "ok", "resign", "elect"]
    }

    /// A known limit: the plain ASTRA rules compare ranks and no terms: a late announcement of a former leader is
    /// followed, if it ranks high enough, until the next election.
    fn term_order(&self) -> TermOrder {
        if self.is_strict() {
            TermOrder::Any
        } else {
            TermOrder::Rising
        }
    }

    fn expected(&self, world: &World<Bully>) -> Expected {
        let bullies = self.config.preemption == Preemption::Immediately;
        match world.highest() {
            None => Expected::Nobody,
            Some(highest) if bullies && self.config.margin.is_none() => Expected::Only(highest.id),
            Some(_) => Expected::Somebody,
        }
    }

    fn check(&mut self, world: &World<Bully>) -> Result<(), String> {
        let Some(longest) = self.contested_for else {
            return Ok(());
        };
        if !world.is_contested() {
            self.since = None;
            return Ok(());
        }
        let since = *self.since.get_or_insert_with(|| world.now());
        if world.now().since(since) <= longest {
            return Ok(());
        }
        let leaders: Vec<String> = world.believers().iter().map(AgentId::to_string).collect();
        Err(format!("{} lead since {since}", leaders.join(" and ")))
    }

    /// The plain ASTRA rules have no failure detector: somebody must start.
    fn healed(&mut self, world: &mut World<Bully>) {
        if self.is_strict() {
            let all: Vec<AgentId> = world.agents().cloned().collect();
            for agent in all {
                world.campaign(agent);
            }
        }
    }
}
