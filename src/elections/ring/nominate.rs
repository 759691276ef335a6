//! The nomination (N5): on its way to the winner, or round without having met it.

use super::{
    AgentId, ElectionId, Lap, Nominate, Out, Ring,
    hop::Way,
    state::{Contest, Stage},
};
use crate::protocol::Time;

impl Ring {
    /// N5.
    pub(super) fn on_nominate(&mut self, now: Time, from: &AgentId, m: Nominate, out: &mut Out) {
        let id = &m.election;
        self.acknowledge(from, (Lap::Nominate, id.term, &id.origin, 0), out);
        self.is_there(&m.winner, m.incarnation);
        if id.term <= self.closed {
            return self.ignore("an election that is over");
        }
        let mine = self.contest.as_ref();
        if mine.is_some_and(|c| c.id > *id) {
            return self.ignore("a stronger election is under way");
        }
        let same = |c: &&Contest| c.id == *id;
        let stage = mine.filter(same).map(|c| c.stage);
        if m.winner == self.me.id && m.incarnation == self.me.incarnation {
            if stage != Some(Stage::Announced) {
                self.accept(now, m.election, out);
            }
            return;
        }
        if m.passed.as_slice().contains(&self.me.id) {
            if stage.is_some() {
                self.winner_is_gone(now, &m.election, out);
            }
            return;
        }
        if stage >= Some(Stage::Nominated) {
            return self.ignore("passed on before");
        }
        self.pass_nomination(now, m, out);
    }

    fn pass_nomination(&mut self, now: Time, mut m: Nominate, out: &mut Out) {
        self.take_part(now, m.election.clone(), Stage::Nominated, out);
        m.passed.push(self.me.id.clone()); // beyond the bound the first ones find themselves
        let election = m.election.clone();
        if self.pass(now, m.into(), out) == Way::Home {
            self.winner_is_gone(now, &election, out);
        }
    }

    /// The winner looks again whether it can lead.
    fn accept(&mut self, now: Time, election: ElectionId, out: &mut Out) {
        if self.me.rank().is_some() {
            return self.win(now, election, out);
        }
        self.seen = self.seen.max(election.term);
        self.begin(now, out);
    }

    /// The nomination went round: whoever was chosen is not there any more.
    pub(super) fn winner_is_gone(&mut self, now: Time, election: &ElectionId, out: &mut Out) {
        if self.contest.as_ref().is_none_or(|c| c.id != *election) {
            return self.ignore("another election is under way");
        }
        self.end_contest(out);
        self.begin(now, out);
    }
}
