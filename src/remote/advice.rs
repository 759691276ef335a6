//! The advice to an operator for a link that ended or never became ready.
//!
//! Decided here: one sentence of advice for each cause, and no advice for a link that ends as intended. The log, the
//! diagnosis and `/health` all take their advice from this file, so that they do not contradict each other. Not here:
//! the cause in words ([`Closed`]).

use std::io::{self, ErrorKind};

use bully_register::Outlook;

use super::{CertificateFault, Closed, Farewell, SecretFault, TermFault};

/// The advice for a link that was closed; `None` if it ended as intended.
pub(crate) const fn advice(why: Closed) -> Option<&'static str> {
    Some(match why {
        Closed::HandshakeTimeout => {
            "look whether that process hangs, and whether a bridge listens there"
        }
        Closed::FrameTooLarge { .. } | Closed::Malformed(_) | Closed::Protocol => {
            "look whether a bridge listens there, and give both sides the same release"
        }
        Closed::Version | Closed::Goodbye(Farewell::Version) => "update the older side",
        Closed::Cluster | Closed::Goodbye(Farewell::Cluster) => {
            "give both nodes the same cluster, or take the node out of the peers"
        }
        Closed::IsSelf | Closed::Goodbye(Farewell::IsSelf) => {
            "give each node a name of its own, and the peer an address that is not this node's"
        }
        Closed::Auth => "add the node to the peers here, under the name that it uses",
        Closed::OtherNode => "correct the address of the peer, or its name",
        Closed::Goodbye(Farewell::Auth) => {
            "add this node to the peers there, under the name that it uses; for a new voter it is enough to ask there for `voters add` with its node and address; if its agent was removed from the voters, stop this node"
        }
        Closed::Certificate(fault) => certificate(fault),
        Closed::Secret(SecretFault::NotThere) => "give the peer the secret of this node",
        Closed::Secret(SecretFault::NotHere) => "give this node the secret of the peer",
        Closed::Secret(SecretFault::Unproved) | Closed::Goodbye(Farewell::Secret) => {
            "give both sides the same secret"
        }
        Closed::Tls => "look whether a bridge with TLS listens there",
        Closed::Encrypted => "give this node the certificates of TLS, or take them from the peer",
        Closed::NotEncrypted => {
            "give the peer the certificates of TLS, and look whether a bridge listens there"
        }
        Closed::Stale | Closed::Goodbye(Farewell::Stale) => STALE,
        Closed::NameHeld | Closed::Goodbye(Farewell::NameHeld) => {
            "stop one of the two processes, or give it a name of its own"
        }
        Closed::WrongLink
        | Closed::Sequence { .. }
        | Closed::FromNotAllowed
        | Closed::Openings
        | Closed::UnknownTargets => "give both sides the same release",
        Closed::Role { .. } => "widen the rights of the peer, or take the agent's score away there",
        Closed::Term(TermFault::Last { .. } | TermFault::Jump { .. }) => {
            "compare the clocks of both hosts and the records of their agents: one names a term that no election reached"
        }
        Closed::TooManyAgents => "raise `groups` and `agents` of the limits here",
        Closed::PeerLimit => "raise `groups` and `agents` of the peer's limits",
        Closed::Rate => "raise `rate` of the limits here, or let that host send less",
        Closed::SlowPeer | Closed::FrameTimeout | Closed::Silent => {
            "look whether that host is overloaded or stands still, and at the network between"
        }
        Closed::TooManyConnections => "find out where these connections come from",
        Closed::Lost => "look whether that process runs, and at the network between",
        Closed::Goodbye(Farewell::Other(_)) => "look at the log of that node",
        Closed::Replaced
        | Closed::Leaving
        | Closed::Goodbye(Farewell::Leaving | Farewell::Replaced) => return None,
    })
}

/// The earlier process stays refused for some time after the later process has ended, unless the earlier process is
/// restarted.
const STALE: &str = "stop the earlier process, or stop the later one and restart the earlier one, or give one a name of its own";

const fn certificate(fault: CertificateFault) -> &'static str {
    match fault {
        CertificateFault::NotShown => {
            "give the peer a certificate, or ignore this if it is no node of yours"
        }
        CertificateFault::Authority => {
            "let this node trust the authority of the peer's certificate, or give the peer a certificate of the authority here"
        }
        CertificateFault::Expired => {
            "renew the peer's certificate: put the new files in place there"
        }
        CertificateFault::NotYetValid => {
            "compare the clocks of both hosts: the clock here is behind, or the clock of the certificate's issuer was ahead"
        }
        CertificateFault::Usage => {
            "give the peer a certificate for both ends: extendedKeyUsage serverAuth and clientAuth"
        }
        CertificateFault::Damaged => "give the peer the certificate that belongs to its key",
        CertificateFault::Name => {
            "correct the address of the peer, or give it a certificate whose one name is the node's"
        }
        CertificateFault::Stranger => {
            "add the node to the peers here, under the name that its certificate has"
        }
        CertificateFault::OwnAuthority => {
            "let the peer trust the authority of this node's certificate, or give this node a certificate of the authority there"
        }
        CertificateFault::OwnDates => {
            "renew this node's certificate, and put the new files in place; if it is valid, compare the clocks of both hosts"
        }
        CertificateFault::OwnRefused => "look at the log of that node, which names the reason",
    }
}

/// Returns the advice for an address that could not be dialled. If the cause of the error is on this host, the advice
/// is about this host.
pub(crate) fn advice_to_dial(error: &io::Error) -> &'static str {
    if let Some(advice) = Outlook::of(error).advice() {
        return advice;
    }
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the system has many more errors, and most are of a name that is not resolved"
    )]
    match error.kind() {
        ErrorKind::ConnectionRefused => {
            "no process listens there: start it, or correct the address"
        }
        ErrorKind::TimedOut | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            "look whether that host runs, and at firewalls and the network between"
        }
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
            "look whether that process ends again and again"
        }
        ErrorKind::NetworkDown => "bring the network of this host up: its interface is down",
        ErrorKind::AddrNotAvailable => {
            "find the process of this host that opens many connections: the host has no local port left, or no address of that family"
        }
        ErrorKind::WouldBlock => {
            "let this process start more threads (`ulimit -u`, `TasksMax=`): it needs one to resolve a name"
        }
        ErrorKind::PermissionDenied => "let this process make connections: its system forbids it",
        _ => "correct the address, and look whether this host resolves the name in it",
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use rustix::io::Errno;

    use super::*;
    use crate::{protocol::Term, remote::WireError};

    /// Causes that one layer knows and another layer shows. Each has a word that the advice contains.
    const CAUSES: &[(Closed, &str)] = &[
        (
            Closed::Certificate(CertificateFault::Authority),
            "trust the authority",
        ),
        (
            Closed::Certificate(CertificateFault::OwnAuthority),
            "trust the authority",
        ),
        (Closed::Certificate(CertificateFault::Expired), "renew"),
        (Closed::Certificate(CertificateFault::OwnDates), "renew"),
        (Closed::Certificate(CertificateFault::NotYetValid), "clocks"),
        (
            Closed::Certificate(CertificateFault::NotShown),
            "give the peer a certificate",
        ),
        (Closed::Certificate(CertificateFault::Usage), "serverAuth"),
        (Closed::Certificate(CertificateFault::Damaged), "its key"),
        (Closed::Certificate(CertificateFault::Name), "one name"),
        (
            Closed::Certificate(CertificateFault::Stranger),
            "to the peers here",
        ),
        (Closed::Certificate(CertificateFault::OwnRefused), "the log"),
        (Closed::Encrypted, "take them from the peer"),
        (Closed::NotEncrypted, "give the peer the certificates"),
        (Closed::Cluster, "the same cluster"),
        (Closed::Goodbye(Farewell::Cluster), "the same cluster"),
        (Closed::Auth, "to the peers here"),
        (Closed::Goodbye(Farewell::Auth), "to the peers there"),
        (Closed::OtherNode, "address"),
        (Closed::Version, "update"),
        (Closed::IsSelf, "a name of its own"),
        (Closed::Stale, "restart the earlier"),
        (Closed::Goodbye(Farewell::Stale), "restart the earlier"),
        (Closed::NameHeld, "stop one"),
        (Closed::Goodbye(Farewell::NameHeld), "stop one"),
        (
            Closed::Secret(SecretFault::NotThere),
            "the secret of this node",
        ),
        (
            Closed::Secret(SecretFault::NotHere),
            "the secret of the peer",
        ),
        (
            Closed::Secret(SecretFault::Unproved),
            "both sides the same secret",
        ),
        (
            Closed::Term(TermFault::Last { term: Term(1) }),
            "the clocks",
        ),
        (
            Closed::FrameTooLarge {
                len: 1 << 30,
                max: 1,
            },
            "a bridge listens there",
        ),
        (Closed::Malformed(WireError::Type), "a bridge listens there"),
        (Closed::PeerLimit, "the peer's limits"),
        (Closed::Silent, "overloaded"),
    ];

    #[test]
    fn each_cause_has_its_own_advice() {
        for (why, word) in CAUSES {
            let advice = advice(*why).unwrap_or_default();
            assert!(advice.contains(word), "{why}: {advice}");
            // The cause stands once, and neither text is a question.
            let cause = why.to_string();
            assert!(!cause.contains('?') && !advice.contains('?'), "{cause}");
        }
    }

    #[test]
    fn an_ordinary_end_needs_no_advice() {
        for why in [
            Closed::Leaving,
            Closed::Replaced,
            Closed::Goodbye(Farewell::Leaving),
            Closed::Goodbye(Farewell::Replaced),
        ] {
            assert_eq!(advice(why), None, "{why}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_dialled_has_advice_for_its_error() {
        for (kind, word) in [
            (ErrorKind::ConnectionRefused, "no process listens there"),
            (ErrorKind::TimedOut, "firewalls"),
            (ErrorKind::NotFound, "resolves the name"),
            (ErrorKind::PermissionDenied, "make connections"),
        ] {
            assert!(advice_to_dial(&kind.into()).contains(word), "{kind}");
        }
    }

    /// The address is right, so that no advice to correct it helps.
    #[cfg(unix)]
    #[test]
    fn an_error_of_this_host_is_not_blamed_on_the_address() {
        for (number, word) in [
            (Errno::MFILE, "ulimit -n"),
            (Errno::NFILE, "fs.file-max"),
            (Errno::NOMEM, "memory"),
            (Errno::NOBUFS, "memory"),
            (Errno::NETDOWN, "interface is down"),
            (Errno::ADDRNOTAVAIL, "local port"),
            (Errno::AGAIN, "more threads"),
        ] {
            let advice = advice_to_dial(&number.into());
            assert!(advice.contains(word), "{number:?}: {advice}");
            assert!(!advice.contains("correct the address"), "{number:?}");
        }
    }
}
