//! Tools for an application that follows a leadership, ready to use.
//!
//! Decided here: how an application's own actors, messages and writes follow an agent's leadership. Not here: which
//! agent leads ([`elections`](crate::elections)), and how a leadership becomes known ([`agent`](crate::agent)).
//!
//! | purpose | where |
//! |---|---|
//! | a former leader's writes are refused: by an actor, by a database | [`fence`] |
//! | applications of several agents and hosts exchange messages | [`Messages`] |
//! | messages reach the leader, here or on another host | [`LeaderProxy`] |
//! | an actor that runs on the leader only | [`Singleton`] |
//! | work that is due at certain times, once in the group | [`schedule`] |
//! | an agent withdraws when its application's actor is gone | [`tie_to`](crate::agent::ElectionHandle::tie_to) |
//! | a process that is asked to end hands over first | [`leave_on_signals`] |
//! | work that makes no progress is handed over | [`progress_within`](crate::agent::LeaderGuard::progress_within) |
//!
#![doc = include_str!("features.md")]

pub mod fence;
mod messages;
mod proxy;
pub mod schedule;
mod signals;
mod singleton;
mod stopping;
mod tie;

pub use messages::{Channel, Messages, MessagesError, SendError};
pub use proxy::{
    LeaderMessage, LeaderProxy, ProxyBuilder, ProxyCounts, ProxyError, ProxyStartError, Untaken,
};
#[cfg(feature = "serde")]
pub(crate) use signals::leave_when_asked;
pub use signals::{ShutdownError, leave_on_signals};
pub use singleton::{
    Singleton, SingletonBuilder, SingletonError, SingletonHandle, SingletonState, SingletonStatus,
    SteppingDown,
};
pub use stopping::Stopped;
