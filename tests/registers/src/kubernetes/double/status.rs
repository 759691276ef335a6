//! Answers with an error, in the form that an API server gives them.

use serde_json::{Value, json};

/// A `Status`, and its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeStatus {
    pub(super) code: u16,
    pub(super) json: Value,
}

impl KubeStatus {
    /// Returns an error that belongs to a Lease. `reason` is one word for programs, `message` a sentence for people.
    pub fn new(code: u16, reason: &str, message: &str) -> Self {
        let json = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "details": {"name": "", "group": "coordination.k8s.io", "kind": "leases"},
            "code": code,
        });
        Self { code, json }
    }

    /// Asks the client to wait for some seconds before its next request.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.json["details"]["retryAfterSeconds"] = json!(seconds);
        self
    }

    /// Returns an error that belongs to no object.
    fn of_no_object(code: u16, reason: &str, message: &str) -> Self {
        let mut status = Self::new(code, reason, message);
        status.json["details"]["kind"] = json!("");
        status
    }

    pub(super) fn unauthorized() -> Self {
        Self::of_no_object(401, "Unauthorized", "Unauthorized")
    }

    pub(super) fn absent(name: &str) -> Self {
        let message = format!("leases.coordination.k8s.io {name:?} not found");
        Self::new(404, "NotFound", &message)
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
        Self::of_no_object(410, "Expired", message)
    }
}
