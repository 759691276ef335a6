//! The section `zenoh`: hosts that find each other by name in a zenoh network, in place of addresses.
//!
//! Decided here: what contradicts it, which key a refused endpoint is blamed on, and that links by `quic/` use the files of the
//! section `tls`. Not here: which endpoints are refused (`ZenohOptions`), and what zenoh does (`remote::zenoh`).

#[cfg(feature = "zenoh")]
use crate::remote::zenoh::{ZenohError, ZenohOptions};

#[cfg(feature = "zenoh")]
use super::value::cut;
use super::{Config, ConfigError, check::contradiction};

impl Config {
    /// Whether zenoh is the network.
    pub(super) fn has_zenoh(&self) -> bool {
        let zenoh = &self.zenoh;
        let lists = [&zenoh.listen, &zenoh.connect, &zenoh.routers];
        lists.iter().any(|endpoints| !endpoints.is_empty())
    }

    pub(super) fn check_zenoh(&self) -> Result<(), ConfigError> {
        if !self.has_zenoh() {
            return Ok(());
        }
        if self.listen.is_some() {
            let advice = "zenoh listens in place of the bridge: leave one of both out";
            return Err(contradiction("listen", "zenoh", advice));
        }
        let mut others = self.others();
        if let Some((at, _)) = others.find(|(_, peer)| peer.address.is_some()) {
            let advice = "zenoh finds a node by its name: leave the address out";
            let key = format!("peers[{at}].address");
            return Err(contradiction(key, "zenoh", advice));
        }
        let beside = [
            ("zenoh.listen", &self.zenoh.listen),
            ("zenoh.connect", &self.zenoh.connect),
        ];
        let beside = beside.iter().find(|(_, endpoints)| !endpoints.is_empty());
        if let (Some((other, _)), false) = (beside, self.zenoh.routers.is_empty()) {
            let advice = "a client of routers is linked with nothing else: leave one of both out";
            return Err(contradiction("zenoh.routers", other, advice));
        }
        self.check_endpoints()
    }

    #[cfg(not(feature = "zenoh"))]
    #[expect(clippy::unused_self, reason = "the same function as with zenoh")]
    fn check_endpoints(&self) -> Result<(), ConfigError> {
        let (key, feature) = ("zenoh", "zenoh");
        Err(ConfigError::NoFeature { key, feature })
    }

    #[cfg(feature = "zenoh")]
    fn check_endpoints(&self) -> Result<(), ConfigError> {
        let may_be_read = self.has_tls() || self.dangerous_plaintext;
        let checked = self.zenoh_options().check(may_be_read);
        checked.map_err(|reason| self.refused_endpoint(reason))
    }

    /// zenoh's part in what is started.
    #[cfg(feature = "zenoh")]
    pub(super) fn zenoh_options(&self) -> ZenohOptions {
        let (zenoh, tls) = (&self.zenoh, &self.tls);
        let mut options = if zenoh.routers.is_empty() {
            ZenohOptions::peer()
        } else {
            ZenohOptions::client()
        };
        for endpoint in &zenoh.listen {
            options = options.listen(endpoint);
        }
        for endpoint in zenoh.connect.iter().chain(&zenoh.routers) {
            options = options.connect(endpoint);
        }
        match (&tls.authorities_file, &tls.certificate_file, &tls.key_file) {
            (Some(authorities), Some(certificate), Some(key)) => {
                options.certificates(authorities, certificate, key)
            }
            _ => options,
        }
    }

    /// What an operator is told, who has keys and no methods.
    #[cfg(feature = "zenoh")]
    fn refused_endpoint(&self, reason: ZenohError) -> ConfigError {
        match reason {
            ZenohError::Endpoint { endpoint } => ConfigError::Value {
                key: self.key_of(&endpoint),
                value: cut(&endpoint),
                wanted: "\"tcp/HOST:PORT\" or \"quic/HOST:PORT\", without options",
            },
            ZenohError::Tls { endpoint } => ConfigError::Value {
                key: self.key_of(&endpoint),
                value: cut(&endpoint),
                wanted: "quic/ or tcp/, both with the section `tls`: zenoh's own links over TLS break and lose messages (eclipse-zenoh/zenoh#2557)",
            },
            ZenohError::Plaintext { endpoint } => ConfigError::Plaintext {
                key: self.key_of(&endpoint),
                address: endpoint,
            },
            ZenohError::NoCertificates { .. } => ConfigError::Missing {
                key: String::from("tls.certificate_file"),
                advice: "links by quic/ use the three files of the section `tls`",
            },
            // The lists are not empty, and a client of routers has no other.
            other @ (ZenohError::NoEndpoint
            | ZenohError::ClientListens { .. }
            | ZenohError::Listen { .. }
            | ZenohError::Thread(_)
            | ZenohError::Open(_)
            | ZenohError::Late { .. }) => ConfigError::Value {
                key: String::from("zenoh"),
                value: cut(&other.to_string()),
                wanted: "endpoints of a peer, or those of routers",
            },
        }
    }

    #[cfg(feature = "zenoh")]
    fn key_of(&self, endpoint: &str) -> String {
        let zenoh = &self.zenoh;
        let lists = [
            ("listen", &zenoh.listen),
            ("connect", &zenoh.connect),
            ("routers", &zenoh.routers),
        ];
        let place = lists.iter().find_map(|(list, endpoints)| {
            let at = endpoints.iter().position(|one| one == endpoint)?;
            Some(format!("zenoh.{list}[{at}]"))
        });
        place.unwrap_or_else(|| String::from("zenoh"))
    }
}
