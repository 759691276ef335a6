//! Writes a command so that it reads the same.

use std::{fmt, time::Duration};

use super::{Command, Script, parse::UNITS};
use crate::protocol::{After, AgentId, Score};

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash(names) => write!(f, "crash {}", List(names)),
            Self::Stop(names) => write!(f, "stop {}", List(names)),
            Self::Restart(names) => write!(f, "restart {}", List(names)),
            Self::Hang(names) => write!(f, "hang {}", List(names)),
            Self::Resume(names) => write!(f, "resume {}", List(names)),
            Self::Join { name, score } => write!(f, "join {name} {}", Points(*score)),
            Self::Leave(names) => write!(f, "leave {}", List(names)),
            Self::Partition(sides) => {
                f.write_str("partition ")?;
                for (at, side) in sides.iter().enumerate() {
                    f.write_str(if at > 0 { " | " } else { "" })?;
                    List(side).fmt(f)?;
                }
                Ok(())
            }
            Self::Cut { one, other } => write!(f, "cut {one} {other}"),
            Self::CutOneWay { from, to } => write!(f, "cut {from} > {to}"),
            Self::Isolate(names) => write!(f, "isolate {}", List(names)),
            Self::Heal => f.write_str("heal"),
            Self::Delay(After { min, max }) if min == max => write!(f, "delay {}", Span(*min)),
            Self::Delay(After { min, max }) => write!(f, "delay {}..{}", Span(*min), Span(*max)),
            Self::Loss { per_mille } => write!(f, "loss {}", Share(*per_mille)),
            Self::Duplicate { per_mille } => write!(f, "duplicate {}", Share(*per_mille)),
            Self::Score { name, score } => write!(f, "score {name} {}", Points(*score)),
            Self::StepDown { name, to: None } => write!(f, "step-down {name}"),
            Self::StepDown { name, to: Some(to) } => write!(f, "step-down {name} {to}"),
            Self::Campaign(name) => write!(f, "campaign {name}"),
            Self::Settle => f.write_str("settle"),
            Self::Wait(span) => write!(f, "wait {}", Span(*span)),
            Self::Status => f.write_str("status"),
            Self::Trace => f.write_str("trace"),
            Self::Help => f.write_str("help"),
            Self::Quit => f.write_str("quit"),
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, command) in self.commands().iter().enumerate() {
            f.write_str(if at > 0 { "; " } else { "" })?;
            command.fmt(f)?;
        }
        Ok(())
    }
}

struct List<'a>(&'a [AgentId]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.iter().enumerate() {
            f.write_str(if at > 0 { " " } else { "" })?;
            name.fmt(f)?;
        }
        Ok(())
    }
}

/// In the largest unit that leaves no fraction.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let fits = |unit: u64| nanos.is_multiple_of(u128::from(unit));
        let whole = UNITS.iter().find(|(_, unit)| fits(*unit));
        let (name, unit) = whole.copied().unwrap_or(("ns", 1));
        write!(f, "{}{name}", nanos / u128::from(unit))
    }
}

struct Share(u16);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 10, self.0 % 10) {
            (whole, 0) => write!(f, "{whole}%"),
            (whole, tenths) => write!(f, "{whole}.{tenths}%"),
        }
    }
}

struct Points(Option<Score>);

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(score) = self.0 else {
            return f.write_str("none");
        };
        let parts = score.parts();
        let last = parts.iter().rposition(|part| *part != 0).unwrap_or(0);
        for (at, part) in parts.iter().take(last + 1).enumerate() {
            write!(f, "{}{part}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}
