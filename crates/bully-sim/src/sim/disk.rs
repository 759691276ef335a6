//! A disk that needs time: the rest of a step waits until the record of the step is written, and all later inputs
//! wait as well.
//!
//! Decided here: which effects wait, and the contents of the disk after a crash. A real agent does the same
//! (`actix_bully::agent`): effects before the record leave at once, and effects after the record leave when the record
//! is durable. Messages, timers and commands that arrive meanwhile are handled afterwards, in their order.

use std::{mem, time::Duration};

use super::{
    World,
    node::{Node, NodeIndex},
    world::Scheduled,
};
use bully_core::protocol::{EffectOf, Election, Incarnation, Time, View};

/// A step whose record is being written.
#[derive(Debug)]
pub(super) struct DiskWrite<E: Election> {
    pub(super) record: E::Durable,
    /// The effects that wait until the record is durable.
    pub(super) rest: Vec<EffectOf<E>>,
    pub(super) view: View,
    pub(super) took: Duration,
    pub(super) until: Time,
}

impl<E: Election> Node<E> {
    /// Notes that a record becomes durable at the time `until`. The agent does nothing before that time.
    pub(super) fn begin_write(
        &mut self,
        record: E::Durable,
        rest: Vec<EffectOf<E>>,
        view: &View,
        until: Time,
    ) {
        let view = view.clone();
        self.hanging = Some(Vec::new());
        self.saving = Some(DiskWrite {
            record,
            rest,
            view,
            took: self.write_time,
            until,
        });
    }
}

/// Interval between two measurements of a disk, the same as for a real agent.
const PROBED: Duration = Duration::from_secs(60);

impl<E: Election> Node<E> {
    /// Reports to the machine the time that a write took.
    pub(super) fn note_write(&mut self, took: Duration) {
        if let Some(machine) = &mut self.machine {
            machine.note_write(took);
        }
    }
}

impl<E: Election> World<E> {
    /// Measures a disk once a minute, if its agent wants that. Nothing waits for this measurement.
    pub(super) fn probe(&mut self, at: NodeIndex) {
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        let wants = |machine: &E| machine.prospects().probes;
        if node.hanging.is_none() && node.machine.as_ref().is_some_and(wants) {
            node.note_write(node.write_time);
        }
        self.transit
            .queue
            .push(self.now.after(PROBED), Scheduled::Probe(at));
    }

    /// Sets the time that the disk of an agent needs for each record from now on. Default: zero. A write that has
    /// begun keeps its time.
    pub fn set_write_time(&mut self, agent: impl AsRef<str>, span: Duration) -> bool {
        let Some(at) = self.transit.directory.find(agent.as_ref()) else {
            return false;
        };
        let Some(node) = self.nodes.get_mut(at.0) else {
            return false;
        };
        if mem::replace(&mut node.write_time, span) == span {
            return false;
        }
        if node.probed_since.is_none() {
            node.probed_since = Some(self.now);
            let first = self.now.after(PROBED);
            self.transit.queue.push(first, Scheduled::Probe(at));
        }
        self.transit.trace.mark(self.now, || {
            format!("{} writes in {span:?}", agent.as_ref())
        });
        true
    }

    /// Handles a record that has become durable: executes the rest of its step, and then the inputs that arrived
    /// meanwhile.
    pub(super) fn on_written(&mut self, at: NodeIndex, incarnation: Incarnation) {
        let name = self.transit.directory.name(at).cloned();
        let node = self.nodes.get_mut(at.0);
        let node = node.filter(|node| node.incarnation == incarnation && node.is_alive());
        let (Some(me), Some(node)) = (name, node) else {
            return;
        };
        let Some(saving) = node.saving.take() else {
            return;
        };
        node.durable = Some(saving.record);
        node.note_write(saving.took);
        let waiting = node.hanging.take().unwrap_or_default();
        // Timers count from now. The view was made before the write, but its end time shows whether a lease has ended
        // since.
        let (clock, view, before) = (node.clock.read(self.now), saving.view, node.published);
        let mut rest = saving.rest.into_iter();
        let suffers = self.execute(at, &me, clock, &view, &mut rest);
        self.conclude(at, &me, &view, before, suffers);
        self.driver.shifted();
        self.release(at, waiting);
    }

    /// Schedules the waiting inputs for now, by the queue, so that the invariants are checked after each of them. If
    /// another record is being written, they continue to wait. An agent that has ended does not handle them.
    pub(super) fn release(&mut self, at: NodeIndex, waiting: Vec<Scheduled<E>>) {
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        if let Some(list) = &mut node.hanging {
            return list.extend(waiting);
        }
        if !node.is_alive() {
            return self.pass_over(waiting);
        }
        let is_command = |due: &&Scheduled<E>| matches!(due, Scheduled::Command { .. });
        node.behind = waiting.iter().filter(is_command).count();
        for due in waiting {
            self.transit.queue.push(self.now, due);
        }
    }

    /// Counts these messages as arrived, because no agent will read them. Otherwise the world would wait for ever.
    pub(super) fn pass_over(&mut self, waiting: Vec<Scheduled<E>>) {
        for due in waiting {
            if let Scheduled::Message(sent) = due {
                self.transit.has_arrived(&sent);
            }
        }
    }
}
