//! The prospects of an agent (the reasons why it waits or does not lead), in as little memory as possible.
//!
//! Decided here: prospects that contain only a preemption policy are stored without an allocation. Not here: the
//! contents of the prospects ([`Prospects`]), and their reader (`diagnosis/`).

use crate::protocol::{Preemption, Prospects};

/// The prospects of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeptProspects {
    Idle(Option<Preemption>),
    Other(Box<Prospects>),
}

impl Default for KeptProspects {
    fn default() -> Self {
        Self::Idle(None)
    }
}

impl From<Prospects> for KeptProspects {
    fn from(prospects: Prospects) -> Self {
        if prospects.is_idle() {
            Self::Idle(prospects.preemption)
        } else {
            Self::Other(Box::new(prospects))
        }
    }
}

impl KeptProspects {
    pub(super) fn get(&self) -> Prospects {
        match self {
            Self::Idle(preemption) => Prospects {
                preemption: *preemption,
                ..Prospects::default()
            },
            Self::Other(prospects) => Prospects::clone(prospects),
        }
    }

    #[cfg(test)]
    pub(super) fn edit(&mut self) -> &mut Prospects {
        if let Self::Idle(_) = self {
            *self = Self::Other(Box::new(self.get()));
        }
        match self {
            Self::Other(prospects) => prospects,
            Self::Idle(_) => unreachable!("just replaced"),
        }
    }
}
