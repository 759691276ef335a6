//! A browser without a window, controlled by `WebDriver`: Debian's `chromium` and `chromium-driver`.

use std::{process::Stdio, time::Duration};

use actix_bully::dashboard::Dashboard;
use fantoccini::{
    Client, ClientBuilder, Locator, elements::Element, error::CmdError,
    wd::WebDriverCompatibleCommand,
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{SOON, done, five, served, stage};

/// A browser with a page of the dashboard.
#[derive(Debug)]
pub struct Browser {
    /// The connection to the browser.
    pub client: Client,
    _driver: Driver,
    profile: TempDir,
}

impl Browser {
    /// Starts a browser with more arguments than the usual ones, and opens a page.
    pub async fn open(url: &str, more: &[&str]) -> Self {
        let (driver, port) = driver().await;
        let profile = tempfile::tempdir().expect("a folder");
        let mut arguments = vec![
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--window-size=1300,1000".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        arguments.extend(more.iter().map(|&each| each.to_owned()));
        let wanted = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(wanted) = wanted else {
            unreachable!("it is an object")
        };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a session");
        client.goto(url).await.expect("the page");
        Self {
            client,
            _driver: driver,
            profile,
        }
    }

    /// Serves a page, and opens it in a new browser.
    pub async fn of(page: &Dashboard, more: &[&str]) -> Self {
        Self::open(&served(page), more).await
    }

    /// Opens the page of five agents at this speed, and waits until it shows agent-5 as the leader.
    pub async fn of_five(speed: u32) -> (Self, Dashboard) {
        let (page, _thread) = stage(five);
        done(&page, &format!(r#"{{"speed":{speed}}}"#)).await;
        let browser = Self::of(&page, &[]).await;
        browser.wait(LEADER).await;
        (browser, page)
    }

    /// Selects an agent in the picture, and waits until the page offers the commands for this agent.
    pub async fn select(&self, agent: &str) {
        self.click(&format!("[data-id='agent:{agent}'] circle:not(.halo)"))
            .await;
        let offered = format!(
            "return document.querySelector('[data-id=chosen] h3').textContent.startsWith('{agent},')"
        );
        self.until(&offered).await;
    }

    /// Chooses a file in the page's field for files. The file has this name and text.
    pub async fn choose(&self, name: &str, text: &str) {
        let file = self.profile.path().join(name);
        std::fs::write(&file, text).expect("a file");
        let field = self.wait("[data-id=open]").await;
        let path = file.to_str().expect("a path");
        field.send_keys(path).await.expect("it is chosen");
    }

    /// Opens a recording, and waits until the page shows it.
    pub async fn play(&self, name: &str, text: &str) {
        self.choose(name, text).await;
        let shown = format!("return by('connection').textContent.startsWith('recording {name}')");
        self.until(&shown).await;
    }

    /// Waits until the page shows this agent as the leader.
    pub async fn led_by(&self, agent: &str) {
        self.wait(&format!("[data-id='agent:{agent}'].leader"))
            .await;
    }

    /// Writes a screenshot into the folder that `SHOTS` names. Does nothing if `SHOTS` is not set.
    pub async fn shot(&self, name: &str) {
        if let Some(folder) = std::env::var_os("SHOTS") {
            let picture = self.client.screenshot().await.expect("a picture");
            let file = std::path::Path::new(&folder).join(format!("{name}.png"));
            std::fs::write(file, picture).expect("a file");
        }
    }

    /// Asserts that each text of the page has enough contrast, and that each part has its role and name for assistive
    /// technology. `roles.js` has rules that only fit this page.
    pub async fn judge(&self, state: &str) {
        for script in [CONTRAST, include_str!("roles.js")] {
            assert_eq!(self.script(script).await, json!([]), "{state}");
        }
        self.judge_by_axe(state).await;
    }

    /// Asserts that axe-core finds nothing in the present page, if `AXE` names a file of axe-core.
    async fn judge_by_axe(&self, state: &str) {
        let Some(axe) = std::env::var_os("AXE") else {
            return;
        };
        let is_new = "return window.axe === undefined";
        if self.script(is_new).await == Value::Bool(true) {
            let axe = std::fs::read_to_string(axe).expect("AXE names a file of axe-core");
            self.script(&axe).await;
        }
        assert_eq!(self.script(AXE).await, json!([]), "{state}");
    }

    /// Returns the new messages in the browser's console.
    pub async fn noted(&self) -> Value {
        self.client.issue_cmd(BrowserLog).await.expect("the log")
    }

    /// Opens a page in another tab, and brings the tab to the front.
    pub async fn tab(&self, url: &str) {
        let tab = self.client.new_window(true).await.expect("a tab");
        self.client.switch_to_window(tab.handle).await.expect("it");
        self.client.goto(url).await.expect("the page");
    }

    /// Brings the tab with this number to the front. Numbers follow the order of opening, from zero.
    pub async fn front(&self, number: usize) {
        let tabs = self.client.windows().await.expect("tabs");
        let tab = tabs.into_iter().nth(number).expect("so many tabs");
        self.client.switch_to_window(tab).await.expect("it");
    }

    /// Makes the page believe that it is hidden or visible. In a browser without a window no tab hides another tab.
    pub async fn hide(&self, hidden: bool) {
        let script = "const [hidden] = arguments; Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); \
            Object.defineProperty(document, 'visibilityState', { value: hidden ? 'hidden' : 'visible', configurable: true }); \
            document.dispatchEvent(new Event('visibilitychange'))";
        self.script_of(script, vec![hidden.into()]).await;
    }

    /// Sends a command of the browser's own protocol.
    pub async fn cdp(&self, name: &'static str, parameters: Value) {
        let command = BrowserCommand { name, parameters };
        self.client.issue_cmd(command).await.expect("it is done");
    }

    /// Waits until the element exists.
    pub async fn wait(&self, css: &str) -> Element {
        let found = self.client.wait().at_most(SOON).every(EACH);
        let found = found.for_element(Locator::Css(css)).await;
        match found {
            Ok(found) => found,
            Err(wrong) => {
                let body = self.script("return document.body.innerText").await;
                panic!("{css}: {wrong}; the page says {body}")
            }
        }
    }

    /// Waits until a script returns true.
    pub async fn until(&self, script: &str) {
        // A script fails while an element is still missing. This counts as false.
        let tried = format!("try {{ {script} }} catch {{ return false; }}");
        let met = actix::clock::timeout(SOON, async {
            while self.script(&tried).await != Value::Bool(true) {
                actix::clock::sleep(EACH).await;
            }
        });
        assert!(met.await.is_ok(), "never: {script}");
    }

    /// Waits until this part of the page begins with these words.
    pub async fn begins(&self, part: &str, words: &str) {
        self.until(&format!(
            "return document.querySelector('[data-id={part}]').textContent.startsWith('{words}')"
        ))
        .await;
    }

    /// Waits until this part of the page contains these words.
    pub async fn says(&self, part: &str, words: &str) {
        self.until(&format!(
            "return document.querySelector('[data-id={part}]').textContent.includes('{words}')"
        ))
        .await;
    }

    /// Waits until the page has exactly `number` parts with this name.
    pub async fn counts(&self, part: &str, number: usize) {
        self.until(&format!(
            "return document.querySelectorAll('[data-id={part}]').length === {number}"
        ))
        .await;
    }

    /// Runs a script in the page, and returns its result.
    pub async fn script(&self, script: &str) -> Value {
        self.script_of(script, Vec::new()).await
    }

    /// Runs a script in the page with arguments, and returns its result.
    pub async fn script_of(&self, script: &str, arguments: Vec<Value>) -> Value {
        let returned = self.client.execute(script, arguments).await;
        returned.expect("the script runs")
    }

    /// Returns the text of an element. If the page has replaced the element meanwhile, reads the new element.
    pub async fn text(&self, css: &str) -> String {
        let mut text = self.wait(css).await.text().await;
        if text
            .as_ref()
            .is_err_and(CmdError::is_stale_element_reference)
        {
            text = self.wait(css).await.text().await;
        }
        text.expect("a text")
    }

    /// Clicks on an element. If the page has replaced the element meanwhile, clicks on the new element.
    pub async fn click(&self, css: &str) {
        let mut clicked = self.wait(css).await.click().await;
        if clicked
            .as_ref()
            .is_err_and(CmdError::is_stale_element_reference)
        {
            clicked = self.wait(css).await.click().await;
        }
        clicked.expect("it can be clicked");
    }

    /// Presses keys in the element that has the focus.
    pub async fn press(&self, keys: &str) {
        let focused = self.client.active_element().await.expect("a focus");
        focused.send_keys(keys).await.expect("keys");
    }

    /// Ends the browser. Fails if axe-core finds something in the page, or if the console has a complaint.
    pub async fn end(self) {
        self.judge_by_axe("at the end").await;
        let lines = self.noted().await;
        let lines = lines.as_array().cloned().unwrap_or_default();
        let is_bad = |line: &Value| matches!(line["level"].as_str(), Some("SEVERE" | "WARNING"));
        let bad: Vec<_> = lines.into_iter().filter(is_bad).collect();
        self.client.clone().close().await.expect("the session ends");
        assert!(bad.is_empty(), "{bad:#?}");
    }
}

/// The process of the driver. A browser does not end with its driver, so the whole process group is ended when this
/// value is dropped.
#[derive(Debug)]
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(leader) = self.0.id() {
            let group = format!("-{leader}");
            std::process::Command::new("kill")
                .args(["-KILL", "--", &group])
                .status()
                .ok();
        }
    }
}

/// Starts the driver, and returns it with the port that it chose.
async fn driver() -> (Driver, u16) {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map(Driver)
        .expect("chromedriver: install Debian's chromium and chromium-driver");
    let mut lines = BufReader::new(driver.0.stdout.take().expect("its output")).lines();
    while let Some(line) = lines.next_line().await.expect("text") {
        let port = line
            .rsplit_once("on port ")
            .and_then(|(_, port)| port.trim_end_matches('.').parse().ok());
        if let Some(port) = port.filter(|port| *port != 0) {
            // The output is read to its end, so that the driver never blocks on a full pipe.
            actix::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (driver, port);
        }
    }
    panic!("chromedriver names no port")
}

/// The leader of five agents in the picture.
pub const LEADER: &str = "[data-id='agent:agent-5'].leader";

/// The command that reads the browser's console.
#[derive(Debug)]
struct BrowserLog;

impl WebDriverCompatibleCommand for BrowserLog {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (
            http::Method::POST,
            Some(json!({ "type": "browser" }).to_string()),
        )
    }
}

/// A command of the browser's own protocol.
#[derive(Debug)]
struct BrowserCommand {
    name: &'static str,
    parameters: Value,
}

impl WebDriverCompatibleCommand for BrowserCommand {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/goog/cdp/execute"))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        let body = json!({ "cmd": self.name, "params": self.parameters });
        (http::Method::POST, Some(body.to_string()))
    }
}

/// A script that returns each text with too little contrast.
pub const CONTRAST: &str = include_str!("contrast.js");

/// A script that returns each violation that axe-core finds in the present page.
const AXE: &str = "return axe.run(document, { resultTypes: ['violations'] }).then((found) => \
    found.violations.map((each) => `${each.id}: ${each.help}: ${each.nodes.map((node) => node.html.slice(0, 200)).join(', ')}`))";

/// Time between two looks at the page while a test waits.
const EACH: Duration = Duration::from_millis(50);
