//! The machines of the bully elections, with any input at any time.
//!
//! Bytes become choices: the rules, the other agents, the next input. The driver's part of the contract is kept: no
//! message of an incarnation that has ended, no timer that was not set, and time goes on. Everything else may happen.
//! No machine may panic, and its events must agree with its view.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, LazyLock},
    time::Duration,
};

use actix_bully::{
    elections::{
        bully::Preemption,
        lease::LeaseConfig,
        quorum::{QuorumConfig, Vote},
    },
    protocol::{
        Event, Incarnation, Leader, MemberKind, NewVoter, Role, Score, Term, Time, Timings,
        VoterChange,
    },
};
use bully_core::{
    driver::MembersReports as _,
    elections::{
        astra::{Astra, AstraConfig},
        bully::{Bully, BullyConfig, BullyTimer},
        fixture::any::{Choose, any},
        lease::Lease,
        quorum::{Candidate, Diskless, Micros, QuorumBully, QuorumMessage},
    },
    protocol::{Birth, Effect, EffectsOf, Election, Identity, Input, InputOf, Member, Members},
};
use serde::de::DeserializeOwned;

use crate::{
    choices::{Choices, NAMES, id, incarnation, name, score, some, term},
    register::Register,
};

/// The configurations; made once, because making them takes longer than a run.
struct Made {
    astra: Arc<AstraConfig>,
    bully: Vec<Arc<BullyConfig>>,
    lease: Vec<Arc<LeaseConfig>>,
    /// The configurations for one to three voters: without disks; the default; with a margin and without preemption;
    /// with a quorum of all votes, and a lease that needs only the leader's own acknowledgement.
    quorum: [[Arc<QuorumConfig>; 4]; 3],
}

/// If a choice takes one more byte, every later choice moves: each file of `corpus/core` then plays another history. No
/// test expects an outcome of a file. But the find for which the file was kept is lost until fuzzing makes it again.
static MADE: LazyLock<Made> = LazyLock::new(|| {
    let timings = Timings::lan();
    let lease = LeaseConfig {
        timings: timings.clone(),
        wall_at_zero: Some(1),
        ..LeaseConfig::new("shop", "cron").expect("names")
    };
    let lease = lease.samples().into_iter().map(|config| {
        config.check().expect("sound");
        Arc::new(config)
    });
    let bully = BullyConfig::samples().into_iter().map(Arc::new).collect();
    let quorum = [1, 2, 3].map(|voters| {
        let default = QuorumConfig {
            timings: timings.clone(),
            ..QuorumConfig::new(NAMES.iter().take(voters).cloned())
        };
        let forgetful = QuorumConfig {
            diskless: Some(Diskless::default()),
            ..default.clone()
        };
        let left_alone = QuorumConfig {
            preemption: Preemption::Never,
            margin: Some(Score::from(2)),
            ..default.clone()
        };
        let unanimous = QuorumConfig {
            vote_quorum: Some(voters),
            lease_quorum: Some(1),
            ..default.clone()
        };
        [forgetful, default, left_alone, unanimous].map(|config| {
            config.check().expect("a quorum");
            Arc::new(config)
        })
    });
    Made {
        astra: Arc::default(),
        bully,
        lease: lease.collect(),
        quorum,
    }
});

/// Runs one incarnation.
pub fn check(data: &[u8]) {
    let mut choices = Choices(data);
    let rules = choices.byte();
    match rules % 8 {
        // A part of the bytes that chose Astra at first now chooses the lease.
        0 if rules >= 0xe0 => {
            let config = &MADE.lease[usize::from(choices.byte()) % MADE.lease.len()];
            run::<Lease>(&mut choices, config, None, STORE);
        }
        0 => run::<Astra>(&mut choices, &MADE.astra, None, members::<Astra>()),
        1..4 => {
            // Two bytes, because the files of the corpus have two.
            let chosen = usize::from(choices.byte()) + usize::from(choices.byte());
            let config = &MADE.bully[chosen % MADE.bully.len()];
            run::<Bully>(&mut choices, config, None, members::<Bully>());
        }
        rules => {
            let options = usize::from(rules.saturating_sub(4));
            let voters = usize::from(choices.below(3));
            let durable = choices.one_in(2).then(|| Vote {
                term: term(&mut choices),
                voted_for: choices.one_in(2).then(|| Candidate {
                    id: name(&mut choices),
                    incarnation: Incarnation(u64::from(choices.below(3))),
                }),
                promise: Micros(u64::from(choices.byte()) * 10_000),
                ..Vote::default()
            });
            let config = &MADE.quorum[voters][options];
            let durable = durable.filter(|_| config.diskless.is_none());
            run::<QuorumBully>(&mut choices, config, durable, VOTERS);
        }
    }
}

fn time(choices: &mut Choices<'_>, now: Time) -> Time {
    match choices.below(4) {
        0 => now,
        1 => Time::from_nanos(choices.number()),
        _ => Time::from_nanos(
            now.as_nanos()
                .saturating_sub(u64::from(choices.byte()) << 20),
        ),
    }
}

/// The choices for the parts of a message.
struct Parts<'a, 'b> {
    choices: &'a mut Choices<'b>,
    now: Time,
}

impl Choose for Parts<'_, '_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.choices.byte()) % limit
    }

    fn unsigned(&mut self, field: &'static str) -> u64 {
        match field {
            "incarnation" => incarnation(self.choices).0,
            "counter" | "epoch" => self.choices.below(4).into(),
            "retry" | "promise" => u64::from(self.choices.byte()) << 10,
            "sent_at" | "echo" => time(self.choices, self.now).as_nanos(),
            _ => term(self.choices).0,
        }
    }

    /// Only the first part of a score is chosen; the others are 0.
    fn signed(&mut self, field: &'static str) -> i64 {
        if field.is_empty() {
            return 0;
        }
        score(self.choices).parts()[0]
    }

    fn text(&mut self, _: &'static str) -> String {
        name(self.choices).as_str().to_owned()
    }
}

/// Makes any message of an election.
fn message<M: DeserializeOwned>(choices: &mut Choices<'_>, now: Time) -> Option<M> {
    any(&mut Parts { choices, now })
}

/// Makes any message of a quorum. A message does not carry `is_unentitled`, so it is chosen here. Most lists are
/// installed in the first term of their epoch.
fn voters_message(choices: &mut Choices<'_>, now: Time) -> Option<QuorumMessage> {
    let mut message = message(choices, now)?;
    match &mut message {
        QuorumMessage::AskChange(ask) => ask.is_unentitled = choices.one_in(2),
        QuorumMessage::Install(install) if !choices.one_in(8) => {
            install.term = Term(install.decree.epoch << 40);
        }
        _ => {}
    }
    Some(message)
}

fn voter(choices: &mut Choices<'_>) -> NewVoter {
    let (id, contact) = (name(choices), None);
    NewVoter { id, contact }
}

fn voter_change(choices: &mut Choices<'_>) -> Box<VoterChange> {
    Box::new(match choices.below(3) {
        0 => VoterChange::Add(voter(choices)),
        1 => VoterChange::Remove(name(choices)),
        _ => VoterChange::Replace {
            old: name(choices),
            new: voter(choices),
        },
    })
}

fn change(choices: &mut Choices<'_>, members: &mut Members) {
    let (name, number) = (id(choices.below(4)), incarnation(choices));
    match choices.below(8) {
        0 => drop(members.down(name, number)),
        1 => drop(members.suspect(name, number)),
        2 => drop(members.up(name, number)),
        3 if name != id(0) => drop(members.leave(name)),
        4 => {
            let score = some(choices, score);
            members.set_score(name, score);
        }
        5 => members.set_closed(choices.one_in(2)),
        6 => members.note_leader(Leader {
            id: name.clone(),
            incarnation: number,
            term: term(choices),
        }),
        _ => {
            let kind = if name == id(3) {
                MemberKind::Observer
            } else {
                MemberKind::Voter
            };
            let score = some(choices, score).filter(|_| kind == MemberKind::Voter);
            members.join([Member::up(name.clone(), kind, score, number)]);
        }
    }
}

/// One agent, and the state of its driver.
struct Run<E: Election> {
    machine: E,
    effects: EffectsOf<E>,
    members: Members,
    timers: BTreeMap<BullyTimer, Time>,
    now: Time,
    leads: Option<Term>,
    register: Register,
    others: Others<E>,
}

/// Two functions: one makes a message of a member or an answer of the store, and one notes a question to the store.
type Others<E> = (
    fn(&Register, &mut Choices<'_>, Time) -> Option<Said<E>>,
    fn(&mut Register, <E as Election>::Ask),
);

/// A message of a member, or an answer of the store.
type Said<E> = Result<<E as Election>::Message, <E as Election>::Told>;

/// [`Others`] of a quorum.
const VOTERS: Others<QuorumBully> = (
    |_, choices, now| voters_message(choices, now).map(Ok),
    |_, never| match never {},
);

/// [`Others`] of an election whose members send nothing.
const STORE: Others<Lease> = (
    |register, choices, _| (!choices.one_in(8)).then(|| Err(register.says(choices))),
    Register::hear,
);

/// [`Others`] of an election that asks no store.
fn members<E>() -> Others<E>
where
    E: Election<Message: DeserializeOwned, Ask = Infallible>,
{
    (
        |_, choices, now| message(choices, now).map(Ok),
        |_, never| match never {},
    )
}

fn run<E>(
    choices: &mut Choices<'_>,
    config: &E::Config,
    durable: Option<E::Durable>,
    others: Others<E>,
) where
    E: Election<Timer = BullyTimer>,
{
    let mut members = Members::new(choices.one_in(2));
    let score = some(choices, score);
    let identity = Identity {
        id: id(0).clone(),
        incarnation: Incarnation(1),
        kind: MemberKind::Voter,
        score,
        birth: if choices.one_in(2) {
            Birth::Started
        } else {
            Birth::Restarted
        },
        store: None,
    };
    members.join([Member::up(
        id(0).clone(),
        MemberKind::Voter,
        score,
        Incarnation(1),
    )]);
    for _ in 0..choices.below(4) {
        change(choices, &mut members);
    }
    let mut run = Run::<E> {
        machine: E::new(identity, config, durable),
        effects: EffectsOf::<E>::new(),
        members,
        timers: BTreeMap::new(),
        now: Time::from_millis(choices.byte().into()),
        leads: None,
        register: Register::default(),
        others,
    };
    run.step(Input::Start(Arc::new(run.members.clone())));
    while !choices.0.is_empty() {
        let later = Duration::from_millis(choices.below(40).into());
        run.now = run.now.after(later);
        if let Some(input) = run.input(choices) {
            run.step(input);
        }
    }
}

impl<E: Election<Timer = BullyTimer>> Run<E> {
    /// Chooses the next input; `None` if a driver would not give it to the machine.
    fn input(&mut self, choices: &mut Choices<'_>) -> Option<InputOf<E>> {
        Some(match choices.below(16) {
            0..7 => {
                let (from, incarnation) = (name(choices), incarnation(choices));
                let message = match (self.others.0)(&self.register, choices, self.now)? {
                    Ok(message) => message,
                    Err(answer) => return Some(Input::Told(answer)),
                };
                let is_heard = |member: &Member| !member.is_stale(incarnation);
                if from == *id(0) || !self.members.get(&from).is_some_and(is_heard) {
                    return None;
                }
                Input::Received {
                    from,
                    incarnation,
                    message,
                }
            }
            7..11 => {
                let nth = usize::from(choices.byte()) % self.timers.len().max(1);
                let (timer, due) = self.timers.iter().nth(nth).map(|(t, due)| (*t, *due))?;
                self.timers.remove(&timer);
                self.now = self.now.max(due);
                Input::TimedOut(timer)
            }
            11 | 12 => {
                change(choices, &mut self.members);
                Input::Members(Arc::new(self.members.clone()))
            }
            13 => Input::SetScore(some(choices, score)),
            14 => match choices.below(3) {
                0 => Input::Campaign,
                1 => Input::Drained,
                _ => Input::ChangeVoters(voter_change(choices)),
            },
            _ => Input::StepDown {
                to: some(choices, name),
            },
        })
    }

    fn step(&mut self, input: InputOf<E>) {
        self.machine.handle(self.now, input, &mut self.effects);
        let (now, mut leads) = (self.now, self.leads);
        for effect in self.effects.drain() {
            match effect {
                Effect::SetTimer { timer, after } => {
                    assert!(after.min <= after.max);
                    self.timers.insert(timer, now.after(after.max));
                }
                Effect::CancelTimer(timer) => drop(self.timers.remove(&timer)),
                Effect::Notify(event) => leads = heard(&event, leads),
                Effect::Ask(question) => (self.others.1)(&mut self.register, question),
                Effect::Send { .. } | Effect::Persist(_) => {}
            }
        }
        self.leads = leads;
        let view = self.machine.view(now);
        assert_eq!(
            view.leading, leads,
            "view and events differ about the leader"
        );
        if leads.is_some() {
            assert_eq!(view.role, Role::Leader);
            assert_eq!(view.leader.as_ref().map(|leader| &leader.id), Some(id(0)));
            assert!(view.valid_until > now);
        }
    }
}

/// Returns the term in which the agent leads after the event.
fn heard(event: &Event, leads: Option<Term>) -> Option<Term> {
    match (event, leads) {
        (Event::Acquired { term }, None) => Some(*term),
        (Event::Renewed { term }, Some(old)) if *term > old => Some(*term),
        (Event::Draining { term, .. }, Some(old)) if *term == old => leads,
        (Event::Lost { term, .. }, Some(old)) if *term == old => None,
        (Event::Voters(_), _) => leads,
        (Event::NewLeader(_) | Event::NoLeader { .. }, None) => None,
        _ => panic!("{event:?} while leading in {leads:?}"),
    }
}
