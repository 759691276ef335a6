//! Voters whose stores are kept as release 0.1 reads them.

use std::time::Duration;

use actix_bully::{
    elections::quorum::{QuorumError, SealRecord, Vote, VotersRecord},
    protocol::{AgentId, Decree, NewVoter, Term},
    store::{StoreError, StoreIdentity, found_in_first_format},
    testkit::{sim::chaos::chaos, trace::Trace},
};
use actix_bully_oracles::{Kept, QuorumScenario};

use super::chaos::{options, seeds, size};

#[test]
fn no_voter_notices_in_which_format_its_record_is_kept() -> Result<(), QuorumError> {
    for seed in seeds(60) {
        let n = size(seed);
        let mut played = Vec::new();
        for kept in [Kept::Whole, Kept::FirstFormat] {
            let mut options = options(110_000);
            options.trace = Trace::digesting();
            let mut scenario = QuorumScenario::drawn(seed, n)?.kept(kept);
            let report = chaos(seed, n, &options, &mut scenario);
            assert!(report.violation.is_none(), "n {n}: {report}");
            played.push(report.trace.digest().unwrap());
        }
        assert_eq!(played[0], played[1], "seed {seed}");
    }
    Ok(())
}

/// The planted defect: a shorter promise forgets a longer one.
#[test]
fn without_what_stands_beside_the_file_a_promise_is_forgotten() -> Result<(), QuorumError> {
    let mut found = None;
    for seed in seeds(400) {
        let n = size(seed);
        let mut scenario = QuorumScenario::drawn(seed, n)?.kept(Kept::FirstFormatAlone);
        let report = chaos(seed, n, &options(110_000), &mut scenario);
        if let Some(violation) = report.violation {
            found = Some((seed, violation.what));
            break;
        }
    }
    let (_, what) = found.expect("one of these histories shows it");
    // Whichever comes first: the record lacks the promise, or another agent is promised the same time.
    let names = [
        "DiskFirst",
        "OneBeliever",
        "LeaseBacked",
        "PromiseKept",
        "NoRivalElected",
    ];
    assert!(names.iter().any(|name| what.contains(name)), "{what}");
    Ok(())
}

fn identity() -> StoreIdentity {
    let name = |name| AgentId::new(name).unwrap();
    StoreIdentity {
        cluster: name("production"),
        group: name("jobs"),
        node: name("a"),
    }
}

/// A field that the record gets does not compile here until it has its place, and the lists of the store name it.
#[test]
fn each_field_of_the_record_is_in_the_file_or_beside_it_or_has_to_wait() {
    let Vote {
        term,
        voted_for,
        promise,
        voters,
    } = Vote {
        term: Term(3),
        voted_for: AgentId::new("b").ok(),
        promise: Duration::from_secs(9).into(),
        voters: Some(Box::default()),
    };
    let in_the_file = Vote {
        term,
        voted_for,
        ..Vote::default()
    };
    let with_beside = Vote {
        promise,
        ..in_the_file.clone()
    };
    let with_all = Vote {
        voters,
        ..with_beside.clone()
    };
    let found = |vote: &Vote, is_beside| found_in_first_format(&identity(), vote, is_beside);
    for (is_beside, left) in [(true, &with_beside), (false, &in_the_file)] {
        let read = found(&with_beside, is_beside).unwrap();
        assert_eq!(read.as_ref(), Some(left), "supplement: {is_beside}");
    }
    let refused = found(&with_all, true);
    let is_named = matches!(&refused, Err(StoreError::NotUpgraded { field: "voters" }));
    assert!(is_named, "{refused:?}");
}

/// Release 0.1 would act against both: it would vote by the old list, and support a leader that was sealed against.
#[test]
fn a_list_and_a_seal_have_to_wait_for_a_store_of_format_2() {
    let identity = identity();
    let (id, contact) = (identity.node.clone(), None);
    let list = Decree {
        epoch: 1,
        voters: vec![NewVoter { id, contact }],
        vote_quorum: None,
        lease_quorum: None,
    };
    let installed = VotersRecord {
        installed: Some(list.clone()),
        ..VotersRecord::default()
    };
    let sealed = VotersRecord {
        installed: None,
        seal: Some(SealRecord {
            term: Term(3),
            next: list,
        }),
        tells: false,
    };
    let kept = |voters: Option<VotersRecord>| {
        let vote = Vote {
            term: Term(3),
            voters: voters.map(Box::new),
            ..Vote::default()
        };
        found_in_first_format(&identity, &vote, true).map(|found| found == Some(vote))
    };
    assert!(kept(None).is_ok_and(|is_same| is_same));
    for voters in [installed, sealed] {
        let refused = kept(Some(voters));
        let is_named =
            matches!(&refused, Err(StoreError::NotUpgraded { field }) if *field == "voters");
        assert!(is_named, "{refused:?}");
    }
}
