//! L1: a life begins.
//!
//! The first life stands at once, with the number 1. A later one holds no ballot until it finds the
//! seat vacant: any ballot it takes is above all that it ever used, and a healthy leader is left
//! alone.

use std::sync::Arc;

use super::{Ballot, BallotRecord, Defect, Out};
use crate::protocol::{Members, Time};

impl Ballot {
    pub(super) fn on_start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.meet(members);
        self.round = 1;
        self.stepped = Some(now);
        if self.config.has(Defect::NumberForgotten) {
            self.record.n = 0;
        }
        if !self.me.is_voter() {
            return; // it waits to be told
        }
        if self.record == BallotRecord::default() && self.stands(now) {
            self.take(1, out);
        }
        if self.peers.is_empty() {
            self.check(now, self.seen, out); // it is the majority
        }
        self.ask(now, out);
    }
}
