//! A PostgreSQL server with TLS, and users who prove themselves by certificates.

use std::{fs, path::Path};

use actix_bully::{
    config::Config,
    register::{PostgresRegister, RegisterRefusal, RegisterTls},
};
use actix_bully_database_tests::{Server, give};
use actix_bully_register_tests::{DEADLINE, block_on, done, key, refusal, settled, swap};
use actix_bully_tls_tests::{Authority, Leaf};
use tempfile::TempDir;

/// Writes the certificate and the key into the data folder. Returns the settings for TLS.
fn with_tls(data: &Path, leaf: &Leaf) -> Vec<String> {
    give(data, "bully.pem", &leaf.certificate);
    give(data, "bully.key", &leaf.key);
    let settings = [
        "ssl=on",
        "ssl_cert_file=bully.pem",
        "ssl_key_file=bully.key",
    ];
    settings.map(str::to_owned).into()
}

/// The database knows its users by their certificates, and the configuration of the node names all files.
#[test]
fn a_user_without_the_right_certificate_is_refused_and_a_node_leads_with_its_own() {
    let (authority, clients) = (
        Authority::new("the database's"),
        Authority::new("its users'"),
    );
    let server = Server::with(|data| {
        let mut settings = with_tls(data, &authority.node("localhost"));
        give(data, "users.pem", &clients.pem);
        let rules = "local all all trust\nhostssl all all all cert\n";
        give(data, "pg_hba.conf", rules);
        settings.push("ssl_ca_file=users.pem".to_owned());
        settings
    });
    let url = server.tcp_address("localhost");
    let trusting = || RegisterTls::authorities_pem(authority.pem.as_str());
    let found = |tls: RegisterTls| {
        let opened = PostgresRegister::builder(&url)
            .create_table()
            .tls(tls)
            .open();
        settled(&opened.expect("the settings are right"), &key("tls/holder"))
    };
    let with = |leaf: &Leaf| trusting().identity_pem(leaf.certificate.as_str(), leaf.key.as_str());
    let own = clients.node("postgres");
    assert_eq!(found(with(&own)).expect("it proves its user"), None);
    let stranger = Authority::new("another").node("postgres");
    for (tls, why) in [
        (trusting(), "no certificate"),
        (with(&stranger), "another authority"),
        (with(&clients.node("jobs")), "another user"),
    ] {
        let refused = found(tls);
        let expected = Some(RegisterRefusal::Credentials);
        assert_eq!(refusal(&refused), expected, "{why}: {refused:?}");
    }

    let folder = TempDir::with_prefix("register-").expect("a temporary folder can be made");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it can be written");
        path.display().to_string()
    };
    let files = [
        ("postgres_url_file", file("url", &url)),
        ("authorities_file", file("ca", &authority.pem)),
        ("certificate_file", file("pem", &own.certificate)),
        ("key_file", file("key", &own.key)),
    ];
    let keys = files
        .map(|(key, path)| format!("{key} = {path:?}"))
        .join("\n");
    let text = format!("node = \"a\"\ngroup = \"jobs\"\ntimings.preset = \"lan\"\n[lease]\n{keys}");
    let config = Config::from_toml(&text).expect("it is TOML");
    actix::System::new().block_on(async {
        let node = config.start().expect("it starts");
        let leader = node.agent().wait_for_leader(DEADLINE).await;
        assert_eq!(leader.expect("it leads").id, "a");
        node.leave(DEADLINE).await.expect("it ends");
    });
}

#[test]
fn by_tls_only_a_server_of_the_authority_that_names_the_host_is_asked() {
    let authority = Authority::new("the database's");
    let server = Server::with(|data| with_tls(data, &authority.node("localhost")));
    let open = |address: &str, pem: &str| {
        let builder = PostgresRegister::builder(address).create_table();
        let opened = builder.tls(RegisterTls::authorities_pem(pem)).open();
        opened.expect("the settings are right")
    };
    let holder = key("tls/holder");
    let right = open(&server.tcp_address("localhost"), &authority.pem);
    assert_eq!(settled(&right, &holder).expect("it is trusted"), None);
    block_on(async { done(swap(&right, &holder, None, b"one").await) });
    let spoken = "SELECT DISTINCT version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'actix-bully'";
    let spoken = server.connect().query_one(spoken, &[]).expect("one");
    assert_eq!(spoken.get::<_, String>(0), "TLSv1.3");

    let refused = Some(RegisterRefusal::Credentials);
    let another = Authority::new("another");
    let wrong = open(&server.tcp_address("localhost"), &another.pem);
    assert_eq!(
        refusal(&settled(&wrong, &holder)),
        refused,
        "another authority"
    );
    let unnamed = open(&server.tcp_address("127.0.0.1"), &authority.pem);
    assert_eq!(
        refusal(&settled(&unnamed, &holder)),
        refused,
        "another name"
    );
    let plain = Server::on_tcp();
    let plain = open(&plain.tcp_address("localhost"), &authority.pem);
    assert_eq!(refusal(&settled(&plain, &holder)), refused, "no TLS");
    // An address that asks for TLS is refused unless the builder gets the settings of TLS.
    let half = format!("{} sslmode=require", server.tcp_address("localhost"));
    assert_eq!(refusal(&PostgresRegister::builder(&half).open()), refused);
}
