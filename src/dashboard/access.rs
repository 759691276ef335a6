//! Decides which callers may send commands through the page.
//!
//! Decided here: all checks of a request before its body is read. A page of another origin can make a browser send a
//! request (cross-site request forgery), but such a request has neither this page's header nor this page's origin. A
//! foreign host name that resolves to the loopback address (DNS rebinding) is refused, because it is not a name of
//! loopback. Not here: the commands.

use std::net::{IpAddr, SocketAddr};

use crate::web::{Token, bearer};

/// Right to command.
#[derive(Clone, Debug)]
pub(crate) enum CommandRights {
    /// No caller may command: the page is read-only.
    ReadOnly,
    /// Callers of this host may command.
    Loopback,
    /// Callers with this token may command, from any host.
    Token(Token),
}

/// The sender of a request, as its headers and its connection describe it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandSender<'a> {
    /// Whether the request has [`HEADER`].
    pub(crate) has_header: bool,
    pub(crate) origin: Option<&'a str>,
    pub(crate) host: Option<&'a str>,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) authorization: Option<&'a [u8]>,
    /// The header `Sec-Fetch-Site`, in which the browser reports whether the page that sends the request is of this
    /// site.
    pub(crate) site: Option<&'a str>,
}

/// The header of the page's own requests. A form or an image of another page cannot send it.
pub(crate) const HEADER: &str = "x-bully-dashboard";

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessError {
    #[error(
        "this dashboard takes no commands: allow them by `allow_faults` or `token` where the dashboard is made"
    )]
    ReadOnly,
    #[error("a command needs a header: send `X-Bully-Dashboard: 1`, as the page itself does")]
    NoHeader,
    #[error("a command needs an Origin that is this server's own: send it from the page itself")]
    OtherOrigin,
    #[error(
        "the page of another site asked for this, and it may not read the dashboard: open the dashboard itself, or use a client that is not a browser"
    )]
    OtherSite,
    #[error(
        "without a token, only a page that is opened on this host may send commands: open it as http://127.0.0.1 or http://localhost, or set a token"
    )]
    NotLoopback,
    #[error("a command needs the dashboard's token: send the header `Authorization: Bearer TOKEN`")]
    NoToken,
    #[error(
        "the token is not the token of the dashboard: look it up where the dashboard was started"
    )]
    WrongToken,
}

impl CommandRights {
    /// Checks whether this caller may command.
    pub(crate) fn admit(&self, caller: &CommandSender<'_>) -> Result<(), AccessError> {
        if matches!(self, Self::ReadOnly) {
            return Err(AccessError::ReadOnly);
        }
        caller.must_be_own_page()?;
        match self {
            Self::ReadOnly => Err(AccessError::ReadOnly),
            Self::Loopback if caller.is_local() => Ok(()),
            Self::Loopback => Err(AccessError::NotLoopback),
            Self::Token(token) => match caller.authorization.and_then(bearer) {
                Some(given) if token.is(given) => Ok(()),
                Some(_) => Err(AccessError::WrongToken),
                None => Err(AccessError::NoToken),
            },
        }
    }
}

impl CommandSender<'_> {
    /// Checks that the page itself sent the request. The body of a request from another origin is not read.
    pub(crate) fn must_be_own_page(&self) -> Result<(), AccessError> {
        if !self.has_header {
            return Err(AccessError::NoHeader);
        }
        if !self.origin.is_some_and(|origin| self.is_own(origin)) {
            return Err(AccessError::OtherOrigin);
        }
        Ok(())
    }

    /// Refuses a request from a page of another site. If a browser does not send `Sec-Fetch-Site`, the origin is
    /// checked: the browser sends it with each request whose answer the page could read.
    pub(crate) fn must_not_be_foreign(&self) -> Result<(), AccessError> {
        let is_foreign = match self.site {
            Some(site) => site != "same-origin" && site != "none",
            None => self.origin.is_some_and(|origin| !self.is_own(origin)),
        };
        if is_foreign {
            return Err(AccessError::OtherSite);
        }
        Ok(())
    }

    fn is_own(&self, origin: &str) -> bool {
        let name = origin.split_once("://").map(|(_, name)| name);
        name.zip(self.host)
            .is_some_and(|(name, host)| name.eq_ignore_ascii_case(host))
    }

    /// Returns whether the caller is on this host, and its `Host` header contains a name of loopback.
    pub(crate) fn is_local(&self) -> bool {
        self.peer.is_some_and(|peer| peer.ip().is_loopback()) && self.host.is_some_and(is_loopback)
    }
}

/// Returns whether a `Host` header contains a name of loopback.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(name, _)| name),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let is_address = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn local() -> CommandSender<'static> {
        CommandSender {
            has_header: true,
            origin: Some("http://127.0.0.1:8080"),
            host: Some("127.0.0.1:8080"),
            peer: Some(([127, 0, 0, 1], 50_000).into()),
            authorization: None,
            site: None,
        }
    }

    fn remote() -> CommandSender<'static> {
        CommandSender {
            origin: Some("https://Board.example"),
            host: Some("board.example"),
            peer: Some(([192, 0, 2, 1], 50_000).into()),
            ..local()
        }
    }

    fn with(change: impl FnOnce(&mut CommandSender<'static>)) -> CommandSender<'static> {
        let mut sender = local();
        change(&mut sender);
        sender
    }

    #[test]
    fn a_sender_is_admitted_by_its_host_or_its_token() {
        let bearing = |authorization| CommandSender {
            authorization: Some(authorization),
            ..remote()
        };
        // A foreign name that resolves to loopback.
        let rebound = with(|sender| {
            sender.origin = Some("http://evil.example:8080");
            sender.host = Some("evil.example:8080");
        });
        let token = CommandRights::Token(Token::new(SECRET).unwrap());
        let (shows, loopback) = (&CommandRights::ReadOnly, &CommandRights::Loopback);
        let token = &token;
        let not_loopback = Err(AccessError::NotLoopback);
        for (rights, sender, expected) in [
            (shows, local(), Err(AccessError::ReadOnly)),
            (loopback, local(), Ok(())),
            (loopback, remote(), not_loopback),
            (loopback, rebound, not_loopback),
            (loopback, with(|sender| sender.peer = None), not_loopback),
            (token, local(), Err(AccessError::NoToken)),
            (token, bearing(b"Bearer 0123456789abcdef"), Ok(())),
            (
                token,
                bearing(b"Bearer 0123456789abcdeg"),
                Err(AccessError::WrongToken),
            ),
            (
                token,
                bearing(b"0123456789abcdef"),
                Err(AccessError::NoToken),
            ),
        ] {
            assert_eq!(rights.admit(&sender), expected, "{rights:?}: {sender:?}");
        }
    }

    #[test]
    fn a_page_of_another_origin_commands_nothing() {
        let token = CommandRights::Token(Token::new(SECRET).unwrap());
        for rights in [&CommandRights::Loopback, &token] {
            let bare = with(|sender| sender.has_header = false);
            assert_eq!(rights.admit(&bare), Err(AccessError::NoHeader));
            for origin in [
                None,
                Some("null"),
                Some("http://127.0.0.1:8081"),
                Some("127.0.0.1:8080"),
                Some("http://evil.example"),
            ] {
                let found = rights.admit(&with(|sender| sender.origin = origin));
                assert_eq!(found, Err(AccessError::OtherOrigin), "{origin:?}");
            }
            let hostless = with(|sender| sender.host = None);
            assert_eq!(rights.admit(&hostless), Err(AccessError::OtherOrigin));
        }
    }

    #[test]
    fn a_page_of_another_site_reads_nothing() {
        let of = |site| CommandSender { site, ..local() };
        for site in [None, Some("same-origin"), Some("none")] {
            assert_eq!(of(site).must_not_be_foreign(), Ok(()), "{site:?}");
        }
        for site in ["cross-site", "same-site", ""] {
            let foreign = of(Some(site)).must_not_be_foreign();
            assert_eq!(foreign, Err(AccessError::OtherSite), "{site}");
        }
        let told = |origin| CommandSender { origin, ..local() };
        assert_eq!(told(None).must_not_be_foreign(), Ok(()));
        let foreign = told(Some("http://evil.example")).must_not_be_foreign();
        assert_eq!(foreign, Err(AccessError::OtherSite));
    }

    #[test]
    fn names_of_loopback() {
        for host in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1",
            "127.8.9.1:9",
            "[::1]",
            "[::1]:8080",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "10.0.0.1",
            "[::2]:80",
            "evil:127",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
