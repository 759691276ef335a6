//! The voters that support a leader, and the time when their support ends. A lease depends on both.
//!
//! A lease counts from the time at which a heartbeat was *sent*, by the leader's clock (rule `lease-from-send-time`). A
//! promise counts from the time at which it was *processed*, by the voter's clock. However long a message takes, the
//! leader's lease ends first.

use std::{collections::BTreeMap, time::Duration};

use super::SenderIncarnation;
use crate::protocol::{AgentId, Incarnation, Time};

/// The voters that acknowledged a leader, as the leader knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Supporters {
    contacts: BTreeMap<AgentId, Contact>,
    /// Memory for [`until`](Self::until), so that a heartbeat allocates nothing; empty between two calls.
    scratch: Vec<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contact {
    /// The voter's incarnation that was heard last.
    pub(super) incarnation: Incarnation,
    /// Sending time of the heartbeat whose acknowledgement counts for longest.
    echo: Time,
    /// Time for which that acknowledgement counts, from `echo`.
    span: Duration,
    /// Whether the voter reported that it is slow.
    pub(super) is_slow: bool,
    /// The start of the time in which the voter was heard without a gap; `last` is the last message.
    pub(super) since: Time,
    pub(super) last: Time,
}

impl Supporters {
    /// Notes an acknowledgement of a message that was sent at `echo`. The acknowledgement counts for `span` from the
    /// time `echo`. If it comes more than `gap` after the former acknowledgement, the time without a gap starts again.
    pub(super) fn note(
        &mut self,
        now: Time,
        (from, incarnation): SenderIncarnation<'_>,
        echo: Time,
        span: Duration,
        gap: Duration,
    ) {
        let Some(contact) = self.contacts.get_mut(from) else {
            let contact = Contact {
                incarnation,
                echo,
                span,
                is_slow: false,
                since: now,
                last: now,
            };
            self.contacts.insert(from.clone(), contact);
            return;
        };
        if now.since(contact.last) > gap {
            contact.since = now;
        }
        (contact.last, contact.incarnation) = (now, incarnation);
        // An earlier promise that ends later still counts.
        if echo.after(span) >= contact.echo.after(contact.span) {
            (contact.echo, contact.span) = (echo, span);
        }
    }

    pub(super) fn note_slow(&mut self, from: &AgentId, is_slow: bool) {
        if let Some(contact) = self.contacts.get_mut(from) {
            contact.is_slow = is_slow;
        }
    }

    /// Returns when the support of a quorum ends, with the leader's own support until `own`; `None` without a quorum.
    pub(super) fn until(&mut self, own: Time, quorum: usize) -> Option<Time> {
        // The leader is one of the quorum, and positions count from 0: so the last needed voter is at `quorum - 2`.
        let Some(position) = quorum.checked_sub(2) else {
            return Some(own);
        };
        let theirs = self.contacts.values().map(|c| c.echo.after(c.span));
        self.scratch.extend(theirs);
        self.scratch.sort_unstable_by(|a, b| b.cmp(a));
        let until = self.scratch.get(position).copied();
        self.scratch.clear();
        until
    }

    /// Returns whether this voter's promise to the leader still holds.
    pub(super) fn supports(&self, id: &AgentId, now: Time) -> bool {
        let contact = self.contacts.get(id);
        contact.is_some_and(|c| now < c.echo.after(c.span))
    }

    /// Returns whether every heard voter has been in contact for less than `span`; true if no voter was heard.
    pub(super) fn are_new(&self, now: Time, span: Duration) -> bool {
        self.contacts.values().all(|c| now.since(c.since) < span)
    }

    /// Returns the longest time for which a voter has been heard without a gap; zero without a voter.
    pub(super) fn oldest(&self, now: Time) -> Duration {
        let spans = self.contacts.values().map(|c| now.since(c.since));
        spans.max().unwrap_or_default()
    }

    /// Returns the shortest time for which an acknowledgement counts, among the voters heard within `recent`.
    pub(super) fn shortest(&self, now: Time, recent: Duration) -> Option<Duration> {
        let heard = self.contacts.values();
        let heard = heard.filter(|c| now.since(c.last) <= recent);
        heard.map(|c| c.span).min()
    }

    pub(super) fn contact(&self, id: &AgentId) -> Option<&Contact> {
        self.contacts.get(id)
    }

    pub(super) fn heard(
        &self,
        now: Time,
        span: Duration,
    ) -> impl Iterator<Item = (&AgentId, &Contact)> {
        self.contacts
            .iter()
            .filter(move |(_, c)| now.since(c.last) <= span)
    }
}
