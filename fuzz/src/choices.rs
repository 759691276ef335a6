//! Bytes as choices: of a number, an agent, a term, a score.

use std::sync::LazyLock;

use actix_bully::protocol::{AgentId, Incarnation, Score, Term};

/// The names of the agents; made once, because making them takes longer than a run.
pub(crate) static NAMES: LazyLock<[AgentId; 5]> = LazyLock::new(|| {
    ["a", "b", "c", "eye", "stranger"].map(|name| AgentId::new(name).expect("a name"))
});

/// The remaining bytes. After the last byte every choice is zero.
pub(crate) struct Choices<'a>(pub(crate) &'a [u8]);

impl Choices<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub(crate) fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }

    pub(crate) fn one_in(&mut self, odds: u8) -> bool {
        self.below(odds) == 0
    }

    pub(crate) fn number(&mut self) -> u64 {
        if let Some((first, rest)) = self.0.split_first_chunk() {
            self.0 = rest;
            return u64::from_be_bytes(*first);
        }
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }
}

pub(crate) fn id(number: u8) -> &'static AgentId {
    &NAMES[usize::from(number)]
}

pub(crate) fn name(choices: &mut Choices<'_>) -> AgentId {
    id(choices.below(5)).clone()
}

pub(crate) fn term(choices: &mut Choices<'_>) -> Term {
    match choices.below(12) {
        11 => Term(choices.number()),
        10 => Term(u64::MAX - u64::from(choices.below(3))),
        small => Term(small.into()),
    }
}

pub(crate) fn score(choices: &mut Choices<'_>) -> Score {
    match choices.below(8) {
        7 => Score::from(choices.number().cast_signed()),
        small => Score::from(small),
    }
}

pub(crate) fn some<T>(
    choices: &mut Choices<'_>,
    make: impl FnOnce(&mut Choices<'_>) -> T,
) -> Option<T> {
    choices.one_in(2).then(|| make(choices))
}

pub(crate) fn incarnation(choices: &mut Choices<'_>) -> Incarnation {
    Incarnation(1 + u64::from(choices.below(3)))
}
