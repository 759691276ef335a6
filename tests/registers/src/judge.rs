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

/// A time in which a process certainly led.
#[derive(Clone, Copy, Debug)]
struct Tenure {
    process: usize,
    token: u64,
    from: i128,
    until: i128,
}

/// All reports of the processes. The reports of each process are in its own order.
#[derive(Clone, Debug, Default)]
pub struct Hearing {
    /// The reports of leading.
    pub looks: Vec<Said>,
    /// The times in which processes must not lead.
    pub silences: Vec<Silence>,
    /// The lines about writes that the fence refused although the writer considered itself leader.
    pub refused: Vec<String>,
}

impl Hearing {
    /// Checks all reports, and returns the number of tenures.
    ///
    /// # Errors
    /// If two processes led at one time, if a later leader had no higher token, if a process led during a silence, or
    /// if the fence refused a process that considered itself leader.
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
        match self.refused.first() {
            Some(line) => Err(format!("the fence refused a leader: {line}")),
            None => Ok(tenures.len()),
        }
    }

    /// Returns the tenures, in the order in which they began.
    fn tenures(&self) -> Vec<Tenure> {
        let mut tenures: Vec<Tenure> = Vec::new();
        for look in &self.looks {
            let same =
                |known: &&mut Tenure| (known.process, known.token) == (look.process, look.token);
            // A tenure lasts from the end of the first look that saw it to the begin of the last look that saw it.
            match tenures.iter_mut().rev().find(same) {
                Some(known) => known.until = known.until.max(look.from),
                None => tenures.push(Tenure {
                    process: look.process,
                    token: look.token,
                    from: look.until,
                    until: look.until,
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

    fn is_wrong(hearing: &Hearing, reason: &str) {
        let verdict = hearing.verdict();
        assert!(
            verdict.as_ref().is_err_and(|it| it.starts_with(reason)),
            "{verdict:?}"
        );
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
    fn leaders_in_turn_are_counted() {
        let mut hearing = hearing(IN_TURN);
        hearing.silences = vec![silence(None, 42, 58), silence(Some(1), 32, 99)];
        assert_eq!(hearing.verdict(), Ok(3));
    }

    #[test]
    fn two_leaders_are_seen() {
        let two = [&IN_TURN[..1], &[(1, 8, 15)], &IN_TURN[1..]].concat();
        is_wrong(&hearing(&two), "two leaders");
    }

    #[test]
    fn a_token_that_is_not_higher_is_seen() {
        let lower = [IN_TURN, &[(2, 8, 70)]].concat();
        is_wrong(&hearing(&lower), "no higher token");
    }

    #[test]
    fn a_leader_in_a_silence_is_seen() {
        for broken in [silence(None, 55, 65), silence(Some(1), 25, 35)] {
            let mut hearing = hearing(IN_TURN);
            hearing.silences.push(broken);
            is_wrong(&hearing, "it led too long");
        }
    }

    #[test]
    fn a_leader_that_the_fence_refuses_is_seen() {
        let mut hearing = hearing(IN_TURN);
        hearing.refused.push("process 0, token 9".to_owned());
        is_wrong(&hearing, "the fence refused");
    }
}
