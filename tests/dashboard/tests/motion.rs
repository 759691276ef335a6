//! Movement on the page: arrows and their effects, the strip and the slider, and an election at rest.

use std::{sync::Arc, thread};

use actix_bully::{
    dashboard::stage::Stage,
    elections::ring::Ring,
    testkit::{cluster::Cluster, virtual_system},
};
use actix_bully_dashboard_tests::{
    browser::{Browser, LEADER},
    command, done, five, get, quorum, run, stage,
};
use serde_json::Value;

/// A script that notes two drawings for each agent: in the first the arrow "elected" arrives at the agent, and in the
/// second the agent follows agent-4. It counts drawings and not frames, because a busy machine skips frames.
const WATCH: &str = "Object.assign(window, { drawing: 0, landed: {}, effect: {} }); const ring = rings[0]; \
    const note = () => (window.drawing += 1) && state.now.agents.forEach(({ name }, place) => { \
        const node = ring.nodes.get(name), at = ring.places[place]; \
        if (node.parts.button.getAttribute('aria-label').includes('follows agent-4')) window.effect[name] ??= window.drawing; \
        const isThere = ({ drawn, kind, to }) => drawn && kind === 'elected' && to === at && \
            Math.hypot(drawn.line.getAttribute('x2') - at.x, drawn.line.getAttribute('y2') - at.y) < ring.size.dot + 4.5; \
        if (ring.flights.some(isThere)) window.landed[name] ??= window.drawing; }); \
    new MutationObserver(note).observe(ring.svg, { subtree: true, childList: true, attributeFilter: ['aria-label', 'transform'] })";

#[test]
fn an_arrow_arrives_before_its_effect_at_every_speed() {
    run(async {
        for speed in [0.02, 0.2, 1.0, 5.0, 50.0] {
            let (page, _thread) = stage(five);
            let browser = Browser::of(&page, &[]).await;
            browser.wait(LEADER).await;
            browser.script(WATCH).await;
            let set = async |speed: f64| done(&page, &format!(r#"{{"speed":{speed}}}"#)).await;
            // Nothing flies until the agents miss the leader, so this time may pass quickly.
            set(f64::max(speed, 0.2)).await;
            command(&page, r#"{"command":"crash agent-5"}"#).await;
            if speed < 0.2 {
                browser.until("return state.now.agents.some((agent) => agent.role === 'candidate' || agent.leader === 'agent-4')").await;
                set(speed).await;
            }
            browser
                .until("return Object.keys(window.effect).length === 3")
                .await;
            let frames = browser
                .script("return Object.keys(window.effect).map((name) => [window.landed[name] ?? null, window.effect[name]])")
                .await;
            let is_first = |pair: &Value| {
                pair[0]
                    .as_u64()
                    .is_some_and(|landed| Some(landed) < pair[1].as_u64())
            };
            assert!(
                frames.as_array().unwrap().iter().all(is_first),
                "{speed}: {frames}"
            );
            browser.end().await;
        }
    });
}

/// A script that returns the widest gap over some frames, in pixels. It compares the slider's place of the last
/// change of the leader with the nearest change in the strip, and the ends of both.
const APART: &str = "const done = arguments[arguments.length - 1], led = (each) => each.moment.agents.filter((agent) => agent.leads).map((agent) => agent.name).join(); \
    let widest = 0, frames = 0; const look = () => { \
        const scrub = by('scrub'), box = scrub.getBoundingClientRect(), strip = by('strip').getBoundingClientRect(); \
        const parts = [...by('strip').children].map((part) => part.getBoundingClientRect()); \
        const place = state.past.findLastIndex((each, at) => at > 0 && led(each) !== led(state.past[at - 1])); \
        const thumb = box.left + 8 + ((state.past[place].at - scrub.min) / (scrub.max - scrub.min)) * (box.width - 16); \
        const end = box.left + 8 + (box.width - 16); \
        widest = Math.max(widest, Math.min(...parts.map((part) => Math.abs(part.left - thumb))), Math.abs(Math.max(...parts.map((part) => part.right)) - end)); \
        frames += 1; if (frames < 40) requestAnimationFrame(look); else done(widest); }; requestAnimationFrame(look)";

#[test]
fn the_strip_and_the_slider_have_one_scale_of_time_while_time_goes_on() {
    run(async {
        let (browser, page) = Browser::of_five(5).await;
        command(&page, r#"{"command":"crash agent-5"}"#).await;
        browser.led_by("agent-4").await;
        browser
            .until("return by('strip').childElementCount >= 2")
            .await;
        let apart = browser
            .client
            .execute_async(APART, Vec::new())
            .await
            .unwrap();
        assert!(apart.as_f64() < Some(2.5), "{apart} px");
        // The strip of a recording has the same scale.
        command(&page, r#""pause""#).await;
        let text = get(&page, "/copies/run.jsonl").await.text;
        browser.play("run.jsonl", &text).await;
        browser.script("drawStrip()").await;
        let apart = browser
            .client
            .execute_async(APART, Vec::new())
            .await
            .unwrap();
        assert!(apart.as_f64() < Some(2.5), "{apart} px");
        browser.end().await;
    });
}

#[test]
fn a_cluster_that_settled_before_its_page_began_counts_that_election() {
    run(async {
        let (stage, page) = Stage::virtual_time();
        let _thread = thread::spawn(move || {
            let mut stage = stage;
            virtual_system().block_on(async {
                let cluster = five().start().unwrap();
                cluster.settle().await.unwrap();
                stage.play(cluster).await
            })
        });
        let browser = Browser::of(&page, &[]).await;
        browser.until("return state.elections.length > 0").await;
        let first = browser.script("return state.elections[0].messages").await;
        assert!(first.as_u64() > Some(0), "{first}");
        browser.end().await;
    });
}

/// A script that counts its looks, and the looks that find "Not settled".
const LOOK: &str = "Object.assign(window, { looks: 0, unsettled: 0 }); setInterval(() => { window.looks += 1; \
    if (moment().why.some((text) => text.startsWith('Not settled'))) window.unsettled += 1; }, 10)";

async fn is_at_rest(browser: &Browser) {
    browser.script(LOOK).await;
    browser.until("return window.looks >= 200").await;
    let found = browser.script("return window.unsettled").await;
    assert_eq!(found, 0);
}

#[test]
fn not_settled_is_said_only_while_an_election_is_under_way() {
    run(async {
        let (lease, _thread) = stage(|| Cluster::around_register(|_| {}).agents(3));
        let ring = || Cluster::<Ring>::with_config(Arc::default()).agents(3);
        let (ring, _thread) = stage(ring);
        let (quorum, _thread) = quorum(3);
        for page in [lease, ring, quorum] {
            done(&page, r#"{"speed":5}"#).await;
            let browser = Browser::of(&page, &[]).await;
            browser.led_by("agent-3").await;
            browser
                .until("return state.elections.length > 0 && state.elections[0].messages > 0")
                .await;
            is_at_rest(&browser).await;
            browser.end().await;
        }
        // An ASTRA agent campaigns only by a command. Before the command nothing is under way, and afterwards an
        // election is.
        let (page, _thread) = stage(|| Cluster::builder().agents(3).astra());
        let browser = Browser::of(&page, &[]).await;
        browser.until("return moment().why.some((text) => text.startsWith('Nothing is under way: no leader is known at'))").await;
        is_at_rest(&browser).await;
        command(&page, r#"{"command":"campaign agent-1"}"#).await;
        browser.led_by("agent-3").await;
        browser
            .until("return window.unsettled > 0 && state.elections.length > 0")
            .await;
        is_at_rest(&browser).await;
        browser.end().await;
    });
}
