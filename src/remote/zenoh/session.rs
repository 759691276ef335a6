//! The session of zenoh, on a thread of its own.
//!
//! Decided here: that zenoh is opened, closed and dropped on no thread of an actor, where it would panic, and that nobody
//! waits for its end. A peer's bridge waits until it listens, which takes milliseconds. A client's does not
//! wait: its router may be away, and is asked for again and again.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread,
    time::Duration,
};

use ::zenoh::{Config, Session, Wait, liveliness::LivelinessToken};
use tracing::{debug, warn};

use super::{
    ZenohError,
    error::text,
    keys,
    options::{Mode, ZenohOptions},
    switchboard::{Switchboard, Wake},
};

/// Opens a session for the switchboard, which is told by `asleep` when to close it.
pub(super) fn open(
    board: &Arc<Switchboard>,
    options: &ZenohOptions,
    asleep: Receiver<Wake>,
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

type Ready = SyncSender<Result<(), ZenohError>>;

fn run(board: &Arc<Switchboard>, config: &Config, ready: &Ready, asleep: &Receiver<Wake>) {
    let Some((session, token)) = begin(board, config, ready, asleep) else {
        return;
    };
    board.opened(session);
    if board.mode == Mode::Peer && ready.send(Ok(())).is_err() {
        board.close(); // nobody waits for it any more
    }
    while !board.is_closing() {
        match asleep.recv() {
            Ok(Wake::Look) => {}
            // The dial may have been given up.
            Ok(Wake::IsCutOff(answer)) => drop(answer.send(board.is_cut_off())),
            Err(_) => break,
        }
    }
    end(board, token, asleep);
}

fn end(board: &Switchboard, token: LivelinessToken, asleep: &Receiver<Wake>) {
    // First of all: the others need not wait until a link is seen to be dead.
    let taken_back = token.undeclare().wait();
    // Goodbyes are still being said.
    while !board.table().is_empty() && asleep.recv_timeout(LINGER).is_ok() {}
    let closed = board
        .take()
        .map_or(Ok(()), |session| session.close().wait());
    if let Err(reason) = taken_back.and(closed) {
        debug!(reason = %text(&reason), "zenoh session not closed in order");
    }
}

/// A session that listens and has said that it is there; `None` if there is none and will be none.
fn begin(
    board: &Arc<Switchboard>,
    config: &Config,
    ready: &Ready,
    asleep: &Receiver<Wake>,
) -> Option<(Session, LivelinessToken)> {
    if board.mode == Mode::Client {
        ready.send(Ok(())).ok()?;
    }
    let mut failures = 0_u32;
    loop {
        let reason = match declare(board, config) {
            Ok(session) => return Some(session),
            Err(reason) => text(&reason),
        };
        if board.mode == Mode::Peer {
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

fn declare(
    board: &Arc<Switchboard>,
    config: &Config,
) -> ::zenoh::Result<(Session, LivelinessToken)> {
    let session = ::zenoh::open(config.clone()).wait()?;
    let inbox = keys::inbox(&board.cluster, &board.host, board.me);
    let of = Arc::clone(board);
    session
        .declare_subscriber(inbox)
        .callback(move |sample| of.on_packet(&sample))
        .background()
        .wait()?;
    // Last: a host that sees the token opens a connection at once.
    let token = keys::token(&board.cluster, &board.host, board.me);
    let token = session.liveliness().declare_token(token).wait()?;
    Ok((session, token))
}

/// For so long a start waits for its session.
const OPEN: Duration = Duration::from_secs(10);
/// So long a session is kept after the end of its bridge for each connection that ends meanwhile.
const LINGER: Duration = Duration::from_millis(500);
const RETRY: Duration = Duration::from_millis(100);
const RETRY_MOST: Duration = Duration::from_secs(2);
