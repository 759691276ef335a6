//! Changes of the voters while the group runs, as an operator asks for them.
//!
//! Decided here: the changes for which a sensible operator would ask, and that the operator asks again while the
//! group is not ready. The invariants of the resulting lists are in `lists.rs`.

use std::time::Duration;

use actix_bully::{
    agent::{BullyHandle, VotersError},
    protocol::{AgentId, ChangeError, Changed, Contact, NewVoter, VoterChange},
};
use fastrand::Rng;
use tokio::time::{Instant, sleep};
use turmoil::Sim;

use crate::{
    begin::PORT,
    faults::{Down, Faults, Hit},
    host::Order,
    ledger::Ledger,
    lists::{LEAST, Lists},
    member::Member,
    members::Members,
    setting::NAMES,
};

impl Faults {
    /// Asks an agent for other voters, or loses the agent for good, with its host or without it.
    pub(crate) fn change_voters(
        &mut self,
        sim: &mut Sim<'_>,
        rng: &mut Rng,
        hit: &Hit,
        members: &Members,
    ) {
        let process = self.process(hit.k);
        let (Some(member), Some(process)) = (&hit.member, process) else {
            return;
        };
        let there = members.iter().filter(|member| !member.is_lost.get());
        let there: Vec<_> = there.map(|m| (m.id.clone(), m.home.get())).collect();
        let (now, is_lossy) = (sim.elapsed(), self.setting.plan.is_lossy);
        let ledger = self.setting.ledger.clone();
        let wish = ledger.lists(|lists| draw(rng, member, &there, is_lossy, now, lists));
        match wish {
            Some(Wish::Change(change)) => {
                let within = rng.u64(500..=LONGEST_ASK_MS);
                let within = Duration::from_millis(within);
                process.order(Order::ChangeVoters(member.index, change, within));
            }
            Some(Wish::Lose) => {
                member.is_lost.set(true);
                match rng.u8(..3) {
                    0 => self.end(sim, hit.k, Down::Off),
                    1 => self.end(sim, hit.k, Down::Killed),
                    _ => {
                        member.leaves();
                        process.order(Order::Leave(member.index));
                    }
                }
            }
            None => {}
        }
    }
}

/// The next request of the operator, or the next loss.
pub(crate) enum Wish {
    Change(VoterChange),
    /// The voter is lost, together with its disk.
    Lose,
}

/// Draws the next request for the agent `hit`. `there` are all present agents with their hosts. Returns `None` if no
/// change is possible.
pub(crate) fn draw(
    rng: &mut Rng,
    hit: &Member,
    there: &[(AgentId, usize)],
    is_lossy: bool,
    now: Duration,
    lists: &mut Lists,
) -> Option<Wish> {
    if is_lossy && rng.u8(..4) == 0 && lists.can_lose(&hit.id, now) {
        lists.lost.insert(hit.id.clone(), now);
        return Some(Wish::Lose);
    }
    let (_, latest) = lists.latest();
    let is_new = |(id, _): &&(AgentId, usize)| !latest.contains(id);
    let new: Vec<_> = there.iter().filter(is_new).collect();
    let gone = latest.iter().find(|id| lists.lost.contains_key(*id));
    // An operator first thinks of a voter that is lost.
    let old = gone.filter(|_| rng.u8(..4) > 0);
    let old = old.or_else(|| pick(rng, latest)).cloned();
    let new = pick(rng, &new).map(|(id, home)| NewVoter {
        id: id.clone(),
        contact: rng.bool().then(|| Contact {
            node: NAMES[*home].to_owned(),
            address: format!("{}:{PORT}", NAMES[*home]),
        }),
    });
    let least = if is_lossy { LEAST } else { 1 };
    let change = match (rng.u8(..4), new, old) {
        (0, Some(new), _) => VoterChange::Add(new),
        (1.., Some(new), Some(old)) => VoterChange::Replace { old, new },
        (_, None, Some(old)) if lists.can_shrink(least) => VoterChange::Remove(old),
        _ => return None,
    };
    // An occasional removal is enough: little can happen in a short list.
    let change = match change {
        VoterChange::Replace { old, .. } if rng.u8(..4) == 0 && lists.can_shrink(least) => {
            VoterChange::Remove(old)
        }
        other => other,
    };
    if let VoterChange::Remove(old) = &change {
        lists.to_go.insert(old.clone());
    }
    if let VoterChange::Add(new) | VoterChange::Replace { new, .. } = &change {
        lists.to_go.remove(&new.id);
    }
    Some(Wish::Change(change))
}

fn pick<'a, T>(rng: &mut Rng, all: &'a [T]) -> Option<&'a T> {
    match all.len() {
        0 => None,
        n => all.get(rng.usize(..n)),
    }
}

/// Asks an agent for a change, and asks again while the group is not ready, as an operator would.
pub(crate) async fn ask(agent: BullyHandle, change: VoterChange, within: Duration, ledger: Ledger) {
    let _waiting = Waiting::new(&ledger);
    let until = Instant::now() + within;
    loop {
        let rest = until.saturating_duration_since(Instant::now());
        let asked = match change.clone() {
            VoterChange::Add(new) => agent.add_voter(new, rest).await,
            VoterChange::Remove(old) => agent.remove_voter(old, rest).await,
            VoterChange::Replace { old, new } => agent.replace_voter(old, new, rest).await,
        };
        let again = match asked {
            Ok(changed) => return is_made(&agent, &change, &changed, &ledger),
            Err(VotersError::Refused(refused)) => match refused {
                ChangeError::NotSeen { .. } => "a new voter was not seen",
                ChangeError::UnderWay => "a change was under way",
                ChangeError::NoQuorum { .. } => "a removal would have left no quorum",
                ChangeError::NotAVoter { .. }
                | ChangeError::AlreadyAVoter { .. }
                | ChangeError::LastVoter => return ledger.count("a change came too late"),
                other => return ledger.breaks(format!("`{change}` was refused: {other}")),
            },
            Err(VotersError::TimedOut { .. }) => return ledger.count("a change had no answer"),
            Err(VotersError::Ended) => return ledger.count("the one that was asked ended"),
            Err(other) => return ledger.breaks(format!("`{change}` failed: {other}")),
        };
        ledger.count(again);
        if until <= Instant::now() + AGAIN {
            return;
        }
        sleep(AGAIN).await;
    }
}

/// Checks that the answer to a change is true, and that the agent that answered knows the new list.
fn is_made(agent: &BullyHandle, change: &VoterChange, changed: &Changed, ledger: &Ledger) {
    let (new, old) = change.parts();
    let has = |id: &AgentId| changed.voters.contains(id);
    // The agent may have left since then, and an agent that has left knows no list.
    let knows = agent.voters().map(|voters| voters.epoch);
    let is_late = knows.is_some_and(|epoch| epoch < changed.epoch);
    if new.is_some_and(|new| !has(&new.id)) || old.is_some_and(has) || is_late {
        ledger.breaks(format!(
            "`{change}` was answered with {changed:?} at {knows:?}"
        ));
    }
    let told = ledger.lists(|lists| lists.knows(agent.id(), changed.epoch, &changed.voters));
    if let Err(broken) = told {
        ledger.breaks(broken);
    }
    ledger.count(match change {
        _ if changed.already => "a change was made before",
        VoterChange::Add(_) => ADDED,
        VoterChange::Remove(_) => REMOVED,
        VoterChange::Replace { .. } => REPLACED,
    });
}

/// A caller that waits for an answer. It is dropped with the answer or with the end of its process.
struct Waiting(Ledger);

impl Waiting {
    fn new(ledger: &Ledger) -> Self {
        ledger.lists(|lists| lists.waiting += 1);
        Self(ledger.clone())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.lists(|lists| lists.waiting -= 1);
    }
}

/// Names of counts: changes that were made, and agents that took the places of lost agents.
pub const ADDED: &str = "a voter was added";
pub const REMOVED: &str = "a voter was removed";
pub const REPLACED: &str = "a voter was replaced";
pub const NEW_NAME: &str = "an agent took a lost one's place";

/// Time between two requests of one caller.
const AGAIN: Duration = Duration::from_millis(300);

/// Longest time that a caller waits.
pub const LONGEST_ASK: Duration = Duration::from_millis(LONGEST_ASK_MS);
const LONGEST_ASK_MS: u64 = 4_000;
