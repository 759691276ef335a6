//! Every defect that can be planted: which invariant it breaks, and in how few steps. But one: a
//! promise lowered too early takes two crashes, and more states than there is room for.

use bully_core::elections::quorum::Defect;

use crate::{
    case::{Case, Search, timed},
    quorum::{Quorum, Short},
    timed::{Aim, Bounds, Crash, Lab},
};

const RIVAL: &str = "NoRivalElected";

pub(super) fn cases() -> Vec<Case> {
    use Defect as D;
    vec![
        case(
            D::PromiseOfOneLease,
            "a promise is no longer than the lease",
            6_984,
            RIVAL,
            9,
        ),
        case(
            D::PromiseOfHalfALease,
            "a promise is half as long as the lease",
            6_984,
            RIVAL,
            9,
        ),
        case(
            D::NoQuarantine,
            "no quarantine after a restart",
            25_355,
            RIVAL,
            9,
        ),
        case(
            D::GrantIgnoresPromise,
            "a vote in spite of a live promise",
            2_215,
            RIVAL,
            8,
        ),
        case(
            D::VolatileVote,
            "a vote that is never stored",
            21,
            "DiskFirst",
            2,
        ),
        case(
            D::OwnVoteUnwritten,
            "an own vote that is never stored",
            1_236_220,
            "TokenMonotone",
            16,
        ),
        case(
            D::VoteKeepsTerm,
            "a vote that does not raise the term",
            8,
            "DiskFirst",
            2,
        ),
        case(D::VoteTwice, "two votes in one term", 94, "VoteOnce", 4),
        case(
            D::BeliefWithoutAcks,
            "belief without acknowledgements",
            1_325,
            RIVAL,
            8,
        ),
        case(
            D::LeaseFromArrival,
            "a lease from the arrival of the acknowledgement",
            5_830,
            RIVAL,
            10,
        ),
        case(
            D::BeliefByTimer,
            "belief that ends by a timer, not by the clock",
            6_698,
            RIVAL,
            10,
        ),
        case(
            D::BeliefAfterResign,
            "belief after `Resign`",
            337,
            "ResignFinal",
            6,
        ),
        case(
            D::GivenUnvoted,
            "a term is given that nobody voted for",
            588,
            "DiskFirst",
            11,
        ),
        case(
            D::GivenLed,
            "a leader leads in the term that it gives away",
            3_274,
            "TokenMonotone",
            16,
        ),
        case(
            D::OldTermFollowed,
            "a voter goes back to the leader that it voted ahead for",
            142_241,
            RIVAL,
            21,
        ),
        case(
            D::ResignVoidsAny,
            "`Resign` voids any holder's promise",
            949_056,
            RIVAL,
            19,
        ),
        case(
            D::HalfIsAQuorum,
            "half of the voters taken for a majority",
            40,
            "LeaderPerTerm",
            3,
        ),
        case(
            D::EndOfAnyLife,
            "the end of any former incarnation voids a promise",
            1_049_628,
            RIVAL,
            11,
        ),
        case(
            D::GuessIsCertain,
            "a suspicion voids a promise",
            102_044,
            RIVAL,
            11,
        ),
        case(
            D::LeaseByOwnTimings,
            "a lease by the leader's own timings",
            26_544,
            RIVAL,
            10,
        ),
        case(
            D::PromiseUnrecorded,
            "a promise that is not in the record",
            217_471,
            RIVAL,
            10,
        ),
        case(
            D::QuarantineOfOwnPromise,
            "a quarantine of the present promise",
            218_739,
            RIVAL,
            10,
        ),
    ]
}

fn case(defect: Defect, name: &str, unique: usize, broken: &'static str, steps: usize) -> Case {
    let case = Case::breaks(name, unique, (broken, steps), search(defect));
    match defect {
        Defect::ResignVoidsAny => case.kept_as("resign-voids-any.txt"),
        Defect::NoQuarantine => case.kept_as("no-quarantine.txt"),
        _ => case,
    }
}

/// Three voters, of which the lowest-ranked is not eligible, and what the defect takes to show.
fn search(defect: Defect) -> Search {
    let mut bounds = Bounds::new(if defect == Defect::HalfIsAQuorum {
        2
    } else {
        3
    });
    (bounds.wire, bounds.crash) = (2, Crash::Unseen);
    match defect {
        Defect::PromiseOfOneLease | Defect::PromiseOfHalfALease => bounds.budget.slow = 1,
        Defect::NoQuarantine | Defect::VolatileVote | Defect::OwnVoteUnwritten => {
            bounds.budget.crashes = 1
        }
        Defect::BeliefAfterResign | Defect::ResignVoidsAny => bounds.budget.resigns = 1,
        Defect::GivenUnvoted | Defect::GivenLed => {
            (bounds.budget.resigns, bounds.wire, bounds.horizon) = (1, 4, Some(0));
        }
        // A heartbeat has to be late, so the leader says one more.
        Defect::OldTermFollowed => {
            (bounds.budget.resigns, bounds.budget.campaigns) = (1, 1);
            bounds.budget.scores = vec![(2, 9)];
            (bounds.wire, bounds.horizon) = (3, Some(0));
        }
        Defect::EndOfAnyLife => {
            (bounds.budget.crashes, bounds.crash, bounds.wire) = (1, Crash::Reported, 3);
        }
        Defect::GuessIsCertain => bounds.budget.doubts = 1,
        Defect::LeaseByOwnTimings => bounds.budget.slow = 1,
        Defect::PromiseUnrecorded | Defect::QuarantineOfOwnPromise => {
            (bounds.budget.slow, bounds.budget.crashes) = (1, 1);
        }
        _ => {}
    }
    let mut rules = match defect {
        Defect::LeaseByOwnTimings => Quorum::mixed(Short::Others, Some(defect)),
        Defect::PromiseUnrecorded | Defect::QuarantineOfOwnPromise => {
            Quorum::mixed(Short::Restarted, Some(defect))
        }
        _ => Quorum::new(bounds.n, 1, Some(defect)),
    };
    rules.witnesses = usize::from(bounds.n == 3);
    if defect == Defect::OwnVoteUnwritten {
        rules.tolerated = Some("DiskFirst"); // what comes of it where no rule looks at the disk
    }
    timed(Lab {
        rules,
        bounds,
        aim: Aim::Shortest,
    })
}
