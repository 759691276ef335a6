//! The answer of a server that is called without a socket, for the tests of the routes and of the dashboard.

use actix_web::{
    body::{BoxBody, to_bytes},
    dev::ServiceResponse,
    http::header::HeaderMap,
};
use serde_json::Value;

/// A complete answer.
#[derive(Debug)]
pub struct Told {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as text.
    pub text: String,
}

impl Told {
    /// Waits for the complete answer.
    pub async fn of(response: ServiceResponse<BoxBody>) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = to_bytes(response.into_body()).await.unwrap_or_default();
        Self {
            status: status.as_u16(),
            headers,
            text: String::from_utf8(body.to_vec()).expect("text"),
        }
    }

    /// Returns the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// Returns the message of a refusal; empty for other answers.
    pub fn message(&self) -> String {
        let message = &self.json()["message"];
        message.as_str().unwrap_or_default().to_owned()
    }

    /// Returns the text of a header; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).map(|value| value.to_str());
        value.and_then(Result::ok).unwrap_or_default()
    }
}
