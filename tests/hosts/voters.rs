//! Changes of the voters, as commands to any node during other faults.
//!
//! Decided here: which changes may run at one time, and when a change counts as made. A change may be refused (another
//! one runs, or the new voter was not heard), or its answer may be lost: then it is asked again after healing, which
//! does no harm. Only the change itself gives the nodes the address of a new node. In the end every node must know the
//! expected voters, in one epoch. A node that was begun anew and then removed is no peer any more, and is left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::{Duration, Instant},
};

use crate::{
    Wrong,
    cluster::{Place, SOON},
    log::Line,
    net::Hosts,
    operations::Random,
};

/// Smallest number of voters: with two of them no voter may be down.
const LEAST: usize = 3;
/// Time for which a node asks for a change, and a little more.
const ASKED: Duration = Duration::from_secs(12);
/// Longest time for a change after healing, with repeated commands.
const MADE: Duration = Duration::from_secs(60);
/// Time between two commands for the same change.
const AGAIN: Duration = Duration::from_millis(200);

/// The present and the expected voters.
#[derive(Debug)]
pub(crate) struct Electorate {
    /// The voters after all pending changes.
    voters: BTreeSet<String>,
    pending: Vec<Change>,
    /// Number of commands for each outcome.
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

/// A change for which a node was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    old: Option<String>,
    new: Option<(String, String)>,
    /// The node that was asked, its incarnation, and the number of lines before the command.
    asked: (usize, u32, usize),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.old, &self.new) {
            (Some(old), Some((new, at))) => write!(f, "replace-voter {old} {new} {new} {at}"),
            (None, Some((new, at))) => write!(f, "add-voter {new} {new} {at}"),
            (Some(old), None) => write!(f, "remove-voter {old}"),
            (None, None) => f.write_str("voters"),
        }
    }
}

impl Electorate {
    pub(crate) fn new(voters: impl IntoIterator<Item = String>) -> Self {
        Self {
            voters: voters.into_iter().collect(),
            pending: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Removes a voter or adds a learner. Returns a description.
    pub(crate) fn change(
        &mut self,
        cluster: &mut Hosts,
        random: &mut Random,
    ) -> Result<Option<&'static str>, Wrong> {
        let hosts = cluster.all();
        let subject = cluster.called(hosts[random.up_to(hosts.len())]);
        if self.is_touched(&subject) {
            return Ok(None);
        }
        if self.voters.contains(&subject) {
            if self.voters.len() <= LEAST || !self.bears_without(&subject, 0) {
                return Ok(None);
            }
            self.voters.remove(&subject);
            self.ask(cluster, random, (Some(subject), None))?;
            return Ok(Some("voter removed"));
        }
        let host = hosts
            .into_iter()
            .find(|host| cluster.called(*host) == subject);
        let address = cluster.net.address(host.unwrap_or_default());
        self.voters.insert(subject.clone());
        self.ask(cluster, random, (None, Some((subject, address))))?;
        Ok(Some("voter added"))
    }

    /// Replaces a host that is lost for good, with its store, by a host with another name.
    ///
    /// Only one host is lost at a time: two lost voters of three leave no quorum that could replace them.
    pub(crate) fn lose(
        &mut self,
        cluster: &mut Hosts,
        random: &mut Random,
        host: usize,
    ) -> Result<Option<&'static str>, Wrong> {
        let old = cluster.called(host);
        let loses = |change: &Change| change.new.is_some();
        if self.is_touched(&old) || self.pending.iter().any(loses) || !self.bears_without(&old, 1) {
            return Ok(None);
        }
        cluster.kill(host)?;
        cluster.begin_anew(host)?;
        let (new, address) = (cluster.called(host), cluster.net.address(host));
        let voted = self.voters.remove(&old);
        self.voters.insert(new.clone());
        let parts = (voted.then_some(old), Some((new, address)));
        self.ask(cluster, random, parts)?;
        Ok(Some(if voted {
            "voter replaced"
        } else {
            "learner begun anew"
        }))
    }

    /// Returns whether the other voters are a quorum without `subject`, if no pending voter is added before and `lost`
    /// more voters are lost for good. Without a quorum no change can be decided any more.
    fn bears_without(&self, subject: &str, lost: usize) -> bool {
        let is_new = |name: &str| {
            let mut news = self.pending.iter().filter_map(|change| change.new.as_ref());
            news.any(|(new, _)| new == name)
        };
        let others = self.voters.iter().map(String::as_str);
        let live = others.filter(|name| *name != subject && !is_new(name));
        let replaced = |change: &&Change| change.old.is_some() && change.new.is_some();
        live.count() > lost + self.pending.iter().filter(replaced).count()
    }

    /// Returns whether a change that names `name` is pending.
    fn is_touched(&self, name: &str) -> bool {
        self.pending.iter().any(|change| {
            let new = change.new.as_ref().map(|(new, _)| new.as_str());
            [change.old.as_deref(), new].contains(&Some(name))
        })
    }

    /// Asks a random running node for a change, without a wait for the answer.
    fn ask(
        &mut self,
        cluster: &mut Hosts,
        random: &mut Random,
        (old, new): (Option<String>, Option<(String, String)>),
    ) -> Result<(), Wrong> {
        let running = cluster.running();
        let host = running[random.up_to(running.len())];
        let asked = (host, cluster.incarnation(host), cluster.mark());
        let change = Change { old, new, asked };
        cluster.tell(host, &change.to_string())?;
        self.pending.push(change);
        Ok(())
    }

    /// Waits after healing until every change is made, and every node knows it.
    ///
    /// # Errors
    /// The difference to the expected voters.
    pub(crate) fn settle(&mut self, cluster: &mut Hosts) -> Result<(), Wrong> {
        let pending = std::mem::take(&mut self.pending);
        for (nth, change) in pending.iter().enumerate() {
            self.make(cluster, change, &new_hosts(cluster, &pending[nth..]))?;
        }
        let until = Instant::now() + SOON;
        loop {
            let linked = self.linked(cluster);
            let known = known(cluster, &linked)?;
            let first = known.first().cloned().flatten();
            let is_same = known.iter().all(|one| *one == first);
            let names = first.map(|(_, names)| names);
            if is_same && names.as_ref() == Some(&self.voters) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(Wrong(format!(
                    "{:?} were asked for, and the nodes know {known:?}",
                    self.voters
                )));
            }
        }
    }

    /// Returns the nodes that the others have to link. A node that was begun anew is a peer only as long as it votes.
    pub(crate) fn linked(&self, cluster: &mut Hosts) -> Vec<usize> {
        let mut hosts = cluster.running();
        hosts.retain(|host| {
            !cluster.is_begun_anew(*host) || self.voters.contains(&cluster.called(*host))
        });
        hosts
    }

    /// Waits for the answer to a change, and asks again until it is made. It asks any node but the new ones, which have
    /// no links before they are added.
    fn make(&mut self, cluster: &mut Hosts, change: &Change, new: &[usize]) -> Result<(), Wrong> {
        let words = change.to_string();
        let (mut host, mut incarnation, mut mark) = change.asked;
        let until = Instant::now() + MADE;
        loop {
            let answer = if cluster.incarnation(host) == incarnation {
                let asked = (host, incarnation, mark);
                cluster
                    .log
                    .wait(ASKED, |lines| answer(lines, asked, &words))
            } else {
                None // the asked process has ended, so no answer will come
            };
            let (what, why) = answer.unwrap_or(("lost", String::new()));
            *self.counts.entry(what).or_default() += 1;
            if what == "changed" {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(Wrong(format!("{words:?} is not made: {what} {why}")));
            }
            cluster.log.wait(AGAIN, |_| None::<()>);
            let mut known = cluster.running();
            known.retain(|host| !new.contains(host));
            let later = known.iter().find(|one| **one > host);
            host = *later.unwrap_or(&known[0]); // each node in turn
            (incarnation, mark) = (cluster.incarnation(host), cluster.mark());
            cluster.tell(host, &words)?;
        }
    }
}

/// Returns the hosts of the nodes that are to become voters.
fn new_hosts(cluster: &Hosts, pending: &[Change]) -> Vec<usize> {
    let names = pending.iter().filter_map(|change| change.new.as_ref());
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    let mut hosts = cluster.all();
    hosts.retain(|host| names.contains(&&cluster.called(*host)));
    hosts
}

/// Returns a node's answer to a change, from the lines after `mark`.
fn answer(
    lines: &[Line],
    (host, incarnation, mark): (usize, u32, usize),
    words: &str,
) -> Option<(&'static str, String)> {
    let text = |line: &Line, key: &str| {
        let text = line.rest.get(key).and_then(|text| text.as_str());
        text.unwrap_or_default().to_owned()
    };
    lines.get(mark..)?.iter().find_map(|line| {
        if (line.host, line.incarnation) != (host, incarnation) || text(line, "command") != words {
            return None;
        }
        let what = match line.event.as_str() {
            "changed" => "changed",
            "refused" => "refused",
            "unanswered" => "unanswered",
            _ => return None,
        };
        Some((what, text(line, "why")))
    })
}

/// For each node, the epoch and the voters that it knows.
type Known = Vec<Option<(u64, BTreeSet<String>)>>;

fn known(cluster: &mut Hosts, hosts: &[usize]) -> Result<Known, Wrong> {
    let mark = cluster.mark();
    for host in hosts {
        cluster.tell(*host, "voters")?;
    }
    let said = |lines: &[Line], host: usize| {
        let mut since = lines.get(mark..)?.iter();
        let line = since.rfind(|line| line.host == host && line.event == "voters")?;
        let names = line.rest.get("voters")?.as_array()?.iter();
        let names = names.filter_map(|name| name.as_str().map(str::to_owned));
        Some((line.rest.get("epoch")?.as_u64()?, names.collect()))
    };
    cluster.log.wait(AGAIN, |lines| {
        let all = hosts.iter().all(|host| said(lines, *host).is_some());
        all.then_some(())
    });
    let lines = cluster.log.lines();
    Ok(hosts.iter().map(|host| said(&lines, *host)).collect())
}
