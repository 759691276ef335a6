//! Writes a link: all messages and changes that wait in one turn, in one write.
//!
//! Decided here: the order within a turn (agents that came, then waiting messages, then agents that left), and the
//! longest time of a write. The writer is never faster than the other side allows ([`WritePace`]). Messages wait until
//! the other side has announced its agents, because messages contain the other side's numbers of these agents.

use std::{
    future::poll_fn, iter::Peekable, mem, pin::pin, rc::Rc, sync::atomic::Ordering::Relaxed,
};

use actix::clock::{sleep, sleep_until, timeout};
use bytes::BytesMut;
use futures::{
    FutureExt,
    future::{Either, select},
};
use tokio::{
    io::{AsyncWriteExt, WriteHalf},
    sync::oneshot,
};

use crate::protocol::{Member, Requirements};
use crate::remote::{
    Closed, DropReason,
    bridge::{shared::lock, status::Traffic},
    carry::{Batch, Queued, RosterUpdate, places_to_spare},
    link::pace::WritePace,
    transport::Stream,
    wire::{
        MessagesWriter, Opening, RosterContent, RosterFrame, encode_ping, encode_pong, encode_twin,
    },
};

use super::{
    common::{Common, JudgedOpening},
    numbers::Numbering,
};

pub(super) struct LinkWriter {
    common: Rc<Common>,
    stream: WriteHalf<Box<dyn Stream>>,
    close_request: Option<oneshot::Receiver<Closed>>,
    /// The number of the last frame.
    seq: u64,
    out: BytesMut,
    pace: WritePace,
    /// Frames and messages in `out`.
    frames: usize,
    messages: usize,
    tokens: u64,
    numbers: Vec<u32>,
    /// An empty batch for messages that arrive while other messages are written.
    spare: Batch,
}

impl LinkWriter {
    pub(super) fn new(
        common: Rc<Common>,
        stream: WriteHalf<Box<dyn Stream>>,
        close_request: oneshot::Receiver<Closed>,
    ) -> Self {
        let shared = &common.shared;
        let pace = WritePace::new(&shared.limits, common.link.allowance, shared.now());
        Self {
            common,
            stream,
            close_request: Some(close_request),
            seq: 0,
            out: BytesMut::with_capacity(CHUNK),
            pace,
            frames: 0,
            messages: 0,
            tokens: 0,
            numbers: Vec::new(),
            spare: Batch::default(),
        }
    }

    pub(super) fn into_inner(self) -> WriteHalf<Box<dyn Stream>> {
        self.stream
    }

    pub(super) async fn run(&mut self) -> Closed {
        match self.try_run().await {
            Ok(why) | Err(why) => why,
        }
    }

    async fn try_run(&mut self) -> Result<Closed, Closed> {
        let (common, link) = (&self.common, &self.common.link);
        // The queue is limited first: the peer must be able to take the queued messages of this link in time.
        common.outbox.keep_to(&common.shared.limits, link.allowance);
        common.outbox.link(link.link);
        self.turn().await?;
        self.ping(); // shows that all rosters have been sent
        self.flush().await?;
        loop {
            match self.wait().await {
                Wake::Notified => {
                    // A side that sends much also has to ask with a PING whether its peer is present, because the peer
                    // may have nothing to send.
                    if self.common.is_to_ask() {
                        self.ping();
                    }
                    self.turn().await?;
                }
                Wake::Quiet => {
                    self.ping();
                    self.flush().await?;
                }
                Wake::Asked(why) => {
                    // The last messages of the agents, and the ends of the agents, are sent before the goodbye.
                    self.turn().await?;
                    return Ok(why);
                }
            }
        }
    }

    async fn wait(&mut self) -> Wake {
        let common = Rc::clone(&self.common);
        loop {
            let woken = pin!(common.outbox.woken());
            let quiet = pin!(common.idle());
            let idle = select(woken, quiet);
            let woken = match &mut self.close_request {
                Some(close_request) => match select(close_request, idle).await {
                    Either::Left((Ok(why), _)) => return Wake::Asked(why),
                    Either::Left((Err(_), idle)) => {
                        // The actor that could order a close has ended. This does not end the link here. The channel of
                        // the order has answered, and must not be polled again.
                        self.close_request = None;
                        idle.await
                    }
                    Either::Right((woken, _)) => woken,
                },
                None => idle.await,
            };
            match woken {
                Either::Left(_) => return Wake::Notified,
                Either::Right(_) if self.common.is_to_ask() => return Wake::Quiet,
                Either::Right(_) => {} // the peer has sent something, or the link needs another check
            }
        }
    }

    /// Writes in one turn all messages and changes that wait.
    async fn turn(&mut self) -> Result<(), Closed> {
        let common = Rc::clone(&self.common);
        // Messages are taken before members are read, so that the sender of each message is, or was, a member.
        let outbox = &common.outbox;
        let spare = mem::take(&mut self.spare);
        let messages = if common.is_told.get() {
            outbox.take(common.link.link, spare)
        } else {
            // A peer that never announces its agents is slow as well: the waiting messages grow old.
            outbox.check().map(|()| spare)
        };
        let mut messages = messages.map_err(|_| Closed::SlowPeer)?;
        let after = self.announce(&messages)?;
        {
            let mut rest = messages.iter().peekable();
            while rest.peek().is_some() {
                self.messages(&mut rest);
                // A backlog is written in pieces, so that memory never holds all of it twice.
                if self.out.len() >= CHUNK {
                    self.flush().await?;
                }
            }
        }
        messages.clear();
        self.spare = messages;
        for _ in 0..outbox.take_refused() {
            common
                .shared
                .counters
                .count(DropReason::TooMuchForPeer.name());
        }
        for (group, content) in after {
            self.roster(group, None, &content);
            if let Some(side) = common.groups.get(group) {
                // The numbers of the agents that left are forgotten only now, because a `Resign` among the messages
                // above may contain such a number.
                side.told.borrow_mut().forget_left();
            }
        }
        if outbox.take_twin() {
            self.seq = self.seq.saturating_add(1);
            encode_twin(self.seq, &mut self.out);
            self.frames = self.frames.saturating_add(1);
        }
        // The answers come last, because a frame other than a roster shows that all rosters have been sent.
        for token in common.answers.borrow_mut().drain(..) {
            self.seq = self.seq.saturating_add(1);
            encode_pong(self.seq, token, &mut self.out);
            self.frames = self.frames.saturating_add(1);
        }
        self.flush().await
    }

    /// Writes the agents that came. Returns the agents that left.
    ///
    /// # Errors
    /// [`Closed::Lost`] if the group was judged by former rules of this side: the next link judges it anew.
    /// [`Closed::PeerLimit`] if the announcement would exceed the limits of the peer.
    fn announce(&mut self, messages: &Batch) -> Result<Vec<(usize, RosterContent)>, Closed> {
        let common = Rc::clone(&self.common);
        let mut after = Vec::new();
        for (group, side) in common.groups.iter().enumerate() {
            // The mark is cleared before the members are read: a change in between is announced in the next turn.
            if !side.is_dirty.swap(false, Relaxed) {
                continue;
            }
            let local = (side.look)();
            let mine = local.requirements.clone();
            let here = mine.as_ref().filter(|_| !local.members.is_empty());
            side.leaders.set(here.map(|mine| mine.leaders));
            let votes = local.members.iter().any(Member::is_voter);
            let spare = places_to_spare(self.common.link.allowance.agents, self.places());
            let RosterUpdate {
                opens,
                before,
                after: went,
            } = side.told.borrow_mut().update(local, spare, |member| {
                let mut waiting = messages.iter().map(|(message, _)| message);
                waiting.any(|message| message.is_of(group, member))
            });
            if let Some(mine) = &opens {
                let opened = side.opened.borrow();
                let is_judged_otherwise =
                    |opened: &JudgedOpening| opened.theirs.meet(mine) != opened.is_carried;
                if opened.as_ref().is_some_and(is_judged_otherwise) {
                    // Rules are compared when a group is opened: the next link opens the group anew.
                    return Err(Closed::Lost);
                }
            }
            // The guard is informed even if no agent is announced: while no agent ran here, the guard counted terms by
            // the rules of the peers, and now it has to count by the rules of the agents here.
            if let Some(mine) = &mine {
                common.shared.follow(group, mine, votes);
            }
            self.keeps_to_the_peers_limits(group)?;
            self.roster(group, opens, &before);
            if !went.left.is_empty() {
                // An agent of another node may have been refused because an agent here had its name.
                common.shared.retry(group);
            }
            after.push((group, went));
        }
        Ok(after)
    }

    /// Checks the peer's limits before the announcement. The peer would close the link without a detail; this side
    /// knows by how much the limits are exceeded, and has advice.
    fn keeps_to_the_peers_limits(&self, group: usize) -> Result<(), Closed> {
        let theirs = self.common.link.allowance;
        let is_within = group < theirs.groups && self.places() <= theirs.agents;
        is_within.then_some(()).ok_or(Closed::PeerLimit)
    }

    /// Returns the number of slots that the peer keeps for agents of this process, in all groups.
    fn places(&self) -> usize {
        let sides = self.common.groups.iter();
        let told = sides.map(|side| side.told.borrow().places());
        told.fold(0, usize::saturating_add)
    }

    fn roster(&mut self, group: usize, opens: Option<Requirements>, content: &RosterContent) {
        let common = Rc::clone(&self.common);
        let Some(carried) = common.shared.carried.get(group) else {
            return;
        };
        let Ok(number) = u32::try_from(group) else {
            return;
        };
        let room = self.frame().saturating_sub(RosterFrame::MAX_REST);
        let most = room.checked_div(RosterFrame::MAX_MEMBER).unwrap_or(1);
        let mut opening = opens.map(|mine| Opening {
            name: carried.name(),
            rules: mine.rules.name(),
            epoch: mine.epoch,
            voters: mine.voters,
            pace: carried.pace(),
        });
        let mut pieces = RosterUpdate::pieces(
            content,
            most.min(RosterFrame::MAX_MEMBERS).min(self.items()),
        );
        // A group without agents is announced as well: the peer has to learn the rules, and which agents have left.
        if pieces.is_empty() && opening.is_some() {
            pieces.push(RosterContent::default());
        }
        for piece in pieces {
            self.seq = self.seq.saturating_add(1);
            RosterFrame::encode(self.seq, number, opening.take(), &piece, &mut self.out);
            self.frames = self.frames.saturating_add(1);
            common.talked.set(common.shared.now()); // after a roster, a broken link must be found soon
        }
    }

    /// Writes one frame of messages, as many as fit.
    fn messages<'a>(
        &mut self,
        messages: &mut Peekable<impl Iterator<Item = (&'a Queued, &'a [u8])>>,
    ) {
        let (frame, most) = (self.frame(), MESSAGES.min(self.items()));
        let outbox = &self.common.outbox;
        let seq = self.seq.saturating_add(1);
        let mut writer = MessagesWriter::begin(seq, &mut self.out);
        let mut numbers = Numbering::new(&self.common, &mut self.numbers);
        while let Some((message, payload)) = messages.peek() {
            let before = writer.position();
            // The message is written before its length is checked, because the length depends on the numbers in it.
            if !numbers.put(&mut writer, message, payload) {
                outbox.count_lost(1);
            } else if writer.len() > frame || writer.count() > most {
                writer.take_back(before);
                if !writer.is_empty() {
                    break; // the next frame begins with this message
                }
                outbox.count_refused(); // the message is longer than any frame
            }
            messages.next();
        }
        let count = writer.count();
        if writer.end() {
            self.seq = seq;
            self.frames = self.frames.saturating_add(1);
            self.messages = self.messages.saturating_add(count);
            self.common.talked.set(self.common.shared.now());
        }
    }

    /// Returns the largest number of entries of one array that both sides allow.
    fn items(&self) -> usize {
        let theirs = self.common.link.allowance.bounds.items;
        theirs.min(self.common.shared.limits.items())
    }

    /// Returns the longest frame that both sides allow.
    fn frame(&self) -> usize {
        self.common
            .link
            .frame
            .min(self.common.shared.limits.frame())
    }

    fn ping(&mut self) {
        self.seq = self.seq.saturating_add(1);
        self.tokens = self.tokens.wrapping_add(1);
        let now = self.common.shared.now();
        self.common.asked.set(Some((self.tokens, now)));
        self.common.measured.set(now);
        encode_ping(self.seq, self.tokens, &mut self.out);
        self.frames = self.frames.saturating_add(1);
    }

    /// Writes the buffer at its pace, and within the time limit of a write.
    async fn flush(&mut self) -> Result<(), Closed> {
        if self.out.is_empty() {
            return Ok(());
        }
        let common = Rc::clone(&self.common);
        let shared = &common.shared;
        let wait = self.pace.take(shared.now(), self.out.len());
        if !wait.is_zero() {
            sleep(wait).await;
        }
        let limit = shared.limits.write_time();
        let writing = async {
            self.stream.write_all(&self.out).await?;
            self.stream.flush().await
        };
        let mut writing = pin!(timeout(limit, writing));
        // Most writes complete at once: they are not a stall, and take no lock of the queue.
        let written = if let Some(written) = writing.as_mut().now_or_never() {
            written
        } else {
            let _stall = common.outbox.stall();
            match select(writing, pin!(common.outbox.overrun())).await {
                Either::Left((written, _)) => written,
                // The queue has given up the peer, and dropped the waiting messages.
                Either::Right(_) => return Err(Closed::SlowPeer),
            }
        };
        match written {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(Closed::Lost),
            Err(_) => return Err(Closed::SlowPeer),
        }
        let mut traffic = lock(&shared.traffic);
        Traffic::add(&mut traffic.bytes_out, self.out.len());
        Traffic::add(&mut traffic.frames_out, self.frames);
        Traffic::add(&mut traffic.messages_out, self.messages);
        Traffic::add(&mut traffic.writes, 1);
        drop(traffic);
        (self.frames, self.messages) = (0, 0);
        self.out.clear();
        Ok(())
    }
}

impl Common {
    /// Waits until the link has to be checked, if nothing happens before.
    ///
    /// Reader and writer are one task: whenever it runs, a received frame may have moved the check to a later time. A
    /// fixed timer would wake the task without need, once after each heartbeat that was answered.
    async fn idle(&self) {
        let mut armed = self.watch();
        let mut sleep = pin!(sleep_until(self.shared.instant(armed)));
        poll_fn(|task| {
            let due = self.looks_at();
            if due > armed {
                armed = due;
                sleep.set(sleep_until(self.shared.instant(due)));
            }
            sleep.as_mut().poll(task)
        })
        .await;
    }
}

/// The reason why the writer woke up.
enum Wake {
    /// A message or a change waits.
    Notified,
    /// Nothing was received for a while.
    Quiet,
    /// The link is to be closed.
    Asked(Closed),
}

/// Largest number of messages in one frame.
const MESSAGES: usize = 1_024;

/// Approximate number of bytes in one write.
const CHUNK: usize = 64 * 1024;
