//! The page in a browser: what is seen, what a pointer and a keyboard do, and that nothing in a name is executed.
//! Each test waits for what the page shows, and ends with a look at the browser's console.

use actix_bully::{
    Group,
    dashboard::Dashboard,
    operate::{Operated, RecordFolder},
    record::Recording,
    testkit::cluster::Cluster,
};
use actix_bully_dashboard_tests::{
    alone,
    browser::{Browser, CONTRAST, LEADER},
    command, done, five, five_led, get, low_and_high, quorum, run, rust_test, side_by_side,
    simulated, stage,
};

#[test]
fn the_page_shows_who_leads_and_who_leads_after_a_crash() {
    run(async {
        let (browser, _page) = Browser::of_five(2).await;
        browser.until("return document.querySelector('[data-id=status]').textContent.startsWith('agent-5 leads in term ')").await;
        // By colour and by text.
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
        // What is refused is said.
        browser
            .script("command({ command: 'crash agent-5' })", Vec::new())
            .await;
        browser.until("return document.querySelector('[data-id=answer]').textContent.includes('agent-5 is down')").await;
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
        browser.until("return document.querySelector('[data-id=chosen]').textContent.includes('high, leader')").await;
        browser.until("return document.querySelector('#controls').hidden && document.querySelectorAll('[data-id^=\"do:\"]').length === 0").await;
        // It is live: the next leader is shown without another look.
        high.step_down(None).unwrap();
        browser.led_by("low").await;
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
        browser.until("return document.querySelector('[data-id=status]').textContent.startsWith('2 agents consider themselves leader')").await;
        browser.click("[data-id=heal]").await;
        browser
            .until("return document.querySelectorAll('[data-id=wall]').length === 0")
            .await;
        browser.select("agent-1").await;
        browser.click("[data-id='do:cut-one-way']").await;
        browser.wait("[data-id=cut][data-ways='1']").await;
        browser.click("[data-id='do:cut']").await;
        browser.wait("[data-id=cut][data-ways='2']").await;
        browser.click("[data-id='do:mend']").await;
        browser
            .until("return document.querySelectorAll('[data-id=cut]').length === 0")
            .await;
        browser.click("[data-id='do:isolate']").await;
        browser.wait("[data-id='agent:agent-1'].isolated").await;
        browser.end().await;
    });
}

#[test]
fn messages_travel_and_the_timeline_goes_back() {
    run(async {
        let (page, _thread) = stage(five);
        let browser = Browser::of(&page, &[]).await;
        browser.wait(LEADER).await;
        // An observer, because an arrow is gone before a look from outside would find it.
        browser.script("window.seen = new Set(); new MutationObserver((all) => { for (const one of all) for (const node of one.addedNodes) \
            if (node.classList && node.classList.contains('flight')) window.seen.add(node.getAttribute('class')); }) \
            .observe(document.querySelector('[data-id=ring]'), { childList: true, subtree: true })", Vec::new()).await;
        command(&page, r#"{"command":"crash agent-5"}"#).await;
        browser.led_by("agent-4").await;
        browser.until("return window.seen.size > 0").await;
        browser.wait("[data-id='kind:elected']").await;
        browser.until("return [...document.querySelectorAll('[data-id=event]')].some((line) => line.textContent.includes('agent-5crashes') || line.textContent.includes('agent-5 crashes'))").await;
        browser.script("const scrub = document.querySelector('[data-id=scrub]'); scrub.value = 0; scrub.dispatchEvent(new Event('input'))", Vec::new()).await;
        browser
            .wait("[data-id='agent:agent-5']:not([data-state=down])")
            .await;
        browser.click("[data-id=live]").await;
        browser
            .wait("[data-id='agent:agent-5'][data-state=down]")
            .await;
        // The filter leaves what has the word.
        browser
            .wait("[data-id=filter]")
            .await
            .send_keys("crashes")
            .await
            .unwrap();
        browser.until("const lines = [...document.querySelectorAll('[data-id=event]')]; return lines.length > 0 && lines.every((line) => line.textContent.includes('crashes'))").await;
        browser.end().await;
    });
}

#[test]
fn a_keyboard_is_enough() {
    run(async {
        let (browser, _page) = Browser::of_five(5).await;
        // By tabs to the one agent that takes the focus, then by arrows.
        let in_ring = "return document.activeElement.closest('[data-id=ring] .agent') !== null";
        for _ in 0..40 {
            if browser.script(in_ring, Vec::new()).await == true {
                break;
            }
            browser.press("\u{e004}").await;
        }
        assert_eq!(
            browser.script(in_ring, Vec::new()).await,
            true,
            "tabs lead to the ring"
        );
        browser.press("\u{e010}").await;
        let focused = "return document.activeElement.closest('[data-id]')?.getAttribute('data-id')";
        assert_eq!(browser.script(focused, Vec::new()).await, "agent:agent-5");
        let named = "const at = document.activeElement; return at.getAttribute('role') === 'button' && at.getAttribute('aria-label').startsWith('agent-5, leader, term ')";
        browser.until(named).await;
        browser.press("\u{e007}").await;
        browser.until("return document.querySelector('[data-id=\"agent:agent-5\"] [role=button]').getAttribute('aria-pressed') === 'true'").await;
        for _ in 0..40 {
            if browser.script(focused, Vec::new()).await == "do:crash" {
                break;
            }
            browser.press("\u{e004}").await;
        }
        browser.press("\u{e007}").await;
        browser.led_by("agent-4").await;
        // The button is of no use any more: the focus is on one that is.
        browser.until("return document.activeElement.closest('[data-id=chosen]') !== null && !document.activeElement.disabled").await;
        // Everything that can be used has a name.
        let nameless = "return [...document.querySelectorAll('button, input, select')].filter((one) => !one.closest('[hidden]') && \
            !(one.textContent || one.getAttribute('aria-label') || (one.labels && one.labels.length && one.labels[0].textContent))).length === 0";
        browser.until(nameless).await;
        browser.end().await;
    });
}

#[test]
fn names_with_markup_are_shown_as_text() {
    const NAME: &str = "<img'onerror=alert(1)>\"&amp;";
    run(async {
        let (page, _thread) = stage(|| Cluster::builder().agent(NAME, 2).agent("<script>", 1));
        let browser = Browser::of(&page, &[]).await;
        browser
            .until(
                "return document.querySelector('[data-id=status]').textContent.startsWith('<img')",
            )
            .await;
        let shown = browser.script("return [...document.querySelectorAll('.agent text')].map((one) => one.textContent).join(' ')", Vec::new()).await;
        assert!(shown.as_str().unwrap().contains("<script>"), "{shown}");
        let row = browser
            .script(
                "return document.querySelector('[data-id=table] td').textContent",
                Vec::new(),
            )
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
        browser.script("window.arrows = window.moves = 0; new MutationObserver((all) => { for (const one of all) { \
            if (one.type === 'childList') window.arrows += one.addedNodes.length; \
            else if (one.oldValue && one.oldValue !== one.target.getAttribute('transform')) window.moves += 1; } }) \
            .observe(document.querySelector('.layer-flights'), { childList: true, subtree: true, attributeFilter: ['transform'], attributeOldValue: true })", Vec::new()).await;
        command(&page, r#"{"command":"crash agent-200"}"#).await;
        browser.led_by("agent-199").await;
        // The page draws on: frames are counted for as long as it takes to draw twenty.
        browser.script("window.frames20 = 0; const count = () => { window.frames20 += 1; requestAnimationFrame(count); }; requestAnimationFrame(count)", Vec::new()).await;
        browser.until("return window.frames20 >= 20").await;
        // Arrows are drawn, and stand still.
        browser
            .until("return window.arrows > 0 && window.moves === 0")
            .await;
        let calm = "const sheet = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText).join(' '); \
            return !/animation|transition/.test(sheet)";
        browser.until(calm).await;
        // On a narrow page nothing is wider than the page.
        browser.client.set_window_size(500, 900).await.unwrap();
        browser.until("return document.documentElement.scrollWidth <= innerWidth && document.querySelector('[data-id=ring]').classList.contains('small')").await;
        browser.end().await;
    });
}

const PLACE: &str = "return state.shown";

#[test]
fn what_was_clicked_is_copied_as_a_test_that_passes() {
    run(async {
        let (browser, _page) = Browser::of_five(5).await;
        browser.select("agent-5").await;
        browser.click("[data-id='do:crash']").await;
        browser.led_by("agent-4").await;
        browser.select("agent-4").await;
        browser.click("[data-id='do:isolate']").await;
        browser.led_by("agent-3").await;
        browser.until("return document.querySelectorAll('tr[data-id=election]').length >= 2 && document.querySelector('tr[data-id=election]').textContent.includes('agent-3')").await;
        browser.click("[data-id='do:rejoin']").await;
        browser
            .wait("[data-id='agent:agent-4']:not(.isolated)")
            .await;
        browser
            .script("by('form').value = 'recorded_run.rs'", Vec::new())
            .await;
        browser.click("[data-id=copy]").await;
        let copied = "return document.querySelector('[data-id=copied]').value";
        browser
            .until("return document.querySelector('[data-id=copied]').value.includes('fn the_recorded_run_repeats')")
            .await;
        let test = browser.script(copied, Vec::new()).await;
        let test = test.as_str().unwrap();
        for call in [
            r#"apply(&"crash agent-5".parse()?)"#,
            r#"apply(&"isolate agent-4".parse()?)"#,
            r#"apply(&"rejoin agent-4".parse()?)"#,
            r#"eq(["agent-4"])"#,
        ] {
            assert!(test.contains(call), "{test}");
        }
        rust_test::passes(test);
        browser.end().await;
    });
}

#[test]
fn a_recording_is_opened_and_played_as_it_was() {
    run(async {
        let (browser, page) = Browser::of_five(5).await;
        browser
            .script("command({ command: 'crash agent-5' })", Vec::new())
            .await;
        browser.led_by("agent-4").await;
        command(&page, r#""pause""#).await;
        let recording = get(&page, "/copies/run.jsonl").await.text;
        let cut = recording.rsplit_once("\n{").unwrap().0;
        browser.choose("cut.jsonl", cut).await;
        browser.until("return document.querySelector('[data-id=answer]').textContent.includes('cut.jsonl: the recording breaks off')").await;
        // What the live page shows now, the last frame of the recording has to show.
        let facts = "return state.now.agents.map((a) => [a.name, a.leads, a.state, a.score].join()).join('; ')";
        let shown = browser.script(facts, Vec::new()).await;
        browser.play("run.jsonl", &recording).await;
        assert_eq!(
            browser.script(facts, Vec::new()).await,
            shown,
            "its last moment"
        );
        // It begins at its beginning, where nobody leads, and goes on step by step.
        assert_eq!(browser.script(PLACE, Vec::new()).await, 0);
        browser.until("return document.querySelector('[data-id=status]').textContent.startsWith('No agent leads')").await;
        browser.click("[data-id=forward]").await;
        browser.wait(LEADER).await;
        browser.click("[data-id=back]").await;
        browser.until("return document.querySelector('[data-id=status]').textContent.startsWith('No agent leads')").await;
        browser.script("const scrub = by('scrub'); scrub.value = scrub.max; scrub.dispatchEvent(new Event('input'))", Vec::new()).await;
        browser.led_by("agent-4").await;
        browser
            .wait("[data-id='agent:agent-5'][data-state=down]")
            .await;
        // The keys of a slider are steps as well.
        browser.script("by('scrub').focus()", Vec::new()).await;
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
fn a_broken_promise_is_where_a_recording_opens() {
    run(async {
        let (page, _viewer, _thread) = five_led(5).await;
        let copied = get(&page, "/copies/run.jsonl").await.text;
        let mut recording = Recording::read(copied.as_bytes()).unwrap();
        recording.violate(recording.ended(), "<b>two leaders</b>".to_owned());
        let replay = Dashboard::replay(recording);
        let browser = Browser::of(&replay, &[]).await;
        let marked = "return document.querySelector('[data-id=status]').textContent.startsWith('A promise is broken: <b>two leaders</b>')";
        browser.until(marked).await;
        browser
            .until("return document.querySelectorAll('[data-id=strip] .broke').length === 1")
            .await;
        browser.click("[data-id=back]").await;
        browser.until(&marked.replace("return ", "return !")).await;
        browser.click("[data-id=broken]").await;
        browser.until(marked).await;
        browser
            .until("return document.querySelectorAll('b').length === 0 && by('leave').hidden")
            .await;
        browser.end().await;
    });
}

#[test]
fn a_history_that_the_simulator_failed_opens_with_its_violation_marked() {
    run(async {
        let (recording, violation) = simulated::failed();
        let (browser, _page) = Browser::of_five(5).await;
        browser.play("history.jsonl", &recording.to_jsonl()).await;
        let status = browser.text("[data-id=status]").await;
        assert!(
            status.starts_with(&format!("A promise is broken: {violation}")),
            "{status}"
        );
        browser
            .until("return document.querySelectorAll('[data-id=strip] .broke').length === 1")
            .await;
        browser.until("return document.querySelector('[data-id=event]').textContent.includes(film.broken[0].text)").await;
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
fn a_saved_record_opens_with_a_click() {
    run(async {
        let (recording, violation) = simulated::failed();
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "record-1764126720000-orders-api-1.jsonl",
            "record-1764126720001-<b>x.jsonl",
        ];
        for name in names {
            std::fs::write(folder.path().join(name), recording.to_jsonl()).unwrap();
        }
        let agent = alone("api-1");
        let page = Dashboard::new(Operated::new(&agent)).records(RecordFolder::new(folder.path()));
        let browser = Browser::of(&page, &[]).await;
        browser.wait("[data-id='agent:api-1'].leader").await;
        browser
            .until("return document.querySelectorAll('[data-id^=\"saved:\"]').length === 2")
            .await;
        let texts = "return [...document.querySelectorAll('[data-id^=\"saved:\"]')].map((one) => one.textContent).join()";
        let texts = browser.script(texts, Vec::new()).await;
        assert!(texts.as_str().unwrap().contains("<b>x"), "{texts}");
        browser
            .click(&format!("[data-id='saved:{}']", names[0]))
            .await;
        let shown = "return document.querySelector('[data-id=connection]').textContent.startsWith('recording record-1764126720000')";
        browser.until(shown).await;
        let status = browser.text("[data-id=status]").await;
        assert!(status.contains(&violation), "{status}");
        // The list is of the server; the history is of the node, and not of the recording.
        browser.script("listSaved()", Vec::new()).await;
        browser
            .until("return !by('saved').hidden && by('before').hidden")
            .await;
        browser.click("[data-id=leave]").await;
        browser.wait("[data-id='agent:api-1'].leader").await;
        browser.until("return !by('before').hidden").await;
        // One that is saved meanwhile is there at the next look.
        std::fs::remove_file(folder.path().join(names[1])).unwrap();
        browser.click("[data-id=saved-again]").await;
        browser.until("return document.querySelectorAll('[data-id^=\"saved:\"]').length === 1 && document.querySelectorAll('b').length === 0").await;
        browser.end().await;
    });
}

#[test]
fn texts_can_be_read_and_roles_are_told_in_light_and_in_dark() {
    run(async {
        let (browser, page) = Browser::of_five(5).await;
        command(&page, r#"{"command":"isolate agent-2"}"#).await;
        command(&page, r#"{"command":"crash agent-1"}"#).await;
        command(&page, r#"{"command":"cut agent-3 > agent-4"}"#).await;
        browser.wait("[data-id=cut]").await;
        browser.select("agent-5").await;
        browser
            .script("answer('This is refused.')", Vec::new())
            .await;
        for theme in ["light", "dark"] {
            browser
                .script(&format!("setTheme('{theme}')"), Vec::new())
                .await;
            browser.judge(theme).await;
        }
        // The judge sees what is too faint.
        browser
            .script("document.body.style.setProperty('--ink', '#999999'); document.body.style.setProperty('--card', '#aaaaaa')", Vec::new())
            .await;
        let faint = browser.script(CONTRAST, Vec::new()).await;
        assert!(!faint.as_array().unwrap().is_empty());
        browser
            .script("document.body.removeAttribute('style')", Vec::new())
            .await;
        browser.end().await;
    });
}

#[test]
fn faults_need_no_pointer() {
    run(async {
        let (browser, _page) = Browser::of_five(5).await;
        // As a keyboard does it: the tab key leads there, Enter does it.
        let press = async |what: &str| {
            for _ in 0..80 {
                let focused =
                    "return document.activeElement.closest('[data-id]')?.getAttribute('data-id')";
                if browser.script(focused, Vec::new()).await == what {
                    return browser.press("\u{e007}").await;
                }
                browser.press("\u{e004}").await;
            }
            panic!("no key leads to {what}");
        };
        press("halve").await;
        browser.wait("[data-id=wall]").await;
        press("heal").await;
        browser
            .until("return document.querySelectorAll('[data-id=wall]').length === 0")
            .await;
        press("scenario:flapping").await;
        browser
            .until("return document.querySelector('[data-id=plays]').textContent.includes('three times')")
            .await;
        press("back").await;
        browser.until("return state.shown !== null").await;
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
            browser.script(&script, Vec::new()).await
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
        browser.until("return document.querySelector('[data-id=chosen]').textContent.includes('In the quorum election')").await;
        // The timeline takes both back.
        browser.script("const scrub = by('scrub'); scrub.value = 0; scrub.dispatchEvent(new Event('input'))", Vec::new()).await;
        browser
            .wait("[data-id='beside:agent-5']:not([data-state=down])")
            .await;
        browser.click("[data-id=live]").await;
        browser
            .wait("[data-id='beside:agent-5'][data-state=down]")
            .await;
        // On a narrow page they stand below each other.
        browser.client.set_window_size(500, 900).await.unwrap();
        browser.until("return document.documentElement.scrollWidth <= innerWidth && by('other-ring').offsetTop > by('ring').parentElement.offsetTop + 100").await;
        browser.judge("side by side, narrow").await;
        browser
            .script(
                "by('beside').value = ''; by('beside').dispatchEvent(new Event('change'))",
                Vec::new(),
            )
            .await;
        assert_eq!(thread.join().unwrap().unwrap().beside, None);
        browser.end().await;
    });
}
