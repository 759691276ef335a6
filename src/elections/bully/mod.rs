//! The bully election: the most important agent that can be reached leads.
//!
//! Two sources in one machine: the ASTRA agent rules, repaired (B1 to B8), and the bully with
//! heartbeats, terms, crash and recovery (C1 to C9). Where the two disagree the latter win;
//! [`astra`](super::astra) keeps the former as they stand.
//!
//! **What you can rely on** (the *available* mode). After the last change, and once messages take
//! no longer than the delay bound, one leader per connected group, and it is the highest in rank
//! there. Not: one leader at every instant. Every side of a partition elects one; a start, a crash,
//! a recovery, a hand-over or a change of score may show two for at most two message delays. The
//! [`Term`] orders what one observer sees; it is no fence.
//!
//! **A leader that hangs** considers itself leader for the detection time L without a step
//! ([`View::valid_until`]), as long as others wait for a silent one; its next step begins by giving the
//! leadership up.//!
//! # The rules by name
//! | rule | here | decided in |
//! |---|---|---|
//! | B1, C2 start | ask the leader that is known first; only its silence widens the question to every voter | `campaign.rs` |
//! | B2, C5 win | the deadline passed, or every voter that is not certainly down has yielded: *early decision* | `campaign.rs` |
//! | B3, C3 `Elect` | `Ok` from who outranks the asker or knows a live leader, `Yield` from who is outranked; always answered | `elect.rs` |
//! | B4, C4 `Ok` | counts for the round it echoes, and never demotes a leader | `answer.rs` |
//! | B5, C6 | the announcement did not come within 2.5 T (after giving way: 2 d and a step): start again, in order of rank | `timer.rs` |
//! | B6, C7, C8 `Elected`, `Heartbeat` | older (term, rank) is stale; a leader that I outrank is asked to yield, not followed | `announce.rs` |
//! | B7 | the leader's life has ended: the *fast path* | `membership.rs` |
//! | B8 | a changed score: ask again | `command.rs` |
//! | – | a patient leader: who asked waits, and is then handed the seat | `preempt.rs` |
//! | C9 | polite leaving: `Draining`, `Drained`, `Resign`; the successor announces at once, who left rests | `command.rs` |
//!
//! # Role × input
//! What happens in the default profile, where leaders give way at once. "answer" is B3; − is a
//! traced no-op.
//!
//! | input | follower, seat taken | follower, seat vacant | candidate | waiting | leader |
//! |---|---|---|---|---|---|
//! | `Elect` from below | `Ok` | `Ok`, own turn | `Ok`, counts as answered | `Ok`; from the awaited one: own turn | `Elected` to it |
//! | `Elect` from above | `Ok` | `Yield`, wait | `Yield`, wait | `Yield` | policy: `Yield` after the belief ended, and wait; or `Elected` |
//! | `Elect` of the leader | no leader; as if vacant | | | | |
//! | `Ok`, this round | − | − | wait | − | − |
//! | `Yield`, this round | − | − | counts; the last one wins; that of the leader asked: ask all | − | − |
//! | … that releases | − | − | lead | lead | − |
//! | `Elected`, `Heartbeat` from above | follow | follow | follow | follow | older: `Elected` to it; else step down |
//! | … from below | newer: ask it to yield | ask it to yield | answers this round: follow; else own round goes on | ask it to yield | newer: renew above it; else `Elected` to it |
//! | … stale | − | told which term to exceed | told, or − if it follows | told | `Elected` to it |
//! | `Resign` of the leader | lead if named, else own turn | lead if named | lead if named, else own turn if it follows | lead if named | − |
//! | leader's end in `Members` | own turn: the first in line announces | turn moves up | asked one gone: go on | the awaited one gone: own turn | − |
//! | `TimedOut` | `Detect`: as its end | `Campaign`: announce or ask | `Widen`: ask all; `Deadline`: lead | `Victory`: own turn | `Heartbeat`, `Drain`, `Preempt` |
//! | `Campaign` | ask the leader | ask | − | − | `Elected` to all |
//! | `SetScore` | above the leader: ask it | own turn | new round; `None`: follow on, or no turn | as candidate | `Heartbeat` to all; `None`: drain |
//! | `StepDown`, `Drained` | − | − | − | − | drain; resign |
//!
//! Who does not stand (an observer, a voter without a score) follows whoever announces itself and
//! has no turn; such a voter answers `Yield`, or `Ok` while it follows. So does a voter that rests
//! after stepping down, and it waits for whom it yields to; but it has a turn, the last of all, and
//! stands from then on: all who are left may rest. A leader also renews above any higher term that an answer tells of. Before `Start`
//! nothing happens; a message of an agent that is no member, or of an incarnation that is over, is dropped by
//! the driver.
//!
//! Not here: votes, leases and fencing tokens; a partition with two leaders is within this promise.

mod announce;
mod answer;
mod campaign;
mod command;
mod config;
mod defect;
mod elect;
mod membership;
mod preempt;
mod state;
mod timer;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use config::BullyConfig;
#[doc(hidden)]
pub use defect::Defect;

use state::{Asked, Followed, Reign, Seat, State};

use crate::elections::shared::{Cooldown, Participant};
use crate::elections::vote::Vote;
pub use crate::elections::{
    message::{BullyMessage, Elect, Elected, Heartbeat, Ok, Resign, Yield},
    policy::Preemption,
    timer::Timer,
};
use crate::protocol::{
    AgentId, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Leaders, MemberKind,
    MembershipError, NotifyOrder, Requirements, Rules, Score, Term, Time, View,
};

type Out = EffectsOf<Bully>;

/// The ASTRA rules go by the same name between hosts.
const RULES: Rules = Rules::new("available");

/// One agent's side of a bully election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bully {
    me: Participant,
    config: Arc<BullyConfig>,
    state: State,
    /// Rounds asked in this life.
    rounds: u64,
    /// The highest term seen.
    seen: Term,
    /// Announcements of lower terms are void: this agent has led or followed since, or their
    /// leader has resigned.
    floor: Term,
    /// After stepping down: does not stand until then.
    cooldown: Cooldown,
    /// The last step; none before the life has begun.
    stepped: Option<Time>,
}

impl Election for Bully {
    type Message = BullyMessage;
    type Timer = Timer;
    type Durable = Vote;
    type Config = Arc<BullyConfig>;

    fn new(identity: Identity, config: &Self::Config, _durable: Option<Vote>) -> Self {
        Self {
            me: Participant::new(identity),
            config: Arc::clone(config),
            state: State::Follower(Seat::Vacant(None)),
            rounds: 0,
            seen: Term::ZERO,
            floor: Term::ZERO,
            cooldown: Cooldown::default(),
            stepped: None,
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Start(members) if !self.has_begun() => self.on_start(now, members, out),
            Input::SetScore(score) if !self.has_begun() => {
                self.me.score = score;
                return;
            }
            _ if !self.has_begun() => return self.ignore("its life has not begun"),
            Input::Received {
                from,
                incarnation,
                message,
            } => {
                self.on_message(now, &from, incarnation, message, out);
            }
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Members(members) | Input::Start(members) => self.on_members(now, members, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => self.on_step_down(now, to, out),
            Input::Drained => self.on_drained(now, out),
        }
        self.stepped = Some(now);
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements {
            // Whoever hears of nobody more important leads: no side of a partition hears the other.
            leaders: Leaders::PerSide,
            // For the fast path (B7): the highest-ranked survivor announces itself unasked.
            notify: NotifyOrder::HighestRankFirst,
            ..Requirements::new(RULES)
        })
    }

    fn view(&self, _now: Time) -> View {
        let leading = self.reign().map(|reign| reign.term);
        let leader = match leading {
            Some(term) => Some(self.me.as_leader(term)),
            None => self.followed().map(|f| f.leader.clone()),
        };
        let valid_until = match self.config.timings.detector() {
            Some(detector) => self
                .stepped
                .map_or(Time::ZERO, |stepped| stepped.after(detector.detection)),
            None => Time::MAX,
        };
        let term = leader.as_ref().map_or(self.seen, |l| l.term);
        View {
            role: self.state.role(),
            term,
            leader,
            leading,
            valid_until,
        }
    }
}

impl Bully {
    fn on_message(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: BullyMessage,
        out: &mut Out,
    ) {
        let (term, score, answer) = match message {
            BullyMessage::Heartbeat(Heartbeat { term, score, .. }) => (term, score, None),
            BullyMessage::Elected(Elected {
                term,
                score,
                answer,
                ..
            }) => (term, score, answer),
            BullyMessage::Elect(elect) => {
                return self.on_elect(now, from, incarnation, &elect, out);
            }
            BullyMessage::Ok(ok) => return self.on_ok(now, from, &ok, out),
            BullyMessage::Yield(give_way) => return self.on_yield(now, from, &give_way, out),
            BullyMessage::Resign(resign) => return self.on_resign(now, from, &resign, out),
            BullyMessage::Claim(_)
            | BullyMessage::ClaimReply(_)
            | BullyMessage::Ack(_)
            | BullyMessage::Nack(_)
            | BullyMessage::Takeover(_) => return self.ignore("a message of the quorum mode"),
        };
        let said = announce::Said {
            term,
            score,
            answer,
        };
        self.on_announcement(now, from, incarnation, said, out);
    }

    // ---- queries ----------------------------------------------------------------------------

    fn has_begun(&self) -> bool {
        self.stepped.is_some()
    }

    /// Whether this agent stands for election at `now`: eligible, and not resting. Who rests has a
    /// turn all the same, the last of all, and stands from then on.
    fn stands(&self, now: Time) -> bool {
        self.may_stand() && !self.cooldown.is_active(now)
    }

    /// Whether it may be elected, and there is a term left to lead in.
    fn may_stand(&self) -> bool {
        self.me.eligible().is_some() && self.seen.next().is_some()
    }

    /// Whether this agent is enough better than that leader to ask for its seat.
    fn challenges(&self, now: Time, score: Score, id: &AgentId) -> bool {
        let wants = match self.config.preemption {
            Preemption::Never => false,
            Preemption::Immediately | Preemption::After(_) => true,
        };
        wants
            && self.stands(now)
            && self.me.outranks(score, id)
            && self
                .me
                .score
                .is_some_and(|mine| self.is_enough(mine, score))
    }

    /// Whether `score` is better than `than` by the margin, if there is one.
    fn is_enough(&self, score: Score, than: Score) -> bool {
        self.config
            .margin
            .is_none_or(|margin| score.exceeds(than, margin))
    }

    fn reign(&self) -> Option<&Reign> {
        match &self.state {
            State::Leader(reign) => Some(reign),
            State::Follower(_) | State::Candidate(_) | State::Waiting(_) => None,
        }
    }

    fn followed(&self) -> Option<&Followed> {
        match &self.state {
            State::Follower(Seat::Taken(followed)) => Some(followed),
            State::Candidate(candidacy) => match &candidacy.asked {
                Asked::Leader { following, .. } => following.as_ref(),
                Asked::Voters => None,
            },
            State::Follower(Seat::Vacant(_)) | State::Waiting(_) | State::Leader(_) => None,
        }
    }

    fn ignore(&self, why: &'static str) {
        self.me.ignore(self.state.role(), why);
    }
}
