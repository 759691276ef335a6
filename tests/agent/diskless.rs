//! Voters without a disk: the builder's refusals, the clock that a start reads, and the tokens of leaders.

use std::{cell::RefCell, panic::resume_unwind, sync::Arc, time::Duration};

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyBuilder, BullyHandle, ConditionalFence, Feature, Lack, StartError},
    clock::WallTime,
    elections::quorum::QuorumConfig,
    leader::fence::{FenceNumber, FencingGate, NoFence},
    protocol::Timings,
    store::MemoryStore,
    testkit::{VirtualClock, VirtualWallClock},
};
use bully_core::elections::quorum::Diskless;

use tracing::Level;

use crate::{
    leader::fence::of_next_leadership,
    logs::logged,
    stage::{MS, id, play},
};

/// The begin of the year 2026, and the milliseconds from the begin of 2024 until then.
const DAWN: WallTime = WallTime::from_millis(1_767_225_600_000);
const SINCE_2024: u64 = 63_158_400_000;

/// Returns the builder of a voter that is a majority alone.
fn voter(group: &Group, wall: &VirtualWallClock) -> BullyBuilder {
    BullyAgent::builder("a")
        .timings(Timings::lan())
        .quorum(["a"])
        .diskless()
        .clock(VirtualClock::new())
        .wall_clock(wall.clone())
        .join(group)
}

/// Returns the tokens of the agent's next leadership: its strict fence, and its conditional fence.
async fn next_tokens(
    agent: &BullyHandle,
) -> (Result<FenceNumber, NoFence>, Option<ConditionalFence>) {
    of_next_leadership(agent, |guard| {
        assert_eq!(guard.fence(), None);
        (FenceNumber::of(guard), guard.conditional_fence())
    })
    .await
}

async fn next_term(agent: &BullyHandle) -> u64 {
    let (_, token) = next_tokens(agent).await;
    token.unwrap().accept().number()
}

#[test]
fn a_store_beside_is_refused_and_nothing_is_started() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let wall = VirtualWallClock::new(DAWN);
        for builder in [
            voter(&group, &wall).store(MemoryStore::new()),
            BullyAgent::builder("a")
                .store(MemoryStore::new())
                .quorum(["a"])
                .diskless()
                .join(&group),
            BullyAgent::builder("o")
                .quorum(["a"])
                .diskless()
                .store(MemoryStore::new())
                .observer()
                .join(&group),
        ] {
            let error = builder.start().unwrap_err();
            assert!(matches!(error, StartError::StoreRefused), "{error}");
            let advice = "remove `diskless()` to keep the votes, or remove `store(..)`";
            assert!(error.to_string().ends_with(advice), "{error}");
            assert!(group.members().is_empty());
        }
        let error = BullyAgent::builder("a").diskless().join(&group).start();
        let error = error.unwrap_err();
        assert!(
            matches!(error, StartError::NeedsMode { call: "diskless" }),
            "{error}"
        );
        voter(&group, &wall).start().unwrap();
    });
}

#[test]
fn voters_with_and_without_a_disk_do_not_share_a_group_and_neither_do_two_promises() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let voters = ["a", "b"];
        let start = |name, config: QuorumConfig| {
            let agent = BullyAgent::builder(name).quorum_config(Arc::new(config));
            agent.clock(VirtualClock::new()).join(&group)
        };
        let config = |timings| QuorumConfig {
            timings,
            diskless: Some(Diskless::default()),
            ..QuorumConfig::new(voters.map(id))
        };
        let first = start("a", config(Timings::lan())).start().unwrap();
        let with = QuorumConfig {
            diskless: None,
            ..config(Timings::lan())
        };
        let with = start("b", with).store(MemoryStore::new()).start();
        let error = with.unwrap_err().to_string();
        assert!(error.contains("quorum-diskless"), "{error}");
        let error = start("b", config(Timings::default())).start().unwrap_err();
        let error = error.to_string();
        for named in ["a promise of 900ms", "a promise of 300ms"] {
            assert!(error.contains(named), "{error}");
        }
        drop(first);
    });
}

#[test]
fn a_gate_takes_the_token_only_if_the_condition_is_accepted() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agent = voter(&group, &VirtualWallClock::new(DAWN)).start().unwrap();
        let (strict, token) = next_tokens(&agent).await;
        assert_eq!(strict, Err(NoFence::Conditional));
        let advice = NoFence::Conditional.to_string();
        assert!(advice.contains("give the voters stores"), "{advice}");
        let accepted = token.unwrap().accept();
        let number = FenceNumber::try_from(&accepted).unwrap();
        assert_eq!(FencingGate::default().admit(number), Ok(()));
        assert_eq!(u64::try_from(number.get()), Ok(accepted.number()));
    });
}

/// A group that once had stores: its job drops the error of the fence and ends, and begins again at the next leader.
#[test]
fn a_job_that_drops_the_error_of_its_fence_is_explained_by_the_log_and_the_diagnosis() {
    logged(Level::WARN, async |lines| {
        let group = Group::new("jobs").unwrap();
        let agent = voter(&group, &VirtualWallClock::new(DAWN)).start().unwrap();
        let refused = agent.offers().check(Feature::Fence).unwrap_err();
        assert_eq!(refused.lack(), Lack::FenceWithoutCondition);
        assert!(
            refused
                .to_string()
                .contains("`store_file` in place of `diskless`")
        );

        let working = agent.clone();
        actix::spawn(async move {
            let job = async |leader| {
                FenceNumber::of(&leader).ok();
            };
            working.lead(job).await
        });
        clock::sleep(MS(10_000)).await;
        let why = "it ended 0 ms after it began, and was refused before: this fence holds only if no voter";
        let told = lines.about("work of the leader");
        let begin = format!(
            "WARN bully.agent{{node=a group=\"jobs\"}}: work of the leader ended at once: the agent steps down reason={why}"
        );
        assert!(told[0].starts_with(&begin), "{told:#?}");
        let told = agent.diagnosis().to_string();
        assert!(told.contains(why), "{told}");
    });
}

#[test]
fn a_refusal_of_earlier_work_is_not_told_as_the_reason_of_later_work() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agent = voter(&group, &VirtualWallClock::new(DAWN)).start().unwrap();
        let (working, runs) = (agent.clone(), RefCell::new(0));
        actix::spawn(async move {
            let job = |leader| {
                *runs.borrow_mut() += 1;
                if *runs.borrow() == 1 {
                    FenceNumber::of(&leader).ok();
                    resume_unwind(Box::new("a bug in the work"));
                }
                async {}
            };
            working.lead(job).await
        });
        let told = || agent.diagnosis().to_string();
        while !told().contains("ended 0 ms after") {
            clock::sleep(MS(1_000)).await;
        }
        assert!(!told().contains("refused"), "{}", told());
    });
}

/// The agent's own clock starts at the boot of its host, here before 2024. The terms come from the wall clock.
#[test]
fn the_wall_clock_is_read_at_the_start_and_not_afterwards() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let wall = VirtualWallClock::new(DAWN);
        let own = VirtualClock::new();
        own.skip(Duration::from_secs(10 * 365 * 86_400));
        let agent = voter(&group, &wall).clock(own).start().unwrap();
        wall.set_ahead(86_400_000);
        let term = next_term(&agent).await;
        let passed = term - SINCE_2024;
        assert!((1..1_000).contains(&passed), "{passed} ms after the start");
        // The wall clock was set forward by a day. The next start reads the later time.
        agent.leave(MS(1_000)).await.unwrap();
        let agent = voter(&group, &wall).start().unwrap();
        assert!(next_term(&agent).await > term + 86_000_000);
    });
}
