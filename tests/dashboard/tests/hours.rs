//! Times of day: they have a date and a zone if the source has a clock of this kind, and are seconds otherwise.

use actix_bully::{
    Group,
    agent::BullyHandle,
    dashboard::Dashboard,
    operate::{Operated, RecordFolder},
};
use actix_bully_dashboard_tests::{alone, browser::Browser, done, low_and_high, run, watched};
use serde_json::json;

/// Returns the record of a node that began at 03:12:05.678 UTC.
fn record() -> String {
    let agents = json!([{ "name": "a", "kind": "voter", "score": [1, 0, 0, 0] }]);
    let run = json!({ "writer": "x", "protocol": "bully", "clock": "real", "seed": 0, "agents": agents, "network": null,
        "timings_ns": {}, "again": null, "began_unix_ms": 1_769_829_125_678_u64, "forgotten": 0 });
    let lines = [
        json!({ "format": "actix-bully recording", "version": 1, "run": run }),
        json!({ "at_ns": 0, "what": { "mark": "it begins" } }),
        json!({ "at_ns": 1_000_000_000_u64, "what": { "mark": "it goes on" } }),
        json!({ "at_ns": 1_000_000_000_u64, "what": "ended" }),
    ];
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// The forms of a day, an hour and a zone: with milliseconds, and with whole seconds.
const PRECISE: &str = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [+-]\d\d:\d\d$";
const WHOLE: &str = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d$";

/// Waits until the first agent has led, and then the other one leads.
async fn move_leadership(from: &BullyHandle, to: &BullyHandle) {
    while !to.is_leader() {
        if from.is_leader() {
            from.step_down(None).unwrap();
        }
        actix::clock::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// Waits until the history says that this agent leads, and that the one before resigned.
async fn has_rows(browser: &Browser, newest: &str, before: &str) {
    let cells = "[...document.querySelectorAll('#before tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))";
    let rows = format!(
        "const [first, second] = {cells}; return first[1].includes('{newest}') && first[5] === 'leads' && \
        second[1].includes('{before}') && second[5] === 'resigned'"
    );
    browser.until(&rows).await;
}

#[test]
fn a_node_tells_times_of_day_with_date_and_zone_also_of_what_was_before_its_page_was_opened() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("record-1769829125678-orders-a.jsonl");
        std::fs::write(file, record()).unwrap();
        let group = Group::new("orders").unwrap();
        let [low, high] = low_and_high(&group);
        move_leadership(&high, &low).await;
        let page = Dashboard::new(Operated::new(&low).agent(&high));
        let page = page.records(RecordFolder::new(folder.path()));
        let browser = Browser::of(&page, &[]).await;
        browser.led_by("low").await;
        // The history has the leaderships from before the page was opened, and grows while it is open.
        has_rows(&browser, "low", "high").await;
        assert_eq!(browser.text("#before h3").await, "orders");
        low.step_down(None).unwrap();
        browser.led_by("high").await;
        has_rows(&browser, "high", "low").await;
        let read = async |css: &str, pattern: &str| {
            let script = format!(
                "const all = [...document.querySelectorAll(`{css}`)]; \
                return all.length > 0 && all.every((one) => /{pattern}/.test(one.textContent.slice(0, 30).split('  ')[0].trim()))"
            );
            browser.until(&script).await;
        };
        read("#before tbody td:first-child", WHOLE).await;
        read("#clock", WHOLE).await;
        read("#when", PRECISE).await;
        read("#log time", PRECISE).await;
        read("#saved-list button", PRECISE).await;
        high.withdraw_score().unwrap();
        low.withdraw_score().unwrap();
        let since = WHOLE.trim_start_matches('^');
        browser
            .until(&format!(
                "return /^orders: No agent leads, since {since}/.test(by('status').textContent)"
            ))
            .await;
        browser
            .until(&format!(
                "return /{}, orders: /.test(by('scrub').getAttribute('aria-valuetext'))",
                PRECISE.trim_end_matches('$')
            ))
            .await;
        high.set_score(2).unwrap();
        browser.led_by("high").await;
        read("#elections tr td:first-child", PRECISE).await;
        // A page that is loaded later shows times of the same form.
        browser.client.refresh().await.unwrap();
        read("#elections tr td:first-child", PRECISE).await;
        // A clock that jumps changes the times of later events only.
        let before = browser.text("#elections tr td").await;
        browser.script("advance({ at_ms: state.now.at_ms, began_unix_ms: state.now.began_unix_ms - 3600000 }); redraw()").await;
        assert_eq!(browser.text("#elections tr td").await, before);
        browser.end().await;
    });
}

#[test]
fn a_record_tells_the_hours_of_its_node() {
    run(async {
        let agent = alone("a");
        let browser = Browser::of(&Dashboard::new(Operated::new(&agent)), &[]).await;
        let zone = json!({ "timezoneId": "Asia/Kolkata" });
        browser.cdp("Emulation.setTimezoneOverride", zone).await;
        browser.wait("[data-id='agent:a'].leader").await;
        browser.play("record.jsonl", &record()).await;
        browser
            .until("return by('when').textContent === '2026-01-31 08:42:05.678 +05:30'")
            .await;
        // The first instant has an entry, too, so the next second is two steps away.
        browser.click("[data-id=forward]").await;
        browser.click("[data-id=forward]").await;
        browser
            .until("return by('when').textContent === '2026-01-31 08:42:06.678 +05:30'")
            .await;
        browser.until("return document.querySelector('#log time').textContent === '2026-01-31 08:42:06.678 +05:30'").await;
        let written = "const [at, whole] = arguments; return stamp(at, !whole)";
        for (zone, text) in [
            ("America/New_York", "2026-01-30 22:12:05.678 -05:00"),
            ("UTC", "2026-01-31 03:12:05.678 +00:00"),
        ] {
            browser
                .cdp(
                    "Emulation.setTimezoneOverride",
                    json!({ "timezoneId": zone }),
                )
                .await;
            let told = browser
                .script_of(written, vec![1_769_829_125_678_u64.into(), false.into()])
                .await;
            assert_eq!(told, text);
        }
        let ages = "return [0, 59999, 60000, 3723000, 90000000].map(age).join()";
        assert_eq!(
            browser.script(ages).await,
            "0 s,59 s,1 min 0 s,1 h 2 min,1 d 1 h"
        );
        browser.end().await;
    });
}

/// No request of the page is refused, and no section is empty.
#[test]
fn a_stage_that_only_shows_has_no_history() {
    run(async {
        let (page, _thread) = watched();
        let browser = Browser::of(&page, &[]).await;
        browser.wait("[data-id^='agent:'].leader").await;
        browser
            .until("return by('before').hidden && by('answer').hidden")
            .await;
        browser.end().await;
    });
}

/// Measures the memory of the page and of its server after 118 minutes of the agents' time, and of the page after
/// equally many minutes of moments, ten per second. It takes a minute, so it is run by hand.
#[test]
#[ignore = "a minute, by `.ci/soak page`"]
fn a_page_that_is_open_for_two_hours_holds_no_more_than_before() {
    run(async {
        let (browser, page) = Browser::of_five(200).await;
        let until = async |minutes: u64| {
            let later = format!("return state.now.at_ms >= {}", minutes * 60_000);
            while browser.script(&later).await != true {
                actix::clock::sleep(std::time::Duration::from_millis(100)).await;
            }
            let resident = std::fs::read_to_string("/proc/self/statm").unwrap();
            let pages = resident.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
            println!("{minutes} minutes: {} KiB of the server", pages * 4);
            pages
        };
        let held = async |what: &str| {
            browser.cdp("HeapProfiler.collectGarbage", json!({})).await;
            let script =
                "return [performance.memory.usedJSHeapSize, document.querySelectorAll('*').length]";
            let held = browser.script(script).await;
            println!("{what}: bytes of the page and its elements: {held}");
            [0, 1].map(|part| held[part].as_u64().unwrap())
        };
        let begin = until(30).await;
        held("30 minutes").await;
        let end = until(118).await;
        held("118 minutes").await;
        assert!(end < begin + begin / 10, "the server grows");
        done(&page, r#""pause""#).await;
        let moments = "const [count] = arguments, began = state.now.at_ms; \
            for (let each = 1; each <= count; each += 1) { \
                const at_ms = began + each * 100, agents = [[each % 5, { ...state.now.agents[each % 5], term: each }]]; \
                advance({ at_ms, agents, said: [{ what: 'agent', at_ms, agent: 'agent-1', text: 'follows agent-5 in term ' + each }] }); \
            }";
        browser.script_of(moments, vec![5_000.into()]).await;
        let [first, elements] = held("5,000 moments").await;
        browser.script_of(moments, vec![70_800.into()]).await;
        let [ended, last] = held("118 minutes of moments").await;
        assert!(
            ended < first + first / 10 && last <= elements,
            "the page grows"
        );
        browser.end().await;
    });
}
