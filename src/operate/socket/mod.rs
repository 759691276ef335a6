//! Serves a node on a local socket.
//!
//! Decided here: which processes get answers, and how much they may send. Only the socket's own user and root may use
//! the socket (mode 0600, and the uid of each process is checked). A request has at most 4 KiB, and 5 s to arrive.
//! Sixteen connections are answered at the same time; more connections wait. The socket has a thread of its own: it
//! never blocks an agent, and answers even while the application's threads hang. Not here: which file may be replaced
//! (`bind.rs`).

mod bind;
mod serve;

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    thread,
};

use tokio::sync::oneshot;
use tracing::warn;

use super::Operated;
use bind::FileIdentity;

/// Serves a node's report and commands on a Unix-domain socket at `path`, until the guard is dropped.
///
/// The socket answers only processes of the same user and of root. Put it into a folder in which no other user may
/// write, such as `/run/NAME`. A socket that an earlier process left at `path` is replaced.
///
/// The socket has a thread of its own, named `bully-operate`. This call needs no System, and blocks for a second at
/// most.
///
/// # Requests
/// A request is one line of JSON, and so is its answer.
/// ```text
///   "report"                                        ─▶ {"report":{"bridge":null,"agents":[..]}}
///   "diagnosis"                                     ─▶ {"diagnosis":[{"text":"..","diagnosis":{..}}]}
///   "history"                                       ─▶ {"history":[{"group":"..","leaderships":[..],"findings":[..]}]}
///   {"order":{"command":"drain","within_ms":5000}}  ─▶ {"outcome":{"became":"left","leader":{..}}}
///   {"record":{"on":{}}}, {"record":"read"}         ─▶ {"recordings":[{"agent":..,"is_on":true,"jsonl":null}]}
///   anything else                                   ─▶ {"error":{"message":".."}}
///   any request of another user                     ─▶ {"denied":{"message":".."}}
/// ```
/// The values are [`Report`](super::Report), [`Explanation`](super::Explanation),
/// [`GroupHistory`](crate::history::GroupHistory), [`Order`](super::Order), [`Outcome`](super::Outcome),
/// [`RecordRequest`](super::RecordRequest) and [`AgentRecording`](super::AgentRecording), as JSON.
///
/// # Errors
/// [`SocketError`]. Nothing was changed then.
///
/// # Examples
/// ```no_run
/// # fn demo(handle: &actix_bully::agent::BullyHandle) -> Result<(), actix_bully::operate::SocketError> {
/// use actix_bully::operate::{Operated, serve_socket};
///
/// let _operated = serve_socket("/run/orders/bully.sock", Operated::new(handle))?;
/// // .. the application runs; `bullyctl --socket /run/orders/bully.sock status` shows the node
/// # Ok(())
/// # }
/// ```
pub fn serve_socket(
    path: impl AsRef<Path>,
    operated: Operated,
) -> Result<SocketGuard, SocketError> {
    let path = path.as_ref().to_owned();
    let (listener, file) = bind::bind(&path)?;
    let (stop, stopped) = oneshot::channel();
    let guard = SocketGuard {
        path,
        file,
        stop: Some(stop),
    };
    // From here on, a failure drops the guard, which removes the file.
    let runtime = serve::runtime().map_err(SocketError::Thread)?;
    thread::Builder::new()
        .name("bully-operate".to_owned())
        .spawn(move || serve::serve(&runtime, listener, &operated, stopped))
        .map_err(SocketError::Thread)?;
    Ok(guard)
}

/// Serves a socket as long as the guard exists. A drop removes the socket; a request in progress then has one more
/// second.
#[must_use = "dropping the guard removes the socket"]
pub struct SocketGuard {
    path: PathBuf,
    file: FileIdentity,
    stop: Option<oneshot::Sender<()>>,
}

impl Drop for SocketGuard {
    fn drop(&mut self) {
        // Removes the file while the thread still listens. A process that starts at this moment sees that the socket is
        // in use, and does not replace it.
        if FileIdentity::of(&self.path).is_ok_and(|found| found == self.file)
            && let Err(reason) = fs::remove_file(&self.path)
        {
            warn!(path = %self.path.display(), %reason, "socket not removed");
        }
        if let Some(stop) = self.stop.take() {
            stop.send(()).ok();
        }
    }
}

impl fmt::Debug for SocketGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketGuard")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The reason why a socket is not served. Nothing was changed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// A running process already serves a socket at this path.
    #[error("another running process serves {}: stop that process, or name another path", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// The file at the path belongs to another user.
    #[error("{} belongs to user {owner}, and this process runs as user {own}: name another path", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// The uid of the file's owner.
        owner: u32,
        /// The uid of this process.
        own: u32,
    },
    /// The file at the path is not a socket, and is not replaced.
    #[error("{} is not a socket: remove it, or name another path", path.display())]
    NoSocket {
        /// The path.
        path: PathBuf,
    },
    /// Another process has held the lock of the folder for a second. A process holds this lock while it creates a
    /// socket in the folder.
    #[error("the folder {} is locked by another process: try again, or use a folder of its own", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The file cannot be created. A path of more than about 100 bytes is too long.
    #[error("the socket {} cannot be made ({source}): does its folder exist, and may this user write to it?", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The thread cannot be started.
    #[error("the socket for operators needs a thread: allow this process more threads ({0})")]
    Thread(#[source] io::Error),
}

debug_is_text!(SocketError);
