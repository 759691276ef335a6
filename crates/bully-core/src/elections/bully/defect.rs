//! The rules of a bully election that are broken on purpose, to prove that the tests would find it.

use super::BullyConfig;
use crate::parts::defects;

defects! { BullyConfig:
    /// `stale-is-ignored`: an older announcement is followed.
    StaleIsNews,
    /// `fast-path`: a silent leader is followed for ever.
    SilenceUnnoticed,
    /// `fast-path`: the leader whose end is reported is followed on.
    EndUnnoticed,
    /// `yield-on-outranked`: of two leaders that meet, both lead on.
    MeetsAndLeads,
    /// `later-process-leads`: a leader leads on whose peers know a later process of its name.
    DisownedLeads,
}
