//! The page of a running node: its content, and its files.

use std::time::Duration;

use actix::clock::{self, sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    dashboard::Dashboard,
    operate::Operated,
    testkit::virtual_system,
};
use actix_bully_dashboard_tests::{Viewer, get, hosts::Host, run};

/// A name with every character that has a meaning in HTML, JSON or a stream of events.
const MARKUP: &str = "<b>\"&'{}:data";

fn play(test: impl Future<Output = ()>) {
    virtual_system().block_on(async {
        let ended = clock::timeout(Duration::from_secs(3_600), test).await;
        assert!(ended.is_ok(), "the test hangs");
    });
}

/// Starts three agents, of which the last one leads.
async fn trio() -> [BullyHandle; 3] {
    let group = Group::new("orders").unwrap();
    let agents = [("a", 1), ("b", 2), (MARKUP, 3)].map(|(name, score)| {
        let agent = BullyAgent::builder(name).score(score).join(&group);
        agent.start().unwrap()
    });
    sleep(Duration::from_millis(1)).await;
    assert!(agents[2].is_leader());
    agents
}

fn of_all(agents: &[BullyHandle; 3]) -> Dashboard {
    let [a, b, c] = agents;
    Dashboard::new(Operated::new(a).agent(b).agent(c))
}

#[test]
fn the_page_is_its_own_and_loads_nothing_from_anywhere_else() {
    play(async {
        let page = of_all(&trio().await);
        let told = get(&page, "").await;
        assert_eq!((told.status, told.header("location")), (308, "./election/"));
        let told = get(&page, "/").await;
        assert_eq!(told.status, 200);
        let policy = told.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        for not in ["unsafe", "http", "*", "data: blob"] {
            assert!(!policy.contains(not), "{policy}");
        }
        // The policy forbids each of the following, so the page must not contain it.
        for inline in [
            "<style", "style=", " onclick", "<script>", "http://", "https://",
        ] {
            assert!(!told.text.contains(inline), "{inline}");
        }
        for (path, kind) in [
            ("/page.css", "text/css"),
            ("/page.js", "text/javascript"),
            ("/stream.js", "text/javascript"),
        ] {
            let part = get(&page, path).await;
            assert_eq!(part.status, 200, "{path}");
            assert!(part.header("content-type").starts_with(kind));
            assert_eq!(part.header("x-content-type-options"), "nosniff");
            assert!(!part.text.contains("innerHTML") && !part.text.contains("@import"));
            assert!(
                !part
                    .text
                    .replace("http://www.w3.org/2000/svg", "")
                    .contains("http")
            );
        }
        assert_eq!(get(&page, "/elsewhere").await.status, 404);
    });
}

#[test]
fn a_viewer_sees_every_agent_and_why_one_leads() {
    play(async {
        let page = of_all(&trio().await);
        let viewer = Viewer::new(&page).await.unwrap();
        assert_eq!(viewer.leaders(), [MARKUP]);
        assert_eq!(viewer.head["controls"], "none");
        let leader = viewer.agent(MARKUP);
        assert_eq!(leader["role"], "leader");
        assert_eq!(
            (&leader["term"], &leader["score"]),
            (&"1".into(), &"3".into())
        );
        let follower = viewer.agent("a");
        assert_eq!(follower["leader"], MARKUP);
        assert_eq!(follower["remote"], false);
        let why = viewer.moment["why"].to_string();
        assert!(why.contains("ranks highest"), "{why}");
    });
}

#[test]
fn the_agents_of_two_hosts_are_seen_on_the_page_of_either() {
    run(async {
        let one = Host::start("host-1", [("a1", 1), ("a2", 2)]);
        let other = Host::start("host-2", [("b1", 3), ("b2", 4)]);
        let pages = [&one, &other].map(|host| Dashboard::new(host.operated()));
        let mut viewers = Vec::new();
        for page in &pages {
            viewers.push(Viewer::new(page).await.unwrap());
        }
        for (viewer, leader) in viewers.iter_mut().zip(["a2", "b2"]) {
            viewer.led_by(&[leader]).await;
            assert_eq!(viewer.moment["agent_count"], 2, "they are not linked");
        }
        one.link(&other);
        for (viewer, (peer, remote)) in viewers.iter_mut().zip([("host-2", "b1"), ("host-1", "a1")])
        {
            viewer
                .until("all four", |v| {
                    v.moment["agent_count"] == 4 && v.leaders() == ["b2"]
                })
                .await;
            assert_eq!(viewer.agent(remote)["remote"], true);
            viewer
                .until("the link", |v| v.moment["peers"][0]["link"] == "linked")
                .await;
            assert_eq!(viewer.moment["peers"][0]["node"], peer);
        }
        // The leader's host hands over, and both pages show it. The page of the other host learns it from its own
        // agents.
        other.agents[1].step_down(None).unwrap();
        for viewer in &mut viewers {
            viewer
                .until("the next one leads", |v| {
                    v.leaders().len() == 1 && v.leaders() != ["b2"]
                })
                .await;
        }
        assert_eq!(viewers[0].leaders(), viewers[1].leaders());
    });
}

#[test]
fn a_node_is_looked_at_only_while_somebody_looks() {
    play(async {
        let agents = trio().await;
        let page = of_all(&agents);
        let mut viewer = Viewer::new(&page).await.unwrap();
        agents[2].step_down(None).unwrap();
        viewer.led_by(&["b"]).await;
        viewer
            .until("it is told", |viewer| {
                let mut said = viewer.said.iter().filter(|said| said["agent"] == "b");
                said.any(|said| said["text"] == "leads in term 2")
            })
            .await;
        drop(viewer);
        sleep(Duration::from_secs(1)).await;
        agents[1].step_down(None).unwrap();
        sleep(Duration::from_secs(1)).await;
        // The page noted nothing while it had no viewer. The next viewer sees the present state of the node.
        let viewer = Viewer::new(&page).await.unwrap();
        assert_ne!(viewer.leaders(), ["b"]);
        let mut times = viewer.said.iter().map(|said| &said["at_ms"]);
        assert!(
            times.all(|at_ms| at_ms.as_f64() < Some(1_000.0)),
            "{:?}",
            viewer.said
        );
    });
}
