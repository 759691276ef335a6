//! The sentence of each finding, which contains the remedy.
//!
//! Decided here: the words. Not here: their parts (`words.rs`), and the condition of each finding (`mod.rs` names
//! the files).

use std::fmt;

use crate::elections::quorum::epoch::SpokenTerm;

use super::{
    Finding,
    recovery::recovery,
    words::{Advice, Article, Configured, Names, Span, Times, unlinked},
};

impl fmt::Display for Finding {
    #[expect(clippy::too_many_lines, reason = "a sentence for each finding")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended => f.write_str("the agent left or ended for good: start it again"),
            Self::Down => f.write_str(
                "the agent crashed: its restart policy decides whether it comes back; the log says why",
            ),
            Self::Hangs { silent_for } => write!(
                f,
                "the agent has done nothing for {}: its thread is blocked, or the host is overloaded; start it with start_in_arbiter on an arbiter of its own",
                Span(*silent_for)
            ),
            Self::StoreFails {
                reason,
                since,
                is_tried_again: true,
            } => write!(
                f,
                "the store has not taken a record for {}, and the agent tries again: {reason}: until then it receives and sends no messages",
                Span(*since)
            ),
            Self::StoreFails {
                reason,
                since,
                is_tried_again: false,
            } => write!(
                f,
                "the store failed {} ago: {reason}: mend the disk or the store's path",
                Span(*since)
            ),
            Self::OldRecord { by, term, heard } => write!(
                f,
                "this agent's record is an old copy, of term {}: {by} heard it in term {}; bring the newest record back, or raise the epoch, or give this agent a new name",
                SpokenTerm(*term),
                SpokenTerm(*heard)
            ),
            Self::OtherStore {
                voter,
                kept,
                found,
                is_earlier: true,
            } => write!(
                f,
                "{voter} is not heard with the store {found}, because a later process with its name was here, with the store {kept}: stop the process with the wrong store, and restart the other"
            ),
            Self::OtherStore {
                voter,
                kept,
                found,
                is_earlier: false,
            } => write!(
                f,
                "{voter} has voted with another store ({kept}, now {found}): raise the epoch, or give the new host a new name"
            ),
            Self::RegisterFails {
                store,
                reason,
                since,
            } => write!(
                f,
                "the lease in {store} has been out of reach for {}: {reason}",
                Span(*since)
            ),
            Self::RegisterTakesNoWrites {
                store,
                reason,
                since,
            } => write!(
                f,
                "{store} has answered reads and taken no writes for {}: {reason}",
                Span(*since)
            ),
            Self::RegisterListsNobody {
                store,
                reason,
                since,
            } => write!(
                f,
                "{store} has not listed the agents for {}: {reason}",
                Span(*since)
            ),
            Self::TwoOfOneName { other } => write!(
                f,
                "another process has an agent of this name on the same lease, incarnation {other}: give each agent a name of its own"
            ),
            Self::RegisterForeign { store, reason } => write!(
                f,
                "{store} holds something else where the lease of this group should be, and it is not overwritten: {reason}"
            ),
            Self::StoreIsSlow { since } => write!(
                f,
                "a record has been on its way to the store for {}: the disk is too slow or hangs",
                Span(*since)
            ),
            Self::ClockIsSlow => f.write_str(
                "the agent's clock is far slower than the timers: give it another clock",
            ),
            Self::RulesDiffer { node, theirs, mine } => write!(
                f,
                "{node} follows other rules in this group ({theirs}; here {mine}): give both hosts the same election, epoch and voters"
            ),
            Self::ListOlder { node, theirs, mine } => write!(
                f,
                "{node} has epoch {theirs} of the voters, and this agent has epoch {mine}, which is over: if this lasts, stop this agent, give it the voters and the epoch of {node}, and start it again"
            ),
            Self::OtherListOlder { node, theirs, mine } => write!(
                f,
                "{node} has epoch {theirs} of the voters, which is over, and this agent has epoch {mine}: if this lasts, no voter decided epoch {mine}, so stop {node}, give it the voters and the epoch of this agent, and start it again"
            ),
            Self::PeerNameTwice { node } => write!(
                f,
                "two processes have the name {node}, and this node refuses one of them: stop one, and restart the other if it stays refused, or give one a name of its own; if there is only one, its clock was set back: give it a file by `memory_file` (.remember(..))"
            ),
            Self::NodeNameTwice { node, error } => write!(
                f,
                "{node} reports that another process has this node's name: {error}: stop one, and restart the other if it stays refused, or give one a name of its own; if there is only this one, its clock was set back: give it a file by `memory_file` (.remember(..))"
            ),
            Self::AgentNameTwice { node, agent } => write!(
                f,
                "{node} has an agent {agent} too, which takes no part: give each agent a name of its own"
            ),
            Self::FewVoters {
                reachable,
                all,
                needed,
                missing,
            } => write!(
                f,
                "{reachable} of {all} voters can be reached, and {needed} are needed: start {} or mend the links",
                Names(missing)
            ),
            Self::PeerUnlinked {
                node,
                address,
                error,
                advice,
                since,
            } => unlinked(
                f,
                node,
                address.as_deref(),
                error.as_deref(),
                *advice,
                *since,
            ),
            Self::PeerLacksGroup { node, others } => {
                write!(f, "{node} is linked and has no agent of this group")?;
                if !others.is_empty() {
                    write!(f, ", but of {}", others.join(", "))?;
                }
                f.write_str(": start an agent of this group there, and compare the groups' names")
            }
            Self::TimingsDiffer { node, theirs, mine } => write!(
                f,
                "{node} has other timings ({theirs}; here {mine}), which is safe: give both hosts the same, so that leaders last and are replaced as expected"
            ),
            Self::ClockAhead { node } => write!(
                f,
                "{node} names terms that are later than the clock here allows, so its messages are dropped: compare the clocks of both hosts"
            ),
            Self::ClocksApart {
                voter,
                is_ahead,
                by,
            } => write!(
                f,
                "the wall clock of the voter {voter} is {} {} the clock here, and terms go by these clocks: set the wrong clock, then restart its agent, which reads the clock when it starts",
                Span(*by),
                if *is_ahead { "ahead of" } else { "behind" }
            ),
            Self::WorkFails {
                failures,
                since,
                reason,
                waits,
            } => {
                write!(
                    f,
                    "the work of this agent failed {} ago, and {} since its start: {reason}: ",
                    Span(*since),
                    Times(*failures)
                )?;
                if let Some(waits) = waits {
                    write!(f, "it steps down in {}, so that another agent tries; ", Span(*waits))?;
                }
                f.write_str("mend the work; the log has each failure")
            }
            Self::NothingRuns { has_run: true } => f.write_str(
                "this agent leads, and nothing runs: its work was stopped or aborted; start it again, or withdraw the agent's score",
            ),
            Self::NothingRuns { has_run: false } => f.write_str(
                "this agent leads, and nothing runs: the future of lead(..) was never polled; await it, or spawn it",
            ),
            Self::EchoTooLong {
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
            Self::RegisterIsSlow {
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
            Self::WriteTooLong {
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
            Self::RenewsLate {
                left,
                renewed,
                advice,
            } => write!(
                f,
                "this leader renews its lease late again and again, with {} of {} left, so a few more late answers end it: use {}Timings::measured(..), or find out what delays the voters' answers",
                Span(*left),
                Span(*renewed),
                Advice(*advice)
            ),
            Self::Stalls {
                stall,
                tolerated,
                preset,
                advice,
            } => write!(
                f,
                "this agent stood still for {}, and {} tolerates {}, so a leader loses its leadership: use {}Timings::measured(..), or give the agent an arbiter of its own and the host a spare core",
                Span(*stall),
                Configured(*preset),
                Span(*tolerated),
                Advice(*advice)
            ),
            Self::FasterFits {
                preset,
                detection,
                present,
            } => write!(
                f,
                "{preset} has twice the room that the network, the disk and this host needed recently: it notices a silent leader after {} instead of {}",
                Span(*detection),
                Span(*present)
            ),
            Self::Schedule(found) => found.fmt(f),
            Self::NoneEligible => f.write_str(
                "no voter that can be reached has a score: give one of them a score",
            ),
            Self::TieBroken => f.write_str(
                "this agent is not eligible, because the actor that it is tied to is gone: start that actor and tie the agent to it",
            ),
            Self::NoScore => f.write_str(
                "this agent is not eligible, because it has no score: give it one if it may lead",
            ),
            Self::Observer => f.write_str("this agent is an observer: it never votes or leads"),
            Self::CoolsDown { left } => write!(
                f,
                "this agent stepped down, and lets others go first for {}: set its score to end that",
                Span(*left)
            ),
            Self::Waits { left } => write!(
                f,
                "this agent holds an election in {}: until then agents of higher rank go first, and its earlier promise holds",
                Span(*left)
            ),
            Self::Recovers { left, .. } if !left.is_zero() => write!(
                f,
                "this agent has no record of its votes, and recovers: it abstains for {}, and asks the other voters for their memory",
                Span(*left)
            ),
            Self::Recovers {
                answers,
                recover,
                needed,
                remember,
                silent,
                restarts,
                ..
            } => recovery(f, *answers, *recover, *needed, remember, silent, *restarts),
            Self::Starting => f.write_str(
                "this agent has not begun yet: its arbiter is busy, or was just started",
            ),
            Self::NotAsked => f.write_str(
                "these timings have no failure detector, so an agent has to be asked for an election: call campaign()",
            ),
            Self::ElectionUnderWay { role } => {
                write!(f, "an election is under way, this agent is {}", Article(*role))
            }
            Self::VotersAway { missing } => {
                write!(f, "voters that cannot be reached: {}", Names(missing))
            }
            Self::EvenVoters { all } => write!(
                f,
                "there are {all} voters, and this even number tolerates no more failures than {}: add a voter, or remove one",
                all.saturating_sub(1)
            ),
            Self::Learner { epoch } => write!(
                f,
                "this agent is a learner, because the voters of epoch {epoch} do not name it: it follows until it is added to them"
            ),
            Self::VotersChange {
                epoch: Some(epoch),
                is_asked_here,
                since,
                ..
            } => write!(
                f,
                "a change of the voters, to epoch {epoch}, has been under way for {}, and {} agent was asked for it: it is decided once a quorum of the present voters can be reached",
                Span(*since),
                if *is_asked_here { "this" } else { "another" }
            ),
            Self::VotersChange {
                epoch: None,
                since,
                refused: Some(why),
                ..
            } => write!(
                f,
                "this agent was asked to change the voters {} ago, and asks again, because the leader answers: {why}",
                Span(*since)
            ),
            Self::VotersChange {
                epoch: None, since, ..
            } => write!(
                f,
                "this agent was asked to change the voters {} ago, and the leader has not answered: it is asked again until there is one",
                Span(*since)
            ),
            Self::ConfigurationOlder { epoch, voters } => write!(
                f,
                "the configuration names other voters than the list of epoch {epoch}, which is in force: write {} into it, and leave its epoch as it is",
                Names(voters)
            ),
            Self::LeaderUnreachable { leader } => write!(
                f,
                "the leader {leader} cannot be reached: another agent is elected if it stays silent"
            ),
            Self::LeaderUnlinked { leader, store } => write!(
                f,
                "{leader} holds the lease in {store}, and no link reaches it: proxies and `Messages` wait until the link is mended"
            ),
            Self::HoldsLease { leader, store } => {
                write!(f, "{leader} leads, because it holds the lease in {store}")
            }
            Self::Drains => f.write_str("the leader hands over as soon as its work has ended"),
            Self::Outranked {
                leader,
                by,
                because,
            } => write!(f, "{by} ranks above the leader {leader}, {because}"),
            Self::HighestLeads { leader } => write!(
                f,
                "{leader} leads, because it ranks highest of the eligible voters that can be reached"
            ),
        }
    }
}
