//! The macro that defines the messages of an election.
//!
//! [`messages!`](messages!) takes one row for each message: the struct, its name in counters and traces, the highest
//! term in the message, the least role that may send it (`by Voter`, or a higher role for some contents), and whether
//! it is `repeated` (always, or `if` a condition on its content is true). It makes the enum, the conversions into the
//! enum and the implementation of [`PeerMessage`](crate::protocol::PeerMessage). So no fact about a message is written
//! twice, and a message without a name, a term or a role does not compile. Every message has a term: a message without
//! its own term contains the highest term that its sender knows, as the ring's `Probe` does.
//!
//! After the name of the enum, `of group: ElectionId` means that each message has this field, and `in QuorumMessage`
//! means that the enum `QuorumMessage` also has a variant for each message. Other methods of `PeerMessage` follow the
//! enum.

#[doc(hidden)]
#[macro_export]
macro_rules! messages {
    (@repeated) => { false };
    (@repeated repeated) => { true };
    (@repeated repeated $when:expr) => { $when };

    (@of $all:ident [$($name:ident)*]) => {};
    (@of $all:ident [$($name:ident)*] $field:ident $type:ty) => {
        impl $all {
            #[doc = concat!("Returns the field `", stringify!($field), "`, which each message has.")]
            pub fn $field(&self) -> &$type {
                match self {
                    $(Self::$name(message) => &message.$field,)*
                }
            }
        }
    };

    (@in $all:ident [$($name:ident)*]) => {};
    (@in $all:ident [$($name:ident)*] $whole:ident) => {
        impl From<$all> for $whole {
            fn from(message: $all) -> Self {
                match message {
                    $($all::$name(message) => Self::$name(message),)*
                }
            }
        }

        /// Converts a message of the larger enum. The error is a message that only the larger enum has.
        impl TryFrom<$whole> for $all {
            type Error = $whole;

            fn try_from(message: $whole) -> Result<Self, $whole> {
                match message {
                    $($whole::$name(message) => Ok(Self::$name(message)),)*
                    other => Err(other),
                }
            }
        }
    };

    (
        $(#[$attribute:meta])*
        pub enum $all:ident $(in $whole:ident)? $(of $field:ident: $type:ty)? {
            $(
                $(#[$wire:meta])*
                $name:ident($message:ident $(, $from:ident)?) => $kind:expr, $term:expr,
                    by $role:ident $(or $higher:ident if $is_higher:expr)?
                    $(, $often:ident $(if $when:expr)?)?;
            )*
        }
        $($method:tt)*
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
            /// Returns the highest term in the message.
            pub fn term(&self) -> $crate::protocol::Term {
                match self {
                    $(Self::$name($message) => $term,)*
                }
            }
        }

        #[allow(unused_variables, reason = "most rows do not depend on what is said, or on the sender")]
        impl $crate::protocol::PeerMessage for $all {
            fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name($message) => $kind,)*
                }
            }

            fn needs(&self, from: &$crate::protocol::AgentId) -> $crate::protocol::MinimumRole {
                match self {
                    $(Self::$name($message) => {
                        $(let $from = from;)?
                        $(if $is_higher { $crate::protocol::MinimumRole::$higher } else)? {
                            $crate::protocol::MinimumRole::$role
                        }
                    })*
                }
            }

            fn term(&self) -> Option<$crate::protocol::Term> {
                Some(self.term())
            }

            fn is_repeated(&self) -> bool {
                match self {
                    $(Self::$name($message) => $crate::messages!(@repeated $($often $($when)?)?),)*
                }
            }

            $($method)*
        }

        $(
            impl From<$name> for $all {
                fn from(message: $name) -> Self {
                    Self::$name(message)
                }
            }
        )*

        $crate::messages!(@of $all [$($name)*] $($field $type)?);
        $crate::messages!(@in $all [$($name)*] $($whole)?);
    };
}

pub use crate::messages;
