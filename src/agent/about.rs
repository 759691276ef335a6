//! What an agent says of itself: set by its own application, read by that of each member.
//!
//! Decided here: that a change goes to the group at once, not through the mailbox; and what a view says of its leader. Not
//! here: which text is one ([`About`]), and how other processes are told: by the roster of a link, or by the record of
//! a lease.

use crate::protocol::{About, Election, Time, View};

use super::{Agent, CommandError, ElectionHandle};

impl<E: Election> ElectionHandle<E> {
    /// What the leader says of itself, as far as the agent knows: for instance the URL of its own server. It is the text
    /// of another agent: escape it where it is shown, and check it before it is used.
    ///
    /// It is what that very incarnation said: after a restart nothing, until the agent has said it again.
    pub fn leader_about(&self) -> Option<About> {
        self.current().leader_about
    }

    /// Changes what the agent [says of itself](super::AgentBuilder::about), or takes it back. It outlasts a crash.
    ///
    /// The members hear of it as of a change of the score. Where the agents share a store only, the leader's next renewal
    /// of the lease carries it.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    pub fn set_about(&self, about: Option<About>) -> Result<(), CommandError> {
        self.must_go_on()?;
        self.shared.membership().set_about(self.id(), about);
        Ok(())
    }
}

impl<E: Election> Agent<E> {
    /// What the machine shows, and what its leader says of itself.
    pub(super) fn view(&self, now: Time) -> View {
        let mut view = self.machine.view(now);
        if let (None, Some(leader), Some(snapshot)) = (&view.about, &view.leader, &self.snapshot) {
            let member = snapshot.members().get(&leader.id);
            view.about = member
                .and_then(|member| member.about_in(leader.incarnation))
                .cloned();
        }
        view
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_json_it_is_text_and_read_under_the_same_rules() {
        let about = About::new("<a href=\"x\">").expect("it is read");
        let json = serde_json::to_string(&about).expect("it is read");
        assert_eq!(json, r#""<a href=\"x\">""#);
        assert_eq!(
            serde_json::from_str::<About>(&json).expect("it is read"),
            about
        );
        let wrong = serde_json::from_str::<About>(r#""two\nlines""#).expect_err("refused");
        assert!(wrong.to_string().contains("in one line"), "{wrong}");
    }
}
