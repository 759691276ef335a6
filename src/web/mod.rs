//! Routes of actix-web by which a node is watched and commanded (feature `actix-web`).
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
//! All answer JSON, but `/metrics`, and none may be cached (`no-store`). Where they stand is the application's to
//! choose: `web::scope("/bully").configure(..)` puts all of them below `/bully`.
//!
//! | route | answer | status |
//! |---|---|---|
//! | `GET /leader` | the leader as this node knows it, and whether it is here | 200; 503 while no leader is known; 307 to what another node's leader says of itself if [asked for](Routes::redirect), 508 for a request that comes back |
//! | `GET /health` | why there is no leader, or why this one leads, as each agent [explains](crate::operate::Explanation) it | 200; 503 while an agent knows no leader |
//! | `GET /health/live` | whether no agent of the node hangs or has ended | 200 or 503: then a restart helps |
//! | `GET /health/ready` | whether the node's agents run; leadership does not matter unless [asked for](Routes::ready_when_leading) | 200 or 503 |
//! | `GET /status` | the whole [`Report`](crate::operate::Report) | 200 |
//! | `GET /history` | who led before, until when and why, and what was found in the last half an hour: the [`GroupHistory`](crate::history::GroupHistory) of each group | 200 |
//! | `GET /metrics` | the text that the application [renders](Routes::metrics) | 200; not mounted without it |
//! | `POST /commands` | an [`Order`](crate::operate::Order) in, what became of it out; not mounted [without a token](Routes::commands) | 200 done; 409 refused, or something else came of it; 504 nothing known in time; 401 no token, 403 a wrong one; 400, 413 no order; 408 no order within 10 s |
//! | `POST /record` | a [`RecordRequest`](crate::operate::RecordRequest) in, the record of each agent out: on, off, or its content; not mounted [without a token](Routes::commands) | 200; 401, 403, 400, 413, 408 as above |
//!
//! Where a node has several agents, `?group=..&agent=..` says of `/leader` which one is meant.
//!
//! # The way to the leader
//! An agent says of itself where its server is: `.about("http://10.0.0.3:8080")`, or the key `about` of a configuration.
//! Every follower shows that in its answer to `/leader`, and redirects there if [asked to](Routes::redirect). Routes of the
//! application that only the leader answers stand behind [`while_leading`]. That asks **before the work, not
//! during it**: a write that has to be the leader's takes the fence along.
//!
//! # Commands
//! ```text
//! curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/commands \
//!      -d '{"command":{"step_down":{"to":"api-2"}},"within_ms":5000}'
//! {"verdict":"done","message":"api-2 leads in term 7","became":"handed_over","leader":{..}}
//! ```
//! `/record` takes `{"on":{}}`, `"off"`, `"read"` and `"read_kept"`; `jsonl` of its answer is a file for the dashboard.
//!
//! A command is awaited and blocks no worker. It goes on where its client closes the connection. The other routes ask for
//! no token: each client that reaches the port sees their answers, so bind it where only clients that may
//! know them reach it. Over plain HTTP the token can be read on the way: put TLS in front of it.
//!
//! No answer has more than 64 MiB: a longer one is refused in words, with 507. `/metrics` has the text that the
//! application renders, up to 16 MiB.
//!
//! Decided here: routes, statuses, and who may command. Not here: the contents of an answer, the effect of a
//! command ([`operate`](crate::operate)).

mod commands;
mod leading;
mod read;
mod redirect;
mod token;

use std::{fmt, sync::Arc, time::Duration};

use actix_web::{
    HttpResponse, Resource,
    guard::{self, Guard},
    http::{StatusCode, header},
    rt::time::timeout,
    web::{self, Bytes, Data, Payload, ServiceConfig},
};
use serde::Serialize;

use crate::{operate::Operated, record::BoundedText};

pub use leading::{LeadingService, WhileLeading, while_leading};
pub use token::{Token, TokenError};

#[cfg(feature = "dashboard")]
pub(crate) use {commands::told, token::bearer};

/// The routes of that node: reading only, until more is asked for.
pub fn routes(operated: Operated) -> Routes {
    Routes {
        operated,
        token: None,
        needs_leadership: false,
        redirects: false,
        render: None,
    }
}

/// The routes of a node, made by [`routes`]. Clones are the same; each worker of a server may have one.
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
    /// Mounts `POST /commands` and `POST /record` for those who know this token.
    #[must_use]
    pub fn commands(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Ties `/health/ready` to the leadership: only while all agents of the node lead, it is 200.
    ///
    /// For a node whose followers must get no traffic at all. A deployment that waits for each new replica to be ready never
    /// gets on with it, because a follower is not.
    #[must_use]
    pub fn ready_when_leading(mut self) -> Self {
        self.needs_leadership = true;
        self
    }

    /// Answers `/leader` with 307 to the URL that a leader on another node [says of
    /// itself](crate::agent::AgentBuilder::about); 200 where that is no URL.
    ///
    /// The URL is of http or https, without user, query and fragment. Path and query of the request are kept behind it,
    /// and each node that redirects adds `bully-via` with its agent's name to the query: a request that comes back, or was
    /// redirected four times, is answered with 508. Switch it on where every member of the group may send clients
    /// anywhere: a leader names the server.
    #[must_use]
    pub fn redirect(mut self) -> Self {
        self.redirects = true;
        self
    }

    /// Mounts `/metrics`: the text that `render` gives, as Prometheus reads it. It is called once a request, on a
    /// worker of the server.
    ///
    /// No exporter is forced on the application: `move || prometheus_handle.render()` is what one of them needs, and
    /// its `run_upkeep` now and then, on a thread or in a task of the application, where no scraper may ask for long.
    #[must_use]
    pub fn metrics(mut self, render: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.render = Some(Arc::new(render));
        self
    }

    /// Mounts the routes: `App::new().configure(|app| routes.configure(app))`.
    pub fn configure(&self, app: &mut ServiceConfig) {
        let node = Data::new(self.clone());
        // To each resource its own data: several nodes may be mounted in one application.
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

/// `GET`, and `HEAD`, by which some load balancers ask.
pub(crate) struct ReadGuard;

impl Guard for ReadGuard {
    fn check(&self, ctx: &guard::GuardContext<'_>) -> bool {
        guard::Get().check(ctx) || guard::Head().check(ctx)
    }
}

/// An answer in JSON that is not kept by any cache; in its place a refusal, where it would be too long.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> HttpResponse {
    let (status, text) = match BoundedText::json(body, MOST_ANSWERED) {
        Ok(text) => (status, text),
        Err(wrong) => {
            let message = format!("{wrong}: ask a node that has fewer agents");
            let text = BoundedText::json(&Message { message: &message }, MOST_ANSWERED);
            (StatusCode::INSUFFICIENT_STORAGE, text.unwrap_or_default())
        }
    };
    HttpResponse::build(status)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("application/json")
        .body(text)
}

/// No answer in JSON has more bytes: the records of several agents, each of 8 MiB at most, are the longest.
const MOST_ANSWERED: usize = 64 << 20;

/// An error, and its remedy.
#[derive(Serialize)]
struct Message<'a> {
    message: &'a str,
}

/// Reads a body of at most `longest` bytes, which arrives `within` that time. A body that trickles would hold its connection.
pub(crate) async fn read_body(
    body: Payload,
    longest: usize,
    within: Duration,
) -> Result<Bytes, HttpResponse> {
    match timeout(within, body.to_bytes_limited(longest)).await {
        Ok(Ok(Ok(body))) => Ok(body),
        Ok(Ok(Err(_))) => Err(refusal(StatusCode::BAD_REQUEST, "the body did not arrive")),
        Ok(Err(_)) => {
            let message = format!("what is sent has more than {longest} bytes, and is not read");
            Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, &message))
        }
        Err(_) => {
            let message = format!("what is sent did not arrive whole within {within:?}");
            Err(refusal(StatusCode::REQUEST_TIMEOUT, &message))
        }
    }
}

/// The answer to a request that nodes redirect to each other.
fn came_back() -> HttpResponse {
    let message = "the nodes redirect this request to each other: ask again when they agree on a leader, and give each agent an `about` of its own";
    refusal(StatusCode::LOOP_DETECTED, message)
}

/// An answer that says what is wrong, and what to do.
pub(crate) fn refusal(status: StatusCode, message: &str) -> HttpResponse {
    json(status, &Message { message })
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
