//! The state machine of a peer: it takes inputs, returns effects, and does nothing else.

use std::time::Duration;

use crate::remote::{Closed, Farewell, LinkId, LinkStatus, NodeIncarnation};

use super::Backoff;

/// One connection of this process. The numbers are in the order in which the connections began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnId(pub(crate) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerInput {
    /// The bridge begins to watch this peer.
    Start,
    /// Both sides have accepted a connection with this peer, whichever side has dialled.
    Ready(ReadyLink),
    /// The connection has ended, after it was ready for the time `lasted`.
    Closed {
        conn: ConnId,
        how: LinkLoss,
        lasted: Duration,
    },
    /// An attempt to dial failed.
    DialFailed(DialError),
    /// The wait before the next attempt has ended.
    WaitOver,
    /// The node is no longer a peer.
    Removed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadyLink {
    pub(crate) conn: ConnId,
    pub(crate) incarnation: NodeIncarnation,
    pub(crate) id: LinkId,
    pub(crate) origin: Origin,
}

/// The side that made a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This bridge.
    Dialled,
    /// The peer.
    Accepted,
}

/// The way in which a ready connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkLoss {
    /// The connection broke, or fell silent.
    Broken,
    /// The peer announced that it leaves.
    Left,
    /// The peer keeps another link.
    Replaced,
    /// One side broke a rule.
    Misbehaved,
}

impl LinkLoss {
    /// Returns the way in which a connection that was closed for this reason has ended.
    pub(crate) fn of(why: Closed) -> Self {
        if matches!(why, Closed::Replaced | Closed::Goodbye(Farewell::Replaced)) {
            Self::Replaced
        } else if why == Closed::Goodbye(Farewell::Leaving) {
            Self::Left
        } else if matches!(
            why,
            // A slow peer gets no penalty, because a cut cable or a host that hangs looks the same.
            Closed::Lost | Closed::Silent | Closed::SlowPeer | Closed::Leaving
        ) {
            Self::Broken
        } else {
            Self::Misbehaved
        }
    }
}

/// The reason why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialError {
    /// No process listens at the address.
    Refused,
    /// The connection broke before it was ready. This happens if a process is about to end: its host still accepts
    /// connections for it.
    Dropped,
    /// No answer came, or the name has no address.
    NoAnswer,
    /// One side refuses the other, or the address leads back to this bridge. The result may change: the name is
    /// resolved again at each attempt, and another host may get the address.
    Rejected,
    /// The peer knows a later process of this node's name.
    Stale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerEffect {
    /// Resolve the address and dial.
    Dial,
    /// Wait for a random time from this range, then send [`PeerInput::WaitOver`]. This wait replaces a present wait.
    Wait { min: Duration, max: Duration },
    /// Close this connection: another connection stays.
    Replace(ConnId),
    /// Close this connection: it belongs to an earlier incarnation of the peer.
    CloseStale(ConnId),
    /// Close this connection: the node is no longer a peer.
    Dismiss(ConnId),
    /// Report this change to the groups and the application.
    Report(PeerChange),
}

/// A change that groups and the application should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerChange {
    /// The peer can be reached, for the first time or again.
    Up,
    /// Messages use another connection from now on. The application is not informed.
    Relinked,
    /// The peer's process has probably ended or left: the peer's agents are suspected.
    Gone,
    /// A later incarnation answers: the agents of the earlier incarnation are suspected.
    Restarted,
    /// The peer cannot be reached. Whether its process has ended is not known.
    OutOfReach,
}

/// The state of the link with one peer.
#[derive(Debug)]
pub(crate) struct PeerMachine {
    backoff: Backoff,
    /// Whether the peer has an address; without an address only the peer can dial.
    has_address: bool,
    link: Option<ReadyLink>,
    attempt: DialAttempt,
    reach: Reach,
    /// The latest incarnation of the peer's process that ever had a ready link; `None` before the first link.
    known: Option<NodeIncarnation>,
    /// Number of failed attempts in a row.
    failures: u32,
    /// Number of links in a row that were lost soon.
    flaps: u32,
    /// Number of redials in a row whose connection was accepted and then broke.
    drops: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DialAttempt {
    None,
    UnderWay,
    Waiting,
    /// There will be no further attempt.
    Never,
}

/// The last report to groups and the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// No report yet.
    Unknown,
    /// The peer can be reached.
    Up,
    /// The link was lost, and the loss was not reported yet: a redial may still succeed.
    Doubtful,
    /// The peer cannot be reached.
    Away,
    /// The peer's process has ended or has left.
    Gone,
}

impl PeerMachine {
    /// After a crash of the bridge, the incarnation `known` was linked, and its present state is unknown.
    pub(crate) fn new(backoff: Backoff, has_address: bool, known: Option<NodeIncarnation>) -> Self {
        Self {
            backoff,
            has_address,
            link: None,
            attempt: DialAttempt::None,
            reach: known.map_or(Reach::Unknown, |_| Reach::Doubtful),
            known,
            failures: 0,
            flaps: 0,
            drops: 0,
        }
    }

    /// Notes that the peer was away for long enough: an incarnation with a lower number than the last one may be
    /// linked.
    pub(crate) fn forget_later_than(&mut self, incarnation: NodeIncarnation) {
        self.known.take_if(|known| *known > incarnation);
    }

    /// Handles one input. The caller has to carry out the effects in their order.
    pub(crate) fn handle(&mut self, input: PeerInput) -> Vec<PeerEffect> {
        let mut out = Vec::new();
        match input {
            PeerInput::Start => self.dial(&mut out),
            PeerInput::Ready(link) => self.on_ready(link, &mut out),
            PeerInput::Closed { conn, how, lasted } => self.on_closed(conn, how, lasted, &mut out),
            PeerInput::DialFailed(why) => self.on_dial_failed(why, &mut out),
            PeerInput::WaitOver => self.on_wait_over(&mut out),
            PeerInput::Removed => self.on_removed(&mut out),
        }
        out
    }

    /// Returns the stage that readers see.
    pub(crate) fn stage(&self) -> LinkStatus {
        match (self.link, self.attempt) {
            (Some(link), _) => LinkStatus::Linked { id: link.id },
            (None, DialAttempt::UnderWay) => LinkStatus::Dialing,
            (None, _) => LinkStatus::Waiting,
        }
    }

    #[cfg(test)]
    pub(super) fn known(&self) -> Option<NodeIncarnation> {
        self.known
    }

    fn on_ready(&mut self, link: ReadyLink, out: &mut Vec<PeerEffect>) {
        let is_dialled = link.origin == Origin::Dialled;
        if self.known.is_some_and(|known| known > link.incarnation) {
            out.push(PeerEffect::CloseStale(link.conn));
            // This side closes the link, so no other input ends the attempt to dial. Without another link, no other
            // input would lead to the next attempt either.
            if is_dialled {
                self.on_dial_failed(DialError::Rejected, out);
            }
            return;
        }
        // The dial has succeeded, even if its link is closed below because another link is chosen. So this is noted
        // first.
        if is_dialled && self.attempt == DialAttempt::UnderWay {
            self.attempt = DialAttempt::None;
        }
        if let Some(present) = self.link {
            // Of two links of one incarnation the link with the higher id stays, because both sides know both ids.
            if (present.incarnation, present.id) >= (link.incarnation, link.id) {
                return out.push(PeerEffect::Replace(link.conn));
            }
            out.push(PeerEffect::Replace(present.conn));
        }
        let is_restart = self.known.is_some_and(|known| known < link.incarnation);
        self.link = Some(link);
        self.known = Some(link.incarnation);
        self.failures = 0;
        if is_restart {
            self.flaps = 0; // the process ended, and the link with it
        }
        if self.attempt == DialAttempt::Waiting {
            self.attempt = DialAttempt::None;
        }
        // If the end of the peer was reported before, its agents are already suspected.
        if is_restart && self.reach != Reach::Gone {
            out.push(PeerEffect::Report(PeerChange::Restarted));
        }
        let is_change =
            matches!(self.reach, Reach::Unknown | Reach::Away | Reach::Gone) || is_restart;
        self.reach = Reach::Up;
        out.push(PeerEffect::Report(if is_change {
            PeerChange::Up
        } else {
            PeerChange::Relinked
        }));
    }

    fn on_closed(
        &mut self,
        conn: ConnId,
        how: LinkLoss,
        lasted: Duration,
        out: &mut Vec<PeerEffect>,
    ) {
        if self.link.take_if(|link| link.conn == conn).is_none() {
            return; // the link was replaced before
        }
        // Only links that were lost soon are counted as flaps. If links last longer than the longest wait, their losses
        // cause no more dials than an absent peer does.
        if lasted >= self.backoff.max {
            self.flaps = 0;
        }
        self.flaps = self.flaps.saturating_add(1);
        self.reach = Reach::Doubtful;
        self.drops = 0;
        match how {
            // The peer has announced that it leaves, so an immediate redial would show nothing new.
            LinkLoss::Left => {
                self.report(PeerChange::Gone, out);
                self.wait(Duration::ZERO, out);
            }
            LinkLoss::Misbehaved => self.wait(Backoff::PENALTY_MIN, out),
            // The other link will be ready in a moment. If it does not become ready, the end of the wait leads to a
            // dial.
            LinkLoss::Replaced => self.wait(self.backoff.base, out),
            LinkLoss::Broken if self.flaps > FLAPS || !self.has_address => {
                self.wait(Duration::ZERO, out);
            }
            // Dials again at once: if the dial is refused, the elections do not have to wait for a deadline.
            LinkLoss::Broken => self.dial(out),
        }
    }

    fn on_dial_failed(&mut self, why: DialError, out: &mut Vec<PeerEffect>) {
        if self.attempt != DialAttempt::UnderWay {
            return;
        }
        self.attempt = DialAttempt::None;
        self.failures = self.failures.saturating_add(1);
        // The peer has dialled meanwhile, so it is up. It is dialled again when that link ends.
        if self.link.is_some() {
            return;
        }
        if why == DialError::Dropped && self.reach == Reach::Doubtful && self.drops < DROPS {
            self.drops = self.drops.saturating_add(1);
            self.attempt = DialAttempt::Waiting;
            let (min, max) = MOMENT;
            return out.push(PeerEffect::Wait { min, max });
        }
        match why {
            // The peer's host answers that no process listens, so the peer's process has ended. Any other failure may
            // be a fault of the network.
            DialError::Refused => self.report(PeerChange::Gone, out),
            DialError::Dropped | DialError::NoAnswer | DialError::Rejected | DialError::Stale => {
                self.report(PeerChange::OutOfReach, out);
            }
        }
        match why {
            // A refusal rarely changes soon, and each attempt costs both sides a handshake.
            DialError::Rejected => self.wait(Backoff::PENALTY_MIN, out),
            // The wait has no minimum: this process should take part again soon after the later process has ended.
            DialError::Stale => {
                let max = self.backoff.longest(self.failures.saturating_sub(1));
                let max = max.min(Backoff::PENALTY_MIN);
                self.attempt = DialAttempt::Waiting;
                out.push(PeerEffect::Wait {
                    min: Duration::ZERO,
                    max,
                });
            }
            DialError::Refused | DialError::Dropped | DialError::NoAnswer => {
                self.wait(Duration::ZERO, out);
            }
        }
    }

    fn on_wait_over(&mut self, out: &mut Vec<PeerEffect>) {
        if self.attempt != DialAttempt::Waiting {
            return;
        }
        self.attempt = DialAttempt::None;
        if self.has_address {
            self.dial(out);
        } else {
            // The peer cannot be dialled. It had the time of this wait to dial, and did not.
            self.report(PeerChange::OutOfReach, out);
        }
    }

    fn on_removed(&mut self, out: &mut Vec<PeerEffect>) {
        // A dial in progress may still fail. Its failure must not begin a wait.
        self.attempt = DialAttempt::Never;
        if let Some(link) = self.link.take() {
            out.push(PeerEffect::Dismiss(link.conn));
        }
    }

    fn dial(&mut self, out: &mut Vec<PeerEffect>) {
        if self.has_address && self.link.is_none() && self.is_free() {
            self.attempt = DialAttempt::UnderWay;
            out.push(PeerEffect::Dial);
        }
    }

    fn wait(&mut self, min: Duration, out: &mut Vec<PeerEffect>) {
        // An attempt in progress decides the next step; after the last attempt there is no next step.
        if !self.is_free() {
            return;
        }
        // A new link resets the failures. Without the count of flaps, a link that breaks each time would be redialled
        // for ever without a wait.
        let waits = self.failures.max(self.flaps).saturating_sub(1);
        let max = if self.has_address {
            self.backoff.longest(waits)
        } else {
            self.backoff.max // time for the peer to dial
        };
        let max = min
            .saturating_mul(1u32.checked_shl(waits).unwrap_or(u32::MAX))
            .min(Backoff::PENALTY_MAX)
            .max(max);
        let min = if self.has_address { min } else { max };
        self.attempt = DialAttempt::Waiting;
        out.push(PeerEffect::Wait { min, max });
    }

    fn is_free(&self) -> bool {
        matches!(self.attempt, DialAttempt::None | DialAttempt::Waiting)
    }

    /// Reports, only once, the known state of a peer whose link was lost.
    fn report(&mut self, report: PeerChange, out: &mut Vec<PeerEffect>) {
        let told = match (report, self.reach) {
            (PeerChange::OutOfReach, Reach::Doubtful) => Reach::Away,
            // A peer that was out of reach may later turn out to have ended.
            (PeerChange::Gone, Reach::Doubtful | Reach::Away) => Reach::Gone,
            _ => return,
        };
        self.reach = told;
        out.push(PeerEffect::Report(report));
    }
}

/// Largest number of links that may be lost soon after they were ready before a redial has to wait. Chosen: with 0, the
/// end of a peer is noticed later; with many, a link that breaks each time costs as many handshakes without a wait.
pub(super) const FLAPS: u32 = 3;

/// Largest number of redials that may be dropped before the peer is considered out of reach. A host accepts connections
/// of a killed process for a moment, and this many redials last until it refuses one.
pub(super) const DROPS: u32 = 10;
/// Wait after each dropped redial, until a process that was killed has really ended.
pub(super) const MOMENT: (Duration, Duration) =
    (Duration::from_millis(1), Duration::from_millis(2));
