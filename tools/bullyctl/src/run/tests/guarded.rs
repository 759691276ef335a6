//! The start of a guard, and the reports of the guard to `bullyctl`.

use std::{cell::Cell, ffi::OsString, time::Duration};

use actix::System;
use actix_bully::{Group, agent::BullyAgent, clock::BootClock};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};

use crate::run::{
    frames::{RunOrder, RunReport, encode},
    guarded::{Guarded, GuardedCommand, Heard, hear_now},
    limits::{Limits, NEVER},
    outcome::{CommandEnd, CommandStatus, EndCause},
};

#[test]
fn the_last_report_of_a_guard_that_left_an_order_unread_is_read() {
    let kind = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let (own, theirs) = socketpair(kind.0, kind.1, SocketFlags::CLOEXEC, None).unwrap();
    let order = RunOrder {
        deadline: NEVER,
        asks_to_end: true,
    };
    let report = RunReport::Ended(CommandEnd {
        status: CommandStatus::Exited(3),
        cause: EndCause::Itself,
    });
    send(&own, &encode(&order), SendFlags::empty()).unwrap();
    send(&theirs, &encode(&report), SendFlags::empty()).unwrap();
    drop(theirs);
    assert_eq!(hear_now(&own), Heard::Report(report));
    assert_eq!(hear_now(&own), Heard::Closed);
}

#[test]
fn no_guard_is_started_once_the_drain_has_begun() {
    System::new().block_on(async {
        let group = Group::new("jobs").unwrap();
        let agent = BullyAgent::builder("a").join(&group).start().unwrap();
        let words = [OsString::from("true")];
        let started = Cell::new(None);
        let lead = agent.lead(async |leader| {
            let command = GuardedCommand {
                words: &words,
                variables: Vec::new(),
            };
            let limits = Limits::new(Duration::from_secs(1), Duration::from_secs(60));
            let clock = BootClock::new().unwrap();
            leader.stepping_down().await;
            let guarded = Guarded::start(&command, &leader, limits, clock).await;
            started.set(Some(guarded.unwrap().is_some()));
        });
        let leave = async {
            agent
                .wait_for_leader(Duration::from_secs(30))
                .await
                .unwrap();
            agent.leave(Duration::from_secs(60)).await.unwrap();
        };
        let (ended, ()) = tokio::join!(lead, leave);
        ended.unwrap();
        assert_eq!(started.get(), Some(false));
    });
}
