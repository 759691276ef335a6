//! Tests of voters without disks. Every minority is gone, and every choice of the other voters restarts, together or
//! one after the other. The clocks agree, or are 11 s or 1 h apart.
//!
//! Either the group has a leader within the printed bound, or too few voters remember. In the latter case each waiting
//! voter reports this, and once its advice is followed, an agent leads within the bound.

use std::{collections::BTreeSet, fmt, time::Duration};

use actix_bully_oracles::Watched;
use bully_core::protocol::{Election as _, Recovering};

use crate::quorum::{
    diskless::{led_within, restart, start, world},
    kit::{Group, Net, P, ms},
};

/// Lead of each voter's clock over the clock of the previous voter, in milliseconds.
const APART: [i64; 3] = [0, 11_000, -3_600_000];

/// A group in which some voters are gone and some of the other voters restart.
struct Case {
    n: usize,
    /// Positions of voters, one bit for each.
    gone: u32,
    restarts: u32,
    together: bool,
    apart: i64,
}

/// Returns the longest time from the last restart until an agent leads. An earlier leader may have ended without
/// notice.
fn bound(n: usize) -> Duration {
    start(i32::try_from(n).unwrap()) + ms(P) * 100 / 89
}

/// Results of all cases.
#[derive(Debug, Default)]
struct Count {
    led: u32,
    waited: u32,
    longest: Duration,
}

impl Case {
    fn quorum(&self) -> usize {
        self.n / 2 + 1
    }

    fn alive(&self) -> usize {
        self.n - bits(self.gone)
    }

    /// Returns whether the voters go on while `recover` voters recover at one time and the other live voters remember.
    fn go_on(&self, recover: usize) -> bool {
        let most_gone = self.n - self.quorum();
        self.alive() - recover > most_gone || recover > most_gone
    }

    /// Returns the number of voters that wait in the end.
    fn waits(&self) -> usize {
        let restarts = bits(self.restarts);
        let steps = if self.together { 1 } else { restarts };
        (0..steps).fold(0, |waits, _| {
            let recover = waits + restarts / steps;
            if self.go_on(recover) { 0 } else { recover }
        })
    }

    fn names(&self, of: u32) -> Vec<String> {
        let names = Group::of(i32::try_from(self.n).unwrap()).names();
        let names = names.iter().enumerate();
        let some = names.filter(|(at, _)| of & 1 << at != 0);
        some.map(|(_, name)| name.to_string()).collect()
    }

    fn begin(&self) -> Net {
        let n = i32::try_from(self.n).unwrap();
        let apart: Vec<_> = (0..i64::from(n)).map(|at| at * self.apart).collect();
        let mut net = world(n, 1, &[], &apart);
        led_within(&mut net, start(n));
        for name in self.names(self.gone) {
            net.world.crash(name);
        }
        net
    }

    fn run(&self, count: &mut Count) {
        let mut net = self.begin();
        let names = self.names(self.restarts);
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let at_once = if self.together { names.len() } else { 1 };
        for some in names.chunks(at_once) {
            restart(&mut net, some);
            let begun = net.world.now();
            self.leads(&mut net);
            count.longest = count.longest.max(net.world.now().since(begun));
        }
        let waits = self.waits();
        let recover = recovering(&net, &names);
        assert_eq!(recover.len(), waits, "{self}: {:?}", net.world);
        if waits == 0 {
            count.led += 1;
            assert_eq!(net.believers().len(), 1, "{self}: {:?}", net.world);
        } else {
            count.waited += 1;
            self.follow_advice(&mut net, &recover);
        }
    }

    /// Waits until no voter recovers any more and an agent leads, or until the bound ends. Returns whether an agent
    /// leads.
    fn leads(&self, net: &mut Net) -> bool {
        let all = self.names((1 << self.n) - 1);
        let leads = net.world.run_until(
            |world| {
                let mut machines = all.iter().filter_map(|name| world.machine(name));
                let recovers = machines.any(|machine| prospects(machine).is_some());
                !recovers && world.believers().len() == 1 && world.agreed().is_some()
            },
            bound(self.n),
        );
        assert_eq!(net.world.violation(), None, "{self}");
        leads
    }

    /// Follows the advice of the waiting voters. Each of them names the voters that are gone, and the number of voters
    /// that must restart.
    fn follow_advice(&self, net: &mut Net, recover: &[Recovering]) {
        assert!(net.believers().is_empty(), "{self}");
        let gone: BTreeSet<_> = self.names(self.gone).into_iter().collect();
        for said in recover {
            let silent = said.silent.iter().map(ToString::to_string);
            assert_eq!(silent.collect::<BTreeSet<_>>(), gone, "{self}");
        }
        let [said, ..] = recover else { return };
        let restarts = usize::try_from(said.restarts.unwrap()).unwrap();
        assert!(restarts > 0 && restarts <= said.remember.len(), "{self}");
        let some = said.remember.iter().take(restarts);
        let some: Vec<_> = some.map(AsRef::as_ref).collect();
        restart(net, &some);
        assert!(self.leads(net), "{self}");
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.together { "together" } else { "in turn" };
        let (gone, restarts) = (self.names(self.gone), self.names(self.restarts));
        write!(
            f,
            "of {} gone {gone:?}, restart {restarts:?} {how}, clocks {} ms apart",
            self.n, self.apart
        )
    }
}

fn prospects(machine: &Watched) -> Option<Recovering> {
    machine.prospects().recovers.map(|recovers| *recovers)
}

/// Returns the reports of the voters in `names` that still recover.
fn recovering(net: &Net, names: &[&str]) -> Vec<Recovering> {
    let machines = names.iter().filter_map(|name| net.world.machine(name));
    machines.filter_map(prospects).collect()
}

fn bits(of: u32) -> usize {
    usize::try_from(of.count_ones()).unwrap()
}

/// Runs every case of a group of `n` voters.
fn enumerate(n: usize) -> Count {
    let mut count = Count::default();
    let (most, all) = ((n - 1) / 2, 1_u32 << n);
    let minorities = (0..all).filter(|gone: &u32| bits(*gone) <= most);
    for gone in minorities {
        let others = (1..all).filter(|restarts| restarts & gone == 0);
        for restarts in others {
            for (together, apart) in [true, false]
                .into_iter()
                .flat_map(|t| APART.map(|a| (t, a)))
            {
                let case = Case {
                    n,
                    gone,
                    restarts,
                    together,
                    apart,
                };
                case.run(&mut count);
            }
        }
    }
    count
}

/// Groups have up to 5 voters, or up to the number in the variable `RESTARTS`; `tests/README.md` has the command for
/// all.
#[test]
fn a_leader_within_the_bound_or_too_few_that_remember() {
    let most = std::env::var("RESTARTS").map_or(5, |most| most.parse().unwrap());
    for n in 2..=most {
        let count = enumerate(n);
        println!("{n} voters, at most {:?} allowed: {count:?}", bound(n));
    }
}
