//! What an application does with a leadership, so that it need not write it by hand.
//!
//! Decided here: how an application's own actors, messages and writes follow an agent's leadership. Not here:
//! which agent leads ([`elections`](crate::elections)), and how a leadership becomes known ([`agent`](crate::agent)).
//!
//! | what it is about | where |
//! |---|---|
//! | a former leader's writes are refused: by an actor, by a database | [`fence`] |

pub mod fence;
