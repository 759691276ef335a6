//! A page that hears nothing shows this: the server stands still, a wire swallows all bytes, or the tab is in the
//! background. Many tabs share one stream.

use actix_bully::{Group, dashboard::Dashboard, operate::Operated};
use actix_bully_dashboard_tests::{
    Viewer,
    browser::{Browser, LEADER},
    command, five, low_and_high, run, served, stage,
    wire::{Wire, WireState},
};
use serde_json::json;

const CONNECTION: &str = "return document.querySelector('[data-id=connection]').textContent";

#[test]
fn a_server_that_stands_still_is_said_to_be_silent() {
    run(async {
        let [low, high] = low_and_high(&Group::new("orders").unwrap());
        let page = Dashboard::new(Operated::new(&low).agent(&high)).allow_faults();
        let (wire, browser) = by_wire(&page).await;
        browser.led_by("high").await;
        wire.set(WireState::Holds);
        browser
            .until(&format!(
                "{CONNECTION}.match(/^last heard [3-9] s ago$/) !== null"
            ))
            .await;
        browser
            .until("return document.body.classList.contains('silent') && by('status').textContent.startsWith('Nothing is heard from the server since 2')")
            .await;
        browser
            .until("return document.title.startsWith('last heard ')")
            .await;
        // The page shows the lease as run out, although the last event showed a valid lease.
        browser.until("return document.querySelector(`[data-id='agent:high'] .word`).textContent === 'RAN OUT'").await;
        browser.says("status", "its lease has run out").await;
        browser.until("return [...document.querySelectorAll(`[data-id='row:high'] td`)].at(-1).textContent === 'run out'").await;
        browser.shot("silent").await;
        // The page reports that the server has not answered the command. It reports the outcome when the server goes
        // on.
        browser
            .script("command({ command: { step_down: { to: null } }, agent: 'high' })")
            .await;
        browser
            .begins("answer", "The server has not answered the command for 5 s")
            .await;
        wire.set(WireState::Passes);
        browser.until(&format!("{CONNECTION} === 'live'")).await;
        browser.until("return !document.body.classList.contains('silent') && !by('answer').textContent.includes('has not answered')").await;
        browser.led_by("low").await;
        browser.end().await;
    });
}

#[test]
fn a_wire_that_swallows_everything_is_noticed_and_used_again() {
    run(async {
        let (page, _thread) = stage(five);
        let (wire, browser) = by_wire(&page).await;
        browser.wait(LEADER).await;
        wire.set(WireState::Swallows);
        browser
            .until(&format!("{CONNECTION}.startsWith('last heard ')"))
            .await;
        command(&page, r#"{"speed":10}"#).await;
        command(&page, r#"{"command":"crash agent-5"}"#).await;
        // The old connection stays useless, so the page has to open a new one.
        wire.set(WireState::Passes);
        browser.until(&format!("{CONNECTION} === 'live'")).await;
        browser.led_by("agent-4").await;
        browser.end().await;
    });
}

/// Serves a page, and opens it over a wire.
async fn by_wire(page: &Dashboard) -> (Wire, Browser) {
    let (address, server) = page.serve(0).unwrap();
    actix::spawn(server);
    let wire = Wire::to(address).await;
    let browser = Browser::open(&format!("http://{}/", wire.address), &[]).await;
    (wire, browser)
}

#[test]
fn a_tab_in_the_background_tells_trouble_in_its_title() {
    run(async {
        let (browser, page) = Browser::of_five(10).await;
        browser
            .until("return document.title.startsWith('agent-5 leads')")
            .await;
        browser.hide(true).await;
        command(&page, r#"{"command":"isolate agent-5"}"#).await;
        browser
            .until("return document.title.startsWith('2 leaders for ')")
            .await;
        // A tab that the browser has frozen gets the present state when it is shown again.
        browser
            .cdp("Page.setWebLifecycleState", json!({ "state": "frozen" }))
            .await;
        command(&page, r#"{"command":"crash agent-5"}"#).await;
        command(&page, r#"{"command":"crash agent-4"}"#).await;
        browser
            .cdp("Page.setWebLifecycleState", json!({ "state": "active" }))
            .await;
        browser.hide(false).await;
        browser.led_by("agent-3").await;
        browser.until(&format!("{CONNECTION} === 'live'")).await;
        browser.end().await;
    });
}

#[test]
fn eight_tabs_have_one_stream_and_all_can_command() {
    run(async {
        let (page, _thread) = stage(five);
        // The page allows one viewer only.
        let page: Dashboard = page.viewers(1);
        let url = served(&page);
        let browser = Browser::open(&url, &[]).await;
        browser.wait(LEADER).await;
        for _ in 1..8 {
            browser.tab(&url).await;
            browser.wait(LEADER).await;
            browser.until(&format!("{CONNECTION} === 'live'")).await;
        }
        browser.front(0).await;
        browser
            .script("command({ command: 'crash agent-5' })")
            .await;
        browser.led_by("agent-4").await;
        browser.front(7).await;
        browser.led_by("agent-4").await;
        browser.end().await;
    });
}

#[test]
fn a_browser_without_shared_workers_closes_the_stream_of_a_hidden_page() {
    run(async {
        let (page, _thread) = stage(five);
        let page: Dashboard = page.viewers(1);
        let url = served(&page);
        let browser = Browser::open("about:blank", &[]).await;
        let without = json!({ "source": "delete window.SharedWorker" });
        browser
            .cdp("Page.addScriptToEvaluateOnNewDocument", without)
            .await;
        browser.client.goto(&url).await.unwrap();
        browser.wait(LEADER).await;
        browser.hide(true).await;
        // The hidden page has closed its stream, so another viewer finds a free place.
        while Viewer::new(&page).await.is_err() {
            actix::clock::sleep(std::time::Duration::from_millis(20)).await;
        }
        browser.hide(false).await;
        browser.until(&format!("{CONNECTION} === 'live'")).await;
        browser.end().await;
    });
}
