//! One member as the other members see it, and the known state of its incarnations.
//!
//! Decided here: which incarnations have ended, confirmed or suspected. Not here: how reports combine;
//! [`Members`](super::Members) decides that.

use serde::{Deserialize, Serialize};

use crate::driver::MemberReports;

use super::{About, AgentId, Ends, Incarnation, Rank, Score, StoreId};

/// One member as the other members see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The name of the member.
    pub id: AgentId,
    /// Voter or observer.
    pub kind: MemberKind,
    /// The score that the member reported last; `None` for an agent that cannot be elected.
    pub score: Option<Score>,
    /// Whether the member is present, as far as is known.
    pub presence: Presence,
    /// The last known incarnation of the member.
    pub incarnation: Option<Incarnation>,
    /// The last incarnation whose end this process has seen; if this incarnation led, its leadership is revoked. All
    /// earlier incarnations had ended before it began. `None` for an agent of another process.
    pub ended: Option<Incarnation>,
    /// The incarnations whose ends another process or a sentinel reported. Each report is about one incarnation only
    /// (rule `told-end-is-exact` of the quorum): two processes may have the same name, and the earlier process may
    /// still run.
    pub ends: Ends,
    /// If the member has moved to another host: the last incarnation that was known at the former host. Reports of the
    /// present host do not apply to this incarnation or to earlier incarnations.
    pub former: Option<Incarnation>,
    /// The store that keeps the member's votes, as its host reported it; `None` before the report, and without a disk.
    pub store: Option<StoreId>,
    /// The text that the member publishes about itself in its last known incarnation. No election reads the text.
    pub about: Option<About>,
}

/// Whether a member votes, or only learns the outcome. Fixed when the member joins, unless the voters change while the
/// group runs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MemberKind {
    /// The member votes when it is asked, and may lead if it has a score.
    #[default]
    Voter,
    /// The member only learns which agent leads.
    Observer,
}

/// Whether a member is present, as far as is known.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// The member is configured, and was never seen.
    #[default]
    Unseen,
    /// The last known incarnation of the member still runs, as far as is known.
    Up,
    /// The last known incarnation of the member may have ended: its end is suspected, not confirmed.
    Suspect,
    /// The end of the member's last known incarnation is confirmed.
    Down,
}

impl Member {
    /// Makes a member that is up in this incarnation.
    pub fn up(
        id: AgentId,
        kind: MemberKind,
        score: Option<Score>,
        incarnation: Incarnation,
    ) -> Self {
        let (presence, incarnation) = (Presence::Up, Some(incarnation));
        Self {
            id,
            kind,
            score,
            presence,
            incarnation,
            ended: None,
            ends: Ends::default(),
            former: None,
            store: None,
            about: None,
        }
    }

    /// Makes a member that is configured and was never seen.
    pub fn unseen(id: AgentId, kind: MemberKind, score: Option<Score>) -> Self {
        Self {
            id,
            kind,
            score,
            presence: Presence::Unseen,
            incarnation: None,
            ended: None,
            ends: Ends::default(),
            former: None,
            store: None,
            about: None,
        }
    }

    /// Returns whether the member votes.
    pub fn is_voter(&self) -> bool {
        self.kind == MemberKind::Voter
    }

    /// Returns whether the member is up, as far as is known.
    pub fn is_up(&self) -> bool {
        self.presence == Presence::Up
    }

    /// Returns this member after its move from another host. `before` is its known state on the former host.
    ///
    /// Each host numbers incarnations for itself. So a report of the present host is never certain about an incarnation
    /// of the former host, whichever number is larger.
    #[must_use]
    pub fn moved(mut self, before: &Self) -> Self {
        let ended = before.ended.max(before.ends.last());
        let last = before.former.max(before.incarnation).max(ended);
        self.former = self.former.max(last);
        self
    }

    /// Returns whether this incarnation of the member has ended, or is suspected to have ended.
    pub fn is_gone(&self, incarnation: Incarnation) -> bool {
        let doubtful = matches!(self.presence, Presence::Suspect | Presence::Down);
        self.is_elsewhere(incarnation)
            || self
                .incarnation
                .is_some_and(|known| known > incarnation || known == incarnation && doubtful)
    }

    /// Returns whether a message of this incarnation is out of date, because the end of the incarnation is confirmed.
    pub fn is_stale(&self, incarnation: Incarnation) -> bool {
        self.is_elsewhere(incarnation) || self.is_behind(incarnation)
    }

    /// Returns whether the end of this incarnation is confirmed, and its leadership is revoked.
    pub fn has_ended(&self, incarnation: Incarnation) -> bool {
        let is_last = self.ended.is_some_and(|ended| ended >= incarnation);
        self.is_here(incarnation) && (is_last || self.ends.has(incarnation))
    }

    /// Returns whether the end of exactly this incarnation was seen or reported.
    pub fn was_end_told(&self, incarnation: Incarnation) -> bool {
        let is_told = self.ended == Some(incarnation) || self.ends.has(incarnation);
        self.is_here(incarnation) && is_told
    }

    /// Returns whether an incarnation can only belong to the member's present host.
    fn is_here(&self, incarnation: Incarnation) -> bool {
        self.former.is_none_or(|former| former < incarnation)
    }

    /// Returns whether an incarnation can only belong to the member's former host.
    fn is_elsewhere(&self, incarnation: Incarnation) -> bool {
        self.former.is_some_and(|former| former >= incarnation)
            && self.incarnation.is_none_or(|known| known < incarnation)
    }

    /// Returns whether a later incarnation of the present host is known, or the end of this incarnation.
    fn is_behind(&self, incarnation: Incarnation) -> bool {
        let down = self.presence == Presence::Down;
        self.incarnation
            .is_some_and(|known| known > incarnation || known == incarnation && down)
            || self.ended.is_some_and(|ended| ended >= incarnation)
            || self.ends.has(incarnation)
    }

    fn is_over(&mut self, incarnation: Incarnation) {
        // If a later incarnation is known, this report is late. The presence belongs to the later incarnation, and does
        // not change.
        if self.incarnation.is_none_or(|known| known <= incarnation) {
            self.enter(Presence::Down, incarnation);
        }
    }

    /// Notes presence and incarnation, and forgets the text that another incarnation published.
    fn enter(&mut self, presence: Presence, incarnation: Incarnation) {
        if self.incarnation != Some(incarnation) {
            self.about = None;
        }
        (self.presence, self.incarnation) = (presence, Some(incarnation));
    }

    /// Returns the text that the member published about itself in this incarnation.
    pub fn about_in(&self, incarnation: Incarnation) -> Option<&About> {
        self.about
            .as_ref()
            .filter(|_| self.incarnation == Some(incarnation))
    }

    /// Returns the rank of the member, if it may be elected.
    pub fn rank(&self) -> Option<Rank> {
        self.score.filter(|_| self.is_voter()).map(|score| Rank {
            score,
            id: self.id.clone(),
        })
    }

    /// Returns whether the member may be elected and ranks above an agent with this score and name.
    pub fn outranks(&self, score: Score, id: &AgentId) -> bool {
        self.is_voter() && self.score.is_some_and(|own| (own, &self.id) > (score, id))
    }
}

impl MemberReports for Member {
    fn mark_up(&mut self, incarnation: Incarnation) -> bool {
        if self.is_behind(incarnation) || self.is_up() && self.incarnation == Some(incarnation) {
            return false;
        }
        self.enter(Presence::Up, incarnation);
        true
    }

    fn mark_suspect(&mut self, incarnation: Incarnation) -> bool {
        let is_known = self.presence == Presence::Suspect && self.incarnation == Some(incarnation);
        if self.is_behind(incarnation) || is_known {
            return false;
        }
        self.enter(Presence::Suspect, incarnation);
        true
    }

    fn mark_down(&mut self, incarnation: Incarnation) -> bool {
        if self.ended.is_some_and(|ended| ended >= incarnation) {
            return false;
        }
        self.ended = Some(incarnation);
        self.ends.note(incarnation); // because other processes learn of each end from this list
        self.is_over(incarnation);
        true
    }

    fn mark_end_told(&mut self, incarnation: Incarnation) -> bool {
        let is_new = self.ends.note(incarnation);
        if is_new {
            self.is_over(incarnation);
        }
        is_new
    }

    fn told(mut self) -> Self {
        if let Some(ended) = self.ended.take() {
            self.ends.note(ended);
        }
        self
    }

    fn bring_up_to_date(&mut self, newest: &Self) -> bool {
        let before = self.clone();
        self.score = newest.score;
        self.kind = newest.kind;
        self.store = newest.store;
        for ended in newest.ends.iter().chain(newest.ended) {
            self.mark_end_told(ended);
        }
        if let Some(incarnation) = newest.incarnation {
            match newest.presence {
                Presence::Up => {
                    self.mark_up(incarnation);
                }
                Presence::Suspect => {
                    self.mark_up(incarnation);
                    self.mark_suspect(incarnation);
                }
                Presence::Unseen | Presence::Down => {}
            }
        }
        if self.incarnation == newest.incarnation {
            self.about.clone_from(&newest.about);
        }
        *self != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each place has its own numbers of incarnations. The former place used the numbers up to 5.
    #[test]
    fn an_incarnation_of_the_former_place_is_over_and_its_end_is_not_this_ones() {
        let moved = Member {
            former: Some(Incarnation(5)),
            ..Member::up(
                AgentId::new("a").unwrap(),
                MemberKind::Voter,
                None,
                Incarnation(1),
            )
        };
        let stale = [1, 2, 5, 6].map(|number| moved.is_stale(Incarnation(number)));
        assert_eq!(stale, [false, true, true, false]);
        let ended = Member {
            ended: Some(Incarnation(9)),
            ..moved
        };
        let ended = [4, 5, 6, 9, 10].map(|number| ended.has_ended(Incarnation(number)));
        assert_eq!(ended, [false, false, true, true, false]);
    }

    fn first() -> Member {
        let id = AgentId::new("a").unwrap();
        Member::up(id, MemberKind::Voter, None, Incarnation(3))
    }

    fn which_ended(member: &Member) -> [bool; 5] {
        [3, 4, 5, 6, 7].map(|number| member.has_ended(Incarnation(number)))
    }

    #[test]
    fn an_end_seen_here_is_that_of_all_before_and_one_that_is_told_stands_for_itself() {
        let (mut here, mut there) = (first(), first());
        assert!(here.mark_down(Incarnation(5)) && there.mark_end_told(Incarnation(5)));
        assert!(!here.mark_down(Incarnation(4)) && !there.mark_end_told(Incarnation(5)));
        assert_eq!(which_ended(&here), [true, true, true, false, false]);
        assert_eq!(which_ended(&there), [false, false, true, false, false]);
        assert!(there.mark_end_told(Incarnation(3)), "the other process too");
        assert_eq!(which_ended(&there), [true, false, true, false, false]);
        let told = [3, 4, 5].map(|number| there.was_end_told(Incarnation(number)));
        assert_eq!(told, [true, false, true]);
        assert!(there.is_stale(Incarnation(4)), "a later one is known");
        assert!(!there.is_up() && there.mark_up(Incarnation(6)));
    }

    #[test]
    fn each_end_is_told_to_another_process_and_counts_there_for_itself_alone() {
        let mut home = first();
        for number in [3, 5] {
            home.mark_up(Incarnation(number));
            home.mark_down(Incarnation(number));
        }
        home.mark_up(Incarnation(6));
        let mut told = first();
        assert!(told.bring_up_to_date(&home) && !told.bring_up_to_date(&home));
        assert_eq!(which_ended(&told), [true, false, true, false, false]);
        assert_eq!(told.ended, None);
        assert!(told.is_up() && told.incarnation == Some(Incarnation(6)));
        let first_known = home.told();
        assert_eq!(which_ended(&first_known), which_ended(&told));
    }

    fn saying(text: &str, incarnation: u64) -> Member {
        Member {
            about: About::new(text).ok(),
            incarnation: Some(Incarnation(incarnation)),
            ..first()
        }
    }

    #[test]
    fn the_text_about_an_incarnation_does_not_pass_to_the_next() {
        let about = |member: &Member, number| {
            member
                .about_in(Incarnation(number))
                .map(ToString::to_string)
        };
        let mut known = saying("old", 3);
        assert_eq!(about(&known, 3).as_deref(), Some("old"));
        assert_eq!(about(&known, 4), None);
        // The report of the restart comes before the new text.
        assert!(known.mark_up(Incarnation(4)));
        assert_eq!(about(&known, 4), None);
        assert!(known.bring_up_to_date(&saying("new", 4)));
        assert_eq!(about(&known, 4).as_deref(), Some("new"));
        // A late report changes nothing.
        assert!(!known.bring_up_to_date(&saying("old", 3)));
        assert_eq!(about(&known, 4).as_deref(), Some("new"));
        assert!(known.mark_end_told(Incarnation(5)) && known.about.is_none());
        let mut suspected = saying("old", 3);
        assert!(suspected.mark_suspect(Incarnation(4)) && suspected.about.is_none());
        // The present incarnation is suspected, so its text remains.
        let mut suspected = saying("old", 3);
        assert!(suspected.mark_suspect(Incarnation(3)));
        assert_eq!(about(&suspected, 3).as_deref(), Some("old"));
        assert!(suspected.bring_up_to_date(&Member {
            about: None,
            ..saying("-", 3)
        }));
        assert_eq!(suspected.about, None);
    }
}
