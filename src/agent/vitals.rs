//! What an agent publishes of itself for people who ask why there is no leader.
//!
//! Decided here: what is kept, and that a steady step writes one number and takes no lock. Not here: what
//! follows from it (`diagnosis/`), and the leadership itself (`leadership.rs`).

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::protocol::{MemberKind, Preemption, Prospects, Time, Timings, VotersEvent};

use super::{
    diagnosis::ScheduleSigns,
    failing::FailingWork,
    saving::StoreFailure,
    strain::{Renewal, Strain, is_standstill},
    work::WorkSigns,
};

/// What is published of one agent, through all its incarnations.
#[derive(Debug)]
pub(super) struct Vitals {
    /// When the agent last did something, in nanoseconds of its clock; 0 before its first step.
    last_step: AtomicU64,
    signs: Mutex<VitalSigns>,
}

/// What an agent's configuration assumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assumptions {
    pub(super) kind: MemberKind,
    pub(super) timings: Option<Timings>,
    /// The name of the timings, if they are a preset.
    pub(super) preset: Option<&'static str>,
    /// So long a group may have no leader before that is worth a warning: every election of it would have had
    /// its time.
    pub(super) patience: Duration,
}

/// What changes rarely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VitalSigns {
    pub(super) prospects: KeptProspects,
    /// Since when the agent knows no leader.
    pub(super) leaderless_since: Option<Time>,
    /// Since when the change of the voters is known here to which the prospects name the epoch. Boxed: most groups never
    /// change their voters.
    pub(super) changing_since: Option<Box<Time>>,
    /// Since when somebody waits here for a change of the voters, and how many do. Boxed: hardly ever does anybody.
    pub(super) asked: Option<Box<(Time, u32)>>,
    /// Since when a record is on its way to the store.
    pub(super) saving_since: Option<Time>,
    /// The failure of the store, if nothing was stored since. Boxed: few agents ever have one.
    pub(super) store_failure: Option<Box<StoreFailure>>,
    /// That a voter comes with another store than before, or that this agent's record is an old copy.
    pub(super) record: Option<Box<VotersEvent>>,
    /// The clock went far slower than the timers while there was no leader.
    pub(super) is_clock_slow: bool,
    /// The work that the agent was given. Boxed: most agents of a large group have none.
    pub(super) work: Option<Box<WorkSigns>>,
    /// What was found of the schedules that the agent leads. Boxed: few agents ever have one.
    pub(super) schedules: Option<Box<ScheduleSigns>>,
    /// Writes, late renewals and standstills of late. Boxed: most agents of a large group have none.
    pub(super) strain: Option<Box<Strain>>,
}

/// The prospects of an agent. Most agents have a policy and nothing else, and these need no memory of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeptProspects {
    Idle(Option<Preemption>),
    Other(Box<Prospects>),
}

impl Default for KeptProspects {
    fn default() -> Self {
        Self::Idle(None)
    }
}

impl From<Prospects> for KeptProspects {
    fn from(prospects: Prospects) -> Self {
        if prospects.is_idle() {
            Self::Idle(prospects.preemption)
        } else {
            Self::Other(Box::new(prospects))
        }
    }
}

impl KeptProspects {
    pub(super) fn get(&self) -> Prospects {
        match self {
            Self::Idle(preemption) => Prospects {
                preemption: *preemption,
                ..Prospects::default()
            },
            Self::Other(prospects) => Prospects::clone(prospects),
        }
    }

    #[cfg(test)]
    pub(super) fn edit(&mut self) -> &mut Prospects {
        if let Self::Idle(_) = self {
            *self = Self::Other(Box::new(self.get()));
        }
        match self {
            Self::Other(prospects) => prospects,
            Self::Idle(_) => unreachable!("just replaced"),
        }
    }
}

impl Assumptions {
    pub(super) fn new(kind: MemberKind, timings: Option<&Timings>) -> Self {
        Self {
            kind,
            timings: timings.cloned(),
            preset: timings.and_then(preset),
            patience: timings.map_or(PATIENCE, patience),
        }
    }

    /// Whether a silent leader is noticed.
    pub(super) fn has_detector(&self) -> bool {
        let timings = self.timings.as_ref();
        timings.is_some_and(|timings| timings.detector().is_some())
    }
}

/// The presets in the order of their delay bounds, with their names as users write them.
pub(super) fn presets() -> [(&'static str, Timings); 6] {
    [
        ("Timings::in_process()", Timings::in_process()),
        ("Timings::fast()", Timings::fast()),
        ("Timings::lan()", Timings::lan()),
        ("Timings::default()", Timings::default()),
        ("Timings::wan()", Timings::wan()),
        ("Timings::astra()", Timings::astra()),
    ]
}

fn preset(timings: &Timings) -> Option<&'static str> {
    let mut presets = presets().into_iter();
    presets
        .find(|(_, preset)| preset == timings)
        .map(|(name, _)| name)
}

/// The longest that an election takes by these timings, whatever its mode.
fn patience(timings: &Timings) -> Duration {
    let quorum = timings.worst_case_quorum_failover(SLOTS);
    // Without a failure detector an election takes a deadline and is held twice at most; then the former leader is waited for.
    let available = timings
        .worst_case_failover(u32::MAX)
        .unwrap_or_else(|| timings.deadline().saturating_mul(3));
    available.max(quorum)
}

/// No agent waits for more slots than this before it holds an election.
const SLOTS: u32 = 8;

/// The same where an election names no timings.
const PATIENCE: Duration = Duration::from_secs(10);

impl Vitals {
    pub(super) fn new(now: Time) -> Self {
        let signs = VitalSigns {
            leaderless_since: Some(now),
            ..VitalSigns::default()
        };
        Self {
            last_step: AtomicU64::new(0),
            signs: Mutex::new(signs),
        }
    }

    /// The agent does something at `now`.
    pub(super) fn note_step(&self, now: Time) {
        self.last_step.store(now.as_nanos().max(1), Relaxed);
    }

    /// When it last did something; `None` before its first step.
    pub(super) fn last_step(&self) -> Option<Time> {
        let nanos = self.last_step.load(Relaxed);
        (nanos > 0).then(|| Time::from_nanos(nanos))
    }

    /// The agent's prospects, and whether it has a leader, which may be as before. Says for how long it had none,
    /// when that is over.
    pub(super) fn note_prospects(
        &self,
        prospects: Prospects,
        has_leader: bool,
        now: impl Fn() -> Time,
    ) -> Option<Duration> {
        let mut signs = self.signs();
        if signs.prospects.get().next_epoch != prospects.next_epoch {
            signs.changing_since = prospects.next_epoch.map(|_| Box::new(now()));
        }
        signs.prospects = prospects.into();
        if has_leader {
            signs.is_clock_slow = false;
            let since = signs.leaderless_since.take();
            return since.map(|since| now().since(since));
        }
        signs.leaderless_since.get_or_insert_with(&now);
        None
    }

    /// The present incarnation has ended, and what it knew of a leader with it.
    pub(super) fn note_end(&self, now: Time) {
        let mut signs = self.signs();
        signs.prospects = KeptProspects::default();
        signs.changing_since = None;
        signs.leaderless_since.get_or_insert(now);
        signs.saving_since = None;
        signs.end_wait_for_store();
        if let Some(strain) = &mut signs.strain {
            strain.note_end();
        }
    }

    /// Somebody waits here for a change of the voters.
    pub(super) fn note_ask(&self, now: Time) {
        let mut signs = self.signs();
        let (_, waiting) = &mut **signs.asked.get_or_insert_with(|| Box::new((now, 0)));
        *waiting = waiting.saturating_add(1);
    }

    /// One of them waits no more.
    pub(super) fn note_answer(&self) {
        let mut signs = self.signs();
        signs.asked.take_if(|asked| {
            let (_, waiting) = &mut **asked;
            *waiting = waiting.saturating_sub(1);
            *waiting == 0
        });
    }

    pub(super) fn note_saving(&self, now: Time) {
        self.signs().saving_since = Some(now);
    }

    /// The record is durable, or why it is not. Says how long that took.
    pub(super) fn note_saved(&self, failure: Option<String>, now: Time) -> Duration {
        let mut signs = self.signs();
        let since = signs.saving_since.take();
        let took = since.map(|since| now.since(since)).unwrap_or_default();
        if since.is_some() {
            let strain = signs.strain.get_or_insert_default();
            strain.note_write(took);
        }
        match failure {
            Some(reason) => StoreFailure::note(&mut signs.store_failure, reason, now, false),
            None => signs.store_failure = None,
        }
        took
    }

    /// A record was not stored, and the agent waits before it saves it again.
    pub(super) fn note_refused(&self, reason: String, now: Time) {
        let mut signs = self.signs();
        // The wait is no slow write: the next try counts for itself.
        signs.saving_since = None;
        StoreFailure::note(&mut signs.store_failure, reason, now, true);
    }

    /// Whether the disk is to be measured now: once a minute.
    pub(super) fn is_probe_due(&self, now: Time) -> bool {
        self.signs()
            .strain
            .get_or_insert_default()
            .is_probe_due(now)
    }

    /// A probe of the disk was durable after so long.
    pub(super) fn note_probe(&self, took: Duration) {
        self.signs().strain.get_or_insert_default().note_write(took);
    }

    /// Other agents know another record, or another store.
    pub(super) fn note_record(&self, event: &VotersEvent) {
        self.signs().record = Some(Box::new(event.clone()));
    }

    /// By the timers so much time has passed without a leader; says how much it was by the agent's clock.
    pub(super) fn note_vacancy(&self, by_timers: Duration, now: Time) -> Duration {
        self.note_step(now);
        let mut signs = self.signs();
        let by_clock = signs.leaderless_since.map_or(by_timers, |at| now.since(at));
        signs.is_clock_slow = by_clock < by_timers / 2;
        by_clock.max(by_timers)
    }

    /// A leader's lease was renewed; says whether a warning is due that this is steadily late.
    pub(super) fn note_renewal(&self, renewal: Renewal, now: Time) -> bool {
        let strain = &mut self.signs().strain;
        if strain.is_none() && !renewal.is_late() {
            return false;
        }
        strain.get_or_insert_default().note_renewal(renewal, now)
    }

    /// A timer of the agent was late by so much.
    pub(super) fn note_lateness(&self, late: Duration, now: impl FnOnce() -> Time) {
        if is_standstill(late) {
            let strain = &mut self.signs().strain;
            strain.get_or_insert_default().note_stall(late, now());
        }
    }

    /// Something happened to the agent's work.
    pub(super) fn note_work<T>(&self, note: impl FnOnce(&mut WorkSigns) -> T) -> T {
        note(self.signs().work.get_or_insert_default())
    }

    /// What followed from the failures of the agent's work, if it ever failed.
    pub(super) fn note_failing(&self, note: impl FnOnce(&mut FailingWork)) {
        let mut signs = self.signs();
        let failing = signs.work.as_mut().and_then(|work| work.failing());
        failing.map(note);
    }

    /// Something was found of the agent's schedules, or is over.
    pub(super) fn note_schedules(&self, note: impl FnOnce(&mut ScheduleSigns)) {
        note(self.signs().schedules.get_or_insert_default());
    }

    pub(super) fn read(&self) -> VitalSigns {
        self.signs().clone()
    }

    fn signs(&self) -> MutexGuard<'_, VitalSigns> {
        // Each change under the lock is whole at once, so there is nothing to be poisoned.
        self.signs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vitals() -> Vitals {
        Vitals::new(Time::from_millis(1))
    }

    #[test]
    fn the_time_without_a_leader_counts_from_its_beginning() {
        let (vitals, at) = (vitals(), Time::from_millis);
        let none = Prospects::default();
        vitals.note_prospects(none.clone(), false, || at(5));
        assert_eq!(vitals.read().leaderless_since, Some(at(1)));
        vitals.note_prospects(none.clone(), true, || at(7));
        assert_eq!(vitals.read().leaderless_since, None);
        vitals.note_prospects(none, false, || at(9));
        vitals.note_end(at(11));
        assert_eq!(vitals.read().leaderless_since, Some(at(9)));
    }

    #[test]
    fn a_clock_that_stands_still_is_noticed_by_the_timers() {
        let (vitals, at) = (vitals(), Time::from_millis);
        let second = Duration::from_secs(1);
        assert_eq!(vitals.note_vacancy(second, at(900)), second);
        assert!(!vitals.read().is_clock_slow);
        vitals.note_vacancy(second, at(2));
        assert!(vitals.read().is_clock_slow);
        vitals.note_prospects(Prospects::default(), true, || at(3));
        assert!(!vitals.read().is_clock_slow);
    }

    #[test]
    fn a_change_of_the_voters_is_known_since_its_first_step_and_asked_for_while_somebody_waits() {
        let (vitals, at) = (vitals(), Time::from_millis);
        let to = |next_epoch| Prospects {
            next_epoch,
            ..Prospects::default()
        };
        for (epoch, now, since) in [(2, 3, 3), (2, 5, 3), (3, 7, 7)] {
            vitals.note_prospects(to(Some(epoch)), true, || at(now));
            let signs = vitals.read();
            assert_eq!(signs.prospects.get().next_epoch, Some(epoch));
            assert_eq!(signs.changing_since, Some(Box::new(at(since))));
        }
        vitals.note_prospects(to(None), true, || at(8));
        assert_eq!(vitals.read().changing_since, None);
        vitals.note_ask(at(9));
        vitals.note_ask(at(11));
        vitals.note_answer();
        assert_eq!(
            vitals.read().asked,
            Some(Box::new((at(9), 1))),
            "one waits still"
        );
        vitals.note_answer();
        assert_eq!(vitals.read().asked, None);
    }

    #[test]
    fn a_failure_of_the_store_counts_until_something_is_stored() {
        let (vitals, at) = (vitals(), Time::from_millis);
        vitals.note_saving(at(2));
        assert_eq!(vitals.read().saving_since, Some(at(2)));
        vitals.note_saved(Some("full".to_owned()), at(3));
        let failure = || {
            let failure = vitals.read().store_failure?;
            Some((failure.reason, failure.since, failure.is_tried_again))
        };
        assert_eq!(failure(), Some(("full".to_owned(), at(3), false)));
        vitals.note_saved(None, at(4));
        assert_eq!((failure(), vitals.read().saving_since), (None, None));
        for now in [5, 6] {
            vitals.note_saving(at(now));
            vitals.note_refused("no memory".to_owned(), at(now + 1));
            assert_eq!(failure(), Some(("no memory".to_owned(), at(6), true)));
            assert_eq!(vitals.read().saving_since, None);
        }
        vitals.note_end(at(9));
        assert_eq!(failure(), Some(("no memory".to_owned(), at(6), false)));
    }

    #[test]
    fn a_write_counts_when_its_record_is_durable() {
        let (vitals, at) = (vitals(), Time::from_millis);
        let write = || vitals.read().strain.map_or(0, |s| s.write().as_millis());
        vitals.note_saving(at(1_000));
        assert_eq!(write(), 0);
        vitals.note_saved(None, at(1_040));
        assert_eq!(write(), 40);
        vitals.note_saved(Some("full".to_owned()), at(9_000));
        assert_eq!(write(), 40, "nothing was written");
        vitals.note_end(at(9_001));
        assert_eq!(write(), 40, "the next incarnation has the same store");
    }

    #[test]
    fn presets_have_names_and_other_timings_none() {
        for (name, timings) in presets() {
            assert_eq!(preset(&timings), Some(name));
            assert!(patience(&timings) > timings.deadline());
        }
        let other = Timings::lan().to_builder().deadline(Duration::from_secs(1));
        assert_eq!(preset(&other.build().unwrap()), None);
        assert_eq!(patience(&Timings::default()), Duration::from_millis(4_150));
    }
}
