//! Middleware for routes of an application that only the leader answers.
//!
//! Decided here: the answer of an agent that does not lead. **The leadership is checked before the work, not during
//! it.** While a long handler runs, or waits, the agent may lose the leadership. So each write must contain the guard's
//! fence, by which the database refuses a late write, or the handler must check the guard again before the write. Not
//! here: work that ends with the leadership ([`lead`](crate::agent::ElectionHandle::lead)).

use std::{
    future::{Ready, ready},
    pin::Pin,
};

use actix_web::{
    Error, HttpMessage as _, HttpResponse,
    body::{EitherBody, MessageBody},
    dev::{Service, ServiceRequest, ServiceResponse, Transform, forward_ready},
    http::{StatusCode, header},
};

use crate::{
    agent::{ElectionHandle, LeaderEntry},
    protocol::Election,
};

use super::{
    came_back,
    redirect::{Onward, onward},
    refusal,
};

/// Lets a request pass only while this agent leads and does not hand over.
///
/// A handler takes the [`LeaderGuard`](crate::agent::LeaderGuard) of its request as `web::ReqData<LeaderGuard>`, and
/// with it the [fence](crate::agent::LeaderGuard::fence). An agent that does not lead answers 503 with `Retry-After`,
/// or a [redirect](WhileLeading::redirect). The leadership is checked **before the work, not during it**: a write that
/// only the leader may make must contain the fence.
///
/// ```
/// use actix_bully::{agent::{BullyHandle, LeaderGuard}, web::while_leading};
/// use actix_web::{App, HttpResponse, web};
///
/// async fn order(leader: web::ReqData<LeaderGuard>) -> HttpResponse {
///     match leader.fence() {
///         Some(fence) => HttpResponse::Ok().body(fence.number().to_string()),
///         None => HttpResponse::NotImplemented().finish(),
///     }
/// }
///
/// # fn demo(agent: &BullyHandle) {
/// let orders = web::scope("/orders").wrap(while_leading(agent).redirect()).route("", web::post().to(order));
/// let app = App::new().service(orders);
/// # drop(app);
/// # }
/// ```
pub fn while_leading<E: Election>(agent: &ElectionHandle<E>) -> WhileLeading {
    WhileLeading {
        entry: agent.entry(),
        redirects: false,
    }
}

/// Middleware made by [`while_leading`], for `wrap` of a scope or a resource. All clones are the same middleware; each
/// worker of a server may have a clone.
#[derive(Clone, Debug)]
pub struct WhileLeading {
    entry: LeaderEntry,
    redirects: bool,
}

impl WhileLeading {
    /// Redirects (307) to the URL that the leader [publishes](crate::agent::AgentBuilder::about), under the rules of
    /// [`Routes::redirect`](super::Routes::redirect). All nodes must have the route at the same path.
    #[must_use]
    pub fn redirect(mut self) -> Self {
        self.redirects = true;
        self
    }

    /// Returns the response of an agent that does not lead.
    fn refuse(&self, request: &ServiceRequest) -> HttpResponse {
        let status = self.entry.current();
        let elsewhere = status
            .leader
            .as_ref()
            .filter(|it| it.id != *self.entry.id());
        if self.redirects && elsewhere.is_some() {
            match onward(status.leader_about.as_ref(), request.uri(), self.entry.id()) {
                Onward::To(url) => return moved(url),
                Onward::CameBack => return came_back(),
                Onward::Nowhere => {}
            }
        }
        later(&match (elsewhere, &status.leader) {
            (Some(leader), _) => format!("{} leads: ask that agent", leader.id),
            (None, Some(_)) => "this agent hands over: ask again".to_owned(),
            (None, None) => "no agent leads: ask again".to_owned(),
        })
    }
}

fn moved(url: header::HeaderValue) -> HttpResponse {
    let mut response = HttpResponse::TemporaryRedirect();
    response.insert_header((header::LOCATION, url));
    response
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

fn later(message: &str) -> HttpResponse {
    let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, message);
    // The header has whole seconds. With 0, a client asks again at once; with 2, it waits longer than an election
    // usually takes.
    let seconds = header::HeaderValue::from_static("1");
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    response
}

impl<S, B> Transform<S, ServiceRequest> for WhileLeading
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type InitError = ();
    type Transform = LeadingService<S>;
    type Future = Ready<Result<Self::Transform, ()>>;

    fn new_transform(&self, service: S) -> Self::Future {
        let leading = self.clone();
        ready(Ok(LeadingService { leading, service }))
    }
}

/// A service behind [`WhileLeading`].
#[derive(Debug)]
pub struct LeadingService<S> {
    leading: WhileLeading,
    service: S,
}

impl<S, B> Service<ServiceRequest> for LeadingService<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>>>>;

    forward_ready!(service);

    fn call(&self, request: ServiceRequest) -> Self::Future {
        let Some(guard) = self.leading.entry.enter() else {
            let refused = self.leading.refuse(&request);
            let refused = request.into_response(refused).map_into_right_body();
            return Box::pin(ready(Ok(refused)));
        };
        request.extensions_mut().insert(guard);
        let answer = self.service.call(request);
        Box::pin(async move { Ok(answer.await?.map_into_left_body()) })
    }
}
