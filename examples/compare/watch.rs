//! Runs a case once, and measures.

use std::time::Duration;

use actix_bully::{
    protocol::{AgentId, Event, Score, Time},
    testkit::faults::Conditions,
};
use bully_core::protocol::{After, Election};
use bully_sim::{
    faults::SplitMix64,
    sim::{Detection, Participant, TermOrder, World},
    trace::{Trace, What},
};

use super::{
    cases::{Case, Look, STORE, delays},
    contenders::Contender,
    meter::{Meter, Metered, Metering, Stamp},
};

/// The costs of one run of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Measure {
    /// Time until all agreed, from the event or, for a case that lasts, from its healing; `None` if they never did.
    pub(crate) agreed: Option<Duration>,
    /// Whether they agreed on the highest-ranked agent.
    pub(crate) highest: bool,
    /// Messages until the agreement; for a case that lasts, per second.
    pub(crate) messages: f64,
    /// Bytes until the agreement; for a case that lasts, per second.
    pub(crate) bytes: f64,
    /// The longest chain of messages that caused each other until the agreement.
    pub(crate) rounds: u32,
    /// Largest number of agents that considered themselves leader at the same time.
    pub(crate) leaders: usize,
    /// Time with two or more such leaders.
    pub(crate) contested: Duration,
    /// Time without such a leader.
    pub(crate) vacant: Duration,
    /// Number of leaderships that began.
    pub(crate) elections: usize,
}

/// Longest time of an agreement for any election.
const LIMIT: Duration = Duration::from_secs(60);
/// Time after which a better agent has taken over, by any policy of this comparison.
const TAKEOVER: Duration = Duration::from_secs(15);
/// Shortest time that an agreement has to last.
const LASTS: Duration = Duration::from_secs(3);
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

type Metric<C> = World<Metered<<C as Contender>::Election>>;

/// Plays the case with one seed.
pub(crate) fn run<C: Contender>(case: Case, seed: u64) -> Measure {
    let meter = Meter::default();
    let mut world = world::<C>(seed, &meter);
    let mut random = SplitMix64::new(seed);
    let mut leader = highest();
    if case.begins_settled() {
        ask::<C>(&mut world);
        leader = settled::<C>(&mut world).unwrap_or(leader);
        if case == Case::Recovery {
            world.crash(&leader);
            ask::<C>(&mut world);
            agreement::<C>(&mut world, None);
        }
    }
    meter.restart();
    *world.trace_mut() = Trace::new().with_repeated();
    let began = world.now();
    case.happen(&mut world, &leader);
    ask::<C>(&mut world);
    match case.look() {
        Look::Agreement => {
            let (agreed, measure) = agreement::<C>(&mut world, Some(began));
            measure.agreed(&world, agreed, began)
        }
        Look::While(span) => {
            let watched = endure::<C>(&mut world, case, &leader, span, &mut random);
            world.heal();
            world.set_conditions(calm());
            for one in NAMES.into_iter().chain([STORE]) {
                world.restart(one);
            }
            ask::<C>(&mut world);
            let healed = world.now();
            let (agreed, _) = agreement::<C>(&mut world, None);
            watched.agreed(&world, agreed, healed)
        }
    }
}

impl Measure {
    /// Returns this measure with the agreement, counted from `since`.
    fn agreed<E: Election>(
        self,
        world: &World<E>,
        agreed: Option<(Time, AgentId)>,
        since: Time,
    ) -> Self {
        let highest = world.highest().map(|rank| rank.id);
        let (at, with) = agreed.unzip();
        Self {
            agreed: at.map(|at| at.since(since)),
            highest: with.is_some() && with == highest,
            ..self
        }
    }
}

fn world<C: Contender>(seed: u64, meter: &Meter) -> Metric<C> {
    let voters: Vec<AgentId> = NAMES
        .iter()
        .filter_map(|name| AgentId::new(name).ok())
        .collect();
    let metering = |config| Metering {
        config,
        size: C::size,
        repeats: C::repeats,
        says: C::says,
        meter: meter.clone(),
    };
    let config = metering(C::config(&voters, seed));
    let agents = voters
        .into_iter()
        .zip(1_u32..)
        .map(|(id, score)| Participant::voter(id, Some(Score::from(score)), config.clone()));
    let mut world = World::builder(seed)
        .agents(agents)
        .conditions(calm())
        .detection(Detection::Silent(After::from(Duration::ZERO)))
        .starts_within(Duration::from_millis(10))
        .drains_in(Some(Duration::ZERO))
        .term_order(TermOrder::Any)
        .trace(Trace::new().with_repeated())
        .build();
    // The store exists before the agents, because an application runs it anyway.
    if let (Some(store), Ok(id)) = (C::store(), AgentId::new(STORE)) {
        world.join(Participant::observer(id, metering(store)));
    }
    world
}

/// The agent that normally leads.
#[expect(clippy::expect_used, reason = "a valid name")]
fn highest() -> AgentId {
    AgentId::new("e").expect("valid")
}

fn calm() -> Conditions {
    Conditions::builder()
        .delay(delays())
        .build()
        .unwrap_or_default()
}

/// Returns the leader before the case: the highest in rank, if the election lets it take over in time. Otherwise a
/// take-over after the start would count, with some seeds, as a leadership of the case.
fn settled<C: Contender>(world: &mut Metric<C>) -> Option<AgentId> {
    let (_, leader) = agreement::<C>(world, None).0?;
    if leader == highest() {
        return Some(leader);
    }
    world.run_for(TAKEOVER);
    agreement::<C>(world, None).0.map(|(_, leader)| leader)
}

/// Tells every agent to hold an election. A user has to do this if no agent notices that a leader is gone.
fn ask<C: Contender>(world: &mut Metric<C>) {
    if C::ASKED {
        world.run_for(Duration::from_millis(10));
        for agent in NAMES {
            world.campaign(agent);
        }
    }
}

/// Waits for an agreement that lasts; returns its beginning, its leader, and the costs until then.
fn agreement<C: Contender>(
    world: &mut Metric<C>,
    began: Option<Time>,
) -> (Option<(Time, AgentId)>, Measure) {
    let mut watch = Watch::new(began.unwrap_or_else(|| world.now()));
    let end = world.now().after(LIMIT);
    // All agents may already agree.
    let mut agreed = world
        .agreed()
        .map(|leader| (world.now(), leader.id, watch.measure));
    while world.next_at().is_some_and(|at| at <= end) && world.step() {
        watch.look::<C>(world);
        let now = world.agreed().map(|leader| leader.id);
        match (&agreed, now) {
            (Some((_, with, _)), Some(leader)) if *with == leader => {}
            (_, Some(leader)) => agreed = Some((world.now(), leader, watch.measure)),
            (_, None) => agreed = None,
        }
        let lasts = |(since, _, _): &(Time, AgentId, Measure)| world.now().since(*since) >= LASTS;
        if agreed.as_ref().is_some_and(lasts) {
            break;
        }
    }
    // An election that breaks the driver's contract cannot be compared.
    assert_eq!(world.violation(), None);
    let Some((at, with, mut measure)) = agreed else {
        return (None, watch.measure);
    };
    count(world.trace(), at, &mut measure);
    (Some((at, with)), measure)
}

/// Watches a case that lasts for `span`.
fn endure<C: Contender>(
    world: &mut Metric<C>,
    case: Case,
    leader: &AgentId,
    span: Duration,
    random: &mut SplitMix64,
) -> Measure {
    let began = world.now();
    let mut watch = Watch::new(began);
    let ticks = span.as_millis() / 100;
    for tick in 0..u64::try_from(ticks).unwrap_or(0) {
        case.go_on(world, leader, tick, random);
        let end = began.after(Duration::from_millis((tick + 1) * 100));
        while world.next_at().is_some_and(|at| at <= end) && world.step() {
            watch.look::<C>(world);
        }
        world.run_to(end);
        watch.look::<C>(world);
    }
    let mut measure = watch.measure;
    count(world.trace(), world.now(), &mut measure);
    measure.messages /= span.as_secs_f64();
    measure.bytes /= span.as_secs_f64();
    measure.elections = elections::<C>(world, began);
    measure
}

/// The measurements from step to step.
struct Watch {
    measure: Measure,
    last: Time,
    leaders: usize,
}

impl Watch {
    fn new(began: Time) -> Self {
        Self {
            measure: Measure::default(),
            last: began,
            leaders: 1,
        }
    }

    fn look<C: Contender>(&mut self, world: &Metric<C>) {
        let passed = world.now().since(self.last);
        match self.leaders {
            0 => self.measure.vacant += passed,
            1 => {}
            _ => self.measure.contested += passed,
        }
        self.last = world.now();
        self.leaders = world.beliefs().count();
        self.measure.leaders = self.measure.leaders.max(self.leaders);
    }
}

/// Adds up the messages until the time `until`.
fn count(trace: &Trace, until: Time, measure: &mut Measure) {
    for entry in trace.entries().filter(|entry| entry.at <= until) {
        if let What::Sent { message, .. } | What::Lost { message, .. } = &entry.what {
            let stamp = Stamp::of(message);
            measure.messages += 1.0;
            measure.bytes += f64::from(u32::try_from(stamp.bytes).unwrap_or(u32::MAX));
            measure.rounds = measure.rounds.max(stamp.depth);
        }
    }
}

/// Returns the number of leaderships that began since the time `since`.
fn elections<C: Contender>(world: &Metric<C>, since: Time) -> usize {
    let acquired = |name: &&str| {
        let events = world.events(name).iter();
        events
            .filter(|(at, event)| *at >= since && matches!(event, Event::Acquired { .. }))
            .count()
    };
    NAMES.iter().map(acquired).sum()
}
