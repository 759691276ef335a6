//! One machine in each of its roles.

use super::*;

impl Kit {
    /// Returns an agent that has not started. Its store is empty.
    pub(super) fn began(config: QuorumConfig, kind: MemberKind, score: Option<i32>) -> Self {
        Self::reborn(config, kind, score, Vote::default())
    }

    pub(super) fn reborn(
        config: QuorumConfig,
        kind: MemberKind,
        score: Option<i32>,
        vote: Vote,
    ) -> Self {
        Self::restored(&Arc::new(config), kind, score, Some(vote))
    }

    /// Starts the agent. The other voters answer that they have never heard it. Returns the effects of the start except
    /// the question to these voters.
    pub(super) fn begin(&mut self) -> StepEffects {
        let mut effects = self.start();
        let is_recall = |effect: &Effect<QuorumMessage, _, _>| {
            matches!(
                effect,
                Effect::Send {
                    message: QuorumMessage::Recall(_),
                    ..
                }
            )
        };
        effects.0.retain(|effect| !is_recall(effect));
        let known = self.machine.core.voter.seen;
        for name in [LOW, HIGH] {
            let answer = Recalled {
                seen: known,
                ..recalled(Heard::default())
            };
            self.hear(name, answer).nothing_else_happened();
        }
        effects
    }

    /// Returns an agent after its start. The other voters have never heard it, and it took part in the first election.
    pub(super) fn known(config: QuorumConfig, score: Option<i32>) -> Self {
        let mut kit = Self::began(config, MemberKind::Voter, score);
        kit.begin().whatever();
        let config = Arc::clone(&kit.machine.core.config);
        let first = Term(config.first_term().0 + 1);
        kit.machine.core.voter.memory.excuse(&config, first);
        kit
    }

    /// Returns a follower without a leader. HIGH has the first slot.
    pub(super) fn vacant() -> Self {
        Self::known(config(), Some(5))
    }

    /// Returns a follower of HIGH, which leads in the term [`OLD`].
    pub(super) fn following() -> Self {
        Self::vacant().after(HIGH, heartbeat(OLD, 9))
    }

    pub(super) fn following_by(config: QuorumConfig) -> Self {
        let kit = Self::known(config, Some(5));
        kit.after(HIGH, heartbeat(OLD, 9))
    }

    /// Returns a follower of LOW in the term [`OLD`].
    pub(super) fn following_low() -> Self {
        Self::vacant().after(LOW, heartbeat(OLD, 1))
    }

    pub(super) fn witness() -> Self {
        Self::known(config(), None)
    }

    pub(super) fn observer() -> Self {
        let voters = [LOW, HIGH, "other"].map(id);
        let config = valid(QuorumConfig::new(voters));
        Self::began(config, MemberKind::Observer, Some(5)).started()
    }

    /// Returns an agent that asks whether it may claim the term [`MINE`]. It has seen the term before.
    pub(super) fn asking() -> Self {
        Self::asking_by(config())
    }

    pub(super) fn asking_by(config: QuorumConfig) -> Self {
        let mut kit = Self::known(config, Some(5));
        kit.machine.core.voter.seen = Term(MINE - 1);
        kit.later(S).fire(BullyTimer::Election).whatever();
        assert!(matches!(kit.machine.state, State::Asking(_)));
        kit
    }

    /// Returns an agent that has claimed the term [`MINE`].
    pub(super) fn claiming() -> Self {
        Self::claiming_by(config())
    }

    pub(super) fn claiming_by(config: QuorumConfig) -> Self {
        let kit = Self::asking_by(config)
            .after(LOW, yields(1))
            .after(HIGH, yields(1));
        assert!(matches!(kit.machine.state, State::Claiming(_)));
        kit
    }

    /// Returns an agent that has been elected and has no lease yet.
    pub(super) fn elected() -> Self {
        Self::elected_by(config())
    }

    pub(super) fn elected_by(config: QuorumConfig) -> Self {
        let kit = Self::claiming_by(config).after(LOW, grants(MINE));
        assert!(matches!(kit.machine.state, State::Leading(_)));
        assert_eq!(kit.view().leading, None);
        kit
    }

    /// Returns a leader in the term [`MINE`] that LOW has just acknowledged.
    pub(super) fn leading() -> Self {
        Self::leading_by(config())
    }

    pub(super) fn leading_by(config: QuorumConfig) -> Self {
        let mut kit = Self::elected_by(config);
        kit.acked(LOW, 1).whatever();
        assert_eq!(kit.view().leading, Some(Term(MINE)));
        kit
    }

    /// Returns a [leader](Self::leading) that HIGH has acknowledged too, so all voters are known to be up.
    pub(super) fn heard() -> Self {
        Self::heard_by(config())
    }

    pub(super) fn heard_by(config: QuorumConfig) -> Self {
        let mut kit = Self::leading_by(config);
        kit.acked(HIGH, 3).whatever();
        kit
    }

    /// Returns the effects of the beginning of the drain. By `prepare-before-drain`, the leader of `effects` may first
    /// ask for votes for its successor; then LOW and HIGH vote.
    pub(super) fn prepared(&mut self, mut effects: StepEffects) -> StepEffects {
        let term = self.machine.core.voter.seen.0;
        for name in [LOW, HIGH] {
            if matches!(&self.machine.state, State::Leading(leading) if leading.preparing.is_some())
            {
                effects.whatever();
                effects = self.hear(name, self.votes(term));
            }
        }
        effects
    }

    /// Gives the leader an acknowledgement of an announcement that is sent now.
    pub(super) fn acked(&mut self, from: &str, score: i32) -> StepEffects {
        let echo = self.now;
        self.hear(from, ack(MINE, echo, score))
    }

    pub(super) fn durable(&self) -> (u64, Option<String>) {
        let vote = &self.machine.core.voter.record;
        let voted_for = vote.voted_for.as_ref().map(|voted| voted.id.to_string());
        (vote.term.0, voted_for)
    }
}
