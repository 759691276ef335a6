//! The checks, answers and limits that several routes share.
//!
//! Not here: the checks of a caller (`access.rs`).

use std::time::Duration;

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
};

#[cfg(feature = "testkit")]
use super::stage::link::StageError;
use super::{
    Dashboard,
    access::{AccessError, CommandSender, HEADER},
};
use crate::web::{RouteRefusal, refusal};

/// Returns the beginning of a response that caches must not keep, and that no page of another origin may embed.
pub(super) fn shown(kind: &'static str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header(("cross-origin-resource-policy", "same-origin"))
        .content_type(kind);
    response
}

/// Refuses a caller of another host if the dashboard has its own server, which answers only callers of this host.
pub(super) fn check_reach(
    dashboard: &Dashboard,
    request: &HttpRequest,
) -> Result<(), RouteRefusal> {
    if dashboard.is_local && !caller(request).is_local() {
        let message = "this dashboard answers its own host only: open it as http://127.0.0.1 or http://localhost";
        return Err(refusal(StatusCode::FORBIDDEN, message).into());
    }
    Ok(())
}

/// Like [`check_reach`]. Also refuses a request from a page of another site: the other page could not read the answer,
/// and the request would only cause work.
pub(super) fn check_reader(
    dashboard: &Dashboard,
    request: &HttpRequest,
) -> Result<(), RouteRefusal> {
    check_reach(dashboard, request)?;
    Ok(caller(request).must_not_be_foreign()?)
}

/// Like [`check_reader`]. Also refuses a caller without the right to command.
pub(super) fn check_commander(
    dashboard: &Dashboard,
    request: &HttpRequest,
) -> Result<(), RouteRefusal> {
    check_reader(dashboard, request)?;
    Ok(dashboard.rights.admit(&caller(request))?)
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

impl From<AccessError> for RouteRefusal {
    fn from(wrong: AccessError) -> Self {
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
        response.into()
    }
}

#[cfg(feature = "testkit")]
impl From<StageError> for RouteRefusal {
    fn from(wrong: StageError) -> Self {
        let status = StatusCode::from_u16(wrong.status()).unwrap_or(StatusCode::CONFLICT);
        refusal(status, &wrong.to_string()).into()
    }
}

/// Returns the response to a command that a stage has executed.
#[cfg(feature = "testkit")]
pub(super) fn done(note: Option<&str>) -> HttpResponse {
    let done = serde_json::json!({ "message": "done", "note": note });
    crate::web::json(StatusCode::OK, &done)
}

/// Longest command, in bytes. The command for a partition contains the name of each agent.
pub(super) const LONGEST: usize = 64 * 1024;

/// Time within which the body of a command must arrive.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
