//! The routes for commands: to agents, and to the records of their messages.
//!
//! Decided here: which callers may command: callers with the node's token. If the node has no token, no caller may
//! command, because otherwise any process that reaches the port could command. The order of the checks of a request:
//! its token, then its length, then its content, so that a stranger costs nothing. The status of each outcome.

use std::time::Duration;

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
    rt,
    web::{self, Data, Payload},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::operate::{Order, Outcome, OutcomeVerdict, RecordRequest};

use super::{Answer, RouteRefusal, Routes, Token, json, read_body, refusal, token::bearer};

/// Longest order, in bytes, as on the operator's socket. The longest order has six texts of 256 bytes, less than half.
const LONGEST: usize = 4096;

/// Longest time for a request to arrive. Without this limit, a client that sends slowly would keep its connection for
/// ever.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn command(node: Data<Routes>, request: HttpRequest, body: Payload) -> Answer {
    let advice = |error| {
        format!("this is not an order: {error}; post {{\"command\":\"drain\"}} or another order")
    };
    let order: Order = asked(&node, &request, body, advice).await?;
    let operated = node.operated.clone();
    // The command runs in a separate task, so a client that closes its connection does not stop a drain half-way.
    let outcome = rt::spawn(async move { operated.carry_out(order).await });
    Ok(told(&outcome.await?))
}

pub(super) async fn record(node: Data<Routes>, request: HttpRequest, body: Payload) -> Answer {
    let advice = |error| {
        format!(
            "that cannot be asked of a record: {error}; post {{\"on\":{{}}}}, \"off\", \"read\" or \"read_kept\""
        )
    };
    let request: RecordRequest = asked(&node, &request, body, advice).await?;
    let operated = node.operated.clone();
    // Records are long. They are written on another thread, so that other requests do not wait.
    let records = web::block(move || operated.record(request)).await?;
    Ok(json(StatusCode::OK, &records))
}

/// Reads the request of a caller that may command. `advice` returns the message for a body that cannot be parsed.
async fn asked<T: DeserializeOwned>(
    node: &Routes,
    request: &HttpRequest,
    body: Payload,
    advice: impl FnOnce(serde_json::Error) -> String,
) -> Result<T, RouteRefusal> {
    if let Err(status) = admit(node.token.as_ref(), request) {
        let mut response = refusal(
            status,
            "a command needs the node's token: Authorization: Bearer TOKEN",
        );
        if status == StatusCode::UNAUTHORIZED {
            let scheme = header::HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        return Err(response.into());
    }
    // Only with the right token: the body of any other request is not read.
    let body = read_body(body, LONGEST, PATIENCE).await?;
    let read = serde_json::from_slice(&body);
    Ok(read.map_err(|error| refusal(StatusCode::BAD_REQUEST, &advice(error)))?)
}

/// Checks the token of a request. The error is the HTTP status of the refusal.
fn admit(token: Option<&Token>, request: &HttpRequest) -> Result<(), StatusCode> {
    let given = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| bearer(value.as_bytes()))
        .ok_or(StatusCode::UNAUTHORIZED)?;
    if token.is_some_and(|token| token.is(given)) {
        Ok(())
    } else {
        Err(StatusCode::FORBIDDEN)
    }
}

/// Returns the HTTP response for an outcome.
pub(crate) fn told(outcome: &Outcome) -> HttpResponse {
    #[derive(Serialize)]
    struct Told<'a> {
        verdict: OutcomeVerdict,
        message: String,
        #[serde(flatten)]
        outcome: &'a Outcome,
    }
    let verdict = outcome.verdict();
    let status = match verdict {
        OutcomeVerdict::Done => StatusCode::OK,
        OutcomeVerdict::Otherwise | OutcomeVerdict::Refused => StatusCode::CONFLICT,
        OutcomeVerdict::Late => StatusCode::GATEWAY_TIMEOUT,
    };
    let message = outcome.to_string();
    json(
        status,
        &Told {
            verdict,
            message,
            outcome,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_status() {
        let status = |outcome: Outcome| told(&outcome).status().as_u16();
        let leader = None;
        let lacks = None;
        assert_eq!(status(Outcome::Left { leader, lacks }), 200);
        assert_eq!(status(Outcome::Stopped), 409);
        let refused = Outcome::Refused(crate::operate::CommandRefusal::NoOther);
        assert_eq!(status(refused), 409);
        assert_eq!(status(Outcome::Unheard), 504);
    }
}
