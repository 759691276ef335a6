//! A median with its interval, for ratios of measurements that were made in turn.
//!
//! Decided here: the interval. It uses only the order of the values: each value is below the true median with
//! probability 1/2, so the number of such values has a binomial distribution.

/// A median, with its interval in 95 of 100 runs.
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Spread {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few hundred values"
    )]
    pub(super) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let half = 0.98 * count.sqrt();
        let at = |place: f64| {
            let place = place.clamp(0.0, (count - 1.0).max(0.0)) as usize;
            values.get(place).copied().unwrap_or(f64::NAN)
        };
        Self {
            median: at((count / 2.0).floor()),
            from: at((count / 2.0 - half).floor()),
            to: at((count / 2.0 + half).ceil() - 1.0),
        }
    }
}
