//! What every election machine is composed of: parts that hold data and answer questions.
//!
//! | part | what it knows |
//! |---|---|
//! | [`Participant`] | who this agent is, who the other members are, and how both compare |
//! | [`Handover`] | a leadership that is being handed over: to whom, and until when |
//! | [`Cooldown`] | the time after a step-down in which an agent lets the others go first |
//! | [`Grace`] | whether a deadline that passed while the agent was late is granted once more |
//! | [`check_listed`] | whether an agent takes part as the list of voters says |
//! | [`slot`] | who goes first when the leadership is vacant, and for how long the others wait |
//! | [`detector_of`] | the failure detector of an election that cannot do without one |
//! | [`messages!`](messages!) | how the messages of an election become one type |
//!
//! A part never calls a machine, and a machine keeps its own `match` over roles and inputs: there is
//! no machine here that others fill in. So each machine can be read alone, and what is written once
//! here is decided in the same way in all of them.
//!
//! Not here: any rule of an election, and any message.

mod config;
mod cooldown;
mod grace;
mod handover;
mod messages;
mod participant;
pub mod slot;
mod voters;

pub use config::detector_of;
pub use cooldown::Cooldown;
pub use grace::Grace;
pub use handover::{Due, Handover};
pub use messages::messages;
pub use participant::Participant;
pub use voters::{check_listed, duplicate_voter, in_order, majority};
