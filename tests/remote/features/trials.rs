//! One trial for each feature: the feature works, or the trial returns the words of the refusal.
#![expect(
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    clippy::unnecessary_wraps,
    reason = "a trial that goes wrong otherwise than by a refusal fails the test"
)]

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

use actix::{
    Actor, Context, Handler, Message,
    clock::{sleep, timeout},
};
use actix_bully::{
    agent::{BullyBuilder, BullyHandle, Feature, Finding, LeaderGuard, StartError},
    leader::{
        LeaderProxy, Messages,
        fence::{FenceNumber, FencingGate},
        schedule::{Misfire, Tick},
    },
    operate::{Command, Operated, Order, Outcome, OutcomeVerdict},
    protocol::{About, VoterChange},
};
use bully_core::protocol::Preemption;
use futures::stream;
use serde::{Deserialize, Serialize};

use super::world::TrialWorld;
use crate::kit::id;

const SOON: Duration = Duration::from_secs(5);
const SECOND: Duration = Duration::from_secs(1);

/// The outcome of a trial: the feature works, or was refused in these words.
pub(super) type Tried = Result<(), String>;

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Fails the test if a feature works wrongly, because a wrong result is not a refusal.
fn check(holds: bool, what: impl std::fmt::Display) -> Tried {
    assert!(holds, "{what}");
    Ok(())
}

pub(super) async fn tried(feature: Feature, world: &TrialWorld) -> Tried {
    let (leader, follower) = (world.leader().clone(), world.follower().clone());
    match feature {
        Feature::Fence => with_guard(&leader, FenceNumber::of)
            .await?
            .map(drop)
            .map_err(said),
        Feature::Gate => gate(&leader).await,
        Feature::LeaderProxy => proxy(world, &follower).await,
        // The way of the messages is that of the proxy.
        Feature::Messages => Messages::of(&leader).map(drop).map_err(said),
        Feature::ScheduleSkip => schedule(world, Some(Misfire::Skip)).await,
        Feature::ScheduleLate => schedule(world, Some(Misfire::Late { within: SECOND })).await,
        Feature::ScheduleAtLeastOnce => schedule(world, Some(Misfire::AtLeastOnce)).await,
        Feature::ScheduleStream => schedule(world, None).await,
        Feature::Margin => accepted(world.builder("a").margin(5)),
        Feature::Preemption => accepted(world.builder("a").preemption(Preemption::Never)),
        Feature::ChangeVoters => {
            let changed = leader.remove_voter(follower.id().clone(), SOON).await;
            changed.map(drop).map_err(said)
        }
        Feature::Diagnosis => diagnosis(world),
        Feature::About => about(world, &leader).await,
        Feature::CtlVoters => {
            let change = VoterChange::Remove(follower.id().clone());
            done(&leader, Command::ChangeVoters(change)).await
        }
        Feature::CtlSchedulesReset => {
            schedule(world, Some(Misfire::Skip)).await?;
            let schedule = id("job");
            done(&follower, Command::ResetSchedule { schedule }).await
        }
        feature => panic!("{feature} has no trial"),
    }
}

/// Checks that the settings are accepted. The start may still fail because the name is taken, or because of the
/// store, which this trial does not set.
fn accepted(builder: BullyBuilder) -> Tried {
    match builder.start() {
        Ok(_) | Err(StartError::Join(_) | StartError::VolatileStore) => Ok(()),
        Err(refused) => Err(refused.to_string()),
    }
}

/// Lets the leader work, and returns the result of `make` for the guard of the work.
async fn with_guard<T: 'static>(
    leader: &BullyHandle,
    make: impl Fn(&LeaderGuard) -> T,
) -> Result<T, String> {
    let seen = Rc::new(RefCell::new(None));
    let led = leader.lead(|guard| {
        seen.replace(Some(make(&guard)));
        async move { guard.stepping_down().await }
    });
    timeout(SECOND, led).await.ok();
    seen.take()
        .ok_or_else(|| String::from("the work did not run"))
}

async fn gate(leader: &BullyHandle) -> Tried {
    let fence = with_guard(leader, FenceNumber::of).await?.map_err(said)?;
    let mut gate = FencingGate::default();
    gate.admit(fence).map_err(said)
}

struct IdleActor;

impl Actor for IdleActor {
    type Context = Context<Self>;
}

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "u32")]
struct Double(u32);

impl Handler<Double> for IdleActor {
    type Result = u32;
    fn handle(&mut self, asked: Double, _: &mut Context<Self>) -> u32 {
        asked.0 * 2
    }
}

async fn proxy(world: &TrialWorld, follower: &BullyHandle) -> Tried {
    let mut sends = None;
    for agent in &world.agents {
        let proxy = LeaderProxy::<Double>::builder(agent, "double");
        let proxy = proxy.deliver_to(IdleActor.start().recipient()).start();
        let proxy = proxy.map_err(said)?;
        if agent.id() == follower.id() {
            sends = Some(proxy);
        }
    }
    let answer = sends.unwrap().send(Double(21), SOON).await;
    check(answer.as_ref() == Ok(&42), format!("{answer:?}"))
}

async fn schedule(world: &TrialWorld, misfire: Option<Misfire>) -> Tried {
    world.begin_schedules();
    // Each agent writes the time of its schedules' clock into its row in the store of a lease, from its next round
    // on.
    sleep(SECOND * 61).await;
    let begun = Rc::<RefCell<BTreeMap<u64, u32>>>::default();
    for agent in &world.agents {
        let begun = Rc::clone(&begun);
        let work = move |tick: Tick| {
            *begun.borrow_mut().entry(tick.due.as_millis()).or_default() += 1;
            async {}
        };
        let name = "job";
        let started = if let Some(misfire) = misfire {
            agent.every(name, SECOND).misfire(misfire).start(work)
        } else {
            let times: Vec<_> = (1..60).map(|at| world.due_in(SECOND * at)).collect();
            agent.schedule_stream(name, stream::iter(times)).start(work)
        };
        started.map_err(said)?;
    }
    sleep(SECOND * 5).await;
    let begun = begun.borrow();
    check(
        begun.len() >= 3 && begun.values().all(|times| *times == 1),
        format!("{begun:?}"),
    )
}

fn diagnosis(world: &TrialWorld) -> Tried {
    for agent in &world.agents {
        let diagnosis = agent.diagnosis();
        let is_trouble = |found: &Finding| {
            matches!(
                found,
                Finding::LeaderUnreachable { .. }
                    | Finding::LeaderUnlinked { .. }
                    | Finding::NoneEligible
                    | Finding::FewVoters { .. }
                    | Finding::VotersAway { .. }
            )
        };
        check(!diagnosis.findings.iter().any(is_trouble), &diagnosis)?;
        check(diagnosis.leader.is_some(), &diagnosis)?;
    }
    Ok(())
}

/// Each member must read the text of the leader, and the leader's next text.
async fn about(world: &TrialWorld, leader: &BullyHandle) -> Tried {
    for text in [
        &format!("http://{}:8080", leader.id()),
        "http://10.0.0.3/ <b>über</b>",
    ] {
        let about = About::new(text).map_err(said)?;
        leader.set_about(Some(about.clone())).map_err(said)?;
        sleep(SECOND).await;
        for agent in &world.agents {
            let now = agent.current();
            check(
                now.leader_about.as_ref() == Some(&about),
                format!("{now:?}"),
            )?;
        }
    }
    Ok(())
}

async fn done(agent: &BullyHandle, command: Command) -> Tried {
    match Operated::new(agent).carry_out(Order::new(command)).await {
        Outcome::Refused(refusal) => Err(refusal.to_string()),
        outcome if outcome.verdict() == OutcomeVerdict::Done => Ok(()),
        outcome => Err(outcome.to_string()),
    }
}
