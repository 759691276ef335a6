//! Conditions of a link that is not cut: delay, loss, duplication, reordering.
//!
//! Decided here: which values are valid. Not here: which members are cut off.

use std::{fmt, time::Duration};

use bully_core::{protocol::After, record::NetworkRecord};

/// Conditions of a link. By default a link is perfect: no delay, no loss, messages in order.
///
/// ```
/// # use bully_sim::faults::Conditions;
/// use std::time::Duration;
/// let ms = Duration::from_millis;
/// let bad = Conditions::builder().delay(ms(1)..=ms(20)).loss(150).duplication(50).build()?;
/// assert_eq!(bad.to_string(), "delay 1ms to 20ms, loss 150, duplication 50, in order");
/// assert_eq!(
///     Conditions::builder().loss(1500).build().unwrap_err().to_string(),
///     "a loss of 1500 per mille is more than all messages: choose 0 to 1000"
/// );
/// # Ok::<(), bully_sim::faults::ConditionsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    pub(super) delay: After,
    pub(super) loss: u16,
    pub(super) duplication: u16,
    pub(super) slow: u16,
    pub(super) slow_by: After,
    pub(super) any_order: bool,
}

impl Default for Conditions {
    fn default() -> Self {
        Self::delayed(Duration::ZERO)
    }
}

impl Conditions {
    /// Returns conditions in which every message arrives, once, in order, after exactly this delay.
    pub const fn delayed(delay: Duration) -> Self {
        Self {
            delay: After {
                min: delay,
                max: delay,
            },
            loss: 0,
            duplication: 0,
            slow: 0,
            slow_by: After {
                min: Duration::ZERO,
                max: Duration::ZERO,
            },
            any_order: false,
        }
    }

    /// Returns a builder that starts from perfect conditions.
    pub fn builder() -> ConditionsBuilder {
        Self::default().to_builder()
    }

    /// Returns a builder that starts from these conditions.
    pub const fn to_builder(self) -> ConditionsBuilder {
        ConditionsBuilder(self)
    }
}

impl From<Conditions> for NetworkRecord {
    /// Returns the conditions in the form of a recording.
    fn from(conditions: Conditions) -> Self {
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let range = |After { min, max }: After| (nanos(min), nanos(max));
        Self {
            delay_ns: range(conditions.delay),
            loss: conditions.loss,
            duplication: conditions.duplication,
            slow: conditions.slow,
            slow_by_ns: range(conditions.slow_by),
            any_order: conditions.any_order,
        }
    }
}

impl TryFrom<NetworkRecord> for Conditions {
    type Error = ConditionsError;

    fn try_from(record: NetworkRecord) -> Result<Self, ConditionsError> {
        let range = |(min, max)| Duration::from_nanos(min)..=Duration::from_nanos(max);
        let network = Self::builder()
            .delay(range(record.delay_ns))
            .loss(record.loss)
            .duplication(record.duplication)
            .slow(record.slow, range(record.slow_by_ns));
        if record.any_order {
            network.in_any_order().build()
        } else {
            network.build()
        }
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delay {:?} to {:?}", self.delay.min, self.delay.max)?;
        if self.loss > 0 {
            write!(f, ", loss {}", self.loss)?;
        }
        if self.duplication > 0 {
            write!(f, ", duplication {}", self.duplication)?;
        }
        if self.slow > 0 {
            let After { min, max } = self.slow_by;
            write!(f, ", slow {} by {min:?} to {max:?}", self.slow)?;
        }
        f.write_str(if self.any_order {
            ", in any order"
        } else {
            ", in order"
        })
    }
}

/// Builds [`Conditions`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ConditionsBuilder(Conditions);

impl ConditionsBuilder {
    /// Sets the time for which a message is on its way, in one direction. Default: zero.
    pub const fn delay(mut self, range: std::ops::RangeInclusive<Duration>) -> Self {
        self.0.delay = After {
            min: *range.start(),
            max: *range.end(),
        };
        self
    }

    /// Sets how many of a thousand messages are lost, 0 to 1000. Default: 0.
    pub const fn loss(mut self, per_mille: u16) -> Self {
        self.0.loss = per_mille;
        self
    }

    /// Sets how many of a thousand messages arrive twice, 0 to 1000. The same share of these messages arrives a third
    /// time, and so on up to [`Arrivals::MOST`](super::Arrivals::MOST). Default: 0.
    pub const fn duplication(mut self, per_mille: u16) -> Self {
        self.0.duplication = per_mille;
        self
    }

    /// Sets how many of a thousand messages are slow, 0 to 1000, and their additional delay. Default: 0.
    pub const fn slow(mut self, per_mille: u16, by: std::ops::RangeInclusive<Duration>) -> Self {
        self.0.slow = per_mille;
        self.0.slow_by = After {
            min: *by.start(),
            max: *by.end(),
        };
        self
    }

    /// Lets messages overtake each other. By default messages from one member to another stay in order.
    pub const fn in_any_order(mut self) -> Self {
        self.0.any_order = true;
        self
    }

    /// Checks the values.
    ///
    /// # Errors
    /// [`ConditionsError`] if a share exceeds 1000 per mille, or the end of a range is below its start.
    pub fn build(self) -> Result<Conditions, ConditionsError> {
        let c = self.0;
        for range in [c.delay, c.slow_by] {
            let After { min, max } = range;
            if min > max {
                return Err(ConditionsError::Backwards { min, max });
            }
        }
        match c {
            Conditions { loss: 1001.., .. } => Err(ConditionsError::Loss { per_mille: c.loss }),
            Conditions {
                duplication: per_mille @ 1001..,
                ..
            } => Err(ConditionsError::Duplication { per_mille }),
            Conditions {
                slow: per_mille @ 1001..,
                ..
            } => Err(ConditionsError::Slow { per_mille }),
            Conditions { .. } => Ok(c),
        }
    }
}

/// An invalid value of a condition.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionsError {
    /// The share of lost messages exceeds 1000 per mille.
    #[error("a loss of {per_mille} per mille is more than all messages: choose 0 to 1000")]
    Loss {
        /// The given share, per thousand.
        per_mille: u16,
    },
    /// The share of duplicated messages exceeds 1000 per mille.
    #[error("a duplication of {per_mille} per mille is more than all messages: choose 0 to 1000")]
    Duplication {
        /// The given share, per thousand.
        per_mille: u16,
    },
    /// The share of slow messages exceeds 1000 per mille.
    #[error(
        "a share of slow messages of {per_mille} per mille is more than all messages: choose 0 to 1000"
    )]
    Slow {
        /// The given share, per thousand.
        per_mille: u16,
    },
    /// The shortest delay of a range is longer than the longest one.
    #[error("a delay from {min:?} to {max:?} runs backwards: swap the two")]
    Backwards {
        /// The lower end of the range.
        min: Duration,
        /// The upper end of the range.
        max: Duration,
    },
}

debug_is_text!(ConditionsError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_senseless_value_is_named() {
        let ms = Duration::from_millis;
        let refused = |b: ConditionsBuilder| b.build().unwrap_err();
        let some = Conditions::builder;
        let no_time = || ms(0)..=ms(0);
        let per_mille = 1001;
        assert_eq!(
            refused(some().loss(per_mille)),
            ConditionsError::Loss { per_mille }
        );
        assert_eq!(
            refused(some().duplication(per_mille)),
            ConditionsError::Duplication { per_mille }
        );
        assert_eq!(
            refused(some().slow(per_mille, no_time())),
            ConditionsError::Slow { per_mille }
        );
        let (min, max) = (ms(2), ms(1));
        let backwards = std::ops::RangeInclusive::new(min, max);
        assert_eq!(
            refused(some().delay(backwards)),
            ConditionsError::Backwards { min, max }
        );
        assert!(some().loss(1000).duplication(1000).build().is_ok());
    }

    #[test]
    fn a_written_recording_is_read_back() {
        let ms = Duration::from_millis;
        let all = Conditions::builder().delay(ms(1)..=ms(2)).loss(3);
        let all = all.duplication(4).slow(5, ms(6)..=ms(7)).in_any_order();
        let all = all.build().unwrap();
        assert_eq!(Conditions::try_from(NetworkRecord::from(all)), Ok(all));
    }
}
