//! Answers with an error, in the form that an API server gives them.

use serde_json::{Value, json};

/// The content of a `Status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeStatus {
    /// The status code of HTTP.
    pub code: u16,
    /// The reason, as one word for programs.
    pub reason: String,
    /// The reason, as a sentence for people.
    pub message: String,
    /// The kind of the object to which the error belongs; empty for none.
    pub kind: String,
    /// The time after which the client may try again, in seconds; zero for none.
    pub retry_after_seconds: u32,
}

impl KubeStatus {
    /// Returns an error that belongs to a Lease.
    pub fn new(code: u16, reason: &str, message: &str) -> Self {
        Self {
            code,
            reason: reason.to_owned(),
            message: message.to_owned(),
            kind: "leases".to_owned(),
            retry_after_seconds: 0,
        }
    }

    /// Returns the error for an object of another kind.
    #[must_use]
    pub fn of_kind(mut self, kind: &str) -> Self {
        kind.clone_into(&mut self.kind);
        self
    }

    /// Asks the client to wait before its next request.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_seconds = seconds;
        self
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": {
                "name": "",
                "group": "coordination.k8s.io",
                "kind": self.kind,
                "retryAfterSeconds": self.retry_after_seconds,
            },
            "code": self.code,
        })
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized").of_kind("")
    }

    pub(super) fn absent(name: &str) -> Self {
        let message = format!("leases.coordination.k8s.io {name:?} not found");
        Self::new(404, "NotFound", &message)
    }

    pub(super) fn no_namespace(name: &str) -> Self {
        let message = format!("namespaces {name:?} not found");
        Self::new(404, "NotFound", &message).of_kind("namespaces")
    }

    pub(super) fn exists(name: &str) -> Self {
        let message = format!("leases.coordination.k8s.io {name:?} already exists");
        Self::new(409, "AlreadyExists", &message)
    }

    pub(super) fn conflict(name: &str, why: &str) -> Self {
        let message =
            format!("Operation cannot be fulfilled on leases.coordination.k8s.io {name:?}: {why}");
        Self::new(409, "Conflict", &message)
    }

    pub(super) fn invalid(name: &str, why: &str) -> Self {
        let message = format!("Lease.coordination.k8s.io {name:?} is invalid: {why}");
        Self::new(422, "Invalid", &message)
    }

    pub(super) fn expired(message: &str) -> Self {
        Self::new(410, "Expired", message).of_kind("")
    }
}
