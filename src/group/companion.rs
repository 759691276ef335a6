//! The companion of a group: a second group of the same agents, which carries the messages of applications.
//!
//! Decided here: the name of a companion, which no other group can have, and the form of its only kind of message: the
//! name of a message type, and bytes. A receiver that has registered a type under this name decodes the bytes. A bridge
//! that carries a group also carries the group's companion, so an application's messages cross between hosts without
//! another setting. If no application of a group uses such messages, the companion has no members, and nothing of it
//! crosses between hosts.
//!
//! Not here: the meaning of the bytes, and which agent joins ([`leader`](crate::leader)).

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

use crate::protocol::{AgentId, Leaders, MinimumRole, PeerMessage, Requirements, Rules};

use super::{Group, LocalWire};

/// Suffix of a companion's name; before it stands the name of the companion's group. No other group's name has this
/// suffix.
pub(super) const SUFFIX: &str = "!messages";

/// Returns the name of the group that a companion belongs to, if `name` is the name of a companion.
pub(crate) fn companion_of(name: &str) -> Option<&str> {
    name.strip_suffix(SUFFIX)
}

/// Returns the requirements of all members of a companion. No member leads in it, so each term has at most one leader.
pub(crate) fn companion_requirements() -> Requirements {
    Requirements {
        leaders: Leaders::PerTerm,
        ..Requirements::new(Rules::new("messages-1"))
    }
}

impl<M: PeerMessage> Group<M> {
    /// Returns the companion of this group in this process, which the first call makes; `None` if the group's name is
    /// too long for the suffix.
    pub(crate) fn companion(&self) -> Option<Group<AppMessage>> {
        self.companion_by(None)
    }

    /// Like [`companion`](Self::companion); if this call makes the companion, its local messages all go through `wire`.
    pub(super) fn companion_by(
        &self,
        wire: Option<Arc<dyn LocalWire<AppMessage>>>,
    ) -> Option<Group<AppMessage>> {
        let make = || {
            let name = AgentId::new(&format!("{}{SUFFIX}", self.0.name)).ok()?;
            Some(Group::of_name(name, wire))
        };
        self.0.companion.get_or_init(make).clone()
    }
}

/// A message of an application in the form that crosses between hosts: a name that the receiver has to know, and bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct AppMessage {
    /// The name of the message's type.
    pub(crate) name: AgentId,
    /// Kind of the bytes. A receiver ignores a kind that it does not know.
    pub(crate) kind: u8,
    pub(crate) body: AppBody,
}

impl AppMessage {
    /// The kind of this message, as a bridge counts it.
    pub(crate) const KIND: &'static str = "application";
    /// Messages of this kind and of higher kinds are answers: their number is limited by the number of questions.
    pub(crate) const ANSWERS: u8 = 2;

    pub(crate) fn new(name: AgentId, kind: u8, body: &[u8]) -> Self {
        let body = AppBody(body.into());
        Self { name, kind, body }
    }
}

impl fmt::Display for AppMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.body.0.len())
    }
}

impl PeerMessage for AppMessage {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    // The lowest role is enough here: the sender's rights in the group itself were checked when the sender was
    // announced as a member.
    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Observer
    }

    // A name that begins with `!` belongs to this crate: its messages do not count as bytes of the application.
    fn application_bytes(&self) -> Option<usize> {
        let is_own = self.name.as_str().starts_with('!') || self.kind >= Self::ANSWERS;
        (!is_own).then(|| self.body.0.len())
    }
}

/// The bytes of a message, which are written into a frame as they are. Clones share the bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct AppBody(pub(crate) Arc<[u8]>);

impl fmt::Debug for AppBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for AppBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for AppBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Body)
    }
}

/// Reads the bytes directly from the frame, so that no more bytes are copied than have arrived.
struct Body;

impl Visitor<'_> for Body {
    type Value = AppBody;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<AppBody, E> {
        Ok(AppBody(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elections::AnyMessage;
    use crate::group::GroupError;

    #[test]
    fn no_other_group_has_a_companions_name() {
        let group = Group::<AnyMessage>::new("shop").unwrap();
        let companion = group.companion().unwrap();
        assert_eq!(companion.name(), "shop!messages");
        assert_eq!(companion_of(companion.name()), Some("shop"));
        let refused = Group::<AnyMessage>::new(companion.name()).unwrap_err();
        assert!(matches!(refused, GroupError::Reserved { .. }), "{refused}");
        let again = group.clone().companion().unwrap();
        assert!(Arc::ptr_eq(&companion.0, &again.0), "one in a process");
    }

    #[test]
    fn a_group_whose_name_is_too_long_has_none() {
        let longest = "x".repeat(AgentId::MAX_LEN - SUFFIX.len());
        let name = |group: Option<Group<AppMessage>>| group.map(|group| group.name().len());
        let group = Group::<AnyMessage>::new(&longest).unwrap();
        assert_eq!(name(group.companion()), Some(AgentId::MAX_LEN));
        let group = Group::<AnyMessage>::new(&format!("{longest}x")).unwrap();
        assert_eq!(name(group.companion()), None);
    }

    #[test]
    fn a_message_is_a_name_a_number_and_bytes() {
        let message = AppMessage {
            name: AgentId::new("job").unwrap(),
            kind: 1,
            body: AppBody([7, 8].as_slice().into()),
        };
        let bytes = rmp_serde::to_vec(&message).unwrap();
        assert_eq!(bytes, b"\x93\xa3job\x01\xc4\x02\x07\x08");
        assert_eq!(
            rmp_serde::from_slice::<AppMessage>(&bytes).unwrap(),
            message
        );
        assert!(rmp_serde::from_slice::<AppMessage>(b"\x93\xa3j b\x01\xc4\x02\x07\x08").is_err());
    }
}
