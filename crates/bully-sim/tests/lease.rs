//! Whole groups around one register, in virtual time: two agents never lead at once, and an agent leads after all
//! faults have ended.
//!
//! Decided here: the faults of the store. Before it goes back to a backup, it is down for longer than any gap between
//! two reads, and it loses only records that existed for longer than such a gap. Records that are written and lost
//! between two reads leave no trace, so no agent could notice them. If leases differ, all agents have seen the longest
//! lease before, and no agent starts soon afterwards.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are not recognised as such"
)]

use std::{cell::Cell as Shared, rc::Rc, sync::Arc, time::Duration};

use bully_core::{
    elections::lease::{LeaseConfig, LeaseRecord, RegisterConfig, Simulated, SimulatedConfig},
    protocol::{AgentId, Preemption, Score, Term, Time, Timings, fixture::id},
    random::SplitMix64,
};
use bully_sim::{
    faults::Conditions,
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
    /// Last time at which the register was empty.
    absent: Rc<Shared<Time>>,
    /// Time before which no agent starts, because it could not know the longest lease.
    no_start_before: Time,
}

fn named() -> LeaseConfig {
    LeaseConfig::new("shop", "cron").unwrap()
}

fn config() -> LeaseConfig {
    LeaseConfig {
        timings: Timings::lan(),
        cooldown: MS(900),
        ..named()
    }
}

impl History {
    fn drawn(seed: u64, config: LeaseConfig) -> Self {
        let mut random = SplitMix64::new(!seed);
        let register = RegisterConfig {
            tells: random.chance(500),
            fails_every: random.below(4) * 5,
            fails_until: Time::MAX,
            is_faulty: true,
        };
        Self::around(register, seed, config)
    }

    fn around(register: RegisterConfig, seed: u64, config: LeaseConfig) -> Self {
        let mut random = SplitMix64::new(seed ^ 0x1ea5e);
        let preemption = match random.below(3) {
            0 => Preemption::Immediately,
            1 => Preemption::After(MS(700)),
            _ => Preemption::Never,
        };
        let forgets = random.chance(500);
        let config = LeaseConfig {
            preemption,
            ..config
        };
        let mixes = random.chance(400);
        let agents = AGENTS.into_iter().zip(1..).map(|(name, score)| {
            let mut config = config.clone();
            if mixes && random.chance(500) {
                config.timings = slow();
            }
            let config = SimulatedConfig::Agent(Arc::new(config), id(REGISTER));
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
            absent: Rc::default(),
            no_start_before: Time::ZERO,
        }
    }

    /// Runs the history to its end. Returns an error if two agents lead, or if an agent leads in a term that is not
    /// above all earlier terms.
    fn plays(&mut self) -> Result<(), String> {
        let mut highest = Term::ZERO;
        let mut leads: Option<(String, Term)> = None;
        let forgets = self.forgets;
        let absent = Rc::clone(&self.absent);
        self.world.set_invariant(move |world| {
            if held_by(world).is_none() {
                absent.set(world.now());
            }
            if world.is_contested() {
                return Err(format!("two lead: {:?}", world.believers()));
            }
            let now = world.beliefs().next();
            let now = now.map(|(id, term)| (id.to_string(), term));
            if let Some((_, term)) = &now
                && now != leads
            {
                // If the record is lost, the agents that knew the last term may be gone too.
                if *term <= highest && !forgets {
                    return Err(format!("term {term} after {highest}"));
                }
                highest = highest.max(*term);
                leads = now;
            }
            Ok(())
        });
        for _ in 0..60 {
            self.random_fault();
            let span = MS(20 + self.random.below(400));
            self.world.run_for(span);
            if let Some(violation) = self.world.violation() {
                return Err(violation.to_string());
            }
        }
        Ok(())
    }

    fn random_fault(&mut self) {
        let world = &mut self.world;
        let agent = AGENTS[usize::try_from(self.random.below(3)).unwrap()];
        match self.random.below(20) {
            0 => drop(world.crash(agent)),
            1 | 2 if world.now() < self.no_start_before => {}
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
            15 => self.store_restarts(),
            16 | 17 => self.record_is_deleted(),
            18 if self.forgets => drop(world.set_score(REGISTER, None)),
            _ if is_foreign(world) => drop(world.drained(REGISTER)),
            _ => {}
        }
    }

    /// Returns the longest time between two reads, and the longest lease, of any agent with any clock.
    fn spans(&self) -> (Duration, Duration) {
        let configs = AGENTS.map(|agent| config_of(&self.world, agent));
        let gap = configs
            .iter()
            .map(|config| config.poll() + config.timings.lease());
        let lease = configs.iter().map(|config| config.timings.lease());
        let real = |span: Duration| span * 9 / 8 + MS(1);
        (real(gap.max().unwrap()), real(lease.max().unwrap()))
    }

    /// Returns whether each running agent has seen the longest lease, or has it itself.
    fn may_forget(&self) -> bool {
        let configs = AGENTS.map(|agent| config_of(&self.world, agent).timings.lease());
        let longest = configs.iter().max().unwrap();
        self.forgets
            && AGENTS.into_iter().zip(&configs).all(|(agent, own)| {
                let machine = self.world.machine(agent);
                own == longest
                    || machine.is_none_or(|machine| match machine {
                        Simulated::Agent(agent, _) => agent.longest_lease_seen() >= Some(*longest),
                        Simulated::Register(_) => false,
                    })
            })
    }

    fn forgot(&mut self) {
        let (_, lease) = self.spans();
        let leases = AGENTS.map(|agent| config_of(&self.world, agent).timings.lease());
        if leases.iter().any(|lease| *lease != leases[0]) {
            self.no_start_before = self.world.now().after(lease * 2);
        }
    }

    /// Ends the store for longer than any gap between two reads. Then the store may have an earlier record, or none.
    fn store_restarts(&mut self) {
        if !self.world.crash(REGISTER) {
            return;
        }
        // A report of the store may arrive very late, but it must not hide the gap.
        self.world.run_for(self.spans().0 + MS(300));
        if self.world.restart(REGISTER) && self.may_forget() {
            if self.random.chance(700) {
                self.world.step_down(REGISTER, None);
            } else {
                self.world.drained(REGISTER);
            }
            self.forgot();
        }
    }

    /// Deletes the record while the register is up, with any messages on their way.
    fn record_is_deleted(&mut self) {
        let (gap, _) = self.spans();
        let is_seen = self.world.now().since(self.absent.get()) > gap + MS(300);
        if is_seen && self.may_forget() && self.world.drained(REGISTER) {
            self.forgot();
        }
    }

    /// Ends all faults. Returns the leader on which all agents agree in the promised time.
    fn settles(&mut self) -> Result<AgentId, String> {
        let world = &mut self.world;
        // A store that fails at every fifth question still has a fault.
        let well = RegisterConfig {
            is_faulty: true,
            ..RegisterConfig::default()
        };
        world.crash(REGISTER);
        world.reconfigure(REGISTER, SimulatedConfig::Register(well));
        world.heal();
        world.set_conditions(Conditions::delayed(MS(2)));
        for agent in AGENTS.into_iter().chain([REGISTER]) {
            world.resume(agent);
            world.restart(agent);
        }
        if is_foreign(world) {
            world.drained(REGISTER);
        }
        world.set_score("b", Some(5.into()));
        world.run_for(MS(3_000)); // messages under way, hand-overs and cool-downs
        let settled = world.settle(MS(3_000));
        settled.map_err(|why| format!("{why:?}"))
    }
}

/// Returns timings twice as long as `lan`, but with the same delay bound.
fn slow() -> Timings {
    let slow = Timings::lan().to_builder();
    let slow = slow.detector(MS(120), MS(500)).lease(MS(480), MS(600));
    slow.build().unwrap()
}

fn config_of(world: &World<Simulated>, agent: &str) -> Arc<LeaseConfig> {
    match world.config(agent) {
        Some(SimulatedConfig::Agent(config, _)) => Arc::clone(config),
        other => panic!("{agent} has {other:?}"),
    }
}

/// Returns the lease in the register, or in its durable record if the register is down.
fn held_by(world: &World<Simulated>) -> Option<&LeaseRecord> {
    match world.machine(REGISTER) {
        Some(Simulated::Register(register)) => register.held().lease(),
        Some(Simulated::Agent(..)) | None => world.durable(REGISTER)?.lease(),
    }
}

/// Returns whether a record of another group is in the register.
fn is_foreign(world: &World<Simulated>) -> bool {
    held_by(world).is_some_and(|record| record.name.group != "cron")
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

/// Runs `LEASE_HISTORIES` histories, by default 200. `.ci/soak lease` runs 200,000.
#[test]
fn no_two_lead_and_one_does_in_the_end() {
    let given = std::env::var("LEASE_HISTORIES").ok();
    let count = given.map_or(200, |count| count.parse().unwrap());
    // In the last two histories, an agent that had hung once handled a new command before the commands that waited.
    let seeds: Vec<u64> = (0..count).chain([11_023, 143_983]).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for share in seeds.chunks(seeds.len().div_ceil(threads)) {
            scope.spawn(move || {
                for seed in share {
                    let mut history = History::drawn(*seed, config());
                    let settled = history.plays().and_then(|()| history.settles());
                    assert!(settled.is_ok(), "seed {seed}: {settled:?}");
                }
            });
        }
    });
}

/// The holder has the timings `wan`, and leads for four seconds after it was cut off. The follower has `lan`.
fn deleted_under_a_longer_lease(config: &LeaseConfig) -> bool {
    let agents: [Participant<Simulated>; 2] =
        [("a", Timings::wan()), ("b", Timings::lan())].map(|(name, timings)| {
            let config = LeaseConfig {
                timings,
                ..config.clone()
            };
            let config = SimulatedConfig::Agent(Arc::new(config), id(REGISTER));
            Participant::voter(id(name), (name == "a").then(|| 1.into()), config)
        });
    let register = SimulatedConfig::Register(RegisterConfig {
        is_faulty: true,
        ..RegisterConfig::default()
    });
    let mut world = World::builder(3)
        .agents(agents)
        .agent(Participant::observer(id(REGISTER), register))
        .conditions(Conditions::delayed(MS(2)))
        .build();
    world.run_for(MS(10_000));
    assert_eq!(world.believers(), ["a"]);
    world.set_score("b", Some(1.into()));
    world.isolate("a");
    world.drained(REGISTER);
    let is_contested = world.run_until(World::is_contested, MS(12_000));
    assert!(is_contested || world.believers() == ["b"]);
    is_contested
}

#[test]
fn a_follower_with_a_shorter_lease_waits_for_the_longer_one_also_after_the_record_was_deleted() {
    assert!(!deleted_under_a_longer_lease(&named()));
}

#[test]
fn a_leader_that_hangs_is_believed_in_until_its_lease_ends_and_not_at_that_moment() {
    let mut history = History::around(RegisterConfig::default(), 1, config());
    let world = &mut history.world;
    world.set_conditions(Conditions::delayed(MS(2)));
    world.set_clock_rate("c", 0);
    assert_eq!(world.settle(MS(1_000)).unwrap(), "c");
    world.pause("c");
    let (end, now) = (world.view("c").unwrap().valid_until, world.reading("c"));
    let left = end.since(now.unwrap());
    world.run_for(left.saturating_sub(Duration::from_nanos(1)));
    assert_eq!(world.believers(), ["c"]);
    world.run_for(Duration::from_nanos(1));
    assert!(world.believers().is_empty());
}

#[test]
fn a_group_settles_on_the_highest_and_replaces_it() {
    let mut history = History::around(RegisterConfig::default(), 1, config());
    history.world.set_conditions(Conditions::delayed(MS(2)));
    for agent in AGENTS {
        history.world.set_clock_rate(agent, 0); // two clocks may differ by more than two slots
    }
    assert_eq!(history.world.settle(MS(1_000)).unwrap(), "c");
    history.world.crash("c");
    assert_eq!(history.world.settle(MS(1_500)).unwrap(), "b");
}
