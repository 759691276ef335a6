//! Contradictions in a configuration: the error has the key, and the advice.

use crate::config::tests::{every_line_is_refused, refusal};

const BARE: &str = "node = \"a\"\ngroup = \"g\"";
const THREE: &str = "node = \"a\"\ngroup = \"g\"\npeers = [{ node = \"b\", address = \"127.0.0.1:2\" }, { node = \"c\", address = \"127.0.0.1:3\" }]";

#[test]
fn a_node_and_a_group_are_all_that_is_needed() {
    assert_eq!(refusal(BARE), "accepted");
    assert_eq!(
        refusal(""),
        "`node` is missing: give this node and its agent a name"
    );
    assert_eq!(
        refusal("node = \"a\""),
        "`group` is missing: name the election"
    );
    // Without a bridge, any name of an agent is accepted.
    assert_eq!(refusal("node = \"Agent_7\"\ngroup = \"g\""), "accepted");
}

#[test]
fn names_that_break_the_rules_are_refused() {
    every_line_is_refused(
        "",
        r#"
        node = "a b"\ngroup = "g" | the name in `node` is refused: an agent's name contains ' ': use printable characters without white space, format characters and / * $ # ?
        node = "a"\ngroup = "g/h" | the name in `group` is refused: an agent's name contains '/': use printable characters without white space, format characters and / * $ # ?
        node = "a"\ngroup = "g!messages" | `group` is "g!messages": it has to be a name that does not end in "!messages", as those of this crate's own groups do
        node = "a"\ngroup = "g"\ncluster = "" | `cluster` is missing: name the deployment, or leave the key out
        node = "A"\ngroup = "g"\nlisten = "127.0.0.1:0" | the name in `node` is refused: a node's name has a wrong part between its dots: give each part 1 to 63 lower-case letters, digits and inner hyphens, as in host-a.example
        node = "a"\ngroup = "g"\npeers = [{ node = "10.0.0.1" }] | the name in `peers[0].node` is refused: the last label of a node's name needs a letter: give a name in place of an address
    "#,
    );
}

#[test]
fn the_text_about_the_agent_is_checked_before_the_start() {
    every_line_is_refused(
        BARE,
        r#"
        about = "" | `about` is refused: the text about an agent is empty: leave it out, or give it 1 to 256 bytes
        about = "a\u0007b" | `about` is refused: the text about an agent contains '\u{7}': use printable characters in one line of text
        about = "a\u202eb" | `about` is refused: the text about an agent contains '\u{202e}': use printable characters in one line of text
        about = 7 | `about` is 7: it has to be text in quotes
    "#,
    );
    let long = format!("{BARE}\nabout = \"{}\"", "x".repeat(257));
    assert_eq!(
        refusal(&long),
        "`about` is refused: the text about an agent has 257 bytes, and the limit is 256: shorten it"
    );
    let good = format!("{BARE}\nabout = \"http://10.0.0.3:8080\"");
    assert_eq!(refusal(&good), "accepted");
}

#[test]
fn peers_that_cannot_be_linked_are_refused() {
    every_line_is_refused(
        BARE,
        r#"
        peers = [{ address = "127.0.0.1:2" }] | `peers[0].node` is missing: name the node as it names itself
        peers = [{ node = "b" }] | `peers[0].address` is missing: neither side can dial the other: say where the peer listens, or set `listen`
        peers = [{ node = "b", address = "127.0.0.1" }] | `peers[0].address` is "127.0.0.1": it has to be a host and a port, such as "10.0.0.2:7400"
        peers = [{ node = "b", address = "127.0.0.1:0" }] | `peers[0].address` is "127.0.0.1:0": it has to be a host and a port, such as "10.0.0.2:7400"
        listen = ":7400" | `listen` is ":7400": it has to be a host and a port, such as "10.0.0.2:7400"
        peers = [{ node = "b", address = "127.0.0.1:2" }, { node = "b", address = "127.0.0.1:3" }] | `peers[1].node` is "b": it has to be a node that is not in the list already
        peers = [{ node = "b", address = "127.0.0.1:2" }, { node = "a", address = "127.0.0.1:3" }] | `peers[1].node` contradicts `node`: leave this node out of its own peers, or set `peers_name_all = true` where one list serves every node
        peers_name_all = true\nlisten = "127.0.0.1:1"\npeers = [{ node = "b" }] | `peers_name_all` contradicts `node`: the list names every node: add this one, or leave `peers_name_all` out
    "#,
    );
    let all = "peers_name_all = true\npeers = [{ node = \"a\", address = \"127.0.0.1:1\" }, { node = \"b\", address = \"127.0.0.1:2\" }]";
    assert_eq!(refusal(&format!("{BARE}\n{all}")), "accepted");
}

#[test]
fn an_unencrypted_address_needs_dangerous_plaintext() {
    let advice = "which may be on another host, and nothing is encrypted: add the section `tls`, or `dangerous_plaintext = true` if no other process is on that network";
    let peer = "peers = [{ node = \"b\", address = \"10.0.0.2:7400\" }]";
    for secret in ["", "secret_file = \"s\"\n"] {
        let said = refusal(&format!("{BARE}\n{secret}listen = \"0.0.0.0:7400\""));
        assert_eq!(
            said,
            format!("`listen` is \"0.0.0.0:7400\", {advice}"),
            "a secret encrypts nothing"
        );
        let said = refusal(&format!("{BARE}\n{secret}{peer}"));
        assert_eq!(
            said,
            format!("`peers[0].address` is \"10.0.0.2:7400\", {advice}")
        );
        let word = format!(
            "{BARE}\n{secret}dangerous_plaintext = true\nlisten = \"0.0.0.0:7400\"\n{peer}"
        );
        assert_eq!(refusal(&word), "accepted");
    }
    assert_eq!(
        refusal(&format!("{BARE}\nlisten = \"localhost:0\"")),
        "accepted"
    );
    let tls = "[tls]\nauthorities_file = \"a\"\ncertificate_file = \"c\"\nkey_file = \"k\"";
    let expected = if cfg!(feature = "tls") {
        "accepted"
    } else {
        "`tls` needs the feature `tls` of actix-bully: build this program with it"
    };
    assert_eq!(
        refusal(&format!("{BARE}\nlisten = \"0.0.0.0:1\"\n{peer}\n{tls}")),
        expected
    );
}

#[test]
fn credentials_that_contradict_each_other_are_refused() {
    every_line_is_refused(
        BARE,
        r#"
        listen = "127.0.0.1:0"\nsecret_file = "s"\n[tls]\nkey_file = "k" | `secret_file` contradicts `tls`: certificates already prove which node connects: remove the secret
        listen = "127.0.0.1:0"\ndangerous_plaintext = true\n[tls]\nkey_file = "k" | `dangerous_plaintext` contradicts `tls`: with certificates everything is encrypted: remove `dangerous_plaintext`
        listen = "127.0.0.1:0"\n[tls]\nkey_file = "k" | `tls.authorities_file` is missing: mutual TLS takes the authorities, the certificate of this node, and its key
        listen = "127.0.0.1:0"\n[tls]\nauthorities_file = "a"\ncertificate_file = "c" | `tls.key_file` is missing: mutual TLS takes the authorities, the certificate of this node, and its key
        listen = "127.0.0.1:0"\nformer_secret_file = "s" | `secret_file` is missing: a former secret is accepted beside the present one: name the file of the present one
        secret_file = "s" | `secret_file` contradicts `listen, peers`: without `listen` and `peers` no other node is reached: add one of them, or remove the credentials
    "#,
    );
}

#[test]
fn voters_that_cannot_elect_are_refused() {
    every_line_is_refused(
        THREE,
        r#"
        [quorum]\nepoch = 1 | `quorum.voters` is missing: the section `quorum` needs the names of all voters, the same at every node
        [quorum]\nstore_file = "v" | `quorum.voters` is missing: the section `quorum` needs the names of all voters, the same at every node
        [quorum]\nvoters = ["a", "b", "c"] | `quorum.store_file` is missing: a voter keeps its vote through crashes: name a file on a local disk, or set `diskless = true` at every node without a disk
        [quorum]\nvoters = ["a", "b", "c"]\ndiskless = true\nmarks_file = "m" | `quorum.marks_file` contradicts `quorum.diskless`: voters without a disk keep no vote: remove the store, or remove `diskless` where there is a disk that stays
        [quorum]\nvoters = ["a", "b", "c"]\ndiskless = true\nstore_file = "v" | `quorum.store_file` contradicts `quorum.diskless`: voters without a disk keep no vote: remove the store, or remove `diskless` where there is a disk that stays
        [quorum]\nvoters = ["a", "b", "c"]\ndiskless = true\nstore = "create" | `quorum.store` contradicts `quorum.diskless`: voters without a disk keep no vote: remove the store, or remove `diskless` where there is a disk that stays
        [quorum]\nvoters = ["a"]\nstore_file = "v"\nstore = "open-or-create" | `quorum.store` contradicts `quorum.voters`: no other voter could refuse a new store after the old one was lost: write "create" for the first start and "open" for all later ones
        [quorum]\ndiskless = true | `quorum.voters` is missing: the section `quorum` needs the names of all voters, the same at every node
        [quorum]\nvoters = ["a", "b", "c"]\ndiskless = 1 | `quorum.diskless` is 1: it has to be true or false
        [quorum]\nvoters = ["b", "c"]\nstore_file = "v" | `quorum.voters` contradicts `node`: add this node to the voters, or set `role = "observer"`, or `learner = true` to add it while the group runs
        [quorum]\nvoters = ["b", "c"]\nlearner = true | `quorum.store_file` is missing: a voter keeps its vote through crashes: name a file on a local disk, or set `diskless = true` at every node without a disk
        [quorum]\nvoters = ["b", "c"]\nlearner = true\ndiskless = true | `quorum.learner` is refused: a list of voters without a disk cannot change while they run, so a learner would never become a voter: remove `learner`, or remove `diskless` if there is a disk that stays
        role = "observer"\n[quorum]\nvoters = ["b", "c"]\nlearner = true | `quorum.learner` contradicts `role`: an observer never becomes a voter: remove `learner`, or set the role "voter"
        [quorum]\nvoters = ["a", "b", "d"]\nstore_file = "v" | `quorum.voters[2]` is "d": it has to be this node or one of `peers`: no other voter can be asked
        [quorum]\nvoters = ["a", "b", "b"]\nstore_file = "v" | `quorum.voters` is refused: the voter b is listed twice: give each its own name
        [quorum]\nvoters = ["a", ""]\nstore_file = "v" | `quorum.voters[1]` is missing: leave the empty name out
        [quorum]\nvoters = ["a", "b", "c"]\nstore_file = "v"\nvote_quorum = 1 | `quorum.vote_quorum` is refused: `vote_quorum` is 1, which is out of range, because both sides of a partition of 3 voters could elect, or no side could: choose 2 to 3
        [quorum]\nvoters = ["a", "b", "c"]\nstore_file = "v"\nlease_quorum = 1 | `quorum.lease_quorum` is refused: `lease_quorum` is 1, which is out of range, because 2 votes of 3 voters elect: choose 2 to 3
        [quorum]\nvoters = ["a", "b", "c"]\nstore_file = "v"\nepoch = 16777216 | `quorum.epoch` is refused: `epoch` is 16777216, which is out of range, because the first list of voters has 0, and each change of the list adds 1: choose 0 to 16777215
        role = "observer"\n[quorum]\nvoters = ["a", "b", "c"]\nstore_file = "v" | `role` contradicts `quorum.voters`: an observer does not vote: remove this node from the voters, or set the role "voter"
        preemption = "immediately"\n[quorum]\nvoters = ["a", "b", "c"]\nstore_file = "v" | `preemption` is refused: preemption after 0ns must come after the end of the promise of 900ms: give `preemption` a longer time, or set it to never
    "#,
    );
    for accepted in [
        "role = \"observer\"\n[quorum]\nvoters = [\"b\", \"c\"]",
        "[quorum]\nvoters = [\"a\", \"b\", \"c\"]\ndiskless = true",
        "[quorum]\nvoters = [\"b\", \"c\"]\nstore_file = \"v\"\nlearner = true",
        "[quorum]\nvoters = [\"a\", \"b\", \"c\"]\nstore_file = \"v\"\nlearner = true",
        "role = \"observer\"\n[quorum]\nvoters = [\"b\", \"c\"]\ndiskless = true",
        "role = \"voter\"\n[quorum]\nvoters = [\"a\", \"b\", \"c\"]\nstore_file = \"v\"\nepoch = 16777215",
    ] {
        assert_eq!(refusal(&format!("{THREE}\n{accepted}")), "accepted");
    }
}

#[test]
fn durations_and_limits_that_do_not_fit_are_refused() {
    every_line_is_refused(
        BARE,
        r#"
        [timings]\ndelay_bound = "0s" | `timings.delay_bound` is refused: the delay bound is zero: state the longest one-way delay, such as 10ms
        [timings]\npreset = "lan"\ndeadline = "18ms" | `timings.deadline` is refused: the deadline of 18ms must exceed twice the delay bound of 9ms: raise the deadline
        [timings]\nheartbeat = "0ms" | `timings.heartbeat` is refused: the heartbeat interval is zero: state how often a leader is heard, such as 100ms
        [timings]\npromise = "1ms" | `timings.promise` is refused: a promise of 1ms is too short for a lease of 720ms: make it at least 897.977529ms
        [limits]\nframe = 12 | `limits.frame` is refused: the limit `frame` is 12: choose from 4096 to 1048576
        [limits]\ndial_max = "1ms" | `limits.dial_max` is refused: the limit `dial_max` is 1ms: choose from 10ms to 600s
        [limits]\nsilence = "200ms" | `limits.silence` is refused: the limits `silence` and `ping_after` contradict each other: make `silence` at least twice `ping_after`
        margin = -1 | `margin` is refused: a margin of -1 has a negative part: make each part 0 or more
        margin = [1, -1] | `margin` is refused: a margin of (1, -1) has a negative part: make each part 0 or more
    "#,
    );
}

#[test]
fn a_key_of_a_store_is_refused_without_its_store() {
    every_line_is_refused(
        BARE,
        r#"
        lease.folder = "f"\nlease.postgres_url_file = "u" | `lease.folder` contradicts `lease.postgres_url_file`: a lease is in one store: remove one of the two
        lease.folder = "f"\nlease.etcd_endpoints = ["http://a"] | `lease.folder` contradicts `lease.etcd_endpoints`: a lease is in one store: remove one of the two
        lease.folder = "f"\nlease.key_file = "k" | `lease.key_file` contradicts `lease.folder`: a folder of this host is not reached by TLS: remove one of the two
        lease.folder = "f"\ntimings.delay_bound = "100ms" | `timings.step` is refused: a step of 80ms must be at least the delay bound of 100ms: raise the step
        lease.folder = "f"\nlease.create_table = true | `lease.create_table` contradicts `lease.postgres_url_file`: this key is a setting of that store: name the store, or remove the key
        lease.postgres_schema = "s" | `lease.postgres_schema` contradicts `lease.postgres_url_file`: this key is a setting of that store: name the store, or remove the key
        lease.etcd_login_file = "l" | `lease.etcd_login_file` contradicts `lease.etcd_endpoints`: this key is a setting of that store: name the store, or remove the key
        lease.kubernetes_namespace = "n" | `lease.kubernetes_namespace` contradicts `lease.kubernetes`: this key is a setting of that store: name the store, or remove the key
        lease.folder = "f"\nquorum.marks_file = "m" | `lease.folder` contradicts `quorum.marks_file`: a lease has no voters, which alone keep votes: remove one of the two
        lease.folder = "f"\nquorum.store_file = "v" | `lease.folder` contradicts `quorum.store_file`: a lease has no voters, which alone keep votes: remove one of the two
        lease.folder = "f"\nquorum.epoch = 1 | `quorum.epoch` contradicts `lease.folder`: the mode of this configuration does not have this setting: remove the setting, or choose another mode
        lease.authorities_file = "a" | `lease.authorities_file` contradicts `lease.postgres_url_file, lease.etcd_endpoints`: this key is a setting of that store: name the store, or remove the key
    "#,
    );
}

/// The links beside a lease carry messages of applications, and report the end of a process.
#[test]
fn links_may_stand_beside_a_lease() {
    for links in ["listen = \"127.0.0.1:0\"", ""] {
        let text = format!("{BARE}\n{links}\nlease.folder = \"f\"");
        assert_eq!(refusal(&text), "accepted");
    }
    assert_eq!(
        refusal(&format!("{THREE}\nlease.folder = \"f\"")),
        "accepted"
    );
    let both = format!("{THREE}\nlease.folder = \"f\"\nquorum.voters = [\"a\"]");
    assert!(refusal(&both).starts_with("`lease.folder` contradicts `quorum.voters`"));
}

#[cfg(feature = "kubernetes")]
mod kubernetes {
    use crate::{config::Config, protocol::Timings};

    const LEAST: &str = "group = \"jobs\"\n[lease]\nkubernetes = true";

    fn in_pod(text: &str) -> Config {
        let config = Config::from_toml(text).unwrap();
        let variables = [("HOSTNAME", "jobs-7d4b-x2x"), ("PATH", "/bin")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        config.with_env("JOBS", variables).unwrap()
    }

    #[test]
    fn in_a_pod_the_name_of_the_election_is_enough() {
        let config = in_pod(LEAST);
        config.check().unwrap();
        assert_eq!(config.node, "jobs-7d4b-x2x");
        assert_eq!(config.all_timings().unwrap(), Timings::wan());
    }

    #[test]
    fn a_configured_name_counts_before_the_name_of_the_pod() {
        let config = in_pod(&format!(
            "node = \"api-1\"\n{LEAST}\n[timings]\npreset = \"lan\""
        ));
        assert_eq!(config.node, "api-1");
        assert_eq!(config.all_timings().unwrap(), Timings::lan());
        // Without Kubernetes the host's name is not used.
        assert_eq!(in_pod("group = \"jobs\"").node, "");
    }
}
