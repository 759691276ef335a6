//! One machine in each of its roles, and the messages that brought it there.

use super::*;

impl Kit {
    /// Not yet started, with a store that was never written.
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

    /// Starts; the others say that they never heard of it. What came of the start, but for the question.
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

    /// Started; the others have said that they never heard of it, and it was there at the first election.
    pub(super) fn known(config: QuorumConfig, score: Option<i32>) -> Self {
        let mut kit = Self::began(config, MemberKind::Voter, score);
        kit.begin().whatever();
        let config = Arc::clone(&kit.machine.core.config);
        let first = Term(config.first_term().0 + 1);
        kit.machine.core.voter.memory.excuse(&config, first);
        kit
    }

    /// A follower without a leader: HIGH goes first.
    pub(super) fn vacant() -> Self {
        Self::known(config(), Some(5))
    }

    /// A follower of HIGH, which leads in the term [`OLD`].
    pub(super) fn following() -> Self {
        Self::vacant().after(HIGH, heartbeat(OLD, 9))
    }

    pub(super) fn following_by(config: QuorumConfig) -> Self {
        let kit = Self::known(config, Some(5));
        kit.after(HIGH, heartbeat(OLD, 9))
    }

    /// A follower of LOW in the term [`OLD`].
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

    /// Asks whether it may claim the term [`MINE`]: it has heard of the one before.
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

    /// Has claimed the term [`MINE`].
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

    /// Has been elected, and holds no lease yet.
    pub(super) fn elected() -> Self {
        Self::elected_by(config())
    }

    pub(super) fn elected_by(config: QuorumConfig) -> Self {
        let kit = Self::claiming_by(config).after(LOW, grants(MINE));
        assert!(matches!(kit.machine.state, State::Leading(_)));
        assert_eq!(kit.view().leading, None);
        kit
    }

    /// Leads in the term [`MINE`]: LOW has just acknowledged it.
    pub(super) fn leading() -> Self {
        Self::leading_by(config())
    }

    pub(super) fn leading_by(config: QuorumConfig) -> Self {
        let mut kit = Self::elected_by(config);
        kit.acked(LOW, 1).whatever();
        assert_eq!(kit.view().leading, Some(Term(MINE)));
        kit
    }

    /// As [`leading`](Self::leading), and HIGH has acknowledged it too, so every voter is known to be there.
    pub(super) fn heard() -> Self {
        Self::heard_by(config())
    }

    pub(super) fn heard_by(config: QuorumConfig) -> Self {
        let mut kit = Self::leading_by(config);
        kit.acked(HIGH, 3).whatever();
        kit
    }

    /// `prepare-before-drain`: that was what a leader asked for; the others vote until it drains.
    pub(super) fn prepared(&mut self, mut effects: StepEffects) -> StepEffects {
        let term = self.machine.core.voter.seen.0;
        for name in [LOW, HIGH] {
            if self.is_preparing() {
                effects.whatever();
                effects = self.hear(name, self.votes(term));
            }
        }
        effects
    }

    pub(super) fn is_preparing(&self) -> bool {
        matches!(&self.machine.state, State::Leading(leading) if leading.preparing.is_some())
    }

    /// Is asked to step down, and has prepared that.
    pub(super) fn drains<'a>(&mut self, to: impl Into<Option<&'a str>>) -> StepEffects {
        let effects = self.step_down(to);
        self.prepared(effects)
    }

    /// Every role, by its name.
    pub(super) fn roles() -> [(&'static str, Self); 10] {
        [
            ("vacant", Self::vacant()),
            ("following", Self::following()),
            ("following one below", Self::following_low()),
            ("witness", Self::witness()),
            ("observer", Self::observer()),
            ("asking", Self::asking()),
            ("claiming", Self::claiming()),
            ("elected", Self::elected()),
            ("leading", Self::leading()),
            ("heard by all", Self::heard()),
        ]
    }

    /// An acknowledgement of what is said at this moment.
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
