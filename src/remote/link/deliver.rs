//! The messages of one frame, from bytes to the mailboxes here.
//!
//! Decided here: the order of the checks of one message; and that the mailboxes of a group are looked up once for all
//! its messages in a frame. Not here: which agent may send over this link ([`Inbound`]), and whether the message itself
//! is allowed ([`Mailboxes::deliver`]).

use crate::{
    group::Handed,
    protocol::Time,
    remote::{
        Closed, DropReason, Inbound,
        bridge::{shared::lock, status::Traffic},
        carry::{Mailboxes, NamedReceivers},
        wire::Messages,
    },
};

use super::{common::Common, read::WorkTurn};

impl Common {
    /// Delivers the messages of one frame. Counts dropped messages by their reason.
    pub(super) async fn deliver(
        &self,
        inbound: &mut Inbound,
        now: Time,
        messages: Messages<'_>,
        turn: &mut WorkTurn,
    ) -> Result<(), Closed> {
        let (shared, mut count) = (&self.shared, 0_usize);
        // The messages of most frames belong to one group, so its mailboxes are looked up once.
        let mut open: Option<(usize, Box<dyn Mailboxes + '_>)> = None;
        for message in messages {
            let message = message?;
            count = count.saturating_add(1);
            turn.read(message.payload.len());
            match inbound.sender(now, &message)? {
                Err(why) => shared.counters.count(why.name()),
                Ok(sender) => {
                    let group = sender.group;
                    if open.as_ref().is_none_or(|(opened, _)| *opened != group) {
                        open = self.mailboxes(group).map(|found| (group, found));
                    }
                    let (Some((_, mailboxes)), Some(side)) = (&mut open, self.groups.get(group))
                    else {
                        continue;
                    };
                    // This borrow ends before the task yields, because the writer changes the value while this task
                    // waits.
                    let told = side.told.borrow();
                    let to = told.named(message.to);
                    let delivered = mailboxes.deliver(&sender, to.receivers(), message.payload)?;
                    if mailboxes.take_beat() {
                        self.beat.set(Some(now));
                        shared.leaders.beat(group, now);
                    }
                    let NamedReceivers { gone, unknown, .. } = to;
                    let Handed { sent, full } = delivered.unwrap_or_else(|why| {
                        self.dropped(group, why);
                        Handed::default()
                    });
                    // Each receiver counts as work, even if its mailbox had no room.
                    turn.add(usize::try_from(sent.saturating_add(full)).unwrap_or(usize::MAX));
                    if full > 0 {
                        shared.counters.add(DropReason::MailboxFull.name(), full);
                    }
                    // An honest peer sends messages to an agent that has left until it learns of the departure, which
                    // may take long. Such messages are tolerated without a limit.
                    if gone > 0 {
                        let gone = u64::try_from(gone).unwrap_or(u64::MAX);
                        shared.counters.add(DropReason::UnknownAgent.name(), gone);
                    }
                    for _ in 0..unknown {
                        shared.counters.count(inbound.unknown_agent(now)?.name());
                    }
                }
            }
            if turn.is_over() {
                open = None; // while other tasks run, members may come and go
                turn.end().await;
            }
        }
        self.talked.set(now);
        Traffic::add(&mut lock(&shared.traffic).messages_in, count);
        Ok(())
    }

    fn mailboxes(&self, group: usize) -> Option<Box<dyn Mailboxes + '_>> {
        let terms = self.shared.terms(group)?;
        Some(self.peer.routes.get(group)?.mailboxes(terms))
    }
}
