//! Compares measurements with the timings: echoes, writes, renewals of the lease, standstills.
//!
//! Decided here: which measurements show that the timings are too fast for this host and network, or slower than
//! needed, and which preset would fit. Not here: timings that are made from a measurement ([`Timings::measured`]).

use std::time::Duration;

use crate::{
    group::PeerReport,
    protocol::{Measurement, Timings},
};

use super::{Facts, Finding};
use crate::agent::assumptions::presets;

impl Facts {
    /// Returns the longest times that this agent has measured recently.
    pub(super) fn measured(&self) -> Measurement {
        let strain = self.signs.strain.as_deref().copied().unwrap_or_default();
        let echoes = self.linked().filter_map(|peer| peer.echo);
        Measurement {
            echo: echoes.max().unwrap_or_default(),
            write: strain.longest_write(),
            stall: strain.stall(self.now),
        }
    }

    /// Checks the timings against the measurements, and against the timings of other nodes.
    pub(super) fn judge_timings(&self, found: &mut Vec<Finding>) {
        found.extend(self.linked().filter_map(|peer| {
            let (theirs, mine) = peer.timings.clone()?;
            let node = peer.node.clone();
            Some(Finding::TimingsDiffer { node, theirs, mine })
        }));
        let Some(timings) = &self.assumed.timings else {
            return;
        };
        found.extend(
            self.peers
                .iter()
                .filter_map(|peer| self.judge_echo(timings, peer)),
        );
        found.extend(self.judge_answers(timings));
        found.extend(self.judge_write(timings));
        found.extend(self.judge_renewals(timings));
        found.extend(self.judge_stall(timings));
        found.extend(self.judge_preset(timings));
    }

    fn linked(&self) -> impl Iterator<Item = &PeerReport> {
        let is_linked = |peer: &&PeerReport| peer.unlinked_for.is_none();
        self.peers.iter().filter(is_linked)
    }

    fn judge_echo(&self, timings: &Timings, peer: &PeerReport) -> Option<Finding> {
        let (echo, assumed) = (peer.echo?, timings.delay_bound());
        // An echo is the time of a message there and back, so half of it is compared with the delay bound (the longest
        // time of one way). If half of an echo is shorter than the bound, the rest is time for the agent that handles
        // the message. For example `default`, which assumes 40 ms one way, is not proposed for an echo of 153 ms: its
        // round of 100 ms would end before an answer comes.
        let one_way = echo / 2;
        if one_way <= assumed {
            return None;
        }
        Some(Finding::EchoTooLong {
            node: peer.node.clone(),
            echo,
            assumed,
            preset: self.assumed.preset,
            advice: self.fastest_preset(|timings| timings.delay_bound() >= one_way),
        })
    }

    /// Checks that the store of the lease answers within two delay bounds, as the timings assume.
    fn judge_answers(&self, timings: &Timings) -> Option<Finding> {
        let (store, _) = self.register.as_ref()?;
        let answer = self.signs.prospects.get().slow_answers?;
        let allowed = |timings: &Timings| timings.delay_bound().saturating_mul(2);
        // A lease must last for three answers of the store: to a renewal, a read of the claims, and the next renewal.
        let fits = |lease: &Duration| answer.saturating_mul(3) < *lease;
        Some(Finding::RegisterIsSlow {
            store: store.clone(),
            answer,
            assumed: allowed(timings),
            too_short: Some(timings.lease()).filter(|lease| !fits(lease)),
            advice: self.fastest_preset(|preset| allowed(preset) >= answer),
        })
    }

    /// Checks that voters can write their votes and answer before the end of a round. While there is a leader, votes
    /// are seldom written, and one slow write would be reported for days. So with a leader this is reported only if
    /// most of the last writes were slow.
    fn judge_write(&self, timings: &Timings) -> Option<Finding> {
        let round = timings.round();
        // Only voters that are listed (a quorum election) write votes.
        let votes = self.names().is_some();
        let measured = self.measured();
        let steadily = self.signs.prospects.get().slow_writes;
        let is_asked = steadily.is_some() || self.status.leader.is_none();
        let write = steadily.unwrap_or(measured.write);
        let is_slow = steadily.is_some() || !measured.is_answered_within(round);
        if !votes || !is_asked || write.is_zero() || !is_slow {
            return None;
        }
        Some(Finding::WriteTooLong {
            write,
            round,
            waits: steadily.is_some(),
            advice: self.fastest_preset(|timings| measured.fits(timings)),
        })
    }

    /// Checks that this leader renews its lease early enough.
    fn judge_renewals(&self, timings: &Timings) -> Option<Finding> {
        if self.signs.prospects.get().slow_answers.is_some() {
            return None; // `judge_answers` reports the reason
        }
        let strain = self.signs.strain.as_deref()?;
        let late = strain.steadily_late()?;
        self.status.leading?;
        let measured = self.measured();
        let is_slower = |preset: &Timings| preset.lease() > timings.lease();
        Some(Finding::RenewsLate {
            left: late.left,
            renewed: late.renewed,
            advice: self.fastest_preset(|preset| is_slower(preset) && measured.fits(preset)),
        })
    }

    /// Checks that a leader would keep its leadership through a standstill as long as the longest standstill of the
    /// last minute.
    fn judge_stall(&self, timings: &Timings) -> Option<Finding> {
        let measured = self.measured();
        let tolerated = measured.tolerated_stall(timings)?;
        if measured.stall <= tolerated {
            return None;
        }
        Some(Finding::Stalls {
            stall: measured.stall,
            tolerated,
            preset: self.assumed.preset,
            advice: self.fastest_preset(|preset| measured.fits(preset)),
        })
    }

    /// Checks whether another preset would notice a silent leader much earlier and still allow twice the measured
    /// times. This needs a leader and a measurement of every peer; otherwise it is unknown which preset the network
    /// allows.
    fn judge_preset(&self, timings: &Timings) -> Option<Finding> {
        let present = timings.detector()?.detection;
        let is_measured = |peer: &PeerReport| peer.unlinked_for.is_none() && peer.echo.is_some();
        if self.status.leader.is_none()
            || self.peers.is_empty()
            || !self.peers.iter().all(is_measured)
        {
            return None;
        }
        let Measurement { echo, write, stall } = self.measured();
        let doubled = Measurement {
            echo: echo.saturating_mul(2),
            write: write.saturating_mul(2),
            stall: stall.saturating_mul(2),
        };
        let faster = |(preset, timings): &(&'static str, Timings)| {
            let detection = timings.detector()?.detection;
            let is_worth_it = detection.saturating_mul(2) <= present && doubled.fits(timings);
            is_worth_it.then_some(Finding::FasterFits {
                preset,
                detection,
                present,
            })
        };
        // `in_process` is for agents without a network, and the costs of `fast` show only after days: both are left
        // out.
        let proposed = [
            ("Timings::lan()", Timings::lan()),
            ("Timings::default()", Timings::default()),
        ];
        proposed.iter().find_map(faster)
    }

    /// Returns the name of the first preset for which `fits` returns `true`. The plain ASTRA rules have no failure
    /// detector, so they are never proposed. `in_process` is not proposed if there is a network.
    fn fastest_preset(&self, fits: impl Fn(&Timings) -> bool) -> Option<&'static str> {
        let mut choices = presets().into_iter();
        let is_proposed = |timings: &Timings| {
            timings.detector().is_some()
                && (self.peers.is_empty() || *timings != Timings::in_process())
        };
        let choice = choices.find(|(_, timings)| is_proposed(timings) && fits(timings));
        choice.map(|(name, _)| name)
    }
}
