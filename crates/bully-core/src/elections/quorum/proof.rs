//! The invariants of "at most one agent leads", and the argument for them. This module has no code.
//!
//! An agent *leads* here while it considers itself leader: it is elected, and its lease has not ended
//! by its own clock.
//!
//! # Invariants
//! | | |
//! |---|---|
//! | `OneBeliever` | At every instant at most one agent leads. |
//! | `LeaderPerTerm` | At most one agent is elected in a term. |
//! | `VoteOnce` | A voter votes for at most one candidate in a term, over all its incarnations. |
//! | `TermMonotone` | A durable term never decreases. |
//! | `TokenMonotone` | Of two leaderships the later one has the higher term. |
//! | `LeaseBacked` | A leader has a quorum of voters, itself included, that are bound to it, abstain, or are down. |
//! | `PromiseKept` | A voter that is bound to another leader gives no vote. |
//! | `NoRivalElected` | While an agent leads, no other one has a quorum of votes for a higher term. |
//! | `ElectedFirst` | An agent announces itself only in a term for which a quorum voted for it; if ahead, after its leader has resigned. |
//! | `ResignFinal` | An agent that sent `Resign` for a term never leads in it again. |
//! | `DiskFirst` | No agent says anything of a term, or gives a promise, that is not durable, but for a claim. |
//! | `NoDisrupt` | A question, or a claim that is refused, changes nothing durable. |
//! | `Observers` | An observer never consents, votes or acknowledges. |
//! | `OneListPerEpoch` | Of each epoch at most one list of voters is ever entered by decision, and a quorum of the one before has sealed it. |
//!
//! All are checked after every step of every simulated history (`tests/oracles`).
//!
//! # Assumptions
//! Messages may be lost, doubled, reordered, delayed without bound; links may work one way only.
//! Agents crash and recover; a store does not forget. Clocks are not synchronised and never run
//! backwards; they count the time a host sleeps, and their rates are wrong by at most r: what takes x
//! measures between x (1 - r) and x (1 + r). No member lies.
//!
//! # Timing
//! | span | measured by | relation | why |
//! |---|---|---|---|
//! | D lease | the leader, from when a heartbeat was *sent* | | |
//! | P promise | the voter, from when it was *processed* | `promise-outlasts-lease`: P ≥ D (1 + r) / (1 - r) + one granule | safety |
//! | H heartbeat | the leader | `heartbeats-within-lease`: 3 H + 2 d ≤ D | one loss does not cost the lease |
//! | E round | the candidate | `answers-within-round`: E > 2 d | answers arrive |
//! | S step, J jitter | each agent | `step-covers-delay`: S ≥ d | the higher-ranked agent goes first |
//! | W wait | each agent | `wait-covers-rounds`: W ≥ 2 E + 4 d | the other one has had its chance |
//! | grace period | the leader | `grace-outlasts-promise`: more than P | the better agent is there to stay |
//! | drain | the leader | `drain-within-lease`: D - 2 d, or work must heed the loss of the lease | |
//!
//! Only `promise-outlasts-lease` is needed for safety. P = 1.25 D tolerates r = 11 %.
//!
//! # Members with different timings
//! The timings of one member keep `promise-outlasts-lease` among themselves.
//! Safety does not depend on equal timings of two members, so a group may change them one restart after the other:
//!
//! | rule | meaning | else |
//! |---|---|---|
//! | `lease-within-promise` | An acknowledgement states the length of the voter's promise. A leader counts on (P - one granule) (1 - r) / (1 + r) of it from the time at which it sent the acknowledged message, and on its own D at most. | A leader with a long D leads on when the short promises of its voters are over, and others have elected. |
//! | the same | A leader is heard at least three times within the shortest such span. | It lives from lease to lease. |
//! | `record-longest-promise` | A voter's record keeps the longest promise that may still hold: written before an acknowledgement that promises more, carried over by every vote, lowered only when a quarantine of that length is over. | A restart with a shorter P forgets the longer promise. |
//! | `abstain-after-restart` | The quarantine is that promise or the present P, whichever is longer. | The same. |
//!
//! Not so for the voters and their quorums: those are the same at every member of an epoch.
//!
//! # The argument
//! *Votes, hence `LeaderPerTerm`.* A vote is durable before it is given, and given once in a term; two quorums of votes
//! share a voter (2 Qv > n). A vote names the incarnation of the agent that it is for, and the incarnation that asked.
//! No other incarnation counts it, however late a copy of it arrives (`answer-the-asker`). A candidate's claim leaves
//! before its own vote is durable (`claim-beside-own-vote`). If the candidate crashes in between, it has given no vote,
//! and without its own vote it was not elected. Its next incarnation needs votes of its own.
//!
//! A vote counts whenever it comes (`late-vote-counts`): a claim is open as long as the record of its candidate says that it
//! voted for itself in that term, so it has taken part in no later one. If the voters have moved on, the announcement
//! brings a `Nack` before the candidate leads.
//!
//! *Why an agent claims (`claim-for-a-reason`).* The above needs no more than that. A second lock keeps a vote for another
//! agent from electing this one even where answers were not addressed. What could be mistaken is a vote given ahead, or
//! for a former incarnation; a quorum of such votes shares a voter with each quorum named here:
//! | reason to claim t | why no other agent can win t |
//! |---|---|
//! | a quorum consented in this round | Each answered with a term below t, so none had voted in t before. Each votes in it once afterwards: for this agent, or for the other one. |
//! | a resignation names it | The term of this agent's record is the resigned one; or it is the term above, in which the agent voted ahead at that leader's request. t is above the record's term. A quorum followed that leader until then, and gave no vote elsewhere. |
//! | it decided the list of the epoch | No agent has led in the epoch, so no vote was given ahead in it. Another agent may have decided the same list and claim the same term: each voter votes for one of them. |
//! | a leader raises its term | A quorum is bound to it while it holds a lease, and votes for no other agent. |
//! | a leader asks for its successor | The same quorum gives that vote once. The leader claims nothing up to that term itself, and its next incarnation has to ask a quorum: one voter of it names that term. |
//!
//! *A third lock (`one-leader-per-term`).* A voter that follows one leader in a term tells another one of that term, which
//! gives up, or raises its term. It is volatile, so nothing rests on it; nor has it ever been needed.
//!
//! A vote ahead (`vote-ahead`) is a vote like any other, but that its voter stays bound to its leader. An agent that is
//! elected by such votes leads by the acknowledgements of its own announcement, which it makes after its leader's
//! `Resign`: so the rest of the argument holds for it from then on. An answer that reaches the leader's next
//! incarnation does not count there, and an answer about a former incarnation of the successor elects no agent.
//!
//! *Leases: a lease ends before a rival can exist; hence `NoRivalElected`, hence `OneBeliever`.* Suppose
//! i leads at the real time x, elected in t1, and some j ≠ i has Qv votes for a term above t1 by then.
//! Take the lowest such term t2: no agent led in between, so nothing replaced a promise to i. i leads
//! because each of Ql voters acknowledged a heartbeat that it had sent at a real time s, with a promise
//! P, both the voter's own, and its clock shows less than P (1 - r) / (1 + r) since
//! (`lease-within-promise`, or its own D, which `promise-outlasts-lease` keeps below that):
//! x - s < P / (1 + r). Each of them processed it after s and promised P by its own clock, so until
//! s + P / (1 + r) at least, which is after x. One voter v is in both quorums (Qv + Ql > n). It
//! acknowledged t1 before it voted in t2, since its term only grows. When it voted, its promise was over
//! (then it was after x: a contradiction), or void. It was not i itself: to vote ends a leader's role.
//! Void means: i had resigned t1, and `lose-before-resign` ends its leadership before any other agent
//! hears of it; or the end of i's incarnation is confirmed, and with it its leadership has ended. If v
//! restarted in between it forgot the promise, and abstains for P, which its record kept
//! (`record-longest-promise`), from a moment after the acknowledgement: the same bound
//! (`abstain-after-restart`). If it restarted once more within that time, the record keeps P still.
//!
//! *Tokens, hence `TokenMonotone`.* If j begins to lead in t2 after i began in t1, and t2 < t1, apply
//! the argument of the leases with the roles exchanged to a voter in j's Ql and i's Qv: it voted in t1
//! only after its promise to j was over, so after j could last lead.
//!
//! *Raising the term under a lease (`raise-term-without-gap`).* Meanwhile i leads in the old term under
//! the old lease; the argument of the leases says nothing of votes for i itself. Promises name their
//! holder, so they go on.
//!
//! *Why an elected agent waits for acknowledgements (`lease-before-leading`).* A candidate whose votes
//! arrive late meets a voter that has moved on to a higher term, and its `Nack`, before it leads.
//!
//! # One list of voters after another
//! The voters of an epoch decide the next list as single-decree Paxos decides a value, with terms as ballots: an
//! election is the first phase (a vote reports the seal of its voter), a seal is the second. A list is *chosen*
//! when Qv voters have sealed for it in one term s. The names of the rules are those of the page
//! [`epoch`](super::epoch).
//!
//! *Lemma: once a list is chosen, no agent leads in that epoch, then or later.* Suppose i leads in the term t at a
//! moment at which a list is chosen in the term s.
//!
//! - *t > s.* i has Qv votes for t. One voter v voted for i and sealed in s. Had it sealed first, its vote would have
//!   reported that (`report-seal`; `seal-before-word` for a voter that restarted), and i would not lead
//!   (`adopt-highest-seal`). Had it voted first, its term was t, above s, and it would not have sealed. It cannot have
//!   given the seal up in between (`void-seal`): for that it had to hear a leader of a term between s and t that was
//!   elected without a report; take the lowest such leader, and the same argument says that there is none.
//! - *t = s.* Only the agent that was elected in s asks for seals in it, and it leads in s no more
//!   (`lose-before-seal`), or never did (`adopt-highest-seal`).
//! - *t < s.* The agent that asked for the seals was elected in s, or led in it before. By the argument of the leases
//!   (`NoRivalElected`) no agent led in a lower term from that election on, and none can begin: Ql voters would have to
//!   acknowledge t after one of them voted in s.
//!
//! A leader may raise its term under its lease from t to r. It takes the votes of a quorum for that, as a candidate
//! does. They may report a seal. A seal above t may be that of a chosen list: then it leads no more. A seal up to t
//! does not belong to a chosen list, by the first case.
//!
//! *One list in each epoch (`OneListPerEpoch`).* Suppose a list is chosen in s, and take the lowest term above s in
//! which another list is asked for. The agent that asks was elected in that term with the vote of an agent that had
//! sealed in s; that vote reports s or a higher seal, which is for the same list since the term is the lowest. In one
//! term one agent asks, for one list (`LeaderPerTerm`; a leader begins one change, and after a restart it needs a new
//! term).
//!
//! *Tokens increase over epochs, and no two lead at one instant.* An agent enters an epoch only by a chosen list, or by
//! a later chosen list if it has missed one. When it does, no agent leads in the epochs before, by the lemma. Promises
//! of those epochs therefore bind no voter: it forgets them, and need not abstain. Each term of the epoch is above all
//! terms of those before, so the first leader of it has a higher token. Within the epoch all of the above holds with
//! its own voters: each of them has the first term durable before it speaks (`epoch-before-word`), and a message that
//! names another epoch counts for nothing.
//!
//! *Progress.* A sealed voter that the next leader does not know of would abstain for good; `void-seal` gives it back.
//! An agent that seals answers questions and votes like any other, so it blocks no election.
//!
//! # Liveness
//! *Liveness* is argued and measured, not proved. Promises lapse P after the last live leader; an agent
//! objects at most once to each candidate; claims that are refused do not push the term up; jitter
//! parts rivals. So a voter that reaches a quorum asks alone at some time. If the others are slower than the timings
//! assume, their votes count when they come, and rounds get longer (`late-vote-counts`, `longer-after-late-answer`).
//!
//! # What remains outside
//! A host whose clocks all stop while the world goes on (a frozen virtual machine) breaks the assumption: then still at
//! most one leads per *term*, and a resource that refuses a token below the highest it has seen is safe. The page
//! [`clocks`](super::clocks) states for how long, and which other faults were tried.
//!
//! A store that is lost, or that goes back to an earlier copy, breaks the assumption as well, and so do two processes
//! of one voter. The rules of the page [`memory`](super::memory) find most of that, and stop it: a voter's promise, its
//! vote and a raise are for one incarnation; a voter whose record is empty abstains once it hears of a later election,
//! unless all others know of none and of no earlier incarnation of it; the others remember its store, its last
//! incarnation and its highest term. Not closed:
//!
//! - two processes of one voter on two sides of a partition, if the voters of one side never met the other process;
//! - a lost store together with a voter that was cut off since the birth of the group;
//! - a store that was lost after a promise longer than the present P;
//! - a restored file, if no voter that can be reached knows better.
//!
//! So a voter whose store is lost still needs another name, or a higher epoch.
//!
//! *The price.* A leader that restarts is another agent to voters that promised something to its former incarnation. If
//! they promise longer than it abstains (a rolling change of timings), it waits for the end of that: 894 ms in place of
//! 319 (`lan` among `default`). With Ql = 1 no voter abstains, and it waits 296 ms in place of 17.
