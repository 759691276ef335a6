//! The rules for leaderships, applied to the lines that processes printed.
//!
//! Decided here: the meaning of "two leaders". If a process reports twice that it leads with the same token, it led
//! during all the time in between, and no other process may have led then.

/// A report of a process: "I lead".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Number of the process.
    pub process: usize,
    /// Token of the leadership.
    pub token: u64,
    /// A moment before the process looked at its role, in nanoseconds.
    pub from: i128,
    /// A moment after the process looked at its role, in nanoseconds.
    pub until: i128,
}

/// A time in which one process must not lead, or no process at all.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    /// The process that must not lead; `None` stands for every process.
    pub process: Option<usize>,
    /// Begin of the time, in nanoseconds.
    pub from: i128,
    /// End of the time, in nanoseconds.
    pub until: i128,
}

/// All reports of the processes. The reports of each process are in its own order.
#[derive(Clone, Debug, Default)]
pub struct Hearing {
    /// The reports of leading.
    pub looks: Vec<Said>,
    /// The times in which processes must not lead.
    pub silences: Vec<Silence>,
}

impl Hearing {
    /// Checks all reports, and returns the number of tenures.
    ///
    /// # Errors
    /// If two processes led at one time, if a later leader had no higher token, or if a process led during a silence.
    pub fn verdict(&self) -> Result<usize, String> {
        let tenures = self.tenures();
        for (earlier, later) in tenures.iter().zip(tenures.iter().skip(1)) {
            if earlier.until >= later.from {
                return Err(format!("two leaders: {earlier:?}, {later:?}"));
            }
            if earlier.token >= later.token {
                return Err(format!("no higher token: {earlier:?}, {later:?}"));
            }
        }
        // Each report is checked, not each tenure: after the silence a process may lead again with the same token.
        for silence in &self.silences {
            let broken = self.looks.iter().find(|look| {
                silence
                    .process
                    .is_none_or(|process| process == look.process)
                    && silence.from < look.from
                    && look.until < silence.until
            });
            if let Some(look) = broken {
                return Err(format!("it led too long: {look:?} in {silence:?}"));
            }
        }
        Ok(tenures.len())
    }

    /// Returns for each tenure the time in which the process certainly led, in the order in which the tenures began.
    fn tenures(&self) -> Vec<Said> {
        let mut tenures: Vec<Said> = Vec::new();
        for look in &self.looks {
            let same =
                |known: &&mut Said| (known.process, known.token) == (look.process, look.token);
            // A tenure lasts from the end of the first look that saw it to the begin of the last look that saw it.
            match tenures.iter_mut().rev().find(same) {
                Some(known) => known.until = known.until.max(look.from),
                None => tenures.push(Said {
                    from: look.until,
                    ..*look
                }),
            }
        }
        tenures.sort_by_key(|tenure| tenure.from);
        tenures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a hearing from looks. A look is a process, its token, and the moment at which the look ended.
    fn hearing(looks: &[(usize, u64, i128)]) -> Hearing {
        let said = |&(process, token, until)| Said {
            process,
            token,
            from: until - 1,
            until,
        };
        Hearing {
            looks: looks.iter().map(said).collect(),
            ..Hearing::default()
        }
    }

    const IN_TURN: &[(usize, u64, i128)] =
        &[(0, 7, 10), (0, 7, 20), (1, 8, 30), (0, 9, 40), (0, 9, 60)];

    const fn silence(process: Option<usize>, from: i128, until: i128) -> Silence {
        Silence {
            process,
            from,
            until,
        }
    }

    #[test]
    fn leaders_in_turn_are_counted_and_each_broken_rule_is_seen() {
        let mut in_turn = hearing(IN_TURN);
        in_turn.silences = vec![silence(None, 42, 58), silence(Some(1), 32, 99)];
        assert_eq!(in_turn.verdict(), Ok(3));

        let with_silence = |silence| Hearing {
            silences: vec![silence],
            ..hearing(IN_TURN)
        };
        let two = [&IN_TURN[..1], &[(1, 8, 15)], &IN_TURN[1..]].concat();
        let lower = [IN_TURN, &[(2, 8, 70)]].concat();
        for (wrong, reason) in [
            (hearing(&two), "two leaders"),
            (hearing(&lower), "no higher token"),
            (with_silence(silence(None, 55, 65)), "it led too long"),
            (with_silence(silence(Some(1), 25, 35)), "it led too long"),
        ] {
            let verdict = wrong.verdict();
            let is_seen = verdict.as_ref().is_err_and(|it| it.starts_with(reason));
            assert!(is_seen, "{reason}: {verdict:?}");
        }
    }
}
