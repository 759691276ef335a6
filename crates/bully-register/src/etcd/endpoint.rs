//! One member of a cluster, by its URL.
//!
//! Decided here: the URL has a scheme, a host and perhaps a port. Other parts are refused: they have no effect.

use std::str::FromStr;

use hyper::Uri;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EtcdEndpoint {
    is_secure: bool,
    /// The host; an IPv6 address without its brackets.
    host: String,
    authority: String,
    port: u16,
}

/// The error for a text that is not a valid endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an endpoint: write http://host:port or https://host:port and nothing else")]
pub(super) struct EndpointError(String);

impl EtcdEndpoint {
    pub(super) const fn is_secure(&self) -> bool {
        self.is_secure
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Returns host and port, as in a URL.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }
}

impl FromStr for EtcdEndpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        // The text before `@` may contain a password, which an error must not show.
        let shown = text.split_once('@').map_or(text, |(_, host)| host);
        let refused = || EndpointError(shown.chars().take(MOST_SHOWN).collect());
        let uri: Uri = text.parse().map_err(|_| refused())?;
        let is_secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(refused()),
        };
        let authority = uri.authority().ok_or_else(refused)?;
        let is_bare = uri.path() == "/" && uri.query().is_none();
        if !is_bare || authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(refused());
        }
        let port = match authority.port() {
            Some(port) => port.as_u16(),
            None if authority.as_str() == authority.host() => USUAL_PORT,
            // There is a colon, but no valid port after it.
            None => return Err(refused()),
        };
        let host = authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        Ok(Self {
            is_secure,
            host: bare.unwrap_or(host).to_owned(),
            authority: format!("{host}:{port}"),
            port,
        })
    }
}

/// Usual port of etcd for its clients.
const USUAL_PORT: u16 = 2379;
/// Longest part of a wrong endpoint that is shown, in characters.
const MOST_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_scheme_a_host_and_a_port() {
        for (text, is_secure, host, port) in [
            ("http://etcd-1:7379", false, "etcd-1", 7379),
            ("https://etcd-1.example/", true, "etcd-1.example", 2379),
            ("http://10.0.0.1", false, "10.0.0.1", 2379),
            ("https://[fd00::1]:1", true, "fd00::1", 1),
        ] {
            let endpoint: EtcdEndpoint = text.parse().unwrap();
            assert_eq!(
                (endpoint.is_secure(), endpoint.host(), endpoint.port()),
                (is_secure, host, port),
                "{text}"
            );
        }
    }

    #[test]
    fn anything_else_is_refused_without_its_password() {
        for text in [
            "",
            "etcd-1:2379",
            "etcd-1",
            "ftp://etcd-1",
            "http://",
            "http://:2379",
            "http://etcd-1:",
            "http://etcd-1:99999",
            "http://etcd-1/v3",
            "http://etcd-1?x",
            "http://user:sesame@etcd-1",
        ] {
            let refused = text.parse::<EtcdEndpoint>().unwrap_err().to_string();
            assert!(!refused.contains("sesame"), "{refused}");
        }
    }
}
