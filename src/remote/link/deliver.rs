//! The letters of one frame, from bytes to the agents here.
//!
//! Decided here: the order of the questions about a letter, and that what is the same for all
//! letters of a frame is looked up once.

use crate::{
    group::Handed,
    planted::{Defect, has},
    protocol::{AgentId, Time},
    remote::{
        Closed, Dropped, Inbound, Letter,
        carry::{Intake, Said},
        wire::{RawLetter, Receivers},
    },
};

use super::ready::Common;

/// Takes the letters of one frame.
pub(super) struct Letters<'a> {
    common: &'a Common,
    /// Takes those of one group: most frames have letters of one only.
    open: Option<(usize, Box<dyn Intake + 'a>)>,
}

impl<'a> Letters<'a> {
    pub(super) const fn new(common: &'a Common) -> Self {
        Self { common, open: None }
    }

    /// Delivers a letter, or counts why not. Says how much work that was: 1 for the letter, and 1
    /// for each receiver.
    pub(super) fn take(
        &mut self,
        inbound: &mut Inbound,
        now: Time,
        letter: &RawLetter<'_>,
    ) -> Result<usize, Closed> {
        let (common, shared) = (self.common, &self.common.shared);
        let passed = match inbound.letter(now, letter)? {
            Letter::Pass(passed) => passed,
            Letter::Drop(why) => {
                shared.counters.dropped(why);
                return Ok(1);
            }
        };
        let Some(intake) = self.intake(passed.group) else {
            return Ok(1);
        };
        let mut judge = |said: &Said| {
            if !passed.may_be.covers(said.needs) && !has(Defect::RoleNotAsked) {
                return Err(Closed::Role { kind: said.kind });
            }
            let admit = |term| shared.admit(passed.group, term);
            said.term.map_or(Ok(()), admit)
        };
        let side = common.groups.get(passed.group);
        let told = side.map(|side| side.told.borrow());
        let (mut gone, mut unknown): (usize, usize) = (0, 0);
        let mut name = |number: u32| {
            let told = told.as_ref();
            let id = told.and_then(|told| told.name(number));
            if id.is_none() {
                let was_given = told.is_some_and(|told| told.was_given(number));
                let count = if was_given { &mut gone } else { &mut unknown };
                *count = count.saturating_add(1);
            }
            id
        };
        // Most letters are for one: that takes no list.
        let (one, several): (Option<&AgentId>, Vec<&AgentId>);
        let to = match letter.to {
            Receivers::All => None,
            Receivers::One(number) => {
                one = name(number);
                Some(one.as_slice())
            }
            Receivers::Several(numbers) => {
                several = numbers.into_iter().filter_map(name).collect();
                Some(several.as_slice())
            }
        };
        let (from, life) = (passed.from, passed.incarnation);
        if let Some(why) = intake.take(from, life, to, letter.payload, &mut judge)? {
            shared.counters.dropped(why);
        }
        let Handed { sent, full } = intake.handed();
        for _ in 0..full {
            shared.counters.dropped(Dropped::MailboxFull);
        }
        // An honest peer names who has left until it hears of that, which may take it long.
        for _ in 0..gone {
            shared.counters.dropped(Dropped::UnknownAgent);
        }
        for _ in 0..unknown {
            shared.counters.dropped(inbound.unknown_agent(now)?);
        }
        let receivers = usize::try_from(sent.saturating_add(full)).unwrap_or(usize::MAX);
        Ok(receivers.saturating_add(1))
    }

    fn intake(&mut self, group: usize) -> Option<&mut (dyn Intake + 'a)> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != group) {
            let route = self.common.account.routes.get(group)?;
            self.open = Some((group, route.intake()));
        }
        self.open.as_mut().map(|(_, intake)| &mut **intake)
    }
}
