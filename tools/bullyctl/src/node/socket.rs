//! Reaches a node by its local socket.

#[cfg(not(unix))]
mod none {
    //! A system without such sockets.

    use std::{path::Path, time::Duration};

    use actix_bully::{
        history::GroupHistory,
        operate::{AgentRecording, Explanation, Order, Outcome, RecordRequest, Report},
    };

    use crate::failure::Failure;

    const NONE: Failure =
        Failure::Usage("this system has no local sockets for operators: use --url");

    pub(crate) fn report(_: &Path, _: Duration) -> Result<Report, Failure> {
        Err(NONE)
    }

    pub(crate) fn diagnosis(_: &Path) -> Result<Vec<Explanation>, Failure> {
        Err(NONE)
    }

    pub(crate) fn history(_: &Path) -> Result<Vec<GroupHistory>, Failure> {
        Err(NONE)
    }

    pub(crate) fn order(_: &Path, _: &Order) -> Result<Outcome, Failure> {
        Err(NONE)
    }

    pub(crate) fn record(_: &Path, _: RecordRequest) -> Result<Vec<AgentRecording>, Failure> {
        Err(NONE)
    }
}

#[cfg(unix)]
mod unix {
    //! Sends one line, and reads one line.

    use std::{
        io::{self, ErrorKind, Read, Write},
        os::unix::net::UnixStream,
        path::Path,
        time::Duration,
    };

    use actix_bully::{
        history::GroupHistory,
        operate::{
            AgentRecording, Explanation, Order, Outcome, RecordRequest, Report, SocketAnswer,
            SocketRequest,
        },
    };

    use crate::{
        failure::Failure,
        node::{MOST, PATIENCE, patience},
    };

    pub(crate) fn report(path: &Path, within: Duration) -> Result<Report, Failure> {
        match ask(path, &SocketRequest::Report, within)? {
            SocketAnswer::Report(report) => Ok(report),
            answer => Err(odd(answer)),
        }
    }

    pub(crate) fn diagnosis(path: &Path) -> Result<Vec<Explanation>, Failure> {
        match ask(path, &SocketRequest::Diagnosis, PATIENCE)? {
            SocketAnswer::Diagnosis(agents) => Ok(agents),
            answer => Err(odd(answer)),
        }
    }

    pub(crate) fn history(path: &Path) -> Result<Vec<GroupHistory>, Failure> {
        match ask(path, &SocketRequest::History, PATIENCE)? {
            SocketAnswer::History(groups) => Ok(groups),
            answer => Err(odd(answer)),
        }
    }

    pub(crate) fn order(path: &Path, order: &Order) -> Result<Outcome, Failure> {
        match ask(path, &SocketRequest::Order(order.clone()), patience(order))? {
            SocketAnswer::Outcome(outcome) => Ok(outcome),
            answer => Err(odd(answer)),
        }
    }

    pub(crate) fn record(
        path: &Path,
        request: RecordRequest,
    ) -> Result<Vec<AgentRecording>, Failure> {
        match ask(path, &SocketRequest::Record(request), PATIENCE)? {
            SocketAnswer::Recordings(recordings) => Ok(recordings),
            answer => Err(odd(answer)),
        }
    }

    fn ask(
        path: &Path,
        request: &SocketRequest,
        within: Duration,
    ) -> Result<SocketAnswer, Failure> {
        let mut line =
            serde_json::to_vec(request).map_err(|error| Failure::Odd(error.to_string()))?;
        line.push(b'\n');
        let answer = exchange(path, &line, within).map_err(|error| unreachable(path, &error))?;
        if answer.is_empty() {
            let error = io::Error::from(ErrorKind::UnexpectedEof);
            return Err(unreachable(path, &error));
        }
        serde_json::from_slice(&answer).map_err(|error| Failure::Odd(error.to_string()))
    }

    fn exchange(path: &Path, line: &[u8], within: Duration) -> io::Result<Vec<u8>> {
        let mut stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(within))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        // A node that refuses this user may answer before it has read the line, so read the answer even after a failed
        // write.
        let asked = stream.write_all(line);
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

    fn odd(answer: SocketAnswer) -> Failure {
        match answer {
            SocketAnswer::Denied { message } => Failure::Denied(message),
            SocketAnswer::Error { message } => Failure::Unable(message),
            _ => Failure::Odd("the answer is to another question".to_owned()),
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
                // The rest of the request stays unread when this side closes.
                stream.read_exact(&mut [0])?;
                stream.write_all(b"{\"denied\":{\"message\":\"not you\"}}\n")
            });
            let denied = report(&path, PATIENCE).err();
            node.join().map_err(|_| ErrorKind::Other)??;
            assert!(
                matches!(&denied, Some(Failure::Denied(why)) if why == "not you"),
                "{denied:?}"
            );
            Ok(())
        }
    }
}

#[cfg(not(unix))]
pub(super) use none::{diagnosis, history, order, record, report};
#[cfg(unix)]
pub(super) use unix::{diagnosis, history, order, record, report};
