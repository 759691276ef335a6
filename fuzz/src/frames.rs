//! A stream of bytes on a ready link: it is divided into frames, which are checked.
//!
//! The first byte chooses the pieces in which the stream arrives, the second the rights of the peer.

use actix_bully::{
    elections::AnyMessage,
    protocol::Time,
    remote::{
        Limits, MayBe, Rights,
        internals::{
            FrameVerdict, GroupStanding, Inbound, TermGuard,
            wire::{Frame, Frames, decode_payload},
        },
    },
};

use crate::again;

/// Reads until the end of the bytes or of the link.
pub fn check(data: &[u8]) {
    let [piece, rights, stream @ ..] = data else {
        return;
    };
    let limits = Limits::default();
    let mut link = Link::new(*rights, &limits);
    let mut frames = Frames::new(&limits);
    frames.raise(&limits);
    for (bytes, at) in stream.chunks(usize::from(*piece).max(1)).zip(0..) {
        let now = Time::from_millis(at);
        frames.feed(bytes);
        assert!(frames.capacity() <= limits.frame() + 4 + Limits::READ_AHEAD);
        if link.inbound.took(now, bytes.len()).is_err() {
            return;
        }
        loop {
            match frames.next(now) {
                Err(_) => return,
                Ok(None) => break,
                Ok(Some(body)) => {
                    if link.judge(now, body).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

struct Link {
    inbound: Inbound,
    limits: Limits,
    guard: TermGuard,
}

impl Link {
    fn new(rights: u8, limits: &Limits) -> Self {
        let rights = match rights % 3 {
            0 => Rights::all(),
            1 => Rights::none().grant("g*", "a*", MayBe::Voter),
            _ => Rights::none(),
        };
        Self {
            inbound: Inbound::new(rights, limits, Time::ZERO),
            limits: *limits,
            guard: TermGuard::new(),
        }
    }

    fn judge(&mut self, now: Time, body: &[u8]) -> Result<(), &'static str> {
        if let Ok(frame) = Frame::decode(body, self.limits.bounds()) {
            again::compare(body, frame);
        }
        let inbound = &mut self.inbound;
        let verdict = inbound.frame(now, body, |opening| match opening.name {
            "g" | "shop" => GroupStanding::Carried(usize::from(opening.name == "g")),
            "m" => GroupStanding::Mismatch,
            _ => GroupStanding::Unknown,
        })?;
        match verdict {
            FrameVerdict::Roster(change) => {
                assert!(change.members.len() + change.left.len() <= 2 * self.limits.items());
                assert!(change.left.is_empty() || !change.is_opening);
                if let Some(leader) = change.leader {
                    self.guard.admit(leader.term).map_err(|_| "term")?;
                }
            }
            FrameVerdict::Messages(messages) => {
                for message in messages {
                    let message = message.map_err(|_| "malformed")?;
                    if let Ok(passed) = inbound.sender(now, &message)? {
                        assert!(passed.group <= 1);
                        let bounds = self.limits.bounds();
                        let message = decode_payload(message.payload, bounds);
                        let message: AnyMessage = message.map_err(|_| "malformed")?;
                        self.guard.admit(message.term()).map_err(|_| "term")?;
                    }
                }
            }
            FrameVerdict::Answer(_)
            | FrameVerdict::Answered(_)
            | FrameVerdict::Twin
            | FrameVerdict::Drop(_) => {}
        }
        assert!(self.guard.highest() <= Some(TermGuard::LAST));
        Ok(())
    }
}
