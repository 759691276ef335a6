//! The kinds of faults, by the names in a log: how often each is drawn, and in which histories.
//!
//! Decided here: which kinds there are. How each is done to the hosts is in `faults.rs`.

use std::collections::BTreeSet;

use crate::plan::Plan;

/// Something that can happen to a host that runs, or to an agent on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    // ---- the network, as switches and cables do it
    Cut,
    CutOneWay,
    Hold,
    Mend,
    Isolate,
    Deafen,
    MendAll,
    SlowReader,
    /// The host reads what a peer has sent only after that peer's process has restarted, or its
    /// agent has crashed or gone elsewhere.
    LateRosters,
    // ---- processes
    PowerOff,
    Kill,
    Bounce,
    CrashBridge,
    /// The process ends as politely as it can.
    Leave,
    // ---- agents
    CrashAgent,
    /// An agent leaves, and starts again with the same store.
    RestartAgent,
    /// An agent steps down at its user's command.
    HandOver,
    /// An agent hangs, `leave` gives up on it, a successor starts with the same store; then the
    /// hung one wakes.
    Hang,
    /// An agent leaves, and starts with its store on another host.
    Move,
    /// The same, while its host is cut off from all others.
    MoveUnseen,
    /// An agent's host ends, and the agent starts with its store on another one.
    MoveFromDead,
    /// An agent leaves, and its next start brings a store that is new; if that is refused, its own.
    FreshMemory,
    /// Two agents of one process do not hear each other for a while.
    Silence,
    // ---- clocks
    /// The process stands still; its timers go on.
    Pause,
    /// The host is suspended: its process stands still, then its boot clock has counted more than
    /// its timers have.
    Suspend,
    /// All hosts are suspended, as on one machine: every boot clock has counted it, no timer has.
    SuspendAll,
    /// A process starts while the wall clock of its host is years ahead.
    WallAhead,
    /// A process starts while the wall clock of its host is an hour back.
    WallBack,
    // ---- configuration
    /// An agent is restarted with other timings.
    Retime,
    /// A process is restarted with another list of voters in the same epoch.
    OtherVoters,
    /// A process is restarted with the next epoch.
    NextEpoch,
    /// An agent is asked for another list of voters, while all run; or a voter is lost, so that another
    /// one has to take its place.
    ChangeVoters,
    /// The sentinel of a host ends before its process.
    KillSentinel,
    /// A stranger says that a process has ended, and repeats what a sentinel said before.
    ForgeNotice,
    /// The processes of one, several or all hosts end at once, and most start again: voters without disks
    /// forget what they promised.
    Outage,
}

/// Which kinds a history may draw.
pub type Kinds = BTreeSet<Fault>;

impl Fault {
    /// All of them.
    pub const ALL: [Self; 35] = [
        Self::Cut,
        Self::CutOneWay,
        Self::Hold,
        Self::Mend,
        Self::Isolate,
        Self::Deafen,
        Self::MendAll,
        Self::SlowReader,
        Self::LateRosters,
        Self::PowerOff,
        Self::Kill,
        Self::Bounce,
        Self::CrashBridge,
        Self::Leave,
        Self::CrashAgent,
        Self::RestartAgent,
        Self::HandOver,
        Self::Hang,
        Self::Move,
        Self::MoveUnseen,
        Self::MoveFromDead,
        Self::FreshMemory,
        Self::Silence,
        Self::Pause,
        Self::Suspend,
        Self::SuspendAll,
        Self::WallAhead,
        Self::WallBack,
        Self::Retime,
        Self::OtherVoters,
        Self::NextEpoch,
        Self::ChangeVoters,
        Self::KillSentinel,
        Self::ForgeNotice,
        Self::Outage,
    ];

    /// Its name in a log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::CutOneWay => "cut-one-way",
            Self::Hold => "hold",
            Self::Mend => "mend",
            Self::Isolate => "isolate",
            Self::Deafen => "deafen",
            Self::MendAll => "mend-all",
            Self::SlowReader => "slow-reader",
            Self::LateRosters => "late-rosters",
            Self::PowerOff => "power-off",
            Self::Kill => "kill",
            Self::Bounce => "bounce",
            Self::CrashBridge => "crash-bridge",
            Self::Leave => "leave",
            Self::CrashAgent => "crash-agent",
            Self::RestartAgent => "restart-agent",
            Self::HandOver => "hand-over",
            Self::Hang => "hang",
            Self::Move => "move",
            Self::MoveUnseen => "move-unseen",
            Self::MoveFromDead => "move-from-dead",
            Self::FreshMemory => "fresh-memory",
            Self::Silence => "silence",
            Self::Pause => "pause",
            Self::Suspend => "suspend",
            Self::SuspendAll => "suspend-all",
            Self::WallAhead => "wall-ahead",
            Self::WallBack => "wall-back",
            Self::Retime => "retime",
            Self::OtherVoters => "other-voters",
            Self::NextEpoch => "next-epoch",
            Self::ChangeVoters => "change-voters",
            Self::KillSentinel => "kill-sentinel",
            Self::ForgeNotice => "forge-notice",
            Self::Outage => "outage",
        }
    }

    /// The fault of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// All kinds, with voters that stay. Without the others every history stays the same.
    #[must_use]
    pub fn all() -> Kinds {
        let all = Self::ALL.into_iter();
        all.filter(|fault| !Self::APART.contains(fault)).collect()
    }

    /// The same, with voters that change while the group runs.
    #[must_use]
    pub fn of_voters() -> Kinds {
        let mut kinds = Self::all();
        kinds.insert(Self::ChangeVoters);
        kinds.retain(|fault| !Self::BESIDE_CHANGES.contains(fault));
        kinds
    }

    /// The same, with voters that have no disks.
    #[must_use]
    pub fn of_diskless() -> Kinds {
        let mut kinds = Self::all();
        kinds.insert(Self::Outage);
        kinds.retain(|fault| !Self::WITH_DISKS.contains(fault));
        kinds
    }

    /// The same, with sentinels, and with strangers that forge what those say.
    #[must_use]
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
