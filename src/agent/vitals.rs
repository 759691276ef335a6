//! The data that an agent publishes for the diagnosis of a missing leader.
//!
//! Decided here: which data is kept, and that a step in a stable group writes a number or two and takes no lock. Not
//! here: the conclusions (`diagnosis/`), and the leadership itself (`leadership.rs`).

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::protocol::{AgentId, Prospects, Time, VotersEvent};

use super::{
    diagnosis::ScheduleSigns,
    failing::FailingWork,
    kept_prospects::KeptProspects,
    saving::StoreFailure,
    strain::{Renewal, Strain, is_standstill},
    voters::AskedSigns,
    work::WorkSigns,
};

/// The published data of one agent, through all its incarnations.
#[derive(Debug)]
pub(super) struct Vitals {
    /// Time of the last step, in nanoseconds of the agent's clock; 0 before the first step.
    last_step: AtomicU64,
    /// End of the lease of the leader that the agent follows, in nanoseconds of the agent's clock; 0 if unknown.
    #[cfg(feature = "dashboard")]
    followed_until: AtomicU64,
    signs: Mutex<VitalSigns>,
}

/// The data that changes rarely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VitalSigns {
    pub(super) prospects: KeptProspects,
    /// Time since which the agent knows no leader. If the leader fell silent, it is the leader's last sign of life.
    pub(super) leaderless_since: Option<Time>,
    /// The last sign of life of a silent leader, until the step ends in which the leader was missed.
    pub(super) last_sign: Option<Time>,
    /// Time since which this agent knows of a change of the voters. The prospects have the new epoch. Boxed: most
    /// groups never change their voters.
    pub(super) changing_since: Option<Box<Time>>,
    /// The callers that wait for a change of the voters. Boxed: such calls are rare.
    pub(super) asked: Option<Box<AskedSigns>>,
    /// Time at which the save under way began.
    pub(super) saving_since: Option<Time>,
    /// The failure of the store, unless a record was stored since. Boxed: few agents ever have a failure.
    pub(super) store_failure: Option<Box<StoreFailure>>,
    /// The last events about records: a voter uses another store than before (an event for each voter), or this agent's
    /// record is an old copy. Boxed: few agents ever have such an event.
    pub(super) records: Option<Box<RecordSigns>>,
    /// Whether the clock was far slower than the timers while there was no leader.
    pub(super) is_clock_slow: bool,
    /// The work that the application gave to the agent. Boxed: most agents of a large group have no work.
    pub(super) work: Option<Box<WorkSigns>>,
    /// The findings about the schedules of the agent. Boxed: few agents ever have one.
    pub(super) schedules: Option<Box<ScheduleSigns>>,
    /// Recent writes, late renewals and standstills. Boxed: most agents of a large group have none.
    pub(super) strain: Option<Box<Strain>>,
}

/// Events about the records of voters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordSigns(pub(super) Vec<VotersEvent>);

/// Returns the voter whose other store the event reports; `None` for an event about this agent's own record.
const fn voter_of(event: &VotersEvent) -> Option<&AgentId> {
    if let VotersEvent::OtherStore { id, .. } = event {
        Some(id)
    } else {
        None
    }
}

impl Vitals {
    pub(super) fn new(now: Time) -> Self {
        let signs = VitalSigns {
            leaderless_since: Some(now),
            ..VitalSigns::default()
        };
        Self {
            last_step: AtomicU64::new(0),
            #[cfg(feature = "dashboard")]
            followed_until: AtomicU64::new(0),
            signs: Mutex::new(signs),
        }
    }

    /// Notes that the agent does something at `now`.
    pub(super) fn note_step(&self, now: Time) {
        self.last_step.store(now.as_nanos().max(1), Relaxed); // 0 stands for no step yet
    }

    /// Returns the time of the last step; `None` before the first step.
    pub(super) fn last_step(&self) -> Option<Time> {
        let nanos = self.last_step.load(Relaxed);
        (nanos > 0).then(|| Time::from_nanos(nanos))
    }

    /// Notes the time until which the leader of this agent leads, as far as the agent knows.
    #[cfg(feature = "dashboard")]
    pub(super) fn note_followed(&self, until: Option<Time>) {
        let nanos = until.map_or(0, |until| until.as_nanos().max(1));
        self.followed_until.store(nanos, Relaxed);
    }

    /// Returns the time until which the leader of this agent leads, as far as the agent knows.
    #[cfg(feature = "dashboard")]
    pub(super) fn followed_until(&self) -> Option<Time> {
        let nanos = self.followed_until.load(Relaxed);
        (nanos > 0).then(|| Time::from_nanos(nanos))
    }

    /// Notes the agent's prospects, which may be unchanged, and whether the agent has a leader. If a time without a
    /// leader has ended, returns its length.
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
        let last_sign = signs.last_sign.take();
        if has_leader {
            signs.is_clock_slow = false;
            let since = signs.leaderless_since.take().or(last_sign);
            return since.map(|since| now().since(since));
        }
        let since = signs.leaderless_since.get_or_insert_with(&now);
        *since = last_sign.map_or(*since, |sign| sign.min(*since));
        None
    }

    /// Notes the last sign of life of a leader that fell silent; `None` for any other end. The time without a leader
    /// that begins with this step counts from that sign of life.
    pub(super) fn note_last_sign(&self, since: Option<Time>) {
        self.signs().last_sign = since;
    }

    /// Returns whether the agent asks its leader for the leadership when its turn comes (rule `ask-in-turn` of the
    /// bully).
    #[cfg(feature = "testkit")]
    pub(super) fn awaits_turn(&self) -> bool {
        let prospects = self.signs().prospects.get();
        prospects.takeover_at.is_some()
            && prospects.preemption == Some(crate::protocol::Preemption::Immediately)
    }

    /// Notes that the present incarnation has ended, and knows no leader any more.
    pub(super) fn note_end(&self, now: Time) {
        #[cfg(feature = "dashboard")]
        self.note_followed(None);
        let mut signs = self.signs();
        signs.prospects = KeptProspects::default();
        (signs.changing_since, signs.last_sign) = (None, None);
        signs.leaderless_since.get_or_insert(now);
        signs.saving_since = None;
        // If a voter still uses another store, the next incarnation reports it again.
        if let Some(records) = &mut signs.records {
            records.0.retain(|event| voter_of(event).is_none());
        }
        signs.end_wait_for_store();
        if let Some(strain) = &mut signs.strain {
            strain.note_end();
        }
    }

    pub(super) fn note_saving(&self, now: Time) {
        self.signs().saving_since = Some(now);
    }

    /// Notes that the record is durable, or the reason why it is not. Returns the time that the save took.
    pub(super) fn note_saved(&self, failure: Option<String>, now: Time) -> Duration {
        let mut signs = self.signs();
        let since = signs.saving_since.take();
        let took = since.map(|since| now.since(since)).unwrap_or_default();
        if since.is_some() {
            signs.strain.get_or_insert_default().note_write(took);
        }
        match failure {
            Some(reason) => StoreFailure::note(&mut signs.store_failure, reason, now, false),
            None => signs.store_failure = None,
        }
        took
    }

    /// Notes that a record was not stored, and that the agent waits before it saves the record again.
    pub(super) fn note_refused(&self, reason: String, now: Time) {
        let mut signs = self.signs();
        // The wait does not count as a slow write: the next try is measured by itself.
        signs.saving_since = None;
        StoreFailure::note(&mut signs.store_failure, reason, now, true);
    }

    pub(super) fn is_probe_due(&self, now: Time) -> bool {
        self.signs()
            .strain
            .get_or_insert_default()
            .is_probe_due(now)
    }

    pub(super) fn note_probe(&self, took: Duration) {
        self.signs().strain.get_or_insert_default().note_write(took);
    }

    /// Notes an event about another store, or about an old copy of a record. The event replaces the last event about
    /// the same voter, or about this agent's own record.
    pub(super) fn note_record(&self, event: &VotersEvent) {
        let mut signs = self.signs();
        let records = &mut signs.records.get_or_insert_default().0;
        records.retain(|known| voter_of(known) != voter_of(event));
        records.push(event.clone());
    }

    /// Removes the events of `note_record`, because a later epoch began. The machine reports a lasting cause again.
    pub(super) fn forget_records(&self) {
        self.signs().records = None;
    }

    /// Notes that by the timers there was no leader for the time `by_timers`. Returns the longer of this time and the
    /// time without a leader by the agent's clock.
    pub(super) fn note_vacancy(&self, by_timers: Duration, now: Time) -> Duration {
        self.note_step(now); // a warning shows that the agent runs
        let mut signs = self.signs();
        let by_clock = signs.leaderless_since.map_or(by_timers, |at| now.since(at));
        // Half is chosen: the rates of clock and timers differ by at most 11 %, and a stopped clock shows no time.
        signs.is_clock_slow = by_clock < by_timers / 2;
        by_clock.max(by_timers)
    }

    /// Notes a renewal of a leader's lease; returns whether a warning is due that renewals are steadily late.
    pub(super) fn note_renewal(&self, renewal: Renewal, now: Time) -> bool {
        let strain = &mut self.signs().strain;
        if strain.is_none() && !renewal.is_late() {
            return false;
        }
        strain.get_or_insert_default().note_renewal(renewal, now)
    }

    /// Notes the delay of a timer of the agent.
    pub(super) fn note_lateness(&self, late: Duration, now: impl FnOnce() -> Time) {
        if is_standstill(late) {
            let strain = &mut self.signs().strain;
            strain.get_or_insert_default().note_stall(late, now());
        }
    }

    pub(super) fn note_work<T>(&self, note: impl FnOnce(&mut WorkSigns) -> T) -> T {
        note(self.signs().work.get_or_insert_default())
    }

    /// Notes a consequence of the failures of the agent's work, if it ever failed.
    pub(super) fn note_failing(&self, note: impl FnOnce(&mut FailingWork)) {
        let mut signs = self.signs();
        let failing = signs.work.as_mut().and_then(|work| work.failing());
        failing.map(note);
    }

    pub(super) fn note_schedules(&self, note: impl FnOnce(&mut ScheduleSigns)) {
        note(self.signs().schedules.get_or_insert_default());
    }

    pub(super) fn read(&self) -> VitalSigns {
        self.signs().clone()
    }

    pub(super) fn signs(&self) -> MutexGuard<'_, VitalSigns> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.signs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ChangeError, StoreId, Term};

    fn vitals() -> Vitals {
        Vitals::new(Time::from_millis(1))
    }

    #[test]
    fn a_time_without_a_leader_begins_with_the_last_sign_of_life_of_a_silent_one() {
        let (vitals, at) = (vitals(), Time::from_millis);
        let none = Prospects::default();
        vitals.note_prospects(none.clone(), true, || at(2));
        for first in [899, 900] {
            vitals.note_prospects(none.clone(), false, || at(first)); // before a save
            vitals.note_last_sign(Some(at(100)));
            vitals.note_prospects(none.clone(), false, || at(900));
            let took = vitals.note_prospects(none.clone(), true, || at(910));
            assert_eq!(took, Some(Duration::from_millis(810)));
        }
        vitals.note_last_sign(None);
        vitals.note_prospects(none, false, || at(950));
        assert_eq!(vitals.read().leaderless_since, Some(at(950)));
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
    fn a_record_that_was_refused_is_no_slow_write_and_is_tried_until_the_incarnation_ends() {
        let (vitals, at) = (vitals(), Time::from_millis);
        vitals.note_saving(at(1_000));
        vitals.note_saved(None, at(1_040));
        vitals.note_saved(Some("full".to_owned()), at(9_000)); // nothing was written
        vitals.note_saving(at(9_000));
        vitals.note_refused("no memory".to_owned(), at(9_900));
        let signs = vitals.read();
        assert_eq!(signs.strain.unwrap().longest_write().as_millis(), 40);
        let failure = signs.store_failure.unwrap();
        assert_eq!((signs.saving_since, failure.is_tried_again), (None, true));
        vitals.note_end(at(9_901));
        assert!(!vitals.read().store_failure.unwrap().is_tried_again);
    }

    #[test]
    fn a_change_of_the_voters_is_known_from_its_first_step_to_the_end_of_the_incarnation() {
        let (vitals, at) = (vitals(), Time::from_millis);
        let note = |next_epoch, now| {
            let prospects = Prospects {
                next_epoch,
                ..Prospects::default()
            };
            vitals.note_prospects(prospects, true, || at(now));
            vitals.read().changing_since.map(|since| *since)
        };
        for (epoch, now, since) in [(2, 3, 3), (2, 5, 3), (3, 7, 7)] {
            assert_eq!(note(Some(epoch), now), Some(at(since)));
        }
        assert_eq!(note(None, 8), None);
        note(Some(4), 9);
        vitals.note_saving(at(9));
        for now in [10, 11] {
            vitals.note_end(at(now));
            let signs = vitals.read();
            assert_eq!((signs.changing_since, signs.saving_since), (None, None));
            assert_eq!(signs.leaderless_since, Some(at(10)));
        }
    }

    #[test]
    fn a_change_is_asked_for_while_somebody_waits() {
        let (vitals, at) = (vitals(), Time::from_millis);
        vitals.note_ask(at(9));
        vitals.note_ask(at(11));
        vitals.note_answer();
        vitals.note_refused_change(&ChangeError::UnderWay);
        let asked = vitals.read().asked.unwrap();
        let refused = Some(ChangeError::UnderWay);
        let waits = (asked.since, asked.callers, asked.refused);
        assert_eq!(waits, (at(9), 1, refused), "one waits still");
        vitals.note_answer();
        assert_eq!(vitals.read().asked, None);
    }

    #[test]
    fn a_report_about_another_store_is_kept_for_each_voter_until_the_incarnation_ends() {
        let vitals = vitals();
        let report = |voter: &str, found| VotersEvent::OtherStore {
            id: AgentId::new(voter).unwrap(),
            kept: StoreId::new(1),
            found: StoreId::new(found),
            later: None,
        };
        for event in [report("a", 2), report("b", 2), report("a", 3)] {
            vitals.note_record(&event);
        }
        let kept = || vitals.read().records.unwrap_or_default().0;
        assert_eq!(kept(), [report("b", 2), report("a", 3)]);
        // Each incarnation with an old copy of its record gets this report again.
        let old = |term| VotersEvent::OldRecord {
            by: AgentId::new("b").unwrap(),
            term: Term(term),
            heard: Term(9),
        };
        for term in [1, 2] {
            vitals.note_record(&old(term));
            vitals.note_end(Time::ZERO);
            assert_eq!(kept(), [old(term)]);
        }
    }
}
