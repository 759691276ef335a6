//! The macro that defines the messages of an election.
//!
//! [`messages!`](messages!) takes one line for each message: the struct, its name in counters and traces, and the
//! highest term in the message. It makes the enum, the conversions into the enum, `name` and `term`. So none of this
//! is written twice, and a message without a name or a term does not compile. Every message has a term: a message
//! without its own term contains the highest term that its sender knows, as the ring's `Probe` does.
//!
//! Not here: which agents may send a message, and whether a newer message replaces it. Each election decides that in
//! one table, its implementation of [`PeerMessage`](crate::protocol::PeerMessage).

#[doc(hidden)]
#[macro_export]
macro_rules! messages {
    (
        $(#[$attribute:meta])*
        pub enum $all:ident {
            $($(#[$wire:meta])* $name:ident($message:ident) => $kind:expr, $term:expr;)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $all {
            $(
                #[doc = concat!("The message `", stringify!($name), "`.")]
                $(#[$wire])*
                $name($name),
            )*
        }

        impl $all {
            /// The names of all messages, for tests that must contain each message.
            #[cfg(test)]
            pub const ALL: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Returns the highest term in the message.
            pub fn term(&self) -> $crate::protocol::Term {
                match self {
                    $(Self::$name($message) => $term,)*
                }
            }

            /// Returns the name of the message in counters and traces.
            #[allow(unused_variables, reason = "most names do not depend on what is said")]
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$name($message) => $kind,)*
                }
            }
        }

        $(
            impl From<$name> for $all {
                fn from(message: $name) -> Self {
                    Self::$name(message)
                }
            }
        )*
    };
}

pub use crate::messages;
