//! A few machines and the network between them, in one seeded game.

use std::collections::{BTreeMap, BTreeSet};

use super::{random::Dice, *};

/// How the network treats a message.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Weather {
    /// Up to 3 d late, one in eight lost, one in eight doubled.
    Storm,
    /// No later than d.
    Calm,
}

pub(super) enum Happens {
    Input(Box<InputOf<Bully>>),
    /// The snapshot as it is then.
    News,
    /// A timer, unless it was set again or stopped since.
    Timer(Timer, u64),
}

pub(super) struct Node {
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

pub(super) struct World {
    pub(super) dice: Dice,
    config: Arc<BullyConfig>,
    pub(super) now: Time,
    pub(super) weather: Weather,
    members: Members,
    /// From whom to whom nothing gets through.
    pub(super) cuts: BTreeSet<(usize, usize)>,
    nodes: Vec<Node>,
    queue: BTreeMap<(Time, u64), (usize, u64, Happens)>,
    count: u64,
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

impl World {
    pub(super) fn new(seed: u64, size: usize, config: BullyConfig) -> Self {
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
            cuts: BTreeSet::new(),
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

    pub(super) fn give(&mut self, at: usize, input: InputOf<Bully>) {
        self.queue_up(at, self.now, Happens::Input(Box::new(input)));
    }

    fn queue_up(&mut self, at: usize, when: Time, what: Happens) {
        self.count += 1;
        let life = self.nodes[at].life;
        self.queue.insert((when, self.count), (at, life, what));
    }

    pub(super) fn run(&mut self, until: Time) {
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

    fn obey(&mut self, at: usize, effect: EffectOf<Bully>) {
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
            Effect::Notify(_) | Effect::Persist(_) => {}
        }
    }

    fn carry(&mut self, from: usize, to: usize, message: &BullyMessage) {
        let (copies, slowest) = match self.weather {
            _ if self.cuts.contains(&(from, to)) => (0, D),
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

    pub(super) fn misfortune(&mut self) {
        let at = self.dice.index(self.nodes.len());
        let (name, life) = (id(NAMES[at]), Incarnation(self.nodes[at].life));
        match self.dice.below(11) {
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
                self.another_score();
            }
            5 | 6 => self.give(at, Input::Campaign),
            7 => self.give(at, Input::StepDown { to: None }),
            8 | 9 => {
                let other = self.dice.index(self.nodes.len());
                self.cuts.insert((at, other));
                if !self.dice.one_in(3) {
                    self.cuts.insert((other, at));
                }
            }
            _ => self.cuts.clear(),
        }
    }

    /// So many milliseconds pass, one by one, and never two believe.
    pub(super) fn watch(&mut self, millis: u64) {
        let end = self.now.after(Duration::from_millis(millis));
        while self.now < end {
            let next = self.queue.keys().next().map_or(end, |(when, _)| *when);
            self.run(next.min(end));
            let leading = |n: &&Node| n.alive && n.bully.view(self.now).leading.is_some();
            assert!(self.nodes.iter().filter(leading).count() <= 1);
        }
    }

    /// One that is alive ends, and everybody learns of it for certain.
    pub(super) fn crash(&mut self) {
        let at = self.dice.index(self.nodes.len());
        if std::mem::replace(&mut self.nodes[at].alive, false) {
            let life = Incarnation(self.nodes[at].life);
            self.members.down(&id(NAMES[at]), life);
            self.publish();
        }
    }

    /// Somebody's importance changes, or it becomes ineligible.
    pub(super) fn another_score(&mut self) {
        let at = self.dice.index(self.nodes.len());
        let score = (!self.dice.one_in(4)).then(|| self.dice.below(5));
        let score = score.map(|s| Score::from(i32::try_from(s).unwrap()));
        self.members.set_score(&id(NAMES[at]), score);
        self.give(at, Input::SetScore(score));
        self.publish();
    }

    pub(super) fn revive_one(&mut self) {
        if let Some(at) = self.nodes.iter().position(|n| !n.alive) {
            self.revive(at);
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
    pub(super) fn leaders(&self) -> Vec<(Option<AgentId>, Time)> {
        let alive = self.nodes.iter().filter(|n| n.alive);
        alive
            .map(|n| (n.bully.view(self.now).leader.map(|l| l.id), n.changed))
            .collect()
    }

    /// The highest in rank of those alive.
    pub(super) fn rightful(&self) -> Option<AgentId> {
        let alive = self.nodes.iter().filter(|n| n.alive);
        let best = alive.filter_map(|n| n.bully.me.rank()).max();
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
