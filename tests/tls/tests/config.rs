//! The configurations that are refused before anything listens, and the errors of the refusals.

use std::{fs, time::Duration};

use actix_bully::remote::tls::{TlsConfig, TlsConfigBuilder, TlsError};
use actix_bully_tls_tests::{
    Authority, Leaf,
    authority::{dns, self_signed, valid},
    ends::node,
};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, SanType};

fn failure(builder: TlsConfigBuilder) -> TlsError {
    builder.build().expect_err("refused")
}

const NONSENSE: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

/// Each part is wrong once, and the error must name it.
#[test]
fn a_part_that_is_left_out_or_is_something_else_is_refused_by_its_name() {
    let trust = Authority::new("ours");
    let (leaf, other) = (trust.node("a"), trust.node("a"));
    let whole = || trust.builder(&leaf);
    assert!(whole().build().is_ok());
    let certified = || TlsConfig::builder().certificate_pem(leaf.certificate.as_str());
    let own = || certified().key_pem(leaf.key.as_str());
    let trusting = || certified().authorities_pem(trust.pem.as_str());
    let folder = tempfile::tempdir().expect("a folder");
    let (missing, long) = (folder.path().join("missing"), folder.path().join("long"));
    fs::write(&long, vec![b'\n'; 2 * 1024 * 1024]).expect("written");
    let locked =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let no_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let damaged = leaf.certificate.replace('M', "!");
    let with_nonsense = trust.pem.clone() + NONSENSE;
    let with_a_node = trust.pem.clone() + &trust.node("b").certificate;
    for (builder, said) in [
        (own(), "name a PEM file"),
        (trusting(), "private key"),
        (whole().authorities_pem(""), "no certificate authorities"),
        (
            whole().certificate_pem(leaf.key.as_str()),
            "no own certificate",
        ),
        (whole().key_pem(locked), "decrypted first"),
        (
            whole().key_pem(other.key.as_str()),
            "does not fit this node's certificate",
        ),
        (
            whole().key_pem(leaf.key.clone() + &other.key),
            "keep only the key",
        ),
        (whole().key_pem(no_key), "P-256"),
        (whole().certificate_pem(damaged), "base64"),
        (whole().certificate_pem(NONSENSE), "own certificate"),
        (
            whole().authorities_pem(with_nonsense),
            "certificate authorities",
        ),
        // A node that other nodes accept as an authority could create any other node.
        (
            whole().authorities_pem(with_a_node),
            "the authority that issued",
        ),
        (trusting().key_file(&missing), "missing"),
        (own().authorities_file(&long), "1048576"),
        #[cfg(unix)]
        (own().authorities_file("/dev/zero"), "right file"),
    ] {
        let told = failure(builder).to_string();
        assert!(told.contains(said), "{said}: {told}");
    }
}

#[test]
fn damaged_pem_is_refused_and_no_key_is_quoted_or_shown() {
    let trust = Authority::new("ours");
    let leaf = trust.node("a");
    let secret = leaf.key.lines().nth(1).expect("a line of base64");
    let cut = leaf.key.replace("-----END PRIVATE KEY-----", "");
    let one_line = leaf.key.replace('\n', " ");
    let spoilt = leaf.key.replace(&secret[4..8], "!!!!");
    for damaged in [cut, one_line, spoilt] {
        let error = failure(trust.builder(&leaf).key_pem(damaged.as_str()));
        let said = format!("{error:?} {error}");
        assert!(said.contains("BEGIN and END"), "{said}");
        assert!(!said.contains(&secret[8..24]), "{said}");
    }
    // A good key is not quoted either.
    let builder = trust.builder(&leaf);
    let said = format!("{builder:?} {:?}", builder.clone().build().expect("good"));
    assert!(said.contains("TlsConfig"), "{said}");
    assert!(!said.contains(&secret[8..24]), "{said}");
}

/// Peers would refuse each of these certificates, or the certificate names no node.
#[test]
fn a_certificate_that_peers_would_refuse_is_refused_here() {
    let (trust, other) = (Authority::new("ours"), Authority::new("theirs"));
    let odd = |change: &dyn Fn(&mut CertificateParams)| trust.odd("a", |params| change(params));
    let named = |names: &[&str]| {
        let names: Vec<_> = names.iter().map(|name| dns(name)).collect();
        odd(&|params| params.subject_alt_names = names.clone())
    };
    let at = |address: &str| {
        let address = address.parse().expect("an address");
        odd(&|params| params.subject_alt_names = vec![SanType::IpAddress(address)])
    };
    let used = |usage: ExtendedKeyUsagePurpose| {
        odd(&|params| params.extended_key_usages = vec![usage.clone()])
    };
    let below = trust.intermediate("below").node("a");
    let end = "-----END CERTIFICATE-----\n";
    let (first, _) = below.certificate.split_once(end).expect("a certificate");
    let headless = Leaf {
        certificate: format!("{first}{end}"),
        ..below
    };
    for (leaf, said) in [
        (odd(&|params| valid(params, -3, -1)), "issue a new one"),
        (odd(&|params| valid(params, 1, 3)), "clock"),
        (other.node("a"), "intermediate"),
        (Authority::new("ours").node("a"), "not issued by"),
        (self_signed("a"), "not issued by"),
        (headless, "all intermediate"),
        (
            used(ExtendedKeyUsagePurpose::ServerAuth),
            "both serverAuth and clientAuth",
        ),
        (
            used(ExtendedKeyUsagePurpose::ClientAuth),
            "both serverAuth and clientAuth",
        ),
        (named(&[]), "no subject alternative name"),
        (named(&["a", "b"]), "has 2 subject alternative names"),
        (named(&["a", "no name"]), "has 2 subject alternative names"),
        (named(&["*.a.example"]), "is a wildcard"),
        (named(&["no name"]), "is not a DNS name"),
        (named(&["A"]), "cannot be the name of a node"),
        (named(&["a."]), "cannot be the name of a node"),
        (at("10.0.0.1"), "is not a DNS name"),
        (at("::"), "is not a DNS name"),
    ] {
        let told = trust.refusal(&leaf).to_string();
        assert!(told.contains(said), "{said}: {told}");
    }
    let any = trust.odd("a", |params| params.extended_key_usages.clear());
    assert!(trust.builder(&any).build().is_ok());
}

#[test]
fn a_good_configuration_knows_its_node_also_where_the_parts_share_a_file() {
    let trust = Authority::new("ours");
    let leaf = trust.node("node-a");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("all.pem");
    fs::write(&path, leaf.key + &leaf.certificate).expect("written");
    let shared = TlsConfig::builder()
        .authorities_pem(trust.pem.as_str())
        .certificate_file(&path)
        .key_file(&path)
        .build();
    for config in [trust.config("node-a"), shared.expect("good")] {
        assert_eq!(config.node(), &node("node-a"));
        assert!(config.check_node(&node("node-a")).is_ok());
        let other = config.check_node(&node("node-b")).expect_err("refused");
        assert!(other.to_string().contains("rename this node to node-a"));
    }
}

#[test]
fn the_end_of_the_certificate_is_known_in_time() {
    let trust = Authority::new("ours");
    let day = Duration::from_secs(24 * 60 * 60);
    let until = |days| trust.odd("a", |params| valid(params, -1, days));
    let config = trust.builder(&until(8)).build().expect("valid");
    assert!(!config.expires_within(7 * day));
    assert!(config.expires_within(8 * day + day));
    let now = time::OffsetDateTime::now_utc().into();
    let left = config.expires_at().duration_since(now);
    let left = left.expect("in the future");
    assert!(left > 7 * day && left <= 8 * day, "{left:?}");

    let below = trust.intermediate("below"); // valid for 30 days
    let long = below.odd("a", |params| valid(params, -1, 300));
    let config = trust.builder(&long).build().expect("valid");
    assert!(config.expires_within(30 * day), "the chain's first end");
    assert!(!config.expires_within(29 * day));
}
