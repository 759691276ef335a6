//! The sentences of the findings about timings.

use std::fmt;

use super::{Finding, words::Span};

/// A finding about timings.
pub(super) struct TimingWords<'a>(pub(super) &'a Finding);

impl fmt::Display for TimingWords<'_> {
    #[expect(clippy::too_many_lines, reason = "a sentence for each finding")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the others are written elsewhere"
        )]
        match self.0 {
            Finding::EchoTooLong {
                node,
                echo,
                assumed,
                preset,
                advice,
            } => write!(
                f,
                "the echo of {node} takes {}, and {} assumes at most {} one way: use {}",
                Span(*echo),
                Configured(*preset),
                Span(*assumed),
                advice.unwrap_or("timings with a longer delay bound")
            ),
            Finding::RegisterIsSlow {
                store,
                answer,
                assumed,
                too_short,
                advice,
            } => {
                let (answer, assumed) = (Span(*answer), Span(*assumed));
                write!(
                    f,
                    "the store answers in {answer} ({store}), and these timings allow {assumed}: "
                )?;
                match too_short {
                    None => f.write_str("leaders are elected more slowly"),
                    Some(lease) => write!(
                        f,
                        "no leader can keep a lease of {}, into which three answers have to fit",
                        Span(*lease)
                    ),
                }?;
                let advice = advice.unwrap_or("timings with a longer delay bound");
                write!(f, ": use {advice}")
            }
            Finding::WriteTooLong {
                write,
                round,
                waits,
                advice,
            } => {
                let outcome = if *waits {
                    "this voter leaves the leadership to others until its disk is faster"
                } else {
                    "elections take longer"
                };
                write!(
                    f,
                    "the store takes {} to write a vote, and a round of {} may be over before the votes come, so {outcome}: use {}Timings::measured(..) or a faster disk",
                    Span(*write),
                    Span(*round),
                    Advice(*advice)
                )
            }
            Finding::RenewsLate {
                left,
                renewed,
                advice,
            } => write!(
                f,
                "this leader renews its lease late, again and again: {} of {} were left, so a few more late answers end it: use {}Timings::measured(..), or look what delays the voters' answers",
                Span(*left),
                Span(*renewed),
                Advice(*advice)
            ),
            Finding::Stalls {
                stall,
                tolerated,
                preset,
                advice,
            } => write!(
                f,
                "this agent stood still for {}, and {} tolerates {}: a leader loses its place by that: use {}Timings::measured(..), or give the agent an arbiter of its own and the host a core to spare",
                Span(*stall),
                Configured(*preset),
                Span(*tolerated),
                Advice(*advice)
            ),
            Finding::FasterFits {
                preset,
                detection,
                present,
            } => write!(
                f,
                "{preset} has twice the room that the network, the disk and this host needed of late: it notices a silent leader after {} instead of {}",
                Span(*detection),
                Span(*present)
            ),
            _ => Ok(()),
        }
    }
}

/// The name of the timings, or "this configuration".
struct Configured(Option<&'static str>);

impl fmt::Display for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.unwrap_or("this configuration"))
    }
}

/// A preset that is the first of several proposals, if there is one.
struct Advice(Option<&'static str>);

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |preset| write!(f, "{preset}, "))
    }
}
