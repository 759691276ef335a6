//! Why there is no sentinel, and why an order to one is refused.

use std::io;

/// Why this node has no sentinel. The node's lease decides, as without the feature.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SentinelError {
    /// This operating system has no pidfd.
    #[error("a sentinel needs Linux 5.3 or newer: build without it, the lease decides")]
    NotAvailable,
    /// It was not started first in `main`.
    #[error(
        "this process has more than one thread: call Sentinel::start() first in a plain main, before any runtime, or the sentinel would begin as a second copy of the program"
    )]
    NotFirst,
    /// The kernel gives no pidfd of this process.
    #[error(
        "the kernel gives this process no pidfd ({0}): allow pidfd_open, or run without a sentinel"
    )]
    Pidfd(#[source] io::Error),
    /// The process could not be started.
    #[error(
        "the sentinel's process cannot be started ({0}): is /proc mounted, and may the program be executed?"
    )]
    Start(#[source] io::Error),
    /// The random bytes could not be drawn.
    #[error("no random bytes for a sentinel: {0}")]
    Random(#[source] getrandom::Error),
    /// The sentinel takes no more orders: it has probably ended. Start another one, with new bytes.
    #[error("the sentinel takes no orders ({0}): start another one")]
    Pipe(#[source] io::Error),
    /// The order is none.
    #[error("{0}")]
    Order(#[from] OrderError),
}

debug_is_text!(SentinelError);

/// Why bytes are no order, or an order cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// More peers than a sentinel tells.
    #[error("{len} peers are more than the {max} that a sentinel tells")]
    TooManyPeers {
        /// How many there are.
        len: usize,
        /// How many there may be.
        max: usize,
    },
    /// An order of a length that no order has.
    #[error("an order to a sentinel says a length that no order has")]
    Length,
    /// An order of no known form.
    #[error("an order to a sentinel is malformed")]
    Malformed,
    /// The bytes of an incarnation are to be used for another one, which would end the wrong one.
    #[error("the secret of one incarnation was given for another one: draw new bytes")]
    SecretUsedTwice,
}
