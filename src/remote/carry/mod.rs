//! What the bridge carries: groups of any election, with their message types put aside.
//!
//! ```text
//!   an agent ─▶ Group ─▶ Way ─▶ Outbox ─▶ the writer of the link to that node
//!   the reader of a link ─▶ Intake ─▶ Group ─▶ the agents here
//! ```
//!
//! Decided here: what crosses of a group. Not here: how it looks on the wire, and who may say it.

mod announce;
mod group;
mod outbox;
mod registry;
mod rights;
mod rules;

pub(crate) use announce::{Announcer, News};
pub(crate) use group::{Carried, Carrier, Home, Intake, Lookout, Lost, Route, Said};
pub(crate) use outbox::{Line, Outbox, Queued, Receivers, Way};
pub(crate) use registry::Books;
pub use rights::{MayBe, Names, Rights};
pub use rules::GroupRules;
