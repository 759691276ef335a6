//! Messages by the numbers that the two sides of a link gave their agents.
//!
//! Decided here: if two messages in a row have the same sender or receiver, the number of this agent is looked up once.
//! A message to more agents than the peer accepts in one array is sent in parts. The lookups are valid for one frame:
//! between two frames, agents may come and go.

use crate::{
    protocol::AgentId,
    remote::{
        carry::{Queued, Receivers},
        wire::{MessagesWriter, Targets},
    },
};

use super::common::{Common, GroupSide};

/// Writes the messages of one frame.
pub(super) struct Numbering<'a, 'b> {
    common: &'a Common,
    /// Buffer for the receivers of one message.
    several: &'a mut Vec<u32>,
    /// Largest number of receivers of one message that the peer accepts.
    most: usize,
    from: Memo<'b>,
    to: Memo<'b>,
}

/// The result of the last lookup: the group, the agent and its number.
type Memo<'b> = Option<(u32, &'b AgentId, u32)>;

impl<'a, 'b> Numbering<'a, 'b> {
    pub(super) const fn new(common: &'a Common, several: &'a mut Vec<u32>) -> Self {
        Self {
            most: common.link.allowance.bounds.items,
            common,
            several,
            from: None,
            to: None,
        }
    }

    /// Appends one message. Returns `false` if the other side does not know its sender, or knows none of its
    /// receivers.
    pub(super) fn put(
        &mut self,
        writer: &mut MessagesWriter<'_>,
        message: &'b Queued,
        payload: &[u8],
    ) -> bool {
        let group = usize::try_from(message.group).unwrap_or(usize::MAX);
        let Some(side) = self.common.groups.get(group) else {
            return false;
        };
        let look = |id: &AgentId| side.told.borrow().number(id);
        let Some(from) = known(&mut self.from, message.group, &message.from, look) else {
            return false;
        };
        let mut put = |to| writer.push(message.group, from, message.incarnation, to, payload);
        match &message.to {
            Receivers::All => put(Targets::All),
            Receivers::One(id) => {
                let look = |id: &AgentId| side.theirs.borrow().get(id).copied();
                let Some(one) = known(&mut self.to, message.group, id, look) else {
                    return false;
                };
                put(Targets::Some(&[one]));
            }
            Receivers::Several(several) => {
                let most = self.most.max(1);
                let several = self.several(side, several);
                several
                    .chunks(most)
                    .for_each(|some| put(Targets::Some(some)));
                return !several.is_empty();
            }
        }
        true
    }

    fn several(&mut self, side: &GroupSide, several: &[AgentId]) -> &[u32] {
        let theirs = side.theirs.borrow();
        self.several.clear();
        self.several
            .extend(several.iter().filter_map(|id| theirs.get(id)));
        // The wire format allows only this order: a peer refuses any other order as malformed.
        self.several.sort_unstable();
        self.several
    }
}

fn known<'b>(
    memo: &mut Memo<'b>,
    group: u32,
    id: &'b AgentId,
    look: impl FnOnce(&AgentId) -> Option<u32>,
) -> Option<u32> {
    if let Some((same, known, number)) = *memo
        && same == group
        && known == id
    {
        return Some(number);
    }
    let number = look(id)?;
    *memo = Some((group, id, number));
    Some(number)
}
