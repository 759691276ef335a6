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
fn groups_with_a_leader_each_are_no_alarm() {
    run(async {
        let browser = Browser::of(&page(&[("orders", true), ("reports", true)]), &[]).await;
        browser
            .until("return [...document.querySelectorAll('[data-id^=\"group:\"] p')].map((one) => one.textContent).join() === 'api-2 leads,api-2 leads'")
            .await;
        browser.until("return state.past.length > 1 && [...document.querySelectorAll('.group')].every((one) => one.className === 'group none')").await;
        let shown = browser.script(SHOWN).await;
        assert_eq!(shown[0], "orders: api-2 leads in term 1");
        assert_eq!(shown[1], "orders: api-2 leads");
        assert_eq!(shown[2], "Election of orders, reports");
        assert!(shown[5].as_str().unwrap().starts_with("led"), "{shown}");
        browser.end().await;
    });
}

#[test]
fn the_group_without_a_leader_comes_first_and_says_for_how_long() {
    run(async {
        let mut groups: Vec<(String, bool)> =
            (1..=5).map(|n| (format!("group-{n}"), true)).collect();
        groups[4].1 = false;
        let named: Vec<(&str, bool)> = groups
            .iter()
            .map(|(name, led)| (name.as_str(), *led))
            .collect();
        let browser = Browser::of(&page(&named), &[]).await;
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

/// A group, its agents, the time, whether the leases of its leaders have run out, and the two expected texts.
type Words = (Value, Value, u64, bool, &'static str, &'static str);

fn words() -> Vec<Words> {
    let agent = |name: &str, leads: bool, state: &str| json!({ "name": name, "leads": leads, "state": state, "term": "7" });
    let group = |trouble: &str| json!({ "name": "orders", "trouble": trouble, "since_ms": 1_000 });
    let two = json!([agent("a", true, "up"), agent("b", false, "suspect")]);
    vec![
        (
            group("no_leader"),
            json!([agent("a", false, "up")]),
            20_000,
            false,
            "no leader for 19 s",
            "No agent leads",
        ),
        (
            group("several_leaders"),
            json!([agent("a", true, "up"), agent("b", true, "up")]),
            200_000,
            false,
            "2 leaders for 3 min 19 s",
            "2 agents consider themselves leader: a, b",
        ),
        (
            group("few_voters"),
            two.clone(),
            4_000_000,
            false,
            "a leads, but too few voters for 1 h 6 min",
            "a leads in term 7; too few voters can be reached; 1 of 2 not up",
        ),
        (
            group("away"),
            two.clone(),
            2_000,
            false,
            "a leads; 1 of 2 not up for 1 s",
            "a leads in term 7; 1 of 2 not up",
        ),
        (
            group("away"),
            json!([agent("b", false, "suspect")]),
            2_000,
            false,
            "its leader is not among the agents shown; 1 of 1 not up for 1 s",
            "its leader is not among the agents shown; 1 of 1 not up",
        ),
        (
            group("none"),
            json!([agent("a", true, "up")]),
            2_000,
            true,
            "a led, its lease has run out",
            "a led in term 7 when last heard, and its lease has run out",
        ),
    ]
}

#[test]
fn the_words_of_a_group_are_those_of_its_trouble() {
    run(async {
        let browser = Browser::of(&page(&[("orders", true)]), &[]).await;
        browser.until("return state.now !== null").await;
        let said = async |group: Value, agents: Value, at: u64, out: bool| {
            let script = "const [group, agents, at, out] = arguments; const moment = { groups: [group], agents }; \
                return [headline(group, moment, at, () => out), stateOf(group, moment, () => out)]";
            let arguments = vec![group, agents, at.into(), out.into()];
            browser.script_of(script, arguments).await
        };
        for (group, agents, at, out, few, full) in words() {
            assert_eq!(said(group, agents, at, out).await, json!([few, full]));
        }
        browser.end().await;
    });
}
