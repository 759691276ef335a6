//! A restart policy that exists makes sense.

use std::time::Duration;

use actix_bully::supervisor::{OnStop, PolicyError, RestartPolicy};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn the_default_is_a_transient_child_with_five_restarts_in_thirty_seconds() {
    let spelled_out = RestartPolicy::builder()
        .on_stop(OnStop::Finish)
        .max_restarts(5)
        .window(ms(30_000))
        .backoff_base(ms(100))
        .backoff_max(ms(5_000))
        .build();
    assert_eq!(spelled_out, Ok(RestartPolicy::default()));
    assert_eq!(RestartPolicy::default(), RestartPolicy::transient());
}

#[test]
fn the_restart_types_of_otp_are_policies() {
    let permanent = RestartPolicy::builder().on_stop(OnStop::Restart).build();
    assert_eq!(permanent, Ok(RestartPolicy::permanent()));
    let temporary = RestartPolicy::builder().max_restarts(0).build();
    assert_eq!(temporary, Ok(RestartPolicy::temporary()));
}

#[test]
fn a_backoff_that_begins_above_its_maximum_is_refused() {
    let (base, max) = (ms(6_000), ms(5_000));
    let refused = RestartPolicy::builder().backoff_base(base).build();
    let error = PolicyError::BackoffReversed { base, max };
    assert_eq!(refused, Err(error.clone()));
    assert_eq!(
        error.to_string(),
        "a backoff base of 6s exceeds the backoff maximum of 5s: lower the base, or raise the maximum"
    );
}

#[test]
fn a_budget_that_could_never_be_spent_is_refused() {
    // 100 + 200 + 400 ms.
    let policy = RestartPolicy::builder().max_restarts(3);
    assert!(policy.clone().window(ms(700)).build().is_ok());
    let error = PolicyError::WindowTooShort {
        window: ms(699),
        needed: ms(700),
    };
    assert_eq!(policy.window(ms(699)).build(), Err(error.clone()));
    assert_eq!(
        error.to_string(),
        "a window of 699ms is too short, because failures are forgotten before all restarts are used: give a window longer than zero, and of 700ms at least"
    );
}

#[test]
fn a_window_of_nothing_is_refused_even_without_a_backoff() {
    let policy = RestartPolicy::builder().backoff_base(ms(0)).window(ms(0));
    let refused = PolicyError::WindowTooShort {
        window: ms(0),
        needed: ms(0),
    };
    assert_eq!(policy.clone().build(), Err(refused));
    assert!(
        policy.max_restarts(0).build().is_ok(),
        "a temporary child needs no window"
    );
}

#[test]
fn an_absurd_number_of_restarts_is_weighed_at_once() {
    let policy = RestartPolicy::builder().max_restarts(usize::MAX);
    assert!(policy.clone().build().is_err());
    assert!(policy.backoff_base(ms(0)).build().is_ok());
}

#[test]
fn a_backoff_doubles_until_its_factor_is_full_and_not_beyond() {
    // 1 + 2 + .. + 2^31 ns, and once the full factor.
    let needed = Duration::from_nanos(2 * u64::from(u32::MAX));
    let policy = RestartPolicy::builder()
        .max_restarts(33)
        .backoff_base(Duration::from_nanos(1))
        .backoff_max(ms(60_000));
    assert!(policy.clone().window(needed).build().is_ok());
    let window = needed.saturating_sub(Duration::from_nanos(1));
    let error = PolicyError::WindowTooShort { window, needed };
    assert_eq!(policy.window(window).build(), Err(error));
}
