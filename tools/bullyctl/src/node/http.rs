//! Reaches a node by its routes.
//!
//! Decided here: plain HTTP only. The token leaves the host only if the option `--plaintext` asks for it.

use std::{fs, io, net::IpAddr, path::Path, time::Duration};

use actix_bully::operate::Explanation;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use ureq::{
    Agent, Error,
    http::{Response, StatusCode, Uri},
};

use super::{MOST, PATIENCE};
use crate::failure::Failure;

/// The routes of a node.
pub(crate) struct Routes {
    base: String,
    token: Option<String>,
}

impl Routes {
    pub(super) fn new(url: &str, token: Option<&Path>, plaintext: bool) -> Result<Self, Failure> {
        const WRONG: Failure = Failure::Usage(
            "the URL is not that of a node: write http://HOST:PORT or http://HOST:PORT/PATH",
        );
        let uri: Uri = url.parse().map_err(|_| WRONG)?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(Failure::Usage(
                    "bullyctl does not speak TLS: use --socket on the node's host, or a tunnel to it (ssh -L, kubectl port-forward)",
                ));
            }
            _ => return Err(WRONG),
        }
        let host = uri.host().ok_or(WRONG)?;
        let token = token.map(read_token).transpose()?;
        if token.is_some() && !plaintext && !is_here(host) {
            return Err(Failure::Usage(
                "the token would cross the network in plain text: use --socket, a tunnel, or --plaintext where that does no harm",
            ));
        }
        Ok(Self {
            base: url.trim_end_matches('/').to_owned(),
            token,
        })
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Reads a route.
    pub(super) fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        within: Duration,
    ) -> Result<T, Failure> {
        let answer = agent(within).get(format!("{}/{path}", self.base)).call();
        let (status, body) = self.read(answer)?;
        match (status, path) {
            // Status 503: no agent leads at present, and the body has the reason.
            (StatusCode::OK, _) | (StatusCode::SERVICE_UNAVAILABLE, HEALTH) => parse(&body),
            (other, _) => Err(self.odd(other, &body)),
        }
    }

    pub(super) fn diagnosis(&self) -> Result<Vec<Explanation>, Failure> {
        #[derive(Deserialize)]
        struct Health {
            agents: Vec<Explanation>,
        }
        let Health { agents } = self.get(HEALTH, PATIENCE)?;
        Ok(agents)
    }

    /// Sends a request that needs the token.
    pub(super) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        within: Duration,
        asked: &impl Serialize,
    ) -> Result<T, Failure> {
        let Some(token) = &self.token else {
            return Err(Failure::Denied(
                "commands need the node's token: name its file by --token-file".to_owned(),
            ));
        };
        let body = serde_json::to_string(asked).map_err(|error| Failure::Odd(error.to_string()))?;
        let answer = agent(within)
            .post(format!("{}/{path}", self.base))
            .header("Authorization", format!("Bearer {token}"))
            .header("Content-Type", "application/json")
            .send(body);
        let (status, body) = self.read(answer)?;
        match status {
            StatusCode::OK | StatusCode::CONFLICT | StatusCode::GATEWAY_TIMEOUT => parse(&body),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Failure::Denied(
                "the token is not that of this node: is the file the right one?".to_owned(),
            )),
            StatusCode::NOT_FOUND => Err(Failure::Denied(
                "this URL takes no commands: give the node a token, or correct the path in --url"
                    .to_owned(),
            )),
            other => Err(self.odd(other, &body)),
        }
    }

    fn read(
        &self,
        answer: Result<Response<ureq::Body>, Error>,
    ) -> Result<(StatusCode, Vec<u8>), Failure> {
        let mut answer = answer.map_err(|error| self.unreachable(&error))?;
        let body = answer.body_mut().with_config().limit(MOST).read_to_vec();
        let body = body.map_err(|error| self.unreachable(&error))?;
        Ok((answer.status(), body))
    }

    fn unreachable(&self, error: &Error) -> Failure {
        let advice = match error {
            Error::Timeout(_) => "the node hangs, or the network does not carry the answer",
            Error::HostNotFound => "is the host's name right?",
            Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                "does the node run, and is that its port?"
            }
            _ => "does the node run, and does it serve its routes there?",
        };
        Failure::Unreachable {
            place: self.base.clone(),
            cause: error.to_string(),
            advice,
        }
    }

    fn odd(&self, status: StatusCode, body: &[u8]) -> Failure {
        #[derive(Deserialize)]
        struct Refused {
            message: String,
        }
        if status == StatusCode::NOT_FOUND {
            return Failure::Unable(format!(
                "no route of a node is at {}: if the node's routes are below another path, add that path to --url",
                self.base
            ));
        }
        match serde_json::from_slice::<Refused>(body) {
            Ok(Refused { message }) => Failure::Unable(format!("{status}, {message}")),
            Err(_) => Failure::Odd(format!("{status}")),
        }
    }
}

/// The route that explains why no agent leads, or why the present leader leads.
const HEALTH: &str = "health";

/// Returns a client for one request that follows no redirects, because a token must not follow one.
fn agent(within: Duration) -> Agent {
    Agent::config_builder()
        .timeout_global(Some(within))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .build()
        .into()
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::Odd(error.to_string()))
}

fn read_token(path: &Path) -> Result<String, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::File {
        path: path.to_owned(),
        error,
    })?;
    let token = text.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::Usage(
            "the token file has to hold one token of visible ASCII characters, and nothing else",
        ));
    }
    Ok(token.to_owned())
}

/// Returns whether `host` is this host, so that a message to it does not leave this host.
fn is_here(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stays_on_the_host_unless_asked_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "0123456789abcdef\n").unwrap();
        let made = |url, plaintext| Routes::new(url, Some(&file), plaintext);
        for url in [
            "http://127.0.0.1:80",
            "http://LOCALHOST",
            "http://[::1]:8080/bully/",
        ] {
            let routes = made(url, false).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(routes.token.as_deref(), Some("0123456789abcdef"));
        }
        for url in [
            "http://10.0.0.1",
            "http://localhost.example",
            "http://127.0.0.1.example",
        ] {
            assert!(matches!(made(url, false), Err(Failure::Usage(_))), "{url}");
            assert!(made(url, true).is_ok(), "{url}");
            assert!(Routes::new(url, None, false).is_ok(), "reading needs none");
        }
        for url in [
            "https://localhost",
            "ftp://localhost",
            "localhost:80",
            "",
            "http://",
        ] {
            assert!(made(url, true).is_err(), "{url}");
        }
        fs::write(&file, "two words").unwrap();
        assert!(matches!(
            made("http://localhost", false),
            Err(Failure::Usage(_))
        ));
        let none = folder.path().join("none");
        let refused = Routes::new("http://localhost", Some(&none), false);
        assert!(matches!(refused, Err(Failure::File { .. })));
    }
}
