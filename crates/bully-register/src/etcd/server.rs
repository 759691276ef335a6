//! The member of the cluster that is used.
//!
//! Decided here: the register connects to a member that has a majority, after a login with the present password. If
//! only the login has expired, it connects to the same member again; after any other end, to the next endpoint. Also
//! decided here: how changes are received. A user without the right to read the whole prefix gets no changes. This is
//! not an error, because changes only make waiting shorter.

use std::{fmt, io, path::PathBuf, pin::pin};

use futures::future::select;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::{
    sync::{mpsc, oneshot},
    task::spawn_local,
    time::timeout,
};
use tracing::{debug, warn};

use super::{
    endpoint::EtcdEndpoint,
    failure::EtcdFailure,
    http::{Http, HttpConnection, Whole},
    lines::{StreamLine, StreamLines},
    message::{self, EtcdQuestion, WatchAnswer},
    session::{EtcdMember, EtcdSession},
};
use crate::{
    RegisterError, RegisterRefusal,
    connection::{ANSWER, Course, KeyChange, Meaning, Server, StoreSecurity, Tellers},
    password::PasswordFile,
};

/// A user of etcd.
#[derive(Clone)]
pub(super) enum EtcdCredentials {
    Known {
        user: String,
        password: String,
    },
    /// The file has `user:password`.
    File(PathBuf),
}

impl EtcdCredentials {
    pub(super) fn new(user: &str, password: &str) -> Self {
        let (user, password) = (user.to_owned(), password.to_owned());
        Self::Known { user, password }
    }

    /// Returns the present login.
    pub(super) fn login(&self) -> Result<EtcdQuestion, RegisterError> {
        let path = match self {
            Self::Known { user, password } => return Ok(EtcdQuestion::login(user, password)),
            Self::File(path) => path,
        };
        let wrong = |source: Box<dyn std::error::Error + Send + Sync>| {
            RegisterError::refused(RegisterRefusal::Credentials, io::Error::other(source))
        };
        let file = PasswordFile::read(path).map_err(|reason| wrong(reason.into()))?;
        file.check(path).map_err(|reason| wrong(reason.into()))?;
        let login = file.text.trim_end_matches(['\r', '\n']).split_once(':');
        let (user, password) =
            login.ok_or_else(|| wrong("the file has no `user:password`".into()))?;
        Ok(EtcdQuestion::login(user, password))
    }
}

impl fmt::Debug for EtcdCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known { user, .. } => f
                .debug_struct("Known")
                .field("user", user)
                .finish_non_exhaustive(),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

pub(super) struct EtcdServer {
    /// The endpoints, at least one. The first endpoint is used for the next connection.
    endpoints: Vec<EtcdEndpoint>,
    security: StoreSecurity,
    credentials: Option<EtcdCredentials>,
}

impl EtcdServer {
    /// Makes the server with these endpoints; `None` without an endpoint.
    pub(super) fn new(
        endpoints: Vec<EtcdEndpoint>,
        security: StoreSecurity,
        credentials: Option<EtcdCredentials>,
    ) -> Option<Self> {
        (!endpoints.is_empty()).then_some(Self {
            endpoints,
            security,
            credentials,
        })
    }

    /// Returns the endpoint for the next connection; `after` is the course after the end of the last connection.
    fn next(&mut self, after: Course) -> Option<EtcdEndpoint> {
        if after == Course::MovesOn && !self.endpoints.is_empty() {
            self.endpoints.rotate_left(1);
        }
        self.endpoints.first().cloned()
    }

    async fn begin(
        &self,
        http: Http,
        endpoint: EtcdEndpoint,
        login: Option<EtcdQuestion>,
        told: &Tellers,
    ) -> Result<(EtcdSession, mpsc::Receiver<Course>), EtcdFailure> {
        let mut member = EtcdMember::new(http, endpoint);
        if let Some(login) = login {
            log_in(&mut member, &login).await?;
        }
        match member.ask(&EtcdQuestion::probe()).await {
            // The member answers, which is enough here. A refusal is enough too: the user may lack the right to the key
            // of this question, and have the right to other keys.
            Ok(_)
            | Err(EtcdFailure {
                meaning: Meaning::Refused(RegisterRefusal::Credentials),
                ..
            }) => {}
            Err(failed) => return Err(failed),
        }
        let (end, ended) = mpsc::channel(1);
        let watch = match WatchStream::begin(&member).await? {
            Some(changes) => {
                let (alive, dropped) = oneshot::channel();
                let (told, end) = (told.clone(), end.clone());
                spawn_local(async move {
                    select(pin!(changes.tell(&told)), dropped).await;
                    end.try_send(Course::MovesOn).ok();
                });
                Some(alive)
            }
            None => None,
        };
        let logs_in = self.credentials.is_some();
        Ok((EtcdSession::new(member, end, logs_in, watch), ended))
    }
}

impl Server for EtcdServer {
    type Session = EtcdSession;

    async fn connect(
        &mut self,
        told: &Tellers,
        after: Course,
    ) -> Result<(EtcdSession, mpsc::Receiver<Course>), RegisterError> {
        let refused = |words: String| Meaning::NotDone.error(words);
        let endpoint = self
            .next(after)
            .ok_or_else(|| refused("no endpoint is named".into()))?;
        let http = Http::new(&self.security)?;
        let credentials = self.credentials.as_ref();
        let login = credentials.map(EtcdCredentials::login).transpose()?;
        let late = format!("{}: no answer within {ANSWER:?}", endpoint.authority());
        match timeout(ANSWER, self.begin(http, endpoint, login, told)).await {
            Ok(Ok(begun)) => Ok(begun),
            Ok(Err(failed)) => Err(failed.error()),
            Err(_) => Err(refused(late)),
        }
    }
}

async fn log_in(member: &mut EtcdMember, login: &EtcdQuestion) -> Result<(), EtcdFailure> {
    match member.ask(login).await {
        Ok(Whole::Body(body)) => {
            let token = message::token(&body);
            member.log_in(token.map_err(|wrong| EtcdFailure::unsent(wrong.to_string()))?);
            Ok(())
        }
        Ok(Whole::TooLarge) => Err(EtcdFailure::unsent(message::Misread.to_string())),
        // Without authentication, every client has all rights. etcd's own client also continues in this case.
        Err(failed) if failed.words.contains("authentication is not enabled") => {
            debug!(target: "actix_bully", "etcd asks for no login");
            Ok(())
        }
        Err(failed) => Err(failed),
    }
}

/// A stream of changes.
struct WatchStream {
    /// Kept, because the stream ends when this connection is dropped.
    _connection: HttpConnection,
    body: Incoming,
    lines: StreamLines,
}

impl WatchStream {
    /// Returns a stream of changes that has begun; `None` if this user has no right to watch.
    async fn begin(member: &EtcdMember) -> Result<Option<Self>, EtcdFailure> {
        let (connection, body) = member.stream(&EtcdQuestion::watch()).await?;
        let mut changes = Self {
            _connection: connection,
            body,
            lines: StreamLines::default(),
        };
        loop {
            for line in changes.next().await? {
                match watched(&line)? {
                    WatchAnswer::Begun => return Ok(Some(changes)),
                    WatchAnswer::Keys(_) => {}
                    WatchAnswer::Ended(reason) if reason.contains("permission denied") => {
                        let endpoint = member.endpoint().authority();
                        warn!(
                            target: "actix_bully", endpoint,
                            "this user of etcd may not watch all keys of actix-bully/: the lease is read at intervals"
                        );
                        return Ok(None);
                    }
                    WatchAnswer::Ended(reason) => return Err(EtcdFailure::unsent(reason)),
                }
            }
        }
    }

    /// Reports changes until the stream ends.
    async fn tell(mut self, told: &Tellers) {
        loop {
            match self.tell_next(told).await {
                Ok(()) => {}
                Err(failed) => {
                    debug!(target: "actix_bully", reason = failed.words, "a stream of changes of etcd ends");
                    return;
                }
            }
        }
    }

    async fn tell_next(&mut self, told: &Tellers) -> Result<(), EtcdFailure> {
        for line in self.next().await? {
            match watched(&line)? {
                WatchAnswer::Keys(keys) => {
                    for (key, change) in keys {
                        told.tell(KeyChange::Key(key.into(), change));
                    }
                }
                WatchAnswer::Begun => told.tell(KeyChange::Any),
                WatchAnswer::Ended(reason) => return Err(EtcdFailure::unsent(reason)),
            }
        }
        Ok(())
    }

    /// Returns the lines that have arrived.
    async fn next(&mut self) -> Result<Vec<StreamLine>, EtcdFailure> {
        match self.body.frame().await {
            Some(Ok(frame)) => Ok(frame
                .into_data()
                .map_or_else(|_| Vec::new(), |piece| self.lines.push(&piece))),
            Some(Err(lost)) => Err(EtcdFailure::unsent(lost.to_string())),
            None => Err(EtcdFailure::unsent("it ended".to_owned())),
        }
    }
}

/// Reads a line. A line that is too long counts as a change of every key.
fn watched(line: &StreamLine) -> Result<WatchAnswer, EtcdFailure> {
    match line {
        StreamLine::Text(text) => {
            message::watched(text).map_err(|wrong| EtcdFailure::unsent(wrong.to_string()))
        }
        StreamLine::TooLong => Ok(WatchAnswer::Begun),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_made_at_the_same_endpoint_and_any_other_end_moves_on() {
        let endpoints = ["http://a", "http://b"].map(|text| text.parse().unwrap());
        let server = EtcdServer::new(endpoints.into(), StoreSecurity::Plain, None);
        let mut server = server.unwrap();
        let asked = [
            (Course::LogsIn, "a"),
            (Course::LogsIn, "a"),
            (Course::MovesOn, "b"),
            (Course::LogsIn, "b"),
            (Course::MovesOn, "a"),
        ];
        for (after, host) in asked {
            assert_eq!(server.next(after).unwrap().host(), host);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_login_file_is_read_again_and_refused_if_others_can_read_it() {
        use std::{fs, os::unix::fs::PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("login");
        let credentials = EtcdCredentials::File(path.clone());
        let put = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for password in ["one", "two: 2"] {
            put(&format!("jobs:{password}\n"), 0o600);
            let login = credentials.login().unwrap();
            assert_eq!(login, EtcdQuestion::login("jobs", password));
        }
        put("jobs", 0o600);
        assert!(credentials.login().is_err(), "no password");
        put("jobs:three", 0o644);
        let refused = credentials.login().unwrap_err().to_string();
        assert!(
            refused.contains("chmod 600") && !refused.contains("three"),
            "{refused}"
        );
    }
}
