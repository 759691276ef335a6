//! Work that is due at certain times, and is run once in the group: by the leader.
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
//! A tick has an identity, the schedule's name and its due time. Due times are moments of wall time that follow from
//! the rule alone (multiples of an interval since 1970, a cron expression), so all agents compute the same; or each
//! agent reads them from [a stream of its own](crate::agent::ElectionHandle::schedule_stream).
//! Each agent starts the same schedules; those of the leader run.
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
//! # What becomes of a tick that falls into a fail-over
//! | [`Misfire`] | begins | how often | for |
//! |---|---|---|---|
//! | `Skip`, the default | within a second after it is due, or not at all | at most once | what the next tick makes up for |
//! | `Late { within }` | within that span; of several that were missed only the last | at most once | a nightly report |
//! | `AtLeastOnce` | however late, each of several in its order | until it has ended well once | what must not be lost, and takes [`Tick::key`] for what was done |
//!
//! "At most once" holds in the quorum mode, whatever happens to agents, hosts, links and clocks, and with a lease while
//! its store loses no confirmed write. In the available mode two leaders, one on each side of a partition, may run one
//! tick each; otherwise the successor of a leader knows the marks of all agents that it reaches. "Once" is about the
//! beginning: if a leader crashes in the middle of a tick, only `AtLeastOnce` runs the rest.
//!
//! A tick whose work runs when the next one is due delays that one, which is then missed. A hand-over waits for the
//! work, up to its limit. No schedule changes who leads: work that panics is counted and logged.
//!
//! # Why nothing repeats
//! - Before a tick begins, the leader's due time was stored by so many voters that every quorum which elects has
//!   one of them; a new leader asks such a quorum before its first tick. An agent that has heard a new leader
//!   acknowledges nothing of the former one.
//! - An agent acknowledges only what its store holds. What a restart forgets does not matter.
//! - A due time that is not later than the last one is never run, whatever a clock says.
//!
//! # Clocks
//! | the clock | then |
//! |---|---|
//! | of a new leader is behind | nothing is run until it is past the last due time |
//! | is set back while it leads | the same |
//! | is set forward | what lies between was missed |
//! | of the leader is more than 10 s ahead of those of most others | they acknowledge nothing, and the leader's own agent, which is asked last, keeps nothing: no tick, instead of those of a year at once. It is counted ([`ScheduleStatus::refused`]) |
//!
//! With a lease in a store a leader compares its clock with those of the contenders before it runs anything, then every 10 s
//! and when the clock was set. Each contender writes what its clock shows into its row, every 30 s.
//!
//! | the store shows | compared with |
//! |---|---|
//! | three contenders or more | the median of their clocks |
//! | fewer, and has a clock (PostgreSQL) | the clock of the store |
//! | fewer, and has none | nothing: the leader goes by its own clock, and the log warns once |
//!
//! A leader whose clock is more than 10 s off runs no schedule and says so in log, diagnosis and `/health`, with both clocks
//! ([`ClockOff`](crate::agent::ScheduleFinding::ClockOff)). It hands over to the contender of the highest score whose clock
//! fits; without one it leads on, and runs schedules again once its clock is set. A row was written up to 30 s before it was
//! first read, and up to 10 s by a leader that reads more often: a clock that is off by less than 20 s may be found late, or not.
//!
//! A mark that lies ahead of the leader's clock is told as well
//! ([`MarkAhead`](crate::agent::ScheduleFinding::MarkAhead)). `bullyctl schedules reset NAME` removes it from the store of
//! a lease: the leader reads it every 10 s, and then goes on from the present time.
//!
//! # Across hosts
//! - A bridge that carries the group carries what agents say of schedules: there is nothing to add.
//! - A voter of the quorum mode gets a store: `agent.schedules().store(FileStore::open(..)?).start()?`, beside
//!   that of its votes. A start without one is refused. A voter that loses the file loses its acknowledgements, as with
//!   a vote: it comes back under another name. An *older* file, from a backup or a snapshot of the machine, is not
//!   noticed: the other voters know their own marks better, and a new leader takes the latest mark that it hears. But
//!   if the only other voter with the later mark cannot be reached then, a tick that began is begun once more. It never
//!   leads to a second leader.
//! - An agent keeps the marks of 256 schedules. [`start`](ScheduleBuilder::start) refuses more
//!   ([`ScheduleError::TooMany`]); if others keep too many, the leader's diagnosis says which
//!   ([`MarksFull`](crate::agent::ScheduleFinding::MarksFull)). A leader asks for each of its marks at least once a day. If
//!   there is no room, a mark that no leader has asked for in 30 days, by the latest due times that were begun, gives way.
//!   With a lease in a store there is no such limit.
//! - Every voter takes part, a witness by `agent.schedules().start()?`. In the available mode agents that take
//!   [`Messages`](crate::leader::Messages) and no part cost each leadership half a second, once: a question to them
//!   might be under way. Then they are asked, and not waited for until they answer.
//!
//! # With a lease in a store
//! - The store of the lease keeps how far each schedule is, in a record of its own below `<cluster>/<group>/schedule/`.
//!   There is nothing to set; `.schedules().store(..)` is refused ([`ScheduleError::KeptByLease`]).
//! - A new leader writes its term into the record before its first tick. A tick begins after the store has confirmed
//!   its mark, so each tick costs one write, and a tick of [`Misfire::AtLeastOnce`] two.
//! - A mark that no leader has asked for in 30 days is removed: the leader looks for such marks once a day, by its wall clock.
//!   It removes none of a schedule that runs there, and none that another agent has written meanwhile. A store that cannot list
//!   or remove keeps them, as one with more than 1,000 marks of a group does.
//! - A store that goes back, to a backup or to a replica without the last writes, forgets ticks that began: they may
//!   begin again.
//! - At most 16 marks are read or written at one time. A renewal of the lease goes beside them and waits for none.
//! - A store that fails for marks is tried by one schedule at a time, every 640 ms at last. The diagnosis and `/health` say so,
//!   with the store's reason and since when ([`ScheduleFinding`](crate::agent::ScheduleFinding)). A record of something else
//!   in the place of a mark is told in the same way, and is not written over.
//!
//! # When the voters change
//! The first leader of an epoch asks a quorum of the former voters, beside one of the present ones, and writes what
//! they know to a quorum of the present ones before anything begins. So what was begun is not begun again, whoever
//! was added, removed or replaced. A voter that was removed answers as long as it runs: let it run until the others
//! lead, a second or two. If too few of the former voters are left, then after 30 s nothing is run that was due up to
//! 10 s later by the leader's clock: what was lost was due before that, unless clocks differ by more.
//!
//! With voters that are changed by stopping all, add or remove one at a time and let the others keep their stores.
//!
//! # Where to go next
//! `machine/` is the leader's side, `register.rs` the marks of each agent and `marks.rs` the marks in the store of a
//! lease, all pure, with `planner.rs` (the due times), `window.rs` (the due times of a stream), `poll.rs` (when enough
//! have answered) and `lists.rs` (of which voters); `tests/` plays histories of them. `run.rs` drives the machine,
//! `clock_watch.rs` notices a clock that was set or is off (`clock_judge.rs`, pure), `feed.rs` reads the stream, `service.rs` and `replica.rs` answer and
//! store, `mark_task.rs` asks the store of a lease, `begin.rs` says with whom.

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
mod question;
mod register;
mod replica;
mod run;
mod service;
mod stage;
#[cfg(test)]
mod tests;
mod tick;
mod voters;
mod window;

pub use builder::{ScheduleBuilder, SchedulesBuilder};
#[cfg(feature = "cron")]
#[cfg_attr(docsrs, doc(cfg(feature = "cron")))]
pub use cron::Cron;
pub use due::DueTimes;
pub use error::ScheduleError;
pub use handle::{ScheduleHandle, ScheduleState, ScheduleStatus};
pub use planner::Misfire;
pub use register::ScheduleRecord;

#[cfg(feature = "serde")]
pub(crate) use register::AHEAD;
pub use tick::Tick;
