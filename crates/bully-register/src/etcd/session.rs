//! The operations on one member of the cluster.
//!
//! Decided here: several questions may be under way at once, each on a connection of its own, up to a limit; and the
//! result of an operation: for each answer, and without a write if etcd cannot have the expected version.

use std::cell::RefCell;

use futures::future::join_all;
use hyper::StatusCode;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{
    endpoint::EtcdEndpoint,
    failure::{self, EtcdFailure},
    http::{Http, HttpConnection, Whole, whole},
    message::{self, Complaint, EtcdQuestion, Misread},
};
use crate::{
    Entry, MOST_LISTED, RegisterError, RegisterKey, RegisterRefusal, Removal, Swap, Version,
    connection::{Course, Meaning, StoreSession},
};

/// One member, and the connections to it.
pub(super) struct EtcdMember {
    http: Http,
    endpoint: EtcdEndpoint,
    /// The token of the login.
    token: Option<String>,
    idle: RefCell<Vec<HttpConnection>>,
    lanes: Semaphore,
}

impl EtcdMember {
    pub(super) fn new(http: Http, endpoint: EtcdEndpoint) -> Self {
        Self {
            http,
            endpoint,
            token: None,
            idle: RefCell::default(),
            lanes: Semaphore::new(LANES),
        }
    }

    pub(super) fn log_in(&mut self, token: String) {
        self.token = Some(token);
    }

    pub(super) const fn endpoint(&self) -> &EtcdEndpoint {
        &self.endpoint
    }

    pub(super) async fn ask(&self, question: &EtcdQuestion) -> Result<Whole, EtcdFailure> {
        let closed = |_| EtcdFailure::unsent("the register was closed".to_owned());
        let _lane = self.lanes.acquire().await.map_err(closed)?;
        let mut connection = self.connection().await?;
        let answer = self.put(&mut connection, question).await?;
        let status = answer.status();
        let whole = whole(answer.into_body(), question.most)
            .await
            .map_err(|lost| EtcdFailure::unfinished(question.writes, lost.to_string()))?;
        // A connection is used again only if its answer was read to the end.
        if matches!(whole, Whole::Body(_)) {
            self.idle.borrow_mut().push(connection);
        }
        if status == StatusCode::OK {
            return Ok(whole);
        }
        let complaint = match whole {
            Whole::Body(body) => Complaint::read(&body),
            Whole::TooLarge => Complaint::default(),
        };
        Err(failure::of_answer(
            status.as_u16(),
            &complaint,
            question.writes,
        ))
    }

    /// Sends a question whose answer is a stream, on a new connection. The stream ends with its connection.
    pub(super) async fn stream(
        &self,
        question: &EtcdQuestion,
    ) -> Result<(HttpConnection, hyper::body::Incoming), EtcdFailure> {
        let mut connection = self.connect().await?;
        let answer = self.put(&mut connection, question).await?;
        if answer.status() == StatusCode::OK {
            return Ok((connection, answer.into_body()));
        }
        let complaint = Complaint::default();
        let status = answer.status().as_u16();
        Err(failure::of_answer(status, &complaint, question.writes))
    }

    async fn put(
        &self,
        connection: &mut HttpConnection,
        question: &EtcdQuestion,
    ) -> Result<hyper::Response<hyper::body::Incoming>, EtcdFailure> {
        let token = self.token.as_deref();
        connection.ask(&self.endpoint, token, question).await
    }

    /// Takes an idle connection, or makes a connection if no connection is idle.
    async fn connection(&self) -> Result<HttpConnection, EtcdFailure> {
        loop {
            let idle = self.idle.borrow_mut().pop();
            match idle {
                // The member may have closed the connection meanwhile.
                Some(mut idle) => {
                    if idle.is_ready().await {
                        return Ok(idle);
                    }
                }
                None => return self.connect().await,
            }
        }
    }

    async fn connect(&self) -> Result<HttpConnection, EtcdFailure> {
        self.http.connect(&self.endpoint).await.map_err(|lost| {
            let words = format!("{}: {lost}", self.endpoint.authority());
            #[cfg(feature = "tls")]
            if crate::connection::refusal::is_refusal(&lost) {
                return EtcdFailure::refused(words);
            }
            EtcdFailure::unsent(words)
        })
    }
}

/// The operations on one member, for as long as it answers.
pub(super) struct EtcdSession {
    member: EtcdMember,
    /// Receives the next step (course) when an error shows that another connection is needed.
    end: mpsc::Sender<Course>,
    /// Whether the session has credentials, so that a new login may help.
    logs_in: bool,
    /// Dropping it ends the stream of changes.
    _watch: Option<oneshot::Sender<()>>,
}

impl EtcdSession {
    pub(super) const fn new(
        member: EtcdMember,
        end: mpsc::Sender<Course>,
        logs_in: bool,
        watch: Option<oneshot::Sender<()>>,
    ) -> Self {
        Self {
            member,
            end,
            logs_in,
            _watch: watch,
        }
    }

    async fn ask(&self, question: &EtcdQuestion) -> Result<Whole, RegisterError> {
        self.member.ask(question).await.map_err(|failed| {
            self.note(&failed);
            failed.error()
        })
    }

    async fn read_one(&self, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
        match self.ask(&EtcdQuestion::read(key)).await? {
            Whole::Body(body) => found(key, message::entry(key, &body).map_err(misread)?),
            // Only the stored value can make the answer so large, because all other parts of the answer are small.
            Whole::TooLarge => Err(RegisterError::Foreign { key: key.clone() }),
        }
    }

    /// Reads all keys in one transaction; `None` if its error does not show which key has the problem.
    async fn read_together(&self, keys: &[RegisterKey]) -> Option<Vec<EntryRead>> {
        match self.member.ask(&EtcdQuestion::read_all(keys)).await {
            Ok(Whole::Body(body)) => {
                let all = message::entries(keys, &body).ok()?;
                let each = keys.iter().zip(all);
                Some(each.map(|(key, one)| found(key, one)).collect())
            }
            // The user may have the right to some of the keys, so each key must be read by itself.
            Err(failed) if failed.meaning == Meaning::Refused(RegisterRefusal::Credentials) => None,
            Ok(Whole::TooLarge) => None,
            Err(failed) => {
                self.note(&failed);
                let each = keys.iter();
                Some(each.map(|_| Err(failed.clone().error())).collect())
            }
        }
    }

    /// Runs a transaction. Returns its revision; `None` if its condition did not hold.
    async fn write(
        &self,
        key: &RegisterKey,
        question: &EtcdQuestion,
        expected: Option<&Entry>,
    ) -> Result<Option<u64>, RegisterError> {
        let answer = match self.ask(question).await {
            Err(RegisterError::Refused {
                refusal: RegisterRefusal::Full,
                source,
            }) => {
                let found = self.read_one(key).await;
                return Err(failure::of_full(expected, &found, source));
            }
            answer => answer?,
        };
        let unclear = |wrong: Misread| Meaning::Unknown.error(wrong.to_string());
        match answer {
            Whole::Body(body) => message::swapped(&body).map_err(unclear),
            Whole::TooLarge => Err(unclear(Misread)),
        }
    }

    fn note(&self, failed: &EtcdFailure) {
        let helps = failed.course != Course::LogsIn || self.logs_in;
        if failed.course.ends_connection() && helps {
            self.end.try_send(failed.course).ok();
        }
    }
}

type EntryRead = Result<Option<Entry>, RegisterError>;

fn found(key: &RegisterKey, found: message::Found) -> EntryRead {
    found
        .map(|(revision, value)| Entry::new(key, Version::from(revision), value))
        .transpose()
}

impl StoreSession for EtcdSession {
    async fn read(&self, keys: &[RegisterKey]) -> Vec<EntryRead> {
        if let [_, _, ..] = keys
            && let Some(all) = self.read_together(keys).await
        {
            return all;
        }
        join_all(keys.iter().map(|key| self.read_one(key))).await
    }

    async fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, RegisterError> {
        // A version that is not a number comes from another store: no entry of etcd has this version.
        if expected.is_some_and(|entry| !is_revision(&entry.version)) {
            return Ok(Swap::Conflict(self.read_one(key).await?));
        }
        let question = EtcdQuestion::swap(key, expected, value);
        match self.write(key, &question, expected).await? {
            Some(revision) => Ok(Swap::Done(Version::from(revision))),
            None => Ok(Swap::Conflict(self.read_one(key).await?)),
        }
    }

    async fn list(&self, prefix: &RegisterKey) -> Result<Vec<(RegisterKey, Entry)>, RegisterError> {
        let prefix = prefix.clone();
        let Whole::Body(body) = self.ask(&EtcdQuestion::list(&prefix)).await? else {
            return Err(RegisterError::Foreign { key: prefix });
        };
        let all = message::below(&prefix, &body).map_err(misread)?;
        if all.len() > MOST_LISTED {
            return Err(RegisterError::TooMany { prefix });
        }
        let entry = |(key, revision, value): message::Listed| {
            Entry::new(&key, Version::from(revision), value).map(|entry| (key, entry))
        };
        all.into_iter().map(entry).collect()
    }

    async fn remove(&self, key: &RegisterKey, expected: &Entry) -> Result<Removal, RegisterError> {
        if !is_revision(&expected.version) {
            return Ok(Removal::Conflict(self.read_one(key).await?));
        }
        let question = EtcdQuestion::remove(key, expected);
        match self.write(key, &question, Some(expected)).await? {
            Some(_) => Ok(Removal::Done),
            None => Ok(Removal::Conflict(self.read_one(key).await?)),
        }
    }
}

/// Returns whether etcd may have given that version.
fn is_revision(version: &Version) -> bool {
    version.as_str().parse::<u64>().is_ok()
}

fn misread(wrong: Misread) -> RegisterError {
    Meaning::Refused(RegisterRefusal::Gateway).error(wrong.to_string())
}

/// Largest number of questions under way at once, each on its own connection, for any number of elections. Chosen: with
/// one or two, a slow list delays renewals; with far more, each process may open that many connections.
const LANES: usize = 8;
