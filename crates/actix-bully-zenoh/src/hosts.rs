//! The hosts that are present, by their liveliness tokens: zenoh withdraws a token when its session ends.
//!
//! Decided here: which session of a host the bridge dials, and what the bridge concludes when a token is withdrawn. Any
//! process in the zenoh network can declare a token of any host's name. Several sessions of one host are therefore
//! dialled in turn, the newest first: a forged token delays a link and does not prevent it. The number of sessions that
//! are kept is bounded. A session whose token is gone has probably ended. When a host's last session is gone, this is
//! reported once; then the host's next session is awaited.

use std::collections::BTreeMap;

use actix_bully::remote::NodeId;

use super::keys::SessionId;

/// The hosts that the bridge looks for.
#[derive(Debug, Default)]
pub(super) struct Hosts(BTreeMap<NodeId, NamedHost>);

#[derive(Debug, Default)]
struct NamedHost {
    /// Whether zenoh was asked for the tokens of this host.
    is_asked_for: bool,
    /// The sessions that have a token, the oldest first.
    sessions: Vec<SessionId>,
    /// Whether the host's last session is gone and the host's end was not reported yet.
    has_ended: bool,
    /// Number of dials since the newest session was added.
    dials: usize,
}

/// The target of a dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sought {
    /// The session to dial.
    Session(SessionId),
    /// The host was present and has probably ended. The end is reported once.
    Ended,
    /// The host was never seen, or was not seen again after its end was reported.
    Unseen,
}

impl Hosts {
    /// Looks for this host from now on.
    pub(super) fn seek(&mut self, host: &NodeId) {
        if !self.0.contains_key(host) {
            self.0.insert(host.clone(), NamedHost::default());
        }
    }

    /// Returns a host whose tokens zenoh must be asked for; each host is returned once.
    pub(super) fn ask(&mut self) -> Option<NodeId> {
        let (host, entry) = self.0.iter_mut().find(|(_, host)| !host.is_asked_for)?;
        entry.is_asked_for = true;
        Some(host.clone())
    }

    /// Adds the session of a token. Returns `false` if the host is not looked for, or if its oldest session had to make
    /// room.
    pub(super) fn up(&mut self, host: &NodeId, session: SessionId) -> bool {
        let Some(host) = self.0.get_mut(host) else {
            return false; // never asked for
        };
        let is_room = host.sessions.len() < MOST_SESSIONS;
        if host.sessions.contains(&session) {
            return true;
        }
        if !is_room {
            // The oldest is removed, because the newest session is the process that has just been restarted.
            host.sessions.remove(0);
        }
        host.sessions.push(session);
        (host.has_ended, host.dials) = (false, 0);
        is_room
    }

    /// Removes a session whose token was withdrawn.
    pub(super) fn down(&mut self, host: &NodeId, session: SessionId) {
        let Some(host) = self.0.get_mut(host) else {
            return;
        };
        let before = host.sessions.len();
        host.sessions.retain(|known| *known != session);
        host.has_ended |= before > 0 && host.sessions.is_empty();
    }

    /// Returns the session to dial for a host, or the reason why the host has no session.
    pub(super) fn dial(&mut self, host: &NodeId) -> Sought {
        let Some(host) = self.0.get_mut(host) else {
            return Sought::Unseen;
        };
        let turn = host.dials.checked_rem(host.sessions.len());
        match turn.and_then(|turn| host.sessions.iter().rev().nth(turn)) {
            Some(session) => {
                host.dials = host.dials.saturating_add(1);
                Sought::Session(*session)
            }
            None if std::mem::take(&mut host.has_ended) => Sought::Ended,
            None => Sought::Unseen,
        }
    }
}

/// Maximum number of sessions of one host that are known at a time. Chosen: with two, two forged tokens push out the
/// host's own; with many, many forged sessions are dialled before it.
const MOST_SESSIONS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn sought() -> (Hosts, NodeId) {
        let (mut hosts, host) = (Hosts::default(), NodeId::new("a").unwrap());
        hosts.seek(&host);
        (hosts, host)
    }

    #[test]
    fn the_end_of_a_host_is_told_once_and_its_return_is_found() {
        let (mut hosts, a) = sought();
        assert_eq!(hosts.dial(&a), Sought::Unseen);
        assert!(hosts.up(&a, SessionId(1)));
        assert_eq!(hosts.dial(&a), Sought::Session(SessionId(1)));
        hosts.down(&a, SessionId(2));
        assert_eq!(
            hosts.dial(&a),
            Sought::Session(SessionId(1)),
            "another session ended"
        );
        hosts.down(&a, SessionId(1));
        assert_eq!(hosts.dial(&a), Sought::Ended);
        assert_eq!(hosts.dial(&a), Sought::Unseen);
        hosts.down(&a, SessionId(1));
        assert_eq!(hosts.dial(&a), Sought::Unseen, "an end that is repeated");
        hosts.up(&a, SessionId(3));
        hosts.down(&a, SessionId(3));
        hosts.up(&a, SessionId(4));
        assert_eq!(hosts.dial(&a), Sought::Session(SessionId(4)), "it is back");
    }

    #[test]
    fn several_sessions_of_one_host_are_dialled_in_turn() {
        let (mut hosts, a) = sought();
        hosts.up(&a, SessionId(1));
        hosts.up(&a, SessionId(2));
        hosts.up(&a, SessionId(2));
        for session in [2, 1, 2, 1] {
            assert_eq!(hosts.dial(&a), Sought::Session(SessionId(session)));
        }
        hosts.up(&a, SessionId(3));
        assert_eq!(hosts.dial(&a), Sought::Session(SessionId(3)));
    }

    #[test]
    fn forged_tokens_are_bounded_and_those_of_other_hosts_are_none() {
        let (mut hosts, a) = sought();
        let b = NodeId::new("b").unwrap();
        assert!(!hosts.up(&b, SessionId(1)));
        assert_eq!(hosts.dial(&b), Sought::Unseen);
        let kept = (0..100).filter(|n| hosts.up(&a, SessionId(*n))).count();
        assert_eq!(kept, MOST_SESSIONS);
        let dialled: Vec<_> = (0..MOST_SESSIONS).map(|_| hosts.dial(&a)).collect();
        assert_eq!(dialled[0], Sought::Session(SessionId(99)));
        assert_eq!(dialled[7], Sought::Session(SessionId(92)));
        assert_eq!(hosts.0.len(), 1);
    }

    #[test]
    fn zenoh_is_asked_once_for_the_tokens_of_a_host() {
        let (mut hosts, a) = sought();
        assert_eq!(hosts.ask(), Some(a.clone()));
        hosts.seek(&a);
        assert_eq!(hosts.ask(), None);
    }
}
