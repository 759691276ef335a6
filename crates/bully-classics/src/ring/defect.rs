//! The rules of a ring election that are broken on purpose, to prove that the tests would find it.

use super::RingConfig;
use bully_core::parts::defects;

defects! { RingConfig:
    /// `skip-the-silent`: a member that is known to be down is in the ring.
    WritesToTheDead,
    /// `skip-the-silent`: a member that has ended is waited for.
    WaitsForTheDead,
    /// `yield-to-stronger`: an agent takes part in a weaker election.
    WeakerCounts,
    /// `follow-the-newest`: an older announcement is believed.
    StaleIsNews,
    /// `probe-the-skipped`: a skipped member is never probed.
    NeverProbes,
}
