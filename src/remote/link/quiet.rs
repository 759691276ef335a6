//! How often a side asks, by a PING, whether its peer is still present.
//!
//! Decided here: a link is asked often only while something depends on its end: agents exchange messages over it, or a
//! roster was just sent, or a group hears no leader, or the election of a group needs to know the end of a link soon,
//! or a question waits for its answer. All other links are *quiet*, and are asked seldom: nothing depends on the links
//! between followers of one leader. Frequent questions on quiet links would cost more packets than the heartbeats, and
//! the number of questions would grow with the square of the number of hosts. When the leader falls silent, this side
//! asks on every link at once, so that a broken link is found before an election waits for a vote. This side also asks
//! on a link when another agent wants a name that an agent of the peer has, because the name is free as soon as the
//! peer is found to be gone.
//!
//! Each PING also measures the round-trip time. After ten seconds the next PING is due, even on a link that is in use.
//!
//! The two ends do not have to agree on anything: each side asks for itself, and answers every question. So a peer that
//! asks often is only answered. Not here: reading and writing ([`Common`](super::common::Common)).

use std::time::Duration;

use crate::{
    protocol::{Leaders, Time},
    remote::Limits,
};

/// The facts that decide how often a link is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkFacts {
    pub(super) need: Need,
    /// Time at which a message of an agent last crossed the link in either direction, or at which this side last sent a
    /// roster.
    pub(super) talked: Time,
    /// Time at which a leader's heartbeat last arrived over the link; `None` before the first.
    pub(super) beat: Option<Time>,
    /// Time at which anything last arrived.
    pub(super) heard: Time,
    /// Time of the question that waits for its answer; `None` if no question waits.
    pub(super) asked: Option<Time>,
    /// Time of the last question.
    pub(super) measured: Time,
    /// Time at which a leader last fell silent on any link of this side, or at which a caller last depended on this
    /// peer.
    pub(super) alarm: Option<Time>,
}

/// How soon the carried groups have to learn that a link has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// The end of a link must be found soon.
    Quick,
    /// The end of a link need not be found soon while the groups' leaders are heard. The value is the time at which the
    /// leader of a group was last heard: the earliest of all groups.
    While(Time),
}

impl Need {
    /// Returns the need of one group; `leaders` shows how many agents may lead in it, and `led` is the time at which
    /// this side last heard a leader.
    pub(super) const fn of(leaders: Leaders, led: Option<Time>) -> Self {
        match (leaders, led) {
            // Leases and votes decide who leads: the end of a link changes nothing.
            (Leaders::PerTerm | Leaders::PerInstant, Some(at)) => Self::While(at),
            (Leaders::PerTerm | Leaders::PerInstant, None)
            // The election depends on which members are considered present.
            | (Leaders::PerSide | Leaders::Unpromised, _) => Self::Quick,
        }
    }

    /// Returns the stricter of this need and the need `so_far` of the groups before; `None` means no group before.
    pub(super) fn and(self, so_far: Option<Self>) -> Self {
        match (self, so_far) {
            (one, None) => one,
            (Self::While(one), Some(Self::While(other))) => Self::While(one.min(other)),
            (Self::Quick, Some(_)) | (_, Some(Self::Quick)) => Self::Quick,
        }
    }
}

/// The times after which one side asks, and after which it considers a peer gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spans {
    ping_after: Duration,
    silence: Duration,
    /// As `ping_after`, for a quiet link.
    seldom: Duration,
}

impl Spans {
    /// Returns the spans of a side with this number of peers. With more peers each quiet link is asked less often, so
    /// that the number of questions per second does not grow.
    pub(super) fn new(limits: &Limits, peers: usize) -> Self {
        let ping_after = limits.ping_after();
        let peers = u32::try_from(peers.max(1)).unwrap_or(u32::MAX);
        let seldom = ping_after.saturating_mul(SELDOM).saturating_mul(peers);
        Self {
            ping_after,
            silence: limits.silence(),
            seldom: seldom.min(MOST_SELDOM).max(ping_after),
        }
    }
}

/// Whether a link is quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vigil {
    /// The link is asked often since this time.
    Quick(Time),
    Quiet,
}

impl Vigil {
    pub(super) fn next(self, now: Time, spans: &Spans, facts: &LinkFacts) -> Self {
        let is_recent = |at: Time| now.since(at) < spans.silence;
        let is_needed = match facts.need {
            Need::Quick => true,
            Need::While(led) => !is_recent(led),
        };
        let is_alarmed = facts.alarm.is_some_and(is_recent);
        let is_quick = is_needed
            || is_recent(facts.talked)
            || is_alarmed
            // A link whose PING is not answered yet is not quiet: if the peer is gone, this is found before the next
            // PING.
            || facts.asked.is_some();
        match (is_quick, self) {
            (true, Self::Quick(_)) => self,
            (true, Self::Quiet) => Self::Quick(now),
            (false, _) => Self::Quiet,
        }
    }

    /// Returns the time of the next question, unless the peer is heard before.
    pub(super) fn asks_at(self, spans: &Spans, facts: &LinkFacts) -> Time {
        // A question that waits for its answer is not asked again at every wake.
        let last = facts.heard.max(facts.asked.unwrap_or(facts.heard));
        match self {
            Self::Quick(since) => {
                // With the default timings, heartbeats come as often as a side would ask. So a question waits for a
                // quarter longer: by then the next heartbeat has arrived, and no question is needed.
                let is_in_use = facts.heard.since(facts.talked) < spans.ping_after;
                let later = spans.ping_after.checked_div(4).filter(|_| is_in_use);
                let ask = last.after(spans.ping_after);
                ask.after(later.unwrap_or_default()).max(since)
            }
            Self::Quiet => last.after(spans.seldom),
        }
    }

    /// Returns the time at which the peer is considered gone, unless it is heard before. The time from a question to
    /// this moment is the same for a quiet link and for any other link.
    pub(super) fn gone_at(self, spans: &Spans, facts: &LinkFacts) -> Time {
        let answer = spans.silence.saturating_sub(spans.ping_after);
        match self {
            Self::Quick(since) => {
                let asked = facts.heard.after(spans.ping_after).max(since);
                asked.after(answer)
            }
            // A question before this time ends the quiet state. So this time is reached only if the writer cannot ask.
            Self::Quiet => facts.heard.after(spans.seldom).after(spans.silence),
        }
    }
}

/// Returns whether the last measurement is out of date. A link that is always in use needs no question to show that the
/// peer is present; but without this rule a network that became slow would not show in a diagnosis.
pub(super) fn is_out_of_date(now: Time, facts: &LinkFacts) -> bool {
    facts.asked.is_none() && now.since(facts.measured) >= MEASURED
}

/// Returns the time at which the leader at the other end is considered silent; `None` if no leader was heard on this
/// link recently, or if it was found silent already.
pub(super) fn silent_at(spans: &Spans, facts: &LinkFacts) -> Option<Time> {
    let beat = facts.beat?;
    // The leader's heartbeats may end while the link goes on: for example, it has resigned, and no other agent is a
    // candidate.
    let over = beat.after(spans.silence);
    // With a slow preset the answer to a ping may be the leader's only message for a while, so a late answer is enough.
    let patience = spans.ping_after.checked_div(4).unwrap_or_default();
    let asked = facts.asked.filter(|since| *since >= facts.heard);
    Some(asked.map_or(over, |since| over.min(since.after(patience))))
}

/// Largest age of a measurement; equal to the interval of the warnings that no agent leads.
const MEASURED: Duration = Duration::from_secs(10);
/// Interval of the questions on a quiet link, as a multiple of `ping_after` for each peer. It was measured between 30
/// hosts: 478 packets in a second instead of 8,770.
const SELDOM: u32 = 16;
/// Longest interval: a device on the path may forget a connection that is idle for minutes.
const MOST_SELDOM: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    fn spans(peers: usize) -> Spans {
        Spans::new(&Limits::default(), peers)
    }

    /// A link between two followers, on which nothing was ever said, a second after the leader was heard.
    fn idle(now: u64) -> LinkFacts {
        LinkFacts {
            need: Need::While(MS(now)),
            talked: Time::ZERO,
            beat: None,
            heard: Time::ZERO,
            asked: None,
            measured: Time::ZERO,
            alarm: None,
        }
    }

    #[test]
    fn a_measurement_is_renewed_after_ten_seconds_unless_a_question_waits() {
        let facts = LinkFacts {
            measured: MS(1_000),
            ..idle(0)
        };
        assert!(!is_out_of_date(MS(10_999), &facts));
        assert!(is_out_of_date(MS(11_000), &facts));
        let asked = LinkFacts {
            asked: Some(MS(1_000)),
            ..facts
        };
        assert!(!is_out_of_date(MS(11_000), &asked));
    }

    #[test]
    fn a_link_is_quiet_only_while_nothing_depends_on_it() {
        let (now, spans) = (MS(10_000), spans(4));
        let next = |facts| Vigil::Quiet.next(now, &spans, &facts);
        let idle = idle(9_101);
        assert_eq!(next(idle), Vigil::Quiet);
        assert_eq!(Vigil::Quick(MS(1)).next(now, &spans, &idle), Vigil::Quiet);
        let (recent, past) = (MS(9_101), MS(9_100));
        let facts = [
            LinkFacts {
                need: Need::Quick,
                ..idle
            },
            LinkFacts {
                need: Need::While(past),
                ..idle
            },
            LinkFacts {
                talked: recent,
                ..idle
            },
            LinkFacts {
                alarm: Some(recent),
                ..idle
            },
            LinkFacts {
                asked: Some(past),
                ..idle
            },
        ];
        for facts in facts {
            assert_eq!(next(facts), Vigil::Quick(now), "{facts:?}");
            let before = Vigil::Quick(MS(7));
            assert_eq!(before.next(now, &spans, &facts), before, "{facts:?}");
        }
        for over in [
            LinkFacts {
                talked: past,
                ..idle
            },
            LinkFacts {
                alarm: Some(past),
                ..idle
            },
        ] {
            assert_eq!(next(over), Vigil::Quiet, "{over:?}");
        }
    }

    #[test]
    fn only_groups_whose_leader_holds_a_lease_and_is_heard_let_a_link_be_quiet() {
        for leaders in [Leaders::PerTerm, Leaders::PerInstant] {
            assert_eq!(Need::of(leaders, Some(MS(5))), Need::While(MS(5)));
            assert_eq!(Need::of(leaders, None), Need::Quick);
        }
        for leaders in [Leaders::PerSide, Leaders::Unpromised] {
            assert_eq!(Need::of(leaders, Some(MS(5))), Need::Quick);
        }
        let (early, late) = (Need::While(MS(5)), Need::While(MS(6)));
        for (one, other, both) in [
            (early, None, early),
            (early, Some(late), early),
            (late, Some(early), early),
            (Need::Quick, Some(late), Need::Quick),
            (late, Some(Need::Quick), Need::Quick),
        ] {
            assert_eq!(one.and(other), both);
        }
    }

    #[test]
    fn a_peer_has_as_long_to_answer_as_ever() {
        let spans = spans(4);
        let facts = LinkFacts {
            heard: MS(1_000),
            ..idle(0)
        };
        let always = Vigil::Quick(Time::ZERO);
        assert_eq!(always.asks_at(&spans, &facts), MS(1_180));
        assert_eq!(always.gone_at(&spans, &facts), MS(1_900));
        let asked = LinkFacts {
            asked: Some(MS(1_180)),
            ..facts
        };
        assert_eq!(always.asks_at(&spans, &asked), MS(1_360));
        assert_eq!(always.gone_at(&spans, &asked), MS(1_900));

        let in_use = LinkFacts {
            talked: MS(1_000),
            ..facts
        };
        assert_eq!(always.asks_at(&spans, &in_use), MS(1_225));
        assert_eq!(always.gone_at(&spans, &in_use), MS(1_900));

        let quiet = Vigil::Quiet;
        assert_eq!(quiet.asks_at(&spans, &facts), MS(1_000 + 16 * 180 * 4));
        assert!(
            quiet.gone_at(&spans, &facts) > quiet.asks_at(&spans, &facts).after(spans.silence / 2)
        );
        // The leader falls silent: it is asked at once, and not taken for gone by what it did not say before.
        let roused = Vigil::Quick(MS(9_000));
        assert_eq!(roused.asks_at(&spans, &facts), MS(9_000));
        assert_eq!(roused.gone_at(&spans, &facts), MS(9_720));
    }

    #[test]
    fn a_leader_is_silent_when_it_leaves_a_question_or_beats_no_more() {
        let spans = spans(4);
        let facts = LinkFacts {
            beat: Some(MS(1_000)),
            heard: MS(1_000),
            ..idle(0)
        };
        assert_eq!(silent_at(&spans, &facts), Some(MS(1_900)));
        let asked = LinkFacts {
            asked: Some(MS(1_180)),
            ..facts
        };
        assert_eq!(silent_at(&spans, &asked), Some(MS(1_225)));
        let answered = LinkFacts {
            heard: MS(1_200),
            ..asked
        };
        assert_eq!(silent_at(&spans, &answered), Some(MS(1_900)));
        let follower = LinkFacts {
            beat: None,
            ..asked
        };
        assert_eq!(silent_at(&spans, &follower), None);
    }

    #[test]
    fn what_a_side_asks_does_not_grow_with_its_peers() {
        let each = |peers| spans(peers).seldom;
        assert_eq!(each(0), Duration::from_millis(2_880));
        assert_eq!(each(4), Duration::from_millis(11_520));
        assert_eq!(each(29), Duration::from_millis(83_520));
        assert_eq!(each(usize::MAX), MOST_SELDOM);
        let slow = Limits::builder().silence(Duration::from_secs(300));
        let slow = slow.ping_after(Duration::from_secs(60)).build().unwrap();
        let slow = Spans::new(&slow, 1);
        assert_eq!(slow.seldom, MOST_SELDOM);
        assert_eq!(slow.silence, Duration::from_secs(300));
    }
}
