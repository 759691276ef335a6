//! The rules that find gaps in a voter's memory: each name shall have one store and one running incarnation.
//!
//! The election is safe as long as each voter knows its past from its record. A record may be missing (the store was
//! lost, or another store has the old name), or too old (a backup, or a copy of the file). A voter cannot detect a
//! missing or old record by itself.
//!
//! Decided here: the behaviour of a voter while its past is uncertain, and its memory of the other voters.
//!
//! Not here: the messages by which voters ask for that memory (`recall.rs`).
//!
//! | rule | statement | decided in |
//! |---|---|---|
//! | `bound-to-one-incarnation` | A promise, a vote and a raise of the term are for one incarnation. | `voter.rs` |
//! | `abstain-when-late` | A voter that starts with an empty record abstains for the length P of a promise, but only once. This time begins when the voter hears of a later election than the first of its epoch, or is about to hold one. It need not abstain if it has heard or made the claim of the first election before that. | `memory.rs` |
//! | `excused-by-all` | It also need not abstain if all other voters have a store, and have answered that they know no earlier incarnation of it, no other store and no later election. After such an answer, a voter ignores earlier incarnations of that name with another store. | `memory.rs`, `recall.rs` |
//! | `one-store-per-voter` | A voter keeps the store with which each other voter took part in this epoch, and ignores an agent of that name with another store. | `recall.rs` |
//! | `remember-who-took-part` | A voter that receives a vote, a seal, an acknowledgement or an announcement keeps the last incarnation of its sender, and the highest term of these messages. | `recall.rs` |
//! | `incarnation-before-word` | A record contains this incarnation before its first vote, seal or acknowledgement leaves. | `voter.rs` |
//! | `ask-after-start` | A voter that starts asks the others for their memory of it. If a voter has not answered, it asks that voter again when the voter appears or sends a message. A leader adds a heartbeat to its answer. An answer from an earlier epoch counts as lost. If the asker does not abstain, it votes, claims and acknowledges after the first answer, or after a round E. | `memory.rs`, `recall.rs` |
//! | `older-than-remembered` | If another voter remembers a later incarnation or a higher term of this voter than its record contains, the record is an old copy: the agent ends. | `recall.rs` |
//! | `written-within-a-minute` | The memory of the others is written with the next record, after a minute at the latest. | `recall.rs` |
//!
//! Voters without disks have other rules ([`diskless`](super::diskless)). A voter whose store has no id
//! (`TermStore::id`) keeps no memory and asks no voter. With Ql = 1 a lease needs no other voter's
//! promise, so no voter abstains because of a promise that it may have forgotten.
//!
//! # Why an honest voter is never mistaken for an old copy
//! A voter sends a vote, a seal, an acknowledgement or an announcement only when its record contains its incarnation
//! and at least that term (rules `incarnation-before-word`, `persist-before-send`). So a later incarnation starts with
//! a record that is not behind the others' memory of the former ones. The number of crashes and the elections that it
//! missed do not matter: the other voters do not compare its record with the term of the *group*. A claim does not
//! count, because it is sent before its candidate's own vote is durable (`claim-beside-own-vote`).
//!
//! A vote of the present incarnation does not show with which record the incarnation started. So the other voters
//! remember the present incarnation and the former one separately.
//!
//! # Why a voter may be excused
//! Suppose that no other voter remembers an earlier incarnation of a voter. That incarnation may still have sent votes,
//! acknowledgements or seals. None of them elects an agent or extends a lease after the last answer. There are three
//! cases:
//!
//! - The message is of a later term than the first one, and a voter has received it. Then the receiver's own term is
//!   at least as high, and its answer does not excuse the voter.
//! - The message is of a later term, and still on its way. Its receiver has answered, and ignores earlier incarnations
//!   since then (rule `excused-by-all`). If the receiver has restarted, it has forgotten this. But the message answers
//!   the receiver's former incarnation, so the present one does not count it (`bound-to-one-incarnation`).
//! - The message is of the first term. Its receiver may have counted it, and forgotten it by a restart. It supported
//!   the receiver's own leadership, and the restart ended that leadership.
//!
//! An earlier incarnation with the same store has sent no such message: the record would contain it.
//!
//! # Which gaps are closed
//! A second process with a leader's name, with a new store or a copy of the store, gets no vote while promises to the
//! leader hold. The confirmed end of one process does not end a promise to the other. A voter that lost its store
//! does not help to elect a second leader beside the leader that it has forgotten: it abstains, and the voters that
//! know its former store ignore it. An agent whose file was restored from a backup ends, and reports the reason.
//!
//! Not closed: two processes of one voter on two sides of a partition, if the voters of one side never met the other
//! process; a lost store together with a voter that was cut off since the group began, because neither voter knows of
//! any election; a store that was lost after a promise longer than its present P; a restored file, if no reachable
//! voter remembers a later record. A restored file does no more harm than a lost one.

use std::{collections::BTreeMap, time::Duration};

use super::{QuorumConfig, Vote};
use crate::protocol::{AgentId, Incarnation, StoreId, Term, Time};

/// The past of an incarnation, and the part of its memory of other voters that is not in the record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Memory {
    /// The last incarnation that took part, and its term, in the record with which this incarnation began.
    pub(super) began: (Option<Incarnation>, Term),
    /// Whether this voter abstains when it hears of a later election (rule `abstain-when-late`).
    late: Late,
    /// Time until which this voter waits for the first answer to its `Recall` (rule `ask-after-start`).
    pub(super) waits: Option<Time>,
    /// The other voters that have not answered this voter's `Recall`, each with the time of the last question. The time
    /// is `None` if the voter was not asked since it appeared.
    pub(super) open: BTreeMap<AgentId, Option<Time>>,
    /// For each other voter, its earlier incarnations that are not in the record.
    pub(super) former: BTreeMap<AgentId, Former>,
    /// Time since which the durable record lacks a fact that this agent remembers about other voters; `None` if it
    /// lacks no fact.
    pub(super) unwritten: Option<Time>,
    /// The agents whose change to another store this agent has reported, each with the stores of the last report.
    pub(super) told: BTreeMap<AgentId, [StoreId; 2]>,
    /// Whether this agent no longer takes part, because its record is an old copy (rule `older-than-remembered`).
    pub(super) is_over: bool,
}

/// Whether a voter abstains when it hears of a later election than the first election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Late {
    /// The voter does not abstain: its record is of an earlier election, it took part in the first election, it was
    /// excused, or it has abstained already.
    No,
    /// The voter abstains unless all other voters excuse it. No answer has reported an earlier incarnation or a later
    /// election.
    UnlessUnknown,
    Yes,
}

/// Earlier incarnations of another voter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Former {
    /// The last incarnation that took part before the present incarnation, and its highest term.
    pub(super) last: Option<(Incarnation, Term)>,
    /// Set after this agent has answered "I know no earlier incarnation of you": the incarnation that asked, and its
    /// store. After this answer, an earlier incarnation counts only if it has the same store: its number is lower only
    /// because the wall clock was set back (rule `excused-by-all`).
    pub(super) denied_to: Option<(Incarnation, Option<StoreId>)>,
}

impl Memory {
    pub(super) fn new(record: &Vote) -> Self {
        Self {
            began: (record.incarnation, record.term),
            late: Late::No,
            waits: None,
            open: BTreeMap::new(),
            former: BTreeMap::new(),
            unwritten: None,
            told: BTreeMap::new(),
            is_over: false,
        }
    }

    /// Returns whether the record was empty when this incarnation began.
    fn began_empty(&self) -> bool {
        self.began.1 == Term::ZERO
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) const fn note_written(&mut self) {
        self.unwritten = None;
    }

    /// Begins the incarnation. If it does not abstain, it waits for the first answer. `peers` lists the other voters;
    /// `true` means that the voter is up, so that it was asked (rule `ask-after-start`).
    pub(super) fn begin(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        abstains: bool,
        peers: impl Iterator<Item = (AgentId, bool)>,
    ) {
        if config.diskless().is_some() {
            return;
        }
        if self.began_empty() && !abstains {
            self.late = Late::UnlessUnknown;
        }
        let asked = |(id, is_there): (_, bool)| (id, is_there.then_some(now));
        self.open = peers.map(asked).collect();
        let waits = !abstains && !self.open.is_empty();
        self.waits = waits.then(|| now.after(config.timings.round()));
    }

    /// Deletes the memory of the former epoch when a later epoch begins. An incarnation that took no part in the
    /// former epoch may have missed the beginning of this epoch, so it asks each voter from which it hears.
    pub(super) fn forget(&mut self, takes_part: bool, peers: &[AgentId]) {
        self.former.clear();
        self.told.clear();
        self.open.clear();
        if !takes_part {
            // The other voters may remember the former epoch, and this voter has not asked them about it.
            self.late = if self.began_empty() {
                Late::Yes
            } else {
                Late::No
            };
            self.open = peers.iter().map(|id| (id.clone(), None)).collect();
        }
    }

    /// Notes that an election in this term is held now, or was held before. Returns the time until which the voter
    /// abstains if this election makes it abstain (rule `abstain-when-late`).
    pub(super) fn hear_of_election(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        term: Term,
    ) -> Option<Time> {
        if self.late == Late::No || !is_of_later_election(config, term) {
            return None;
        }
        self.late = Late::No;
        (config.lease_quorum() > 1).then(|| now.after(config.timings.promise()))
    }

    /// Excuses this voter if the claimed term is the first term. Before the first term no voter has given a promise
    /// (rule `abstain-when-late`).
    pub(super) fn excuse(&mut self, config: &QuorumConfig, term: Term) {
        if Some(term) == config.term_above(config.first_term()) {
            self.late = Late::No;
        }
    }

    /// Handles another voter's answer to this voter's `Recall`. `seen` is the highest term that the other voter has
    /// seen (rule `excused-by-all`).
    pub(super) fn excuse_if_unknown(
        &mut self,
        config: &QuorumConfig,
        knows_nothing: bool,
        seen: Term,
    ) {
        if self.late != Late::UnlessUnknown {
            return;
        }
        if !knows_nothing || is_of_later_election(config, seen) {
            self.late = Late::Yes;
        } else if self.open.is_empty() {
            self.late = Late::No;
        }
    }

    /// Returns the remaining time for which this voter waits for the first answer (rule `ask-after-start`).
    pub(super) fn awaits(&self, now: Time) -> Duration {
        self.waits.map_or(Duration::ZERO, |until| until.since(now))
    }
}

/// Returns whether a term is above the term of the first election of the epoch.
fn is_of_later_election(config: &QuorumConfig, term: Term) -> bool {
    let first = config.term_above(config.first_term());
    first.is_some_and(|first| term > first)
}
