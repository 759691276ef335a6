//! Trial runs: prints counts and shortest traces. Not yet the table that the README is to name.
use actix_bully::elections::{bully::BullyConfig, quorum::Defect};
use actix_bully_heavy::{
    actors::{self, *},
    quorum::*,
    strict::Strict,
    timed::{self, *},
};
use stateright::{Checker, HasDiscoveries, Model};

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn run<R: Rules>(label: &str, lab: Lab<R>) {
    let start = std::time::Instant::now();
    let c = lab
        .checker()
        .threads(1)
        .finish_when(HasDiscoveries::AnyFailures)
        .target_state_count(14_000_000)
        .spawn_bfs()
        .join();
    let cut = if c.state_count() >= 14_000_000 {
        " CUT"
    } else {
        ""
    };
    println!(
        "{label}: unique {} depth {} in {:.1?}{cut}",
        c.unique_state_count(),
        c.max_depth(),
        start.elapsed()
    );
    if let Some(p) = c.discovery(SOUND) {
        println!(
            "  FINDS {:?} in {} steps",
            c.model().rules.broken(p.last_state()),
            p.clone().into_actions().len()
        );
        if label.contains("T=") {
            println!("{}", timed::trace(p));
        }
    }
}

fn main() {
    for (n, strict) in [(2, true), (3, true), (2, false), (3, false)] {
        let config = if strict {
            BullyConfig::strict()
        } else {
            BullyConfig::default()
        };
        let c = actors::actors(n, config, Reach { rounds: 2 }, ONE)
            .checker()
            .threads(1)
            .spawn_bfs()
            .join();
        let p = c.discovery(ONE).expect("two lead");
        println!(
            "asynchronous n={n} strict={strict}: unique {} FINDS in {} steps\n{}",
            c.unique_state_count(),
            p.clone().into_actions().len(),
            actors::trace(p)
        );
    }
    for (d, t, n, crashes, scores, fifo, wishes) in [
        (1, 3, 2, 0, 0, false, 2),
        (1, 3, 3, 0, 0, false, 3),
        (2, 5, 3, 0, 0, false, 3),
        (1, 3, 2, 1, 0, false, 2),
        (1, 3, 3, 1, 0, false, 1),
        (1, 3, 3, 0, 1, true, 3),
        (1, 2, 2, 0, 0, false, 2),
        (1, 2, 3, 0, 0, false, 3),
        (2, 4, 3, 0, 0, false, 3),
        (1, 3, 3, 0, 1, false, 3),
    ] {
        let mut b = Bounds::new(n);
        b.delay = Some(d);
        if fifo {
            b.order = Order::Fifo;
        }
        b.budget.wishes = wishes;
        b.budget.crashes = crashes;
        if scores > 0 {
            b.budget.scores = vec![(0, 9)];
        }
        let aim = if t > 2 * d && (scores == 0 || fifo) {
            Aim::Everything
        } else {
            Aim::Shortest
        };
        run(
            &format!(
                "strict D={d} T={t} n={n} crash {crashes} score {scores} fifo {fifo} wishes {wishes}"
            ),
            Lab {
                rules: Strict::new(t),
                bounds: b,
                aim,
            },
        );
    }
    for (wire, terms, slow, crash, resign, horizon) in [
        (1, 3, 1, 0, 0, None),
        (1, 2, 1, 1, 0, None),
        (1, 2, 1, 0, 1, None),
        (2, 2, 0, 0, 0, Some(3)),
        (2, 2, 1, 0, 1, Some(3)),
    ] {
        let mut b = Bounds::new(3);
        (b.wire, b.horizon, b.crash) = (wire, horizon, Crash::Unseen);
        (b.budget.slow, b.budget.crashes, b.budget.resigns) = (slow, crash, resign);
        let mut rules = Quorum::new(3, None);
        (rules.terms, rules.witnesses) = (terms, 1);
        run(
            &format!(
                "quorum wire {wire} terms {terms} slow {slow} crash {crash} resign {resign} horizon {horizon:?}"
            ),
            Lab {
                rules,
                bounds: b,
                aim: Aim::Everything,
            },
        );
    }
    for defect in Defect::ALL {
        let mut b = Bounds::new(if defect == Defect::HalfIsAQuorum {
            2
        } else {
            3
        });
        (b.wire, b.crash) = (2, Crash::Unseen);
        match defect {
            Defect::PromiseOfOneLease | Defect::PromiseOfHalfALease => b.budget.slow = 1,
            Defect::NoQuarantine | Defect::VolatileVote => b.budget.crashes = 1,
            Defect::BeliefAfterResign | Defect::ResignVoidsAny => b.budget.resigns = 1,
            Defect::EndOfAnyLife => (b.budget.crashes, b.crash, b.wire) = (1, Crash::Reported, 3),
            Defect::GuessIsCertain => b.budget.doubts = 1,
            _ => {}
        }
        let mut rules = Quorum::new(b.n, Some(defect));
        rules.witnesses = usize::from(b.n == 3);
        run(
            &format!("{defect:?}"),
            Lab {
                rules,
                bounds: b,
                aim: Aim::Shortest,
            },
        );
    }
}
