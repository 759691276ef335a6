//! A guard's reports, as `bullyctl` reads them.

use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};

use crate::run::{
    frames::{RunOrder, RunReport},
    guarded::{Heard, hear_now},
    limits::NEVER,
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
    send(&own, &order.encode(), SendFlags::empty()).unwrap();
    send(&theirs, &report.encode(), SendFlags::empty()).unwrap();
    drop(theirs);
    assert_eq!(hear_now(&own), Heard::Report(report));
    assert_eq!(hear_now(&own), Heard::Closed);
}
