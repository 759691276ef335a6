//! That the table on the page is the table of the program, and every series has a use and a description.

use metrics_util::debugging::DebuggingRecorder;

use super::*;

/// The rows of the table on the page.
fn rows() -> Vec<[String; 5]> {
    let lines = include_str!("mod.rs").lines();
    let rows = lines.filter_map(|line| line.strip_prefix("//! | `bully_"));
    rows.map(|row| {
        let mut cells = row.split('|').map(|cell| cell.trim().to_owned());
        let mut next = || cells.next().unwrap_or_default();
        let name = format!("bully_{}", next().trim_end_matches('`'));
        [name, next(), next(), next(), next()]
    })
    .collect()
}

#[test]
fn the_table_on_the_page_is_what_is_described() {
    let due: Vec<_> = ALL
        .iter()
        .map(|series| {
            [
                series.name.to_owned(),
                format!("{:?}", series.kind).to_lowercase(),
                series.unit.unwrap_or_default().to_owned(),
                series.labels.join(", "),
                series.help.to_owned(),
            ]
        })
        .collect();
    assert_eq!(rows(), due);
}

#[test]
fn every_series_is_described_with_its_unit() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    ::metrics::with_local_recorder(&recorder, || {
        describe();
        // The recorder shows what was used only.
        for series in ALL {
            match series.kind {
                SeriesKind::Counter => ::metrics::counter!(series.name).increment(1),
                SeriesKind::Gauge => ::metrics::gauge!(series.name).set(1.0),
                SeriesKind::Histogram => ::metrics::histogram!(series.name).record(1.0),
            }
        }
    });
    let seen = snapshotter.snapshot().into_vec();
    assert_eq!(seen.len(), ALL.len());
    for (key, unit, help, _) in seen {
        let name = key.key().name().to_owned();
        let series = ALL.iter().find(|series| series.name == name).unwrap();
        assert_eq!(help.as_deref(), Some(series.help));
        let is_counted = unit == Some(Unit::Count);
        assert_eq!(is_counted, series.unit.is_none(), "{name}: {unit:?}");
        assert_eq!(
            name.ends_with("_seconds"),
            unit == Some(Unit::Seconds),
            "{name}"
        );
        assert_eq!(name.ends_with("_total"), series.kind == SeriesKind::Counter);
    }
}
