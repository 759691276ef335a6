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
    endpoint::Endpoint,
    failure::Failed,
    http::{Http, HttpConnection, Whole},
    lines::{Line, Lines},
    message::{self, Question, Watched},
    session::{EtcdSession, Member},
};
use crate::register::{
    RegisterError, RegisterRefusal,
    connection::{ANSWER, Meaning, Server, Tellers, Told},
};

/// A user of etcd.
#[derive(Clone)]
pub(super) struct Credentials {
    user: String,
    password: String,
}

impl Credentials {
    pub(super) fn new(user: &str, password: &str) -> Self {
        let (user, password) = (user.to_owned(), password.to_owned());
        Self { user, password }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// See the [module](self).
pub(super) struct EtcdServer {
    /// One at least; the first is the next to be asked.
    endpoints: Vec<Endpoint>,
    http: Http,
    credentials: Option<Credentials>,
}

impl EtcdServer {
    /// `None` without an endpoint.
    pub(super) fn new(
        endpoints: Vec<Endpoint>,
        http: Http,
        credentials: Option<Credentials>,
    ) -> Option<Self> {
        (!endpoints.is_empty()).then_some(Self {
            endpoints,
            http,
            credentials,
        })
    }

    /// The next one, which is the last one then.
    fn next(&mut self) -> Option<Endpoint> {
        let next = self.endpoints.first().cloned();
        if !self.endpoints.is_empty() {
            self.endpoints.rotate_left(1);
        }
        next
    }

    async fn begin(
        &self,
        endpoint: Endpoint,
        told: &Tellers,
    ) -> Result<(EtcdSession, mpsc::Receiver<()>), Failed> {
        let mut member = Member::new(self.http.clone(), endpoint);
        if let Some(credentials) = &self.credentials {
            log_in(&mut member, credentials).await?;
        }
        match member.ask(&Question::probe()).await {
            // It answers; whether a key may be used is told with the key.
            Ok(_)
            | Err(Failed {
                meaning: Meaning::Refused(RegisterRefusal::Credentials),
                ..
            }) => {}
            Err(failed) => return Err(failed),
        }
        let (end, ended) = mpsc::channel(1);
        let watch = match Changes::begin(&member).await? {
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
        let late = format!("{}: no answer within {ANSWER:?}", endpoint.authority());
        match timeout(ANSWER, self.begin(endpoint, told)).await {
            Ok(Ok(begun)) => Ok(begun),
            Ok(Err(failed)) => Err(failed.meaning.error(failed.words)),
            Err(_) => Err(refused(late)),
        }
    }
}

async fn log_in(member: &mut Member, credentials: &Credentials) -> Result<(), Failed> {
    let question = Question::login(&credentials.user, &credentials.password);
    match member.ask(&question).await {
        Ok(Whole::Body(body)) => {
            let token = message::token(&body);
            member.log_in(token.map_err(|wrong| Failed::unsent(wrong.to_string()))?);
            Ok(())
        }
        Ok(Whole::TooLarge) => Err(Failed::unsent(message::Misread.to_string())),
        // Whoever asks may do all there; etcd's own client goes on as well.
        Err(failed) if failed.words.contains("authentication is not enabled") => {
            debug!("etcd asks for no login");
            Ok(())
        }
        Err(failed) => Err(failed),
    }
}

/// A stream of changes.
struct Changes {
    /// The stream ends with it.
    _connection: HttpConnection,
    body: Incoming,
    lines: Lines,
}

impl Changes {
    /// One that listens already; `None` if this user may not.
    async fn begin(member: &Member) -> Result<Option<Self>, Failed> {
        let (connection, body) = member.stream(&Question::watch()).await?;
        let mut changes = Self {
            _connection: connection,
            body,
            lines: Lines::default(),
        };
        loop {
            for line in changes.next().await? {
                match watched(&line)? {
                    Watched::Begun => return Ok(Some(changes)),
                    Watched::Keys(_) => {}
                    Watched::Ended(reason) if reason.contains("permission denied") => {
                        let endpoint = member.endpoint().authority();
                        warn!(
                            endpoint,
                            "this user of etcd may not watch all keys of actix-bully/: the lease is read at intervals"
                        );
                        return Ok(None);
                    }
                    Watched::Ended(reason) => return Err(Failed::unsent(reason)),
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
                    debug!(reason = failed.words, "a stream of changes of etcd ends");
                    return;
                }
            }
        }
    }

    async fn tell_next(&mut self, told: &Tellers) -> Result<(), Failed> {
        for line in self.next().await? {
            match watched(&line)? {
                Watched::Keys(keys) => {
                    for key in keys {
                        told.tell(Told::Key(key.into()));
                    }
                }
                Watched::Begun => told.tell(Told::Any),
                Watched::Ended(reason) => return Err(Failed::unsent(reason)),
            }
        }
        Ok(())
    }

    /// The lines that have come.
    async fn next(&mut self) -> Result<Vec<Line>, Failed> {
        match self.body.frame().await {
            Some(Ok(frame)) => Ok(frame
                .into_data()
                .map_or_else(|_| Vec::new(), |piece| self.lines.push(&piece))),
            Some(Err(lost)) => Err(Failed::unsent(lost.to_string())),
            None => Err(Failed::unsent("it ended".to_owned())),
        }
    }
}

/// What a line says; one that is too long stands for changes of anything.
fn watched(line: &Line) -> Result<Watched, Failed> {
    match line {
        Line::Text(text) => {
            message::watched(text).map_err(|wrong| Failed::unsent(wrong.to_string()))
        }
        Line::TooLong => Ok(Watched::Begun),
    }
}
