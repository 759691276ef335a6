//! The 1982 protocol exactly as the notes known as *Bully* describe it, with its faults.
//!
//! Nodes have ids 1 to n; the score of an agent is its id. In the notes no node recovers ("a scenario where the failure
//! node won't be recovered").

use std::{convert::Infallible, fmt, sync::Arc, time::Duration};

use actix_bully::protocol::{AgentId, MemberKind, Role, Score, Term, Time};
use bully_core::protocol::{
    EffectsOf, Election, Identity, Input, InputOf, Member, Members, MembershipError, MinimumRole,
    PeerMessage, Requirements, Rules, To, View,
};

/// The time T of the notes.
const DEADLINE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Note {
    /// "A node contacts all nodes whose ids are higher."
    Contact,
    /// "Any of the nodes responds."
    Response,
    Halt,
    /// "I am elected."
    Elected,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

impl PeerMessage for Note {
    fn kind(&self) -> &'static str {
        match self {
            Self::Contact => "contact",
            Self::Response => "response",
            Self::Halt => "halt",
            Self::Elected => "I am elected",
        }
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Leader
    }
}

/// The status of a node. The notes name no others.
pub(crate) const ELECTION: &str = "election";
pub(crate) const REORGANIZATION: &str = "reorganization";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// "All higher priority nodes do not respond after T seconds."
    Contact,
    /// "After some time no response from some nodes: restarts from A."
    Announcement,
    /// "Once all nodes are in a known state."
    Halted,
}

#[derive(Debug)]
pub(crate) struct Noted {
    me: Identity,
    members: Arc<Members>,
    pub(crate) status: &'static str,
    pub(crate) coordinator: Option<AgentId>,
    halter: Option<AgentId>,
}

impl Noted {
    fn ids(&self, wanted: impl Fn(Score, Score) -> bool) -> Arc<[AgentId]> {
        let Some(mine) = self.me.score else {
            return [].into();
        };
        let fits = |m: &&Member| m.id != self.me.id && m.score.is_some_and(|s| wanted(s, mine));
        self.members
            .iter()
            .filter(fits)
            .map(|m| m.id.clone())
            .collect()
    }

    fn tell(&self, wanted: impl Fn(Score, Score) -> bool, note: Note, out: &mut EffectsOf<Self>) {
        let ids = self.ids(wanted);
        if !ids.is_empty() {
            out.send_to(To::Set(ids), note);
        }
    }

    /// Sends part 1: "all nodes (j) whose ids are higher than its own (i < j < n)".
    fn contact(&self, out: &mut EffectsOf<Self>) {
        let n = i64::try_from(self.members.len()).unwrap_or(i64::MAX);
        self.tell(|j, i| i < j && j < Score::from(n), Note::Contact, out);
        out.set_timer(Timer::Contact, DEADLINE);
    }

    /// Sends part 2: "sends Halt to lower priority node k".
    fn halt(&self, out: &mut EffectsOf<Self>) {
        self.tell(|k, i| k < i, Note::Halt, out);
        out.set_timer(Timer::Halted, DEADLINE);
    }

    fn announce(&mut self, out: &mut EffectsOf<Self>) {
        self.tell(|k, i| k < i, Note::Elected, out);
        self.status = REORGANIZATION;
        self.coordinator = Some(self.me.id.clone());
    }
}

impl Election for Noted {
    type Message = Note;
    type Timer = Timer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = ();
    type Config = ();

    fn new(me: Identity, (): &(), _: Option<()>) -> Self {
        Self {
            me,
            members: Arc::new(Members::default()),
            status: ELECTION,
            coordinator: None,
            halter: None,
        }
    }

    fn requirements(
        (): &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements::new(Rules::new("the notes of 1982")))
    }

    fn handle(&mut self, _: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        match input {
            Input::Start(members) => {
                self.members = members;
                self.contact(out);
            }
            Input::Received { from, message, .. } => match message {
                Note::Contact => out.send(&from, Note::Response),
                Note::Response => {
                    out.cancel_timer(Timer::Contact);
                    out.set_timer(Timer::Announcement, DEADLINE * 3);
                }
                Note::Halt => {
                    for timer in [Timer::Contact, Timer::Announcement, Timer::Halted] {
                        out.cancel_timer(timer);
                    }
                    self.status = ELECTION;
                    (self.halter, self.coordinator) = (Some(from), None);
                }
                Note::Elected if self.halter.as_ref() == Some(&from) => {
                    self.status = REORGANIZATION;
                    self.coordinator = Some(from);
                }
                Note::Elected => {}
            },
            Input::TimedOut(Timer::Contact) => self.halt(out),
            Input::Campaign | Input::TimedOut(Timer::Announcement) => self.contact(out),
            Input::TimedOut(Timer::Halted) => self.announce(out),
            Input::Members(_)
            | Input::SetScore(_)
            | Input::StepDown { .. }
            | Input::Drained
            | Input::ChangeVoters(_) => {}
        }
    }

    /// Shows no leader: the notes end before the work begins.
    fn view(&self, _: Time) -> View {
        View {
            about: None,
            role: Role::Follower,
            term: Term::ZERO,
            leader: None,
            leading: None,
            valid_until: Time::MAX,
        }
    }
}
