//! After a hand-over to the last voter in rank, the best voter leads next.
//!
//! All other voters outrank the new leader, and their grace periods end at about the same time. Without the rule, the
//! voter whose request came first would lead next, and the leadership would climb from voter to voter, one grace period
//! each.

use std::{collections::BTreeSet, sync::Arc};

use actix_bully::{elections::quorum::QuorumConfig, testkit::faults::Conditions};
use bully_core::{elections::quorum::QuorumBully, protocol::AgentId};
use bully_sim::sim::{Detection, Participant, World};

use super::kit::{id, ms};

/// Returns the names of `n` voters: `a`, `b`, and so on, with rising ranks.
fn names(n: usize) -> Vec<AgentId> {
    ('a'..).take(n).map(|name| id(&name.to_string())).collect()
}

#[test]
fn the_best_voter_leads_after_the_last_one() {
    let delays = [ms(5)..=ms(5), ms(1)..=ms(20)];
    for (n, delay) in [3, 5, 9]
        .into_iter()
        .flat_map(|n| delays.clone().map(|d| (n, d)))
    {
        for seed in 0..20 {
            let names = names(n);
            let config = Arc::new(QuorumConfig::new(names.clone()));
            let voter = |(name, score): (&AgentId, i32)| {
                Participant::voter(name.clone(), Some(score.into()), Arc::clone(&config))
            };
            let mut world: World<QuorumBully> = World::builder(seed)
                .agents(names.iter().zip(1..).map(voter))
                .conditions(Conditions::builder().delay(delay.clone()).build().unwrap())
                .detection(Detection::Silent(ms(0).into()))
                .build();
            let leads = |world: &World<QuorumBully>, name: &AgentId| {
                world.agreed().is_some_and(|leader| leader.id == *name)
            };
            let (first, last) = (&names[0], &names[n - 1]);
            assert!(world.run_until(|w| leads(w, last), ms(60_000)));
            world.run_for(ms(1_000)); // the leader has heard all other voters
            assert!(world.step_down(last.clone(), Some(first.clone())));
            assert!(world.run_until(|w| leads(w, first), ms(5_000)));
            // The former leader cools down, so the voter below it is the best.
            let best = &names[n - 2];
            let mut leaders = BTreeSet::new();
            let is_over = world.run_until(
                |w| {
                    leaders.extend(w.agreed().map(|leader| leader.id));
                    leads(w, best)
                },
                ms(30_000),
            );
            assert!(is_over, "{n} voters, seed {seed}: {leaders:?}");
            let two = BTreeSet::from([first.clone(), best.clone()]);
            assert_eq!(leaders, two, "{n} voters, seed {seed}");
        }
    }
}
