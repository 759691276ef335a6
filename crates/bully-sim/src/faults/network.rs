//! The network between members: which members are connected, and the fate of each message.
//!
//! The verbs are the same as in the test network of raft-rs: `cut`, `isolate`, `drop`, `ignore`, `recover`.

use std::{collections::BTreeMap, fmt};

use super::{Arrivals, Conditions, ConditionsError, Fate, Loss, SplitMix64, Tally};
use bully_core::protocol::{AgentId, Time};

/// A network with faults that depend on a seed. Members need not be registered: a name is enough.
///
/// ```
/// use bully_core::protocol::Time;
/// use bully_sim::faults::{Conditions, Fate, Loss, Network};
/// let mut network: Network<&str> = Network::new(7, Conditions::default());
/// network.partition([vec!["a", "b"], vec!["c", "d"]]);
/// assert_eq!(network.fate(Time::ZERO, &"a", &"c"), Fate::Lost(Loss::Partition));
/// assert!(matches!(network.fate(Time::ZERO, &"c", &"d"), Fate::Arrives(_)));
/// assert_eq!(network.to_string(), "seed 7; delay 0ns to 0ns, in order; sides a b | c d");
/// ```
#[derive(Clone, Debug)]
pub struct Network<K = AgentId> {
    seed: u64,
    random: SplitMix64,
    conditions: Conditions,
    members: BTreeMap<K, SenderLinks<K>>,
    ignored: Vec<&'static str>,
    /// Whether any member may be cut off from another. If not, no look-up is needed.
    separated: bool,
    tally: Tally,
}

/// The special settings of one member. Usually a member has no special settings.
#[derive(Clone, Debug)]
struct SenderLinks<K> {
    side: usize,
    isolated: bool,
    links: BTreeMap<K, LinkState>,
}

/// The special settings of the direction from one member to another.
#[derive(Clone, Copy, Debug, Default)]
struct LinkState {
    cut: bool,
    conditions: Option<Conditions>,
    /// The latest arrival so far in this direction.
    latest: Time,
}

impl<K> Default for SenderLinks<K> {
    fn default() -> Self {
        Self {
            side: 0,
            isolated: false,
            links: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone> Network<K> {
    /// Returns a network whose links have equal conditions and that separates no members.
    pub fn new(seed: u64, conditions: Conditions) -> Self {
        Self {
            seed,
            random: SplitMix64::new(seed),
            conditions,
            members: BTreeMap::new(),
            ignored: Vec::new(),
            separated: false,
            tally: Tally::default(),
        }
    }

    /// Decides the fate of a message sent now; see [`fate_of`](Self::fate_of).
    pub fn fate(&mut self, now: Time, from: &K, to: &K) -> Fate {
        self.fate_of("", now, from, to)
    }

    /// Decides the fate of a message of this kind that is sent now.
    ///
    /// Each call counts as one sent message and takes numbers from the generator.
    pub fn fate_of(&mut self, kind: &str, now: Time, from: &K, to: &K) -> Fate {
        self.tally.sent = self.tally.sent.saturating_add(1);
        let loss = if self.ignored.contains(&kind) {
            Some(Loss::Ignored)
        } else {
            self.separation(from, to)
        };
        if let Some(why) = loss {
            self.tally.lose(why);
            return Fate::Lost(why);
        }
        let sender = self.members.get_mut(from);
        let link = sender.and_then(|sender| sender.links.get_mut(to));
        let known = link.is_some();
        let mut first = Time::ZERO;
        let (own, latest) = match link {
            Some(link) => (link.conditions.as_ref(), &mut link.latest),
            None => (None, &mut first),
        };
        let conditions = own.unwrap_or(&self.conditions);
        if self.random.chance(conditions.loss) {
            self.tally.lose(Loss::Chance);
            return Fate::Lost(Loss::Chance);
        }
        let (random, tally) = (&mut self.random, &mut self.tally);
        let mut arrivals = Arrivals::once(arrival(conditions, random, tally, now, latest));
        let mut copies = 1;
        while copies < Arrivals::MOST && random.chance(conditions.duplication) {
            arrivals.add(arrival(conditions, random, tally, now, latest));
            copies += 1;
        }
        if copies > 1 {
            tally.duplicated = tally.duplicated.saturating_add(1);
        }
        // Nothing is stored for a link without delay, because no message on it can be overtaken.
        if !known && first > now {
            self.link(from, to).latest = first;
        }
        Fate::Arrives(arrivals)
    }

    /// Cuts the link between two members in both directions.
    pub fn cut(&mut self, one: &K, other: &K) {
        self.cut_one_way(one, other);
        self.cut_one_way(other, one);
    }

    /// Cuts the direction from one member to another. The other direction does not change.
    pub fn cut_one_way(&mut self, from: &K, to: &K) {
        self.link(from, to).cut = true;
        self.separated = true;
    }

    /// Restores the link between two members in both directions. A partition or an isolation does not end.
    pub fn mend(&mut self, one: &K, other: &K) {
        self.link(one, other).cut = false;
        self.link(other, one).cut = false;
    }

    /// Cuts a member off from all other members in both directions. Members that come later are included.
    pub fn isolate(&mut self, member: &K) {
        self.member(member).isolated = true;
        self.separated = true;
    }

    /// Ends the isolation of a member. A cut or a partition does not end.
    pub fn rejoin(&mut self, member: &K) {
        self.member(member).isolated = false;
    }

    /// Separates the members into sides that cannot reach each other. Members that are in no side form one more side,
    /// together with members that come later. The new partition replaces an earlier partition.
    pub fn partition<S>(&mut self, sides: impl IntoIterator<Item = S>)
    where
        S: IntoIterator<Item = K>,
    {
        for sender in self.members.values_mut() {
            sender.side = 0;
        }
        for (side, members) in (1..).zip(sides) {
            for member in members {
                self.member(&member).side = side;
                self.separated = true;
            }
        }
    }

    /// Ends every cut, isolation and partition. The conditions do not change.
    pub fn heal(&mut self) {
        for sender in self.members.values_mut() {
            (sender.side, sender.isolated) = (0, false);
            for link in sender.links.values_mut() {
                link.cut = false;
            }
        }
        self.separated = false;
    }

    /// Loses this share of the messages from one member to another. Other links do not change.
    ///
    /// # Errors
    /// [`ConditionsError::Loss`] above 1000 per mille; then nothing has changed.
    pub fn drop(&mut self, from: &K, to: &K, per_mille: u16) -> Result<(), ConditionsError> {
        let conditions = self.link(from, to).conditions.unwrap_or(self.conditions);
        let worse = conditions.to_builder().loss(per_mille).build()?;
        self.link(from, to).conditions = Some(worse);
        Ok(())
    }

    /// Loses every message of this kind; see [`PeerMessage::kind`](bully_core::protocol::PeerMessage::kind).
    pub fn ignore(&mut self, kind: &'static str) {
        if !self.ignored.contains(&kind) {
            self.ignored.push(kind);
        }
    }

    /// Gives the direction from one member to another its own conditions; `None`: the common conditions.
    pub fn set_link(&mut self, from: &K, to: &K, conditions: Option<Conditions>) {
        self.link(from, to).conditions = conditions;
    }

    /// Replaces the common conditions, which apply to every link without its own conditions.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Ends every cut, isolation and partition, and every special treatment of a link or of a kind of message.
    pub fn recover(&mut self) {
        self.heal();
        self.ignored.clear();
        for sender in self.members.values_mut() {
            for link in sender.links.values_mut() {
                link.conditions = None;
            }
        }
    }

    /// Returns whether messages from one member can reach another, except for losses by chance.
    pub fn connects(&self, from: &K, to: &K) -> bool {
        self.separation(from, to).is_none()
    }

    /// Returns the conditions of every link without its own conditions.
    pub const fn conditions(&self) -> Conditions {
        self.conditions
    }

    /// Returns whether all links of a member are cut.
    pub fn is_isolated(&self, member: &K) -> bool {
        self.members.get(member).is_some_and(|links| links.isolated)
    }

    /// Returns which members are cut off from which other members.
    pub fn separations(&self) -> Separations<K> {
        let mut found = Separations::default();
        if !self.separated {
            return found;
        }
        for (name, sender) in &self.members {
            if sender.side > 0 {
                found.sides.insert(name.clone(), sender.side);
            }
            if sender.isolated {
                found.isolated.insert(name.clone());
            }
            let cut = sender.links.iter().filter(|(_, link)| link.cut);
            found
                .cuts
                .extend(cut.map(|(to, _)| (name.clone(), to.clone())));
        }
        found
    }

    /// Returns the number of messages by fate so far.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    fn separation(&self, from: &K, to: &K) -> Option<Loss> {
        if !self.separated {
            return None;
        }
        let (a, b) = (self.members.get(from), self.members.get(to));
        if a.is_some_and(|s| s.isolated) || b.is_some_and(|s| s.isolated) {
            return Some(Loss::Isolation);
        }
        if a.map_or(0, |s| s.side) != b.map_or(0, |s| s.side) {
            return Some(Loss::Partition);
        }
        a.and_then(|s| s.links.get(to))
            .is_some_and(|link| link.cut)
            .then_some(Loss::Cut)
    }

    fn member(&mut self, member: &K) -> &mut SenderLinks<K> {
        self.members.entry(member.clone()).or_default()
    }

    fn link(&mut self, from: &K, to: &K) -> &mut LinkState {
        self.member(from).links.entry(to.clone()).or_default()
    }
}

/// The members that are cut off.
#[derive(Clone, Debug)]
pub struct Separations<K = AgentId> {
    /// The side of each member that is in a side of the partition.
    pub sides: BTreeMap<K, usize>,
    /// Members that are cut off from all other members.
    pub isolated: std::collections::BTreeSet<K>,
    /// The directions that are cut, from one member to another.
    pub cuts: Vec<(K, K)>,
}

impl<K> Default for Separations<K> {
    fn default() -> Self {
        Self {
            sides: BTreeMap::new(),
            isolated: std::collections::BTreeSet::new(),
            cuts: Vec::new(),
        }
    }
}

/// Returns the arrival of one copy of a message.
fn arrival(
    conditions: &Conditions,
    random: &mut SplitMix64,
    tally: &mut Tally,
    now: Time,
    latest: &mut Time,
) -> Time {
    let mut at = now.after(random.span(conditions.delay));
    if random.chance(conditions.slow) {
        at = at.after(random.span(conditions.slow_by));
        tally.slow = tally.slow.saturating_add(1);
    }
    if at < *latest {
        // Without `any_order`, a message arrives no earlier than the message that was sent before it.
        if !conditions.any_order {
            return *latest;
        }
        tally.reordered = tally.reordered.saturating_add(1);
        return at;
    }
    *latest = at;
    at
}

/// Writes in one line all that is needed to build the same network again.
impl<K: fmt::Display> fmt::Display for Network<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}; {}", self.seed, self.conditions)?;
        let sides = self.members.values().map(|s| s.side).max().unwrap_or(0);
        if sides > 0 {
            f.write_str("; sides")?;
        }
        for side in 1..=sides {
            f.write_str(if side > 1 { " |" } else { "" })?;
            for (name, _) in self.members.iter().filter(|(_, s)| s.side == side) {
                write!(f, " {name}")?;
            }
        }
        for (name, _) in self.members.iter().filter(|(_, s)| s.isolated) {
            write!(f, "; isolated {name}")?;
        }
        for (from, sender) in &self.members {
            for (to, link) in &sender.links {
                if link.cut {
                    write!(f, "; cut {from} -> {to}")?;
                }
                if let Some(conditions) = &link.conditions {
                    write!(f, "; {from} -> {to} {conditions}")?;
                }
            }
        }
        for kind in &self.ignored {
            write!(f, "; ignored {kind}")?;
        }
        Ok(())
    }
}
