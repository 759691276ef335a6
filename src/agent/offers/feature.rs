//! The features that are built on an election, and the need of each.
//!
//! Decided here: the need of each feature. A feature without a need works in every mode.

use super::{Carrier, Keeps, Lack, NotOffered, Offers, Tokens, VoterList};

/// Declares the features, each with its name in tables and in refusals. The first list has the features that some modes
/// refuse. The second list has the features that work in every mode: only tests need them.
macro_rules! features {
    ({ $($feature:ident: $need:ident $name:literal,)* } { $($free:ident $free_name:literal,)* }) => {
        /// A feature that is built on an election, and that some modes refuse. All other features work in every mode.
        ///
        /// Its text is the name that tables and refusals use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Feature {
            $(#[doc = $name] $feature,)*
            $(#[cfg(any(test, feature = "testkit"))] #[doc = $free_name] $free,)*
        }

        impl Feature {
            /// All features.
            #[cfg(any(test, feature = "testkit"))]
            pub const ALL: &[Self] = &[$(Self::$feature,)* $(Self::$free,)*];

            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$feature => $name,)*
                    $(#[cfg(any(test, feature = "testkit"))] Self::$free => $free_name,)*
                }
            }

            /// Returns the need of this feature; `None` if the feature works in every mode.
            const fn need(self) -> Option<FeatureNeed> {
                match self {
                    $(Self::$feature => Some(FeatureNeed::$need),)*
                    $(#[cfg(any(test, feature = "testkit"))] Self::$free => None,)*
                }
            }
        }
    };
}

features! {
    {
        Fence: Fence "a fence",
        Gate: Fence "a gate that checks fences",
        LeaderProxy: Carrier "`LeaderProxy`",
        Messages: Carrier "`Messages`",
        Margin: Policy "`margin`",
        Preemption: Policy "`preemption`",
        ChangeVoters: VoterList "a change of the voters",
        CtlVoters: VoterList "`bullyctl voters` that changes them",
        CtlSchedulesReset: StoredMarks "`bullyctl schedules reset`",
    }
    {
        Lead "`lead`",
        Singleton "`Singleton`",
        TieTo "`tie_to`",
        ScheduleSkip "a schedule with `Misfire::Skip`",
        ScheduleLate "a schedule with `Misfire::Late`",
        ScheduleAtLeastOnce "a schedule with `Misfire::AtLeastOnce`",
        ScheduleStream "a schedule by a stream",
        StepDown "`step_down(None)`",
        StepDownTo "`step_down` to a named agent",
        Leave "`leave`",
        Score "`set_score` and `withdraw_score`",
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
    }
}

/// The property that a feature needs. The mode must offer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FeatureNeed {
    /// An application's messages reach the agent that leads.
    Carrier,
    /// The marks of schedules (the records of their progress) are in a store, and a command can remove a mark.
    StoredMarks,
    Fence,
    VoterList,
    Policy,
}

impl Offers {
    /// Checks that the offers meet the need of a feature.
    ///
    /// # Errors
    /// [`NotOffered`] names the missing offer, and the setting that provides it.
    pub fn check(self, feature: Feature) -> Result<(), NotOffered> {
        match feature.need().and_then(|need| self.lacks(need)) {
            Some(lack) => Err(NotOffered { feature, lack }),
            None => Ok(()),
        }
    }

    const fn lacks(self, need: FeatureNeed) -> Option<Lack> {
        match need {
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
