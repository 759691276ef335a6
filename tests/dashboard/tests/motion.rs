//! What moves on the page: arrows and what they lead to, the strip and the slider, and when an election is at rest.

use actix_bully::testkit::cluster::Cluster;
use actix_bully_dashboard_tests::{
    browser::{Browser, LEADER},
    command, done, five, quorum, run, stage,
};
use serde_json::Value;

/// Notes of each agent how far the arrow "elected" to it had come when it was drawn as a follower of agent-4.
const WATCH: &str = "window.gone = {}; const ring = rings[0]; const look = () => { \
    state.now.agents.forEach(({ name }, place) => { \
        const node = ring.nodes.get(name); \
        if (!node || !node.group.getAttribute('aria-label').includes('follows agent-4') || name in window.gone) return; \
        const arrow = ring.flights.find((each) => each.kind === 'elected' && each.to === ring.places[place]); \
        window.gone[name] = arrow ? Math.min(1, (performance.now() - arrow.start) / arrow.takes) : 1; }); \
    if (Object.keys(window.gone).length < 3) requestAnimationFrame(look); }; look()";

#[test]
fn an_arrow_arrives_before_its_effect_at_every_speed() {
    run(async {
        for speed in ["0.02", "0.2", "1", "5"] {
            let (page, _thread) = stage(five);
            let browser = Browser::of(&page, &[]).await;
            browser.wait(LEADER).await;
            browser.script(WATCH, Vec::new()).await;
            command(&page, r#"{"command":"crash agent-5"}"#).await;
            // Until the leader is missed nothing flies: that may pass quickly.
            done(&page, r#"{"speed":0.5}"#).await;
            browser.until("return state.now.agents.some((agent) => agent.role === 'candidate') || state.now.agents.some((agent) => agent.leader === 'agent-4')").await;
            done(&page, &format!(r#"{{"speed":{speed}}}"#)).await;
            browser
                .until("return Object.keys(window.gone).length === 3")
                .await;
            let gone = browser
                .script("return Object.values(window.gone)", Vec::new())
                .await;
            let arrived = |part: &Value| part.as_f64() >= Some(0.7);
            assert!(
                gone.as_array().unwrap().iter().all(arrived),
                "{speed}: {gone}"
            );
            browser.end().await;
        }
    });
}

#[test]
fn the_strip_and_the_slider_have_one_scale_of_time() {
    run(async {
        let (browser, page) = Browser::of_five(5).await;
        command(&page, r#"{"command":"crash agent-5"}"#).await;
        browser.led_by("agent-4").await;
        command(&page, r#""pause""#).await;
        browser.until("return state.now.clock.paused").await;
        // Where the slider stands at the moment of a change of the leader, the strip changes its colour.
        let apart = "drawStrip(); const parts = [...by('strip').children], scrub = by('scrub'), led = (each) => each.moment.agents.filter((agent) => agent.leads).map((agent) => agent.name).join(), \
            place = state.past.findIndex((each, at) => at > 0 && led(each) !== led(state.past[at - 1])); \
            look(place); drawTimeline(); const share = (scrub.value - scrub.min) / (scrub.max - scrub.min), box = scrub.getBoundingClientRect(), strip = by('strip').getBoundingClientRect(); \
            const thumb = box.left + 8 + share * (box.width - 16); \
            return Math.min(...parts.map((part) => Math.abs(strip.left + (part.getAttribute('x') / 1000) * strip.width - thumb)))";
        let apart = browser.script(apart, Vec::new()).await.as_f64().unwrap();
        assert!(apart < 2.5, "{apart} px");
        browser.end().await;
    });
}

#[test]
fn the_first_election_counts_its_messages_and_a_quorum_at_rest_is_settled() {
    run(async {
        let (page, _thread) = quorum(5);
        done(&page, r#"{"speed":5}"#).await;
        let browser = Browser::of(&page, &[]).await;
        browser.wait(LEADER).await;
        browser
            .until("return state.elections.length > 0 && state.elections[0].messages > 0")
            .await;
        browser.script("window.unsettled = 0; window.looks = 0; setInterval(() => { window.looks += 1; if (moment().why.some((text) => text.startsWith('Not settled'))) window.unsettled += 1; }, 20)", Vec::new()).await;
        browser.until("return window.looks >= 100").await;
        assert_eq!(
            browser.script("return window.unsettled", Vec::new()).await,
            0
        );
        // What is under way is said: a voter that hangs leaves an election open.
        command(&page, r#"{"command":"partition agent-1 agent-2"}"#).await;
        command(&page, r#"{"command":"crash agent-5"}"#).await;
        browser
            .until("return moment().why.some((text) => text.startsWith('Not settled'))")
            .await;
        browser.end().await;
    });
}

#[test]
fn a_cluster_that_settled_before_its_page_began_counts_that_election() {
    run(async {
        let (page, _thread) = actix_bully_dashboard_tests::settled(|| Cluster::builder().agents(5));
        let browser = Browser::of(&page, &[]).await;
        browser.until("return state.elections.length > 0").await;
        let first = browser
            .script("return state.elections[0].messages", Vec::new())
            .await;
        assert!(first.as_u64() > Some(0), "{first}");
        browser.end().await;
    });
}
