//! Decides the next operation on a store, and which agents receive its answer. It uses no store, clock or runtime.
//!
//! Decided here: how often the store is read. Only one operation of a group runs at a time, so the last answer shows
//! the newest content. A read answers all agents that asked before it began. A swap that cannot succeed is not sent.
//! Reads and writes have separate back-offs, because reads that succeed prove nothing about writes. A record that is
//! not a lease is not overwritten.
//!
//! Not here: how an announced change is handled (`hearsay.rs`), and how an operation runs (`task.rs`).

use std::collections::{BTreeMap, VecDeque};

use bully_register::entry_of_swap;

use super::{back_off::pause, content::Content};
use crate::{
    elections::lease::{
        Answer, ClaimRecord, LeaseName, LeaseRecord, RecordError, RegisterQuestion, RegisterRecord,
        RegisterShown, Swapped, Version,
    },
    protocol::{AgentId, Time},
    register::{Change, Entry, RegisterError, Swap},
};

/// The facts that one process knows of its group's register, and the operations that the process has to make.
#[derive(Debug)]
pub(super) struct KeeperSchedule {
    pub(super) lease: Content<LeaseRecord>,
    claim: Content<ClaimRecord>,
    /// The agents that wait for the next read, with their questions.
    readers: BTreeMap<AgentId, WaitingReader>,
    swaps: VecDeque<Wanted>,
    pub(super) under_way: OperationUnderWay,
    /// Whether the store has announced a change since the last read began.
    pub(super) is_told: bool,
    pub(super) hearsay: Hearsay,
    /// Time at which the last read began.
    pub(super) read_at: Option<Time>,
    /// Time at which the present operation began, or the last operation if no operation runs now.
    began: Time,
    /// Time at which the last operation began that has shown the lease.
    pub(super) lease_at: Time,
    /// Number of reads in a row that have failed.
    failures: u32,
    /// Time at which the last write began.
    wrote_at: Option<Time>,
    /// Number of writes in a row that have failed. Only a successful write resets it.
    failed_writes: u32,
}

/// The facts known from announced changes (`hearsay.rs`).
#[derive(Debug, Default)]
pub(super) struct Hearsay {
    /// The announced changes of the lease that arrived while an operation was in progress.
    pub(super) told: Vec<Change>,
    /// Whether the lease is known only from an announced change, and no operation has shown it since.
    pub(super) is_only: bool,
    /// The last announced change of the lease that was not shown to the agents: the next read has to show it.
    pub(super) announced: Option<Change>,
    /// An observation that no agent has received yet. The observation comes from a read in which only one of the two
    /// records could be read, or from a swap that found another record than it expected.
    pub(super) untold: UntoldSight,
}

/// An observation that the next read of both records reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UntoldSight {
    /// Whether one of the records differs from the record that the agents know.
    pub(super) is_changed: bool,
    /// Whether other leases may have existed between the known lease and the present lease.
    pub(super) is_broken: bool,
}

#[derive(Debug)]
pub(super) enum OperationUnderWay {
    Nothing,
    Read {
        readers: BTreeMap<AgentId, WaitingReader>,
        /// Whether the read was caused by an announced change.
        is_told: bool,
    },
    Swap {
        by: Asker,
        which: WhichRecord,
        value: Vec<u8>,
    },
}

/// A swap that an agent has requested.
#[derive(Debug)]
struct Wanted {
    by: Asker,
    which: WhichRecord,
    expected: Version,
    value: Vec<u8>,
}

/// The agent that asked, the number of its question, and the time at which the question arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    id: AgentId,
    request: u64,
    heard: Time,
}

/// The question of a waiting agent: its number, and the time at which it arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingReader {
    request: u64,
    heard: Time,
}

/// Selects one of the two records of a group: its lease, or the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhichRecord {
    Lease,
    Claim,
}

/// An operation for the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Read both records.
    Read,
    /// Replace one of the two records.
    Swap {
        which: WhichRecord,
        expected: Option<Entry>,
        value: Vec<u8>,
    },
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextOperation {
    Run(Operation),
    /// An operation has to be run, but not before this time.
    At(Time),
    /// No operation has to be run until an agent asks or the store answers.
    Nothing,
}

/// An answer and its receivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegisterReply {
    /// The answer to one agent's question.
    To(AgentId, RegisterShown),
    /// An answer that no agent asked for, to all agents except the agents in `but`. The operation that showed its
    /// content began at the time `at`.
    ToOthers {
        but: Vec<AgentId>,
        at: Time,
        answer: Answer,
        is_broken: bool,
    },
}

impl KeeperSchedule {
    /// Creates the schedule with the number `number` in this process, for the lease `name`.
    pub(super) fn new(name: &LeaseName, number: u64) -> Self {
        Self {
            lease: Content::new(name, number),
            claim: Content::new(name, number),
            readers: BTreeMap::new(),
            swaps: VecDeque::new(),
            under_way: OperationUnderWay::Nothing,
            is_told: false,
            hearsay: Hearsay::default(),
            read_at: None,
            began: Time::ZERO,
            lease_at: Time::ZERO,
            failures: 0,
            wrote_at: None,
            failed_writes: 0,
        }
    }

    /// Notes an agent's question.
    pub(super) fn hear(
        &mut self,
        now: Time,
        from: AgentId,
        question: RegisterQuestion,
        out: &mut Vec<RegisterReply>,
    ) {
        match question {
            // A new question of an agent replaces its former question, which then needs no answer.
            RegisterQuestion::Read(read) => {
                let (request, heard) = (read.request, now);
                self.readers.insert(from, WaitingReader { request, heard });
            }
            RegisterQuestion::Swap(swap) => {
                let (which, value) = match &swap.record {
                    Swapped::Lease(record) => (WhichRecord::Lease, record.encode()),
                    Swapped::Claim(record) => (WhichRecord::Claim, record.encode()),
                };
                let request = swap.request;
                // Only the newest swap of an agent is written. An earlier swap is dropped without an answer.
                self.swaps
                    .retain(|other| other.by.id != from || other.which != which);
                self.swaps.push_back(Wanted {
                    by: Asker {
                        id: from,
                        request,
                        heard: now,
                    },
                    which,
                    expected: swap.expected,
                    value: value.into_bytes(),
                });
                self.refuse_hopeless(out);
            }
        }
    }

    /// Returns the store's next operation. If the result is [`NextOperation::Run`], the operation has begun.
    pub(super) fn next(&mut self, now: Time) -> NextOperation {
        if !matches!(self.under_way, OperationUnderWay::Nothing) {
            return NextOperation::Nothing;
        }
        let may_write = self.may_write_at(now);
        // Swaps come before reads, because a swap may be a renewal of a lease that expires soon.
        if may_write <= now
            && let Some(Wanted {
                by, which, value, ..
            }) = self.swaps.pop_front()
        {
            let expected = self.entry(which);
            let operation = Operation::Swap {
                which,
                expected,
                value: value.clone(),
            };
            self.under_way = OperationUnderWay::Swap { by, which, value };
            (self.wrote_at, self.began) = (Some(now), now);
            return NextOperation::Run(operation);
        }
        let waits = !self.swaps.is_empty();
        let write = waits.then_some(may_write);
        let reads = !self.readers.is_empty() || self.is_told;
        let pause = pause(self.failures);
        let read = reads.then(|| self.read_at.map_or(now, |at| at.after(pause)));
        if read.is_none_or(|due| now < due) {
            let next = read.into_iter().chain(write).min();
            return next.map_or(NextOperation::Nothing, NextOperation::At);
        }
        (self.read_at, self.began) = (Some(now), now);
        let is_told = std::mem::take(&mut self.is_told);
        let readers = std::mem::take(&mut self.readers);
        self.under_way = OperationUnderWay::Read { readers, is_told };
        NextOperation::Run(Operation::Read)
    }

    /// Handles a read: the store has shown both records, or failed.
    pub(super) fn read(
        &mut self,
        lease: Result<Option<Entry>, RegisterError>,
        claim: Result<Option<Entry>, RegisterError>,
        out: &mut Vec<RegisterReply>,
    ) {
        let OperationUnderWay::Read { readers, is_told } = self.end() else {
            return;
        };
        self.hearsay.untold.is_broken |= self.is_broken_by(&lease);
        let (lease, claim) = (self.lease.note(lease), self.claim.note(claim));
        let is_changed = |half: &Result<bool, _>| half.as_ref().is_ok_and(|is_changed| *is_changed);
        self.hearsay.untold.is_changed |= is_changed(&lease) || is_changed(&claim);
        let (Ok(_), Ok(_)) = (lease, claim) else {
            self.failures = self.failures.saturating_add(1);
            // Another read follows even if no agent asks again, because one of the two records may have been read, and
            // may have changed.
            self.is_told |= is_told || self.hearsay.untold.is_changed;
            let failures = readers.into_iter();
            out.extend(failures.map(|(id, reader)| failed(id, reader.request)));
            return;
        };
        (self.failures, self.lease_at) = (0, self.began);
        self.hearsay.end();
        self.refuse_hopeless(out);
        let Some(holds) = self.holds() else {
            return;
        };
        let UntoldSight {
            is_changed,
            is_broken,
        } = std::mem::take(&mut self.hearsay.untold);
        let asked: Vec<_> = readers.keys().cloned().collect();
        let began = self.began;
        let answers = readers.into_iter().map(|(id, reader)| {
            let waited = began.since(reader.heard).into();
            let shown = RegisterShown::after(reader.request, waited, holds.clone());
            RegisterReply::To(id, RegisterShown { is_broken, ..shown })
        });
        out.extend(answers);
        if is_changed {
            out.push(RegisterReply::ToOthers {
                but: asked,
                at: self.lease_at,
                answer: holds,
                is_broken,
            });
        }
    }

    /// Handles the result of a swap: it was done, was not done, or its outcome is unknown.
    pub(super) fn swapped(
        &mut self,
        swap: Result<Swap, RegisterError>,
        out: &mut Vec<RegisterReply>,
    ) {
        let OperationUnderWay::Swap { by, which, value } = self.end() else {
            return;
        };
        let is_done = match swap {
            Ok(Swap::Done(version)) => {
                let entry = entry_of_swap(version, value);
                self.note(which, Some(entry));
                true
            }
            Ok(Swap::Conflict(entry)) => {
                let is_lease = which == WhichRecord::Lease;
                self.hearsay.untold.is_broken |= is_lease && self.breaks_the_chain(entry.as_ref());
                // The changed record is not sent to the agents now. The next read sends it to all of them, with both
                // records, and with the remark whether other leases may have existed in between.
                let is_changed = self.note(which, entry);
                self.hearsay.untold.is_changed |= is_changed;
                self.is_told |= is_changed;
                false
            }
            Err(_) => {
                self.failed_writes = self.failed_writes.saturating_add(1);
                out.push(failed(by.id, by.request));
                return;
            }
        };
        self.failed_writes = 0;
        let answer = if is_done {
            Answer::Applied(self.version(which))
        } else {
            Answer::Changed
        };
        let asker = by.id;
        let waited = self.began.since(by.heard).into();
        let shown = RegisterShown::after(by.request, waited, answer);
        out.push(RegisterReply::To(asker.clone(), shown));
        self.refuse_hopeless(out);
        // The other agents receive the written record without a read, unless the next read has more to report.
        let is_known = is_done && !self.hearsay.untold.is_changed;
        if let Some(answer) = self.holds().filter(|_| is_known) {
            out.push(RegisterReply::ToOthers {
                but: vec![asker],
                at: self.lease_at,
                answer,
                is_broken: false,
            });
        }
    }

    /// Refuses swaps that cannot succeed, because they expect an old version, and swaps that would replace a record of
    /// another program.
    fn refuse_hopeless(&mut self, out: &mut Vec<RegisterReply>) {
        let (mut kept, mut refused) = (VecDeque::new(), Vec::new());
        for wanted in self.swaps.drain(..) {
            let (version, is_ours) = match wanted.which {
                WhichRecord::Lease => (self.lease.version(), self.lease.is_ours()),
                WhichRecord::Claim => (self.claim.version(), self.claim.is_ours()),
            };
            // Kept: the write in progress may produce the version that this swap expects.
            let may_change = matches!(&self.under_way, OperationUnderWay::Swap { which, .. } if *which == wanted.which);
            if (version == wanted.expected && is_ours) || may_change {
                kept.push_back(wanted);
            } else {
                refused.push(wanted);
            }
        }
        self.swaps = kept;
        out.extend(refused.into_iter().map(|Wanted { by, .. }| {
            RegisterReply::To(by.id, RegisterShown::to(by.request, Answer::Changed))
        }));
    }

    fn end(&mut self) -> OperationUnderWay {
        std::mem::replace(&mut self.under_way, OperationUnderWay::Nothing)
    }

    /// Notes the record that an operation has shown. Returns whether it differs from the known record.
    fn note(&mut self, which: WhichRecord, entry: Option<Entry>) -> bool {
        match which {
            WhichRecord::Lease => {
                self.lease_at = self.began;
                self.hearsay.end();
                self.lease.show(entry)
            }
            WhichRecord::Claim => self.claim.show(entry),
        }
    }

    fn entry(&self, which: WhichRecord) -> Option<Entry> {
        match which {
            WhichRecord::Lease => self.lease.entry(),
            WhichRecord::Claim => self.claim.entry(),
        }
    }

    fn version(&self, which: WhichRecord) -> Version {
        match which {
            WhichRecord::Lease => self.lease.version(),
            WhichRecord::Claim => self.claim.version(),
        }
    }

    /// Returns the reason why one of the two records is not a record of this group; `None` if both records are.
    pub(super) fn refused(&self) -> Option<RecordError> {
        self.lease.refused().or_else(|| self.claim.refused())
    }

    /// Returns both records, if both were read.
    pub(super) fn holds(&self) -> Option<Answer> {
        let (lease, claim) = (self.lease.cell()?, self.claim.cell()?);
        Some(Answer::Holds { lease, claim })
    }

    /// Returns the time at which the next write may begin. It is later than `now` only after a failed write.
    fn may_write_at(&self, now: Time) -> Time {
        match self.wrote_at {
            Some(at) if self.failed_writes > 0 => at.after(pause(self.failed_writes)),
            Some(_) | None => now,
        }
    }
}

fn failed(id: AgentId, request: u64) -> RegisterReply {
    RegisterReply::To(id, RegisterShown::to(request, Answer::Failed))
}
