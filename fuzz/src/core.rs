//! The machines of the bully elections, with any inputs at any time.
//!
//! Bytes become choices: which rules, which agents the others are, what happens next. The driver's part of
//! the contract is kept (no message of an incarnation that has ended, no timer that was not set, time goes
//! on); everything else may happen. Nothing panics, and what a machine tells agrees with what it
//! shows.

use bully_core::{
    driver::MembersReports as _,
    elections::{
        astra::{Astra, AstraConfig},
        bully::{Behind, Bully, BullyConfig, BullyTimer, Heartbeat, Resign, Yield},
        lease::Lease,
        quorum::{
            Ack, AskChange, Candidate, ChangeAnswer, Claim, ClaimReply, Diskless, Enlist, Heard,
            Install, Leadership, Micros, Nack, QuorumBully, QuorumMessage, Recall, Recalled,
            Recover, Recovered, Refusal, Seal, Sealed, Takeover,
        },
    },
    protocol::{
        Birth, Decree, Effect, EffectsOf, Election, Identity, Input, InputOf, Member, Members,
    },
};
use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, LazyLock},
    time::Duration,
};

use actix_bully::{
    elections::{
        bully::{Elect, Elected, Ok as Answer, Preemption},
        lease::LeaseConfig,
        quorum::{QuorumConfig, Vote},
    },
    protocol::{
        ChangeError, Event, Incarnation, Leader, MemberKind, NewVoter, Role, Round, Score, Term,
        Time, Timings, VoterChange,
    },
};

use crate::{
    choices::{Choices, NAMES, id, incarnation, name, score, some, term},
    register::Register,
};

/// What does not depend on the bytes: made once, since an incarnation is shorter than the making.
struct Made {
    astra: Arc<AstraConfig>,
    /// By preemption, and whether a successor has to be better by a margin.
    bully: [[Arc<BullyConfig>; 2]; 3],
    /// By preemption.
    lease: [Arc<LeaseConfig>; 3],
    /// Of one to three voters: without disks; by default; with a margin, and leaders left alone; with all votes and
    /// no acknowledgement but the leader's own.
    quorum: [[Arc<QuorumConfig>; 4]; 3],
}

/// A value that is fixed here, or takes the place of a spare one, leaves all bytes where they are. A choice that takes a byte moves every later one: each file of
/// `corpus/core` then plays another history. No test expects an outcome of a file, but what the file was
/// kept for is lost until fuzzing finds it again.
static MADE: LazyLock<Made> = LazyLock::new(|| {
    let timings = Timings::lan();
    let policies = [
        Preemption::Immediately,
        Preemption::Never,
        Preemption::After(Duration::from_secs(1)),
    ];
    let lease = policies.map(|preemption| {
        let config = LeaseConfig::new("shop", "cron").expect("names");
        let config = LeaseConfig {
            timings: timings.clone(),
            preemption,
            margin: (preemption != Preemption::Immediately).then_some(Score::from(2)),
            wall_at_zero: Some(1),
            ..config
        };
        config.check().expect("sound");
        Arc::new(config)
    });
    let bully = policies.map(|preemption| {
        [None, Some(Score::from(2))].map(|margin| {
            Arc::new(BullyConfig {
                timings: timings.clone(),
                preemption,
                margin,
                ..BullyConfig::default()
            })
        })
    });
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
        lease,
        quorum,
    }
});

/// Runs one incarnation.
pub fn check(data: &[u8]) {
    let mut choices = Choices(data);
    let rules = choices.byte();
    match rules % 8 {
        // Of the bytes that chose Astra some choose this since.
        0 if rules >= 0xe0 => {
            let config = &MADE.lease[usize::from(choices.below(3))];
            run::<Lease>(&mut choices, config, None, (store, Register::hear));
        }
        0 => run::<Astra>(&mut choices, &MADE.astra, None, members::<Astra>()),
        1..4 => {
            let policy = usize::from(choices.below(3));
            let margin = usize::from(choices.one_in(3));
            let config = &MADE.bully[policy][margin];
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
            // Drawn all the same: the bytes stay where they are.
            let durable = durable.filter(|_| config.diskless.is_none());
            run::<QuorumBully>(&mut choices, config, durable, members::<QuorumBully>());
        }
    }
}

fn round(choices: &mut Choices<'_>) -> Round {
    Round {
        incarnation: incarnation(choices),
        counter: choices.below(4).into(),
    }
}

fn leadership(choices: &mut Choices<'_>) -> Leadership {
    Leadership {
        id: name(choices),
        term: term(choices),
    }
}

fn leader(choices: &mut Choices<'_>) -> Leader {
    Leader {
        id: name(choices),
        incarnation: incarnation(choices),
        term: term(choices),
    }
}

fn candidate(choices: &mut Choices<'_>) -> Candidate {
    Candidate {
        id: name(choices),
        incarnation: incarnation(choices),
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

fn message(choices: &mut Choices<'_>, now: Time) -> QuorumMessage {
    let (term, seen) = (term(choices), term(choices));
    let (score, round) = (score(choices), round(choices));
    let sent_at = some(choices, |choices| time(choices, now));
    let retry = Micros(u64::from(choices.byte()) << 10);
    match choices.below(19) {
        0 => Elect {
            round,
            score,
            seen,
            takeover: some(choices, leadership),
            released: some(choices, leader),
        }
        .into(),
        1 => Answer {
            round,
            seen,
            refusal: match choices.below(3) {
                0 => None,
                1 => Some(Refusal::Stale),
                _ => Some(Refusal::NotFree { retry }),
            },
        }
        .into(),
        2 => Yield {
            round,
            seen,
            released: some(choices, |_| term),
            clock: some(choices, |_| term),
        }
        .into(),
        3 => Elected {
            term,
            score,
            answer: some(choices, |_| round),
            sent_at,
        }
        .into(),
        4 => Heartbeat {
            term,
            score,
            sent_at,
        }
        .into(),
        5 => Resign {
            term,
            successor: some(choices, name),
            given: some(choices, |_| term.next().unwrap_or(term)),
        }
        .into(),
        6 => Claim {
            term,
            score,
            released: some(choices, leader),
            successor: some(choices, candidate),
        }
        .into(),
        7 => ClaimReply {
            term,
            seen,
            granted: choices.one_in(2),
            retry,
            incarnation: incarnation(choices),
            candidate: candidate(choices),
            seal: None,
            clock: some(choices, |_| seen),
        }
        .into(),
        8 => Ack {
            term,
            echo: sent_at.unwrap_or_default(),
            score: some(choices, |_| score),
            slow: choices.one_in(2),
            promise: retry,
            incarnation: incarnation(choices),
        }
        .into(),
        9 if choices.one_in(4) => Behind { seen }.into(),
        9 => Nack {
            term,
            of: if choices.one_in(2) { term } else { seen },
            incarnation: incarnation(choices),
        }
        .into(),
        10 if choices.one_in(3) => Recall { seen }.into(),
        10 if choices.one_in(2) => Recalled {
            incarnation: incarnation(choices),
            seen,
            heard: Heard {
                store: None,
                incarnation: choices.one_in(2).then(|| incarnation(choices)),
                term: if choices.one_in(4) { term } else { Term::ZERO },
            },
        }
        .into(),
        10 => Recover { round, seen }.into(),
        11 => Recovered {
            round,
            term,
            recovering: choices.one_in(2),
            clock: seen,
        }
        .into(),
        12 => Takeover { term }.into(),
        change => change_of_voters(choices, change, term),
    }
}

/// What is said while the voters are changed, mostly about the list of the next epoch.
///
/// What a register says to an agent of a lease: `register.rs`.
fn change_of_voters(choices: &mut Choices<'_>, which: u8, term: Term) -> QuorumMessage {
    match which {
        13 => Seal {
            term,
            next: decree(choices),
        }
        .into(),
        14 => Sealed {
            term,
            incarnation: incarnation(choices),
        }
        .into(),
        15 => {
            let decree = decree(choices);
            let first = Term(decree.epoch << 40);
            let term = if choices.one_in(8) { term } else { first };
            Install { term, decree }.into()
        }
        16 => AskChange {
            term,
            change: voter_change(choices),
            is_unentitled: choices.byte() & 1 == 1,
        }
        .into(),
        17 => ChangeAnswer {
            term,
            change: voter_change(choices),
            outcome: Err(ChangeError::UnderWay),
        }
        .into(),
        _ => Enlist { term }.into(),
    }
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

fn decree(choices: &mut Choices<'_>) -> Box<Decree> {
    let voters = (0..choices.below(4)).map(|_| voter(choices)).collect();
    Box::new(Decree {
        epoch: u64::from(choices.below(4)),
        voters,
        vote_quorum: None,
        lease_quorum: None,
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

/// One agent with what its driver keeps.
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

/// What a member says, or the store, if anything; and what the store is asked.
type Others<E> = (
    fn(&Register, &mut Choices<'_>, Time) -> Option<Said<E>>,
    fn(&mut Register, <E as Election>::Ask),
);

/// Of a member, or of the store.
type Said<E> = Result<<E as Election>::Message, <E as Election>::Told>;

/// [`Others`] of an election that asks no store. What it has no message for is not said.
fn members<E>() -> Others<E>
where
    E: Election<Message: TryFrom<QuorumMessage>, Ask = Infallible>,
{
    (
        |_, choices, now| message(choices, now).try_into().ok().map(Ok),
        |_, never| match never {},
    )
}

/// Of an election whose members say nothing.
fn store(register: &Register, choices: &mut Choices<'_>, now: Time) -> Option<Said<Lease>> {
    if choices.one_in(8) {
        drop(message(choices, now)); // the bytes stay where they are
        return None;
    }
    Some(Err(register.says(choices)))
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
    /// What happens next; `None` where a driver would keep it from the machine.
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

/// The term it leads in after this event.
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
