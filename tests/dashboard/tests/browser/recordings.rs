//! Recordings in a browser: clicks are copied as a test, and a recording is opened, played and marked.

use actix_bully::{
    dashboard::Dashboard,
    operate::{Operated, RecordFolder},
};
use actix_bully_dashboard_tests::{
    alone,
    browser::{Browser, LEADER},
    command, get, run, simulated,
};

#[test]
fn the_clicks_are_copied_as_a_test() {
    run(async {
        let (browser, _page) = Browser::of_five(5).await;
        browser.select("agent-5").await;
        browser.click("[data-id='do:crash']").await;
        browser.led_by("agent-4").await;
        browser.script("by('form').value = 'recorded_run.rs'").await;
        browser.click("[data-id=copy]").await;
        browser
            .until("return document.querySelector('[data-id=copied]').value.includes('apply(&\"crash agent-5\".parse()?)')")
            .await;
        browser.end().await;
    });
}

#[test]
fn a_recording_is_opened_and_played_as_it_was() {
    run(async {
        let (browser, page) = Browser::of_five(5).await;
        browser
            .script("command({ command: 'crash agent-5' })")
            .await;
        browser.led_by("agent-4").await;
        command(&page, r#""pause""#).await;
        let recording = get(&page, "/copies/run.jsonl").await.text;
        let cut = recording.rsplit_once("\n{").unwrap().0;
        browser.choose("cut.jsonl", cut).await;
        browser
            .says("answer", "cut.jsonl: the recording breaks off")
            .await;
        // The last frame of the recording has to show the present facts of the live page.
        let facts = "return state.now.agents.map((a) => [a.name, a.leads, a.state, a.score].join()).join('; ')";
        let shown = browser.script(facts).await;
        browser.play("run.jsonl", &recording).await;
        assert_eq!(browser.script(facts).await, shown, "its last moment");
        // The page begins at the first moment, without a leader, and goes on step by step.
        assert_eq!(browser.script("return state.shown").await, 0);
        browser.begins("status", "No agent leads").await;
        browser.click("[data-id=forward]").await;
        browser.wait(LEADER).await;
        browser.click("[data-id=back]").await;
        browser.begins("status", "No agent leads").await;
        browser.script("const scrub = by('scrub'); scrub.value = scrub.max; scrub.dispatchEvent(new Event('input'))").await;
        browser.led_by("agent-4").await;
        browser
            .wait("[data-id='agent:agent-5'][data-state=down]")
            .await;
        // The keys of the slider are steps, too.
        browser.script("by('scrub').focus()").await;
        browser.press("\u{e012}").await;
        browser
            .until("return state.shown === state.past.length - 2")
            .await;
        browser.click("[data-id=leave]").await;
        browser.until("return document.querySelector('[data-id=connection]').textContent === 'live' && !document.querySelector('#controls').hidden").await;
        let log = browser.noted().await;
        assert!(
            log.to_string().contains("400"),
            "the refusal is noted: {log}"
        );
        browser.end().await;
    });
}

#[test]
fn a_saved_record_opens_with_a_click_where_a_promise_was_broken() {
    run(async {
        let (recording, violation) = simulated::failed();
        let folder = tempfile::tempdir().unwrap();
        let agent = alone("api-1");
        let page = Dashboard::new(Operated::new(&agent)).records(RecordFolder::new(folder.path()));
        let browser = Browser::of(&page, &[]).await;
        browser.wait("[data-id='agent:api-1'].leader").await;
        browser
            .until("return by('saved-list').textContent === 'None is saved.'")
            .await;
        // A record that is saved meanwhile is listed.
        let names = [
            "record-1764126720000-orders-api-1.jsonl",
            "record-1764126720001-<b>x.jsonl",
        ];
        for name in names {
            std::fs::write(folder.path().join(name), recording.to_jsonl()).unwrap();
        }
        browser
            .until("return document.querySelectorAll('[data-id^=\"saved:\"]').length === 2")
            .await;
        browser
            .until("return by('saved-list').textContent.includes('<b>x')")
            .await;
        browser
            .click(&format!("[data-id='saved:{}']", names[0]))
            .await;
        browser
            .begins("connection", "recording record-1764126720000")
            .await;
        let marked = "return by('status').textContent.includes('A promise is broken: ')";
        browser.until(marked).await;
        let status = browser.text("[data-id=status]").await;
        assert!(status.contains(&violation), "{status}");
        browser.until("return document.querySelectorAll('[data-id=strip] .broke').length === 1 && document.querySelector('[data-id=event]').textContent.includes(film.broken[0].text)").await;
        browser.click("[data-id=back]").await;
        browser.until(&marked.replace("return ", "return !")).await;
        browser.click("[data-id=broken]").await;
        browser.until(marked).await;
        // The list of saved records belongs to the server, and stays. The history belongs to the node, and is hidden
        // while a recording is shown.
        browser.script("listSaved()").await;
        browser
            .until("return !by('saved').hidden && by('before').hidden")
            .await;
        browser.click("[data-id=leave]").await;
        browser.wait("[data-id='agent:api-1'].leader").await;
        browser.until("return !by('before').hidden").await;
        // The next look at the list shows a change of the folder.
        std::fs::remove_file(folder.path().join(names[1])).unwrap();
        browser.click("[data-id=saved-again]").await;
        browser.until("return document.querySelectorAll('[data-id^=\"saved:\"]').length === 1 && document.querySelectorAll('b').length === 0").await;
        browser.end().await;
    });
}
