//! What the guardian logs. Alone in its file: log levels are settled for a whole process.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails the test")]

mod common;

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::clock::sleep;
use actix::prelude::*;
use actix_bully::supervisor::{Exit, Guardian, RestartPolicy};

struct Doomed;

impl Actor for Doomed {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Self::Context) {
        resume_unwind(Box::new("injected"));
    }
}

impl Supervised for Doomed {}

#[test]
fn a_warning_is_logged_when_the_last_restart_is_granted_and_never_an_error() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        common::virtual_system().block_on(async {
            let policy = RestartPolicy::builder().max_restarts(2).build().unwrap();
            let child = Guardian::builder("api-1").policy(policy);
            let child = child.on_exit(|_: &Exit| resume_unwind(Box::new("hook")));
            let addr = child.start(|_| Doomed);
            sleep(Duration::from_secs(1)).await;
            assert!(!addr.connected());
        });
    });
    let reason = r#"node="api-1" reason=Panicked("injected")"#;
    assert_eq!(
        log.lines(),
        [
            r#" WARN exit hook panicked node="api-1" reason="hook""#,
            &format!(" INFO child is down {reason} after_ms=100"),
            r#" INFO child is up node="api-1" restarts=1"#,
            r#" WARN exit hook panicked node="api-1" reason="hook""#,
            &format!(" INFO child is down {reason} after_ms=200"),
            r#" WARN restart budget nearly spent node="api-1""#,
            r#" INFO child is up node="api-1" restarts=2"#,
            r#" WARN exit hook panicked node="api-1" reason="hook""#,
            &format!(" WARN restart budget spent {reason}"),
        ]
    );
}

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        String::from_utf8_lossy(&self.0.lock().unwrap())
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
