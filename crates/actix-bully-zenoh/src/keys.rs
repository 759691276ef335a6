//! The keys under which hosts find each other in a zenoh network.
//!
//! ```text
//!  bully/<cluster>/live/<host>/<session>    a liveliness token: that session of that host is there
//!  bully/<cluster>/inbox/<host>/<session>   packets for that session
//! ```
//!
//! Decided here: these keys. Both contain the session, so that two processes with the same name, such as a process and
//! its successor, never read each other's packets. The names need no check here: names of hosts are DNS names, and a
//! cluster's name has no character that has a meaning in a key.

use std::fmt;

use actix_bully::remote::{ClusterId, NodeId};

/// A random number that identifies one zenoh session of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionId(pub(super) u128);

impl SessionId {
    pub(super) fn draw() -> Self {
        Self(fastrand::u128(..))
    }

    /// Returns the session in the key of a token of this host; `None` if the key has another form.
    pub(super) fn of_token(key: &str, cluster: &ClusterId, host: &NodeId) -> Option<Self> {
        let digits = key.strip_prefix(&format!("bully/{cluster}/live/{host}/"))?;
        let session = Self(u128::from_str_radix(digits, 16).ok()?);
        // Only one spelling of a number is accepted: otherwise two keys could be two tokens of one session.
        (session.to_string() == digits).then_some(session)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Returns the key of the token of a session.
pub(super) fn token(cluster: &ClusterId, host: &NodeId, session: SessionId) -> String {
    format!("bully/{cluster}/live/{host}/{session}")
}

/// Returns the pattern of the tokens of all sessions of a host.
pub(super) fn tokens(cluster: &ClusterId, host: &NodeId) -> String {
    format!("bully/{cluster}/live/{host}/*")
}

/// Returns the key of packets for a session.
pub(super) fn inbox(cluster: &ClusterId, host: &NodeId, session: SessionId) -> String {
    format!("bully/{cluster}/inbox/{host}/{session}")
}

#[cfg(test)]
mod tests {
    use zenoh::key_expr::keyexpr;

    use super::*;

    #[test]
    fn every_name_of_a_cluster_and_of_a_host_is_valid_in_a_key() {
        let hosts = ["a", "host-a.example", "3.x"].map(|host| NodeId::new(host).unwrap());
        for cluster in ["default", "a.b", "@admin", "größe", "a&b=c%2F", "~", "-"] {
            let cluster = ClusterId::new(cluster).unwrap();
            for host in &hosts {
                let session = SessionId::draw();
                for key in [
                    token(&cluster, host, session),
                    inbox(&cluster, host, session),
                    tokens(&cluster, host),
                ] {
                    assert!(keyexpr::new(&key).is_ok(), "{key}");
                }
                let (all, one) = (tokens(&cluster, host), token(&cluster, host, session));
                let (all, one) = (keyexpr::new(&all).unwrap(), keyexpr::new(&one).unwrap());
                assert!(all.intersects(one));
            }
        }
        for cluster in ["a/b", "*", "a$b", "#", "?", "a b", ""] {
            assert!(
                ClusterId::new(cluster).is_err(),
                "{cluster} has a meaning in a key"
            );
        }
    }

    #[test]
    fn a_token_of_another_form_names_no_session() {
        let (cluster, host) = (ClusterId::new("c").unwrap(), NodeId::new("a").unwrap());
        let session = SessionId(0xAB);
        let key = token(&cluster, &host, session);
        let read = |key: &str| SessionId::of_token(key, &cluster, &host);
        assert_eq!(read(&key), Some(session));
        for wrong in [
            "bully/c/live/a/ab",
            "bully/c/live/a/+00000000000000000000000000000ab",
            "bully/c/live/a/000000000000000000000000000000AB",
            "bully/c/live/b/000000000000000000000000000000ab",
            "bully/d/live/a/000000000000000000000000000000ab",
            "bully/c/live/a/x",
            "bully/c/live/a/",
            "",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
