//! The messages between `bullyctl` and the guard, byte by byte.
//!
//! They share a socket pair that keeps messages apart (`SOCK_SEQPACKET`), so each message arrives whole. The guard has
//! its end as the standard input: 0, 1 and 2 are the only descriptors that a process can name without `unsafe`. A
//! socket pair has no name, so no other process can connect. The user's standard input comes with the first order, as
//! a descriptor (`SCM_RIGHTS`).
//!
//! ```text
//!   bullyctl ──▶ guard   order   deadline: u64, asks_to_end: u8                       9 bytes
//!   bullyctl ◀── guard   report  1, process: u32                                      5 bytes: it runs
//!                                2, cause: u8, kind: u8, status or signal: u8         4 bytes: all of it has ended
//! ```
//! All numbers are little-endian. Both ends are the same executable, so there are no versions.

use super::outcome::{CommandEnd, CommandStatus, EndCause};

/// An order of `bullyctl`. Each order is complete, so a lost order does no harm: the next order repeats everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunOrder {
    /// Time until which the leader may rely on its leadership, in nanoseconds of the clock that counts a suspend.
    pub(crate) deadline: u64,
    /// Whether the command must end.
    pub(crate) asks_to_end: bool,
}

/// A report of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunReport {
    /// The command runs as this process.
    Started(u32),
    /// The command and all of its processes have ended.
    Ended(CommandEnd),
}

/// Longest message, in bytes.
pub(crate) const LONGEST: usize = 16;

impl RunOrder {
    pub(crate) fn encode(self) -> [u8; 9] {
        let mut bytes = [u8::from(self.asks_to_end); 9];
        for (to, byte) in bytes.iter_mut().zip(self.deadline.to_le_bytes()) {
            *to = byte;
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (deadline, rest) = bytes.split_first_chunk()?;
        let asks_to_end = match rest {
            [0] => false,
            [1] => true,
            _ => return None,
        };
        Some(Self {
            deadline: u64::from_le_bytes(*deadline),
            asks_to_end,
        })
    }
}

impl RunReport {
    pub(crate) fn encode(self) -> Vec<u8> {
        match self {
            Self::Started(process) => {
                let mut bytes = vec![1];
                bytes.extend(process.to_le_bytes());
                bytes
            }
            Self::Ended(end) => {
                let cause = match end.cause {
                    EndCause::Itself => 0,
                    EndCause::Deadline => 1,
                    EndCause::Abandoned => 2,
                    EndCause::GuardLost => 3,
                    EndCause::Late => 4,
                };
                let (kind, number) = match end.status {
                    CommandStatus::Exited(status) => (0, status),
                    CommandStatus::Signaled(signal) => (1, signal),
                    CommandStatus::Unknown => (2, 0),
                };
                vec![2, cause, kind, number]
            }
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        match *bytes {
            [1, ref process @ ..] => {
                let process = u32::from_le_bytes(process.try_into().ok()?);
                Some(Self::Started(process))
            }
            [2, cause, kind, number] => {
                let cause = match cause {
                    0 => EndCause::Itself,
                    1 => EndCause::Deadline,
                    2 => EndCause::Abandoned,
                    3 => EndCause::GuardLost,
                    4 => EndCause::Late,
                    _ => return None,
                };
                let status = match kind {
                    0 => CommandStatus::Exited(number),
                    1 => CommandStatus::Signaled(number),
                    2 => CommandStatus::Unknown,
                    _ => return None,
                };
                Some(Self::Ended(CommandEnd { status, cause }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_nine_bytes() {
        let order = RunOrder {
            deadline: 0x0102_0304_0506_0708,
            asks_to_end: true,
        };
        assert_eq!(order.encode(), [8, 7, 6, 5, 4, 3, 2, 1, 1]);
        assert_eq!(RunOrder::decode(&order.encode()), Some(order));
        for wrong in [&[][..], &[0; 8], &[0; 10], &[2; 9]] {
            assert_eq!(RunOrder::decode(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn every_report_reads_as_it_was_written() {
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
            let bytes = report.encode();
            assert!(bytes.len() <= LONGEST);
            assert_eq!(RunReport::decode(&bytes), Some(report));
            assert_eq!(RunReport::decode(&[&*bytes, &[0]].concat()), None);
        }
        assert_eq!(RunReport::decode(&[2, 9, 0, 0]), None);
        assert_eq!(RunReport::decode(&[2, 0, 9, 0]), None);
    }
}
