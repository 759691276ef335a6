//! Voters without a disk, rule by rule.

mod clocks;
mod lives;
mod observers;
mod recovery;
mod terms;

use super::*;
use crate::elections::{
    message::{Recover, Recovered},
    quorum::diskless::Diskless,
};
use crate::protocol::Round;

/// Times of the wall clock in milliseconds: when the agent's own clock showed zero, and when a test begins.
const WALL: u64 = 90_000_000_000;
const BEGINS: u64 = WALL + 1_000;

/// Milliseconds for which a voter abstains: (P + E) (1 + r) / (1 - r), rounded up. It asks the other voters E before
/// the end.
const ABSTAINS: u64 = 163;
const ASKS: u64 = 158;

fn forgetful() -> QuorumConfig {
    let mut config = valid(QuorumConfig {
        diskless: Some(Diskless::default()),
        ..config()
    });
    if let Some(own) = &mut config.diskless {
        own.wall_at_zero = i64::try_from(WALL).unwrap();
    }
    config
}

fn voters(names: &[&str]) -> QuorumConfig {
    valid(QuorumConfig {
        voters: names.iter().copied().map(id).collect(),
        ..forgetful()
    })
}

fn four() -> QuorumConfig {
    voters(&[LOW, ME, HIGH, "v4"])
}

fn five() -> QuorumConfig {
    voters(&[LOW, ME, HIGH, "v4", "v5"])
}

fn remembers(counter: u64, term: u64) -> Recovered {
    Recovered {
        round: round(counter),
        term: Term(term),
        clock: Term(BEGINS),
        ..Recovered::default()
    }
}

fn recovers(counter: u64, term: u64) -> Recovered {
    Recovered {
        recovering: true,
        ..remembers(counter, term)
    }
}

fn begun(config: QuorumConfig) -> Kit {
    Kit::new(&Arc::new(config), MemberKind::Voter, Some(5)).started()
}

/// Returns an agent that has asked the other voters once.
fn asking(config: QuorumConfig) -> Kit {
    let mut me = begun(config);
    me.later(ASKS).fire(BullyTimer::Recover).whatever();
    me
}

/// Returns an agent that takes part again, because both other voters remember this term.
fn recovered(config: QuorumConfig, term: u64) -> Kit {
    let mut me = asking(config);
    me.later(ABSTAINS - ASKS);
    me.hear(LOW, remembers(1, term)).whatever();
    me.hear(HIGH, remembers(1, term)).whatever();
    assert!(me.machine.core.binds());
    me
}

fn granted(effects: &StepEffects) -> bool {
    let grants = |m: &&QuorumMessage| matches!(m, QuorumMessage::ClaimReply(r) if r.granted);
    effects.messages().iter().any(grants)
}

fn acknowledged(effects: &StepEffects) -> bool {
    let acks = |m: &&QuorumMessage| matches!(m, QuorumMessage::Ack(_));
    effects.messages().iter().any(acks)
}

fn claimed(effects: &StepEffects) -> Option<Claim> {
    effects.messages().into_iter().find_map(|m| {
        if let QuorumMessage::Claim(claim) = m {
            Some(claim.clone())
        } else {
            None
        }
    })
}
