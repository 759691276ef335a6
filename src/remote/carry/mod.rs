//! The traffic of groups across the bridge: groups of any election, without their message types.
//!
//! ```text
//!   an agent ─▶ Group ─▶ GroupSink ─▶ Outbox ─▶ the writer of the link to that node
//!   the reader of a link ─▶ Mailboxes ─▶ Group ─▶ the agents here
//! ```
//!
//! Decided here: which messages and members of a group cross to other hosts. Not here: the form of messages and members
//! on the wire, and which agents may send messages.

mod announce;
mod epochs;
mod group;
mod guard;
mod outbox;
mod registry;
mod rights;
mod rules;
mod terms;

pub(crate) use announce::{Announcer, NamedReceivers, RosterUpdate, places_to_spare};
pub(crate) use group::{
    Carried, GroupCarrier, LocalMembers, LookAtMembers, Lost, Mailboxes, NodeRoute,
};
pub(crate) use guard::{GroupTermGuard, WallMillis};
pub(crate) use outbox::{Batch, GroupSink, Outbox, Queued, Receivers};
pub(crate) use registry::PeerAgents;
pub(crate) use rights::LiveRights;
pub use rights::{MayBe, Rights};
pub(crate) use rules::GroupRules;
pub(crate) use terms::TermFault;
pub use terms::TermGuard;
