//! What a configuration is refused for, before anything listens, and what it says then.

use std::{fs, time::Duration};

use actix_bully::remote::tls::{PemError, TlsConfig, TlsError};
use actix_bully_tls_tests::{
    Authority, Leaf,
    authority::{dns, self_signed, valid},
    ends::node,
};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose};

/// The refusal has this shape, and its text says what to do.
macro_rules! refused {
    ($result:expr, $shape:pat $(if $guard:expr)?, $advice:literal) => {{
        let error = $result;
        assert!(matches!(error, $shape $(if $guard)?), "{error:?}");
        let said = error.to_string();
        assert!(said.contains($advice), "{said}");
    }};
}

fn failure(builder: actix_bully::remote::tls::TlsConfigBuilder) -> TlsError {
    builder.build().expect_err("refused")
}

#[test]
fn a_good_configuration_knows_its_node() {
    let config = Authority::new("ours").config("node-a");
    assert_eq!(config.node(), &node("node-a"));
    assert!(config.check_node(&node("node-a")).is_ok());
    refused!(
        config.check_node(&node("node-b")).expect_err("refused"),
        TlsError::OtherNode { .. },
        "rename this node to node-a"
    );
}

#[test]
fn each_part_has_to_be_given() {
    let trust = Authority::new("ours");
    let leaf = trust.node("a");
    let whole = || trust.builder(&leaf);
    assert!(whole().build().is_ok());
    let without_authorities = TlsConfig::builder()
        .certificate_pem(leaf.certificate.as_str())
        .key_pem(leaf.key.as_str());
    refused!(
        failure(without_authorities),
        TlsError::NotGiven {
            part: "certificate authorities"
        },
        "name a PEM file"
    );
    let without_key = TlsConfig::builder()
        .authorities_pem(trust.pem.as_str())
        .certificate_pem(leaf.certificate.as_str());
    refused!(
        failure(without_key),
        TlsError::NotGiven {
            part: "private key"
        },
        "private key"
    );
    refused!(
        failure(whole().authorities_pem("")),
        TlsError::Pem(PemError::Empty {
            part: "certificate authorities"
        }),
        "no certificate authorities"
    );
    refused!(
        failure(whole().certificate_pem(leaf.key.as_str())),
        TlsError::Pem(PemError::Empty {
            part: "own certificate"
        }),
        "no own certificate"
    );
    let locked =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    refused!(
        failure(whole().key_pem(locked)),
        TlsError::Pem(PemError::Empty {
            part: "private key"
        }),
        "decrypted first"
    );
}

#[test]
fn the_key_has_to_be_the_certificates() {
    let trust = Authority::new("ours");
    let leaf = trust.node("a");
    let other = trust.node("a");
    let with_key = |key: &str| failure(trust.builder(&leaf).key_pem(key));
    refused!(
        with_key(&other.key),
        TlsError::KeyMismatch,
        "does not fit this node's certificate"
    );
    refused!(
        with_key(&(leaf.key.clone() + &other.key)),
        TlsError::Pem(PemError::SeveralKeys { count: 2 }),
        "keep only the key"
    );
    let nonsense = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    refused!(with_key(nonsense), TlsError::Key, "P-256");
}

#[test]
fn damaged_pem_is_refused_without_being_quoted() {
    let trust = Authority::new("ours");
    let leaf = trust.node("a");
    let secret = leaf
        .key
        .lines()
        .nth(1)
        .expect("a line of base64")
        .to_owned();
    let cut = leaf.key.replace("-----END PRIVATE KEY-----", "");
    let one_line = leaf.key.replace('\n', " ");
    let spoilt = leaf.key.replace(&secret[4..8], "!!!!");
    for damaged in [cut, one_line, spoilt] {
        let error = failure(trust.builder(&leaf).key_pem(damaged.as_str()));
        refused!(
            &error,
            TlsError::Pem(PemError::Damaged {
                part: "private key"
            }),
            "BEGIN and END"
        );
        let said = format!("{error:?} {error}");
        assert!(!said.contains(&secret[8..24]), "{said}");
    }
    refused!(
        failure(
            trust
                .builder(&leaf)
                .certificate_pem(leaf.certificate.replace('M', "!"))
        ),
        TlsError::Pem(PemError::Damaged {
            part: "own certificate"
        }),
        "base64"
    );
}

#[test]
fn a_file_that_is_not_a_certificate_is_refused() {
    let trust = Authority::new("ours");
    let leaf = trust.node("a");
    let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    refused!(
        failure(trust.builder(&leaf).certificate_pem(nonsense)),
        TlsError::Certificate {
            part: "own certificate",
            ..
        },
        "own certificate"
    );
    refused!(
        failure(
            trust
                .builder(&leaf)
                .authorities_pem(trust.pem.clone() + nonsense)
        ),
        TlsError::Certificate {
            part: "certificate authorities",
            ..
        },
        "certificate authorities"
    );
}

#[test]
fn a_file_is_read_up_to_a_limit() {
    let trust = Authority::new("ours");
    let leaf = trust.node("a");
    let folder = tempfile::tempdir().expect("a folder");
    let (missing, long) = (folder.path().join("missing"), folder.path().join("long"));
    fs::write(&long, vec![b'\n'; 2 * 1024 * 1024]).expect("written");
    // A part is given once: from a file, or as bytes.
    let certified = || TlsConfig::builder().certificate_pem(leaf.certificate.as_str());
    let own = || certified().key_pem(leaf.key.as_str());
    refused!(
        failure(
            certified()
                .authorities_pem(trust.pem.as_str())
                .key_file(&missing)
        ),
        TlsError::Pem(PemError::Unreadable {
            part: "private key",
            ..
        }),
        "missing"
    );
    refused!(
        failure(own().authorities_file(&long)),
        TlsError::Pem(PemError::TooLong { .. }),
        "1048576"
    );
    #[cfg(unix)]
    refused!(
        failure(own().authorities_file("/dev/zero")),
        TlsError::Pem(PemError::TooLong { .. }),
        "right file"
    );
}

#[test]
fn a_certificate_out_of_its_time_is_refused() {
    let trust = Authority::new("ours");
    let incarnation = |from, until| trust.odd("a", |params| valid(params, from, until));
    refused!(
        trust.refusal(&incarnation(-3, -1)),
        TlsError::Expired { ago } if ago > Duration::from_secs(86_000),
        "issue a new one"
    );
    refused!(
        trust.refusal(&incarnation(1, 3)),
        TlsError::NotYetValid { after } if after > Duration::from_secs(86_000),
        "clock"
    );
}

#[test]
fn a_certificate_that_peers_would_refuse_is_refused_here() {
    let (trust, other) = (Authority::new("ours"), Authority::new("theirs"));
    refused!(
        trust.refusal(&other.node("a")),
        TlsError::UnknownIssuer,
        "intermediate"
    );
    let same_name = Authority::new("ours");
    refused!(
        trust.refusal(&same_name.node("a")),
        TlsError::UnknownIssuer,
        "not issued by"
    );
    refused!(
        trust.refusal(&self_signed("a")),
        TlsError::UnknownIssuer,
        "not issued by"
    );
    let headless = Leaf {
        certificate: first_certificate(&trust.intermediate("below").node("a").certificate),
        ..trust.intermediate("below").node("a")
    };
    refused!(
        trust.refusal(&headless),
        TlsError::UnknownIssuer,
        "all intermediate"
    );
    for (usage, allowed) in [
        ("clientAuth", ExtendedKeyUsagePurpose::ServerAuth),
        ("serverAuth", ExtendedKeyUsagePurpose::ClientAuth),
    ] {
        let leaf = trust.odd("a", |params| params.extended_key_usages = vec![allowed]);
        let error = trust.refusal(&leaf);
        assert!(
            matches!(error, TlsError::Usage { usage: found } if found == usage),
            "{error:?}"
        );
        assert!(error.to_string().contains("both serverAuth and clientAuth"));
    }
    let any = trust.odd("a", |params| params.extended_key_usages.clear());
    assert!(trust.builder(&any).build().is_ok());
}

fn first_certificate(pem: &str) -> String {
    let end = "-----END CERTIFICATE-----";
    let (first, _) = pem.split_once(end).expect("a certificate");
    format!("{first}{end}\n")
}

#[test]
fn the_own_certificate_names_one_node() {
    let trust = Authority::new("ours");
    let fault = |change: &dyn Fn(&mut CertificateParams)| {
        let error = trust.refusal(&trust.odd("a", |params| change(params)));
        assert!(
            error
                .to_string()
                .contains("as its one subject alternative name")
        );
        match error {
            TlsError::Name(fault) => fault,
            other => panic!("{other:?}"),
        }
    };
    let names = |names: &[&str]| {
        let names: Vec<_> = names.iter().map(|name| dns(name)).collect();
        move |params: &mut CertificateParams| params.subject_alt_names = names.clone()
    };
    for (given, told) in [
        (&[][..], "no subject alternative name"),
        (&["a", "b"], "has 2 subject alternative names"),
        (&["a", "no name"], "has 2 subject alternative names"),
        (&["*.a.example"], "is a wildcard"),
        (&["no name"], "is not a DNS name"),
        (&["A"], "cannot be the name of a node"),
        (&["a."], "cannot be the name of a node"),
    ] {
        let fault = fault(&names(given));
        assert!(fault.contains(told), "{given:?}: {fault}");
    }
    for address in ["10.0.0.1", "::"] {
        let address = address.parse().expect("an address");
        let change = |params: &mut CertificateParams| {
            params.subject_alt_names = vec![rcgen::SanType::IpAddress(address)];
        };
        let fault = fault(&change);
        assert!(fault.contains("is not a DNS name"), "{fault}");
    }
}

/// A node that could pass for an authority could make any other node.
#[test]
fn a_node_is_not_taken_for_an_authority() {
    let trust = Authority::new("ours");
    let leaf = trust.node("a");
    let authorities = trust.pem.clone() + &trust.node("b").certificate;
    refused!(
        failure(trust.builder(&leaf).authorities_pem(authorities)),
        TlsError::NotAnAuthority { position: 2 },
        "the authority that issued"
    );
}

#[test]
fn the_end_of_the_certificate_is_known_in_time() {
    let trust = Authority::new("ours");
    let day = Duration::from_secs(24 * 60 * 60);
    let until = |days| trust.odd("a", |params| valid(params, -1, days));
    let config = trust.builder(&until(8)).build().expect("valid");
    assert!(!config.expires_within(7 * day));
    assert!(config.expires_within(8 * day + day));
    let left = config
        .expires_at()
        .duration_since(time::OffsetDateTime::now_utc().into())
        .expect("in the future");
    assert!(left > 7 * day && left <= 8 * day, "{left:?}");

    let below = trust.intermediate("below"); // valid for 30 days
    let long = below.odd("a", |params| valid(params, -1, 300));
    let config = trust.builder(&long).build().expect("valid");
    assert!(
        config.expires_within(30 * day),
        "the chain ends with its first part"
    );
    assert!(!config.expires_within(29 * day));
}

#[test]
fn parts_may_share_a_file() {
    let trust = Authority::new("ours");
    let leaf = trust.node("a");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("all.pem");
    fs::write(&path, leaf.key.clone() + &leaf.certificate).expect("written");
    let config = TlsConfig::builder()
        .authorities_pem(trust.pem.as_str())
        .certificate_file(&path)
        .key_file(&path)
        .build();
    assert!(config.is_ok(), "{config:?}");
}
