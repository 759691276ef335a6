//! The kinds of faults, by their names in the log: how often each kind is drawn, and in which histories.
//!
//! Decided here: the list of kinds. `faults.rs` carries out each fault.

use std::collections::BTreeSet;

use crate::plan::Plan;

/// Defines the kinds with their names in the log.
macro_rules! faults {
    ($($(#[$doc:meta])* $fault:ident $name:literal,)*) => {
        /// A fault of a host that runs, or of an agent on it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault { $($(#[$doc])* $fault,)* }

        impl Fault {
            pub const ALL: &[Self] = &[$(Self::$fault),*];

            /// Returns the name in the log.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$fault => $name),* }
            }
        }
    };
}

faults! {
    // ---- the network, with the faults of switches and cables
    Cut "cut",
    CutOneWay "cut-one-way",
    Hold "hold",
    Mend "mend",
    Isolate "isolate",
    Deafen "deafen",
    MendAll "mend-all",
    SlowReader "slow-reader",
    /// The host reads the frames of a peer late: only after that peer's process has restarted, or the peer's agent
    /// has crashed or moved.
    LateRosters "late-rosters",
    // ---- processes
    PowerOff "power-off",
    Kill "kill",
    Bounce "bounce",
    CrashBridge "crash-bridge",
    /// The process ends as politely as it can.
    Leave "leave",
    // ---- agents
    CrashAgent "crash-agent",
    /// An agent leaves, and starts again with the same store.
    RestartAgent "restart-agent",
    /// An agent steps down at its user's command.
    HandOver "hand-over",
    /// An agent hangs, and `leave` gives up on it. A successor starts with the same store, and then the hung agent
    /// wakes.
    Hang "hang",
    /// An agent leaves, and starts with its store on another host.
    Move "move",
    /// An agent moves to another host with its store while its old host is cut off from all others.
    MoveUnseen "move-unseen",
    /// An agent's host ends, and the agent starts with its store on another host.
    MoveFromDead "move-from-dead",
    /// An agent leaves, and its next start brings a new store. If the new store is refused, the agent starts with its
    /// own store.
    FreshMemory "fresh-memory",
    /// Two agents of one process do not hear each other for a while.
    Silence "silence",
    // ---- clocks
    /// The process stands still, but its timers go on.
    Pause "pause",
    /// The host is suspended: its process stands still. Afterwards its boot clock has counted more than its timers.
    Suspend "suspend",
    /// All hosts are suspended, as on one machine: every boot clock has counted the suspend, and no timer has.
    SuspendAll "suspend-all",
    /// A process starts while the wall clock of its host is years ahead.
    WallAhead "wall-ahead",
    /// A process starts while the wall clock of its host is an hour back.
    WallBack "wall-back",
    // ---- configuration
    /// An agent is restarted with other timings.
    Retime "retime",
    /// A process is restarted with another list of voters in the same epoch.
    OtherVoters "other-voters",
    /// A process is restarted with the same voters in the next epoch.
    NextEpoch "next-epoch",
    /// An agent is asked for another list of voters while all agents run. Or a voter is lost for good, and another
    /// agent takes its place.
    ChangeVoters "change-voters",
    /// The sentinel of a host ends before its process.
    KillSentinel "kill-sentinel",
    /// A stranger claims that a process has ended, and repeats an old notice of a sentinel.
    ForgeNotice "forge-notice",
    /// The processes of one, several or all hosts end at once, and most of them start again. Voters without disks
    /// forget their promises.
    Outage "outage",
}

/// The kinds that a history may draw.
pub type Kinds = BTreeSet<Fault>;

impl Fault {
    /// Returns the fault with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }

    /// Returns all kinds of faults for voters that do not change. The kinds in `APART` are left out, so that every
    /// history of these seeds stays the same.
    pub fn all() -> Kinds {
        let all = Self::ALL.iter().copied();
        all.filter(|fault| !Self::APART.contains(fault)).collect()
    }

    /// Returns the kinds of faults for voters that change while the group runs.
    pub fn of_voters() -> Kinds {
        let mut kinds = Self::all();
        kinds.insert(Self::ChangeVoters);
        kinds.retain(|fault| !Self::BESIDE_CHANGES.contains(fault));
        kinds
    }

    /// Returns the kinds of faults for voters that have no disks.
    pub fn of_diskless() -> Kinds {
        let mut kinds = Self::all();
        kinds.insert(Self::Outage);
        kinds.retain(|fault| !Self::WITH_DISKS.contains(fault));
        kinds
    }

    /// Returns the kinds of faults for hosts with sentinels, and for strangers that forge the notices of sentinels.
    pub fn of_sentinels() -> Kinds {
        let mut kinds = Self::all();
        kinds.extend([Self::KillSentinel, Self::ForgeNotice]);
        kinds
    }

    /// Kinds that are only drawn on request.
    const APART: [Self; 4] = [
        Self::ChangeVoters,
        Self::KillSentinel,
        Self::ForgeNotice,
        Self::Outage,
    ];

    /// Kinds that a group of voters without disks cannot have, or under which it promises nothing: faults of a store;
    /// a name on two hosts, one after the other; other timings; a boot clock that is ahead of all others; two lists,
    /// where one was configured before the voters of the other had ended.
    const WITH_DISKS: [Self; 8] = [
        Self::FreshMemory,
        Self::Move,
        Self::MoveUnseen,
        Self::MoveFromDead,
        Self::Retime,
        Self::Suspend,
        Self::NextEpoch,
        Self::ChangeVoters,
    ];

    /// Kinds that set a clock. They are left out where all clocks are alike and right.
    const OF_CLOCKS: [Self; 2] = [Self::WallAhead, Self::WallBack];

    /// Kinds under which nothing is promised while the voters change: an operator configures a list while the group
    /// decides another one, and a voter with an old name has a new store.
    const BESIDE_CHANGES: [Self; 2] = [Self::NextEpoch, Self::FreshMemory];

    /// Returns the relative frequency of this kind.
    pub(crate) const fn weight(self) -> u32 {
        match self {
            Self::KillSentinel | Self::ForgeNotice => 3,
            Self::CutOneWay | Self::SlowReader | Self::MoveUnseen | Self::Hang => 2,
            Self::Silence => 4, // histories of one process are few
            Self::Outage => 8,  // so that it hits many hosts at a time
            Self::ChangeVoters => 16,
            _ => 1,
        }
    }

    /// Whether a history of this plan can have this kind.
    pub(crate) fn fits(self, plan: &Plan) -> bool {
        if plan.changes_voters() && Self::BESIDE_CHANGES.contains(&self) {
            return false;
        }
        if plan.is_diskless {
            let (ours, theirs) = (plan.is_steady, !plan.is_steady);
            if Self::WITH_DISKS.contains(&self)
                || ours && Self::OF_CLOCKS.contains(&self)
                // Clocks with different rates count a long suspend differently.
                || theirs && self == Self::SuspendAll
            {
                return false;
            }
        }
        match self {
            Self::Outage => plan.is_diskless,
            Self::CrashAgent
            | Self::RestartAgent
            | Self::ChangeVoters
            | Self::HandOver
            | Self::Hang
            | Self::Pause
            | Self::SuspendAll => true,
            Self::Retime => plan.is_rolling,
            Self::Silence => plan.is_one_process(),
            Self::FreshMemory => plan.is_one_process() && plan.is_quorum,
            Self::OtherVoters | Self::NextEpoch => !plan.is_one_process() && plan.is_quorum,
            _ => !plan.is_one_process(),
        }
    }

    /// Whether this kind needs a host with an agent.
    pub(crate) const fn needs_an_agent(self) -> bool {
        matches!(
            self,
            Self::CrashAgent
                | Self::RestartAgent
                | Self::HandOver
                | Self::Hang
                | Self::Move
                | Self::MoveUnseen
                | Self::MoveFromDead
                | Self::FreshMemory
                | Self::Silence
                | Self::Retime
                | Self::ChangeVoters
        )
    }
}
