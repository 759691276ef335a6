//! The reorganization: the bully election as it was published (Garcia-Molina 1982).
//!
//! An elected coordinator does more than announce itself: it first stops everybody's work (`Halt`),
//! then makes itself known (`NewCoordinator`), then hands out a task (`Ready`); and it never trusts
//! that all is well, but asks (`AreYouNormal`). In exchange for these six messages per member the
//! paper promises agreement at every instant, in a system that keeps its assumptions.
//!
//! **What you can rely on**
//! - GM1, always: two voters in *Reorganization* or *Normal* have the same coordinator, and two in
//!   *Normal* have the same task. So at most one believes that it leads. (An observer is told last.)
//! - GM2, once no failure happens for long enough: one agent is *Normal* with itself as coordinator,
//!   and all who live are *Normal* under it. It is the most important one.
//!
//! **As long as** no message takes longer than d < T / 2 or is lost, no agent pauses, the members
//! and their importance are fixed, and a record survives crashes. Agents may crash and recover at
//! any time. If one of these fails, both promises are void until it holds again: a partition has a
//! coordinator on each side, a pause may show two for as long as it takes to notice. After that the
//! group agrees again by itself. Who cannot live with that wants the quorum election.
//!
//! A model checker looks at GM1 in every order in which three agents can act while no message takes
//! longer than d, one of which may crash: it holds with T > 2 d, and is broken with T = 2 d. How far
//! it looks is in `tests/heavy`.
//!
//! **A leader that hangs** considers itself leader for the detection time L without a step
//! ([`View::valid_until`]); the first timer after that finds the stall, and gives the leadership up.
//!
//! # The rules by number
//! | rule | paper | here | decided in |
//! |---|---|---|---|
//! | G0 | Recovery | the durable count goes up, then G1; the first start is a recovery | `elect.rs` |
//! | G1 | Election, part 1 | ask all above, at once: `AreYouThere`; stand back if one is there | `elect.rs` |
//! | G2 | part 2 | none is: `Halt` all others; who acknowledges is in *Up* | `elect.rs` |
//! | G3 | `Halt` | obey one election; refuse older ones, and who ranks below | `obey.rs` |
//! | G4 | part 2 | *Reorganization*: `NewCoordinator` to Up; all acknowledge, or G1 | `elect.rs` |
//! | G5 | `New-Coordinator` | only from who has halted this agent, by the same election | `obey.rs` |
//! | G6 | `Ready` | the task to Up; all acknowledge, or G1; then *Normal*, and it leads | `elect.rs` |
//! | G7 | `Ready` | only from the coordinator, by the same election; *Normal*, and it follows | `obey.rs` |
//! | G8 | Check | `AreYouNormal` to all, each H; one "no" is G1, a silence is nothing | `check.rs` |
//! | G9 | Timeout | nothing heard for L: `AreYouThere` to the coordinator; silent for T: G1 | `check.rs` |
//! | G10 | `Are-You-There`, `Are-You-Normal` | the first always; the second if it works under the asker, by that election | `check.rs` |
//!
//! # State × input
//! − is a traced no-op. "nack" tells the caller what it did not know.
//!
//! | input | idle | asks (G1) | halts (G2) | reorganizes, readies | stands back | joins, follows | leads |
//! |---|---|---|---|---|---|---|---|
//! | `AreYouThere` | `There` | `There` | `There` | `There` | `There` | `There` | `There` |
//! | `There` from above | − | it will stand back | − | − | − | of the coordinator: watch on, or G1 | − |
//! | `Halt`, older | nack | nack | nack | nack | nack, or ack again | nack | nack |
//! | `Halt` from below | obey | nack | nack | nack | nack, G1 | nack, G1 | nack, G1 |
//! | `Halt` from above | obey | obey, once nobody above that one may be there | obey | obey | obey, unless it waits for one above that one | obey | obey: `Outranked` |
//! | `NewCoordinator` | nack | nack | nack | nack | halted by it: join | the same: ack again | nack |
//! | `Ready` | nack | nack | nack | nack | nack | the same: follow | nack |
//! | `Ack` | − | − | in Up | counts | − | − | − |
//! | `Nack` | − | − | pause, G1 | pause, G1 | − | − | − |
//! | `AreYouNormal` | no | no | no | no | no | of the coordinator: yes, or G1 if it ranks below | no |
//! | `NotNormal` | − | − | − | − | − | − | G1: `Reorganized` |
//! | `Resign` | − | − | − | − | − | of the coordinator: G1, or own turn | − |
//! | an end in `Members` | − | of who is asked: wait less | the same | of who is called: G1 | of who it waits for: G1; it rests, and nobody else is there: G1 | of the coordinator: G1; a guess: ask | − |
//! | `TimedOut` | − | `Answer`: halt, or stand back | `Answer`: reorganize | `Answer`: G1 | `Takeover`: G1; it rests, and `Rest`: G1 | `Watch`: ask, then G1 | `Check`, `Drain` |
//! | `Campaign` | G1 | − | − | − | G1 | G1 | check |
//! | `SetScore` | G1 | G1 | G1 | G1 | higher: G1 | above the coordinator: G1 | check; `None`: drain |
//! | `StepDown`, `Drained` | − | − | − | − | − | − | drain; resign |
//!
//! G1 by who does not stand (an observer, a voter without a score) is to be idle. By a voter that rests
//! after stepping down it is to stand back for all others, 2.5 T and its place in line, eight places
//! further back; then its rest is over. An idle voter answers, obeys and works like any other; an observer takes the
//! coordinator's word, and tells one only which count to exceed. Before `Start` an agent is *Down*.
//!
//! # Amendments
//! | to the paper, or to the notes that circulate of it | why |
//! |---|---|
//! | every message names its election, a durable count and a name (all rules) | messages may then arrive in any order, and twice |
//! | calls go out in parallel | one by one they take a round trip each, and T per dead member |
//! | G1: whoever is asked starts nothing, as in the paper; [`Zeal::Eager`] does, as the textbooks have it | one's own timers suffice |
//! | G1: the answers of all are awaited, though one suffices to stand back | see G3, last line |
//! | G3: a halt from below is refused | the original obeys anybody: an agent that wrongly thinks that all above are dead takes everything over |
//! | G3: an older election is refused, with the count to exceed | the original relies on messages in order |
//! | G3: who obeys somebody refuses all below that one; who may still hear of somebody lets them wait | two elections may overlap when an agent recovers: the lower one's last messages would break GM1 if it then dies |
//! | G4, G6: refusals are said | in the original a call that was ignored succeeds, and who was halted meanwhile believes that it has won |
//! | G8, G10: "normal under somebody else" is a "no" | in the original two coordinators never notice each other |
//! | G9, G10: a coordinator that knows nothing of its election is as good as silent | after a quick restart it answers "yes", and its members would work on for nobody |
//! | – an end that is certain shortens a wait for T to 3 d (G1, G2), and ends the others | it proves more than a silence; 3 d, since nobody may have heard of a next life |
//! | – who slept for longer than L gives up a leadership, and starts again | "a node never pauses" cannot be promised; noticing it can |
//! | – importance may change: who ranks above its coordinator is G1 | in the paper it is a fixed number |
//! | – `Resign`, a rest after it | in the paper nobody leaves politely |
//! | – who rests stands back, and not for ever; who is silent is nobody to stand back for | all who are left may rest, and nobody would begin |
//!
//! The notes known as *Bully* that circulate with the 1982 protocol have faults of their own: they
//! end at *Reorganization* (no `Ready`, nobody is ever *Normal*), have no Check, Timeout or
//! Recovery, and exclude the highest member (i < j < n). All three are mended by following the paper.
//!
//! # Cost
//! With `a` members below that live, `x` members above and `y` below that are dead: x + y + 6a
//! messages, and T + 6 d (T more if y > 0; without T where ends are certain, but 3 d). All start
//! at once: O(n²). Every recovery is an election for all: the
//! coordinator finds a member that is not normal and reorganizes the group, under a new term. A
//! standing coordinator costs 2 (n - 1) messages each H.
//!
//! # Sources
//! H. Garcia-Molina, *Elections in a Distributed Computing System*, IEEE Transactions on Computers
//! C-31(1), 1982: assumptions, the assertions GM1 and GM2, the algorithm for synchronous systems.
//!
//! Not here, but worth knowing: Stoller's form for asynchronous systems (3b), which Erlang's
//! `gen_leader` implements. It replaces T by a failure detector: an agent waits until *all* above are
//! reported down, halts those below one by one, skipping who is reported down, and announces itself
//! to who acknowledged; who was halted starts again when its halter is reported down; a leader goes
//! on asking the dead whether they are normal, and adopts who is not. Its safety is that of its
//! detector, and a partition has a leader on each side. Here, certain ends play that part.

mod check;
mod command;
mod config;
mod defect;
mod elect;
mod membership;
mod message;
mod obey;
mod state;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

pub use config::{ReorganizationConfig, ReorganizationConfigBuilder, ReorganizationError, Zeal};
#[doc(hidden)]
pub use defect::Defect;
pub use message::{
    Ack, AreYouNormal, AreYouThere, Call, Halt, Nack, NewCoordinator, Normal, NotNormal, Ready,
    ReorganizationMessage, Resign, There,
};
pub use state::Status;

use state::{Membership, Stage, State};

use crate::elections::numbered::LAST_COUNT;
pub use crate::elections::numbered::{Count, ElectionId, Task};

use crate::elections::shared::{Cooldown, Participant};
use crate::protocol::{
    AgentId, ClockKind, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Leader,
    Leaders, Member, MemberKind, MembershipError, Requirements, Rules, Score, Storage, Term, Time,
    View,
};

type Out = EffectsOf<Reorganization>;

const RULES: Rules = Rules::new("reorganization");

/// A timer of a reorganization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Timer {
    /// A candidate: those who did not answer are dead (T).
    Answer,
    /// Nothing came of what was stood back for.
    Takeover,
    /// A coordinator: time to ask whether all are normal (H).
    Check,
    /// A member: the coordinator is silent (L), or did not answer (T).
    Watch,
    /// A leader that steps down: the work took too long.
    Drain,
    /// An agent that stepped down may stand again.
    Rest,
}

/// One agent's side of a reorganization; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reorganization {
    me: Participant,
    config: Arc<ReorganizationConfig>,
    state: State,
    /// What is durable.
    record: Count,
    /// The count that was durable when this life began: what a former life may have obeyed.
    floor: Term,
    /// The latest election that it obeys, or has halted others by.
    promised: Option<ElectionId>,
    /// The highest count heard of.
    seen: Term,
    /// What members said of their importance since the last snapshot.
    heard: BTreeMap<AgentId, Option<Score>>,
    /// After stepping down: does not stand until then.
    cooldown: Cooldown,
    /// The last step; none before the life has begun.
    stepped: Option<Time>,
}

impl Election for Reorganization {
    type Message = ReorganizationMessage;
    type Timer = Timer;
    type Durable = Count;
    type Config = Arc<ReorganizationConfig>;

    fn new(identity: Identity, config: &Self::Config, durable: Option<Count>) -> Self {
        let record = durable.unwrap_or_default();
        Self {
            me: Participant::new(identity),
            config: Arc::clone(config),
            state: State::Idle,
            floor: record.count,
            promised: None,
            seen: record.count,
            record,
            heard: BTreeMap::new(),
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
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements {
            // GM1 is void while a partition lasts (Garcia-Molina 1982, assumption of the reliable
            // network): each side reorganizes itself around a coordinator of its own.
            leaders: Leaders::PerSide,
            storage: Storage::of_voters(kind),
            // A pause breaks the promise whatever the clock says of it.
            clock: ClockKind::Any,
            ..Requirements::new(RULES)
        })
    }

    fn view(&self, _now: Time) -> View {
        let leading = match &self.state {
            State::Leader(reign) => Some(reign.election.count),
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Member(_) => None,
        };
        let leader = match (leading, &self.state) {
            (Some(term), _) => Some(Leader {
                id: self.me.id.clone(),
                incarnation: self.me.incarnation,
                term,
            }),
            (None, State::Member(m)) if m.is_normal() => Some(m.leader.clone()),
            (None, _) => None,
        };
        let detection = self.config.detector().detection;
        View {
            role: self.state.role(),
            term: leader.as_ref().map_or(self.seen, |l| l.term),
            leader,
            leading,
            valid_until: self.stepped.map_or(Time::ZERO, |at| at.after(detection)),
        }
    }
}

impl Reorganization {
    /// The paper's S(i).s.
    pub fn status(&self) -> Status {
        if self.has_begun() {
            self.state.status()
        } else {
            Status::Down
        }
    }

    /// The paper's S(i).c: who coordinates, in *Reorganization* and *Normal*.
    pub fn coordinator(&self) -> Option<&AgentId> {
        match (self.state.status(), &self.state) {
            (Status::Down | Status::Election, _) => None,
            (_, State::Member(membership)) => Some(&membership.leader.id),
            (_, _) => Some(&self.me.id),
        }
    }

    /// The paper's S(i).d: what is worked on, in *Normal*. An observer need not know it.
    pub fn task(&self) -> Option<Task> {
        match &self.state {
            State::Leader(_) => Some(self.config.task()),
            State::Member(membership) => match membership.stage {
                Stage::Following { task } => task,
                Stage::Joining => None,
            },
            State::Idle | State::Candidate(_) | State::Waiting(_) => None,
        }
    }

    fn on_message(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: ReorganizationMessage,
        out: &mut Out,
    ) {
        use ReorganizationMessage as M;
        let is_voter = self.me.members.get(from).is_some_and(Member::is_voter);
        if !is_voter && !matches!(message, M::NotNormal(_)) {
            return self.ignore("an observer says no more than which count to exceed");
        }
        if message.term() > LAST_COUNT {
            return self.ignore("a count that nobody can have reached");
        }
        let is_own = message.election().id == *from;
        let called = matches!(
            message,
            M::Halt(_) | M::NewCoordinator(_) | M::Ready(_) | M::AreYouNormal(_) | M::Resign(_)
        );
        if called && !is_own {
            return self.ignore("in the name of another one's election");
        }
        match message {
            M::AreYouThere(m) => self.on_are_you_there(now, from, &m, out),
            M::There(m) => self.on_there(now, from, &m, out),
            M::AreYouNormal(m) => self.on_are_you_normal(now, from, incarnation, &m, out),
            M::Normal(_) => {}
            M::NotNormal(m) => self.on_not_normal(now, &m, out),
            M::Ready(m) => self.on_ready(now, from, incarnation, &m, out),
            M::Resign(m) => self.on_resign(now, from, &m, out),
            M::Halt(_) | M::NewCoordinator(_) if self.me.kind == MemberKind::Observer => {
                self.ignore("an observer is only told");
            }
            M::Halt(m) => self.on_halt(now, from, &m, out),
            M::NewCoordinator(m) => self.on_new_coordinator(now, from, incarnation, &m, out),
            M::Ack(m) => self.on_ack(now, from, &m, out),
            M::Nack(m) => self.on_nack(now, from, &m, out),
        }
    }

    /// Timers are hints: each deadline is checked again.
    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Out) {
        match timer {
            Timer::Answer => self.on_silence(now, out),
            Timer::Takeover => self.on_takeover_due(now, out),
            Timer::Check => self.on_check_due(now, out),
            Timer::Watch => self.on_watch_due(now, out),
            Timer::Drain => self.on_drain_due(now, out),
            Timer::Rest => self.on_rest_over(now, out),
        }
    }

    fn hear(&mut self, count: Term) {
        if count <= LAST_COUNT {
            self.seen = self.seen.max(count);
        }
    }

    fn learn(&mut self, id: &AgentId, score: Option<Score>) {
        if self.score_of(id) != score {
            self.heard.insert(id.clone(), score);
        }
    }

    // ---- queries ----------------------------------------------------------------------------

    fn has_begun(&self) -> bool {
        self.stepped.is_some()
    }

    /// This agent's importance if it stands for election: eligible, and it does not let others go
    /// first.
    fn standing(&self, now: Time) -> Option<Score> {
        let eligible = self.me.eligible();
        eligible.filter(|_| !self.lets_others_go_first(now, None))
    }

    /// Whether it rests, and somebody else is there to lead; `gone` is known not to be.
    fn lets_others_go_first(&self, now: Time, gone: Option<&AgentId>) -> bool {
        let company = |m: &Member| m.id != self.me.id && Some(&m.id) != gone;
        self.cooldown.is_active(now) && self.me.members.standing().any(company)
    }

    /// Whether this agent stands, and is more important than that one.
    fn outranks(&self, now: Time, score: Score, id: &AgentId) -> bool {
        self.me.outranks(score, id) && !self.lets_others_go_first(now, None)
    }

    /// A member's importance, as it was last heard.
    fn score_of(&self, id: &AgentId) -> Option<Score> {
        match self.heard.get(id) {
            Some(score) => *score,
            None => self.me.members.get(id).and_then(|m| m.score),
        }
    }

    fn ignore(&self, why: &'static str) {
        self.me.ignore(self.state.role(), why);
    }
}

impl Membership {
    fn is_normal(&self) -> bool {
        matches!(self.stage, Stage::Following { .. })
    }
}
