//! Starts schedules: checks everything first, then makes changes.
//!
//! Decided here: the settings and their defaults; a refused start changes nothing.

use std::{
    cell::{Cell, RefCell},
    fmt,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use actix::Recipient;
use futures::{Stream, StreamExt, future::FutureExt, stream::BoxStream};
use tracing::warn;

use crate::{
    agent::{
        ElectionHandle, can_spawn_here,
        schedules::{ScheduleStatus, StatusRecord},
    },
    clock::{WallClock, WallTime},
    leader::stopping::{Stopper, stoppable},
    metrics::AgentSeries,
    protocol::{AgentId, Election},
    store::TermStore,
};

use super::{
    Misfire, ScheduleError, ScheduleHandle, ScheduleState, Tick, TickOutcome,
    begin::{BeginSettings, begin, service_of},
    clock_watch::HandOver,
    due::{DueTimes, Every, next},
    feed::{Feed, until_done},
    interface::{Rule, TickFailed},
    register::{MOST, ScheduleRecord},
    run::{Schedule, TickWork},
    service::ScheduleService,
};

impl<E: Election> ElectionHandle<E> {
    /// Makes a schedule that is due at every multiple of `interval` since the beginning of 1970 (UTC): with an hour, at
    /// each full hour. The interval has whole milliseconds, at least 100.
    ///
    /// The name identifies the schedule in the group: every agent starts it with the same name, rule and [`Misfire`],
    /// and only the leader runs it. See the [module](crate::leader::schedule).
    pub fn every(&self, name: &str, interval: Duration) -> ScheduleBuilder<E> {
        let every = Every::new(interval);
        self.scheduled(
            name,
            every.map(|every| ScheduleTimes::Rule(Box::new(every))),
        )
    }

    /// Makes a schedule by any rule; see [`every`](Self::every).
    pub fn schedule(&self, name: &str, times: impl DueTimes) -> ScheduleBuilder<E> {
        self.scheduled(name, Ok(ScheduleTimes::Rule(Box::new(times))))
    }

    /// Makes a schedule by any stream of due times. Use it if the due times follow no rule: reminders of users, rows of
    /// a table. See [`every`](Self::every) for the rest.
    ///
    /// Each agent of the group reads its own stream, whether it leads or not. All streams must give the same due times:
    /// moments from the data, not the moments at which a stream was polled. They may come early and in any order.
    ///
    /// | the stream | then |
    /// |---|---|
    /// | gives a time that has passed, as after a fail-over | [`Misfire`] decides, if the time is later than the last due time that was begun in the group |
    /// | repeats a time, or gives a time after a later time has begun or was skipped | the time is not run, and [counted](crate::leader::schedule::ScheduleStatus::misordered) |
    /// | gives nothing | nothing is run |
    /// | gives more times than are requested | the stream is read 1,024 due times ahead. A follower drops all missed times except the last, or with [`Misfire::AtLeastOnce`] reads on when it leads |
    /// | ends | its due times are run; then the schedule is [done](ScheduleState::Done) |
    /// | panics | its due times are run, and the panic is logged; then the schedule has [ended](ScheduleState::Ended) |
    ///
    /// ```
    /// use actix_bully::{Group, agent::BullyAgent, clock::WallTime, leader::schedule::Tick};
    /// use futures::channel::mpsc;
    ///
    /// # actix::System::new().block_on(async {
    /// let group = Group::new("demo")?;
    /// let agent = BullyAgent::builder("api-1").join(&group).start()?;
    /// let (remind, reminders) = mpsc::channel(64);
    /// agent
    ///     .schedule_stream("reminders", reminders)
    ///     .start(|tick: Tick| async move { println!("{} is due", tick.key()) })?;
    /// // On every replica, for each row that a user adds:
    /// remind.clone().try_send(WallTime::from_millis(1_767_323_045_000))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn schedule_stream(
        &self,
        name: &str,
        times: impl Stream<Item = WallTime> + Send + 'static,
    ) -> ScheduleBuilder<E> {
        self.scheduled(name, Ok(ScheduleTimes::Stream(times.boxed())))
    }

    /// Makes a schedule by a cron expression, in UTC. See [`every`](Self::every), and
    /// [`Cron`](crate::leader::schedule::Cron) for the expressions and for other time zones.
    #[cfg(feature = "cron")]
    #[cfg_attr(docsrs, doc(cfg(feature = "cron")))]
    pub fn cron(&self, name: &str, expression: &str) -> ScheduleBuilder<E> {
        let cron = super::Cron::new(expression);
        self.scheduled(name, cron.map(|cron| ScheduleTimes::Rule(Box::new(cron))))
    }

    /// Makes the settings of this agent for schedules. Needed only where the defaults are not enough: voters on several
    /// hosts must set a store.
    pub fn schedules(&self) -> SchedulesBuilder<E> {
        SchedulesBuilder {
            agent: self.clone(),
            settings: BeginSettings::default(),
        }
    }

    fn scheduled(
        &self,
        name: &str,
        times: Result<ScheduleTimes, ScheduleError>,
    ) -> ScheduleBuilder<E> {
        ScheduleBuilder {
            agent: self.clone(),
            name: name.to_owned(),
            times,
            misfire: Misfire::default(),
        }
    }
}

/// Settings of a schedule; made by [`ElectionHandle::every`] and the similar methods.
#[must_use = "a builder does nothing until `start` is called"]
pub struct ScheduleBuilder<E: Election> {
    agent: ElectionHandle<E>,
    name: String,
    times: Result<ScheduleTimes, ScheduleError>,
    misfire: Misfire,
}

/// The source of due times.
enum ScheduleTimes {
    Rule(Box<dyn DueTimes>),
    Stream(BoxStream<'static, WallTime>),
}

impl<E: Election> ScheduleBuilder<E> {
    /// Sets the handling of a tick that cannot begin in time. Default: [`Misfire::Skip`].
    pub const fn misfire(mut self, misfire: Misfire) -> Self {
        self.misfire = misfire;
        self
    }

    /// Starts the schedule, in a task of this thread, until the agent has left or ended for good, or until
    /// [`ScheduleHandle::stop`]. Dropping the handle does not end it.
    ///
    /// `work` is called for each tick, on the leader only. One tick runs at a time: ticks that become due meanwhile are
    /// missed. The future of `work` is dropped at once when the leadership is lost. A hand-over waits for this future,
    /// up to the drain limit. Work that blocks this thread delays the ticks, the drop and the hand-over: give such work
    /// to a pool of threads, for example with `actix_web::web::block`.
    ///
    /// `work` returns `()`, or a `Result` whose error has a text. A tick with an error [has
    /// failed](crate::leader::schedule#a-tick-that-fails), and so has a tick that panics. With
    /// [`Misfire::AtLeastOnce`] it is run again, after 1 s, 2 s and so on up to 60 s.
    ///
    /// # Errors
    /// [`ScheduleError`], and nothing was changed.
    pub fn start<F, W>(self, mut work: F) -> Result<ScheduleHandle, ScheduleError>
    where
        F: FnMut(Tick) -> W + 'static,
        W: Future<Output: TickOutcome> + 'static,
    {
        self.launch(Box::new(move |tick| {
            let ended = work(tick).map(|end| end.into_result().map_err(TickFailed));
            ended.boxed_local()
        }))
    }

    /// Like [`start`](Self::start), for an actor: each tick is sent to the actor, and runs until the actor has
    /// answered. A tick fails if the actor is gone. An actor reports no error: if the work has errors, use `start`.
    ///
    /// # Errors
    /// Like [`start`](Self::start).
    pub fn start_for(self, actor: Recipient<Tick>) -> Result<ScheduleHandle, ScheduleError> {
        self.launch(Box::new(move |tick| {
            let answer = actor.send(tick);
            async move {
                answer
                    .await
                    .map_err(|gone| TickFailed(format!("its actor: {gone}")))
            }
            .boxed_local()
        }))
    }

    fn launch(self, work: TickWork) -> Result<ScheduleHandle, ScheduleError> {
        let Self {
            agent,
            name,
            times,
            misfire,
        } = self;
        let (name, times) = (AgentId::new(&name)?, times?);
        if !can_spawn_here() {
            return Err(ScheduleError::NoSystem);
        }
        let service = service_of(&agent)?;
        let now = service.clock.now();
        let schedule = || name.clone();
        // Only a rule is checked: the due times of a stream are not known in advance.
        if let ScheduleTimes::Rule(times) = &times
            && next(&**times, now).is_none()
        {
            let schedule = schedule();
            return Err(ScheduleError::NeverFires { schedule });
        }
        if !service.take_name(&name) {
            let (schedule, agent) = (schedule(), agent.id().clone());
            return Err(ScheduleError::Taken { schedule, agent });
        }
        if !service.has_room(&name) {
            service.free_name(&name);
            let (schedule, limit) = (schedule(), MOST);
            return Err(ScheduleError::TooMany { schedule, limit });
        }
        let record = Arc::<StatusRecord>::default();
        show(&agent, &name, &record);
        let (times, feed) = match times {
            ScheduleTimes::Rule(times) => (times, None),
            ScheduleTimes::Stream(stream) => {
                let feed = Feed {
                    schedule: schedule(),
                    stream,
                    window: Arc::default(),
                    misfire,
                    clock: Arc::clone(&service.clock),
                    record: Arc::clone(&record),
                };
                (feed.times(), Some(feed))
            }
        };
        let schedule = Schedule {
            rule: Rule {
                name: schedule(),
                times,
                misfire,
            },
            stream: feed.as_ref().map(|feed| Arc::clone(&feed.window)),
            work: RefCell::new(work),
            service,
            record: Arc::clone(&record),
            hand_over: hand_over(agent.clone()),
            told_ahead: Cell::default(),
        };
        let stopper = spawn(agent, schedule, feed);
        Ok(ScheduleHandle::new(name, record, stopper))
    }
}

/// Lists a schedule in the reports of its agent, and shows the schedule's counts together with the agent's counts, as
/// long as the schedule or a handle exists.
fn show<E: Election>(agent: &ElectionHandle<E>, name: &AgentId, record: &Arc<StatusRecord>) {
    let reader = agent.reader();
    reader.list_schedule(name, record);
    let (group, node, name) = (reader.group().to_owned(), reader.id().clone(), name.clone());
    let told = Mutex::new([0; 3]);
    let count = move |status: ScheduleStatus| {
        let series = AgentSeries {
            group: &group,
            node: node.as_str(),
        };
        let counts = [status.begun, status.skipped, status.failed];
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        // The counts are added, because an earlier schedule with the same name may have been counted.
        let more = counts
            .iter()
            .zip(*told)
            .map(|(count, told)| count.saturating_sub(told));
        series.ticks(name.as_str(), more);
        *told = counts;
    };
    count(ScheduleStatus::default());
    let record = Arc::clone(record);
    reader.sample_also(move || {
        // The counts of a schedule that has ended are shown once more.
        let is_last = Arc::strong_count(&record) == 1;
        count(*record.status());
        !is_last
    });
}

fn hand_over<E: Election>(agent: ElectionHandle<E>) -> HandOver {
    Rc::new(move |to| {
        // An error means that the agent has ended, and then it does not lead any more.
        agent.step_down(Some(to.clone())).ok();
    })
}

/// Runs a schedule in a task of this thread, until the agent or the stream ends, or the schedule is stopped.
fn spawn<E: Election>(agent: ElectionHandle<E>, schedule: Schedule, feed: Option<Feed>) -> Stopper {
    let mut ending = ScheduleEnding {
        name: schedule.rule.name.clone(),
        service: Arc::clone(&schedule.service),
        record: Arc::clone(&schedule.record),
        state: ScheduleState::Ended,
    };
    let (led, not_stopped, stopper) = stoppable(async move {
        let led = async {
            let led = agent.lead(|leader| schedule.lead(leader)).await;
            if let Err(reason) = led {
                warn!(node = %agent.id(), %reason, "schedule ended");
            }
        };
        until_done(led, feed).await
    });
    drop(actix::spawn(async move {
        // When `led` ends, its future has been dropped, whether the schedule ended or was stopped.
        if let Ok(state) = led.await {
            ending.state = state;
        }
        drop(ending);
        drop(not_stopped);
    }));
    stopper
}

/// Frees the name of a schedule that has ended for any reason.
struct ScheduleEnding {
    name: AgentId,
    service: Arc<ScheduleService>,
    record: Arc<StatusRecord>,
    state: ScheduleState,
}

impl Drop for ScheduleEnding {
    fn drop(&mut self) {
        self.service.free_name(&self.name);
        self.record.rest(self.state);
    }
}

/// Settings of an agent for schedules; made by [`ElectionHandle::schedules`]. Voters that run no schedule, such as
/// witnesses, also call [`start`](Self::start): their acknowledgement counts.
#[must_use = "a builder does nothing until `start` is called"]
#[derive(Debug)]
pub struct SchedulesBuilder<E: Election> {
    agent: ElectionHandle<E>,
    settings: BeginSettings,
}

impl<E: Election> SchedulesBuilder<E> {
    /// Sets the store for the progress of the schedules. A voter whose group reaches other hosts needs a store that
    /// survives its process, such as [`FileStore`](crate::store::FileStore), with the agent's own
    /// [identity](crate::store::StoreIdentity) and a separate file. Default: memory, which is kept as long as the
    /// group.
    pub fn store(mut self, store: impl TermStore<ScheduleRecord> + 'static) -> Self {
        self.settings.store = Some(Arc::new(store));
        self
    }

    /// Sets the clock by which ticks are due. Default: the wall clock that the agent was given, as in a cluster of
    /// `testkit`; else the host's clock, [`SystemWallClock`](crate::clock::SystemWallClock).
    pub fn clock(mut self, clock: impl WallClock + 'static) -> Self {
        self.settings.clock = Some(Arc::new(clock));
        self
    }

    /// From now on the agent acknowledges the ticks of leaders, until it has left or ended for good. With a lease it has
    /// nothing to acknowledge, because the lease's store keeps the progress.
    ///
    /// # Errors
    /// With any [`ScheduleError`] nothing was changed. [`ScheduleError::Begun`] if a schedule was started before.
    pub fn start(self) -> Result<(), ScheduleError> {
        if !can_spawn_here() {
            return Err(ScheduleError::NoSystem);
        }
        begin(&self.agent, self.settings)
    }
}

impl<E: Election> fmt::Debug for ScheduleBuilder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleBuilder")
            .field("agent", self.agent.id())
            .field("name", &self.name)
            .field("misfire", &self.misfire)
            .finish_non_exhaustive()
    }
}
