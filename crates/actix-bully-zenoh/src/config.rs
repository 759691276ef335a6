//! The section `zenoh` of a configuration.
//!
//! Decided here: which keys of the section contradict each other, which key an error names if it refuses an endpoint,
//! and that `quic/` links use the files of the section `tls`. Not here: which endpoints are refused (`options.rs`).
//! [`actix_bully::config`] reads the keys themselves, from a file and from the environment, and finds contradictions
//! with other sections.

use actix_bully::config::{Config, ConfigError, Starter, ZenohSettings};

use super::{ZenohError, ZenohOptions, ZenohTransport};

/// Checks a configuration and returns its starter. With a section `zenoh`, the starter uses zenoh as its network;
/// without one, it is the starter of [`Config::starter`]. Nothing is started and no session is opened.
///
/// ```no_run
/// use std::time::Duration;
/// use actix_bully::config::Config;
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     actix::System::new().block_on(async {
///         let config = Config::load("/etc/jobs.toml", "JOBS")?;
///         let running = actix_bully_zenoh::starter(&config)?.start()?;
///         Ok(running.leave_on_signals(Duration::from_secs(10)).await?)
///     })
/// }
/// ```
///
/// # Errors
/// [`ConfigError`], for the reasons of [`Config::check`], or for an endpoint that is not valid, or whose messages other
/// hosts could read.
///
/// ```
/// use actix_bully::config::Config;
///
/// let config = Config::from_toml(r#"
///     node = "api-1"
///     group = "jobs"
///     zenoh.listen = ["udp/127.0.0.1:7447"]
/// "#)?;
/// let refused = actix_bully_zenoh::starter(&config).unwrap_err();
/// assert_eq!(refused.key().as_deref(), Some("zenoh.listen[0]"));
/// # Ok::<(), actix_bully::config::ConfigError>(())
/// ```
pub fn starter(config: &Config) -> Result<Starter, ConfigError> {
    let starter = config.starter()?;
    if config.zenoh == ZenohSettings::default() {
        return Ok(starter);
    }
    check_ways(&config.zenoh)?;
    let options = options(config);
    let checked = options.check(has_tls(config) || config.dangerous_plaintext);
    checked.map_err(|reason| refused_endpoint(&config.zenoh, reason))?;
    Ok(starter.zenoh(ZenohTransport::new(options)))
}

/// Checks that a configuration with `zenoh.routers` has neither `zenoh.listen` nor `zenoh.connect`.
fn check_ways(zenoh: &ZenohSettings) -> Result<(), ConfigError> {
    let beside = [
        ("zenoh.listen", &zenoh.listen),
        ("zenoh.connect", &zenoh.connect),
    ];
    let beside = beside.iter().find(|(_, endpoints)| !endpoints.is_empty());
    match beside {
        Some((other, _)) if !zenoh.routers.is_empty() => Err(ConfigError::Contradiction {
            key: String::from("zenoh.routers"),
            other: String::from(*other),
            advice: "a client of routers is linked with nothing else: remove one of the two",
        }),
        Some(_) | None => Ok(()),
    }
}

fn options(config: &Config) -> ZenohOptions {
    let (zenoh, tls) = (&config.zenoh, &config.tls);
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

/// Returns whether the bridge encrypts. The check refused one with only some of the TLS files.
fn has_tls(config: &Config) -> bool {
    config.tls.certificate_file.is_some()
}

/// Returns the error in words for an operator, who knows the keys of a configuration but not the methods of a builder.
fn refused_endpoint(zenoh: &ZenohSettings, reason: ZenohError) -> ConfigError {
    match reason {
        ZenohError::Endpoint { endpoint } => ConfigError::Value {
            key: key_of(zenoh, &endpoint),
            value: cut(&endpoint),
            wanted: "\"tcp/HOST:PORT\" or \"quic/HOST:PORT\", without options".into(),
        },
        ZenohError::Tls { endpoint } => ConfigError::Value {
            key: key_of(zenoh, &endpoint),
            value: cut(&endpoint),
            wanted: "quic/ or tcp/, both with the section `tls`: zenoh's own links over TLS break and lose messages (eclipse-zenoh/zenoh#2557)".into(),
        },
        ZenohError::Plaintext { endpoint } => ConfigError::Plaintext {
            key: key_of(zenoh, &endpoint),
            address: endpoint,
        },
        ZenohError::NoCertificates { .. } => ConfigError::Missing {
            key: String::from("tls.certificate_file"),
            advice: "links by quic/ use the three files of the section `tls`",
        },
        // Not possible here: there is an endpoint, a client has no `listen` key, and nothing was started.
        other @ (ZenohError::NoEndpoint
        | ZenohError::ClientListens { .. }
        | ZenohError::Listen { .. }
        | ZenohError::Thread(_)
        | ZenohError::Open(_)
        | ZenohError::Late { .. }) => ConfigError::Value {
            key: String::from("zenoh"),
            value: cut(&other.to_string()),
            wanted: "endpoints of a peer, or those of routers".into(),
        },
    }
}

fn key_of(zenoh: &ZenohSettings, endpoint: &str) -> String {
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

/// Returns a text in quotes, cut after [`LONGEST`] characters.
fn cut(text: &str) -> Box<str> {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str("..");
    }
    format!("{short:?}").into()
}

/// Longest part of a wrong text that an error repeats, in characters.
const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "node = \"a\"\ngroup = \"g\"\npeers = [{ node = \"b\" }]";

    /// Returns the error of a configuration's text or of its check.
    fn refusal(text: &str) -> String {
        let judged = Config::from_toml(text).and_then(|config| starter(&config));
        judged.map_or_else(|refused| refused.to_string(), |_| String::from("accepted"))
    }

    #[test]
    fn an_endpoint_that_is_refused_is_named_by_its_place() {
        for row in REFUSED.trim().lines() {
            let (text, expected) = row.split_once(" | ").unwrap();
            let text = format!("{TWO}\n{}", text.trim().replace("\\n", "\n"));
            assert_eq!(refusal(&text), expected, "\n{text}");
        }
    }

    const REFUSED: &str = r#"
        zenoh.routers = ["tcp/127.0.0.1:1"]\nzenoh.listen = ["tcp/127.0.0.1:0"] | `zenoh.routers` contradicts `zenoh.listen`: a client of routers is linked with nothing else: remove one of the two
        zenoh.routers = ["tcp/127.0.0.1:1"]\nzenoh.connect = ["tcp/127.0.0.1:0"] | `zenoh.routers` contradicts `zenoh.connect`: a client of routers is linked with nothing else: remove one of the two
        zenoh.listen = ["udp/127.0.0.1:1"] | `zenoh.listen[0]` is "udp/127.0.0.1:1": it has to be "tcp/HOST:PORT" or "quic/HOST:PORT", without options
        zenoh.connect = ["tcp/127.0.0.1:1", "127.0.0.1:1"] | `zenoh.connect[1]` is "127.0.0.1:1": it has to be "tcp/HOST:PORT" or "quic/HOST:PORT", without options
        zenoh.routers = ["tcp/127.0.0.1:1#iface=eth0"] | `zenoh.routers[0]` is "tcp/127.0.0.1:1#iface=eth0": it has to be "tcp/HOST:PORT" or "quic/HOST:PORT", without options
        zenoh.listen = ["tls/b:1"] | `zenoh.listen[0]` is "tls/b:1": it has to be quic/ or tcp/, both with the section `tls`: zenoh's own links over TLS break and lose messages (eclipse-zenoh/zenoh#2557)
        zenoh.connect = ["quic/b:1"] | `tls.certificate_file` is missing: links by quic/ use the three files of the section `tls`
        zenoh.connect = ["tcp/10.0.0.2:1"] | `zenoh.connect[0]` is "tcp/10.0.0.2:1", which may be on another host, and nothing is encrypted: add the section `tls`, or `dangerous_plaintext = true` if no other process is on that network
        dangerous_plaintext = true\nzenoh.connect = ["tcp/10.0.0.2:1"] | accepted
        zenoh.connect = ["udp/1234567890123456789012345678901234567890123456789012345678:10"] | `zenoh.connect[0]` is "udp/1234567890123456789012345678901234567890123456789012345678:1..": it has to be "tcp/HOST:PORT" or "quic/HOST:PORT", without options
        zenoh.conect = ["tcp/127.0.0.1:1"] | there is no key `zenoh.conect`: did you mean `zenoh.connect`?
    "#;

    #[test]
    fn the_environment_gives_endpoints_as_a_file_does() {
        let routers = ("P_ZENOH_ROUTERS".to_owned(), "tcp/10.0.0.2:1".to_owned());
        let config = Config::from_toml(TWO).unwrap().with_env("P", [routers]);
        let refused = starter(&config.unwrap()).unwrap_err();
        assert_eq!(refused.key().as_deref(), Some("zenoh.routers[0]"));
    }

    #[test]
    fn zenoh_is_started_for_its_section_and_needs_no_secret_on_this_host() {
        let empty = "node = \"a\"\ngroup = \"g\"\n[zenoh]".to_owned();
        let listens = format!("{TWO}\nzenoh.listen = [\"{}\"]", crate::tests::endpoint());
        for (text, has_bridge) in [(empty, false), (listens, true)] {
            actix::System::new().block_on(async {
                let config = Config::from_toml(&text).unwrap();
                let running = starter(&config).unwrap().start().unwrap();
                assert_eq!(running.bridge().is_some(), has_bridge);
                running
                    .leave(std::time::Duration::from_secs(5))
                    .await
                    .unwrap();
            });
        }
    }
}
