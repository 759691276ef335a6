//! The page for assistive technology and for every window: clicks without a pointer, narrow windows, zoom, the texts
//! that are read aloud, and the links between hosts.

use std::{path::Path, time::Duration};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    dashboard::Dashboard,
    protocol::Timings,
    store::{FileStore, StoreIdentity},
    testkit::Inject,
};
use actix_bully_dashboard_tests::{
    browser::{Browser, CONTRAST, LEADER},
    command, done,
    hosts::Host,
    run, side_by_side,
};
use serde_json::json;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Waits until this agent is selected, and then clears the selection.
async fn chosen(browser: &Browser, agent: &str) {
    browser
        .until(&format!("return state.chosen === '{agent}'"))
        .await;
    browser.script("choose(null)").await;
}

#[test]
fn an_agent_is_selected_by_any_click_by_its_name_and_by_its_row() {
    run(async {
        let (browser, _page) = Browser::of_five(5).await;
        // A click of assistive technology has no pointer events.
        browser.script("const agent = document.querySelector(`[data-id='agent:agent-2']`); \
            for (const type of ['mousedown', 'mouseup', 'click']) agent.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, view: window }))").await;
        chosen(&browser, "agent-2").await;
        browser
            .click("[data-id='agent:agent-3'] text:not(.word):not(.more)")
            .await;
        chosen(&browser, "agent-3").await;
        browser
            .click("[data-id='row:agent-4'] td:nth-child(3)")
            .await;
        chosen(&browser, "agent-4").await;
        // The keyboard selects a row, too.
        browser
            .script("document.querySelector(`[data-id='row:agent-1'] button`).focus()")
            .await;
        browser.press("\u{e007}").await;
        browser.until("return document.querySelector(`[data-id='row:agent-1'] button`).getAttribute('aria-pressed') === 'true'").await;
        chosen(&browser, "agent-1").await;
        browser.end().await;
    });
}

/// Sets the size and the zoom of the window, as the page sees them.
async fn window(browser: &Browser, width: u32, height: u32, zoom: u32) {
    let size = json!({ "width": width / zoom, "height": height / zoom, "deviceScaleFactor": zoom, "mobile": false });
    browser
        .cdp("Emulation.setDeviceMetricsOverride", size)
        .await;
}

#[test]
fn nothing_is_wider_than_a_narrow_window_and_text_grows_with_the_zoom() {
    run(async {
        let (page, _thread) = side_by_side();
        done(&page, r#"{"speed":5}"#).await;
        let browser = Browser::of(&page, &[]).await;
        browser.wait(LEADER).await;
        command(&page, r#"{"command":"isolate agent-2"}"#).await;
        browser.script("answer('A-very-long-word-that-cannot-be-broken-anywhere-in-a-narrow-window-of-this-size')").await;
        browser.click("[data-id='row:agent-5'] button").await;
        for width in [320, 360, 390, 620, 999, 1_440] {
            window(&browser, width, 700, 1).await;
            let fits = format!(
                "return innerWidth === {width} && document.documentElement.scrollWidth <= innerWidth && \
                rings[0].size.width === Math.max(220, Math.round(by('ring').clientWidth))"
            );
            browser.until(&fits).await;
            browser.script("by('rings').scrollIntoView()").await;
            browser.shot(&format!("width-{width}")).await;
        }
        // The script returns the size of a font in pixels of the screen.
        let size = "return devicePixelRatio * by('ring').getScreenCTM().a * parseFloat(getComputedStyle(document.querySelector('.ring .agent text:not(.word):not(.more)')).fontSize)";
        window(&browser, 1_440, 900, 1).await;
        browser.until("return devicePixelRatio === 1 && rings[0].size.width === Math.round(by('ring').clientWidth)").await;
        let plain = browser.script(size).await.as_f64().unwrap();
        window(&browser, 1_440, 900, 2).await;
        browser.until("return devicePixelRatio === 2 && rings[0].size.width === Math.round(by('ring').clientWidth)").await;
        let zoomed = browser.script(size).await.as_f64().unwrap();
        assert!(
            zoomed >= 1.95 * plain && plain >= 12.0,
            "{plain} and {zoomed}"
        );
        browser.script("by('rings').scrollIntoView()").await;
        browser.shot("zoomed").await;
        browser.end().await;
    });
}

#[test]
fn what_is_read_aloud_changes_only_with_its_text() {
    run(async {
        let (browser, page) = Browser::of_five(5).await;
        browser.script("window.again = []; for (const one of document.querySelectorAll('[aria-live], [role=status], [role=alert]')) { let before = one.textContent; \
            new MutationObserver(() => { if (one.textContent === before) window.again.push(one.id + ': ' + before); before = one.textContent; }) \
            .observe(one, { childList: true, characterData: true, subtree: true }); }").await;
        command(&page, r#"{"command":"crash agent-5"}"#).await;
        browser.led_by("agent-4").await;
        for _ in 0..2 {
            browser.script("answer('twice'); said('twice')").await;
        }
        // Leases run and the clock goes on for sixty frames.
        browser.script("window.frames20 = 0; const count = () => { window.frames20 += 1; requestAnimationFrame(count); }; requestAnimationFrame(count)").await;
        browser.until("return window.frames20 >= 60").await;
        assert_eq!(browser.script("return window.again").await, json!([]));
        // A part of the page that scrolls can have the focus.
        browser.script("by('why').focus()").await;
        browser
            .until("return document.activeElement === by('why')")
            .await;
        browser.end().await;
    });
}

/// Starts a voter of two hosts, with its vote in the folder.
fn voter(folder: &Path, group: &Group, name: &str, score: i32) -> BullyHandle {
    let identity = StoreIdentity {
        cluster: "shop".parse().unwrap(),
        group: "orders".parse().unwrap(),
        node: name.parse().unwrap(),
    };
    let votes = FileStore::create(folder.join(name), identity).unwrap();
    let timings = Timings::lan().to_builder();
    let timings = timings.lease(MS(600), MS(5_000)).build().unwrap();
    let agent = BullyAgent::builder(name).timings(timings);
    let agent = agent.quorum(["a1", "a2", "b1", "b2"]).store(votes);
    // The other agents are ineligible, so that only b2 is ever elected.
    let agent = if name == "b2" {
        agent.score(score)
    } else {
        agent.ineligible()
    };
    agent.join(group).start().unwrap()
}

/// The leader hangs. Its followers on this host stay bound to it for longer than its lease.
#[test]
fn two_hosts_are_one_ring_with_links_and_the_lease_of_the_leader_on_the_other_counts_down() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let voter =
            |group: &Group, name: &str, score: i32| voter(folder.path(), group, name, score);
        let one = Host::start_as("host-1", [("a1", 1), ("a2", 2)], voter);
        let other = Host::start_as("host-2", [("b1", 3), ("b2", 4)], voter);
        one.link(&other);
        let browser = Browser::of(&Dashboard::new(one.operated()), &[]).await;
        browser.led_by("b2").await;
        browser
            .until("return document.querySelectorAll('.agent').length === 4")
            .await;
        browser.until("return document.querySelector('[data-id=\"peer:host-2\"]').textContent === 'host host-2: linked'").await;
        browser
            .wait("[data-id='link:host-2'][data-link=linked]")
            .await;
        browser.until("return [...document.querySelectorAll('.link-word')].map((one) => one.textContent).join() === 'host-2: linked,this host'").await;
        browser.until("return sentence(state.now.agents.find((agent) => agent.name === 'b1')).endsWith('on host host-2')").await;
        browser.shot("linked").await;
        let left = "leaseLeft(state.now.agents.find((agent) => agent.name === 'b2'))";
        browser
            .until(&format!("return /^[1-9][0-9]* ms$/.test({left})"))
            .await;
        let of_its_host = "return leaseLeft({ leads: true, remote: true })";
        assert_eq!(browser.script(of_its_host).await, "known to its host");
        // The lease is renewed at intervals.
        let live = format!(
            "window.most = Math.max(window.most || 0, state.now.agents.find((agent) => agent.name === 'b2').lease_until_ms); \
            return {left} !== 'run out' && window.most > (window.first = window.first || window.most) + 1000"
        );
        browser.until(&live).await;
        browser.until("return document.querySelector('[data-id=\"row:b2\"]').className.includes('leads') && document.querySelector('[data-id=status]').textContent.includes('b2 leads in term ')").await;
        browser.select("b2").await;
        let hang = Inject::hang(std::future::pending());
        other.agents[1].addr().do_send(hang);
        browser
            .wait("[data-id='agent:b2'].gone[data-state='ran out']")
            .await;
        browser.until(&format!("return {left} === 'run out' && state.now.agents.find((agent) => agent.name === 'b2').state === 'up'")).await;
        browser
            .until("return document.querySelector('[data-id=\"row:b2\"]').className === 'gone'")
            .await;
        browser.until("return document.querySelector('[data-id=status]').textContent.includes('its lease has run out') && document.title.includes('b2 led, its lease has run out')").await;
        browser.until("return document.querySelector('[data-id=chosen] h3').textContent.startsWith('b2, led, lease run out')").await;
        browser.shot("remote-lease-over").await;
        // In the end the followers give the leader up.
        browser.says("status", "No agent leads").await;
        other.bridge.stop();
        browser
            .wait("[data-id='link:host-2']:not([data-link=linked])")
            .await;
        browser.wait("[data-id='agent:b1'].gone").await;
        browser.shot("unlinked").await;
        browser.end().await;
    });
}

#[test]
fn texts_can_be_read_in_each_state_at_each_size() {
    run(async {
        let (browser, page) = Browser::of_five(5).await;
        browser.click("[data-id='row:agent-5'] button").await;
        for (what, order) in [
            ("led", "heal"),
            ("a link is cut", "cut agent-3 > agent-4"),
            ("one is isolated", "isolate agent-2"),
            ("one hangs", "hang agent-5"),
            ("one is down", "crash agent-4"),
            ("two sides", "partition agent-1 agent-2"),
        ] {
            command(&page, &format!(r#"{{"command":"{order}"}}"#)).await;
            if what == "two sides" {
                // The page shows a moment of the past, from which a run can go on, and a refusal.
                browser
                    .script("look(1); answer('This is refused.'); by('here').scrollIntoView()")
                    .await;
            }
            for theme in ["light", "dark"] {
                browser.script(&format!("setTheme('{theme}')")).await;
                for width in [320, 720, 1_300] {
                    window(&browser, width, 900, 1).await;
                    browser.until("return rings[0].size.width === Math.max(220, Math.round(by('ring').clientWidth)) && document.documentElement.scrollWidth <= innerWidth").await;
                    browser.judge(&format!("{what}, {theme}, {width}")).await;
                }
            }
        }
        browser.until("const box = by('here').getBoundingClientRect(); return box.left >= 0 && box.right <= innerWidth && box.height >= 24").await;
        // The script finds a text with too little contrast.
        browser
            .script("document.body.style.setProperty('--ink', '#999999'); document.body.style.setProperty('--card', '#aaaaaa')")
            .await;
        let faint = browser.script(CONTRAST).await;
        assert!(!faint.as_array().unwrap().is_empty());
        browser
            .script("document.body.removeAttribute('style')")
            .await;
        browser.end().await;
    });
}
