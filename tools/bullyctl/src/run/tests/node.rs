//! The end of a node.

use std::{cell::Cell, ffi::OsString, path::PathBuf, time::Duration};

use actix::System;
use actix_bully::{clock::BootClock, config::Config};
use rustix::process::getpid;
use tokio::sync::Notify;

use crate::run::{
    Run,
    limits::Limits,
    node::{Lead, Service, Session, patient},
    signals::{self, EndSignals},
};

#[test]
fn after_a_signal_no_command_starts_if_none_runs() {
    // If a command runs, its work continues until it ends.
    for (guard, expected) in [(None, false), (Some(getpid()), true)] {
        System::new().block_on(async {
            let config = Config::from_toml("node = \"a\"\ngroup = \"jobs\"").unwrap();
            let node = config.starter().unwrap().start().unwrap();
            let service = Service {
                run: &Run {
                    config: PathBuf::new(),
                    env: None,
                    no_fence: true,
                    once: false,
                    within: None,
                    command: vec![OsString::from("true")],
                },
                config: &config,
                limits: Limits::new(Duration::from_secs(1), Duration::from_secs(1)),
                clock: BootClock::new().unwrap(),
                has_led: Cell::new(false),
                guard: Cell::new(guard),
                last_end: Cell::new(None),
                ended: Notify::new(),
            };
            let is_polled = Cell::new(false);
            let mut session = Session {
                lead: Lead::Goes(Box::pin(async {
                    is_polled.set(true);
                    Ok(())
                })),
                signals: EndSignals::listen().unwrap(),
                orphans: signals::children().unwrap(),
            };
            service.end(&node, &mut session, Some(15)).await;
            assert_eq!(is_polled.get(), expected);
        });
    }
}

/// The kernel may need longer to end a command than the margin.
#[test]
fn a_node_waits_for_the_end_of_a_killed_command_before_it_hands_over() {
    let text = "node = \"a\"\ngroup = \"jobs\"\nlease.folder = \"/leases\"";
    let config = Config::from_toml(text).unwrap();
    let starter = config.starter().unwrap();
    let limits = Limits::new(starter.timings().lease(), starter.drain());
    let patient = patient(&config, &limits).starter().unwrap().drain();
    assert_eq!(patient, limits.drain + Duration::from_secs(5));
}
