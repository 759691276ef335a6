//! Names and texts that turn the direction of writing, and a port that is taken.

use actix_bully::testkit::cluster::Cluster;
use actix_bully::{dashboard::Dashboard, operate::Operated};
use actix_bully_dashboard_tests::{alone, browser::Browser, command, run, stage};
use serde_json::json;

/// A name in a script that is written from right to left.
const TURNED: &str = "\u{5e9}\u{5e8}\u{5ea}-1";

#[test]
fn a_name_that_is_written_from_right_to_left_turns_nothing_beside_it() {
    run(async {
        let (page, _thread) = stage(|| Cluster::builder().agent(TURNED, 2).agent("low", 1));
        command(&page, r#"{"speed":10}"#).await;
        let browser = Browser::of(&page, &[]).await;
        let isolated = format!("\u{2068}{TURNED}\u{2069}");
        browser
            .until(&format!(
                "return by('status').textContent.startsWith('{isolated} leads in term ')"
            ))
            .await;
        browser
            .until(&format!(
                "return document.title.startsWith('{isolated} leads')"
            ))
            .await;
        for css in [
            "#why p",
            "#log li",
            "#table button",
            ".agent text:not(.word):not(.more)",
        ] {
            let script = format!(
                "const with_it = [...document.querySelectorAll(`{css}`)].map((one) => one.textContent).filter((text) => text.includes('{TURNED}')); \
                return with_it.length > 0 && with_it.every((text) => text.split('{isolated}').length === text.split('{TURNED}').length)"
            );
            browser.until(&script).await;
        }
        browser.until(&format!("return document.querySelector(`[data-id='agent:{TURNED}'] [role=button]`).getAttribute('aria-label').startsWith('{isolated}, ')")).await;
        // The text keeps its reading order: the term is to the right of the name.
        let order = "const text = by('status').firstChild, at = text.data.indexOf('leads'), range = document.createRange(); \
            range.setStart(text, 1); range.setEnd(text, 4); const name = range.getBoundingClientRect(); \
            range.setStart(text, at); range.setEnd(text, at + 5); return range.getBoundingClientRect().left > name.right";
        browser.until(order).await;
        browser.shot("turned").await;
        browser.end().await;
    });
}

#[test]
fn no_character_of_a_text_turns_the_page() {
    run(async {
        let agent = alone("a");
        let browser = Browser::of(&Dashboard::new(Operated::new(&agent)), &[]).await;
        browser.until("return state.now !== null").await;
        let told = browser.script("return [isolate('a\u{202e}b'), isolate('abc'), isolated('x \u{2067}y', ['x']), isolated('\u{5d0}1 follows \u{5d0}', ['\u{5d0}', '\u{5d0}1'])]").await;
        assert_eq!(
            told,
            json!([
                "a\u{fffd}b",
                "abc",
                "x \u{fffd}y",
                "\u{2068}\u{5d0}1\u{2069} follows \u{2068}\u{5d0}\u{2069}"
            ])
        );
        browser.end().await;
    });
}

#[test]
fn a_port_that_is_taken_is_said_in_words() {
    run(async {
        let agent = alone("a");
        let page = Dashboard::new(Operated::new(&agent));
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let Err(wrong) = page.serve(port) else {
            panic!("the port is taken")
        };
        assert_eq!(
            wrong.to_string(),
            format!(
                "port {port} of 127.0.0.1 is taken by another program: end that program, or choose another port (0 takes a free port)"
            )
        );
        assert_eq!(wrong.kind(), std::io::ErrorKind::AddrInUse);
    });
}
