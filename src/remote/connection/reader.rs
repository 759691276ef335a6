//! Reads a link: bytes in, members and letters of groups out.
//!
//! Decided here: what is done about each verdict of [`Inbound`], and how long the other side may be
//! silent. All frames of a chunk are handled in one go, up to a turn's work;
//! then the agents get their turn.

use std::{pin::pin, rc::Rc};

use actix::clock::{Instant, sleep_until};
use futures::future::{Either, select};
use tokio::{
    io::{AsyncReadExt, ReadHalf},
    task::yield_now,
};

use tracing::warn;

use crate::{
    protocol::{AgentId, Member, Presence, Time},
    remote::{
        Closed, GroupRules, Inbound, News, Standing, Verdict,
        event::BridgeEvent,
        status::Meter,
        transport::Stream,
        wire::{self, Frames},
    },
};

use super::{letters::Letters, link::Common};

pub(super) struct Reader {
    common: Rc<Common>,
    stream: ReadHalf<Box<dyn Stream>>,
    frames: Frames,
    inbound: Inbound,
}

impl Reader {
    pub(super) fn new(
        common: Rc<Common>,
        stream: ReadHalf<Box<dyn Stream>>,
        frames: Frames,
    ) -> Self {
        let now = common.shared.now();
        let inbound = Inbound::new(&common.link, &common.shared.limits, now);
        Self {
            common,
            stream,
            frames,
            inbound,
        }
    }

    pub(super) fn into_inner(self) -> ReadHalf<Box<dyn Stream>> {
        self.stream
    }

    /// Reads until the link ends; says why.
    pub(super) async fn run(&mut self) -> Closed {
        loop {
            match self.judge() {
                Ok(Turn::Idle) => {}
                Ok(Turn::Done) => yield_now().await,
                Ok(Turn::Full) => {
                    yield_now().await;
                    continue;
                }
                Err(why) => return why,
            }
            if let Err(why) = self.read().await {
                return why;
            }
        }
    }

    /// Waits for bytes, for as long as the other side may take.
    async fn read(&mut self) -> Result<(), Closed> {
        let common = Rc::clone(&self.common);
        let shared = &common.shared;
        let silent = common.heard.get().after(shared.limits.silence());
        let (until, late) = match self.frames.deadline() {
            Some(whole) if whole < silent => (whole, Closed::FrameTimeout),
            Some(_) | None => (silent, Closed::Silent),
        };
        let until: Instant = shared.instant(until);
        let reading = pin!(self.stream.read_buf(self.frames.room()));
        let read = match select(reading, pin!(sleep_until(until))).await {
            Either::Left((read, _)) => read,
            Either::Right(_) => return Err(late),
        };
        let Ok(bytes @ 1..) = read else {
            return Err(Closed::Lost);
        };
        let now = shared.now();
        common.heard.set(now);
        Meter::add(&shared.meter.bytes_in, bytes);
        self.inbound.took(now, bytes)
    }

    /// Handles the frames that are whole, but no more than a turn's work.
    fn judge(&mut self) -> Result<Turn, Closed> {
        let common = Rc::clone(&self.common);
        let shared = &common.shared;
        let mut work: usize = 0;
        while work < MOST_WORK {
            let now = shared.now();
            let Some(body) = self.frames.next(now)? else {
                return Ok(if work == 0 { Turn::Idle } else { Turn::Done });
            };
            Meter::add(&shared.meter.frames_in, 1);
            let mut opened = None;
            let verdict = self.inbound.frame(now, body, |opening| {
                let standing = shared.standing(opening);
                opened = Some((standing, opening.name.to_owned(), opening.into()));
                standing
            })?;
            if let Some((standing, name, theirs)) = opened {
                common.opened(standing, &name, theirs);
            }
            match verdict {
                Verdict::News(news) => {
                    let named = news.members.len().saturating_add(news.left.len());
                    work = work.saturating_add(named).saturating_add(NEWS);
                    common.news(news)?;
                }
                Verdict::Drop(why) => {
                    shared.counters.dropped(why);
                }
                Verdict::Letters(more) => {
                    common.all_told();
                    let more = Self::letters(&common, &mut self.inbound, now, more)?;
                    work = work.saturating_add(more);
                }
                Verdict::Answer(token) => {
                    common.all_told();
                    common.answer(token);
                }
                Verdict::Answered(token) => {
                    common.all_told();
                    common.answered(token);
                }
            }
        }
        Ok(Turn::Full)
    }

    fn letters(
        common: &Common,
        inbound: &mut Inbound,
        now: Time,
        mut letters: wire::Letters<'_>,
    ) -> Result<usize, Closed> {
        let mut count: usize = 0;
        let mut taken = Letters::new(common);
        while let Some(letter) = letters.read_next()? {
            count = count.saturating_add(1);
            taken.take(inbound, now, &letter)?;
        }
        Meter::add(&common.shared.meter.letters_in, count);
        Ok(count)
    }
}

/// What a turn of the reader came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Nothing that the agents have to look at.
    Idle,
    /// All that has arrived is handled.
    Done,
    /// More has arrived than fits in one turn.
    Full,
}

impl Common {
    /// The other side begins a group anew.
    fn opened(&self, standing: Standing, name: &str, theirs: GroupRules) {
        let shared = &self.shared;
        let at = shared.carried.iter().position(|c| c.name() == name);
        let Some(group) = at else {
            return;
        };
        self.has_opened.set(true);
        if let Some(side) = self.groups.get(group) {
            side.theirs.borrow_mut().clear();
            let is_carried = matches!(standing, Standing::Carried(_));
            *side.rules.borrow_mut() = is_carried.then(|| theirs.clone());
        }
        let mine = shared.carried.get(group).and_then(|c| c.rules());
        if let (Standing::Mismatch, Some(mine)) = (standing, mine) {
            self.account.books().remove(group);
            let (node, mine) = (self.link.peer.clone(), GroupRules::from(mine));
            warn!(peer = %node, group = name, %theirs, %mine, "peer follows other rules in a group");
            if let Ok(group) = AgentId::new(name) {
                shared.events.tell(BridgeEvent::Mismatch {
                    node,
                    group,
                    theirs,
                    mine,
                });
            }
        }
    }

    /// Something changed among the agents there.
    fn news(&self, news: News) -> Result<(), Closed> {
        let shared = &self.shared;
        let group = news.group;
        if let Some(leader) = &news.leader {
            shared.admit(group, leader.term)?;
        }
        if let Some(side) = self.groups.get(group) {
            let mut theirs = side.theirs.borrow_mut();
            for (_, id) in &news.left {
                theirs.remove(id);
            }
            let named = news.members.iter();
            theirs.extend(named.map(|(number, member)| (member.id.clone(), *number)));
        }
        let has_ended = |(_, member): &(u32, Member)| member.presence == Presence::Down;
        let is_name_free = !news.left.is_empty() || news.members.iter().any(has_ended);
        let refused = self.account.books().apply(self.link.link, news);
        for agent in refused {
            shared.name_taken(&self.link.peer, group, agent);
        }
        if is_name_free {
            shared.retry(group);
        }
        Ok(())
    }

    /// After its rosters comes something else: now the other side has told everything.
    fn all_told(&self) {
        if self.has_opened.replace(false) {
            self.account.books().sweep(self.link.link);
            self.shared.retry_all();
        }
        if !self.is_told.replace(true) {
            self.outbox.ring();
        }
    }

    fn answer(&self, token: u64) {
        let mut answers = self.answers.borrow_mut();
        if answers.len() >= MOST_ANSWERS {
            answers.pop_front(); // whoever asks that often needs no answer to each
        }
        answers.push_back(token);
        self.outbox.ring();
    }

    fn answered(&self, token: u64) {
        let asked = self.asked.get();
        if let Some((_, since)) = asked.filter(|(asked, _)| *asked == token) {
            self.asked.set(None);
            let took = self.shared.now().since(since).as_nanos();
            let took = u64::try_from(took).unwrap_or(u64::MAX);
            let longest = &self.shared.meter.echo_nanos;
            longest.fetch_max(took, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

/// So much is handled before the agents get their turn: a letter counts one, and so does an agent that
/// a roster names.
const MOST_WORK: usize = 2_048;
/// What a roster counts beside: the group is told, and whoever looks next has all of it merged.
const NEWS: usize = 256;
/// So many answers to PINGs wait at most.
const MOST_ANSWERS: usize = 8;
