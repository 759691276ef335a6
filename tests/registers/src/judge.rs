//! What is wrong with what processes said of their leaderships.
//!
//! Decided here: what counts as two leaders. A process that said twice that it leads by one token led all the time in
//! between; no other one may have led then.

/// What a process said: that it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Which process.
    pub process: usize,
    /// Its token.
    pub token: u64,
    /// It looked after this moment.
    pub from: i128,
    /// It looked before this moment.
    pub until: i128,
}

/// A time in which no process may lead, or not that one.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    /// Which process, or all.
    pub process: Option<usize>,
    /// From this moment on.
    pub from: i128,
    /// Until this one.
    pub until: i128,
}

/// A time in which a process led for certain.
#[derive(Clone, Copy, Debug)]
struct Tenure {
    process: usize,
    token: u64,
    from: i128,
    until: i128,
}

/// All that was heard of them; what each said is in its order.
#[derive(Clone, Debug, Default)]
pub struct Hearing {
    /// That they lead.
    pub looks: Vec<Said>,
    /// When they may not.
    pub silences: Vec<Silence>,
    /// What the fence refused although its writer considered itself leader.
    pub refused: Vec<String>,
}

impl Hearing {
    /// How many tenures there were.
    ///
    /// # Errors
    /// If two led at one time, a later leader had a token that was not higher, one led in a silence, or the fence refused
    /// one that considered itself leader.
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
        // By each look: one may lead again, by the same token, when the silence is over.
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

    /// In the order in which they began.
    fn tenures(&self) -> Vec<Tenure> {
        let mut tenures: Vec<Tenure> = Vec::new();
        for look in &self.looks {
            let same =
                |known: &&mut Tenure| (known.process, known.token) == (look.process, look.token);
            // From after the first look that saw it lead to before the last one.
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

    /// Each look: the process, its token, and when it ended; it took a moment.
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
