//! Routes of actix-web that show the state of a node and take commands (feature `actix-web`).
//!
//! ```
//! use actix_bully::{operate::Operated, web::{self, Token}};
//! use actix_web::{App, HttpServer};
//! # fn demo(handle: &actix_bully::agent::BullyHandle, token: &str) -> Result<(), Box<dyn std::error::Error>> {
//!
//! let routes = web::routes(Operated::new(handle)).commands(Token::new(token)?);
//! let server = HttpServer::new(move || App::new().configure(|app| routes.configure(app)))
//!     .bind(("127.0.0.1", 8080))?
//!     .run();
//! # drop(server);
//! # Ok(())
//! # }
//! ```
//!
//! # Routes
//! All routes except `/metrics` answer with JSON. No answer may be cached (`no-store`). The application chooses the
//! path prefix: `web::scope("/bully").configure(..)` mounts all routes below `/bully`.
//!
//! | route | answer | status |
//! |---|---|---|
//! | `GET /leader` | the leader as this node knows it, and whether it runs on this node | 200; 503 while no leader is known; 307 to the URL of a leader on another node if [configured](Routes::redirect), 508 for a request that was redirected in a circle |
//! | `GET /health` | the reason why no agent leads, or why this agent leads, as each agent [explains](crate::operate::Explanation) it | 200; 503 while an agent knows no leader |
//! | `GET /health/live` | whether all agents of the node respond: none hangs, none has ended | 200 or 503: then a restart helps |
//! | `GET /health/ready` | whether the node's agents run; leadership does not matter unless [configured](Routes::ready_when_leading) | 200 or 503 |
//! | `GET /status` | the whole [`Report`](crate::operate::Report) | 200 |
//! | `GET /history` | the earlier leaders, the end of each leadership and its reason, and the findings of the last half an hour: the [`GroupHistory`](crate::history::GroupHistory) of each group | 200 |
//! | `GET /metrics` | the text that the application [renders](Routes::metrics) | 200; not mounted without it |
//! | `POST /commands` | takes an [`Order`](crate::operate::Order), answers its outcome; not mounted [without a token](Routes::commands) | 200 done; 409 refused, or another outcome; 504 no outcome known in time; 401 no token, 403 a wrong token; 400, 413 not an order; 408 no order within 10 s |
//! | `POST /record` | takes a [`RecordRequest`](crate::operate::RecordRequest), answers the record of each agent: on, off, or its content; not mounted [without a token](Routes::commands) | 200; 401, 403, 400, 413, 408 as above |
//!
//! If a node has several agents, `?group=..&agent=..` selects one of them for `/leader`.
//!
//! # Redirects to the leader
//! An agent publishes the address of its server: `.about("http://10.0.0.3:8080")`, or the key `about` of a
//! configuration. Every follower shows this address in its answer to `/leader`, and redirects to the address if
//! [configured](Routes::redirect). [`while_leading`] guards routes of the application that only the leader answers. It
//! checks the leadership **before the work, not during it**: a write that only the leader may make must contain the
//! fence.
//!
//! # Commands
//! ```text
//! curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/commands \
//!      -d '{"command":{"step_down":{"to":"api-2"}},"within_ms":5000}'
//! {"verdict":"done","message":"api-2 leads in term 7","became":"handed_over","leader":{..}}
//! ```
//! `/record` takes `{"on":{}}`, `"off"`, `"read"` and `"read_kept"`. The field `jsonl` of its answer is a file for the
//! dashboard.
//!
//! The answer to a command is sent when its outcome is known; this wait blocks no worker of the server. A command
//! continues if its client closes the connection. The other routes require no token: every client that reaches the port
//! can read their answers, so bind it where only permitted clients reach it. Plain HTTP exposes the token on the
//! network: put a server with TLS in front.
//!
//! An answer has at most 64 MiB. A longer answer is replaced by an error message with status 507. `/metrics` has the
//! text that the application renders, up to 16 MiB.
//!
//! Decided here: routes, statuses, and who may command. Not here: the contents of an answer, the effect of a command
//! ([`operate`](crate::operate)).

mod commands;
mod leading;
mod read;
mod redirect;
mod token;

use std::{fmt, sync::Arc, time::Duration};

use actix_web::{
    Error, HttpResponse, Resource,
    error::{BlockingError, InternalError},
    guard::{self, Guard},
    http::{StatusCode, header},
    rt::{task::JoinError, time::timeout},
    web::{self, Bytes, Data, Payload, ServiceConfig},
};
use serde::Serialize;

use crate::{operate::Operated, record::BoundedText};

pub use leading::{LeadingService, WhileLeading, while_leading};
pub use token::{Token, TokenError};

#[cfg(feature = "dashboard")]
pub(crate) use {commands::told, token::bearer};

/// Returns the routes of a node. They only show its state, unless commands are enabled with [`Routes::commands`].
pub fn routes(operated: Operated) -> Routes {
    Routes {
        operated,
        token: None,
        needs_leadership: false,
        redirects: false,
        render: None,
    }
}

/// The routes of a node, made by [`routes`]. All clones share one state; each worker of a server may have a clone.
#[derive(Clone)]
pub struct Routes {
    operated: Operated,
    token: Option<Token>,
    needs_leadership: bool,
    redirects: bool,
    render: Option<Render>,
}

type Render = Arc<dyn Fn() -> String + Send + Sync>;

impl Routes {
    /// Mounts `POST /commands` and `POST /record` for callers that send this token.
    #[must_use]
    pub fn commands(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Makes `/health/ready` depend on the leadership: it answers 200 only while all agents of the node lead.
    ///
    /// Use this setting for a node whose followers must get no traffic at all. A deployment that waits until each new
    /// replica is ready will then wait forever, because a follower is never ready.
    #[must_use]
    pub fn ready_when_leading(mut self) -> Self {
        self.needs_leadership = true;
        self
    }

    /// Answers `/leader` with 307 to the URL that a leader on another node
    /// [publishes](crate::agent::AgentBuilder::about); with 200 if the text that the leader publishes is not a URL.
    ///
    /// Such a URL has the scheme http or https and no user, query or fragment. The path and query of the request are
    /// appended to the URL, and each node that redirects adds `bully-via` with its agent's name to the query. A request
    /// that comes back to a node, or was redirected four times, is answered with 508. Enable redirects only if you
    /// trust every member of the group: the leader chooses the server, so it can send clients to any server.
    #[must_use]
    pub fn redirect(mut self) -> Self {
        self.redirects = true;
        self
    }

    /// Mounts `/metrics`: the text that `render` returns, in Prometheus' format. `render` is called once per request,
    /// on a worker of the server.
    ///
    /// The application chooses its exporter. For the exporter for Prometheus, for example, this closure is `move ||
    /// prometheus_handle.render()`. This exporter also needs a call of its `run_upkeep` at regular intervals, on a
    /// thread or in a task of the application, because requests may be rare.
    #[must_use]
    pub fn metrics(mut self, render: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.render = Some(Arc::new(render));
        self
    }

    /// Mounts the routes: `App::new().configure(|app| routes.configure(app))`.
    pub fn configure(&self, app: &mut ServiceConfig) {
        let node = Data::new(self.clone());
        // Each resource has its own data, because several nodes may be mounted in one application.
        let resource = |path: &str| web::resource(path).app_data(Data::clone(&node));
        let read = || web::route().guard(ReadGuard);
        app.service(resource("/leader").route(read().to(read::leader)))
            .service(resource("/health").route(read().to(read::health)))
            .service(resource("/health/live").route(read().to(read::live)))
            .service(resource("/health/ready").route(read().to(read::ready)))
            .service(resource("/status").route(read().to(read::status)))
            .service(resource("/history").route(read().to(read::history)));
        if self.render.is_some() {
            app.service(resource("/metrics").route(read().to(read::metrics)));
        }
        if self.token.is_some() {
            let commands: Resource = resource("/commands");
            app.service(commands.route(web::post().to(commands::command)));
            let record: Resource = resource("/record");
            app.service(record.route(web::post().to(commands::record)));
        }
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes")
            .field("operated", &self.operated)
            .field("has_commands", &self.token.is_some())
            .field("needs_leadership", &self.needs_leadership)
            .finish_non_exhaustive()
    }
}

/// Accepts `GET`, and `HEAD`, which some load balancers send.
pub(crate) struct ReadGuard;

impl Guard for ReadGuard {
    fn check(&self, ctx: &guard::GuardContext<'_>) -> bool {
        guard::Get().check(ctx) || guard::Head().check(ctx)
    }
}

/// Returns a response in JSON that caches must not keep. If the body exceeds the limit, the response is an error.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> HttpResponse {
    let (status, text) = match BoundedText::json(body, MOST_ANSWERED) {
        Ok(text) => (status, text),
        Err(wrong) => {
            let message = format!("{wrong}: ask a node that has fewer agents");
            let text = BoundedText::json(&serde_json::json!({ "message": message }), MOST_ANSWERED);
            (StatusCode::INSUFFICIENT_STORAGE, text.unwrap_or_default())
        }
    };
    HttpResponse::build(status)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("application/json")
        .body(text)
}

/// Longest answer in JSON, in bytes. The longest answers contain the records of several agents, each of at most 8 MiB.
const MOST_ANSWERED: usize = 64 << 20;

/// Reads a body of at most `longest` bytes, which has to arrive within the time `within`. Without this time limit, a
/// client that sends slowly would keep its connection.
pub(crate) async fn read_body(
    body: Payload,
    longest: usize,
    within: Duration,
) -> Result<Bytes, HttpResponse> {
    match timeout(within, body.to_bytes_limited(longest)).await {
        Ok(Ok(Ok(body))) => Ok(body),
        Ok(Ok(Err(_))) => Err(refusal(StatusCode::BAD_REQUEST, "the body did not arrive")),
        Ok(Err(_)) => {
            let message = format!("the body has more than {longest} bytes, and is not read");
            Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, &message))
        }
        Err(_) => {
            let message = format!("the body did not arrive whole within {within:?}");
            Err(refusal(StatusCode::REQUEST_TIMEOUT, &message))
        }
    }
}

/// The answer of a route.
pub(crate) type Answer = Result<HttpResponse, RouteRefusal>;

/// A response that refuses a request.
#[derive(Debug)]
pub(crate) struct RouteRefusal(Error);

impl From<HttpResponse> for RouteRefusal {
    fn from(response: HttpResponse) -> Self {
        Self(InternalError::from_response("refused", response).into())
    }
}

/// The threads for blocking work are gone.
impl From<BlockingError> for RouteRefusal {
    fn from(_: BlockingError) -> Self {
        stopping()
    }
}

/// The runtime of a task is gone.
impl From<JoinError> for RouteRefusal {
    fn from(_: JoinError) -> Self {
        stopping()
    }
}

fn stopping() -> RouteRefusal {
    refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server is stopping").into()
}

impl From<RouteRefusal> for Error {
    fn from(RouteRefusal(error): RouteRefusal) -> Self {
        error
    }
}

/// Returns the response to a request that the nodes redirect to each other in a circle.
fn came_back() -> HttpResponse {
    let message = "the nodes redirect this request to each other: ask again when they agree on a leader, and give each agent an `about` of its own";
    refusal(StatusCode::LOOP_DETECTED, message)
}

/// Returns a response with an error and its remedy.
pub(crate) fn refusal(status: StatusCode, message: &str) -> HttpResponse {
    json(status, &serde_json::json!({ "message": message }))
}

#[cfg(test)]
mod tests {
    use actix_web::{FromRequest, dev, test::TestRequest};
    use futures::{StreamExt, stream};

    use super::*;

    #[test]
    fn a_body_that_trickles_is_refused_after_a_while() {
        crate::testkit::virtual_system().block_on(async {
            let trickle = stream::iter([Ok(Bytes::from_static(b"{"))]).chain(stream::pending());
            let mut payload = dev::Payload::from(trickle.boxed_local());
            let request = TestRequest::default().to_http_request();
            let body = Payload::from_request(&request, &mut payload);
            let body = body.await.unwrap();
            let refused = read_body(body, 100, Duration::from_secs(10)).await;
            let status = refused.unwrap_err().status();
            assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
        });
    }
}
