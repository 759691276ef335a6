//! The operators' pages in `examples/deploy`: the configuration of each node starts, and the grace periods and names
//! fit.

use std::{collections::BTreeMap, time::Duration};

use crate::{agent::any::AnyConfig, config::Config, protocol::Timings, store::OpenStore};

const PAGE: &str = include_str!("../../../examples/deploy/README.md");
const UNIT: &str = include_str!("../../../examples/deploy/jobs.service");
const UNIT_FILE: &str = include_str!("../../../examples/deploy/jobs.toml");
const QUORUM: &str = include_str!("../../../examples/deploy/quorum.yaml");
const AVAILABLE: &str = include_str!("../../../examples/deploy/available.yaml");
const DISKLESS: &str = include_str!("../../../examples/deploy/diskless.yaml");
#[cfg(feature = "kubernetes")]
const LEASE: &str = include_str!("../../../examples/deploy/lease.yaml");
const PROGRAM: &str = include_str!("../../../examples/configured/main.rs");

/// Seconds that `configured` needs to hand over and leave, and seconds that actix-web gives open requests.
const LEAVING: u64 = 10;
const SERVER: u64 = 30;

/// Returns the value in the first line that begins with the key.
fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let found = text.lines().find_map(|line| {
        let line = line.trim().trim_start_matches("- ");
        line.strip_prefix(key)
    });
    found.unwrap_or_else(|| panic!("no {key}")).trim()
}

fn number(text: &str, key: &str) -> u64 {
    value(text, key).parse().unwrap()
}

/// Returns the file in a `ConfigMap`: all lines with a larger indent.
fn embedded(yaml: &str) -> String {
    let (_, rest) = yaml.split_once("  jobs.toml: |\n").unwrap();
    let inner = rest
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with("    "));
    inner.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Returns the variables of the container that Kubernetes gives to the pod.
fn variables(yaml: &str, pod: &str) -> BTreeMap<String, String> {
    let mut lines = yaml.lines().map(str::trim).peekable();
    let mut found = BTreeMap::new();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("- name: JOBS_") else {
            continue;
        };
        let value = match lines.next().unwrap() {
            "valueFrom:" => {
                assert_eq!(lines.next(), Some("fieldRef:"));
                assert_eq!(lines.next(), Some("fieldPath: metadata.name"));
                pod.to_owned()
            }
            given => given
                .strip_prefix("value: ")
                .unwrap()
                .trim_matches('"')
                .to_owned(),
        };
        found.insert(format!("JOBS_{name}"), value.replace("$(JOBS_NODE)", pod));
    }
    found
}

/// Returns the configuration of each node. Asserts that it starts, and that all configurations describe the same
/// cluster.
fn configurations(nodes: &[String], one: impl Fn(&str) -> Config) -> Vec<Config> {
    let all: Vec<_> = nodes.iter().map(|node| one(node)).collect();
    for (config, node) in all.iter().zip(nodes) {
        if cfg!(feature = "tls") {
            config
                .check()
                .unwrap_or_else(|wrong| panic!("{node}: {wrong}"));
        }
        assert_eq!(config.node, *node);
        let peers: Vec<_> = config.peers.iter().map(|peer| peer.node.clone()).collect();
        assert_eq!(peers, nodes, "the list names every node");
        let port = config.listen.as_ref().unwrap().rsplit(':').next().unwrap();
        for peer in &config.peers {
            let address = peer.address.as_ref().unwrap();
            assert!(
                address.starts_with(&peer.node) && address.ends_with(&format!(":{port}")),
                "{address}"
            );
        }
        assert!(config.peers_name_all && !config.dangerous_plaintext);
        assert!(config.quorum.voters.is_empty() || config.quorum.voters == nodes);
    }
    all
}

fn of_pods(yaml: &str) -> Vec<Config> {
    let pods: Vec<_> = (0..number(yaml, "replicas:"))
        .map(|at| format!("jobs-{at}"))
        .collect();
    configurations(&pods, |pod| {
        let config = Config::from_toml(&embedded(yaml)).unwrap();
        config.with_env("JOBS", variables(yaml, pod)).unwrap()
    })
}

#[test]
fn the_unit_and_its_file_start_three_voters() {
    let hosts = ["jobs-1", "jobs-2", "jobs-3"].map(str::to_owned);
    let all = configurations(&hosts, |host| {
        let pair = value(UNIT, "Environment=").replace("%l", host);
        let (name, value) = pair.split_once('=').unwrap();
        let pairs = [(name.to_owned(), value.to_owned())];
        Config::from_toml(UNIT_FILE)
            .unwrap()
            .with_env("JOBS", pairs)
            .unwrap()
    });
    let state = format!("/var/lib/{}/", value(UNIT, "StateDirectory="));
    for config in all {
        assert!(config.quorum.store_file.unwrap().starts_with(&state));
        assert!(config.memory_file.unwrap().starts_with(&state));
        assert_eq!(config.quorum.store, OpenStore::OpenOrCreate);
        assert_eq!(config.quorum.voters.len(), 3);
    }
    assert_eq!(value(UNIT, "KillSignal="), "SIGTERM");
    assert!(number(UNIT, "TimeoutStopSec=") > LEAVING + SERVER);
}

#[test]
fn the_pods_with_a_volume_are_three_voters() {
    for config in of_pods(QUORUM) {
        assert_eq!(config.quorum.voters.len(), 3);
        assert_eq!(config.quorum.store, OpenStore::OpenOrCreate);
        let mounted = value(QUORUM, "mountPath:");
        for kept in [&config.quorum.store_file, &config.memory_file] {
            assert!(kept.as_ref().unwrap().starts_with(mounted), "{kept:?}");
        }
        let key = config.tls.key_file.unwrap();
        assert_eq!(
            key.to_str().unwrap(),
            format!("/etc/jobs/tls/{}.key", config.node)
        );
    }
    let (_, claims) = QUORUM.split_once("volumeClaimTemplates:").unwrap();
    assert_eq!(value(claims, "name:"), "state");
    assert!(QUORUM.contains("- name: state\n              mountPath: /var/lib/jobs\n"));
    assert!(number(QUORUM, "maxUnavailable:") == 1);
}

#[test]
fn the_pods_without_a_volume_do_not_vote() {
    for config in of_pods(AVAILABLE) {
        assert_eq!(config.quorum, crate::config::QuorumSettings::default());
        assert_eq!(config.memory_file, None, "no kept file is lost");
    }
    for kept in [
        "volumeClaimTemplates",
        "emptyDir",
        "JOBS_QUORUM",
        "/var/lib",
    ] {
        assert!(!AVAILABLE.contains(kept), "{kept}");
    }
}

#[test]
fn the_pods_that_vote_without_a_volume_keep_nothing_and_wait_as_the_page_says() {
    let shown = |span: Duration| format!("{:.1} s", span.as_secs_f64());
    for config in of_pods(DISKLESS) {
        assert!(config.quorum.diskless && config.quorum.voters.len() == 3);
        assert_eq!(config.quorum.store_file, None);
        assert_eq!(config.memory_file, None, "no kept file is lost");
        if cfg!(feature = "tls") {
            let AnyConfig::Quorum(election) = config.plan().unwrap().election else {
                panic!("voters");
            };
            let start = shown(election.worst_case_start(0));
            assert!(PAGE.contains(&format!("within\n  {start} (`")), "{start}");
        }
    }
    let t = Timings::default();
    let abstains = shown(Timings::least_promise(t.promise() + t.round()));
    let said = format!("abstains for {abstains}, since it has no record");
    assert!(PAGE.contains(&said), "{said}");
    assert!(DISKLESS.contains(&format!("abstains for {abstains}, and asks")));
    assert!(number(DISKLESS, "minReadySeconds:") >= 5 && number(DISKLESS, "maxUnavailable:") == 1);
    for kept in ["volumeClaimTemplates", "emptyDir", "/var/lib"] {
        assert!(!DISKLESS.contains(kept), "{kept}");
    }
}

#[test]
fn pods_find_each_other_and_have_the_time_to_hand_over() {
    assert!(PROGRAM.contains(&format!(
        "LEAVING: Duration = Duration::from_secs({LEAVING})"
    )));
    for yaml in [QUORUM, DISKLESS, AVAILABLE] {
        let config = Config::from_toml(&embedded(yaml)).unwrap();
        let (_, port) = config.listen.as_ref().unwrap().split_once(':').unwrap();
        assert_eq!(value(yaml, "port:"), port);
        assert_eq!(value(yaml, "containerPort:"), port);
        let (_, service) = yaml.split_once("kind: Service\n").unwrap();
        let name = value(service, "name:");
        assert_eq!(value(yaml, "serviceName:"), name);
        for peer in &config.peers {
            let address = peer.address.as_ref().unwrap();
            assert_eq!(*address, format!("{}.{name}:{port}", peer.node));
        }
        assert_eq!(value(yaml, "clusterIP:"), "None");
        assert_eq!(value(yaml, "publishNotReadyAddresses:"), "true");
        assert_eq!(value(yaml, "enableServiceLinks:"), "false");
        assert_eq!(value(yaml, "podManagementPolicy:"), "Parallel");
        let grace = number(yaml, "terminationGracePeriodSeconds:");
        assert!(
            grace > number(yaml, "seconds:") + LEAVING + SERVER,
            "{grace}"
        );
        let probes: Vec<_> = yaml
            .lines()
            .filter_map(|line| line.trim().strip_prefix("path: "))
            .collect();
        assert_eq!(probes, ["/health/ready", "/health/live"]);
    }
}

/// The file has only the name of the election.
#[cfg(feature = "kubernetes")]
#[test]
fn the_pods_with_a_lease_are_called_by_themselves_and_have_the_time_to_hand_over() {
    let pod = [("HOSTNAME".to_owned(), "jobs-7d4b-x2x".to_owned())];
    let config = Config::from_toml(&embedded(LEASE)).unwrap();
    let config = config.with_env("JOBS", pod).unwrap();
    config.check().unwrap();
    assert_eq!((&*config.node, &*config.group), ("jobs-7d4b-x2x", "jobs"));
    assert!(config.lease.kubernetes && config.peers.is_empty());
    let grace = number(LEASE, "terminationGracePeriodSeconds:");
    assert!(grace > number(LEASE, "seconds:") + LEAVING + SERVER);
    // The pod's account has the rights that the register and the Service need.
    for verb in ["get", "list", "watch", "create", "update", "delete"] {
        assert!(LEASE.contains(&format!("\"{verb}\"")), "{verb}");
    }
    assert_eq!(value(LEASE, "serviceAccountName:"), "jobs");
    assert!(LEASE.contains("resourceNames: [\"jobs-leader\"]"));
    assert!(PAGE.contains("a lease of 4 s") && Timings::wan().lease() == Duration::from_secs(4));
}
