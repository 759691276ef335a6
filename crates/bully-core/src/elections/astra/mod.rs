//! The bully election by the rules of the ASTRA agent `BullyElection`, repaired.
//!
//! ASTRA is a language for agents that act on beliefs. Its published bully election has twelve rules and twelve
//! faults (`tests/elections/traces/` shows each fault beside its repair). This machine keeps the rules and the
//! words of ASTRA: an agent is *holding an election*, it sleeps until the *2-second deadline*, and it believes
//! `failed_election(X)` of agents that rank below it. The machine has no heartbeats and compares no terms. Only
//! ranks decide, and some agent has to start the election.
//!
//! **What you can rely on.** While the deadline exceeds twice the longest delay and no agent pauses, at most one agent
//! leads at a time. Where scores change, the messages of a link have to arrive in order. When no message is on its way
//! any more, every agent follows the highest-ranked agent, provided that some agent got the command to campaign. A
//! leader that hangs may consider itself leader without a limit in time, because no agent waits for its heartbeats. The
//! default rules ([`bully`](super::bully)) notice such a leader, and need no command to start.
//!
//! Scores may change more often than an election takes. An outranked leader continues to lead until the better agent
//! announces itself. The better agent leads when it has received the message that the former leader stopped. So the
//! group has no leader for one message delay, or for one more deadline if the former leader does not answer.
//!
//! No setting gives the original rules of ASTRA. By those rules, an agent that holds an election forgets its leader,
//! and a leader that is asked by a weaker agent holds an election itself. So a group may have no leader for the
//! deadline T after each change of a score.
//!
//! # One election, and one failover
//! ```text
//!      a (score 1)        b (score 2)        c (score 3)
//!      │ campaign         │                  │
//!      ├─ Elect ─────────▶├                  │          a is holding an election, and asks all
//!      ├─ Elect ──────────┼─────────────────▶│
//!      │◀───────────── Ok ┤                  │          b and c rank above a, and hold elections
//!      │                  ├─ Elect ─────────▶│          b believes failed_election(a): a is not asked
//!      │◀─────────────────┼────────────── Ok ┤          a and b defer
//!      │                  │◀───────────── Ok ┤
//!      │                  │◀────────── Elect ┤          c asks b; b ranks below, and is silent
//!      │                  │                  │          ... 2 seconds: no agent has told c to stop
//!      │◀─────────────────┼───────── Elected ┤          c leads
//!      │                  │◀──────── Elected ┤
//!      │                  │                  ✗          c crashes, and its end is known
//!      ├─ Elect ─────────▶│                             both hold an election
//!      │◀─────────── Elect ┤
//!      │◀───────────── Ok ┤                             a defers; b sits the deadline out
//!      │◀──────── Elected ┤                             b leads
//! ```
//! The end of a leader is known if the leader was in the same process as other agents, or if a bridge received a report
//! of the end. Otherwise no agent notices the end until an agent campaigns.
//!
//! # ASTRA's rules, and their repair
//! | rule | as the ASTRA agent has it | here | decided in |
//! |---|---|---|---|
//! | `hold-election` | `+!bully_election() : score(S) & participants(L)`: `+holding("election")`, drop one `leader(X)`, send `elect(me, S)` to all with `receiver ~= me \| failed_election(receiver)` | asks every other voter that may be up and is *not* believed `failed_election`; has no leader meanwhile | `holding.rs` |
//! | `win-at-deadline` | `system.sleep(2000)`; if still `holding("election")`: send `elected(me)` to all; drop all `failed_election(X)` | the deadline belongs to one election, so an old deadline that wakes late wins nothing; the winner no longer holds an election, and follows itself even if it was not among the participants | `holding.rs`, `leader.rs` |
//! | `answer-from-above` | `elect(name, S)`, if `S < my_score`: `+failed_election(name)`, send `result("ok")`; `!!bully_election()` if not holding | equal scores are decided by the name; an agent that holds an election or defers does not begin another; a leader announces itself to the asker | `follower.rs`, `holding.rs`, `deferring.rs`, `leader.rs` |
//! | `give-way-from-below` | – | an agent that ranks below the asker is silent; if it holds an election, it stops and defers | `holding.rs` |
//! | `defer-on-ok` | `result("ok")` while `holding("election")`: `-holding("election")` | `Ok` counts for the election that it answers. Its sender leaves `failed_election`, and so does an asker from above. If the announcement does not come within 2.5 deadlines, the agent starts another election | `holding.rs`, `deferring.rs` |
//! | `follow-elected` | `elected(N)` from `N`: `+leader(N)` | replaces the leader; but if the announcer ranks below this agent, or below its leader, the agent asks the voters again and does not follow it | `follower.rs`, `leader.rs` |
//! | `replace-ended` | – | if the leader ends, the agent holds an election; likewise if the agent to which it defers ends | `follower.rs`, `deferring.rs` |
//! | `follow-score` | – | an agent whose score rises above its leader's holds an election; a leader whose score falls announces the new score; the deadline of an election stays | `machine.rs`, `leader.rs`, `holding.rs` |
//! | `lead-on` | – | a leader that a better agent asks answers it with an announcement, and leads on until the better agent announces itself; so does a winner that has announced itself | `leader.rs`, `announced.rs` |
//! | `lead-after-the-former` | – | a winner that knows of a leader announces itself, and leads when that leader says `Resign` or has ended, or after one more deadline; an agent that follows another leader by now passes the `Resign` on | `announced.rs`, `follower.rs` |
//! | `hand-over` | – | `Draining`, `Drained`, `Resign`; the successor announces itself at once, and the former leader cools down: it ranks lowest meanwhile | `leader.rs`, `follower.rs` |
//!
//! # Role × input
//! − is a traced no-op. "Above" and "below" compare the sender's rank with that of this agent. An agent that cannot
//! be elected, or cools down (it has stepped down a short time ago), ranks below all others.
//!
//! | input | idle | following | holding an election | deferring | announced | leading |
//! |---|---|---|---|---|---|---|
//! | `Elect` from below | `Ok`, hold an election | `Ok`, hold an election | `Ok`, `failed_election` | `Ok`, `failed_election` | `Ok` and `Elected` to it | `Ok` and `Elected` to it |
//! | `Elect` from above | − | − | defer | − | `Elected` to it | `Elected` to it |
//! | `Ok` to this election | − | − | defer | − | − | − |
//! | `Yield` | − | − | − | − | − | − |
//! | `Elected`, `Heartbeat` from below | hold an election | hold an election | knows of a leader | − | `Elected` to it | `Elected` to all |
//! | … that answers another election | − | − | knows of a leader | − | − | − |
//! | … from above | follow | follow, or hold an election if it is weaker than the leader and no answer of an earlier term | follow | follow | follow | stop leading, `Resign` to it, follow |
//! | `Resign` | lead if named | lead if named, else await the slot; of another leader, if named: `Resign` to the present leader | lead if named; the leader's, for no agent: wait no longer for that leader | lead if named | lead if named, or if it is the former leader's for no agent | − |
//! | an end in `Members` | − | the leader's: hold an election | − | the awaited agent's: hold an election | the former leader's: lead | − |
//! | `TimedOut` | `Campaign`: hold an election | − | `Deadline`: lead, or announce itself | `Victory`: hold an election | `Deadline`: lead | `Drain`: resign |
//! | `Campaign` | hold an election | hold an election | − | − | − | `Elected` to all |
//! | `SetScore` | − | above the leader: hold an election | −; `None`: idle | as holding | `Elected` to all; `None`: `Resign`, idle | lower: `Elected` to all; `None`: drain |
//! | `StepDown`, `Drained` | − | − | − | − | − | drain; resign |
//!
//! An agent that cannot ask (it is not eligible, or cools down) decides by the term if two leaders announce
//! themselves. Before `Start` every input is ignored. The driver drops a message of an agent that is not a member, or
//! of an incarnation that has ended.

mod announced;
mod change;
mod config;
mod deferring;
mod follower;
mod holding;
mod leader;
mod machine;

#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc, time::Duration};

pub use config::AstraConfig;

use machine::State;

use crate::elections::{
    message::{BullyMessage, Elect, Elected, Heartbeat, Ok, Resign},
    step,
    timer::BullyTimer,
    vote::Vote,
};
use crate::protocol::{
    AgentId, EffectsOf, Election, Identity, InputOf, Leader, LeaderEnd, Leaders, MemberKind,
    MembershipError, NotifyOrder, Prospects, Requirements, Role, Rules, Time, Timings, View,
};

type Step<'a> = step::StepOf<'a, AstraConfig>;

/// The name of the default rules. Both sets of rules use the same messages, so a group may mix hosts of both.
const RULES: Rules = Rules::new("available");

/// The part of one agent in an ASTRA election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Astra {
    core: step::Core<AstraConfig>,
    /// `None` before the start.
    state: Option<State>,
}

impl Election for Astra {
    type Message = BullyMessage;
    type Timer = BullyTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = Vote;
    type Config = Arc<AstraConfig>;

    fn new(identity: Identity, config: &Self::Config, _durable: Option<Vote>) -> Self {
        Self {
            core: step::Core::new(identity, config),
            state: None,
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        let mut step = Step {
            now,
            role: role(self.state.as_ref()),
            core: &mut self.core,
            out,
        };
        machine::handle(&mut self.state, input, &mut step);
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements {
            // A leader leads until a higher-ranked agent stops it, and the two sides of a partition do not hear each
            // other.
            leaders: Leaders::PerSide,
            notify: NotifyOrder::HighestRankFirst,
            ..Requirements::new(RULES)
        })
    }

    fn hold_back(&mut self, span: Duration) {
        self.core.cooldown.hold_back(span);
    }

    fn prospects(&self) -> Prospects {
        Prospects {
            cooldown_until: self.core.cooldown.until(),
            ..Prospects::default()
        }
    }

    fn last_end(&self) -> Option<(&Leader, LeaderEnd)> {
        self.core.me.last_end()
    }

    fn timings(config: &Self::Config) -> Option<&Timings> {
        Some(&config.timings)
    }

    fn view(&self, _now: Time) -> View {
        let view = View::new(role(self.state.as_ref()), self.core.highest_term);
        match &self.state {
            // No agent waits for heartbeats, so nothing limits the time in which this agent considers itself leader.
            Some(State::Leading(tenure)) => {
                view.leads(self.core.me.as_leader(tenure.term), Time::MAX)
            }
            Some(State::Following(following)) => view.follows(following.leader.clone()),
            Some(
                State::Idle(_)
                | State::HoldingElection(_)
                | State::Deferring(_)
                | State::Announced(_),
            )
            | None => view,
        }
    }
}

fn role(state: Option<&State>) -> Role {
    state.map_or(Role::Follower, State::role)
}
