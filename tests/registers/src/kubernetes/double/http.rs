//! The requests and the answers of the double, over HTTP/1.1.

use std::{convert::Infallible, io, sync::Arc};

use futures::stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Frame, Incoming},
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE},
};
use serde_json::{Value, json};
use tokio::task::{spawn_local, yield_now};

use super::{
    NAMESPACE, Shared,
    script::{KubeFault, KubeVerb},
    status::KubeStatus,
    store::{LeasePage, LeaseSelector},
    watch,
};

pub(super) type AnswerBody = UnsyncBoxBody<Bytes, io::Error>;
type Answer = Response<AnswerBody>;

/// A request after parsing.
pub(super) struct Asked {
    verb: KubeVerb,
    is_known: bool,
    token: Option<String>,
    name: String,
    query: Vec<(String, String)>,
    body: Value,
}

/// Answers one request. An error closes the connection.
pub(super) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Answer, io::Error> {
    let asked = Asked::read(request).await?;
    let fault = {
        let mut state = shared.state();
        *state.asked.entry(asked.verb).or_default() += 1;
        state.script.next(asked.verb)
    };
    match fault {
        None | Some(KubeFault::Spared) => Ok(shared.apply(&asked)),
        Some(KubeFault::Status(status)) => Ok(failed(&status)),
        Some(KubeFault::Body(code, kind, text)) => Ok(text_answer(code, kind, text)),
        Some(KubeFault::Misanswered(text)) => {
            shared.apply(&asked);
            Ok(text_answer(200, "application/json", text))
        }
        Some(KubeFault::ClosedBefore) => Err(closed()),
        Some(KubeFault::ClosedAfter) => {
            shared.apply(&asked);
            Err(closed())
        }
        Some(KubeFault::HalfAnswered) => {
            let whole = shared.apply(&asked).into_body().collect().await?;
            Ok(half(&whole.to_bytes()))
        }
        Some(KubeFault::Held) => {
            let mut released = shared.released.subscribe();
            // The work is a task of its own, so a held request is applied even if its client has gone.
            let work = spawn_local(async move {
                released.changed().await.ok();
                shared.apply(&asked)
            });
            work.await.map_err(|_| closed())
        }
    }
}

impl Asked {
    async fn read(request: Request<Incoming>) -> Result<Self, io::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let query = head.uri.query().unwrap_or_default();
        let query: Vec<_> = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases");
        let (path, is_version) = (head.uri.path(), head.uri.path() == "/version");
        let name = path.strip_prefix(&leases);
        let is_known = is_version || name.is_some();
        let name = name.unwrap_or_default().trim_start_matches('/');
        let verb = match head.method {
            Method::POST => KubeVerb::Create,
            Method::PUT => KubeVerb::Update,
            Method::DELETE => KubeVerb::Delete,
            _ if is_version => KubeVerb::Version,
            _ if !name.is_empty() => KubeVerb::Get,
            _ if query
                .iter()
                .any(|(name, value)| name == "watch" && value == "true") =>
            {
                KubeVerb::Watch
            }
            _ => KubeVerb::List,
        };
        let token = head.headers.get(AUTHORIZATION);
        let token = token.and_then(|it| it.to_str().ok()?.strip_prefix("Bearer "));
        Ok(Self {
            verb,
            is_known,
            token: token.map(str::to_owned),
            name: name.to_owned(),
            query,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        })
    }

    pub(super) fn argument(&self, name: &str) -> &str {
        let mut found = self.query.iter().filter(|(known, _)| known == name);
        found.next().map_or("", |(_, value)| value)
    }

    pub(super) fn selector(&self) -> LeaseSelector {
        let field = self.argument("fieldSelector").split_once('=');
        let label = self.argument("labelSelector").split_once('=');
        LeaseSelector {
            name: field.map(|(_, name)| name.to_owned()),
            label: label.map(|(label, value)| (label.to_owned(), value.to_owned())),
        }
    }
}

impl Shared {
    fn apply(self: &Arc<Self>, asked: &Asked) -> Answer {
        if !asked.is_known {
            return text_answer(404, "text/plain", "404 page not found\n".to_owned());
        }
        let mut state = self.state();
        if state.token.is_some() && state.token != asked.token {
            return failed(&KubeStatus::unauthorized());
        }
        let store = &mut state.store;
        let is_absent = store.get(&asked.name).is_err();
        let done = match asked.verb {
            KubeVerb::Version => Ok(json!({"major": "1", "minor": "36", "gitVersion": "v1.36.3"})),
            KubeVerb::Get => store.get(&asked.name).cloned(),
            KubeVerb::Create => store.create(in_namespace(&asked.body)),
            KubeVerb::Update => store.update(&asked.name, in_namespace(&asked.body)),
            KubeVerb::Delete => store.delete(&asked.name, &asked.body["preconditions"]),
            KubeVerb::List => {
                let page = match asked.argument("continue") {
                    "" => Ok(store.list(&asked.selector())),
                    token => store.rest(token),
                };
                page.map(|mut page| {
                    let limit = asked.argument("limit").parse().unwrap_or_default();
                    let more = store.cut(&mut page, limit);
                    list_of(page, more.as_deref())
                })
            }
            KubeVerb::Watch => {
                drop(state);
                return watch::begin(self, asked);
            }
        };
        drop(state);
        self.grow();
        match done {
            Ok(object) => {
                let code = match asked.verb {
                    KubeVerb::Create => 201,
                    KubeVerb::Update if is_absent => 201,
                    _ => 200,
                };
                text_answer(code, "application/json", object.to_string())
            }
            Err(status) => failed(&status),
        }
    }
}

fn in_namespace(lease: &Value) -> Value {
    let mut lease = lease.clone();
    lease["metadata"]["namespace"] = json!(NAMESPACE);
    lease
}

fn list_of(page: LeasePage, more: Option<&str>) -> Value {
    let mut items = page.leases;
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        // The kind of the list holds for all items, so an item does not repeat it.
        item.remove("kind");
        item.remove("apiVersion");
    }
    let mut metadata = json!({"resourceVersion": page.revision.to_string()});
    if let Some(more) = more {
        metadata["continue"] = json!(more);
    }
    json!({
        "kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1", "metadata": metadata, "items": items,
    })
}

fn failed(status: &KubeStatus) -> Answer {
    text_answer(status.code, "application/json", status.json.to_string())
}

fn text_answer(code: u16, kind: &str, text: String) -> Answer {
    let body = Full::new(Bytes::from(text)).map_err(|never: Infallible| match never {});
    answer_of(code, kind, body.boxed_unsync())
}

pub(super) fn answer_of(code: u16, kind: &str, body: AnswerBody) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(code).expect("a code of HTTP");
    let kind = kind.parse().expect("a type");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// Returns an answer whose connection ends after half of the bytes.
fn half(whole: &Bytes) -> Answer {
    let parts = [Ok(whole.slice(..whole.len() / 2)), Err(closed())];
    let parts = stream::unfold(parts.into_iter(), |mut parts| async move {
        // The server gets the chance to send the first piece before the error comes.
        yield_now().await;
        Some((parts.next()?.map(Frame::data), parts))
    });
    let mut answer = answer_of(
        200,
        "application/json",
        StreamBody::new(parts).boxed_unsync(),
    );
    answer
        .headers_mut()
        .insert(CONTENT_LENGTH, whole.len().into());
    answer
}

fn closed() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}
