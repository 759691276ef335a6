//! The messages between `bullyctl` and the guard.
//!
//! The two processes share a socket pair that keeps messages apart (`SOCK_SEQPACKET`), so each message arrives whole.
//! The guard has its end as the standard input: 0, 1 and 2 are the only descriptors that a process can name without
//! `unsafe`. A socket pair has no name, so no other process can connect. The user's standard input comes with the first
//! order, as a descriptor (`SCM_RIGHTS`).
//!
//! A message is JSON. Both ends are the same executable, so there are no versions.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::outcome::CommandEnd;

/// An order of `bullyctl`. Each order is complete, so a lost order does no harm: the next order repeats everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunOrder {
    /// Time until which the leader may rely on its leadership, in nanoseconds of the clock that counts a suspend.
    pub(crate) deadline: u64,
    /// Whether the command must end.
    pub(crate) asks_to_end: bool,
}

/// A report of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RunReport {
    /// The command runs as this process.
    Started(u32),
    /// The command and all of its processes have ended.
    Ended(CommandEnd),
}

/// Longest message, in bytes.
pub(crate) const LONGEST: usize = 128;

pub(crate) fn encode(message: &impl Serialize) -> Vec<u8> {
    serde_json::json!(message).to_string().into_bytes()
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::outcome::{CommandStatus, EndCause};

    #[test]
    fn every_message_reads_as_it_was_written() {
        let order = RunOrder {
            deadline: u64::MAX,
            asks_to_end: true,
        };
        let bytes = encode(&order);
        assert!(bytes.len() <= LONGEST);
        assert_eq!(decode(&bytes), Some(order));
        assert_eq!(decode::<RunOrder>(b""), None);
        let causes = [
            EndCause::Itself,
            EndCause::Deadline,
            EndCause::Abandoned,
            EndCause::GuardLost,
            EndCause::Late,
        ];
        let states = [
            CommandStatus::Exited(255),
            CommandStatus::Signaled(9),
            CommandStatus::Unknown,
        ];
        let mut reports = vec![RunReport::Started(4_194_304)];
        for cause in causes {
            for status in states {
                reports.push(RunReport::Ended(CommandEnd { status, cause }));
            }
        }
        for report in reports {
            let bytes = encode(&report);
            assert!(bytes.len() <= LONGEST);
            assert_eq!(decode(&bytes), Some(report));
            assert_eq!(decode::<RunReport>(&[&*bytes, b"0"].concat()), None);
        }
    }
}
