//! The kinds of faults, by the names in a log: how often each is drawn, and in which histories.
//!
//! Decided here: which kinds there are. How each is done to the hosts is in `faults.rs`.

use std::collections::BTreeSet;

use crate::plan::Plan;

/// The kinds with their names in a log.
macro_rules! faults {
    ($($(#[$doc:meta])* $fault:ident $name:literal,)*) => {
        /// Something that can happen to a host that runs, or to an agent on it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault { $($(#[$doc])* $fault,)* }

        impl Fault {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$fault),*];

            /// Its name in a log.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$fault => $name),* }
            }
        }
    };
}

faults! {
    // ---- the network, as switches and cables do it
    Cut "cut",
    CutOneWay "cut-one-way",
    Hold "hold",
    Mend "mend",
    Isolate "isolate",
    Deafen "deafen",
    MendAll "mend-all",
    SlowReader "slow-reader",
    /// The host reads what a peer has sent only after that peer's process has restarted, or its
    /// agent has crashed or gone elsewhere.
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
    /// An agent hangs, `leave` gives up on it, a successor starts with the same store; then the
    /// hung one wakes.
    Hang "hang",
    /// An agent leaves, and starts with its store on another host.
    Move "move",
    /// The same, while its host is cut off from all others.
    MoveUnseen "move-unseen",
    /// An agent's host ends, and the agent starts with its store on another one.
    MoveFromDead "move-from-dead",
    /// An agent leaves, and its next start brings a store that is new; if that is refused, its own.
    FreshMemory "fresh-memory",
    /// Two agents of one process do not hear each other for a while.
    Silence "silence",
    // ---- clocks
    /// The process stands still; its timers go on.
    Pause "pause",
    /// The host is suspended: its process stands still, then its boot clock has counted more than
    /// its timers have.
    Suspend "suspend",
    /// All hosts are suspended, as on one machine: every boot clock has counted it, no timer has.
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
    /// A process is restarted with the next epoch.
    NextEpoch "next-epoch",
    /// An agent is asked for another list of voters, while all run; or a voter is lost, so that another
    /// one has to take its place.
    ChangeVoters "change-voters",
    /// The sentinel of a host ends before its process.
    KillSentinel "kill-sentinel",
    /// A stranger says that a process has ended, and repeats what a sentinel said before.
    ForgeNotice "forge-notice",
    /// The processes of one, several or all hosts end at once, and most start again: voters without disks
    /// forget what they promised.
    Outage "outage",
}

/// Which kinds a history may draw.
pub type Kinds = BTreeSet<Fault>;

impl Fault {
    /// The fault of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }

    /// All kinds, with voters that stay. Without the others every history stays the same.
    pub fn all() -> Kinds {
        let all = Self::ALL.iter().copied();
        all.filter(|fault| !Self::APART.contains(fault)).collect()
    }

    /// The same, with voters that change while the group runs.
    pub fn of_voters() -> Kinds {
        let mut kinds = Self::all();
        kinds.insert(Self::ChangeVoters);
        kinds.retain(|fault| !Self::BESIDE_CHANGES.contains(fault));
        kinds
    }

    /// The same, with voters that have no disks.
    pub fn of_diskless() -> Kinds {
        let mut kinds = Self::all();
        kinds.insert(Self::Outage);
        kinds.retain(|fault| !Self::WITH_DISKS.contains(fault));
        kinds
    }

    /// The same, with sentinels, and with strangers that forge what those say.
    pub fn of_sentinels() -> Kinds {
        let mut kinds = Self::all();
        kinds.extend([Self::KillSentinel, Self::ForgeNotice]);
        kinds
    }

    /// These are drawn only where they are asked for.
    const APART: [Self; 4] = [
        Self::ChangeVoters,
        Self::KillSentinel,
        Self::ForgeNotice,
        Self::Outage,
    ];

    /// What no group of voters without disks can have, or is not promised anything under: a store; a name on two hosts,
    /// one after the other; other timings; a boot clock that is ahead of all
    /// others; two lists, one of which was typed before the other one's voters had ended.
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

    /// Where all clocks are alike and right, none may be set or count otherwise.
    const OF_CLOCKS: [Self; 2] = [Self::WallAhead, Self::WallBack];

    /// These promise nothing where voters change: a list that is typed while another one is decided,
    /// and a new store under an old name.
    const BESIDE_CHANGES: [Self; 2] = [Self::NextEpoch, Self::FreshMemory];

    /// How often it is drawn, beside the others.
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

    /// Whether a history of that plan can have it.
    pub(crate) fn fits(self, plan: &Plan) -> bool {
        if plan.changes_voters() && Self::BESIDE_CHANGES.contains(&self) {
            return false;
        }
        if plan.is_diskless {
            let (ours, theirs) = (plan.is_steady, !plan.is_steady);
            if Self::WITH_DISKS.contains(&self)
                || ours && Self::OF_CLOCKS.contains(&self)
                // At rates of their own clocks count a long suspend differently.
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

    /// Whether only a host with an agent on it can have it.
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
