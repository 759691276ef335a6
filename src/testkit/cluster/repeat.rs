//! Saves a run as a recording, and repeats a recording as a run.
//!
//! Decided here: a command is given at its moment in the recording, for any cause of the waits in the recorded run. If
//! a command of the recording is refused, the run ends. Not here: the contents of a recording
//! ([`record`](crate::record)).

use actix::clock::sleep;

use super::{Cluster, ClusterError, journal::open};
use crate::{
    clock::Clock,
    protocol::{Election, Time},
    record::{RecordedCommand, Recording, What},
};

impl<E: Election> Cluster<E> {
    /// Returns the run so far as a recording; `protocol` is the name of the election in it. The newest events may be
    /// missing until the caller awaits something. The header of the recording names virtual time as its clock;
    /// [`header_mut`](Recording::header_mut) can change that.
    pub fn recording(&self, protocol: &str) -> Recording {
        let journal = open(&self.journal);
        journal.trace.to_recording(protocol, journal.now())
    }

    /// Lets time pass until `at`, counted from the start of the cluster.
    pub async fn wait_until(&self, at: Time) {
        let left = at.since(self.clock.now());
        if !left.is_zero() {
            sleep(left).await;
        }
    }

    /// Gives the commands of a recorded run, each at its moment, and returns at the time at which the recorded run
    /// ended. In virtual time, and with a cluster that begins like the recorded cluster, the run is the same.
    ///
    /// # Errors
    /// [`ClusterError`] of the first command that is refused; the commands before it were given.
    pub async fn repeat(&mut self, recording: &Recording) -> Result<(), ClusterError> {
        for entry in recording.entries() {
            if let What::Command(command) = &entry.what {
                self.wait_until(entry.at).await;
                self.apply_again(command).await?;
            }
        }
        self.wait_until(recording.ended()).await;
        Ok(())
    }

    /// Executes a command of a recording. An agent whose departure took too long has left nevertheless, as in the
    /// recorded run.
    pub(crate) async fn apply_again(
        &mut self,
        command: &RecordedCommand,
    ) -> Result<(), ClusterError> {
        match self.apply(command).await {
            Ok(()) | Err(ClusterError::Leave { .. }) => Ok(()),
            Err(wrong) => Err(wrong),
        }
    }
}
