//! An agent of the group, wherever it runs: its record, its settings, and where it belongs.
//!
//! Decided here: that there is at most one start of an agent at a time, as its operator takes
//! care of; a hung one that was given up does not count.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use actix_bully::{elections::quorum::Vote, leader::schedule::ScheduleRecord, protocol::AgentId};

use crate::{disk::Disk, plan::Speed, setting::name_of};

/// One agent of the group.
#[derive(Debug)]
pub struct Member {
    /// Its place among the others; its score.
    pub index: usize,
    pub id: AgentId,
    /// Its record, which goes where it goes.
    pub disk: RefCell<Disk<Vote>>,
    /// How far its schedules are; goes where it goes.
    pub marks: Disk<ScheduleRecord>,
    /// How many messages it has sent to the leader.
    pub numbers: Rc<Cell<u64>>,
    /// The host that it belongs to.
    pub home: Cell<usize>,
    /// The timings of its next start.
    pub speed: Cell<Speed>,
    /// What is known of it.
    pub state: Cell<State>,
    /// How often it was started.
    pub starts: Cell<u64>,
    /// Its next start brings a new store.
    pub is_forgetful: Cell<bool>,
    /// It does not start again: one of another name takes its place.
    pub is_lost: Cell<bool>,
    /// The how many-th agent at that place.
    pub generation: u64,
}

/// Where an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nowhere; it is to start, but not before then.
    Absent {
        /// In simulated time.
        until: Duration,
    },
    /// Its host was asked to start it.
    Starting(Place),
    Runs(Place),
    /// Still there, and asked to leave.
    Leaving(Place),
}

/// A process: its host, and which of the host's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub host: usize,
    /// Counted from 1.
    pub process: u64,
}

impl Member {
    /// An agent that was never started; at home on the host `home`.
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

    /// Who takes its place once it is lost: an agent of another name, with a store in which nothing is.
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

    /// The process in which it runs; none while it starts or leaves.
    pub fn place(&self) -> Option<Place> {
        match self.state.get() {
            State::Runs(place) => Some(place),
            State::Absent { .. } | State::Starting(_) | State::Leaving(_) => None,
        }
    }

    /// It was asked to leave.
    pub(crate) fn leaves(&self) {
        if let Some(place) = self.place() {
            self.state.set(State::Leaving(place));
        }
    }
}

impl State {
    /// To be started as soon as it can be.
    pub const ABSENT: Self = Self::Absent {
        until: Duration::ZERO,
    };
}
