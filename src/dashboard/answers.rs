//! The checks, answers and limits that several routes share.
//!
//! Not here: the checks of a caller (`access.rs`).

use std::time::Duration;

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
};

#[cfg(feature = "testkit")]
use super::stage::link::{StageAnswer, StageError};
use super::{
    Dashboard,
    access::{AccessError, CommandSender, HEADER},
};
#[cfg(feature = "testkit")]
use crate::web::json;
use crate::web::refusal;

/// Refuses a caller of another host if the dashboard has its own server, which answers only callers of this host.
pub(super) fn out_of_reach(dashboard: &Dashboard, request: &HttpRequest) -> Option<HttpResponse> {
    if dashboard.is_local && !caller(request).is_local() {
        let message = "this dashboard answers its own host only: open it as http://127.0.0.1 or http://localhost";
        return Some(refusal(StatusCode::FORBIDDEN, message));
    }
    None
}

/// Like [`out_of_reach`]. Also refuses a request from a page of another site: that page could not read the answer, and
/// the request would only cause work.
pub(super) fn kept_from(dashboard: &Dashboard, request: &HttpRequest) -> Option<HttpResponse> {
    out_of_reach(dashboard, request).or_else(|| {
        let foreign = caller(request).must_not_be_foreign();
        foreign.err().map(refused)
    })
}

/// Like [`kept_from`]. Also refuses a caller without the right to command.
pub(super) fn cannot_command(dashboard: &Dashboard, request: &HttpRequest) -> Option<HttpResponse> {
    kept_from(dashboard, request)
        .or_else(|| Some(refused(dashboard.rights.admit(&caller(request)).err()?)))
}

pub(super) fn caller(request: &HttpRequest) -> CommandSender<'_> {
    let header = |name: header::HeaderName| request.headers().get(name);
    let text = |name| header(name).and_then(|value| value.to_str().ok());
    CommandSender {
        has_header: request
            .headers()
            .get(HEADER)
            .is_some_and(|value| value == "1"),
        origin: text(header::ORIGIN),
        // In HTTP/2 the host is in the address of the request, not in a header.
        host: text(header::HOST).or_else(|| Some(request.uri().authority()?.as_str())),
        peer: request.peer_addr(),
        authorization: header(header::AUTHORIZATION).map(header::HeaderValue::as_bytes),
        site: text(header::HeaderName::from_static("sec-fetch-site")),
    }
}

pub(super) fn refused(wrong: AccessError) -> HttpResponse {
    let status = match wrong {
        AccessError::NoToken => StatusCode::UNAUTHORIZED,
        AccessError::ReadOnly
        | AccessError::NoHeader
        | AccessError::OtherOrigin
        | AccessError::OtherSite
        | AccessError::NotLoopback
        | AccessError::WrongToken => StatusCode::FORBIDDEN,
    };
    let mut response = refusal(status, &wrong.to_string());
    if wrong == AccessError::NoToken {
        let scheme = header::HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}

/// Returns the response for the answer of a stage.
#[cfg(feature = "testkit")]
pub(super) fn obeyed(answer: Result<StageAnswer, StageError>) -> HttpResponse {
    match answer {
        Ok(answer) => json(StatusCode::OK, &answer),
        Err(wrong) => {
            let status = StatusCode::from_u16(wrong.status()).unwrap_or(StatusCode::CONFLICT);
            refusal(status, &wrong.to_string())
        }
    }
}

/// The header that forbids a page of another origin to embed the answer, even without reading it.
pub(super) const OWN_ORIGIN: (&str, &str) = ("cross-origin-resource-policy", "same-origin");

pub(super) fn stopping() -> HttpResponse {
    refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server is stopping")
}

/// Longest command, in bytes. The command for a partition contains the name of each agent.
pub(super) const LONGEST: usize = 64 * 1024;

/// Time within which the body of a command must arrive.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
