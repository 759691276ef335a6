//! The section `zenoh`: what contradicts it, and how a refused endpoint is named.

use crate::config::{
    Config,
    tests::{every_line_is_refused, refusal},
};

const TWO: &str = "node = \"a\"\ngroup = \"g\"\npeers = [{ node = \"b\" }]";

/// Whether the feature is there or not.
#[test]
fn what_contradicts_zenoh_is_named() {
    every_line_is_refused(
        "node = \"a\"\ngroup = \"g\"",
        r#"
        listen = "127.0.0.1:0"\nzenoh.listen = ["tcp/127.0.0.1:0"] | `listen` contradicts `zenoh`: zenoh listens in place of the bridge: leave one of both out
        peers = [{ node = "b" }, { node = "c", address = "127.0.0.1:1" }]\nzenoh.connect = ["tcp/127.0.0.1:1"] | `peers[1].address` contradicts `zenoh`: zenoh finds a node by its name: leave the address out
        zenoh.routers = ["tcp/127.0.0.1:1"]\nzenoh.listen = ["tcp/127.0.0.1:0"] | `zenoh.routers` contradicts `zenoh.listen`: a client of routers is linked with nothing else: leave one of both out
        zenoh.routers = ["tcp/127.0.0.1:1"]\nzenoh.connect = ["tcp/127.0.0.1:0"] | `zenoh.routers` contradicts `zenoh.connect`: a client of routers is linked with nothing else: leave one of both out
        zenoh.mode = "client" | there is no key `zenoh.mode`: leave it out
        zenoh.listen = "tcp/127.0.0.1:0" | `zenoh.listen` is "tcp/127.0.0.1:0": it has to be a list of names in quotes
    "#,
    );
}

#[test]
fn without_the_feature_zenoh_is_refused_and_with_it_accepted() {
    let said = refusal(&format!("{TWO}\nzenoh.connect = [\"tcp/127.0.0.1:1\"]"));
    let expected = if cfg!(feature = "zenoh") {
        "accepted"
    } else {
        "`zenoh` needs the feature `zenoh` of actix-bully, which this program was built without"
    };
    assert_eq!(said, expected);
    if cfg!(feature = "zenoh") {
        let alone = "node = \"a\"\ngroup = \"g\"\nzenoh.listen = [\"tcp/127.0.0.1:0\"]";
        assert_eq!(refusal(alone), "accepted");
        let said = refusal(&format!("{alone}\nlease.folder = \"f\""));
        assert!(
            said.starts_with("`lease.folder` contradicts `zenoh`: "),
            "{said}"
        );
    }
}

#[test]
fn zenoh_is_shown_as_it_is_read_and_variables_set_it() {
    let zenoh = [(
        "P_ZENOH_ROUTERS".to_owned(),
        "quic/r-1:1,quic/r-2:1".to_owned(),
    )];
    let config = Config::from_toml(TWO)
        .unwrap()
        .with_env("P", zenoh)
        .unwrap();
    assert_eq!(config.zenoh.routers, ["quic/r-1:1", "quic/r-2:1"]);
    let shown = serde_json::to_value(&config).unwrap();
    let expected = serde_json::json!({ "routers": ["quic/r-1:1", "quic/r-2:1"] });
    assert_eq!(shown["zenoh"], expected);
    assert_eq!(serde_json::from_value::<Config>(shown).unwrap(), config);
}

#[cfg(feature = "zenoh")]
#[test]
fn an_endpoint_that_is_refused_is_named_by_its_place() {
    every_line_is_refused(
        TWO,
        r#"
        zenoh.listen = ["udp/127.0.0.1:1"] | `zenoh.listen[0]` is "udp/127.0.0.1:1": it has to be "tcp/HOST:PORT" or "quic/HOST:PORT", without options
        zenoh.connect = ["tcp/127.0.0.1:1", "127.0.0.1:1"] | `zenoh.connect[1]` is "127.0.0.1:1": it has to be "tcp/HOST:PORT" or "quic/HOST:PORT", without options
        zenoh.routers = ["tcp/127.0.0.1:1#iface=eth0"] | `zenoh.routers[0]` is "tcp/127.0.0.1:1#iface=eth0": it has to be "tcp/HOST:PORT" or "quic/HOST:PORT", without options
        zenoh.listen = ["tls/b:1"] | `zenoh.listen[0]` is "tls/b:1": it has to be quic/ or tcp/, both with the section `tls`: zenoh's own links over TLS break and lose messages (eclipse-zenoh/zenoh#2557)
        zenoh.connect = ["quic/b:1"] | `tls.certificate_file` is missing: links by quic/ use the three files of the section `tls`
        zenoh.connect = ["tcp/10.0.0.2:1"] | `zenoh.connect[0]` is "tcp/10.0.0.2:1", which is not known to be of this host, and nothing is encrypted: add the section `tls`, or `dangerous_plaintext = true` if no other process is on that network
        secret_file = "s"\nzenoh.connect = ["tcp/10.0.0.2:1"] | `zenoh.connect[0]` is "tcp/10.0.0.2:1", which is not known to be of this host, and nothing is encrypted: add the section `tls`, or `dangerous_plaintext = true` if no other process is on that network
    "#,
    );
    let word = "dangerous_plaintext = true\nzenoh.connect = [\"tcp/10.0.0.2:1\"]";
    assert_eq!(refusal(&format!("{TWO}\n{word}")), "accepted");
    let tls = "[tls]\nauthorities_file = \"a\"\ncertificate_file = \"c\"\nkey_file = \"k\"";
    let far = "zenoh.listen = [\"quic/0.0.0.0:1\"]\nzenoh.connect = [\"tcp/10.0.0.2:1\"]";
    if cfg!(feature = "tls") {
        assert_eq!(refusal(&format!("{TWO}\n{far}\n{tls}")), "accepted");
    }
}
