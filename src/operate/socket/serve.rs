//! The thread that answers the requests on a socket.
//!
//! Decided here: which processes get answers, how long each part of an answer may take, and how many connections are
//! answered at the same time. A silent client occupies one connection for a few seconds, and does not slow any agent.

use std::{io, os::unix::net::UnixListener as StdListener, pin::pin, sync::Arc, time::Duration};

use futures::future::{Either, select};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
    runtime::{Builder, Runtime},
    sync::{Semaphore, oneshot},
    task::{LocalSet, spawn_local},
    time::{sleep, timeout},
};
use tracing::warn;

use crate::{
    history::GroupHistory,
    operate::{AgentRecording, Explanation, Operated, Order, Outcome, RecordRequest, Report},
    remote::Refusals,
};

/// A request of a client, as JSON.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    Report,
    Diagnosis,
    History,
    Order(Order),
    Record(RecordRequest),
}

/// The answer to a request, as JSON. An answer with a message means that nothing was done.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Report(Report),
    Diagnosis(Vec<Explanation>),
    History(Vec<GroupHistory>),
    Outcome(Outcome),
    Recordings(Vec<AgentRecording>),
    Denied { message: String },
    Error { message: String },
}

/// Longest request in bytes, without its line feed.
const LONGEST: u64 = 4096;

/// Largest number of connections that are answered at the same time; further connections wait. The number is chosen:
/// with one or two slots, a silent client would delay the other clients; and each connection costs a descriptor and a
/// task.
const SLOTS: u32 = 16;

/// Longest time for a request to arrive, and for a client to take an answer. The time is chosen: a program of this host
/// needs milliseconds, and a silent program holds its slot for this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time that an answer in progress still has after the guard was dropped.
const GRACE: Duration = Duration::from_secs(1);

pub(super) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Answers requests until `stopped` is signalled.
pub(super) fn serve(
    runtime: &Runtime,
    listener: StdListener,
    operated: &Operated,
    stopped: oneshot::Receiver<()>,
) {
    let slots = Arc::new(Semaphore::new(usize::try_from(SLOTS).unwrap_or(1)));
    let served = async {
        // The listener is created inside of the runtime, because it belongs to this runtime.
        let listener = UnixListener::from_std(listener)?;
        let accepting = pin!(accept(&listener, operated, &slots));
        if let Either::Left((ended, _)) = select(accepting, stopped).await {
            return ended;
        }
        timeout(GRACE, slots.acquire_many(SLOTS))
            .await
            .map(drop)
            .ok();
        Ok(())
    };
    if let Err(reason) = LocalSet::new().block_on(runtime, served) {
        warn!(%reason, "socket not served any more");
    }
}

async fn accept(
    listener: &UnixListener,
    operated: &Operated,
    slots: &Arc<Semaphore>,
) -> io::Result<()> {
    let mut refusals = Refusals::default();
    // `acquire_owned` cannot fail: nothing closes the semaphore.
    while let Ok(slot) = Arc::clone(slots).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                refusals.end();
                let operated = operated.clone();
                drop(spawn_local(async move {
                    // Errors are ignored: a client that is gone gets no answer, and other clients are not affected.
                    let may_ask = |peer| may_ask(peer, geteuid().as_raw());
                    timeout(ALL, attend(stream, &operated, may_ask)).await.ok();
                    drop(slot);
                }));
            }
            Err(reason) => {
                if let Some(pause) = refusals.pause_after(&reason) {
                    sleep(pause).await;
                }
            }
        }
    }
    Ok(())
}

/// Longest time for which a connection stays open: the request, the longest wait for a command, the answer, and a
/// reserve.
const ALL: Duration = Duration::from_secs(90);

async fn attend(
    mut stream: UnixStream,
    operated: &Operated,
    may_ask: impl Fn(u32) -> bool,
) -> io::Result<()> {
    let answer = match stream.peer_cred() {
        Ok(peer) if !may_ask(peer.uid()) => {
            // The request is read even before a refusal. If it stays unread, the system reports a broken connection to
            // the client, and the answer is lost.
            timeout(PATIENCE, hear(&mut stream)).await.ok();
            Answer::Denied {
                message: format!(
                    "the user {} may not ask here: ask as the user of the node, or as root",
                    peer.uid()
                ),
            }
        }
        Err(reason) => error(format_args!(
            "the system does not say who asks ({reason}): send the request again"
        )),
        Ok(_) => match timeout(PATIENCE, hear(&mut stream)).await {
            Ok(Ok(line)) => reply(&line, operated).await,
            Ok(Err(HearError::TooLong)) => error(format_args!(
                "a request of more than {LONGEST} bytes is not read: send a shorter one"
            )),
            Ok(Err(HearError::Unfinished)) => error(format_args!(
                "the request has no end: close the line with a line feed"
            )),
            Ok(Err(HearError::Io(reason))) => return Err(reason),
            Err(_) => error(format_args!(
                "no request arrived within {PATIENCE:?}: send it again"
            )),
        },
    };
    let mut line = serde_json::to_vec(&answer)?;
    line.push(b'\n');
    timeout(PATIENCE, stream.write_all(&line)).await??;
    stream.shutdown().await
}

/// Returns whether a process of the user `peer` may read and command this node.
const fn may_ask(peer: u32, own: u32) -> bool {
    peer == own || peer == 0
}

async fn reply(line: &[u8], operated: &Operated) -> Answer {
    match serde_json::from_slice(line) {
        Ok(Request::Report) => Answer::Report(operated.report()),
        Ok(Request::Diagnosis) => Answer::Diagnosis(operated.explain()),
        Ok(Request::Order(order)) => Answer::Outcome(operated.carry_out(order).await),
        Ok(Request::History) => Answer::History(operated.history()),
        Ok(Request::Record(request)) => Answer::Recordings(operated.record(request)),
        Err(reason) => error(format_args!(
            "this is not a request: {reason}; ask \"report\", \"diagnosis\", \"history\", {{\"record\":\"read\"}} or {{\"order\":{{\"command\":..}}}}"
        )),
    }
}

fn error(message: std::fmt::Arguments<'_>) -> Answer {
    Answer::Error {
        message: message.to_string(),
    }
}

/// The reason why no whole line arrived.
enum HearError {
    TooLong,
    Unfinished,
    Io(io::Error),
}

/// Reads a line. The bytes after the line feed are ignored.
async fn hear(stream: impl AsyncRead + Unpin) -> Result<Vec<u8>, HearError> {
    let mut line = Vec::new();
    let mut bytes = BufReader::new(stream.take(LONGEST + 1));
    let read = bytes.read_until(b'\n', &mut line).await;
    read.map_err(HearError::Io)?;
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(line);
    }
    Err(match bytes.get_ref().limit() {
        0 => HearError::TooLong,
        _ => HearError::Unfinished,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_own_user_and_root_are_answered() {
        let answered = [(1000, 1000), (0, 1000), (1001, 1000), (1000, 0), (0, 0)];
        let answered = answered.map(|(peer, own)| may_ask(peer, own));
        assert_eq!(answered, [true, true, false, false, true]);
    }

    #[test]
    fn a_line_ends_where_it_says_and_keeps_to_its_limit() {
        runtime().unwrap().block_on(async {
            let line = hear(&b"\"report\"\nand more\n"[..]).await;
            assert!(matches!(line.as_deref(), Ok(b"\"report\"")));
            let mut long = vec![b'x'; 4096];
            let line = hear(&*long).await;
            assert!(matches!(line, Err(HearError::Unfinished)));
            long.push(b'\n');
            assert!(hear(&*long).await.is_ok_and(|line| line.len() == 4096));
            long.insert(0, b'x');
            let line = hear(&*long).await;
            assert!(matches!(line, Err(HearError::TooLong)));
        });
    }

    #[test]
    fn another_user_reads_that_it_is_not_permitted() {
        runtime().unwrap().block_on(async {
            let (server, mut client) = UnixStream::pair().unwrap();
            let request = b"{\"order\":{\"command\":\"drain\"}}\n";
            client.write_all(request).await.unwrap();
            let operated = Operated {
                agents: Vec::new(),
                bridge: None,
            };
            attend(server, &operated, |_| false).await.unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("{\"denied\":"), "{answer}");
        });
    }
}
