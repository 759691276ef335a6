//! The routes that read. None of them goes through an agent's mailbox, but `/health/live`, whose question that is.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
    web::{Data, Query},
};
use serde::{Deserialize, Serialize};

use crate::{
    operate::Explanation,
    protocol::{AgentId, Leader},
    record::BoundedText,
    shown::ShownLeader,
};

use super::{Routes, json, refusal};

/// Which agent of the node is meant.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    group: Option<String>,
    agent: Option<AgentId>,
}

pub(super) async fn leader(
    node: Data<Routes>,
    which: Result<Query<Which>, actix_web::Error>,
) -> HttpResponse {
    #[derive(Serialize)]
    struct Led<'a> {
        leader: Option<ShownLeader<'a>>,
        /// Whether it is here.
        here: bool,
    }
    let Ok(Query(Which { group, agent })) = which else {
        return refusal(
            StatusCode::BAD_REQUEST,
            "name an agent by ?group=..&agent=..",
        );
    };
    let (leader, here) = match node.operated.leader(group.as_deref(), agent.as_ref()) {
        Ok(known) => known,
        Err(error) => return refusal(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let elsewhere = |leader: &Leader| {
        let redirect = node.redirect.as_ref().filter(|_| !here)?;
        redirect(leader)
    };
    let status = match &leader {
        Some(_) => StatusCode::OK,
        None => StatusCode::SERVICE_UNAVAILABLE,
    };
    let url = leader.as_ref().and_then(elsewhere);
    let body = Led {
        leader: leader.as_ref().map(ShownLeader::from),
        here,
    };
    // A URL that no header carries is the application's mistake: the leader is told all the same.
    match url.and_then(|url| header::HeaderValue::from_str(&url).ok()) {
        Some(url) => {
            let mut response = json(StatusCode::TEMPORARY_REDIRECT, &body);
            response.headers_mut().insert(header::LOCATION, url);
            response
        }
        None => json(status, &body),
    }
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
    #[derive(Serialize)]
    struct Live {
        live: bool,
    }
    let live = node.operated.is_alive().await;
    json(good(live), &Live { live })
}

pub(super) async fn ready(node: Data<Routes>) -> HttpResponse {
    #[derive(Serialize)]
    struct Ready {
        ready: bool,
    }
    let leads = !node.needs_leadership || node.operated.is_leading();
    let ready = leads && node.operated.is_ready();
    json(good(ready), &Ready { ready })
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

/// Some hundred thousand series.
const MOST_METRICS: usize = 16 << 20;

fn good(is_good: bool) -> StatusCode {
    if is_good {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}
