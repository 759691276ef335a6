//! The agents that keep marks: their messages, their records and their answers.

use super::{
    super::super::{
        message::ScheduleMessage,
        replica::{ReplicaStep, Reply},
    },
    Flaw, Happening, World, id,
};
use crate::protocol::Term;

impl World {
    pub(super) fn arrive(&mut self, from: usize, to: usize, mut said: ScheduleMessage) {
        let wall = self.wall(to);
        if self.is_broken(Flaw::ObeysFormerLeaders) {
            self.term += 1;
            if let ScheduleMessage::Ask(question) = &mut said {
                question.ballot.term = Term(self.term);
            }
        }
        let Some(life) = &mut self.hosts[to].life else {
            return;
        };
        match said {
            ScheduleMessage::Ask(question) => {
                let step = life.replica.ask(id(from), &question, wall);
                self.replica(to, step);
            }
            ScheduleMessage::Answer(answer) => {
                if let Ok(known) = &answer.outcome {
                    life.lists.fill(&known.lists);
                }
                self.answer(from, to, answer);
            }
        }
    }

    pub(super) fn replica(&mut self, host: usize, step: ReplicaStep) {
        match step {
            ReplicaStep::Nothing => {}
            ReplicaStep::Answer(replies) => self.reply(host, replies),
            ReplicaStep::Store(record) => {
                let incarnation = self.hosts[host].incarnation;
                let is_stored = self.is_calm || self.rng.u32(..20) > 0;
                let after = self.rng.u64(1..60);
                let stored = Happening::Stored {
                    host,
                    incarnation,
                    record,
                    is_stored,
                };
                self.push(after, stored);
            }
        }
    }

    pub(super) fn stored(&mut self, host: usize, incarnation: u64, is_stored: bool) {
        let of = &mut self.hosts[host];
        if let Some(life) = of.life.as_mut().filter(|_| of.incarnation == incarnation) {
            let (replies, step) = life.replica.saved(is_stored);
            self.reply(host, replies);
            self.replica(host, step);
        }
    }

    pub(super) fn reply(&mut self, host: usize, replies: Vec<Reply>) {
        for (to, answer) in replies {
            let said = ScheduleMessage::Answer(answer);
            self.send(host, to.as_str().parse().unwrap(), &said);
        }
    }

    pub(super) fn send(&mut self, from: usize, to: usize, said: &ScheduleMessage) {
        if from == to {
            let said = said.clone();
            return self.push(0, Happening::Arrives { from, to, said });
        }
        let is_cut = self.cut.contains(&from) != self.cut.contains(&to);
        let copies = match self.rng.u32(..20) {
            _ if is_cut => 0,
            _ if self.is_calm => 1,
            0..3 => 0,
            3 => 2,
            _ => 1,
        };
        for _ in 0..copies {
            // Sometimes a message takes longer than any agent waits.
            let slow = !self.is_calm && self.rng.u32(..10) == 0;
            let after = self.rng.u64(1..if slow { 20_000 } else { 80 });
            let said = said.clone();
            self.push(after, Happening::Arrives { from, to, said });
        }
    }
}
