//! The limits of a search, as words of a row of `states.txt`: first the election, then each limit that differs from the
//! usual ones of that election.
//!
//! ```text
//! diskless horizon=9 crashes=1 delay=1
//! ```
//!
//! Decided here: the usual limits of each election, and the words for [`Bounds`]. The words for the rules of an election
//! are decided beside it, in [`Rules::set`].

use std::{fmt::Debug, ops::RangeInclusive, str::FromStr};

use bully_core::protocol::{NewVoter, VoterChange};

use crate::{
    ballot::Ballots,
    bully::{Astra, Plain},
    case::{Search, timed},
    diskless::Forgetful,
    invitation::Invitations,
    lease::Leases,
    quorum::Quorum,
    reorganization::Reorganizing,
    ring::Rings,
    rules::{Rules, name},
    timed::{Bounds, Crash, HandOver, Lab},
    voters::Changing,
};

/// The word before the name of the file in `golden/` that holds the shortest path to the broken invariant.
pub(crate) const GOLDEN: &str = "golden=";

/// Returns the search with these limits.
pub(crate) fn search(words: &'static str) -> Search {
    let (election, words) = words.split_once(' ').unwrap_or((words, ""));
    let three = Bounds::new(3);
    let returning = Bounds {
        wire: 1,
        crash: Crash::Unseen,
        ..three.clone()
    };
    let jumping = Bounds {
        jumps: true,
        ..returning.clone()
    };
    match election {
        "astra" => of(Astra::new(3), three, words),
        "plain" => of(Plain::default(), three, words),
        "bully" => {
            let bounds = Bounds {
                delay: Some(1),
                is_ordered: true,
                ..three
            };
            of(Plain::unwatched(), bounds, words)
        }
        "quorum" => of(Quorum::new(3, 1), returning, words),
        // The search begins at the tick at which an agent leads.
        "diskless" => {
            let bounds = Bounds {
                prologue: 5,
                ..returning
            };
            of(Forgetful::new(0), bounds, words)
        }
        // The search begins at the tick at which a leader leads and has heard of its learner.
        "voters" => {
            let bounds = Bounds {
                prologue: 1,
                wire: 2,
                crash: Crash::Unseen,
                ..Bounds::new(4)
            };
            of(Changing::default(), bounds, words)
        }
        // The search begins when an agent has just taken a lease, and ends after another agent leads.
        "lease" => {
            let bounds = Bounds {
                prologue: 4,
                horizon: Some(7),
                ..returning
            };
            of(Leases::new(2), bounds, words)
        }
        "ring" => of(Rings::new(3), three, words),
        "reorganization" => of(Reorganizing::new(1.0, 3), three, words),
        "ballot" => of(Ballots::new(3), jumping, words),
        "invitation" => of(Invitations::new(3), jumping, words),
        other => panic!("no election `{other}`"),
    }
}

fn of<R: Rules>(mut rules: R, mut bounds: Bounds, words: &'static str) -> Search {
    let mut is_for_shortest = false;
    for word in words.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        if name == "shortest" {
            is_for_shortest = true;
        } else if !word.starts_with(GOLDEN) {
            let is_known = rules.set(&mut bounds, name, value) || bounds.set(name, value);
            assert!(is_known, "no limit `{word}`");
        }
    }
    timed(Lab {
        rules,
        bounds,
        is_for_shortest,
    })
}

impl Bounds {
    /// Sets the limit with this name. Returns whether there is one.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> bool {
        let budget = &mut self.budget;
        match name {
            "n" => {
                self.n = number(value);
                budget.campaigners = vec![true; self.n];
            }
            "delay" => self.delay = Some(number(value)),
            "jump" => self.jumps = true,
            "ordered" => self.is_ordered = true,
            "wire" => self.wire = number(value),
            "loss" => self.loss = true,
            "prologue" => self.prologue = number(value),
            "horizon" => self.horizon = Some(number(value)),
            "handed-over" => {
                self.handed_over = Some(match value {
                    "prepared" => HandOver::Prepared,
                    "unprepared" => HandOver::Unprepared,
                    _ => return false,
                });
            }
            "campaigns" => budget.campaigns = number(value),
            "slow" => budget.slow = number(value),
            "crashes" => budget.crashes = number(value),
            "resigns" => budget.resigns = number(value),
            "doubts" => budget.doubts = number(value),
            "repeats" => budget.repeats = number(value),
            "scores" => {
                let score = |pair: &str| {
                    let (agent, score) = pair.split_once(':').expect("an agent and its score");
                    (number(agent), number(score))
                };
                budget.scores = value.split(',').map(score).collect();
            }
            "changes" => budget.changes = value.split(',').map(change).collect(),
            "successor" => self.successor = Some(number(value)),
            "crash" => {
                self.crash = match value {
                    "unseen" => Crash::Unseen,
                    "forgetful" => Crash::Forgetful,
                    "noticed" => Crash::Noticed,
                    "lost" => Crash::Lost,
                    _ => return false,
                };
            }
            "mortal" => self.mortal = Some(number(value)),
            "crash-in" => self.crash_within = span(value),
            "back-in" => self.return_within = Some(span(value)),
            "no-return" => self.return_within = None,
            _ => return false,
        }
        true
    }
}

/// Reads a number of a row.
pub(crate) fn number<N: FromStr<Err: Debug>>(value: &str) -> N {
    value.parse().expect("a limit is a number in its range")
}

/// Reads the ticks from the first one to the last one.
fn span(value: &str) -> RangeInclusive<u16> {
    let (first, last) = value.split_once('-').expect("the first tick and the last");
    number(first)..=number(last)
}

/// Returns a change of the voters `a`, `b` and `c`: the learner `d` becomes a voter as well, or in the place of the
/// lowest-ranked voter; or the highest-ranked voter, which leads, is removed.
fn change(value: &str) -> VoterChange {
    let new = NewVoter {
        id: name(3),
        contact: None,
    };
    match value {
        "add" => VoterChange::Add(new),
        "replace" => VoterChange::Replace { old: name(0), new },
        "remove-leader" => VoterChange::Remove(name(2)),
        other => panic!("no change `{other}`"),
    }
}
