//! A voter without a disk: the progress of its recovery, and whether its clock is close enough to the clocks of other
//! voters.
//!
//! Decided here: the findings, and the words about a recovery with their advice. Not here: the votes that a recovery
//! needs (`elections/quorum/diskless`), and the other words (`sentence.rs`).

use std::fmt;

use super::{Facts, Finding, words::Names};
use crate::protocol::AgentId;

impl Facts {
    pub(super) fn judge_recovery(&self, found: &mut Vec<Finding>) {
        let prospects = self.signs.prospects.get();
        if let Some(recovers) = prospects.recovers {
            found.push(Finding::Recovers {
                left: self.left(Some(recovers.until)).unwrap_or_default(),
                answers: recovers.answers,
                recover: recovers.recover,
                needed: recovers.needed,
                remember: recovers.remember,
                silent: recovers.silent,
                restarts: recovers.restarts,
            });
        }
        if let Some(gap) = prospects.clock_gap {
            found.push(Finding::ClocksApart {
                voter: gap.voter,
                is_ahead: gap.is_ahead,
                by: gap.by,
            });
        }
    }
}

/// Writes the sentence about an agent that waits for the memory of other voters, since it has no record of its votes.
pub(super) fn recovery(
    f: &mut fmt::Formatter<'_>,
    answers: u32,
    recover: u32,
    needed: u32,
    remember: &[AgentId],
    silent: &[AgentId],
    restarts: Option<u32>,
) -> fmt::Result {
    let others = answers.saturating_sub(recover);
    write!(
        f,
        "this agent has no record of its votes, and recovers: it needs {needed} other voters that remember: {answers} have answered, {others} of them remember"
    )?;
    if recover > 0 {
        write!(f, ", and {recover} recover themselves")?;
    }
    if restarts == Some(0) || others >= needed {
        return Ok(()); // the recovery goes on by itself
    }
    write!(f, ": start {}, or mend the links", Names(silent))?;
    if let Some(restarts) = restarts {
        f.write_str("; if that is impossible, restart ")?;
        if remember.len() > usize::try_from(restarts).unwrap_or(usize::MAX) {
            write!(f, "{restarts} of ")?;
        }
        write!(
            f,
            "{}: then the group continues by the clocks, and fences depend on the clocks alone",
            Names(remember)
        )?;
    }
    Ok(())
}
