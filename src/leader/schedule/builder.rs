//! Starts schedules: checks everything first, then changes something.
//!
//! Decided here: what can be set, the defaults, and that a start which is refused leaves nothing behind.

use std::{
    cell::{Cell, RefCell},
    fmt,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use actix::Recipient;
use futures::{Stream, StreamExt, future::FutureExt, stream::BoxStream};
use tracing::warn;

use crate::{
    agent::{ElectionHandle, can_spawn_here},
    clock::{WallClock, WallTime},
    leader::stopping::{Stopper, stoppable},
    protocol::{AgentId, Election},
    store::TermStore,
};

use super::{
    Misfire, ScheduleError, ScheduleHandle, ScheduleState, Tick,
    begin::{BeginSettings, begin, service_of},
    clock_watch::HandOver,
    due::{DueTimes, Every, next},
    feed::{Feed, until_done},
    handle::StatusRecord,
    interface::{Rule, TickFailed},
    register::{MOST, ScheduleRecord},
    run::{Schedule, TickWork},
    service::ScheduleService,
};

impl<E: Election> ElectionHandle<E> {
    /// A schedule that is due at every multiple of `interval` since 1970 began (UTC): of an hour, at each full
    /// hour. It takes whole milliseconds, at least 100.
    ///
    /// The name is that of the schedule in the group: every agent starts it with the same name, rule and
    /// [`Misfire`], and the one of the leader runs. See the [module](crate::leader::schedule).
    pub fn every(&self, name: &str, interval: Duration) -> ScheduleBuilder<E> {
        let every = Every::new(interval);
        self.scheduled(
            name,
            every.map(|every| ScheduleTimes::Rule(Box::new(every))),
        )
    }

    /// A schedule by any rule; see [`every`](Self::every).
    pub fn schedule(&self, name: &str, times: impl DueTimes) -> ScheduleBuilder<E> {
        self.scheduled(name, Ok(ScheduleTimes::Rule(Box::new(times))))
    }

    /// A schedule by any stream of due times, for those that follow from no rule: what users ask to be reminded
    /// of, rows of a table. See [`every`](Self::every) for the rest.
    ///
    /// Each agent of the group reads a stream of its own, whether it leads or not, and all streams have to tell the
    /// same due times: a moment that the data names, not the one at which a stream was polled. They may be told
    /// early and in any order.
    ///
    /// | the stream | then |
    /// |---|---|
    /// | tells a time that has passed, as after a fail-over | [`Misfire`] decides, if it is later than the last one that was begun in the group |
    /// | tells one again, or after a later one has begun or was skipped | it is not run, and [counted](crate::leader::schedule::ScheduleStatus::misordered) |
    /// | tells nothing | nothing is run |
    /// | tells more than it is asked for | it is read 1,024 due times ahead. An agent that follows drops what it has missed but the last, or with [`Misfire::AtLeastOnce`] reads on when it leads |
    /// | ends | what it told is run; then the schedule is [done](ScheduleState::Done) |
    /// | panics | the same, and it is logged; then the schedule has [ended](ScheduleState::Ended) |
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

    /// A schedule by a cron expression, in UTC; see [`every`](Self::every), and
    /// [`Cron`](crate::leader::schedule::Cron) for the expressions and for other time zones.
    #[cfg(feature = "cron")]
    #[cfg_attr(docsrs, doc(cfg(feature = "cron")))]
    pub fn cron(&self, name: &str, expression: &str) -> ScheduleBuilder<E> {
        let cron = super::Cron::new(expression);
        self.scheduled(name, cron.map(|cron| ScheduleTimes::Rule(Box::new(cron))))
    }

    /// What this agent needs for schedules, where the defaults will not do: voters of several hosts set a store.
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

/// Settings of a schedule; made by [`ElectionHandle::every`] and its like.
#[must_use = "a builder does nothing until `start` is called"]
pub struct ScheduleBuilder<E: Election> {
    agent: ElectionHandle<E>,
    name: String,
    times: Result<ScheduleTimes, ScheduleError>,
    misfire: Misfire,
}

/// Where due times come from.
enum ScheduleTimes {
    Rule(Box<dyn DueTimes>),
    Stream(BoxStream<'static, WallTime>),
}

impl<E: Election> ScheduleBuilder<E> {
    /// What becomes of a tick that cannot begin in time. Default: [`Misfire::Skip`].
    pub const fn misfire(mut self, misfire: Misfire) -> Self {
        self.misfire = misfire;
        self
    }

    /// Starts the schedule, in a task of this thread, until the agent has left or ended for good, or
    /// [`ScheduleHandle::stop`]. Dropping the handle does not end it.
    ///
    /// `work` is called for each tick, on the leader only, and one tick runs at a time: those that become due
    /// meanwhile are missed. Its future is dropped where it stands when the leadership is lost; a hand-over waits for
    /// it, up to the limit set. A panic is logged and counted, and changes nothing else; with
    /// [`Misfire::AtLeastOnce`] the tick is run again, after 1 s, 2 s and so on up to 60 s.
    ///
    /// # Errors
    /// [`ScheduleError`], and nothing was changed.
    pub fn start<F, W>(self, mut work: F) -> Result<ScheduleHandle, ScheduleError>
    where
        F: FnMut(Tick) -> W + 'static,
        W: Future<Output = ()> + 'static,
    {
        self.launch(Box::new(move |tick| work(tick).map(Ok).boxed_local()))
    }

    /// As [`start`](Self::start), for an actor: each tick is sent to it, and runs until it has answered. A tick
    /// whose actor is gone has failed.
    ///
    /// # Errors
    /// As there.
    pub fn start_for(self, actor: Recipient<Tick>) -> Result<ScheduleHandle, ScheduleError> {
        self.launch(Box::new(move |tick| {
            let answer = actor.send(tick);
            async move { answer.await.map_err(|_| TickFailed) }.boxed_local()
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
        // Of a stream it is not known.
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

fn hand_over<E: Election>(agent: ElectionHandle<E>) -> HandOver {
    Rc::new(move |to| {
        // An agent that has ended leads no more.
        agent.step_down(Some(to.clone())).ok();
    })
}

/// Runs a schedule in a task of this thread; it ends with the agent, with its stream, or when it is told to.
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
        // Stopped or not, what led is dropped by then.
        if let Ok(state) = led.await {
            ending.state = state;
        }
        drop(ending);
        drop(not_stopped);
    }));
    stopper
}

/// Frees the name of a schedule that has ended, however it came about.
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

/// What an agent needs for schedules; made by [`ElectionHandle::schedules`]. Voters on which no schedule runs, as
/// witnesses, call [`start`](Self::start) too: their acknowledgement counts.
#[must_use = "a builder does nothing until `start` is called"]
#[derive(Debug)]
pub struct SchedulesBuilder<E: Election> {
    agent: ElectionHandle<E>,
    settings: BeginSettings,
}

impl<E: Election> SchedulesBuilder<E> {
    /// Where the agent keeps how far the schedules are. A voter whose group reaches other hosts needs one that
    /// survives its process, [`FileStore`](crate::store::FileStore), with the agent's own
    /// [identity](crate::store::StoreIdentity) and a file of its own. Default: memory, which is kept as long
    /// as the group.
    pub fn store(mut self, store: impl TermStore<ScheduleRecord> + 'static) -> Self {
        self.settings.store = Some(Arc::new(store));
        self
    }

    /// The clock by which ticks are due. Default: the host's,
    /// [`SystemWallClock`](crate::clock::SystemWallClock).
    pub fn clock(mut self, clock: impl WallClock + 'static) -> Self {
        self.settings.clock = Some(Arc::new(clock));
        self
    }

    /// Lets the agent acknowledge ticks, from now on until it has left or ended for good.
    ///
    /// # Errors
    /// [`ScheduleError`], and nothing was changed. [`ScheduleError::Begun`] after the first schedule.
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
