//! The instruments for builds without the feature `metrics`: they have no size and do nothing, so the compiler removes
//! their calls.
#![expect(
    clippy::unused_self,
    reason = "they are called as the instruments with the feature are"
)]

use std::time::Duration;

use crate::{
    group::Counts,
    protocol::{Event, Requirements, Time},
};

#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "nothing is measured")]
pub(crate) struct AgentSeries<'a> {
    pub(crate) group: &'a str,
    pub(crate) node: &'a str,
}

impl AgentSeries<'_> {
    pub(crate) const fn told(self, _event: &Event, _is_change: bool) {}
    pub(crate) const fn led_after(self, _leaderless: Option<Duration>) {}
    pub(crate) const fn work_panicked(self) {}
    pub(crate) const fn work_stalled(self) {}
    pub(crate) fn ticks(self, _schedule: &str, _counts: impl IntoIterator<Item = u64>) {}
}

#[derive(Debug)]
#[expect(dead_code, reason = "nothing is sampled")]
pub(crate) struct Sample<'a> {
    pub(crate) group: &'a str,
    pub(crate) counts: Counts,
    pub(crate) requirements: Option<Requirements>,
}

#[derive(Debug)]
pub(crate) struct AgentMeter;

impl AgentMeter {
    pub(crate) const fn new(_series: AgentSeries<'_>) -> Self {
        Self
    }
    pub(crate) const fn renewed(&self, _left: Duration) {}
    pub(crate) fn also(&self, _show: impl Fn() -> bool + Send + Sync + 'static) {}
    pub(crate) const fn sample_soon(&self) {}
    pub(crate) fn sample<'a>(&self, _now: Time, _counts: impl FnOnce() -> Sample<'a>) {}
}

#[derive(Debug)]
pub(crate) struct BridgeMeter;

impl BridgeMeter {
    pub(crate) const fn new(_node: &str) -> Self {
        Self
    }
    pub(crate) const fn echo(&self, _peer: &str, _took: Duration) {}
}

#[derive(Debug)]
pub(crate) struct ProxyMeter;

impl ProxyMeter {
    pub(crate) const fn new(_group: &str, _node: &str, _proxy: &str) -> Self {
        Self
    }
    pub(crate) const fn show(&self, _waiting: u64, _outcomes: [u64; 4]) {}
}

/// These instruments take no memory.
const _: () = assert!(
    size_of::<AgentMeter>() == 0 && size_of::<BridgeMeter>() == 0 && size_of::<ProxyMeter>() == 0
);
