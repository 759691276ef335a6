//! A schedule as an application of the simulator's agents: the leader's machine, the replica of each agent, and its stream.
//!
//! What all agents of a history have in common, and the checker: `office.rs`. What is promised: `simulated.rs`.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::super::{
    clock_watch::LOOK,
    due::DueTimes,
    interface::{DueTick, Now, Rule, ScheduleEffect, ScheduleInput, TickCounts, TickFailed},
    machine::ScheduleMachine,
    message::{LeaderNumber, ScheduleMessage, Surveyed},
    poll::Known,
    register::ScheduleRecord,
    replica::{Replica, ReplicaStep, Reply},
    window::DueWindow,
};
use super::office::{Flaw, Office, Source};
use crate::{
    clock::WallTime,
    leader::tests::{AppEffect, Application, Here, Said},
    protocol::{AgentId, Incarnation, Round, Term, Time},
};

const DAWN: WallTime = WallTime::from_millis(1_000_000_000);

/// A window that the machine's rule and the application share.
#[derive(Clone, Default)]
struct SharedWindow(Arc<Mutex<DueWindow>>);

impl SharedWindow {
    fn lock(&self) -> MutexGuard<'_, DueWindow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DueTimes for SharedWindow {
    fn next_after(&self, time: WallTime) -> Option<WallTime> {
        self.lock().times().next_after(time)
    }
}

/// See the [module](self).
pub(super) struct Clerk {
    office: Office,
    replica: Replica,
    rule: &'static Rule,
    window: Option<SharedWindow>,
    /// Up to this time its stream has told them.
    told: WallTime,
    leads: Option<Lead>,
    /// The tenure that was handed over.
    finished: Option<u64>,
    rounds: u64,
}

struct Lead {
    tenure: u64,
    term: Term,
    /// So long it goes on after a loss, where that rule is broken.
    until: Time,
    machine: ScheduleMachine<'static>,
    is_told: bool,
    look_at: Time,
    /// The tick that runs, until when, and whether it ends well.
    running: Option<(DueTick, Time, bool)>,
}

impl Clerk {
    fn now(here: &Here<'_>) -> Now {
        let wall = DAWN.after(here.now.since(Time::ZERO));
        Now {
            wall,
            time: here.now,
        }
    }

    /// The term in which the agent goes on.
    fn leading(&mut self, here: &Here<'_>) -> Option<(u64, Term)> {
        let leads = here.leading.map(|term| (here.tenure, term));
        let goes_on = self.office.plan.flaw == Some(Flaw::ObeysFormerLeaders);
        let Some(lead) = self.leads.as_mut().filter(|_| goes_on) else {
            return leads;
        };
        if leads.is_some_and(|(tenure, _)| tenure == lead.tenure) {
            lead.until = here.now.after(Duration::from_secs(2));
        }
        let goes_on = (here.now < lead.until).then_some((lead.tenure, lead.term));
        leads.or(goes_on)
    }

    /// The stream of an agent tells due times up to three seconds ahead, or a second late; some of them twice.
    fn tell(&mut self, here: &Here<'_>) {
        let Some(window) = &self.window else { return };
        let wall = Self::now(here).wall;
        let offset = here.id.as_str().bytes().map(u64::from).sum::<u64>() * 700 % 4_000;
        let until = WallTime::from_millis((wall.as_millis() + offset).saturating_sub(1_000));
        let every = self.office.plan.every();
        let mut window = window.lock();
        while let Some(due) = every.next_after(self.told).filter(|due| *due <= until) {
            if !window.has_room(self.office.plan.misfire, wall) {
                break;
            }
            window.offer(due);
            if due.as_millis().is_multiple_of(7) {
                window.offer(due);
            }
            self.told = due;
        }
        self.office.book().misordered += window.misordered();
    }

    /// Begins or ends to lead.
    fn follow_view(&mut self, here: &Here<'_>, out: &mut Vec<AppEffect<Self>>) {
        let leading = self.leading(here);
        let tenure = leading.map(|(tenure, _)| tenure);
        if self
            .leads
            .as_ref()
            .is_some_and(|lead| Some(lead.tenure) != tenure)
        {
            self.leads = None;
            if let Some(window) = &self.window {
                window.lock().follow();
            }
        }
        let Some((tenure, term)) = leading else {
            return;
        };
        if let Some(lead) = &mut self.leads {
            lead.term = term;
            return;
        }
        if self.finished == Some(tenure) {
            return;
        }
        self.rounds += 1 << 20;
        let rounds = Round {
            incarnation: here.incarnation,
            counter: self.rounds,
        };
        let ballot = LeaderNumber {
            term,
            incarnation: here.incarnation,
        };
        let (audience, counts) = (self.office.audience(), TickCounts::default());
        self.leads = Some(Lead {
            tenure,
            term,
            until: here.now,
            machine: ScheduleMachine::new(
                self.rule,
                here.id.clone(),
                ballot,
                audience,
                rounds,
                counts,
            ),
            is_told: false,
            look_at: here.now,
            running: None,
        });
        self.put(here, ScheduleInput::Start, out);
    }

    /// One step of the leader's machine.
    fn put(&mut self, here: &Here<'_>, input: ScheduleInput, out: &mut Vec<AppEffect<Self>>) {
        let now = Self::now(here);
        let Some(lead) = &mut self.leads else { return };
        let mut effects = Vec::new();
        lead.machine.handle(now, input, &mut effects);
        if let Some(window) = &self.window {
            window.lock().lead(lead.machine.frontier());
        }
        if lead.machine.is_established() {
            self.office
                .book()
                .origin
                .get_or_insert_with(|| lead.machine.last());
        }
        let wake = lead.machine.wake(now);
        lead.look_at = wake.map_or(Time::MAX, |after| here.now.after(after));
        let mut is_finished = false;
        for effect in effects {
            match effect {
                ScheduleEffect::Say { to, said } => {
                    out.extend(to.into_iter().map(|to| AppEffect::Send(to, said.clone())));
                }
                ScheduleEffect::Run(tick) => {
                    self.office.begin(here.id, tick, now.wall);
                    // Longer than the interval now and then, and one of eight fails.
                    let drawn = tick.due.as_millis() / 100 + self.rounds + lead.tenure;
                    let until = here.now.after(Duration::from_millis(drawn % 13 * 40));
                    lead.running = Some((tick, until, !drawn.is_multiple_of(8)));
                }
                ScheduleEffect::Finish => is_finished = true,
            }
        }
        if is_finished {
            self.finished = Some(lead.tenure);
            self.leads = None;
        }
    }

    fn follow_desk(
        &mut self,
        mut replies: Vec<Reply>,
        mut step: ReplicaStep,
        out: &mut Vec<AppEffect<Self>>,
    ) {
        loop {
            let send = |(to, said)| AppEffect::Send(to, said);
            out.extend(std::mem::take(&mut replies).into_iter().map(send));
            match step {
                ReplicaStep::Nothing => return,
                ReplicaStep::Answer(answers) => (replies, step) = (answers, ReplicaStep::Nothing),
                ReplicaStep::Store(record) => {
                    out.push(AppEffect::Keep(record));
                    (replies, step) = self.replica.saved(true);
                }
            }
        }
    }
}

impl Application for Clerk {
    type Message = ScheduleMessage;
    type Record = ScheduleRecord;
    type Shared = Office;

    fn start(_: &Here<'_>, office: &Office, record: ScheduleRecord) -> Self {
        let forgets = office.plan.flaw == Some(Flaw::ForgetsRecord);
        let stored = if forgets {
            ScheduleRecord::default()
        } else {
            record
        };
        let window = (office.plan.source == Source::Stream).then(SharedWindow::default);
        let times: Box<dyn DueTimes> = match &window {
            Some(window) => Box::new(window.clone()),
            None => Box::new(office.plan.every()),
        };
        // The simulator's machines borrow nothing.
        let rule = Box::leak(Box::new(Rule {
            name: AgentId::new("job").unwrap(),
            times,
            misfire: office.plan.misfire,
        }));
        Self {
            office: office.clone(),
            replica: Replica::new(stored),
            rule,
            window,
            told: DAWN,
            leads: None,
            finished: None,
            rounds: 0,
        }
    }

    fn receive(
        &mut self,
        here: &Here<'_>,
        (from, _): (&AgentId, Incarnation),
        message: ScheduleMessage,
        out: &mut Vec<AppEffect<Self>>,
    ) {
        let (round, outcome) = match message {
            mut said @ (ScheduleMessage::Read(_)
            | ScheduleMessage::Survey(_)
            | ScheduleMessage::Write(_)) => {
                if !self.office.voters.contains(from) {
                    return;
                }
                if self.office.plan.flaw == Some(Flaw::ObeysFormerLeaders) {
                    self.rounds += 1;
                    let latest = Term(self.rounds);
                    match &mut said {
                        ScheduleMessage::Read(read) | ScheduleMessage::Survey(read) => {
                            read.ballot.term = latest;
                        }
                        ScheduleMessage::Write(write) => write.ballot.term = latest,
                        ScheduleMessage::Held(_)
                        | ScheduleMessage::Refused(_)
                        | ScheduleMessage::Surveyed(_) => {}
                    }
                }
                let step = self.replica.ask(from.clone(), &said, Self::now(here).wall);
                return self.follow_desk(Vec::new(), step, out);
            }
            ScheduleMessage::Held(held) => (held.round, Ok(held.mark.into())),
            ScheduleMessage::Surveyed(Surveyed { held, written, .. }) => {
                let mark = held.mark;
                (held.round, Ok(Known { mark, written }))
            }
            ScheduleMessage::Refused(refused) => (refused.round, Err(refused.why)),
        };
        // What a former incarnation asked is answered to nobody.
        if round.incarnation == here.incarnation {
            let from = from.clone();
            let answer = ScheduleInput::Answer {
                from,
                round,
                outcome,
            };
            self.put(here, answer, out);
        }
    }

    fn look(&mut self, here: &Here<'_>, out: &mut Vec<AppEffect<Self>>) {
        self.tell(here);
        self.follow_view(here, out);
        let Some(lead) = &mut self.leads else { return };
        if let Some((tick, _, is_well)) = lead.running.take_if(|(_, until, _)| *until <= here.now) {
            if is_well {
                self.office.book().done.insert(tick.due);
            }
            let end = is_well.then_some(()).ok_or(TickFailed);
            self.put(here, ScheduleInput::Ended(end), out);
        }
        let Some(lead) = &mut self.leads else { return };
        if here.is_draining && !lead.is_told {
            lead.is_told = true;
            self.put(here, ScheduleInput::StepDown, out);
        }
        let Some(lead) = &self.leads else { return };
        if lead.look_at <= here.now {
            let ballot = LeaderNumber {
                term: lead.term,
                incarnation: here.incarnation,
            };
            let audience = self.office.audience();
            self.put(here, ScheduleInput::Look { audience, ballot }, out);
        }
    }

    fn wakes_in(&self, here: &Here<'_>) -> Option<Duration> {
        let lead = self.leads.as_ref()?;
        let running = lead.running.as_ref().map(|(_, until, _)| *until);
        let next = running.into_iter().chain([lead.look_at]).min()?;
        // A stream tells whenever it likes.
        let after = next.since(here.now);
        Some(after.clamp(Duration::from_millis(1), LOOK))
    }

    fn broken(office: &Office) -> Option<String> {
        office.book().broken.clone()
    }
}

impl Said for ScheduleMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Read(_) => "schedule read",
            Self::Survey(_) => "schedule survey",
            Self::Surveyed(_) => "schedule surveyed",
            Self::Write(_) => "schedule write",
            Self::Held(_) => "schedule held",
            Self::Refused(_) => "schedule refused",
        }
    }
}

impl fmt::Debug for Clerk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clerk")
            .field("replica", &self.replica)
            .finish_non_exhaustive()
    }
}
