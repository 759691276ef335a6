//! The features that are built on an election, and the need of each.
//!
//! Decided here: the need of each feature. A feature without a need works in every mode.

use super::{Carrier, Keeps, Lack, NotOffered, Offers, Tokens, VoterList};

/// Declares the features, each with its name in tables and in refusals.
macro_rules! features {
    ($($feature:ident $name:literal,)*) => {
        /// A feature that is built on an election.
        ///
        /// Its text is the name that tables and refusals use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Feature {
            $(#[doc = $name] $feature,)*
        }

        impl Feature {
            /// All features.
            pub const ALL: &[Self] = &[$(Self::$feature,)*];

            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$feature => $name,)*
                }
            }
        }
    };
}

features! {
    Lead "`lead`",
    Singleton "`Singleton`",
    TieTo "`tie_to`",
    Fence "a fence",
    Gate "a gate that checks fences",
    LeaderProxy "`LeaderProxy`",
    Messages "`Messages`",
    ScheduleSkip "a schedule with `Misfire::Skip`",
    ScheduleLate "a schedule with `Misfire::Late`",
    ScheduleAtLeastOnce "a schedule with `Misfire::AtLeastOnce`",
    ScheduleStream "a schedule by a stream",
    StepDown "`step_down(None)`",
    StepDownTo "`step_down` to a named agent",
    Leave "`leave`",
    Score "`set_score` and `withdraw_score`",
    Margin "`margin`",
    Preemption "`preemption`",
    ChangeVoters "a change of the voters",
    Diagnosis "`diagnosis`",
    About "`about`",
    LeaderRoute "the route `/leader`",
    HealthRoutes "the routes `/health`",
    StatusRoute "the route `/status`",
    Metrics "metrics",
    Page "the page of the dashboard",
    Records "records of the election",
    CtlStatus "`bullyctl status`",
    CtlDiagnosis "`bullyctl diagnosis`",
    CtlWatch "`bullyctl watch`",
    CtlTransfer "`bullyctl transfer`",
    CtlTransferTo "`bullyctl transfer --to`",
    CtlDrain "`bullyctl drain`",
    CtlScore "`bullyctl score`",
    CtlRecord "`bullyctl record`",
    CtlVoters "`bullyctl voters` that changes them",
    CtlSchedulesReset "`bullyctl schedules reset`",
}

/// The property that a feature needs. The mode must offer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FeatureNeed {
    Nothing,
    /// An application's messages reach the agent that leads.
    Carrier,
    /// The marks of schedules are records of a store, and a command can remove a mark.
    StoredMarks,
    Fence,
    VoterList,
    Policy,
}

impl Feature {
    const fn need(self) -> FeatureNeed {
        match self {
            Self::Lead
            | Self::Singleton
            | Self::TieTo
            | Self::ScheduleSkip
            | Self::ScheduleLate
            | Self::ScheduleAtLeastOnce
            | Self::ScheduleStream
            | Self::StepDown
            | Self::StepDownTo
            | Self::Leave
            | Self::Score
            | Self::Diagnosis
            | Self::About
            | Self::LeaderRoute
            | Self::HealthRoutes
            | Self::StatusRoute
            | Self::Metrics
            | Self::Page
            | Self::Records
            | Self::CtlStatus
            | Self::CtlDiagnosis
            | Self::CtlWatch
            | Self::CtlTransfer
            | Self::CtlTransferTo
            | Self::CtlDrain
            | Self::CtlScore
            | Self::CtlRecord => FeatureNeed::Nothing,
            Self::Fence | Self::Gate => FeatureNeed::Fence,
            Self::LeaderProxy | Self::Messages => FeatureNeed::Carrier,
            Self::Margin | Self::Preemption => FeatureNeed::Policy,
            Self::ChangeVoters | Self::CtlVoters => FeatureNeed::VoterList,
            Self::CtlSchedulesReset => FeatureNeed::StoredMarks,
        }
    }
}

impl Offers {
    /// Checks that these offers meet the need of a feature.
    ///
    /// # Errors
    /// [`NotOffered`] names the missing offer, and the setting that provides it.
    pub fn check(self, feature: Feature) -> Result<(), NotOffered> {
        match self.lacks(feature.need()) {
            Some(lack) => Err(NotOffered { feature, lack }),
            None => Ok(()),
        }
    }

    const fn lacks(self, need: FeatureNeed) -> Option<Lack> {
        match need {
            FeatureNeed::Nothing => None,
            FeatureNeed::Carrier => match self.carrier {
                Carrier::Process | Carrier::Links => None,
                Carrier::None => Some(Lack::Carrier),
            },
            FeatureNeed::StoredMarks => match self.keeps {
                Keeps::Store => None,
                Keeps::Voters | Keeps::BestEffort => Some(Lack::StoredMarks),
            },
            FeatureNeed::Fence => match self.tokens {
                Tokens::Fence => None,
                Tokens::Conditional => Some(Lack::FenceWithoutCondition),
                Tokens::Epoch => Some(Lack::Fence),
            },
            FeatureNeed::VoterList => match self.voters {
                VoterList::Changes => None,
                VoterList::Fixed => Some(Lack::VotersThatChange),
                VoterList::None => Some(Lack::Voters),
            },
            FeatureNeed::Policy => {
                if self.has_policy {
                    None
                } else {
                    Some(Lack::Policy)
                }
            }
        }
    }
}
