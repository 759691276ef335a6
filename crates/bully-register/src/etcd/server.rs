//! Which member of the cluster is asked.
//!
//! Decided here: that each connection is made to the next endpoint, after a login, to a member that has a majority; and
//! how its changes are heard. A user who may not read all keys of the prefix hears of none, and is not refused: a
//! change is a hint.

use std::{fmt, pin::pin};

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
    connection::{ANSWER, KeyChange, Meaning, Server, StoreSecurity, Tellers},
};

/// A user of etcd.
#[derive(Clone)]
pub(super) struct EtcdCredentials {
    user: String,
    password: String,
}

impl EtcdCredentials {
    pub(super) fn new(user: &str, password: &str) -> Self {
        let (user, password) = (user.to_owned(), password.to_owned());
        Self { user, password }
    }
}

impl fmt::Debug for EtcdCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// See the [module](self).
pub(super) struct EtcdServer {
    /// One at least; the first is the next to be asked.
    endpoints: Vec<EtcdEndpoint>,
    security: StoreSecurity,
    credentials: Option<EtcdCredentials>,
}

impl EtcdServer {
    /// `None` without an endpoint.
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

    /// The next one, which is the last one then.
    fn next(&mut self) -> Option<EtcdEndpoint> {
        let next = self.endpoints.first().cloned();
        if !self.endpoints.is_empty() {
            self.endpoints.rotate_left(1);
        }
        next
    }

    async fn begin(
        &self,
        http: Http,
        endpoint: EtcdEndpoint,
        told: &Tellers,
    ) -> Result<(EtcdSession, mpsc::Receiver<()>), EtcdFailure> {
        let mut member = EtcdMember::new(http, endpoint);
        if let Some(credentials) = &self.credentials {
            log_in(&mut member, credentials).await?;
        }
        match member.ask(&EtcdQuestion::probe()).await {
            // It answers; whether a key may be used is told with the key.
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
                    end.try_send(()).ok();
                });
                Some(alive)
            }
            None => None,
        };
        Ok((EtcdSession::new(member, end, watch), ended))
    }
}

impl Server for EtcdServer {
    type Session = EtcdSession;

    async fn connect(
        &mut self,
        told: &Tellers,
    ) -> Result<(EtcdSession, mpsc::Receiver<()>), RegisterError> {
        let refused = |words: String| Meaning::NotDone.error(words);
        let endpoint = self
            .next()
            .ok_or_else(|| refused("no endpoint is named".into()))?;
        let http = Http::new(&self.security)?;
        let late = format!("{}: no answer within {ANSWER:?}", endpoint.authority());
        match timeout(ANSWER, self.begin(http, endpoint, told)).await {
            Ok(Ok(begun)) => Ok(begun),
            Ok(Err(failed)) => Err(failed.error()),
            Err(_) => Err(refused(late)),
        }
    }
}

async fn log_in(member: &mut EtcdMember, credentials: &EtcdCredentials) -> Result<(), EtcdFailure> {
    let question = EtcdQuestion::login(&credentials.user, &credentials.password);
    match member.ask(&question).await {
        Ok(Whole::Body(body)) => {
            let token = message::token(&body);
            member.log_in(token.map_err(|wrong| EtcdFailure::unsent(wrong.to_string()))?);
            Ok(())
        }
        Ok(Whole::TooLarge) => Err(EtcdFailure::unsent(message::Misread.to_string())),
        // Whoever asks may do all there; etcd's own client goes on as well.
        Err(failed) if failed.words.contains("authentication is not enabled") => {
            debug!(target: "actix_bully", "etcd asks for no login");
            Ok(())
        }
        Err(failed) => Err(failed),
    }
}

/// A stream of changes.
struct WatchStream {
    /// The stream ends with it.
    _connection: HttpConnection,
    body: Incoming,
    lines: StreamLines,
}

impl WatchStream {
    /// One that listens already; `None` if this user may not.
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

    /// Tells what changes until the stream ends.
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
                    for key in keys {
                        told.tell(KeyChange::Key(key.into()));
                    }
                }
                WatchAnswer::Begun => told.tell(KeyChange::Any),
                WatchAnswer::Ended(reason) => return Err(EtcdFailure::unsent(reason)),
            }
        }
        Ok(())
    }

    /// The lines that have come.
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

/// What a line says; one that is too long stands for changes of anything.
fn watched(line: &StreamLine) -> Result<WatchAnswer, EtcdFailure> {
    match line {
        StreamLine::Text(text) => {
            message::watched(text).map_err(|wrong| EtcdFailure::unsent(wrong.to_string()))
        }
        StreamLine::TooLong => Ok(WatchAnswer::Begun),
    }
}
