//! What the tests of both elections begin with: their numbers, and effects as text.

use std::fmt::{Debug, Display};

use super::{Count, ElectionId};
use crate::protocol::{AgentId, Effect, Term, To, fixture::id};

pub(crate) const NOTHING: [&str; 0] = [];

pub(crate) fn election(count: u64, name: &str) -> ElectionId {
    ElectionId {
        count: Term(count),
        id: id(name),
    }
}

/// An effect as a line; cancelled timers are not told.
pub(crate) fn tell<M: Display, T: Debug>(effect: &Effect<M, T, Count>) -> Option<String> {
    Some(match effect {
        Effect::Persist(record) => format!("persist {}", record.count),
        Effect::Send { to, message } => match to {
            To::One(id) => format!("{id}: {message}"),
            To::All => format!("all: {message}"),
            To::Set(ids) => {
                let ids: Vec<&str> = ids.iter().map(AgentId::as_str).collect();
                format!("{}: {message}", ids.join(" "))
            }
        },
        Effect::SetTimer { timer, after } => format!("set {timer:?} {}", after.min.as_millis()),
        Effect::CancelTimer(_) => return None,
        Effect::Notify(event) => event.to_string(),
    })
}
