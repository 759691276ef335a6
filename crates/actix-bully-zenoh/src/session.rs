//! The session of zenoh, on a thread of its own.
//!
//! Decided here: zenoh is opened, closed and dropped on this thread, because zenoh panics on a thread of an actor; and
//! no other thread waits for the end of this thread. A peer's bridge waits until the session listens, which takes
//! milliseconds. A client's bridge does not wait: its router may be away, and is tried again and again.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread,
    time::Duration,
};

use actix_bully::remote::NodeId;
use tracing::{debug, warn};
use zenoh::{Config, Session, Wait, liveliness::LivelinessToken};

use super::{
    ZenohError,
    error::text,
    keys,
    options::{SessionMode, ZenohOptions},
    switchboard::{Probed, SessionWake, Switchboard},
};

/// Starts the thread of the session. The thread sleeps until `asleep` has a message, such as to close it.
pub(super) fn open(
    board: &Arc<Switchboard>,
    options: &ZenohOptions,
    asleep: Receiver<SessionWake>,
) -> Result<(), ZenohError> {
    let config = options.config()?;
    let (ready, opened) = mpsc::sync_channel(1);
    let board = Arc::clone(board);
    thread::Builder::new()
        .name("bully-zenoh".to_owned())
        .spawn(move || run(&board, &config, &ready, &asleep))
        .map_err(ZenohError::Thread)?;
    match opened.recv_timeout(OPEN) {
        Ok(opened) => opened,
        Err(RecvTimeoutError::Timeout) => Err(ZenohError::Late { limit: OPEN }),
        Err(RecvTimeoutError::Disconnected) => {
            Err(ZenohError::Open(io::Error::other("its thread has ended")))
        }
    }
}

type SessionReady = SyncSender<Result<(), ZenohError>>;

fn run(
    board: &Arc<Switchboard>,
    config: &Config,
    ready: &SessionReady,
    asleep: &Receiver<SessionWake>,
) {
    let Some((session, token)) = begin(board, config, ready, asleep) else {
        return;
    };
    board.opened(session);
    if board.mode == SessionMode::Peer && ready.send(Ok(())).is_err() {
        board.close(); // its start has given up
    }
    while !board.is_closing() {
        match asleep.recv() {
            Ok(SessionWake::Look) => {}
            Ok(SessionWake::Probe(host, answer)) => {
                let probed = board.with_session(|session| probe(board, session, &host));
                answer.send(probed.unwrap_or(Probed::CutOff)).ok(); // the dial may have been given up
            }
            Err(_) => break,
        }
    }
    end(board, token, asleep);
}

/// Asks again for the tokens of a host whose last token is gone. The host may be present: a stranger can withdraw a
/// copy of its token.
fn probe(board: &Switchboard, session: &Session, host: &NodeId) -> Probed {
    let tokens = session.liveliness().get(keys::tokens(&board.cluster, host));
    let replies = tokens.timeout(PROBE).wait();
    let replies = replies.into_iter().flatten();
    let mut probed = Probed::Ended;
    for reply in replies.take(MOST_REPLIES) {
        if let Ok(sample) = reply.result() {
            board.on_token(host, sample);
            probed = Probed::Found;
        }
    }
    if probed == Probed::Ended && board.mode == SessionMode::Client && is_cut_off(session) {
        return Probed::CutOff;
    }
    probed
}

/// Returns whether the session has lost all routers; a client hears of hosts only through routers. The function checks
/// several times, because zenoh withdraws the tokens that came by a router a moment before it forgets the router.
fn is_cut_off(session: &Session) -> bool {
    (0..LOOKS).any(|_| {
        let is_cut_off = session.info().routers_zid().wait().next().is_none();
        if !is_cut_off {
            thread::park_timeout(MOMENT);
        }
        is_cut_off
    })
}

fn end(board: &Switchboard, token: LivelinessToken, asleep: &Receiver<SessionWake>) {
    // The token is withdrawn first, so that the other hosts need not wait until they notice a dead link.
    let taken_back = token.undeclare().wait();
    // Waits, because the last packets are still being sent.
    while !board.table().is_empty() && asleep.recv_timeout(LINGER).is_ok() {}
    let closed = board
        .take()
        .map_or(Ok(()), |session| session.close().wait());
    if let Err(reason) = taken_back.and(closed) {
        debug!(reason = %text(&reason), "zenoh session not closed in order");
    }
}

/// Opens a session that listens and has declared its token; `None` if it cannot be opened, or the bridge ends first.
fn begin(
    board: &Arc<Switchboard>,
    config: &Config,
    ready: &SessionReady,
    asleep: &Receiver<SessionWake>,
) -> Option<(Session, LivelinessToken)> {
    if board.mode == SessionMode::Client {
        ready.send(Ok(())).ok()?;
    }
    let mut failures = 0_u32;
    loop {
        let reason = match declare(board, config) {
            Ok(session) => return Some(session),
            Err(reason) => text(&reason),
        };
        if board.mode == SessionMode::Peer {
            ready.send(Err(ZenohError::Open(reason))).ok();
            return None;
        }
        failures = failures.saturating_add(1);
        if failures == 1 {
            warn!(node = %board.host, %reason, "no zenoh router so far");
        }
        let wait = RETRY.saturating_mul(failures).min(RETRY_MOST);
        asleep.recv_timeout(wait).ok(); // no question is answered before there is a session
        if board.is_closing() {
            return None;
        }
    }
}

fn declare(board: &Arc<Switchboard>, config: &Config) -> zenoh::Result<(Session, LivelinessToken)> {
    let session = zenoh::open(config.clone()).wait()?;
    let inbox = keys::inbox(&board.cluster, &board.host, board.me);
    let of = Arc::clone(board);
    session
        .declare_subscriber(inbox)
        .callback(move |sample| of.on_packet(&sample))
        .background()
        .wait()?;
    // Declared last, because a host that sees the token opens a connection at once.
    let token = keys::token(&board.cluster, &board.host, board.me);
    let token = session.liveliness().declare_token(token).wait()?;
    Ok((session, token))
}

/// Time for which the network is asked whether a host that seems to have ended is still there. The value is a choice:
/// with far less, a host on a slow network counts as ended; with far more, a neighbour that does not answer delays the
/// report of a real end.
const PROBE: Duration = Duration::from_millis(500);
/// Maximum number of tokens of a host that one probe examines.
const MOST_REPLIES: usize = 8;
/// Number of checks for a router, and the pause between two checks. Chosen: with less than 0.1 s in all, the end of a
/// router may count as the end of its hosts; with more, a client reports each end of a host later.
const LOOKS: u32 = 20;
const MOMENT: Duration = Duration::from_millis(5);
/// Time for which a start waits for its session.
const OPEN: Duration = Duration::from_secs(10);
/// Time for which a session is kept after the end of its bridge. Each connection that ends meanwhile restarts this
/// time. Chosen: as long as a link waits after its goodbye.
const LINGER: Duration = Duration::from_millis(500);
/// Pause of a client between two tries, times its failures so far; and the longest pause. Chosen, like `RETRY_MS`.
const RETRY: Duration = Duration::from_millis(100);
const RETRY_MOST: Duration = Duration::from_secs(2);
