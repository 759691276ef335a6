//! In a browser: a run goes on live from the moment that the timeline shows, or the page gives the reason why it
//! cannot.

use actix_bully::{dashboard::Dashboard, record::Recording};
use actix_bully_dashboard_tests::{
    browser::{Browser, LEADER},
    command, done, five_led, get, run, side_by_side,
};
use serde_json::Value;

/// A script that goes back to the last moment at which the first leader led.
const BACK: &str = "look(state.past.findLastIndex(({ moment }) => moment.agents.some((agent) => agent.name === 'agent-5' && agent.leads)))";

/// Opens a page whose first leader has crashed, and waits until the next leader leads.
async fn crashed() -> (Browser, Dashboard) {
    let (browser, page) = Browser::of_five(5).await;
    browser.until("return state.past.length > 3").await;
    done(&page, r#"{"command":"crash agent-5"}"#).await;
    browser.led_by("agent-4").await;
    (browser, page)
}

/// Returns the text below the timeline.
async fn said(browser: &Browser) -> String {
    browser.text("[data-id=here-said]").await
}

/// A script that checks the timeline: its times grow, and begin before the moment from which the run goes on.
const KEEPS_PAST: &str = "const { at_ms: from } = state.head.from, at = state.past.map((each) => each.at); \
    return at[0] < from && at[at.length - 1] >= from && at.every((each, place) => place === 0 || each >= at[place - 1])";

#[test]
fn a_click_goes_on_live_from_the_moment_that_is_shown() {
    run(async {
        let (browser, page) = crashed().await;
        browser
            .until("return by('here').disabled && !by('here').hidden && by('here-said').hidden")
            .await;
        browser.script(BACK).await;
        browser.wait(LEADER).await;
        browser.until("return !by('here').disabled").await;
        assert!(said(&browser).await.contains("Enter on the timeline"));
        let shown = "return state.past[state.shown].at";
        let at = browser.script(shown).await;
        browser.click("[data-id=here]").await;
        browser
            .until("return state.head.run === 2 && isLive()")
            .await;
        browser.wait(LEADER).await;
        assert_eq!(browser.script("return state.head.from.at_ms").await, at);
        browser.until(KEEPS_PAST).await;
        assert!(said(&browser).await.starts_with("Live from "));
        // The first row of the elections counts its messages in the new run, too.
        browser
            .until("return state.elections.length > 0 && state.elections[0].messages > 0")
            .await;
        // The crash was dropped. The focus is on the slider, which can go back again.
        browser
            .until("return document.activeElement === by('scrub') && by('here').disabled")
            .await;
        let copied = get(&page, "/copies/script.txt").await;
        let recording = get(&page, "/copies/run.jsonl").await.text;
        assert!(!recording.contains("crash"), "{copied:?}");
        browser.select("agent-5").await;
        browser.click("[data-id='do:isolate']").await;
        browser.led_by("agent-4").await;
        browser.end().await;
    });
}

#[test]
fn a_key_goes_on_and_is_told_to_assistive_technology() {
    run(async {
        let (browser, _page) = crashed().await;
        browser.script("by('scrub').focus()").await;
        // The key Home shows the first moment.
        browser.press("\u{e011}").await;
        browser.until("return state.shown === 0").await;
        let told = "const scrub = by('scrub'), about = document.getElementById(scrub.getAttribute('aria-describedby')); \
            return scrub.getAttribute('aria-keyshortcuts') === 'Enter' && !about.hidden && about.textContent.includes('Enter on the timeline') \
                && by('here').textContent === 'Go on live from here' && by('here').getAttribute('aria-describedby') === about.id && about.getAttribute('role') === 'status'";
        browser.until(told).await;
        browser.press("\u{e007}").await;
        browser
            .until("return state.head.run === 2 && isLive()")
            .await;
        browser.wait(LEADER).await;
        // While the page is live, Enter has no effect.
        browser.until("return isLive()").await;
        browser.script("by('scrub').focus()").await;
        browser.press("\u{e007}").await;
        browser.script("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))").await;
        assert_eq!(browser.script("return state.head.run").await, 2);
        browser.end().await;
    });
}

#[test]
fn a_recording_goes_on_live_or_the_page_says_why_not() {
    run(async {
        let (browser, page) = crashed().await;
        command(&page, r#""pause""#).await;
        let text = get(&page, "/copies/run.jsonl").await.text;
        let mut node = Recording::read(text.as_bytes()).unwrap();
        node.header_mut().began_unix_ms = Some(1_764_126_720_000);
        browser.play("node.jsonl", &node.to_jsonl()).await;
        browser
            .until("return by('here').hidden && !by('here-said').hidden")
            .await;
        let why = said(&browser).await;
        assert!(
            why.starts_with("No run goes on live from here: this is the record of a running node"),
            "{why}"
        );
        // The key Enter has no effect either.
        browser.script("by('scrub').focus()").await;
        browser.press("\u{e007}").await;

        browser.play("run.jsonl", &text).await;
        browser
            .until("return !by('here').hidden && !by('here').disabled")
            .await;
        browser.script(BACK).await;
        browser.wait(LEADER).await;
        browser.shot("film-here").await;
        browser.click("[data-id=here]").await;
        browser
            .until("return !state.film && state.head.run === 2 && isLive()")
            .await;
        browser.wait(LEADER).await;
        browser.until(KEEPS_PAST).await;
        assert_eq!(browser.script("return state.head.from.run").await, 0);
        assert_eq!(
            browser.script("return state.head.from.differs").await,
            Value::Null
        );
        assert_eq!(browser.text("[data-id=connection]").await, "live");
        // The new run contains nothing from after this moment, and takes commands.
        command(&page, r#""play""#).await;
        browser.select("agent-5").await;
        browser.click("[data-id='do:hang']").await;
        browser.led_by("agent-4").await;
        browser.end().await;
    });
}

/// A script that checks the timeline of a recording: it is kept while its agents start, and then shown.
const KEPT: &str = "const of = newModel(new Set()), head = (run, from) => ({ head: { run, from }, moment: { at_ms: 5 }, said: [], elections: [] }); \
    of.kept = { past: [{ at: 0 }, { at: 4 }], after: 1 }; begin(head(2, null), of); begin(head(3, { run: 0, at_ms: 5 }), of); \
    return of.past.map(({ at }) => at).join() === '0,4,5' && of.kept === null";

#[test]
fn a_page_without_a_seat_plays_a_recording() {
    run(async {
        let (page, viewer, _thread) = five_led(5).await;
        let text = get(&page, "/copies/run.jsonl").await.text;
        let page = page.viewers(1);
        let browser = Browser::of(&page, &[]).await;
        browser
            .until("return state.refused && state.head === null")
            .await;
        browser.play("run.jsonl", &text).await;
        browser.until("return by('answer').hidden").await;
        browser.until(KEPT).await;
        drop(viewer);
        browser.click("[data-id=leave]").await;
        browser.wait(LEADER).await;
        browser.noted().await; // the browser notes the refusal
        browser.end().await;
    });
}

/// Returns a script that checks the state of agent-5 in both elections of a run.
fn both(run: u32, agent_5: &str) -> String {
    format!(
        "return [state, beside].every(({{ head, now }}) => head.run === {run} && now.agents[4].state === '{agent_5}' && now.clock.paused)"
    )
}

#[test]
fn both_elections_go_back_before_a_command_that_took_no_time() {
    run(async {
        let (page, _thread) = side_by_side();
        done(&page, r#"{"speed":5}"#).await;
        let browser = Browser::of(&page, &[]).await;
        browser.wait(LEADER).await;
        browser.wait("[data-id='beside:agent-5'].leader").await;
        done(&page, r#""pause""#).await;
        browser.until(&both(1, "up")).await;
        done(&page, r#"{"command":"crash agent-5"}"#).await;
        browser.until(&both(1, "down")).await;
        browser.script(BACK).await;
        browser.click("[data-id=here]").await;
        browser.until(&both(2, "up")).await;
        browser.shot("both-here").await;
        browser.end().await;
    });
}
