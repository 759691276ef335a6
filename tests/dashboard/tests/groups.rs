//! The page of a node with several groups: each group is judged alone, and the worst group comes first.

use actix_bully::{Group, agent::BullyAgent, dashboard::Dashboard, operate::Operated};
use actix_bully_dashboard_tests::{browser::Browser, run};
use serde_json::{Value, json};

/// Returns a page of groups with two agents each. A group that has no leader has no agent with a score.
fn page(groups: &[(&str, bool)]) -> Dashboard {
    let mut handles = Vec::new();
    for (name, is_led) in groups {
        let group = Group::new(name).unwrap();
        for (agent, score) in [("api-1", 10), ("api-2", 20)] {
            let agent = BullyAgent::builder(agent).score(score).join(&group);
            let agent = agent.start().unwrap();
            if !is_led {
                agent.withdraw_score().unwrap();
            }
            handles.push(agent);
        }
    }
    let (first, rest) = handles.split_first().unwrap();
    Dashboard::new(rest.iter().fold(Operated::new(first), Operated::agent))
}

const SHOWN: &str = "drawStrip(); return [by('status').textContent, document.title, by('title').textContent, \
    [...document.querySelectorAll('[data-id^=\"group:\"]')].map((one) => one.textContent), \
    [...document.querySelectorAll('#why p')].map((one) => one.textContent), by('strip').lastElementChild.getAttribute('class')]";

#[test]
fn the_group_without_a_leader_comes_first_and_says_for_how_long() {
    run(async {
        let leds = [true, true, true, true, false];
        let named = ["group-1", "group-2", "group-3", "group-4", "group-5"];
        let groups: Vec<_> = named.into_iter().zip(leds).collect();
        let browser = Browser::of(&page(&groups), &[]).await;
        // The groups that have a leader are no alarm.
        browser.until("return [...document.querySelectorAll('.group.none p')].map((one) => one.textContent).join() === 'api-2 leads,api-2 leads,api-2 leads,api-2 leads'").await;
        browser
            .until("return document.title.match(/^group-5: no leader for [1-9] s$/) !== null")
            .await;
        // The shown age grows. The text for assistive technology has the time of the begin, so it does not change.
        browser
            .until("return document.querySelector('[data-id=\"group:group-5\"] p').textContent.match(/^no leader for [2-9] s$/) !== null")
            .await;
        let shown = browser.script(SHOWN).await;
        let status = shown[0].as_str().unwrap();
        assert!(
            status.starts_with("group-5: No agent leads, since 2"),
            "{shown}"
        );
        assert_eq!(shown[2], "Election of group-5, group-1, group-2, ..");
        let first = shown[3][0].as_str().unwrap();
        assert!(first.starts_with("group-5no leader for "), "{shown}");
        let why = shown[4].as_array().unwrap();
        assert!(why[0].as_str().unwrap().contains("group-5"), "{why:?}");
        let has_others = |text: &Value| text.as_str().unwrap().contains("group-1");
        assert!(why.iter().any(has_others), "{why:?}");
        assert!(shown[5].as_str().unwrap().starts_with("unled"), "{shown}");
        browser.shot("groups").await;
        browser.end().await;
    });
}

/// Each row has the trouble of a group, its agents, the time in seconds, whether the leases of its leaders have run out,
/// and the two expected texts. An agent has a name, whether it leads, and its state.
const WORDS: &str = r#"[
    ["no_leader", [["a", false, "up"]], 20, false, "no leader for 19 s", "No agent leads"],
    ["several_leaders", [["a", true, "up"], ["b", true, "up"]], 200, false,
        "2 leaders for 3 min 19 s", "2 agents consider themselves leader: a, b"],
    ["few_voters", [["a", true, "up"], ["b", false, "suspect"]], 4000, false,
        "a leads, but too few voters for 1 h 6 min", "a leads in term 7; too few voters can be reached; 1 of 2 not up"],
    ["away", [["a", true, "up"], ["b", false, "suspect"]], 2, false,
        "a leads; 1 of 2 not up for 1 s", "a leads in term 7; 1 of 2 not up"],
    ["away", [["b", false, "suspect"]], 2, false,
        "its leader is not among the agents shown; 1 of 1 not up for 1 s", "its leader is not among the agents shown; 1 of 1 not up"],
    ["none", [["a", true, "up"]], 2, true,
        "a led, its lease has run out", "a led in term 7 when last heard, and its lease has run out"]
]"#;

#[test]
fn the_words_of_a_group_are_those_of_its_trouble() {
    run(async {
        let browser = Browser::of(&page(&[("orders", true)]), &[]).await;
        browser.until("return state.now !== null").await;
        let script = "const group = { name: 'orders', trouble: arguments[0], since_ms: 1000 }, at = arguments[2] * 1000, out = () => arguments[3]; \
            const moment = { groups: [group], agents: arguments[1].map(([name, leads, state]) => ({ name, leads, state, term: '7' })) }; \
            return [headline(group, moment, at, out), stateOf(group, moment, out)]";
        let rows: Vec<Vec<Value>> = serde_json::from_str(WORDS).unwrap();
        for row in rows {
            let [given, expected] = [&row[..4], &row[4..]];
            let found = browser.script_of(script, given.to_vec()).await;
            assert_eq!(found, json!(expected));
        }
        browser.end().await;
    });
}
