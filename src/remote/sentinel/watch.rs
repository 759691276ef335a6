//! The state of a sentinel: its present order, and its reaction to each event.

use super::{OrderError, Watched};

/// An event for a sentinel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// The node orders the notice for its end, with the receivers.
    Ordered(Watched),
    /// The node's end of the pipe is closed. The node may still run, so this is not its end.
    PipeClosed,
    /// The kernel reports that no thread of the node is left.
    NodeEnded,
}

/// The next task of a sentinel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentinelTask {
    /// Waits for the node's end, and for orders if the pipe is open.
    Wait,
    /// Sends the notice that the node has ended, and ends.
    Tell(Watched),
    /// Ends without a notice.
    Leave,
}

/// The state of a sentinel.
#[derive(Clone, Debug, Default)]
pub struct NodeWatch {
    watched: Option<Watched>,
}

impl NodeWatch {
    /// Handles an event, and returns the next task.
    ///
    /// # Errors
    /// [`OrderError::SecretUsedTwice`] if an order would use the bytes of one incarnation for another incarnation. The
    /// sentinel has to end: it cannot know which of the two is right.
    pub fn on(&mut self, event: WatchEvent) -> Result<SentinelTask, OrderError> {
        match event {
            WatchEvent::Ordered(next) => {
                if self.is_secret_used(&next) {
                    return Err(OrderError::SecretUsedTwice);
                }
                self.watched = Some(next);
                Ok(SentinelTask::Wait)
            }
            WatchEvent::PipeClosed => Ok(SentinelTask::Wait),
            WatchEvent::NodeEnded => Ok(self
                .watched
                .take()
                .map_or(SentinelTask::Leave, SentinelTask::Tell)),
        }
    }

    fn is_secret_used(&self, next: &Watched) -> bool {
        let whose = |watched: &Watched| (watched.notice.node.clone(), watched.notice.incarnation);
        self.watched
            .as_ref()
            .is_some_and(|now| now.notice.secret == next.notice.secret && whose(now) != whose(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::{
        NodeId, NodeIncarnation,
        sentinel::{EndNotice, NoticeSecret},
    };

    fn watched(incarnation: u64, secret: u8, port: u16) -> Watched {
        Watched {
            notice: EndNotice {
                node: NodeId::new("host-a").unwrap(),
                incarnation: NodeIncarnation(incarnation),
                secret: NoticeSecret::of(secret),
            },
            peers: vec![([127, 0, 0, 1], port).into()],
        }
    }

    fn ordered(watched: Watched) -> WatchEvent {
        WatchEvent::Ordered(watched)
    }

    #[test]
    fn the_newest_order_is_what_is_told_when_the_kernel_says_that_the_node_has_ended() {
        let mut watch = NodeWatch::default();
        assert_eq!(watch.on(ordered(watched(1, 1, 10))), Ok(SentinelTask::Wait));
        assert_eq!(watch.on(ordered(watched(1, 1, 11))), Ok(SentinelTask::Wait));
        let told = SentinelTask::Tell(watched(1, 1, 11));
        assert_eq!(watch.on(WatchEvent::NodeEnded), Ok(told));
    }

    #[test]
    fn a_pipe_that_closes_is_no_end_and_the_end_is_still_told() {
        let mut watch = NodeWatch::default();
        assert_eq!(watch.on(ordered(watched(1, 1, 10))), Ok(SentinelTask::Wait));
        assert_eq!(watch.on(WatchEvent::PipeClosed), Ok(SentinelTask::Wait));
        let told = SentinelTask::Tell(watched(1, 1, 10));
        assert_eq!(watch.on(WatchEvent::NodeEnded), Ok(told));
    }

    #[test]
    fn a_sentinel_that_was_ordered_nothing_tells_nothing() {
        let mut watch = NodeWatch::default();
        assert_eq!(watch.on(WatchEvent::NodeEnded), Ok(SentinelTask::Leave));
    }

    #[test]
    fn the_bytes_of_one_incarnation_are_not_taken_for_another_one() {
        let mut watch = NodeWatch::default();
        assert_eq!(watch.on(ordered(watched(1, 1, 10))), Ok(SentinelTask::Wait));
        let twice = watch.on(ordered(watched(2, 1, 10)));
        assert_eq!(twice, Err(OrderError::SecretUsedTwice));
        assert_eq!(watch.on(ordered(watched(2, 2, 10))), Ok(SentinelTask::Wait));
    }
}
