//! Work that is due at certain times. The leader runs it, once in the group.
//!
//! ```text
//!   agent.every("report", HOUR)                      the other agents
//!     .misfire(Misfire::Late { within })          ┌──────────────────────┐
//!     .start(|tick| async move { .. })            │ "report": 03:00 begun│ store
//!                                                 └──────────────────────┘
//!   new leader ── how far is "report"? ──────────────▶ enough of them answer
//!       03:00  ── "report": 03:00 begins ────────────▶ enough have stored it
//!              ── work(tick)                           a successor begins after 03:00
//! ```
//!
//! A tick is identified by the schedule's name and its due time. Due times are moments of wall time that follow from
//! the rule alone (multiples of an interval since 1970, a cron expression), so all agents compute the same due times.
//! Or each agent reads the due times from [a stream of its own](crate::agent::ElectionHandle::schedule_stream). Each
//! agent starts the same schedules; only the schedules of the leader run.
//!
//! ```
//! use std::time::Duration;
//! use actix_bully::{Group, agent::BullyAgent, leader::schedule::Misfire};
//!
//! # actix::System::new().block_on(async {
//! let group = Group::new("demo")?;
//! let agent = BullyAgent::builder("api-1").join(&group).start()?;
//! let nightly = agent
//!     .every("report", Duration::from_secs(24 * 3_600))
//!     .misfire(Misfire::Late { within: Duration::from_secs(3_600) })
//!     .start(|tick| async move {
//!         println!("the report of {}, as {}", tick.due, tick.key());
//!     })?;
//! assert_eq!(nightly.status().begun, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # A tick during a fail-over
//! | [`Misfire`] | begins | how often | for |
//! |---|---|---|---|
//! | `Skip`, the default | within a second after it is due, or not at all | at most once | work that the next tick makes up for |
//! | `Late { within }` | within the span `within`; of several missed ticks only the last | at most once | a nightly report |
//! | `AtLeastOnce` | at any later time; several missed ticks in their order | until it has ended with success | work that must not be lost, and that uses [`Tick::key`] to find out what was done |
//!
//! A tick may be due while a quorum has no leader. It begins when the next agent leads. With the default timings this
//! is 0.72 to 0.95 s after the end of the former leader, so `Skip` still runs a tick that was due at that end. With the
//! preset `wan` it is 4 to 5.5 s: `Skip` loses the tick. Then choose `Late` or `AtLeastOnce`.
//!
//! "At most once" holds in the quorum mode, whatever happens to agents, hosts, links and clocks. With a lease it holds
//! while its store loses no confirmed write. In the available mode two leaders, one on each side of a partition, may
//! run one tick each. Otherwise the successor of a leader knows the marks of all agents that it reaches. "Once" is
//! about the beginning: if a leader crashes during a tick, only `AtLeastOnce` runs the rest.
//!
//! A new schedule begins at the time that its first leader reads from its clock. Until its first tick, a new leader
//! writes that beginning again, and of two beginnings the earlier one counts: a former leader may write its own late.
//! After the first tick no beginning counts. So no due time after a beginning that was acknowledged is left out.
//!
//! If the work of a tick still runs when the next tick is due, the next tick is delayed, and counts as missed. A
//! hand-over waits for the work, up to its limit.
//!
//! # A tick that fails
//! A tick fails if its work returns an error, panics, or is sent to an actor that is gone. Then the failure is logged,
//! [counted](ScheduleStatus::failed) and, until a tick succeeds, reported by the leader's diagnosis
//! ([`TickFails`](crate::agent::ScheduleFinding::TickFails)). With [`Misfire::AtLeastOnce`] the tick is run again.
//! A schedule never changes the leader. If another host may succeed, the work calls
//! [`step_down`](crate::agent::ElectionHandle::step_down):
//!
//! ```
//! # use std::time::Duration;
//! # use actix_bully::{Group, agent::BullyAgent};
//! # async fn export() -> std::io::Result<()> { Ok(()) }
//! # actix::System::new().block_on(async {
//! # let group = Group::new("demo")?;
//! # let agent = BullyAgent::builder("api-1").join(&group).start()?;
//! let own = agent.clone();
//! agent.every("export", Duration::from_secs(60)).start(move |_tick| {
//!     let agent = own.clone();
//!     async move {
//!         let exported = export().await;
//!         if exported.is_err() {
//!             agent.step_down(None).ok(); // another host may reach the disk
//!         }
//!         exported
//!     }
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # Why no tick is repeated
//! - Before a tick begins, the leader stores its due time at enough voters: every quorum that elects contains one of
//!   these voters. A new leader asks such a quorum before its first tick. An agent that has heard a new leader
//!   acknowledges nothing of the former leader.
//! - An agent acknowledges a mark only after its store holds it. A restart may forget the rest without harm.
//! - A due time that is not later than the last handled due time is never run, whatever a clock shows.
//!
//! # Clocks
//! | the clock | effect |
//! |---|---|
//! | of a new leader is behind, or of a leader is set back | no tick is run until the clock is past the last due time |
//! | of a leader is set forward | the ticks between the old and the new time were missed |
//! | of the leader is more than 10 s ahead of the clocks of most other agents | most other agents acknowledge nothing, and the leader's own agent, which is asked last, keeps nothing: no tick is run, instead of the ticks of a year at once. The leader counts the refusals ([`ScheduleStatus::refused`]) and reports them ([`NotAcknowledged`](crate::agent::ScheduleFinding::NotAcknowledged)) |
//!
//! With a lease in a store a leader compares its clock with the clocks of the contenders: before it runs any tick, then
//! every 10 s, and when the clock was set. Each contender writes the time of its clock into its row, every 30 s.
//!
//! | the store shows | compared with |
//! |---|---|
//! | three contenders or more | the median of their clocks |
//! | fewer than three, and the store has a clock (PostgreSQL) | the clock of the store |
//! | fewer than three, and the store has no clock | nothing: the leader uses its own clock, and the log warns once |
//!
//! A leader whose clock is wrong by more than 10 s runs no schedule. It reports this in log, diagnosis and `/health`,
//! with both clocks ([`ClockOff`](crate::agent::ScheduleFinding::ClockOff)). It hands over to the contender with the
//! highest score whose clock is right. Without such a contender it continues to lead, and runs schedules again once its
//! clock is set. A row that the leader reads for the first time may be 30 s old. A row that changed since the last read
//! is at most 10 s old. So a clock that is wrong by less than 20 s may be detected late, or not at all.
//!
//! A mark that is ahead of the leader's clock is reported as well
//! ([`MarkAhead`](crate::agent::ScheduleFinding::MarkAhead)). `bullyctl schedules reset NAME` removes it from the store
//! of a lease. The leader reads the mark every 10 s, and then continues from the present time.
//!
//! # Across hosts
//! - A bridge that carries the group also carries the agents' messages about schedules. No setting is needed.
//! - A voter of the quorum mode needs a second store, beside the store of its votes. In a configuration it is a key, and
//!   `running.agent().every(..)` is all that the program adds:
//!
//!   ```toml
//!   [quorum]
//!   voters = ["api-1", "api-2", "api-3"]
//!   store_file = "/var/lib/jobs/vote"
//!   marks_file = "/var/lib/jobs/marks"
//!   store = "open-or-create"
//!   ```
//!
//!   Without a configuration it is a line: `agent.schedules().store(FileStore::open_or_create(..)?).start()?`. A start
//!   without this store is refused. A voter that loses the file loses its acknowledgements, as with a vote: it must
//!   come back under another name. A voter whose store fails acknowledges nothing, and reports it
//!   ([`MarksNotStored`](crate::agent::ScheduleFinding::MarksNotStored)). An *older* file, from a backup or a snapshot
//!   of the machine, is not detected. The other voters still have their own marks, and a new leader takes the latest
//!   mark that it hears. But if the only other voter with the later mark cannot be reached then, a tick that began is
//!   begun once more. An older file never leads to a second leader.
//! - An agent keeps the marks of 256 schedules. [`start`](ScheduleBuilder::start) refuses more
//!   ([`ScheduleError::TooMany`]). If other agents keep too many, the leader's diagnosis names them
//!   ([`MarksFull`](crate::agent::ScheduleFinding::MarksFull)). A leader asks for each of its marks at least once a
//!   day. If a table is full, a new mark replaces a mark that no leader has asked for in 30 days, measured by the
//!   latest due times that were begun. A lease in a store does not have this limit.
//! - Every voter takes part, a witness by `agent.schedules().start()?`. In the available mode agents may take
//!   [`Messages`](crate::leader::Messages) and no part in schedules. They cost each leadership half a second, once,
//!   because a question to them might be under way. After that they are asked, but a leader does not wait for their
//!   answers until one comes.
//!
//! # With a lease in a store
//! - The store of the lease keeps the progress of each schedule, in a record of its own below
//!   `<cluster>/<group>/schedule/`. No setting is needed; `.schedules().store(..)` is refused
//!   ([`ScheduleError::KeptByLease`]).
//! - A new leader writes its term into the record before its first tick. A tick begins after the store has confirmed
//!   its mark, so each tick costs one write, and a tick of [`Misfire::AtLeastOnce`] two.
//! - A mark that no leader has asked for in 30 days is removed: the leader looks for such marks once a day, by its wall
//!   clock. It never removes the mark of a schedule that runs at its agent, or a mark that another agent has written
//!   meanwhile. A store that cannot list or remove keeps these marks. A store with more than 1,000 marks of a group
//!   keeps them as well.
//! - A store that goes back, to a backup or to a replica without the last writes, forgets ticks that began: they may
//!   begin again.
//! - At most 16 marks are read or written at one time. A renewal of the lease runs beside them and waits for none.
//! - If a store fails for marks, one schedule at a time tries it, finally every 640 ms. The diagnosis and `/health`
//!   report this, with the store's reason and the time since when ([`ScheduleFinding`](crate::agent::ScheduleFinding)).
//!   A different record in the place of a mark is reported in the same way, and is not overwritten.
//!
//! # When the voters change
//! The first leader of an epoch asks a quorum of the former voters, beside a quorum of the present voters. Before any
//! tick begins, it writes the marks of the former voters to a quorum of the present voters. So no tick begins again,
//! after any change of the voters. A removed voter answers as long as it runs: let it run for a second or two, until an
//! agent of the new list leads. If too few of the former voters are left, the leader waits 30 s, and then skips every
//! tick that is due up to 10 s later by its own clock: a lost tick was due before that, unless clocks differ by more.
//!
//! To change voters by a stop of all processes, add or remove one voter at a time, and let all other voters keep their
//! stores.
//!
//! # Where to go next
//! `machine/` is the leader's side, `register.rs` has the marks of each agent and `marks.rs` the marks in the store of
//! a lease. All are pure, like `planner.rs` (the due times), `trouble.rs` (failures), `window.rs` (the due times of a
//! stream), `poll.rs` (when enough agents have answered) and `lists.rs` (of which voters); `tests/` plays histories of
//! them. `run.rs` drives the machine, `clock_watch.rs` notices a clock that was set or is wrong (`clock_judge.rs`,
//! pure), `feed.rs` reads the stream, `service.rs` and `replica.rs` answer and store, `mark_task.rs` uses the store of
//! a lease, `begin.rs` connects an agent to these parts.

mod age;
mod begin;
mod builder;
mod clock_judge;
mod clock_watch;
#[cfg(feature = "cron")]
mod cron;
mod due;
mod error;
mod feed;
mod forget;
mod handle;
mod interface;
mod lists;
mod machine;
mod mark_record;
mod mark_task;
mod marks;
mod message;
mod planner;
mod poll;
mod register;
mod replica;
mod routes;
mod run;
mod service;
mod stage;
#[cfg(test)]
mod tests;
mod tick;
mod trouble;
mod voters;
mod window;

pub use crate::agent::schedules::{ScheduleState, ScheduleStatus};
pub use builder::{ScheduleBuilder, SchedulesBuilder};
#[cfg(feature = "cron")]
#[cfg_attr(docsrs, doc(cfg(feature = "cron")))]
pub use cron::Cron;
pub use due::DueTimes;
pub use error::ScheduleError;
pub use handle::ScheduleHandle;
pub use planner::Misfire;
pub use register::ScheduleRecord;

#[cfg(feature = "serde")]
pub(crate) use register::AHEAD;
pub use tick::{Tick, TickOutcome};
