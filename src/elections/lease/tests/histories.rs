//! Whole groups around one register, in virtual time: whatever happens, no two lead; and once all is well
//! again, one does. The same histories find each defect that is planted.

use super::super::{Defect, RegisterConfig, Simulated, SimulatedConfig};
use super::*;
use crate::testkit::{
    faults::{Conditions, SplitMix64},
    sim::{Detection, Participant, World},
};

const AGENTS: [&str; 3] = ["a", "b", "c"];
const REGISTER: &str = "register";
const MS: fn(u64) -> Duration = Duration::from_millis;

struct History {
    world: World<Simulated>,
    random: SplitMix64,
    /// Whether the store goes back to backups and loses records.
    forgets: bool,
}

impl History {
    fn drawn(seed: u64, defect: Option<Defect>) -> Self {
        let mut random = SplitMix64::new(!seed);
        let register = RegisterConfig {
            tells: random.chance(500),
            fails_every: random.below(4) * 5,
            fails_until: Time::MAX,
            is_faulty: true,
        };
        Self::around(register, seed, defect)
    }

    fn around(register: RegisterConfig, seed: u64, defect: Option<Defect>) -> Self {
        let mut random = SplitMix64::new(seed ^ 0x1ea5e);
        let preemption = match random.below(3) {
            0 => Preemption::Immediately,
            1 => Preemption::After(MS(700)),
            _ => Preemption::Never,
        };
        let forgets = random.chance(500);
        let config = LeaseConfig {
            timings: Timings::lan(),
            preemption,
            cooldown: MS(900),
            defect,
            ..LeaseConfig::new("shop", "cron").unwrap()
        };
        let agents = AGENTS.into_iter().zip(1..).map(|(name, score)| {
            let config = SimulatedConfig::Agent(Arc::new(config.clone()));
            let score: i32 = score;
            let mut agent = Participant::voter(id(name), Some(score.into()), config);
            agent.clock_ppm = if random.chance(500) {
                110_000
            } else {
                -110_000
            };
            agent.clock_offset = MS(random.below(5_000));
            agent
        });
        let agents: Vec<_> = agents.collect();
        let register = Participant::observer(id(REGISTER), SimulatedConfig::Register(register));
        let detection = match random.below(3) {
            0 => Detection::Certain(MS(3).into()),
            1 => Detection::Suspect(MS(30).into()),
            _ => Detection::Silent(Duration::ZERO.into()),
        };
        let world = World::builder(seed)
            .agents(agents)
            .agent(register)
            .conditions(stormy(&mut random))
            .detection(detection)
            .drains_in(random.chance(800).then(|| MS(random.below(200))))
            .build();
        Self {
            world,
            random,
            forgets,
        }
    }

    /// Until the end, or until two lead, or one leads in a term that is not above all earlier ones.
    fn plays(&mut self) -> Result<(), String> {
        let mut highest = Term::ZERO;
        let mut leads: Option<(String, Term)> = None;
        let forgets = self.forgets;
        self.world.set_invariant(move |world| {
            if world.is_contested() {
                return Err(format!("two lead: {:?}", world.believers()));
            }
            let now = world.beliefs().next();
            let now = now.map(|(id, term)| (id.to_string(), term));
            if let Some((_, term)) = &now
                && now != leads
            {
                // The agents that knew the last term may be gone, and so the record.
                if *term <= highest && !forgets {
                    return Err(format!("term {term} after {highest}"));
                }
                highest = highest.max(*term);
                leads = now;
            }
            Ok(())
        });
        for _ in 0..60 {
            self.misfortune();
            let span = MS(20 + self.random.below(400));
            self.world.run_for(span);
            if let Some(violation) = self.world.violation() {
                return Err(violation.to_string());
            }
        }
        Ok(())
    }

    fn misfortune(&mut self) {
        let world = &mut self.world;
        let agent = AGENTS[usize::try_from(self.random.below(3)).unwrap()];
        match self.random.below(16) {
            0 => drop(world.crash(agent)),
            1 | 2 => {
                for agent in AGENTS {
                    world.restart(agent);
                }
            }
            3 => drop(world.pause(agent)),
            4 | 5 => {
                for agent in AGENTS {
                    world.resume(agent);
                }
            }
            6 => world.cut(agent, REGISTER),
            7 => world.cut_one_way(REGISTER, agent),
            8 => world.isolate(REGISTER),
            9 | 10 => world.heal(),
            11 => drop(world.step_down(agent, None)),
            12 => drop(world.campaign(agent)),
            13 => {
                let score = (!self.random.chance(200))
                    .then(|| Score::from(i64::try_from(self.random.below(9)).unwrap()));
                world.set_score(agent, score);
            }
            14 => drop(world.campaign(REGISTER)),
            _ => self.store_restarts(),
        }
    }

    /// It is away for longer than any gap in the reads of an agent whose clock is slow; then it may show what was, or
    /// nothing.
    fn store_restarts(&mut self) {
        if !self.world.crash(REGISTER) {
            return;
        }
        self.world.run_for(MS(400));
        if self.world.restart(REGISTER) && self.forgets {
            if self.random.chance(700) {
                self.world.step_down(REGISTER, None);
            } else {
                self.world.drained(REGISTER);
            }
        }
    }

    /// All is well again: in the time that is promised one leads, and all know it.
    fn settles(&mut self) -> AgentId {
        let world = &mut self.world;
        world.heal();
        world.set_conditions(Conditions::delayed(MS(2)));
        for agent in AGENTS.into_iter().chain([REGISTER]) {
            world.resume(agent);
            world.restart(agent);
        }
        world.set_score("b", Some(5.into()));
        world.run_for(MS(2_000)); // what is under way, hand-overs and cool-downs
        world.settle(MS(3_000)).unwrap()
    }
}

fn stormy(random: &mut SplitMix64) -> Conditions {
    let loss = u16::try_from(random.below(200)).unwrap();
    let storm = Conditions::builder()
        .delay(MS(0)..=MS(9))
        .loss(loss)
        .duplication(50)
        .slow(100, MS(10)..=MS(300));
    storm.build().unwrap()
}

#[test]
fn no_two_lead_and_one_does_in_the_end() {
    for seed in 0..200 {
        let mut history = History::drawn(seed, None);
        history.plays().unwrap_or_else(|wrong| panic!("{wrong}"));
        history.settles();
    }
}

#[test]
fn a_group_settles_on_the_highest_and_replaces_it() {
    let mut history = History::around(RegisterConfig::default(), 1, None);
    history.world.set_conditions(Conditions::delayed(MS(2)));
    for agent in AGENTS {
        history.world.set_clock_rate(agent, 0); // two slots differ by less than two clocks may
    }
    assert_eq!(history.world.settle(MS(1_000)).unwrap(), "c");
    history.world.crash("c");
    assert_eq!(history.world.settle(MS(1_500)).unwrap(), "b");
}

/// Of so many histories some one finds it.
#[test]
fn histories_find_each_defect_that_shows_while_the_store_keeps_its_memory() {
    let defects = [
        Defect::NonceReused,
        Defect::LeaseFromArrival,
        Defect::UnknownIsSuccess,
        Defect::ExpiryFromFirstSight,
    ];
    for defect in defects {
        let finds = |seed| History::drawn(seed, Some(defect)).plays().is_err();
        assert!((0..400).any(finds), "{defect:?}");
    }
}

/// Whether the rule holds by these parameters.
type Scene = fn(LeaseConfig) -> bool;

const SCENES: [(Defect, Scene); 3] = [
    (Defect::GapIgnored, a_gap_begins_the_wait_anew),
    (Defect::ReleaseBelieved, a_release_after_a_gap_is_waited_for),
    (Defect::TermFromTheRecord, a_term_outlives_its_record),
];

#[test]
fn each_defect_of_a_store_that_forgets_breaks_the_scene_of_its_rule() {
    for (defect, holds) in SCENES {
        assert!(holds(config()), "without {defect:?}");
        let planted = LeaseConfig {
            defect: Some(defect),
            ..config()
        };
        assert!(!holds(planted), "{defect:?}");
    }
}

/// Follows HIGH, which has renewed its lease before its eyes.
fn following(config: LeaseConfig) -> Kit {
    let mut me = Kit::with(config);
    for attempt in 1..3 {
        let record = Some(held(HIGH, OLD, attempt));
        me.later(READ).sees(record).whatever();
    }
    me
}

/// It sees after a gap what it saw before: HIGH may have renewed what is gone.
fn a_gap_begins_the_wait_anew(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.later(PATIENCE - 1)
        .sees(Some(held(HIGH, OLD, 2)))
        .whatever();
    me.later(1).fire(BullyTimer::Lease).whatever();
    me.leader().is_some()
}

/// It sees after a gap that the lease was released: LOW may have taken it, and that is gone.
fn a_release_after_a_gap_is_waited_for(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.later(PATIENCE / 2 + POLL)
        .sees(Some(released(OLD, Some(ME))))
        .whatever();
    me.fire(BullyTimer::Campaign).whatever();
    me.role() == Role::Follower
}

fn a_term_outlives_its_record(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.later(READ).sees(None).whatever();
    me.unchanged(None, PATIENCE + SLOT);
    me.fire(BullyTimer::Campaign).whatever();
    me.attempt().1.term > Term(OLD)
}
