//! The end of a command, and the effect of a signal to `bullyctl`.
//!
//! Decided here, without a process: the exit status, the message for the operator, and the answer to a signal in each
//! state.

use std::{fmt, time::Duration};

/// End of the command's own process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandStatus {
    /// The process exited with this status.
    Exited(u8),
    /// This signal ended the process.
    Signaled(u8),
    /// The process was never started, or its end was not observed.
    Unknown,
}

/// The cause of the command's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Returns whether the command was never started.
    pub(crate) fn is_late(self) -> bool {
        self.cause == EndCause::Late
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

/// The number of times that the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// With `--once`: until it has ended for the first time.
    Once,
    /// As long as the host leads.
    WhileLeading,
}

impl Repeat {
    /// Returns whether the command runs again in the same leadership. It does if a renewal was late, which is not a
    /// failure of the command. With `--once` only a command that was never started may run then.
    pub(crate) fn is_due_after(self, end: CommandEnd) -> bool {
        match end.cause {
            EndCause::Late => true,
            EndCause::Deadline => self == Self::WhileLeading,
            EndCause::Itself | EndCause::Abandoned | EndCause::GuardLost => false,
        }
    }
}

/// The state in which a signal arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunState {
    /// No command runs.
    Waiting,
    /// A command runs.
    Running,
    /// Another signal arrived before, and the node leaves.
    Leaving,
}

/// The answer to a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalAnswer {
    /// The node leaves at once; no command has to end before.
    Leave,
    /// The node hands over: the command gets SIGTERM, and the time of the drain.
    HandOver,
    /// The command is killed, and the node leaves.
    Kill,
}

/// Returns the answer to INT, TERM, HUP or QUIT. All four ask `bullyctl` to end.
pub(crate) fn on_signal(state: RunState) -> SignalAnswer {
    match state {
        RunState::Waiting => SignalAnswer::Leave,
        RunState::Running => SignalAnswer::HandOver,
        RunState::Leaving => SignalAnswer::Kill,
    }
}

/// The facts that determine an exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The signal that asked `bullyctl` to end, if any.
    pub(crate) signal: Option<u8>,
    /// The last end of the command, if it has ended.
    pub(crate) command: Option<CommandEnd>,
    pub(crate) repeat: Repeat,
}

impl Ending {
    /// Returns the exit status. Without `--once` the command is a service, and the orderly end of a service is a
    /// success.
    pub(crate) fn code(self) -> u8 {
        let ran = self.command.filter(|end| !end.is_late());
        let of_command = ran.map(CommandEnd::code);
        match self.signal {
            Some(signal) if self.repeat == Repeat::Once => {
                of_command.unwrap_or(signal_code(signal))
            }
            Some(_) => 0,
            None => of_command.unwrap_or(0),
        }
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
        let ending = |signal, command, is_once| {
            let repeat = if is_once {
                Repeat::Once
            } else {
                Repeat::WhileLeading
            };
            let ending = Ending {
                signal,
                command,
                repeat,
            };
            ending.code()
        };
        let late = Some(CommandEnd {
            status: CommandStatus::Unknown,
            cause: EndCause::Late,
        });
        assert_eq!(ending(Some(TERM), late, true), 143, "it was not started");
        let done = Some(end(CommandStatus::Exited(0)));
        let failed = Some(end(CommandStatus::Exited(7)));
        assert_eq!(ending(Some(TERM), failed, false), 0);
        assert_eq!(ending(Some(TERM), None, false), 0);
        assert_eq!(ending(Some(TERM), None, true), 143, "it did not run");
        assert_eq!(ending(Some(TERM), done, true), 0);
        assert_eq!(ending(None, failed, true), 7);
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
            assert_eq!(Repeat::WhileLeading.is_due_after(end), leading, "{cause:?}");
            assert_eq!(Repeat::Once.is_due_after(end), once, "{cause:?}");
        }
    }

    #[test]
    fn a_signal_ends_what_waits_and_kills_what_does_not_end() {
        assert_eq!(on_signal(RunState::Waiting), SignalAnswer::Leave);
        assert_eq!(on_signal(RunState::Running), SignalAnswer::HandOver);
        assert_eq!(on_signal(RunState::Leaving), SignalAnswer::Kill);
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
