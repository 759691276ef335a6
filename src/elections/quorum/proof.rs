//! Why at most one believes: the invariants, and the argument for them. Nothing runs here.
//!
//! # Invariants
//! | | |
//! |---|---|
//! | I1 `OneBeliever` | at every instant at most one agent believes that it leads |
//! | I2 `LeaderPerTerm` | at most one agent is elected in a term |
//! | I3 `VoteOnce` | a voter votes for at most one candidate in a term, over all its lives |
//! | I4 `TermMonotone` | a durable term never decreases |
//! | I5 `TokenMonotone` | of two leaderships the later one has the higher term |
//! | I6 `LeaseBacked` | who believes has a quorum of voters, itself included, that are bound to it, abstain, or do not live |
//! | I7 `PromiseKept` | a vote is only given by who is not bound to another leader |
//! | I8 `NoRivalElected` | while one believes, no other has a quorum of votes for a higher term |
//! | I9 `ResignFinal` | who sent `Resign` for a term never again believes in it |
//! | I10 `DiskFirst` | nothing is said of a term, and no promise given, that is not durable |
//! | I11 `NoDisrupt` | a question, or a claim that is refused, changes nothing durable |
//! | I12 `Observers` | an observer never consents, votes or acknowledges |
//!
//! All are checked after every step of every simulated history (`testkit::sim`).
//!
//! # Assumptions
//! Messages may be lost, doubled, reordered, delayed without bound; links may work one way only.
//! Agents crash and recover; a store does not forget. Clocks are not synchronised and never run
//! backwards; they count the time a host sleeps, and their rates are wrong by at most r: what takes x
//! measures between x (1 - r) and x (1 + r). Nobody lies.
//!
//! # Timing
//! | | whose clock | relation | why |
//! |---|---|---|---|
//! | D lease | leader's, from when a heartbeat was *sent* | | |
//! | P promise | voter's, from when it was *processed* | C1: P ≥ D (1 + r) / (1 - r) + one granule | safety |
//! | H heartbeat | leader's | C2: 3 H + 2 d ≤ D | one loss does not cost the lease |
//! | E round | candidate's | C3: E > 2 d | answers arrive |
//! | S step, J jitter | each its own | C4: S ≥ d | the more important goes first |
//! | W wait | each its own | C5: W ≥ 2 E + 4 d | the other one has had its chance |
//! | patience of a leader | leader's | C6: more than P | a challenger is there to stay |
//! | drain | leader's | C7: D - 2 d, or work must heed the loss of the lease | |
//!
//! Only C1 is needed for safety. P = 1.25 D tolerates r = 11 %.
//!
//! # Members with different timings
//! The timings of one member keep C1 among themselves. Nothing safe rests on those of two members
//! being equal, so a group may change them one restart after the other:
//!
//! | | rule | else |
//! |---|---|---|
//! | L1 | an acknowledgement says how long the voter's promise is; of that, a leader counts on (P - one granule) (1 - r) / (1 + r) from when it sent what was acknowledged, and on its own D at most | a leader with a long D believes on when the short promises of its voters are over, and others have elected |
//! | L1 | a leader beats at least three times within the shortest such span | it lives from lease to lease |
//! | L2 | a voter's record keeps the longest promise that may still hold: written before an acknowledgement that promises more, carried over by every vote, lowered only when a quarantine of that length is over | a restart with a shorter P forgets the longer promise |
//! | S1 | the quarantine is that promise or the present P, whichever is longer | the same |
//!
//! Not so for the voters and their quorums: those are the same at every member of an epoch.
//!
//! # The argument
//! *L1, hence I2.* A vote is durable before it is given, and given once in a term; two quorums
//! of votes share a voter (2 Qv > n).
//!
//! *L2: a lease ends before a rival can exist; hence I8, hence I1.* Suppose i believes at the real
//! time x, elected in t1, and some j ≠ i has Qv votes for a term above t1 by then. Take the lowest such
//! term t2: nobody led in between, so nothing replaced a promise to i. i believes because each of Ql
//! voters acknowledged a heartbeat that it had sent at a real time s, with a promise P, both the
//! voter's own, and its clock shows less than P (1 - r) / (1 + r) since (rule L1 above, or its own D,
//! which C1 keeps below that): x - s < P / (1 + r). Each of them processed it after s and promised P by its own
//! clock, so until s + P / (1 + r) at least, which is after x. One voter v is in both quorums
//! (Qv + Ql > n). It acknowledged t1 before it voted in t2, since its term only grows. When it voted, its
//! promise was over (then it was after x: a contradiction), or void. It was not i itself: to vote ends
//! a leader's role. Void means: i had resigned t1, and R1 ends the belief before anybody hears of it;
//! or i's life had certainly ended, and with it its belief. If v restarted in between it forgot the
//! promise, and abstains for P, which its record kept (rule L2 above), from a moment after the
//! acknowledgement: the same bound (S1). If it restarted once more within that time, the record
//! keeps P still.
//!
//! *L3, hence I5.* If j's belief in t2 begins after i's in t1 and t2 < t1, apply L2 with the roles
//! exchanged to a voter in j's Ql and i's Qv: it voted in t1 only after its promise to j was over, so
//! after j could last believe.
//!
//! *L4: raising the term under a lease (A4).* Meanwhile i believes in the old term under the old
//! lease; L2 says nothing of votes for i itself. Promises name their holder, so they go on.
//!
//! *L5: why A1 waits for acknowledgements.* A candidate whose votes arrive late meets a voter that has
//! moved on to a higher term, and its `Nack`, before it believes.
//!
//! *Liveness* is argued and measured, not proved. Promises lapse P after the last live leader; one
//! objects at most once to each candidate; claims that are refused do not push the term up; jitter
//! parts rivals. So a voter that reaches a quorum asks alone at some time.
//!
//! # What remains outside
//! A host whose clocks all stop while the world goes on (a frozen virtual machine) breaks the
//! assumption: then still at most one leads per *term*, and a resource that refuses a token below the
//! highest it has seen is safe. A store that is lost is worse than a crash: its agent needs another
//! name, or observes.
