//! Worlds for the promises: one mode for each column, with partitions that a seed draws.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::{AnyBully, AnyConfig, quorum::QuorumConfig},
    protocol::{AgentId, Score, Timings},
    testkit::faults::Conditions,
};
use bully_core::elections::{bully::BullyConfig, quorum::Diskless};
use bully_sim::{
    faults::SplitMix64,
    sim::{Detection, Participant, World},
};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Available,
    Astra,
    Quorum,
    Diskless,
}

pub(crate) fn names(n: usize) -> Vec<AgentId> {
    let alphabet = ('a'..='z').take(n);
    alphabet.map(|c| c.to_string().parse().unwrap()).collect()
}

impl Mode {
    pub(crate) fn timings(self) -> Timings {
        match self {
            Self::Available | Self::Quorum | Self::Diskless => Timings::lan(),
            Self::Astra => Timings::astra(),
        }
    }

    pub(crate) fn config(self, n: usize) -> AnyConfig {
        match self {
            Self::Available => AnyConfig::Available(Arc::new(available())),
            Self::Astra => AnyConfig::Astra(Arc::default()),
            Self::Quorum | Self::Diskless => {
                let config = QuorumConfig {
                    timings: self.timings(),
                    diskless: (self == Self::Diskless).then(Diskless::default),
                    ..QuorumConfig::new(names(n))
                };
                AnyConfig::Quorum(Arc::new(config))
            }
        }
    }

    /// Returns a world of the agents `a`, `b`, … in which the last one has the highest rank and leads. Messages take up
    /// to the delay bound.
    pub(crate) fn led(self, seed: u64, n: usize) -> World<AnyBully> {
        let bound = self.timings().delay_bound();
        let delay = Conditions::builder().delay(bound / 20..=bound);
        let detection = match seed % 3 {
            0 => Detection::Certain(Duration::ZERO.into()),
            1 => Detection::Suspect(bound.into()),
            _ => Detection::Silent(Duration::ZERO.into()),
        };
        let voters = names(n)
            .into_iter()
            .zip(1..)
            .map(|(id, score)| Participant::voter(id, Some(Score::from(score)), self.config(n)));
        let mut world = World::builder(seed)
            .agents(voters)
            .conditions(delay.build().unwrap())
            .detection(detection)
            .build();
        world.run_for(Duration::ZERO);
        let highest = names(n).pop().unwrap();
        if self == Self::Astra {
            world.campaign(&highest);
        }
        let leader = world.settle(Duration::from_secs(60)).unwrap();
        assert_eq!(leader, highest, "{self:?}, seed {seed}");
        world.run_for(self.timings().delay_bound() * 40);
        world
    }
}

/// Returns the configuration of the first column.
pub(crate) fn available() -> BullyConfig {
    BullyConfig {
        timings: Mode::Available.timings(),
        ..BullyConfig::default()
    }
}

/// Returns two or three sides, which the seed draws.
pub(crate) fn sides(seed: u64, n: usize) -> Vec<Vec<AgentId>> {
    let mut random = SplitMix64::new(seed);
    let mut all = names(n);
    random.shuffle(&mut all);
    let mut sides = vec![Vec::new(); if n > 2 && random.chance(500) { 3 } else { 2 }];
    let count = sides.len();
    for (at, name) in all.into_iter().enumerate() {
        let side = if at < count {
            at
        } else {
            usize::try_from(random.below(u64::try_from(count).unwrap())).unwrap()
        };
        sides[side].push(name);
    }
    sides
}

/// Returns whether each agent of this side follows `leader`, or is it.
pub(crate) fn follow(world: &World<AnyBully>, side: &[AgentId], leader: &AgentId) -> bool {
    side.iter().all(|name| {
        let leads = world.view(name).and_then(|view| view.leader);
        leads.is_some_and(|one| one.id == *leader)
    })
}

pub(crate) fn size(seed: u64) -> usize {
    2 + usize::try_from(seed / 3 % 6).unwrap()
}
