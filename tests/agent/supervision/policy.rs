//! Restart policies that make no sense are refused.

use std::time::Duration;

use actix_bully::supervisor::RestartPolicy;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn a_budget_that_could_never_be_spent_and_a_reversed_backoff_are_refused() {
    let builder = RestartPolicy::builder;
    let three = || builder().max_restarts(3); // waits 100 + 200 + 400 ms
    let at_once = || builder().backoff_base(MS(0));
    let nano = Duration::from_nanos(1);
    let doubles = || {
        let policy = builder().max_restarts(33).backoff_base(nano);
        policy.backoff_max(MS(60_000))
    };
    // The sum is 1 + 2 + .. + 2^31 ns, and then the largest factor once more.
    let full = Duration::from_nanos(2 * u64::from(u32::MAX));
    for (what, policy, expected) in [
        ("as long as all waits", three().window(MS(700)), true),
        ("shorter", three().window(MS(699)), false),
        ("none", at_once().window(MS(0)), false),
        (
            "none, for a temporary child",
            at_once().window(MS(0)).max_restarts(0),
            true,
        ),
        ("a factor that is full", doubles().window(full), true),
        (
            "and not beyond",
            doubles().window(full.saturating_sub(nano)),
            false,
        ),
        (
            "any number, without a wait",
            at_once().max_restarts(usize::MAX),
            true,
        ),
        (
            "a base above the maximum",
            builder().backoff_base(MS(6_000)),
            false,
        ),
    ] {
        assert_eq!(policy.build().is_ok(), expected, "{what}");
    }
    assert!(builder().max_restarts(usize::MAX).build().is_err());
}

#[test]
fn a_refusal_names_both_values_and_says_what_to_do() {
    let refused = |policy: actix_bully::supervisor::RestartPolicyBuilder| {
        policy.build().unwrap_err().to_string()
    };
    assert_eq!(
        refused(RestartPolicy::builder().backoff_base(MS(6_000))),
        "a backoff base of 6s exceeds the backoff maximum of 5s: lower the base, or raise the maximum"
    );
    assert_eq!(
        refused(RestartPolicy::builder().max_restarts(3).window(MS(699))),
        "a window of 699ms is too short, because failures are forgotten before all restarts are used: give a window longer than zero, and of 700ms at least"
    );
}

#[test]
fn the_default_is_transient_and_each_restart_type_of_otp_is_a_policy() {
    let builder = RestartPolicy::builder;
    let spelled_out = builder().max_restarts(5);
    let spelled_out = spelled_out.window(MS(30_000));
    let spelled_out = spelled_out.backoff_base(MS(100)).backoff_max(MS(5_000));
    let permanent = builder().restart_on_stop();
    for (built, policy) in [
        (spelled_out, RestartPolicy::transient()),
        (builder(), RestartPolicy::default()),
        (builder(), RestartPolicy::transient()),
        (permanent, RestartPolicy::permanent()),
        (builder().max_restarts(0), RestartPolicy::temporary()),
    ] {
        assert_eq!(built.build(), Ok(policy));
    }
}
