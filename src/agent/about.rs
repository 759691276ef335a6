//! The `about` text of an agent: its application sets it, and the applications of all members read it.
//!
//! Decided here: a changed text goes to the group at once, not through the agent's mailbox; and how the agent's view of
//! its leader gets the leader's text. Not here: the rules of the text ([`About`]), and how it reaches other processes
//! (with the roster of a link, or with the record of a lease).

use crate::protocol::{About, Election, Time, View};

use super::{Agent, CommandError, ElectionHandle};

impl<E: Election> ElectionHandle<E> {
    /// Returns the `about` text of the leader, as far as the agent knows it: for instance the URL of the leader's own
    /// server. Another agent wrote the text: escape it before you show it, and check it before you use it.
    ///
    /// The text belongs to exactly one incarnation of the leader. After a restart this returns `None`, until the next
    /// incarnation has set the text again.
    pub fn leader_about(&self) -> Option<About> {
        self.current().leader_about
    }

    /// Changes the agent's [`about` text](super::AgentBuilder::about), or removes it. The text survives a crash.
    ///
    /// The members receive the new text in the same way as a new score. If the agents share only a store, the leader's
    /// next renewal of the lease carries the text. The text of an agent that does not lead is written into its row of
    /// the store within 30 s, and the [reports](crate::operate::AgentReport::contenders) of other agents show it within
    /// a minute.
    ///
    /// # Errors
    /// [`CommandError::Ended`] if the agent left or ended for good.
    pub fn set_about(&self, about: Option<About>) -> Result<(), CommandError> {
        self.must_go_on()?;
        self.shared.membership().set_about(self.id(), about);
        Ok(())
    }
}

impl<E: Election> Agent<E> {
    /// Returns the machine's view, and adds the `about` text of the leader that the view names.
    pub(super) fn view(&self, now: Time) -> View {
        let mut view = self.machine.view(now);
        if let (None, Some(leader), Some(snapshot)) = (&view.about, &view.leader, &self.snapshot) {
            let about = snapshot.members().about(&leader.id, leader.incarnation);
            view.about = about.cloned();
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
