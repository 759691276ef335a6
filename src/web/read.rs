//! The routes that only read. Of these routes only `/health/live` sends a message to the agents, to check that they
//! respond.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
    web::{Data, Query},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    operate::Explanation,
    protocol::{About, AgentId},
    record::BoundedText,
    shown::ShownLeader,
};

use super::{
    Routes, came_back, json,
    redirect::{Onward, onward},
    refusal,
};

/// The part of a query that selects an agent of the node.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    group: Option<String>,
    agent: Option<AgentId>,
}

pub(super) async fn leader(
    node: Data<Routes>,
    which: Result<Query<Which>, actix_web::Error>,
    request: HttpRequest,
) -> HttpResponse {
    #[derive(Serialize)]
    struct Led<'a> {
        leader: Option<ShownLeader<'a>>,
        /// The text that the leader publishes.
        #[serde(skip_serializing_if = "Option::is_none")]
        about: Option<&'a About>,
        /// Whether the leader runs on this node.
        here: bool,
    }
    let Ok(Query(Which { group, agent })) = which else {
        return refusal(
            StatusCode::BAD_REQUEST,
            "name an agent by ?group=..&agent=..",
        );
    };
    let (id, known) = match node.operated.knows(group.as_deref(), agent.as_ref()) {
        Ok(known) => known,
        Err(error) => return refusal(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let here = known.leading.is_some();
    let onward = match &known.leader {
        Some(_) if node.redirects && !here => {
            onward(known.leader_about.as_ref(), request.uri(), &id)
        }
        Some(_) | None => Onward::Nowhere,
    };
    let status = match (&known.leader, &onward) {
        (_, Onward::CameBack) => return came_back(),
        (_, Onward::To(_)) => StatusCode::TEMPORARY_REDIRECT,
        (Some(_), Onward::Nowhere) => StatusCode::OK,
        (None, Onward::Nowhere) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let body = Led {
        leader: known.leader.as_ref().map(ShownLeader::from),
        about: known.leader_about.as_ref(),
        here,
    };
    let mut response = json(status, &body);
    if let Onward::To(url) = onward {
        response.headers_mut().insert(header::LOCATION, url);
    }
    response
}

pub(super) async fn health(node: Data<Routes>) -> HttpResponse {
    #[derive(Serialize)]
    struct Health {
        /// Whether every agent of the node knows a leader.
        healthy: bool,
        agents: Vec<Explanation>,
    }
    let healthy = node.operated.has_leader();
    let agents = node.operated.explain();
    json(good(healthy), &Health { healthy, agents })
}

pub(super) async fn live(node: Data<Routes>) -> HttpResponse {
    let live = node.operated.is_alive().await;
    json(good(live), &json!({ "live": live }))
}

pub(super) async fn ready(node: Data<Routes>) -> HttpResponse {
    let leads = !node.needs_leadership || node.operated.is_leading();
    let ready = leads && node.operated.is_ready();
    json(good(ready), &json!({ "ready": ready }))
}

pub(super) async fn status(node: Data<Routes>) -> HttpResponse {
    json(StatusCode::OK, &node.operated.report())
}

pub(super) async fn history(node: Data<Routes>) -> HttpResponse {
    json(StatusCode::OK, &node.operated.history())
}

pub(super) async fn metrics(node: Data<Routes>) -> HttpResponse {
    match &node.render {
        Some(render) => {
            let mut text = BoundedText::new(MOST_METRICS);
            if let Err(wrong) = text.push(&render()) {
                let message = format!("{wrong}: let the application render fewer series");
                return refusal(StatusCode::INSUFFICIENT_STORAGE, &message);
            }
            HttpResponse::Ok()
                .insert_header((header::CACHE_CONTROL, "no-store"))
                .content_type("text/plain; version=0.0.4; charset=utf-8")
                .body(text.ended_by(""))
        }
        None => HttpResponse::NotFound().finish(),
    }
}

/// Longest text of metrics, in bytes: some hundred thousand series.
const MOST_METRICS: usize = 16 << 20;

fn good(is_good: bool) -> StatusCode {
    if is_good {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}
