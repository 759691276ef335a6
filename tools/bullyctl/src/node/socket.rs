//! Reaches a node by its local socket: sends one line, and reads one line.

use std::{
    io::{self, ErrorKind, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{MOST, PATIENCE};
use crate::failure::Failure;

/// An answer of the socket. Each request has its own key, and only an empty list fits behind the key of another list.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    #[serde(
        alias = "report",
        alias = "diagnosis",
        alias = "history",
        alias = "outcome",
        alias = "recordings"
    )]
    Content(T),
    Denied {
        message: String,
    },
    Error {
        message: String,
    },
}

pub(super) fn ask<T: DeserializeOwned>(
    path: &Path,
    request: &Value,
    within: Duration,
) -> Result<T, Failure> {
    let answer = exchange(path, &format!("{request}\n"), within)
        .map_err(|error| unreachable(path, &error))?;
    if answer.is_empty() {
        let error = io::Error::from(ErrorKind::UnexpectedEof);
        return Err(unreachable(path, &error));
    }
    match serde_json::from_slice(&answer) {
        Ok(Answer::Content(content)) => Ok(content),
        Ok(Answer::Denied { message }) => Err(Failure::Denied(message)),
        Ok(Answer::Error { message }) => Err(Failure::Unable(message)),
        Err(error) => Err(Failure::Odd(error.to_string())),
    }
}

fn exchange(path: &Path, line: &str, within: Duration) -> io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(within))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // A node that refuses this user may answer before it has read the line, so read the answer even after a failed
    // write.
    let asked = stream.write_all(line.as_bytes());
    let mut answer = Vec::new();
    let read = stream.take(MOST).read_to_end(&mut answer);
    if answer.ends_with(b"\n") {
        return Ok(answer);
    }
    asked.and(read)?;
    Ok(answer)
}

fn unreachable(path: &Path, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        ErrorKind::PermissionDenied => {
            return Failure::Denied(format!(
                "the socket {} is another user's: run bullyctl as the user of the node, or as root",
                path.display()
            ));
        }
        ErrorKind::NotFound => {
            "is that the path that the node gave to serve_socket, and does the node run?"
        }
        ErrorKind::ConnectionRefused => {
            "the node has ended and left its socket behind: start it again"
        }
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            "the node hangs, or waits for its disk: look at its log"
        }
        _ => "does the node run?",
    };
    Failure::Unreachable {
        place: path.display().to_string(),
        cause: error.to_string(),
        advice,
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixListener, thread};

    use super::*;

    #[test]
    fn an_answer_of_a_node_that_reads_nothing_is_not_lost() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path)?;
        let node = thread::spawn(move || -> io::Result<()> {
            let (mut stream, _) = listener.accept()?;
            // This side closes while a part of the request is unread.
            stream.read_exact(&mut [0])?;
            stream.write_all(b"{\"denied\":{\"message\":\"not you\"}}\n")
        });
        let denied = ask::<Value>(&path, &"report".into(), PATIENCE).err();
        node.join().map_err(|_| ErrorKind::Other)??;
        assert!(
            matches!(&denied, Some(Failure::Denied(why)) if why == "not you"),
            "{denied:?}"
        );
        Ok(())
    }
}
