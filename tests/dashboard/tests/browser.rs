//! The page in a browser: its view, its pointer and its keyboard. No text in a name is executed. Each test waits
//! until the page shows a state, and at the end checks the browser's console.

#[path = "browser/recordings.rs"]
mod recordings;

use actix_bully::{Group, dashboard::Dashboard, operate::Operated, testkit::cluster::Cluster};
use actix_bully_dashboard_tests::{
    browser::{Browser, LEADER},
    command, done, five_led, get, low_and_high, quorum, run, side_by_side, stage,
};

#[test]
fn the_page_shows_who_leads_and_who_leads_after_a_crash() {
    run(async {
        let (browser, _page) = Browser::of_five(2).await;
        browser.begins("status", "agent-5 leads in term ").await;
        // The page marks the leader by colour and by text.
        assert_eq!(browser.text(&format!("{LEADER} .word")).await, "LEADER");
        let colour = "const of = (id) => getComputedStyle(document.querySelector(`[data-id='agent:${id}'] circle:not(.halo)`)).fill; \
            return of('agent-5') !== of('agent-4')";
        browser.until(colour).await;
        browser.until("return document.querySelectorAll('.agent').length === 5 && document.querySelector('[data-id=why]').textContent.includes('ranks highest')").await;
        browser.select("agent-5").await;
        browser.click("[data-id='do:crash']").await;
        browser
            .wait("[data-id='agent:agent-5'][data-state=down]")
            .await;
        browser.led_by("agent-4").await;
        browser.until("return [...document.querySelectorAll('[data-id=election]')].some((row) => row.textContent.includes('agent-5 crashes'))").await;
        browser.until("return document.querySelector('[data-id=\"row:agent-4\"]').className.includes('leads')").await;
        browser.wait("[data-id='kind:elected']").await;
        // The filter keeps the lines of the log that contain the word.
        let filter = browser.wait("[data-id=filter]").await;
        filter.send_keys("crashes").await.unwrap();
        browser.until("const lines = [...document.querySelectorAll('[data-id=event]')]; return lines.length > 0 && lines.every((line) => line.textContent.includes('crashes'))").await;
        // The page shows the reason of a refusal.
        browser
            .script("command({ command: 'crash agent-5' })")
            .await;
        browser.says("answer", "agent-5 is down").await;
        let log = browser.noted().await;
        assert!(
            log.to_string().contains("409"),
            "the browser notes a refusal: {log}"
        );
        browser.end().await;
    });
}

#[test]
fn a_page_of_a_running_node_shows_and_offers_no_commands() {
    run(async {
        let group = Group::new("orders").unwrap();
        let [low, high] = low_and_high(&group);
        let page = Dashboard::new(Operated::new(&low).agent(&high));
        let browser = Browser::of(&page, &[]).await;
        browser.led_by("high").await;
        browser.select("high").await;
        browser.says("chosen", "high, leader").await;
        browser.until("return document.querySelector('#controls').hidden && document.querySelectorAll('[data-id^=\"do:\"]').length === 0").await;
        // The page is live: it shows the next leader without a reload.
        high.step_down(None).unwrap();
        browser.led_by("low").await;
        // The run of a node does not go on from a moment of its past, or of a recording.
        browser
            .until("return by('here').hidden && by('here-said').hidden")
            .await;
        browser.script("look(0)").await;
        browser
            .until("return !isLive() && by('here').hidden && !by('here-said').hidden")
            .await;
        assert_eq!(
            browser.text("[data-id=here-said]").await,
            "No run goes on live from here: a running node cannot be played again, as a stage can."
        );
        let (stage, _viewer, _thread) = five_led(5).await;
        let text = get(&stage, "/copies/run.jsonl").await.text;
        browser.play("run.jsonl", &text).await;
        browser.until("return by('here').hidden && by('here-said').textContent.includes('only the page of a stage')").await;
        browser.end().await;
    });
}

#[test]
fn partitions_and_cut_links_are_drawn_and_heal() {
    run(async {
        let (browser, _page) = Browser::of_five(5).await;
        browser.click("[data-id=halve]").await;
        browser.until("return document.querySelectorAll('[data-id=wall]').length === 2 && document.querySelectorAll('[data-id=side]').length === 2").await;
        browser.led_by("agent-2").await;
        browser
            .begins("status", "2 agents consider themselves leader")
            .await;
        browser.click("[data-id=heal]").await;
        browser.counts("wall", 0).await;
        browser.select("agent-1").await;
        browser.click("[data-id='do:cut-one-way']").await;
        browser.wait("[data-id=cut][data-ways='1']").await;
        browser.click("[data-id='do:cut']").await;
        browser.wait("[data-id=cut][data-ways='2']").await;
        browser.click("[data-id='do:mend']").await;
        browser.counts("cut", 0).await;
        browser.click("[data-id='do:isolate']").await;
        browser.wait("[data-id='agent:agent-1'].isolated").await;
        browser.end().await;
    });
}

#[test]
fn a_keyboard_is_enough() {
    run(async {
        let (browser, _page) = Browser::of_five(5).await;
        // The tab key leads to each control.
        let tab_to = async |script: &str| {
            for _ in 0..80 {
                if browser.script(script).await == true {
                    return;
                }
                browser.press("\u{e004}").await;
            }
            panic!("no key leads to {script}");
        };
        let press = async |what: &str| {
            let is_there = "document.activeElement.closest('[data-id]')?.getAttribute('data-id')";
            tab_to(&format!("return {is_there} === '{what}'")).await;
            browser.press("\u{e007}").await;
        };
        // One agent in the ring takes the focus. The arrow keys lead from there to another agent.
        tab_to("return document.activeElement.closest('[data-id=ring] .agent') !== null").await;
        browser.press("\u{e010}").await;
        let named = "const at = document.activeElement; return at.getAttribute('role') === 'button' && at.getAttribute('aria-label').startsWith('agent-5, leader, term ')";
        browser.until(named).await;
        browser.press("\u{e007}").await;
        browser.until("return document.querySelector('[data-id=\"agent:agent-5\"] [role=button]').getAttribute('aria-pressed') === 'true'").await;
        press("do:crash").await;
        browser.led_by("agent-4").await;
        // The pressed button is now disabled, so the focus has moved to an enabled control.
        browser.until("return document.activeElement.closest('[data-id=chosen]') !== null && !document.activeElement.disabled").await;
        // Every control has a name.
        let nameless = "return [...document.querySelectorAll('button, input, select')].filter((one) => !one.closest('[hidden]') && \
            !(one.textContent || one.getAttribute('aria-label') || (one.labels && one.labels.length && one.labels[0].textContent))).length === 0";
        browser.until(nameless).await;
        browser
            .script("document.querySelector('.skip').focus()")
            .await;
        press("halve").await;
        browser.wait("[data-id=wall]").await;
        press("heal").await;
        browser.counts("wall", 0).await;
        press("scenario:flapping").await;
        browser.says("plays", "three times").await;
        press("back").await;
        browser.until("return state.shown !== null").await;
        browser.end().await;
    });
}

#[test]
fn names_with_markup_are_shown_as_text() {
    const NAME: &str = "<img'onerror=alert(1)>\"&amp;";
    run(async {
        let (page, _thread) = stage(|| Cluster::builder().agent(NAME, 2).agent("<script>", 1));
        let browser = Browser::of(&page, &[]).await;
        browser.begins("status", "<img").await;
        let shown = browser.script("return [...document.querySelectorAll('.agent text')].map((one) => one.textContent).join(' ')").await;
        assert!(shown.as_str().unwrap().contains("<script>"), "{shown}");
        let row = browser
            .script("return document.querySelector('[data-id=table] td').textContent")
            .await;
        assert_eq!(row, NAME);
        browser.click(".agent circle:not(.halo)").await;
        browser.until("return document.querySelector('[data-id=chosen] h3').textContent.startsWith('<img')").await;
        browser
            .until("return document.querySelectorAll('img, body script').length === 0")
            .await;
        browser.end().await;
    });
}

#[test]
fn two_hundred_agents_are_shown_and_nothing_moves_for_those_who_ask_for_calm() {
    run(async {
        let (page, _thread) = stage(|| Cluster::builder().agents(200));
        command(&page, r#"{"speed":1}"#).await;
        let browser = Browser::of(&page, &["--force-prefers-reduced-motion"]).await;
        browser.led_by("agent-200").await;
        browser.until("return document.querySelectorAll('.agent').length === 200 && document.querySelectorAll('[data-id=table] tr').length === 200").await;
        browser.click("[data-id='row:agent-50'] button").await;
        browser.until("return state.chosen === 'agent-50'").await;
        browser.script("window.arrows = window.moves = 0; new MutationObserver((all) => { for (const one of all) { \
            if (one.type === 'childList') window.arrows += one.addedNodes.length; \
            else if (one.oldValue && one.oldValue !== one.target.getAttribute('transform')) window.moves += 1; } }) \
            .observe(document.querySelector('.layer-flights'), { childList: true, subtree: true, attributeFilter: ['transform'], attributeOldValue: true })").await;
        command(&page, r#"{"command":"crash agent-200"}"#).await;
        browser.led_by("agent-199").await;
        // The page goes on with drawing: the script counts twenty frames.
        browser.script("window.frames20 = 0; const count = () => { window.frames20 += 1; requestAnimationFrame(count); }; requestAnimationFrame(count)").await;
        browser.until("return window.frames20 >= 20").await;
        // Arrows are drawn, and do not move.
        browser
            .until("return window.arrows > 0 && window.moves === 0")
            .await;
        let calm = "const sheet = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText).join(' '); \
            return !/animation|transition/.test(sheet)";
        browser.until(calm).await;
        // No part is wider than a narrow page.
        browser.client.set_window_size(500, 900).await.unwrap();
        browser.until("return document.documentElement.scrollWidth <= innerWidth && document.querySelector('[data-id=ring]').classList.contains('small')").await;
        browser.end().await;
    });
}

#[test]
fn voters_are_added_replaced_and_removed_by_a_click() {
    run(async {
        let (page, _thread) = quorum(5);
        done(&page, r#"{"speed":10}"#).await;
        let browser = Browser::of(&page, &[]).await;
        browser.wait(LEADER).await;
        let kind = async |agent: &str, kind: &str| {
            let script = format!(
                "return [...document.querySelectorAll(`[data-id='row:{agent}'] td`)][1].textContent === '{kind}'"
            );
            browser.until(&script).await;
        };
        browser.click("[data-id=join]").await;
        kind("agent-6", "learner").await;
        browser.select("agent-6").await;
        browser.click("[data-id='do:make-it-a-voter']").await;
        kind("agent-6", "6").await;
        browser.click("[data-id=join]").await;
        kind("agent-7", "learner").await;
        browser.select("agent-1").await;
        browser.click("[data-id='do:replace-by-agent-7']").await;
        kind("agent-1", "learner").await;
        kind("agent-7", "7").await;
        browser.select("agent-2").await;
        browser.click("[data-id='do:remove-from-the-voters']").await;
        kind("agent-2", "learner").await;
        browser.end().await;
    });
}

#[test]
fn two_elections_are_shown_side_by_side() {
    run(async {
        let (page, thread) = side_by_side();
        done(&page, r#"{"speed":5}"#).await;
        let browser = Browser::of(&page, &[]).await;
        browser.wait(LEADER).await;
        browser.wait("[data-id='beside:agent-5'].leader").await;
        let versus = async |label: &str| {
            let script = format!(
                "return [...document.querySelectorAll(`[data-id='versus:{label}'] td`)].map((cell) => cell.textContent)"
            );
            browser.script(&script).await
        };
        browser.select("agent-5").await;
        browser.click("[data-id='do:crash']").await;
        browser.led_by("agent-4").await;
        browser.wait("[data-id='beside:agent-4'].leader").await;
        browser.until("return [...document.querySelectorAll(`[data-id='versus:After'] td`)].every((cell) => cell.textContent === 'agent-5 crashes')").await;
        assert_eq!(
            versus("Leads now").await,
            serde_json::json!(["agent-4", "agent-4"])
        );
        for label in ["Time until agreement", "Messages until agreement"] {
            let told = versus(label).await;
            assert!(
                told.as_array().unwrap().iter().all(|cell| cell
                    .as_str()
                    .unwrap()
                    .starts_with(|c: char| c.is_ascii_digit())),
                "{label}: {told}"
            );
        }
        browser.says("chosen", "In the quorum election").await;
        // The timeline takes both elections back.
        browser.script("const scrub = by('scrub'); scrub.value = 0; scrub.dispatchEvent(new Event('input'))").await;
        browser
            .wait("[data-id='beside:agent-5']:not([data-state=down])")
            .await;
        browser.click("[data-id=live]").await;
        browser
            .wait("[data-id='beside:agent-5'][data-state=down]")
            .await;
        // On a narrow page the two rings stand below each other.
        browser.client.set_window_size(500, 900).await.unwrap();
        browser.until("return document.documentElement.scrollWidth <= innerWidth && by('other-ring').offsetTop > by('ring').parentElement.offsetTop + 100").await;
        browser.judge("side by side, narrow").await;
        browser
            .script("by('beside').value = ''; by('beside').dispatchEvent(new Event('change'))")
            .await;
        assert_eq!(thread.join().unwrap().unwrap().beside, None);
        browser.end().await;
    });
}
