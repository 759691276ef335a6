//! The options of a bridge in a zenoh network.
//!
//! Decided here: which endpoints are allowed, and zenoh's own settings. Multicast is off: a host takes part in the
//! given network, not in any network nearby. Links by other protocols than the protocols of the endpoints are refused,
//! so that gossip cannot lead an encrypted host to a host without encryption.

use std::path::PathBuf;

use actix_bully::remote::transport::{Tcp, Transport};
use serde_json::{Value, json};

use super::{ZenohError, error::text};

/// Options of a bridge in a zenoh network: it is a peer that is linked with other peers, or a client of routers.
///
/// Endpoints are `tcp/HOST:PORT` or `quic/HOST:PORT`. `tcp/` may leave the loopback only if the bridge has `.tls(..)`
/// or [`dangerous_plaintext`](actix_bully::remote::BridgeBuilder::dangerous_plaintext). A wrong endpoint is refused at
/// the start of the bridge, with a [`ZenohError`].
///
/// ```
/// use actix_bully_zenoh::ZenohOptions;
///
/// // Every host names one present host, and finds the other hosts by gossip.
/// let peer = ZenohOptions::peer().listen("tcp/127.0.0.1:7447").connect("tcp/127.0.0.1:7448");
/// // Hosts of several subnets meet at routers, one of which is enough.
/// let client = ZenohOptions::client().connect("quic/router-1:7447").connect("quic/router-2:7447")
///     .certificates("ca.pem", "host-a.pem", "host-a.key");
/// ```
#[derive(Clone, Debug)]
#[must_use = "options do nothing until they are those of a `ZenohTransport`"]
pub struct ZenohOptions {
    mode: SessionMode,
    listen: Vec<String>,
    connect: Vec<String>,
    certificates: Option<Certificates>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionMode {
    Peer,
    Client,
}

#[derive(Clone, Debug)]
struct Certificates {
    authorities: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl ZenohOptions {
    /// Returns the options of a peer, which is linked with every other peer: for hosts of one subnet.
    pub const fn peer() -> Self {
        Self::of(SessionMode::Peer)
    }

    /// Returns the options of a client, which is linked with one router at a time: for hosts of several subnets. The
    /// bridge starts with or without a router.
    pub const fn client() -> Self {
        Self::of(SessionMode::Client)
    }

    const fn of(mode: SessionMode) -> Self {
        Self {
            mode,
            listen: Vec::new(),
            connect: Vec::new(),
            certificates: None,
        }
    }

    /// Adds an endpoint at which other hosts connect to this peer. Default: none.
    pub fn listen(mut self, endpoint: &str) -> Self {
        self.listen.push(endpoint.to_owned());
        self
    }

    /// Adds a peer or a router to connect to; the connection is tried until it succeeds. Over `tcp/`, peers find the
    /// other peers by gossip. Over `quic/`, add every host that listens, by the name in its certificate. A client uses
    /// the first router that answers.
    pub fn connect(mut self, endpoint: &str) -> Self {
        self.connect.push(endpoint.to_owned());
        self
    }

    /// Sets the PEM files for `quic/`: authorities, the own certificate, its key. The files of a `TlsConfig` of
    /// actix-bully can be used. The certificates prove to the next neighbour that a host belongs to the network, but
    /// not which host it is. To prove the host, use the bridge's own `.tls(..)` or `.secret(..)` as well.
    pub fn certificates(
        mut self,
        authorities: impl Into<PathBuf>,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.certificates = Some(Certificates {
            authorities: authorities.into(),
            certificate: certificate.into(),
            key: key.into(),
        });
        self
    }

    pub(super) const fn mode(&self) -> SessionMode {
        self.mode
    }

    /// Refuses endpoints that a bridge must not use. `may_be_read` is set if other processes may read zenoh's packets:
    /// the bridge itself encrypts the data, or the data need no encryption.
    pub(crate) fn check(&self, may_be_read: bool) -> Result<(), ZenohError> {
        if let (SessionMode::Client, Some(endpoint)) = (self.mode, self.listen.first()) {
            let endpoint = endpoint.clone();
            return Err(ZenohError::ClientListens { endpoint });
        }
        if self.endpoints().next().is_none() {
            return Err(ZenohError::NoEndpoint);
        }
        for endpoint in self.endpoints() {
            let text = || endpoint.clone();
            match protocol(endpoint) {
                Some(("tcp", address)) => {
                    if !may_be_read && !Tcp::default().is_loopback(address) {
                        return Err(ZenohError::Plaintext { endpoint: text() });
                    }
                }
                Some(("quic", _)) if self.certificates.is_some() => {}
                Some(("quic", _)) => {
                    return Err(ZenohError::NoCertificates { endpoint: text() });
                }
                Some(("tls", _)) => return Err(ZenohError::Tls { endpoint: text() }),
                Some(_) | None => return Err(ZenohError::Endpoint { endpoint: text() }),
            }
        }
        Ok(())
    }

    /// Returns zenoh's settings.
    pub(super) fn config(&self) -> Result<zenoh::Config, ZenohError> {
        let settings = self.settings().to_string();
        zenoh::Config::from_json5(&settings).map_err(|reason| ZenohError::Open(text(&reason)))
    }

    fn settings(&self) -> Value {
        let mut protocols: Vec<_> = self
            .endpoints()
            .filter_map(|e| Some(protocol(e)?.0))
            .collect();
        protocols.sort_unstable();
        protocols.dedup();
        // With `quic/`, a link to a peer found by gossip would be refused: gossip gives an address, but the certificate
        // contains the name of the host.
        let has_gossip = protocols == ["tcp"];
        let mode = match self.mode {
            SessionMode::Peer => "peer",
            SessionMode::Client => "client",
        };
        let tls = self.certificates.as_ref().map(|files| {
            json!({
                "root_ca_certificate": files.authorities,
                "enable_mtls": true,
                "listen_certificate": files.certificate,
                "listen_private_key": files.key,
                "connect_certificate": files.certificate,
                "connect_private_key": files.key,
                "verify_name_on_connect": true,
                "close_link_on_expiration": true,
            })
        });
        json!({
            "mode": mode,
            "scouting": {
                "multicast": { "enabled": false },
                // Only one of two peers connects, because each pair would otherwise have two links.
                "gossip": { "enabled": has_gossip, "autoconnect_strategy": { "peer": { "to_peer": "greater-zid" } } },
            },
            "listen": { "endpoints": self.listen, "exit_on_failure": true, "timeout_ms": 0 },
            "connect": {
                "endpoints": self.connect,
                // The session opens without the connections to its endpoints, and tries to connect until it succeeds.
                "exit_on_failure": false, "timeout_ms": 0,
                "retry": { "period_init_ms": RETRY_MS, "period_max_ms": RETRY_MOST_MS, "period_increase_factor": 2 },
            },
            "transport": { "link": {
                "protocols": protocols,
                "tx": { "lease": LEASE_MS, "keep_alive": 4, "queue": { "size": { "real_time": 16 } } },
                // The default is 1 GiB, which any stranger could make this process hold.
                "rx": { "max_message_size": LONGEST_MESSAGE },
                "tls": tls.unwrap_or_else(|| json!({})),
            } },
        })
    }

    fn endpoints(&self) -> impl Iterator<Item = &String> {
        self.listen.iter().chain(&self.connect)
    }
}

/// Returns the protocol and the address of an endpoint. `None` for an endpoint with options of zenoh, because the
/// checks here do not cover the effects of zenoh's options.
fn protocol(endpoint: &str) -> Option<(&str, &str)> {
    let (protocol, address) = endpoint.split_once('/')?;
    let (host, port) = address.rsplit_once(':')?;
    let is_plain = !host.is_empty() && !address.contains(['?', '#', '/', ';', ' ']);
    (is_plain && port.parse::<u16>().is_ok()).then_some((protocol, address))
}

/// First and longest pause before zenoh tries an endpoint again. Chosen: a host that comes back is found within 2 s.
const RETRY_MS: u64 = 200;
const RETRY_MOST_MS: u64 = 2_000;
/// Time after which zenoh withdraws the token of a silent session. Chosen: longer than the 0.9 s after which the
/// bridge's heartbeats notice a cut cable. With far more, the token of a cut-off host stays, and the bridge dials it in
/// vain.
const LEASE_MS: u64 = 2_000;
const LONGEST_MESSAGE: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &ZenohOptions, may_be_read: bool) -> &'static str {
        match options.check(may_be_read).expect_err("it is refused") {
            ZenohError::Endpoint { .. } => "Endpoint",
            ZenohError::Tls { .. } => "Tls",
            ZenohError::Plaintext { .. } => "Plaintext",
            ZenohError::NoCertificates { .. } => "NoCertificates",
            ZenohError::NoEndpoint => "NoEndpoint",
            ZenohError::ClientListens { .. } => "ClientListens",
            ZenohError::Listen { .. }
            | ZenohError::Thread(_)
            | ZenohError::Open(_)
            | ZenohError::Late { .. } => "no matter of the options",
        }
    }

    #[test]
    fn only_endpoints_that_are_safe_are_allowed() {
        for endpoint in ["tcp/127.0.0.1:0", "tcp/localhost:7447", "tcp/[::1]:7447"] {
            assert!(
                ZenohOptions::peer().listen(endpoint).check(false).is_ok(),
                "{endpoint}"
            );
        }
        for (endpoint, why) in [
            ("tls/127.0.0.1:7447", "Tls"),
            ("tls/host-a:7447", "Tls"),
            ("tcp/10.0.0.1:7447", "Plaintext"),
            ("tcp/[::]:0", "Plaintext"),
            ("tcp/host-a:7447", "Plaintext"),
            ("quic/host-a:7447", "NoCertificates"),
            ("udp/127.0.0.1:7447", "Endpoint"),
            ("unixsock-stream/x", "Endpoint"),
            ("tcp/127.0.0.1", "Endpoint"),
            ("tcp/:7447", "Endpoint"),
            ("tcp/127.0.0.1:x", "Endpoint"),
            ("tcp/127.0.0.1:7447?rel=0", "Endpoint"),
            ("tcp/127.0.0.1:7447#iface=eth0", "Endpoint"),
            ("127.0.0.1:7447", "Endpoint"),
            ("", "Endpoint"),
        ] {
            assert_eq!(
                refused(&ZenohOptions::peer().listen(endpoint), false),
                why,
                "{endpoint}"
            );
            assert_eq!(
                refused(&ZenohOptions::client().connect(endpoint), false),
                why,
                "{endpoint}"
            );
        }
        let far = ZenohOptions::peer().listen("tcp/10.0.0.1:7447");
        assert!(far.check(true).is_ok());
        assert_eq!(refused(&far.connect("tls/10.0.0.2:7447"), true), "Tls");
        let quic = ZenohOptions::client().connect("quic/router:7447");
        assert!(quic.certificates("ca", "c", "k").check(false).is_ok());
    }

    #[test]
    fn a_peer_needs_an_endpoint_and_a_client_a_router() {
        assert_eq!(refused(&ZenohOptions::peer(), false), "NoEndpoint");
        assert_eq!(refused(&ZenohOptions::client(), false), "NoEndpoint");
        let listening = ZenohOptions::client().listen("tcp/127.0.0.1:0");
        assert_eq!(
            refused(&listening.connect("tcp/127.0.0.1:1"), false),
            "ClientListens"
        );
    }

    #[test]
    fn the_refusal_of_tls_names_the_defect_and_a_way_out() {
        let refused = ZenohOptions::peer().listen("tls/host-a:7447").check(true);
        let text = format!("{:?}", refused.unwrap_err()); // as Rust prints an error of `main`
        assert!(
            text.contains("zenoh#2557") && text.contains("quic/"),
            "{text}"
        );
    }

    #[test]
    fn zenoh_takes_the_settings() {
        let peer = ZenohOptions::peer()
            .listen("tcp/127.0.0.1:0")
            .connect("tcp/127.0.0.1:1");
        assert!(peer.config().is_ok());
        assert_eq!(
            peer.settings()["transport"]["link"]["protocols"],
            json!(["tcp"])
        );
        let quic = ZenohOptions::client()
            .connect("quic/a:1")
            .certificates("ca", "c", "k");
        assert!(quic.config().is_ok());
        let settings = quic.settings();
        assert_eq!(settings["transport"]["link"]["protocols"], json!(["quic"]));
        assert_eq!(
            settings["transport"]["link"]["tls"]["enable_mtls"],
            json!(true)
        );
        assert_eq!(settings["scouting"]["gossip"]["enabled"], json!(false));
        assert_eq!(settings["scouting"]["multicast"]["enabled"], json!(false));
    }
}
