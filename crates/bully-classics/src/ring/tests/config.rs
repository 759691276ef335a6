//! The configuration: its relations and its formulas.

use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn the_worst_cases_are_as_stated() {
    let config = lan();
    assert_eq!(config.worst_case_election(5, 2), MS(15 * D + 2 * HOP));
    // At most n + (n - 1) + n messages, and as many acknowledgements.
    assert_eq!(config.worst_case_messages(5, 1), 2 * (5 + 5 + 5));
    assert_eq!(config.worst_case_messages(5, 5), 2 * (15 + 10));
    assert_eq!(config.worst_case_messages(5, 99), 2 * (15 + 10));
    assert_eq!(config.worst_case_messages(2, 2), 2 * (3 + 4));
    assert_eq!(config.worst_case_messages(1, 1), 0);
    let failover = 5 * D + HOP + (L + 5 * HOP) + 10 + (15 * D + HOP);
    assert_eq!(config.worst_case_failover(5, 1), MS(failover));
    let more = 5 * D + 3 * HOP + (L + 5 * HOP) + 10 + 2 * (S + 10) + (15 * D + 3 * HOP);
    assert_eq!(config.worst_case_failover(5, 3), MS(more));
    assert_eq!(
        RingConfig { sends: 1, ..lan() }.token(4),
        MS(4 * 6 * D),
        "Hop + 3 d"
    );
    assert!(
        config.token(usize::MAX) > config.token(1_000),
        "nothing overflows"
    );
}
