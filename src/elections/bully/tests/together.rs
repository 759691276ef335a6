//! A few machines together: whatever was lost, late, doubled or reordered before, one leader once
//! it is calm, and the right one.
//!
//! The seeded simulator plays longer and larger games; these are here for the races that one
//! machine alone does not show.

use std::collections::BTreeMap;

use super::{random::Dice, *};

/// How the network treats a message.
#[derive(Clone, Copy, PartialEq)]
enum Weather {
    /// Up to 3 d late, one in eight lost, one in eight doubled.
    Storm,
    /// No later than d.
    Calm,
}

enum Happens {
    Input(Box<Input<Bully>>),
    /// The snapshot as it is then.
    News,
    /// A timer, unless it was set again or stopped since.
    Timer(Timer, u64),
}

struct Node {
    bully: Bully,
    life: u64,
    alive: bool,
    /// It does nothing before.
    asleep_until: Time,
    /// Its timers, each with the number of the setting that counts.
    timers: BTreeMap<Timer, u64>,
    contract: Contract,
    /// When its leader changed last.
    changed: Time,
}

struct World {
    dice: Dice,
    config: Arc<BullyConfig>,
    now: Time,
    weather: Weather,
    members: Members,
    nodes: Vec<Node>,
    queue: BTreeMap<(Time, u64), (usize, u64, Happens)>,
    count: u64,
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

impl World {
    fn new(seed: u64, size: usize, config: BullyConfig) -> Self {
        let mut dice = Dice::new(seed);
        let mut members = Members::new(dice.one_in(2));
        let config = Arc::new(config);
        let scores: Vec<i32> = (0..size)
            .map(|_| i32::try_from(dice.below(5)).unwrap())
            .collect();
        members.join((0..size).map(|at| {
            let (name, score) = (id(NAMES[at]), Some(scores[at].into()));
            Member::up(name, MemberKind::Voter, score, Incarnation(1))
        }));
        let nodes = (0..size)
            .map(|at| Node {
                bully: life(at, 1, Some(scores[at].into()), &config),
                life: 1,
                alive: true,
                asleep_until: Time::ZERO,
                timers: BTreeMap::new(),
                contract: Contract::new(&config),
                changed: Time::ZERO,
            })
            .collect();
        let mut world = Self {
            dice,
            config,
            now: Time::from_millis(1),
            weather: Weather::Storm,
            members,
            nodes,
            queue: BTreeMap::new(),
            count: 0,
        };
        for at in 0..size {
            let members = Arc::new(world.members.clone());
            world.give(at, Input::Start(members));
        }
        world
    }

    fn give(&mut self, at: usize, input: Input<Bully>) {
        self.queue_up(at, self.now, Happens::Input(Box::new(input)));
    }

    fn queue_up(&mut self, at: usize, when: Time, what: Happens) {
        self.count += 1;
        let life = self.nodes[at].life;
        self.queue.insert((when, self.count), (at, life, what));
    }

    fn run(&mut self, until: Time) {
        while let Some(((when, count), (at, life, what))) = self.queue.pop_first() {
            if when > until {
                self.queue.insert((when, count), (at, life, what));
                break;
            }
            self.now = self.now.max(when);
            let node = &self.nodes[at];
            if !node.alive || node.life != life {
                continue;
            }
            if node.asleep_until > self.now {
                let awake = node.asleep_until;
                self.queue.insert((awake, count), (at, life, what));
                continue;
            }
            self.step(at, what);
        }
        self.now = until;
    }

    fn step(&mut self, at: usize, what: Happens) {
        let node = &mut self.nodes[at];
        let input = match what {
            Happens::Input(input) => *input,
            Happens::Timer(timer, setting) if node.timers.get(&timer) == Some(&setting) => {
                node.timers.remove(&timer);
                Input::TimedOut(timer)
            }
            Happens::Timer(..) => return,
            Happens::News => Input::Members(Arc::new(self.members.clone())),
        };
        if let Input::Received {
            from, incarnation, ..
        } = &input
            && self
                .members
                .get(from)
                .is_none_or(|m| m.is_stale(*incarnation))
        {
            return;
        }
        let before = node.bully.view(self.now).leader;
        node.contract.before(&input);
        let mut out = Effects::new();
        node.bully.handle(self.now, input, &mut out);
        let effects: VecDeque<_> = out.drain().collect();
        node.contract.after(&node.bully, self.now, &effects);
        if node.bully.view(self.now).leader != before {
            node.changed = self.now;
        }
        for effect in effects {
            self.obey(at, effect);
        }
    }

    fn obey(&mut self, at: usize, effect: Effect<Bully>) {
        match effect {
            Effect::Send { to, message } => {
                for (other, name) in NAMES.into_iter().enumerate().take(self.nodes.len()) {
                    let is_meant = match &to {
                        To::One(one) => *one == id(name),
                        To::All => other != at,
                        To::Set(some) => some.contains(&id(name)),
                    };
                    if is_meant {
                        self.carry(at, other, &message);
                    }
                }
            }
            Effect::SetTimer { timer, after } => {
                let spare = u64::try_from(after.max.abs_diff(after.min).as_nanos()).unwrap();
                let jitter = Duration::from_nanos(self.dice.below(spare + 1));
                let when = self.now.after(after.min + jitter);
                let setting = self.count + 1;
                self.nodes[at].timers.insert(timer, setting);
                self.queue_up(at, when, Happens::Timer(timer, setting));
            }
            Effect::CancelTimer(timer) => {
                self.nodes[at].timers.remove(&timer);
            }
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                let leader = Leader {
                    id: id(NAMES[at]),
                    incarnation: Incarnation(self.nodes[at].life),
                    term,
                };
                self.members.note_leader(leader);
            }
            Effect::Notify(Event::Draining { .. }) => {
                let late = Duration::from_millis(self.dice.below(300));
                let when = self.now.after(late);
                self.queue_up(at, when, Happens::Input(Box::new(Input::Drained)));
            }
            Effect::Notify(_) | Effect::Persist(()) => {}
        }
    }

    fn carry(&mut self, from: usize, to: usize, message: &BullyMessage) {
        let (copies, slowest) = match self.weather {
            Weather::Calm => (1, D),
            Weather::Storm if self.dice.one_in(8) => (0, D),
            Weather::Storm if self.dice.one_in(7) => (2, 3 * D),
            Weather::Storm => (1, 3 * D),
        };
        for _ in 0..copies {
            let late = Duration::from_micros(self.dice.below(slowest * 1_000));
            let input = Input::Received {
                from: id(NAMES[from]),
                incarnation: Incarnation(self.nodes[from].life),
                message: message.clone(),
            };
            self.queue_up(to, self.now.after(late), Happens::Input(Box::new(input)));
        }
    }

    /// Everybody learns of the change, each in its own time.
    fn publish(&mut self) {
        for at in 0..self.nodes.len() {
            let late = Duration::from_micros(self.dice.below(D * 1_000));
            self.queue_up(at, self.now.after(late), Happens::News);
        }
    }

    fn misfortune(&mut self) {
        let at = self.dice.index(self.nodes.len());
        let (name, life) = (id(NAMES[at]), Incarnation(self.nodes[at].life));
        match self.dice.below(9) {
            0 if self.nodes[at].alive => {
                self.nodes[at].alive = false;
                if self.dice.one_in(2) {
                    self.members.down(&name, life);
                    self.publish();
                }
            }
            0 | 1 if !self.nodes[at].alive => self.revive(at),
            2 => {
                let nap = Duration::from_millis(self.dice.below(3 * L));
                self.nodes[at].asleep_until = self.now.after(nap);
            }
            3 if self.members.suspect(&name, life) => {
                self.publish();
                let doubt = Duration::from_millis(self.dice.below(100));
                let until = self.now.after(doubt);
                self.run(until);
                self.members.up(&name, life);
                self.publish();
            }
            4 => {
                let score = (!self.dice.one_in(4)).then(|| self.dice.below(5));
                let score = score.map(|s| Score::from(i32::try_from(s).unwrap()));
                self.members.set_score(&name, score);
                self.give(at, Input::SetScore(score));
                self.publish();
            }
            5 | 6 => self.give(at, Input::Campaign),
            7 => self.give(at, Input::StepDown { to: None }),
            _ => {}
        }
    }

    fn revive(&mut self, at: usize) {
        let number = self.nodes[at].life + 1;
        let score = self.members.get(&id(NAMES[at])).and_then(|m| m.score);
        self.members.up(&id(NAMES[at]), Incarnation(number));
        self.nodes[at] = Node {
            bully: life(at, number, score, &self.config),
            life: number,
            alive: true,
            asleep_until: self.now,
            timers: BTreeMap::new(),
            contract: Contract::new(&self.config),
            changed: self.now,
        };
        let members = Arc::new(self.members.clone());
        self.give(at, Input::Start(members));
        self.publish();
    }

    /// Who leads at each agent that is alive, and when that changed last.
    fn leaders(&self) -> Vec<(Option<AgentId>, Time)> {
        let alive = self.nodes.iter().filter(|n| n.alive);
        alive
            .map(|n| (n.bully.view(self.now).leader.map(|l| l.id), n.changed))
            .collect()
    }

    /// The highest in rank of those alive.
    fn rightful(&self) -> Option<AgentId> {
        let alive = self.nodes.iter().filter(|n| n.alive);
        let best = alive.filter_map(|n| n.bully.rank()).max();
        best.map(|rank| rank.id)
    }
}

fn life(at: usize, number: u64, score: Option<Score>, config: &Arc<BullyConfig>) -> Bully {
    let identity = Identity {
        id: id(NAMES[at]),
        incarnation: Incarnation(number),
        kind: MemberKind::Voter,
        score,
        birth: if number == 1 {
            Birth::Started
        } else {
            Birth::Restarted
        },
    };
    Bully::new(identity, config, None)
}

/// A storm with misfortunes, and then calm.
fn weathered(seed: u64, size: usize, config: BullyConfig) -> World {
    let mut world = World::new(seed, size, config);
    for _ in 0..world.dice.below(25) {
        let pause = world.dice.below(400);
        let next = world.now.after(Duration::from_millis(pause));
        world.run(next);
        world.misfortune();
    }
    world.weather = Weather::Calm;
    let end = world.now.after(Duration::from_secs(12));
    world.run(end);
    world
}

/// A short rest, so that it is over when the calm ends.
fn restless(config: BullyConfig) -> BullyConfig {
    BullyConfig {
        rest: Duration::from_secs(2),
        drain: Duration::from_millis(200),
        ..config
    }
}

#[test]
fn after_any_storm_the_most_important_leads() {
    for seed in 0..150 {
        for size in 2..=4 {
            let world = weathered(seed, size, restless(lan()));
            let rightful = world.rightful();
            for (leader, changed) in world.leaders() {
                assert_eq!(leader, rightful, "seed {seed} of {size}");
                let settled = world.now.since(changed);
                assert!(settled > Duration::from_secs(4), "seed {seed} of {size}");
            }
        }
    }
}

#[test]
fn after_any_storm_one_leads_where_leaders_are_left_alone() {
    for seed in 0..80 {
        for size in 2..=4 {
            let world = weathered(seed, size, restless(never()));
            let leaders = world.leaders();
            let first = leaders.first().and_then(|(leader, _)| leader.clone());
            assert_eq!(first.is_some(), world.rightful().is_some(), "seed {seed}");
            for (leader, changed) in leaders {
                assert_eq!(leader, first, "seed {seed} of {size}");
                let settled = world.now.since(changed);
                assert!(settled > Duration::from_secs(4), "seed {seed} of {size}");
            }
        }
    }
}

#[test]
fn after_any_storm_the_most_important_leads_in_the_end_where_leaders_are_patient() {
    for seed in 0..80 {
        for size in 2..=4 {
            let world = weathered(seed, size, restless(after_a_second()));
            let rightful = world.rightful();
            for (leader, _) in world.leaders() {
                assert_eq!(leader, rightful, "seed {seed} of {size}");
            }
        }
    }
}
