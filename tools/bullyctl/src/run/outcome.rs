//! The end of a command.
//!
//! Decided here, without a process: the exit status, the message for the operator, and whether the command runs again.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// End of the command's own process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CommandStatus {
    /// The process exited with this status.
    Exited(u8),
    /// This signal ended the process.
    Signaled(u8),
    /// The process was never started, or its end was not observed.
    Unknown,
}

/// The cause of the command's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EndCause {
    /// The command ended by itself, or after SIGTERM at a step-down.
    Itself,
    /// The guard killed the command before the lease or the drain ended.
    Deadline,
    /// The leadership or `bullyctl` ended, and the guard killed the command.
    Abandoned,
    /// The guard ended or stood still, and `bullyctl` killed the command.
    GuardLost,
    /// There was no time left to start the command.
    Late,
}

/// The end of one run of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandEnd {
    pub(crate) status: CommandStatus,
    pub(crate) cause: EndCause,
}

impl CommandEnd {
    /// Returns the exit status that a shell would report.
    pub(crate) fn code(self) -> u8 {
        match self.status {
            CommandStatus::Exited(status) => status,
            CommandStatus::Signaled(signal) => signal_code(signal),
            CommandStatus::Unknown => signal_code(KILL),
        }
    }

    /// Returns whether the command runs again in the same leadership. A command runs again if a renewal was late,
    /// because a late renewal is not a failure of the command. With `--once` only a command that was never started runs
    /// again.
    pub(crate) fn is_repeated(self, is_once: bool) -> bool {
        match self.cause {
            EndCause::Late => true,
            EndCause::Deadline => !is_once,
            EndCause::Itself | EndCause::Abandoned | EndCause::GuardLost => false,
        }
    }
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            EndCause::Itself => {}
            EndCause::Deadline => {
                return f.write_str("the guard killed the command, since the lease or the time to hand over was nearly over");
            }
            EndCause::Abandoned => {
                return f.write_str("the guard killed the command, since the leadership is over");
            }
            EndCause::GuardLost => {
                return f.write_str("the guard ended or stood still: the command was killed");
            }
            EndCause::Late => {
                return f.write_str("the leadership is nearly over: the command was not started");
            }
        }
        match self.status {
            CommandStatus::Exited(status) => write!(f, "the command ended with status {status}"),
            CommandStatus::Signaled(signal) => write!(f, "signal {signal} ended the command"),
            CommandStatus::Unknown => f.write_str("the command has ended"),
        }
    }
}

/// Returns the exit status of a shell for a signal: 128 + n.
pub(crate) fn signal_code(signal: u8) -> u8 {
    128_u8.saturating_add(signal)
}

const KILL: u8 = 9;

/// Returns the exit status, after the signal that asked `bullyctl` to end, if any. Without `--once` the command is a
/// service, and the orderly end of a service is a success.
pub(crate) fn code(signal: Option<u8>, last: Option<CommandEnd>, is_once: bool) -> u8 {
    let ran = last.filter(|end| end.cause != EndCause::Late);
    match (signal, ran) {
        (Some(_), _) if !is_once => 0,
        (_, Some(end)) => end.code(),
        (Some(signal), None) => signal_code(signal),
        (None, None) => 0,
    }
}

/// Parses a duration: a number of seconds, or a number with `ms`, `s`, `m` or `h`; up to a week.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text} is not a span such as 30, 500ms, 30s, 5m or 1h, up to a week");
    let at = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = number
        * match unit {
            "ms" => 0.001,
            "" | "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            _ => return Err(wrong()),
        };
    if (0.0..=604_800.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERM: u8 = 15;

    fn end(status: CommandStatus) -> CommandEnd {
        let cause = EndCause::Itself;
        CommandEnd { status, cause }
    }

    #[test]
    fn the_status_of_the_command_is_passed_on_as_a_shell_does() {
        assert_eq!(end(CommandStatus::Exited(3)).code(), 3);
        assert_eq!(end(CommandStatus::Signaled(TERM)).code(), 143);
        assert_eq!(end(CommandStatus::Unknown).code(), 137);
    }

    #[test]
    fn a_signal_ends_a_service_in_order_and_a_run_once_with_its_status() {
        let late = Some(CommandEnd {
            status: CommandStatus::Unknown,
            cause: EndCause::Late,
        });
        assert_eq!(code(Some(TERM), late, true), 143, "it was not started");
        let done = Some(end(CommandStatus::Exited(0)));
        let failed = Some(end(CommandStatus::Exited(7)));
        assert_eq!(code(Some(TERM), failed, false), 0);
        assert_eq!(code(Some(TERM), None, false), 0);
        assert_eq!(code(Some(TERM), None, true), 143, "it did not run");
        assert_eq!(code(Some(TERM), done, true), 0);
        assert_eq!(code(None, failed, true), 7);
    }

    #[test]
    fn a_late_renewal_repeats_a_command_but_once_only_one_that_was_not_started() {
        for (cause, leading, once) in [
            (EndCause::Itself, false, false),
            (EndCause::Deadline, true, false),
            (EndCause::Abandoned, false, false),
            (EndCause::GuardLost, false, false),
            (EndCause::Late, true, true),
        ] {
            let status = CommandStatus::Unknown;
            let end = CommandEnd { status, cause };
            assert_eq!(end.is_repeated(false), leading, "{cause:?}");
            assert_eq!(end.is_repeated(true), once, "{cause:?}");
        }
    }

    #[test]
    fn a_span_has_a_unit_or_counts_seconds() {
        for (text, millis) in [
            ("30", 30_000),
            ("0", 0),
            ("1.5", 1_500),
            ("500ms", 500),
            ("2s", 2_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(span(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "5d", "-1", "1e9", "NaN", "169h", "1 s", "1.2.3"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
