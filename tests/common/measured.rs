//! A recorder of metrics for tests, which keeps the values of each series. The recorder in `metrics-util` needs sixteen
//! crates.
#![expect(clippy::panic, reason = "a series has one kind")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// The value of a series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Measured {
    Counter(u64),
    Gauge(f64),
    /// All recorded values.
    Histogram(Vec<f64>),
}

/// A description: name, unit and help.
pub(crate) type Described = (String, Option<Unit>, String);

/// A recorder for `metrics::with_local_recorder`. Clones share the same series.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    series: Arc<Mutex<BTreeMap<Key, Measured>>>,
    pub(crate) described: Arc<Mutex<Vec<Described>>>,
}

impl Recording {
    pub(crate) fn series(&self) -> BTreeMap<Key, Measured> {
        lock(&self.series).clone()
    }

    fn describe(&self, name: &KeyName, unit: Option<Unit>, help: &str) {
        lock(&self.described).push((name.as_str().to_owned(), unit, help.to_owned()));
    }

    fn register(&self, key: &Key, first: Measured) -> Arc<One> {
        lock(&self.series).entry(key.clone()).or_insert(first);
        let (series, key) = (Arc::clone(&self.series), key.clone());
        Arc::new(One { series, key })
    }
}

impl Recorder for Recording {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.describe(&name, unit, &help);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.describe(&name, unit, &help);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.describe(&name, unit, &help);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.register(key, Measured::Counter(0)))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.register(key, Measured::Gauge(0.0)))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.register(key, Measured::Histogram(Vec::new())))
    }
}

/// A handle of one series.
struct One {
    series: Arc<Mutex<BTreeMap<Key, Measured>>>,
    key: Key,
}

impl One {
    fn change(&self, change: impl FnOnce(&mut Measured)) {
        change(lock(&self.series).get_mut(&self.key).unwrap());
    }
}

impl CounterFn for One {
    fn increment(&self, by: u64) {
        self.change(|it| match it {
            Measured::Counter(value) => *value += by,
            Measured::Gauge(_) | Measured::Histogram(_) => panic!("not a counter: {it:?}"),
        });
    }

    fn absolute(&self, value: u64) {
        self.change(|it| *it = Measured::Counter(value));
    }
}

impl GaugeFn for One {
    fn increment(&self, by: f64) {
        self.change(|it| match it {
            Measured::Gauge(value) => *value += by,
            Measured::Counter(_) | Measured::Histogram(_) => panic!("not a gauge: {it:?}"),
        });
    }

    fn decrement(&self, by: f64) {
        GaugeFn::increment(self, -by);
    }

    fn set(&self, value: f64) {
        self.change(|it| *it = Measured::Gauge(value));
    }
}

impl HistogramFn for One {
    fn record(&self, value: f64) {
        self.change(|it| match it {
            Measured::Histogram(values) => values.push(value),
            Measured::Counter(_) | Measured::Gauge(_) => panic!("not a histogram: {it:?}"),
        });
    }
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}
