//! Finds the places (sockets and URLs) at which the other nodes of a cluster may be reached, from the place of one
//! node.
//!
//! Decided here: a socket of the same host has the same path with the other node's name in it, if there is such a file;
//! routes are at the other node's host, with the same port and path. The URL that an agent publishes about itself gives
//! the port, and no host: a node must not lead a client to a host that the operator has not named. The token goes to
//! the first node alone. Not here: which nodes exist (`watch/known.rs`), and whether the right node answers
//! (`watch/all.rs`).

use std::path::{Component, Path, PathBuf};

use ureq::http::Uri;

use super::{Node, http::Routes};

/// The facts that one node knows about another node.
#[derive(Debug, Default)]
pub(crate) struct Beside<'a> {
    /// Names of the first node and of its agents, each with the name that replaces it in the path of the other node's
    /// socket.
    pub(crate) names: Vec<(&'a str, &'a str)>,
    /// The address at which the first node dials the other node; `None` if the first node does not dial it.
    pub(crate) address: Option<&'a str>,
    /// The texts that the other node's agents publish about themselves.
    pub(crate) about: Vec<&'a str>,
}

impl Node {
    /// Returns the places at which the other node may be, the likeliest first.
    pub(crate) fn beside(&self, other: &Beside<'_>) -> Vec<Self> {
        match self {
            Self::Socket(path) => {
                let paths = paths(path, other).into_iter();
                // Missing paths are left out: the other node may serve no socket, or a socket with another name.
                let paths = paths.filter(|path| path.try_exists().unwrap_or(true));
                paths.map(Self::Socket).collect()
            }
            Self::Routes(routes) => {
                let urls = distinct(urls(routes.base(), other));
                let routes = urls
                    .iter()
                    .filter_map(|url| Routes::new(url, None, false).ok());
                routes.map(Self::Routes).collect()
            }
        }
    }

    /// Returns the place as text for people.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Socket(path) => path.display().to_string(),
            Self::Routes(routes) => routes.base().to_owned(),
        }
    }
}

/// Returns the paths of the other node's socket.
fn paths(path: &Path, other: &Beside<'_>) -> Vec<PathBuf> {
    let names = other.names.iter();
    let paths = names.filter_map(|(own, its)| renamed(path, own, its));
    distinct(paths.collect())
}

/// Returns the path in which `its` replaces `own`, in the last part that contains `own`; `None` if no part does.
fn renamed(path: &Path, own: &str, its: &str) -> Option<PathBuf> {
    // A name that another host chose must not lead to another folder.
    if own.is_empty() || own == its || its.contains(['/', '\\']) || its.starts_with('.') {
        return None;
    }
    let mut parts: Vec<_> = path.components().collect();
    let part = parts.iter_mut().rev().find_map(|part| {
        let Component::Normal(name) = *part else {
            return None;
        };
        let name = name.to_str().filter(|name| name.contains(own))?;
        Some((name.replacen(own, its, 1), part))
    });
    let (name, part) = part?;
    *part = Component::Normal(name.as_ref());
    Some(parts.iter().collect())
}

/// Returns the URLs of the other node's routes.
fn urls(base: &str, other: &Beside<'_>) -> Vec<String> {
    let Some(first) = parsed(base) else {
        return Vec::new();
    };
    let dialled = other.address.and_then(host_of);
    let path = first.path().trim_end_matches('/');
    let mut urls = Vec::new();
    for about in other.about.iter().filter_map(|text| parsed(text)) {
        // The operator has named the host that the first node dials or, if the first node does not dial the other node,
        // the first node's own host.
        let is_named = about.host().is_some_and(|host| {
            dialled == Some(host) || dialled.is_none() && first.host() == Some(host)
        });
        if let Some(authority) = about.authority().filter(|_| is_named) {
            urls.push(format!("http://{authority}{path}"));
        }
    }
    if let Some(host) = dialled.filter(|host| first.host() != Some(host)) {
        let port = first.port_u16().unwrap_or(80);
        urls.push(format!("http://{host}:{port}{path}"));
    }
    urls
}

/// Returns the URL, if it is a URL of plain HTTP without a user.
fn parsed(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let is_plain = uri.scheme_str() == Some("http");
    let has_user = uri.authority()?.as_str().contains('@');
    (is_plain && !has_user).then_some(uri)
}

/// Returns the host of an address.
fn host_of(address: &str) -> Option<&str> {
    let (host, port) = address.rsplit_once(':')?;
    (!host.is_empty() && port.parse::<u16>().is_ok()).then_some(host)
}

fn distinct<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut seen = Vec::with_capacity(all.len());
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_beside_has_the_other_name_in_its_path() {
        let beside = |path: &str, names: &[(&'static str, &'static str)]| {
            let other = Beside {
                names: names.to_vec(),
                ..Beside::default()
            };
            let places = paths(path.as_ref(), &other).into_iter();
            let shown = places.map(|path| path.display().to_string());
            shown.collect::<Vec<_>>()
        };
        let names = [("host-1", "host-2"), ("api-1", "api-2")];
        for (path, places) in [
            ("/run/host-1.sock", vec!["/run/host-2.sock"]),
            ("/run/api-1/bully.sock", vec!["/run/api-2/bully.sock"]),
            ("/run/host-1/host-1.sock", vec!["/run/host-1/host-2.sock"]),
            ("/run/bully.sock", vec![]),
        ] {
            assert_eq!(beside(path, &names), places);
        }
        let alike = [("n1", "n2"), ("n1", "n2"), ("", "x"), ("n1", "n1")];
        assert_eq!(beside("n1.sock", &alike), ["n2.sock"]);
        let elsewhere = [("n1", "../n2"), ("n1", ".."), ("n1", "/n2"), ("n1", "a\\b")];
        assert!(beside("/run/n1/sock", &elsewhere).is_empty());
    }

    #[test]
    fn routes_beside_are_at_hosts_that_the_operator_has_named() {
        let beside = |url: &str, address: Option<&'static str>, about: &[&'static str]| {
            let other = Beside {
                address,
                about: about.to_vec(),
                ..Beside::default()
            };
            let first = Node::Routes(Routes::new(url, None, false).unwrap());
            let places = first.beside(&other);
            places.iter().map(Node::place).collect::<Vec<_>>()
        };
        let first = "http://10.0.0.1:8080/bully";
        let there = Some("10.0.0.2:7400");
        assert_eq!(
            beside(first, there, &["http://10.0.0.2:9090/"]),
            ["http://10.0.0.2:9090/bully", "http://10.0.0.2:8080/bully"]
        );
        // A published text never leads to another host, another scheme or a user.
        for about in [
            "http://169.254.169.254",
            "https://10.0.0.2:9090",
            "http://10.0.0.2:9090@10.0.0.9",
            "http://10.0.0.2@10.0.0.9:80",
            "rack 7",
        ] {
            assert_eq!(
                beside(first, there, &[about]),
                ["http://10.0.0.2:8080/bully"],
                "{about}"
            );
        }
        // The first node does not dial the other node, so only the first node's own host is accepted.
        assert_eq!(
            beside(first, None, &["http://10.0.0.1:9090", "http://10.0.0.3:1"]),
            ["http://10.0.0.1:9090/bully"]
        );
        // Two nodes of one host have different ports, and only the texts of their addresses show the ports.
        let here = Some("127.0.0.1:7401");
        assert!(beside("http://127.0.0.1:8080", here, &[]).is_empty());
        assert_eq!(
            beside(
                "http://[::1]:8080",
                Some("[::1]:7400"),
                &["http://[::1]:81"]
            ),
            ["http://[::1]:81"]
        );
    }
}
