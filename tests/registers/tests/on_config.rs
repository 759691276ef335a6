//! A node whose configuration names a store for its lease, and nothing else.

use std::time::Duration;

use actix_bully::config::Config;
use actix_bully_register_tests::kubernetes::double::KubeDouble;

/// A folder and a database are named in the configurations of the example `web_replicas`, and etcd in `on_etcd`.
#[test]
fn nodes_lead_in_turn_by_a_lease_of_kubernetes() {
    let server = KubeDouble::start();
    let config = |node| {
        let text = format!(
            "node = \"{node}\"\ngroup = \"jobs\"\ntimings.preset = \"lan\"\n[lease]\nkubernetes = true\nkubeconfig_file = {:?}",
            server.kubeconfig()
        );
        Config::from_toml(&text).expect("it is TOML")
    };
    actix::System::new().block_on(async {
        let soon = Duration::from_secs(20);
        let first = config("api-1").start().expect("it starts");
        let leader = first.agent().wait_for_leader(soon).await.expect("it leads");
        let other = config("api-2").start().expect("it starts");
        let followed = other
            .agent()
            .wait_for_leader(soon)
            .await
            .expect("it follows");
        assert_eq!((leader.id.as_str(), &followed), ("api-1", &leader));
        first.leave(soon).await.expect("it hands over");
        let mut next = other.agent().leader();
        while next.as_ref().is_none_or(|next| next.term <= leader.term) {
            next = other.agent().wait_for_leader(soon).await.ok();
            actix::clock::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(next.expect("there is one").id, "api-2");
        other.leave(soon).await.expect("it ends");
    });
}
