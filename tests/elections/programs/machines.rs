//! The questions that a story asks of a machine, as written or of this crate.

use actix_bully::elections::{ballot::Ballot, ring::Ring};
use bully_core::{
    elections::{astra::Astra, bully::Bully},
    protocol::{Election, View},
};

use crate::support::{astra, ble, go};

pub(crate) trait Told: Election {
    /// End of the names of its traces.
    const NAME: &'static str;

    /// Returns the name of a kind of message in this machine. Scripts have the names of this crate.
    fn kind(kind: &str) -> &'static str {
        ["elect", "ok", "elected"]
            .into_iter()
            .find(|known| *known == kind)
            .unwrap()
    }

    /// Returns the leader that the agent follows, and its term.
    fn follows(&self, view: &View) -> String {
        let leader = view.leader.as_ref();
        leader.map_or_else(|| "-".to_owned(), |it| format!("{}@{}", it.id, it.term.0))
    }

    /// Returns a sentence about the leader, for the end of a trace.
    fn believes(&self, view: &View) -> String {
        let leader = view.leader.as_ref();
        leader.map_or_else(
            || "follows no leader".to_owned(),
            |it| format!("follows {}", it.id),
        )
    }

    /// Returns what the machine counts by itself.
    fn counted(&self) -> Option<String> {
        None
    }
}

impl Told for Bully {
    const NAME: &'static str = "bully";
}

impl Told for Ring {
    const NAME: &'static str = "ring";
}

impl Told for Astra {
    const NAME: &'static str = "astra";
}

impl Told for Ballot {
    const NAME: &'static str = "ballot";

    fn counted(&self) -> Option<String> {
        Some(format!("asks in rounds of {:?}", self.round_takes()))
    }
}

impl Told for go::Node {
    const NAME: &'static str = "as-written";

    fn kind(kind: &str) -> &'static str {
        match kind {
            "ok" => "OK",
            "elected" => "COORDINATOR",
            _ => "ELECTION",
        }
    }

    /// Returns `CurrentLeader` and `Term`, as the program prints them.
    fn follows(&self, _: &View) -> String {
        format!("{}@{}", self.current_leader(), self.term())
    }
}

impl Told for astra::AsWritten {
    const NAME: &'static str = "as-written";

    fn follows(&self, _: &View) -> String {
        self.leaders()
    }

    fn believes(&self, _: &View) -> String {
        format!("believes in {}", self.leaders())
    }
}

impl Told for ble::AsWritten {
    const NAME: &'static str = "as-written";

    fn counted(&self) -> Option<String> {
        let (times, delay) = (self.triggered(), self.delay());
        Some(format!("said so {times} times, in rounds of {delay:?}"))
    }
}
