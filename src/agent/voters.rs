//! The voters of an agent's group, and how they change while the group runs.
//!
//! Decided here: for how long a change is asked for, and the answer to its caller. The election decides who may vote,
//! and how a change is made ([`epoch`](crate::elections::quorum::epoch)). An agent only passes the request for a change
//! on to the leader, and a repeated request does no harm. So the agent repeats a request that got no answer, because
//! the leader crashed or there is no leader.

use std::{sync::Arc, time::Duration};

use actix::{AsyncContext, Context};
use tokio::sync::oneshot;
use tracing::{error, info, warn};

use crate::{
    agent::any::AnyBully,
    protocol::{
        AgentId, ChangeError, Changed, Decree, Election, Input, Leaders, MemberKind, NewVoter,
        Requirements, Time, VoterChange, VotersEvent,
    },
};

use super::{
    Agent, ElectionHandle, Finding, Lifecycle, message::AgentCommand, shared::SharedState,
    vitals::Vitals, wait,
};

/// Time without an answer after which the change is asked for once more. It is longer than a change takes when nothing
/// fails, and short enough for a user who waits.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// The answer to a caller's change.
pub(super) type ChangeOutcome = Result<Changed, ChangeError>;

/// A change that this agent was asked for.
#[derive(Debug)]
pub(super) struct AskedChange {
    change: Box<VoterChange>,
    answer: oneshot::Sender<ChangeOutcome>,
}

/// The voters of a group, as its agents in this process know them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voters {
    /// The epoch: the configured number, plus one for each change since then.
    pub epoch: u64,
    /// The names of the voters, in order.
    pub ids: Arc<[AgentId]>,
}

/// Reason why the voters were not changed, or why the result is not known.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VotersError {
    /// The leader, or the agent that was asked, refuses the change. Nothing was changed.
    #[error("the change is refused: {0}")]
    Refused(#[from] ChangeError),
    /// There was no answer within the time limit. The change may still be made later.
    #[error(
        "no answer within {within:?}: the change may still come, so look at `voters()`, and ask again once there is a leader"
    )]
    TimedOut {
        /// The time limit of the call.
        within: Duration,
    },
    /// The group has no voters to change.
    #[error(
        "this group has no list of voters that could change: only agents with `.quorum([..])` have one (in a configuration: `quorum.voters`)"
    )]
    NoVoters,
    /// The agent left or ended for good.
    #[error("the agent has ended: ask another agent of the group")]
    Ended,
    /// The call was outside of a runtime with timers; nothing was asked.
    #[error("there is no runtime with timers here: change the voters inside of an actix System")]
    NoRuntime,
}

debug_is_text!(VotersError);

impl ElectionHandle<AnyBully> {
    /// Returns the voters of the agent's group; `None` for a group without a list of voters.
    pub fn voters(&self) -> Option<Voters> {
        let requirements = self.shared.requirements()?;
        let (epoch, ids) = (requirements.epoch, requirements.names?);
        Some(Voters { epoch, ids })
    }

    /// Makes a learner a voter while the group runs: the group gets one more voter. Any agent of the group takes the
    /// call, and passes the request on to the leader.
    ///
    /// The leader's work ends first, as for a step down. Then a quorum of the voters decides the next list, and the
    /// voters of that list elect a leader. There is no leader for about as long as an election takes. The list outlasts
    /// restarts: an agent that starts with an older list learns the newer list.
    ///
    /// For a voter on a host that the other hosts do not know yet, give the [contact](NewVoter::contact). The leader's
    /// bridges connect to it, as to a peer that may only observe. Once a message of the learner has arrived, all
    /// bridges of the group connect to it. If no message of a learner with a contact arrives, the call waits until
    /// `within` has passed. For a learner without a contact from which no message has arrived, the change is refused
    /// with [`ChangeError::NotSeen`] at once.
    ///
    /// # Errors
    /// [`VotersError`]. After [`VotersError::TimedOut`] and [`VotersError::Ended`] the change may still be made.
    pub async fn add_voter(&self, new: NewVoter, within: Duration) -> Result<Changed, VotersError> {
        self.change_voters(VoterChange::Add(new), within).await
    }

    /// Removes a voter from the list while the group runs. See [`add_voter`](Self::add_voter).
    ///
    /// The removed agent may run on, as a learner, if the other nodes have its node among their peers. A node that the
    /// other nodes know only by the list, from a [contact](NewVoter::contact), loses its links when its agent leaves
    /// the list: stop that node, or add it to the peers of the other nodes before the removal.
    ///
    /// # Errors
    /// Like [`add_voter`](Self::add_voter).
    pub async fn remove_voter(
        &self,
        old: AgentId,
        within: Duration,
    ) -> Result<Changed, VotersError> {
        self.change_voters(VoterChange::Remove(old), within).await
    }

    /// Replaces a voter by a learner while the group runs, for instance a voter whose host is lost. Both changes are
    /// one decision. The new voter needs another name, because votes of the old holder of the name may still be in
    /// flight. See [`add_voter`](Self::add_voter), and for the replaced voter [`remove_voter`](Self::remove_voter).
    ///
    /// # Errors
    /// Like [`add_voter`](Self::add_voter).
    pub async fn replace_voter(
        &self,
        old: AgentId,
        new: NewVoter,
        within: Duration,
    ) -> Result<Changed, VotersError> {
        let change = VoterChange::Replace { old, new };
        self.change_voters(change, within).await
    }
}

impl<E: Election> ElectionHandle<E> {
    /// Asks for a change again and again until it is made or refused, or until `within` has passed.
    pub(crate) async fn change_voters(
        &self,
        change: VoterChange,
        within: Duration,
    ) -> Result<Changed, VotersError> {
        let requirements = self.shared.requirements();
        if requirements.is_none_or(|shared| shared.names.is_none()) {
            // A group whose last agent has ended has no rules any more, although it may have had voters.
            let has_ended = self.current().lifecycle == Lifecycle::Ended;
            return Err(if has_ended {
                VotersError::Ended
            } else {
                VotersError::NoVoters
            });
        }
        let _waits = Waits::begin(&self.shared);
        // The last refusal, if asking again may succeed.
        let mut refused = None;
        let asked = async {
            loop {
                refused = None;
                let (answer, answered) = oneshot::channel();
                let command = AgentCommand::ChangeVoters {
                    change: Box::new(change.clone()),
                    answer,
                };
                self.command(command).map_err(|_| VotersError::Ended)?;
                match wait::within(ASK_AGAIN, answered).await {
                    Ok(Some(Ok(Err(reason)))) if may_pass(&change, &reason) => {
                        self.shared.vitals().note_refused_change(&reason);
                        refused = Some(reason);
                    }
                    Ok(Some(Ok(outcome))) => return outcome.map_err(VotersError::Refused),
                    // The agent crashed, or another caller asks for the same change. The pause gives the agent time to
                    // come back.
                    Ok(Some(Err(_))) => {}
                    Ok(None) => continue, // asked again at once: this wait was the pause
                    Err(wait::NoTimers) => return Err(VotersError::NoRuntime),
                }
                let Ok(pause) = wait::timer(ASK_AGAIN) else {
                    return Err(VotersError::NoRuntime);
                };
                pause.await;
            }
        };
        let outcome = wait::within(within, asked).await;
        match (outcome, refused) {
            (Ok(Some(outcome)), _) => outcome,
            (Ok(None), Some(reason)) => Err(VotersError::Refused(reason)),
            (Ok(None), None) => Err(VotersError::TimedOut { within }),
            (Err(wait::NoTimers), _) => Err(VotersError::NoRuntime),
        }
    }
}

/// Callers of an agent that wait for a change of the voters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AskedSigns {
    /// Time since which the callers wait.
    pub(super) since: Time,
    pub(super) callers: u32,
    /// The last refusal of the leader, if asking again may succeed.
    pub(super) refused: Option<ChangeError>,
}

impl Vitals {
    /// Notes that a caller of this agent waits for a change of the voters.
    pub(super) fn note_ask(&self, now: Time) {
        let mut signs = self.signs();
        let begun = || AskedSigns {
            since: now,
            ..AskedSigns::default()
        };
        let asked = signs.asked.get_or_insert_with(|| Box::new(begun()));
        asked.callers = asked.callers.saturating_add(1);
    }

    /// Notes that a caller no longer waits for a change of the voters.
    pub(super) fn note_answer(&self) {
        let mut signs = self.signs();
        signs.asked.take_if(|asked| {
            asked.callers = asked.callers.saturating_sub(1);
            asked.callers == 0
        });
    }

    /// Notes that the leader refused the change, for which this agent asks again.
    pub(super) fn note_refused_change(&self, why: &ChangeError) {
        if let Some(asked) = &mut self.signs().asked {
            asked.refused = Some(why.clone());
        }
    }
}

/// A caller that waits for a change of the voters. While this value exists, a diagnosis of the agent shows that a
/// caller waits.
struct Waits<'a>(&'a SharedState);

impl<'a> Waits<'a> {
    fn begin(shared: &'a SharedState) -> Self {
        shared.vitals().note_ask(shared.now());
        Self(shared)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.vitals().note_answer();
    }
}

impl<E: Election> Agent<E> {
    /// Handles a user's request for a change of the voters. While the caller of another change waits, the request is
    /// refused.
    pub(super) fn ask_change(
        &mut self,
        change: Box<VoterChange>,
        answer: oneshot::Sender<ChangeOutcome>,
        ctx: &mut Context<Self>,
    ) {
        let is_other = |asked: &AskedChange| asked.change != change && !asked.answer.is_closed();
        let seldom = self.seldom.as_ref();
        let before = seldom.and_then(|seldom| seldom.asked_change.as_ref());
        if before.is_some_and(is_other) {
            answer.send(Err(ChangeError::UnderWay)).ok();
            return;
        }
        let asked = AskedChange {
            change: change.clone(),
            answer,
        };
        self.with_seldom(|seldom| seldom.asked_change = Some(asked));
        self.step(Input::ChangeVoters(change), ctx);
    }

    /// Handles an event of the election about the voters.
    pub(super) fn on_voters(&mut self, event: &VotersEvent) {
        match event {
            VotersEvent::Installed(decree) => {
                // Reports about another store, or an old record, belong to the former epoch.
                self.shared.vitals().forget_records();
                self.enter_epoch(decree);
            }
            VotersEvent::Wanted(new) => self.spec.group.want_voter(new),
            VotersEvent::Answered { change, outcome } => {
                let is_meant = |asked: &mut AskedChange| *asked.change == *change;
                let asked = self.with_seldom(|seldom| seldom.asked_change.take_if(is_meant));
                if let Some(asked) = asked {
                    asked.answer.send(outcome.clone()).ok();
                }
            }
            VotersEvent::OtherStore { .. } => {
                warn!("{event}");
                self.shared.vitals().note_record(event);
            }
            // The agent ends with this step (`carry_out`).
            VotersEvent::OldRecord { .. } => {
                error!("{event}: the agent stops");
                self.shared.vitals().note_record(event);
            }
        }
    }

    /// Moves the group to the epoch of the list in `decree`. The carriers of the group to other hosts get the new
    /// contacts.
    fn enter_epoch(&self, decree: &Decree) {
        let (group, id) = (&self.spec.group, &self.spec.id);
        let Some(requirements) = group.requirements() else {
            return;
        };
        let next = requirements.after(decree);
        let kind = member_kind(&next, id, self.spec.kind);
        match group.advance(id, self.incarnation, kind, next) {
            Ok(()) => info!(epoch = decree.epoch, voters = %decree, "voters changed"),
            Err(reason) => warn!(%reason, "voters changed, but the group keeps the former list"),
        }
        group.note_voters(decree);
        self.shared.sample_now(); // otherwise the gauges would show the former list for some seconds
    }
}

impl<E: Election> Agent<E> {
    /// Schedules a later warning of agents with another epoch. Two configured lists of voters with different epochs may
    /// have a leader each, and then no agent warns that it has no leader. So each leader looks for the other list once,
    /// a while after its election.
    pub(super) fn look_at_epochs_later(&self, ctx: &mut Context<Self>) {
        if self.spec.leaders == Leaders::PerTerm {
            ctx.run_later(LEARNED, |agent, _| agent.warn_of_epochs());
        }
    }

    fn warn_of_epochs(&self) {
        let findings = self.shared.diagnosis().findings;
        let apart = findings.iter().filter(|found| {
            matches!(
                found,
                Finding::ListOlder { .. } | Finding::OtherListOlder { .. }
            )
        });
        self.shared.span().in_scope(|| {
            for found in apart {
                warn!("{found}");
            }
        });
    }
}

/// Time from a leader's election until it warns of agents with another epoch. By then a connected agent has heard of an
/// epoch that voters decided; no agent sends an epoch that was configured.
const LEARNED: Duration = Duration::from_secs(10);

/// Returns whether it is worth asking again for a change that was refused for `reason`: the leader has no link yet to a
/// new voter whose contact is known. The leader's host then connects to that contact.
fn may_pass(change: &VoterChange, reason: &ChangeError) -> bool {
    let (new, _) = change.parts();
    let has_contact = new.is_some_and(|new| new.contact.is_some());
    has_contact && matches!(reason, ChangeError::NotSeen { .. })
}

/// Returns the kind of member that an agent is. An agent with a store that is not in the list of voters is a learner,
/// and a learner only follows.
pub(crate) fn member_kind(
    requirements: &Requirements,
    id: &AgentId,
    configured: MemberKind,
) -> MemberKind {
    match &requirements.names {
        Some(names) if !names.contains(id) => MemberKind::Observer,
        Some(_) | None => configured,
    }
}
