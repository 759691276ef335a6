//! The voters that support a leader, and the end of their support: a lease depends on them.
//!
//! A lease counts from the time at which a heartbeat was *sent*, by the leader's clock (`lease-from-send-time`); a
//! promise counts from the time at which it was *processed*, by the voter's clock. However long a message takes, the
//! leader's lease is over first.

use std::{collections::BTreeMap, time::Duration};

use super::SenderIncarnation;
use crate::protocol::{AgentId, Incarnation, Time};

/// A leader's knowledge of the voters that acknowledged it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Supporters {
    contacts: BTreeMap<AgentId, Contact>,
    /// Room for [`until`](Self::until), so that a heartbeat allocates nothing; empty between calls.
    scratch: Vec<Time>,
}

/// One voter, as its leader knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contact {
    /// The incarnation that was heard last.
    pub(super) incarnation: Incarnation,
    /// Time at which the heartbeat was sent whose acknowledgement counts for longest.
    echo: Time,
    /// Its length from then.
    span: Duration,
    /// Whether it reported that it is slow.
    pub(super) is_slow: bool,
    /// The voter is heard without a gap: from when, and last.
    pub(super) since: Time,
    pub(super) last: Time,
}

impl Supporters {
    /// Notes an acknowledgement of a message that was sent at `echo`; it counts for `span` from then. If it comes more
    /// than `gap` after the last one, contact begins anew.
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
        // An earlier promise may end later; then it still counts.
        if echo.after(span) >= contact.echo.after(contact.span) {
            (contact.echo, contact.span) = (echo, span);
        }
    }

    /// `slow-waits`: notes a voter's report of its disk.
    pub(super) fn note_slow(&mut self, from: &AgentId, is_slow: bool) {
        if let Some(contact) = self.contacts.get_mut(from) {
            contact.is_slow = is_slow;
        }
    }

    /// Returns the time until which `quorum` voters support this leader; its own support lasts until `own`.
    pub(super) fn until(&mut self, own: Time, quorum: usize) -> Option<Time> {
        // The leader itself is one of the quorum, and positions count from 0.
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

    /// Returns whether that voter's promise of support runs.
    pub(super) fn supports(&self, id: &AgentId, now: Time) -> bool {
        let contact = self.contacts.get(id);
        contact.is_some_and(|c| now < c.echo.after(c.span))
    }

    /// Returns whether no voter has been in contact for that long.
    pub(super) fn are_new(&self, now: Time, span: Duration) -> bool {
        self.contacts.values().all(|c| now.since(c.since) < span)
    }

    /// Returns the longest time that a voter has been in contact.
    pub(super) fn oldest(&self, now: Time) -> Duration {
        let spans = self.contacts.values().map(|c| now.since(c.since));
        spans.max().unwrap_or_default()
    }

    /// The shortest span that counts, of the voters that were heard within `recent`.
    pub(super) fn shortest(&self, now: Time, recent: Duration) -> Option<Duration> {
        let heard = self.contacts.values();
        let heard = heard.filter(|c| now.since(c.last) <= recent);
        heard.map(|c| c.span).min()
    }

    pub(super) fn contact(&self, id: &AgentId) -> Option<&Contact> {
        self.contacts.get(id)
    }

    /// The voters that were heard within `span`.
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
