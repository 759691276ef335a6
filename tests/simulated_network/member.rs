//! An agent of the group, on any host: its record, its settings, and the host to which it belongs.
//!
//! Decided here: an agent has at most one running start at a time, as its operator ensures. A hung start that was
//! given up does not count.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use actix_bully::{elections::quorum::Vote, leader::schedule::ScheduleRecord, protocol::AgentId};

use crate::{disk::Disk, plan::Speed, setting::name_of};

#[derive(Debug)]
pub struct Member {
    /// The place of the agent among all agents; also its score.
    pub index: usize,
    pub id: AgentId,
    /// The record of the agent. It moves with the agent.
    pub disk: RefCell<Disk<Vote>>,
    /// The progress of the agent's schedules. It moves with the agent.
    pub marks: Disk<ScheduleRecord>,
    /// Number of messages that the agent has sent to the leader.
    pub numbers: Rc<Cell<u64>>,
    /// The host to which the agent belongs.
    pub home: Cell<usize>,
    /// The timings of the agent's next start.
    pub speed: Cell<Speed>,
    /// The known state of the agent.
    pub state: Cell<State>,
    /// Number of starts of the agent.
    pub starts: Cell<u64>,
    /// Whether the next start brings a new store.
    pub is_forgetful: Cell<bool>,
    /// Whether the agent is lost for good. An agent with another name takes its place.
    pub is_lost: Cell<bool>,
    /// Number of the agent among all agents that had this place, counted from 1.
    pub generation: u64,
}

/// The whereabouts of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The agent does not run. It has to start, but not before `until`.
    Absent {
        /// Earliest time of the start, in simulated time.
        until: Duration,
    },
    /// The host was ordered to start the agent.
    Starting(Place),
    Runs(Place),
    /// The agent still runs, and was asked to leave.
    Leaving(Place),
}

/// A process: its host, and its number among the processes of that host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub host: usize,
    /// Number of the process, counted from 1.
    pub process: u64,
}

impl Member {
    /// Creates an agent that was never started and belongs to the host `home`.
    pub fn new(id: AgentId, index: usize, home: usize, disk: Disk<Vote>, speed: Speed) -> Self {
        Self {
            index,
            id,
            marks: disk.of_another_kind(),
            numbers: Rc::default(),
            disk: RefCell::new(disk),
            home: Cell::new(home),
            speed: Cell::new(speed),
            state: Cell::new(State::ABSENT),
            starts: Cell::new(0),
            is_forgetful: Cell::new(false),
            is_lost: Cell::new(false),
            generation: 1,
        }
    }

    /// Returns the agent that takes this agent's place after its loss: an agent with another name and an empty store.
    pub fn successor(&self) -> Self {
        let generation = self.generation + 1;
        let id = name_of(self.index, generation);
        let seed = self.index as u64 * 100 + generation;
        let disk = self.disk.borrow().of_owner(id.clone(), seed);
        Self {
            generation,
            numbers: Rc::clone(&self.numbers), // those of its place
            ..Self::new(id, self.index, self.home.get(), disk, self.speed.get())
        }
    }

    /// Returns the process in which the agent runs; `None` while the agent starts or leaves.
    pub fn place(&self) -> Option<Place> {
        match self.state.get() {
            State::Runs(place) => Some(place),
            State::Absent { .. } | State::Starting(_) | State::Leaving(_) => None,
        }
    }

    /// Notes that the agent was asked to leave.
    pub(crate) fn leaves(&self) {
        if let Some(place) = self.place() {
            self.state.set(State::Leaving(place));
        }
    }
}

impl State {
    /// The state of an agent that has to start as soon as possible.
    pub const ABSENT: Self = Self::Absent {
        until: Duration::ZERO,
    };
}
