//! Decides which messages reach a machine: duty 7 of a [driver](super::Election).
//!
//! Decided here, once for every driver: a machine receives only messages of other members, and of each member only
//! messages of incarnations whose end is not confirmed. No machine repeats this check, so no machine can forget it. Not
//! here: whether a member may send this kind of message. A bridge checks the kind of each message
//! ([`PeerMessage::needs`](super::PeerMessage::needs)), and each election checks whether the sender is a voter or an
//! observer.

use super::{AgentId, Incarnation, Member, Members};

/// The reason why a message does not reach its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Unheard {
    /// The sender is not another member.
    #[error(
        "the sender is not another member of the group, so its message is dropped: unless it is just joining or leaving, look whether it is an agent of this group"
    )]
    Stranger,
    /// The sender's incarnation has ended, so its message may be out of date.
    #[error(
        "the sender has ended or was started again since it sent the message, so the message is dropped: there is nothing to do"
    )]
    Ended,
}

impl Members {
    /// Returns the sender of a message to `me`, if the message may reach the machine.
    ///
    /// # Errors
    /// [`Unheard`] has the reason. The driver drops the message and counts it.
    pub fn admit(
        &self,
        me: &AgentId,
        from: &AgentId,
        incarnation: Incarnation,
    ) -> Result<&Member, Unheard> {
        let others = self.get(from).filter(|member| member.id != *me);
        let sender = others.ok_or(Unheard::Stranger)?;
        if sender.is_stale(incarnation) {
            return Err(Unheard::Ended);
        }
        Ok(sender)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{
        MemberKind,
        fixture::{LOW, ME, id},
    };

    #[test]
    fn a_machine_hears_other_members_in_incarnations_that_last() {
        let mut members = Members::new(true);
        let up = |name| Member::up(id(name), MemberKind::Voter, None, Incarnation(3));
        members.join([up(ME), up(LOW)]);
        let heard = |members: &Members, name, incarnation| {
            let sender = members.admit(&id(ME), &id(name), Incarnation(incarnation));
            sender.map(|sender| sender.id.as_str().to_owned())
        };
        assert_eq!(heard(&members, LOW, 3).as_deref(), Ok(LOW));
        assert_eq!(
            heard(&members, LOW, 4).as_deref(),
            Ok(LOW),
            "a later incarnation"
        );
        assert_eq!(heard(&members, LOW, 2), Err(Unheard::Ended));
        assert_eq!(heard(&members, "stranger", 3), Err(Unheard::Stranger));
        for incarnation in [2, 3, 4] {
            let own = heard(&members, ME, incarnation);
            assert_eq!(own, Err(Unheard::Stranger), "an agent does not hear itself");
        }
        members.down(&id(LOW), Incarnation(3));
        assert_eq!(heard(&members, LOW, 3), Err(Unheard::Ended));
        members.leave(&id(LOW));
        assert_eq!(heard(&members, LOW, 4), Err(Unheard::Stranger));
    }
}
