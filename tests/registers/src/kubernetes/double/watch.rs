//! Watches of the double: a watch sends the writes since a version, and then each later write.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use futures::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::{
    Response,
    body::{Bytes, Frame},
};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use super::{
    Shared,
    http::{AnswerBody, Asked, answer_of},
    status::KubeStatus,
    store::{LeaseSelector, StoreEvent, WatchEnd},
};

/// An open watch.
struct OpenWatch {
    shared: Arc<Shared>,
    grown: watch::Receiver<u64>,
    selector: LeaseSelector,
    has_bookmarks: bool,
    until: Instant,
    /// Number of events of the store that the watch has sent or skipped.
    passed: usize,
    lines: VecDeque<Bytes>,
    end: Option<WatchEnd>,
}

/// Begins a watch, and answers at once. The events follow in the body of the answer.
pub(super) fn begin(shared: &Arc<Shared>, asked: &Asked) -> Response<AnswerBody> {
    let seconds = asked.argument("timeoutSeconds").parse().unwrap_or(290);
    let mut watch = OpenWatch {
        shared: Arc::clone(shared),
        grown: shared.grown.subscribe(),
        selector: asked.selector(),
        has_bookmarks: asked.argument("allowWatchBookmarks") == "true",
        until: Instant::now() + Duration::from_secs(seconds),
        passed: 0,
        lines: VecDeque::new(),
        end: None,
    };
    watch.catch_up(asked.argument("resourceVersion").parse().ok());
    let events = stream::unfold(watch, |mut watch| async {
        let next = watch.next().await?;
        Some((next.map(Frame::data), watch))
    });
    let body = StreamBody::new(events).boxed_unsync();
    answer_of(200, "application/json", body)
}

impl OpenWatch {
    /// Sends the writes after version `since`. Without a version, sends all Leases.
    fn catch_up(&mut self, since: Option<u64>) {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        state.watches += 1;
        let store = &state.store;
        match since {
            Some(since) if since < store.oldest() => {
                let oldest = store.oldest();
                self.say_gone(&format!("too old resource version: {since} ({oldest})"));
            }
            Some(since) => {
                for event in &store.events {
                    match event {
                        StoreEvent::Written { revision, .. } if *revision > since => {
                            self.take(event, 0);
                        }
                        _ => {}
                    }
                }
            }
            None => {
                for lease in store.list(&self.selector).leases {
                    self.say("ADDED", &lease);
                }
            }
        }
        self.passed = store.events.len();
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Some(Ok(line));
            }
            match self.end.take() {
                Some(WatchEnd::Abrupt) => {
                    self.end = Some(WatchEnd::Ordinary);
                    return Some(Err(io::ErrorKind::ConnectionAborted.into()));
                }
                Some(other) => {
                    self.end = Some(other);
                    return None;
                }
                None => self.read_more(),
            }
            if self.lines.is_empty()
                && self.end.is_none()
                && timeout_at(self.until, self.grown.changed()).await.is_err()
            {
                self.end = Some(WatchEnd::Ordinary);
            }
        }
    }

    fn read_more(&mut self) {
        self.grown.mark_unchanged();
        let shared = Arc::clone(&self.shared);
        let state = shared.state();
        if state.is_frozen {
            return;
        }
        let revision = state.store.revision();
        while self.end.is_none()
            && let Some(event) = state.store.events.get(self.passed)
        {
            self.passed += 1;
            self.take(event, revision);
        }
    }

    fn take(&mut self, event: &StoreEvent, revision: u64) {
        match event {
            StoreEvent::Written { kind, lease, .. } => {
                if self.selector.selects(lease) {
                    self.say(kind, lease);
                }
            }
            StoreEvent::Bookmark(revision) => {
                if self.has_bookmarks {
                    let mark = json!({
                        "kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
                        "metadata": {"resourceVersion": revision.to_string(), "creationTimestamp": null},
                        "spec": {},
                    });
                    self.say("BOOKMARK", &mark);
                }
            }
            StoreEvent::End(end) => {
                match end {
                    WatchEnd::Gone => {
                        self.say_gone(&format!("too old resource version: ({revision})"));
                    }
                    WatchEnd::HalfAnEvent => {
                        let half = Bytes::from_static(b"{\"type\":\"MODIFIED\",\"object\":{\"ki");
                        self.lines.push_back(half);
                    }
                    WatchEnd::Ordinary | WatchEnd::Abrupt => {}
                }
                self.end = Some(*end);
            }
        }
    }

    fn say_gone(&mut self, message: &str) {
        self.say("ERROR", &KubeStatus::expired(message).json);
        self.end = Some(WatchEnd::Gone);
    }

    fn say(&mut self, kind: &str, object: &Value) {
        let event = json!({"type": kind, "object": object});
        self.lines.push_back(format!("{event}\n").into());
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.shared.state().watches -= 1;
    }
}
