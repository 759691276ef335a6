//! The invariants behind "at most one agent leads", and the argument for them. This module has no code.
//!
//! On this page an agent *leads* while it considers itself leader: it is elected, and its lease has not ended by its
//! own clock. Names with hyphens are rules or relations of time: the tables are on this page, on the module's page, and
//! on the pages `epoch` and `memory`.
//!
//! # Invariants
//! | | |
//! |---|---|
//! | `OneBeliever` | At every instant at most one agent leads. |
//! | `LeaderPerTerm` | At most one agent is elected in a term. |
//! | `VoteOnce` | A voter votes for at most one candidate in a term, over all its incarnations. |
//! | `TermMonotone` | A durable term never decreases. |
//! | `TokenMonotone` | Of two leaderships the later one has the higher term. |
//! | `LeaseBacked` | A leader has a quorum of voters, itself included, that are bound to it, abstain, or are down. (A voter is bound to an agent while its promise to that agent holds.) |
//! | `PromiseKept` | A voter that is bound to another leader gives no vote. |
//! | `NoRivalElected` | While an agent leads, no other agent has a quorum of votes for a higher term. |
//! | `ElectedFirst` | An agent announces itself only in a term in which a quorum voted for it; if the votes were given ahead, only after its leader has resigned. |
//! | `ResignFinal` | An agent that sent `Resign` for a term never leads in it again. |
//! | `DiskFirst` | An agent sends no message about a term, and gives no promise, that is not durable. A claim is the only exception. |
//! | `NoDisrupt` | A question, or a claim that is refused, changes nothing durable. |
//! | `Observers` | An observer never consents, votes or acknowledges. |
//! | `OneListPerEpoch` | In each epoch at most one list of voters is ever entered by decision, and a quorum of the epoch before has sealed it. |
//!
//! Every simulated history checks all these invariants after every step (`tests/oracles`).
//!
//! # Assumptions
//! Messages may be lost, doubled, reordered, or delayed without a limit; links may work in one direction only. Agents
//! crash and recover; a store does not forget. Clocks are not synchronised and never run backwards. They also count
//! the time in which a host sleeps, and their rates are wrong by at most r: a clock measures between x (1 - r) and x
//! (1 + r) for a time of length x. No member lies.
//!
//! # Timing
//! | span | measured by | relation | why |
//! |---|---|---|---|
//! | D lease | the leader, from when a heartbeat was *sent* | | |
//! | P promise | the voter, from when it was *processed* | `promise-outlasts-lease`: P ≥ D (1 + r) / (1 - r) + one granule | safety |
//! | H heartbeat | the leader | `heartbeats-within-lease`: 3 H + 2 d ≤ D | two losses in a row do not cost the lease |
//! | E round | the candidate | `answers-within-round`: E > 2 d | answers arrive |
//! | S step, J jitter | each agent | `step-covers-delay`: S ≥ d | the higher-ranked agent campaigns first |
//! | W wait | each agent | `wait-covers-rounds`: W ≥ 2 E + 4 d | the other agent has had its chance |
//! | grace period | the leader | `grace-outlasts-promise`: more than P | the better agent stays up |
//! | drain | the leader | `drain-within-lease`: D - 2 d, or work must stop when the lease is lost | |
//!
//! Only the relation `promise-outlasts-lease` is needed for safety. A promise P = 1.25 D tolerates a clock-rate error r
//! = 11 %.
//!
//! # Members with different timings
//! The timings of each single member satisfy `promise-outlasts-lease`. Safety does not depend on equal timings of two
//! members, so the members of a group may change them one restart after the other:
//!
//! | rule | meaning | otherwise |
//! |---|---|---|
//! | `lease-within-promise` | An acknowledgement contains the length P of the voter's promise. A leader counts on (P - one granule) (1 - r) / (1 + r) of it from the time at which it sent the acknowledged message, and on its own D at most. | A leader with a long D leads on when the short promises of its voters have ended and others have elected. |
//! | the same | A leader is heard at least three times within the shortest such span. | The leader hardly renews its lease in time. |
//! | `record-longest-promise` | A voter's record contains the longest promise that may still hold. It is written before an acknowledgement that promises more, every vote keeps it, and it is lowered only when a quarantine of that length has ended. | A restart with a shorter P forgets the longer promise. |
//! | `abstain-after-restart` | The quarantine is that promise or the present P, whichever is longer. | The same. |
//!
//! Members must not differ in the voters and their quorums: these are the same at every member of an epoch.
//!
//! # The argument
//! *Votes, hence `LeaderPerTerm`.* A vote is durable before it is given, and given once in a term; two quorums of votes
//! share a voter (2 Qv > n). A vote contains the incarnation of its candidate, and the incarnation that asked. No other
//! incarnation counts it, however late a copy of it arrives (rule `answer-the-asker`). A candidate's claim leaves
//! before its own vote is durable (`claim-beside-own-vote`). If the candidate crashes in between, it has given no vote,
//! and without its own vote it was not elected. Its next incarnation needs new votes.
//!
//! A vote counts whenever it comes (`late-vote-counts`): a claim is open as long as the record of its candidate
//! contains the candidate's own vote in that term, so the candidate has taken part in no later term. If the voters
//! have moved on, the announcement causes a `Nack` before the candidate leads.
//!
//! *Why an agent claims (`claim-for-a-reason`).* The argument above needs no more than that. There is a second
//! safeguard. Even if answers did not contain the incarnation that asked, a vote for another agent could not elect
//! this one. Two kinds of votes could be mistaken: a vote given ahead, and a vote for a former incarnation. A quorum
//! of such votes shares a voter with each quorum in this table:
//! | reason to claim the term t | why no other agent can win t |
//! |---|---|
//! | a quorum consented in this round | Each voter answered with a term below t, so none had voted in t before. Each votes in t once afterwards: for this agent, or for the other one. |
//! | a `Resign` has it as successor | The term of this agent's record is the resigned one; or it is the term above, in which the agent voted ahead at that leader's request. t is above the record's term. A quorum followed that leader until then, and voted for no other agent. |
//! | it decided the list of the epoch | No agent has led in the epoch, so no vote was given ahead in it. Another agent may have decided the same list and claim the same term: each voter votes for one of them. |
//! | a leader raises its term | A quorum is bound to it while it holds a lease, and votes for no other agent. |
//! | a leader asks for its successor | The same quorum gives that vote once. The leader itself claims no term up to that one, and its next incarnation has to ask a quorum: one voter of that quorum answers with that term. |
//!
//! *A third safeguard (`one-leader-per-term`).* If a voter already follows a leader in a term, it tells every other
//! leader of that term. Such a leader gives up, or raises its term. The voter's memory of this is volatile, so no
//! argument depends on this rule; nor has the rule ever been needed.
//!
//! A vote ahead (`vote-ahead`) is a vote like any other, except that its voter stays bound to its leader. An agent
//! that is elected by such votes leads by the acknowledgements of its own announcement, which it makes after its
//! leader's `Resign`. So the rest of the argument holds for it from then on. An answer that reaches the leader's next
//! incarnation does not count, and an answer about a former incarnation of the successor elects no agent.
//!
//! *Leases: a lease ends before a rival can exist; hence `NoRivalElected`, hence `OneBeliever`.* Suppose that i leads
//! at the real time x, elected in t1, and that some j ≠ i has Qv votes for a term above t1 by then. Take the lowest
//! such term t2: no agent led in between, so nothing replaced a promise to i. i leads because each of Ql voters
//! acknowledged a heartbeat. i had sent it at a real time s, and the acknowledgement contains a promise P; both may
//! differ from voter to voter. i's clock has measured less than P (1 - r) / (1 + r) since s (`lease-within-promise`,
//! or its own D, which `promise-outlasts-lease` keeps below that): x - s < P / (1 + r). Each of these voters
//! processed the heartbeat after s and promised P by its own clock, so until s + P / (1 + r) at least, which is after
//! x. One voter v is in both quorums (Qv + Ql > n). It acknowledged t1 before it voted in t2, because its term only
//! grows. When it voted, its promise had ended (then it was after x: a contradiction), or was void. The voter v is
//! not i itself, because a vote ends a leader's role. Void means: i had resigned t1, and `lose-before-resign` ends
//! its leadership before any other agent hears of it; or the end of i's incarnation is confirmed, and with it its
//! leadership has ended. If v restarted in between, it forgot the promise. It then abstains for P, which its record
//! kept (`record-longest-promise`), from a moment after the acknowledgement: the same bound
//! (`abstain-after-restart`). If it restarted once more within that time, the record still contains P.
//!
//! *Tokens, hence `TokenMonotone`.* Suppose that j begins to lead in t2 after i began in t1, and t2 < t1. Apply the
//! argument of the leases with the roles exchanged to a voter in j's Ql and i's Qv: it voted in t1 only after its
//! promise to j had ended, so after j could last lead.
//!
//! *Raising the term under a lease (`raise-term-without-gap`).* Meanwhile i leads in the old term under the old lease;
//! the argument of the leases does not concern votes for i itself. Promises are to their holder, so they still hold.
//!
//! *Why an elected agent waits for acknowledgements (`lease-before-leading`).* If the votes of a candidate arrive
//! late, a voter may have moved on to a higher term. The candidate gets that voter's `Nack` before it leads.
//!
//! # One list of voters after another
//! The voters of an epoch decide the next list as single-decree Paxos decides a value, with terms as ballots: an
//! election is the first phase (a vote reports the seal of its voter), a seal is the second phase. A list is *chosen*
//! when Qv voters have sealed for it in one term s. The names of the rules are those of the page
//! [`epoch`](super::epoch).
//!
//! *Lemma: when a list is chosen, no agent leads in that epoch, then or later.* Suppose that i leads in the term t at
//! a moment at which a list is chosen in the term s.
//!
//! - *t > s.* i has Qv votes for t. One voter v voted for i and sealed in s. If v sealed first, its vote reported the
//!   seal (`report-seal`; `seal-before-word` for a voter that restarted), and i would not lead
//!   (`adopt-highest-seal`). If v voted first, its term was t, above s, and it did not seal. v cannot have deleted
//!   the seal in between (`void-seal`): for that, v must have heard a leader of a term between s and t that was
//!   elected without a report. Take the lowest such leader: by the same argument it does not exist.
//! - *t = s.* Only the agent that was elected in s asks for seals in it, and it no longer leads in s
//!   (`lose-before-seal`), or never did (`adopt-highest-seal`).
//! - *t < s.* The agent that asked for the seals was elected in s, or led in it before. By the argument of the leases
//!   (`NoRivalElected`) no agent led in a lower term from that election on. No agent can begin to lead in one either:
//!   Ql voters would have to acknowledge t after one of them voted in s.
//!
//! A leader may raise its term under its lease from t to r. It takes the votes of a quorum for that, as a candidate
//! does. The votes may report a seal. A seal above t may be the seal of a chosen list: then the leader no longer
//! leads. A seal up to t does not belong to a chosen list, by the first case.
//!
//! *One list in each epoch (`OneListPerEpoch`).* Suppose that a list is chosen in s, and take the lowest term above s
//! in which another list is asked for. The asking agent was elected in that term, and one of its voters had sealed in
//! s. That vote reports s or a higher seal, which is for the same list, because the term is the lowest. In one term one
//! agent asks, for one list (`LeaderPerTerm`; a leader begins one change, and after a restart it needs a new term).
//!
//! *Tokens increase over epochs, and no two agents lead at one instant.* An agent enters an epoch only by a chosen
//! list, or by a later chosen list if it has missed one. When it does, no agent leads in the epochs before, by the
//! lemma. So promises of those epochs bind no voter: a voter forgets them, and need not abstain. Each term of the
//! epoch is above all terms of the epochs before, so the first leader of the epoch has a higher token. Within the
//! epoch the whole argument above holds with the epoch's own voters: each of them has the first term durable before
//! it sends a message (`epoch-before-word`), and a message of another epoch does not count.
//!
//! *Progress.* A sealed voter that the next leader does not know of would abstain for ever; `void-seal` prevents
//! that. An agent that seals answers questions and votes like any other, so it blocks no election.
//!
//! # Liveness
//! *Liveness* is argued and measured, not proved. Promises end P after the last live leader; an agent objects at most
//! once to each candidate; refused claims do not raise the term; jitter separates rivals. So at some time a voter that
//! reaches a quorum asks alone. If the other voters are slower than the timings assume, their votes count when they
//! come, and rounds get longer (`late-vote-counts`, `longer-after-late-answer`).
//!
//! # What is not covered
//! If all clocks of a host stop while time passes (a frozen virtual machine), the assumption does not hold. Then still
//! at most one agent leads in each *term*, and a resource that refuses a token below the highest token it has seen is
//! safe. The page [`clocks`](super::clocks) states how long this may last, and which other faults were tried.
//!
//! The assumption does not hold either if a store is lost or goes back to an earlier copy, or if one voter has two
//! processes. The rules of the page [`memory`](super::memory) find and stop most of these cases, and its last section
//! lists the cases that stay open. So a voter whose store is lost still needs another name, or a higher epoch.
//!
//! *The price.* If voters promised something to a leader's former incarnation, the restarted leader is another agent
//! to them. If they promise for longer than the leader abstains (a rolling change of timings), it waits for the end
//! of their promises: 894 ms in place of 319 (`lan` among `default`). With Ql = 1 no voter abstains, and the leader
//! waits 296 ms in place of 17.
