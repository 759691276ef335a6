//! The past of a node's groups, for people.
//!
//! Decided here: one line for each leadership, with the last leadership at the bottom, where a terminal shows it; times
//! in UTC; and the number of lines. Not here: the contents of the past (`actix_bully::history`).

use std::{fmt::Write, time::Duration};

use actix_bully::{
    clock::WallTime,
    history::{GroupHistory, Leadership},
};
use bully_core::elections::quorum::epoch::SpokenTerm;

use super::table::{Table, clean};

/// Returns the last leaderships of each group, and the findings of the last half an hour.
pub(crate) fn history(groups: &[GroupHistory], last: usize) -> String {
    let mut text = String::new();
    for group in groups {
        if !text.is_empty() {
            text.push('\n');
        }
        let all = group.leaderships.len();
        let shown = all.min(last);
        writeln!(
            text,
            "{}: {shown} of {all} leaderships",
            clean(&group.group)
        )
        .ok();
        let mut table = Table::new([
            "FROM",
            "LEADER",
            "TERM",
            "LED FOR",
            "NO LEADER BEFORE",
            "END",
        ]);
        for one in group.leaderships.iter().skip(all - shown) {
            table.row(row(one));
        }
        write!(text, "{table}").ok();
        for found in &group.findings {
            let (from, until) = (found.from_unix_ms, found.until_unix_ms);
            let agent = clean(found.agent.as_str());
            let sentence = clean(&found.text);
            let (from, until) = (WallTime::from_millis(from), WallTime::from_millis(until));
            writeln!(text, "{from} to {until}: {agent} found: {sentence}").ok();
        }
    }
    text
}

fn row(one: &Leadership) -> [String; 6] {
    let led = one
        .until_unix_ms
        .map(|until| until.saturating_sub(one.from_unix_ms));
    let end = one.end.map(|end| end.to_string());
    [
        WallTime::from_millis(one.from_unix_ms).to_string(),
        one.leader.to_string(),
        SpokenTerm(one.term).to_string(),
        led.map_or_else(String::new, span),
        one.without_ms.map_or_else(|| "not known".to_owned(), span),
        end.unwrap_or_else(|| "leads".to_owned()),
    ]
}

/// Returns a span in one or two suitable units.
fn span(millis: u64) -> String {
    let (seconds, minutes) = (millis / 1_000, millis / 60_000);
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", Duration::from_millis(millis).as_secs_f64()),
        60_000..3_600_000 => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_leaderships_are_shown_with_spans_that_a_person_reads() {
        let json = r#"{"group":"orders","leaderships":[
            {"leader":"a","term":"1","from_unix_ms":1764126720000,"without_ms":null,"until_unix_ms":1764126780500,"end":"gone","seen_by":"b"},
            {"leader":"b","term":"2","from_unix_ms":1764126781700,"without_ms":1200,"until_unix_ms":1764137581700,"end":{"lost":"resigned"},"seen_by":"b"},
            {"leader":"a","term":"1099511627779","from_unix_ms":1764137581705,"without_ms":5,"until_unix_ms":null,"end":null,"seen_by":"b"}],
            "findings":[{"agent":"b","kind":"no_leader","text":"start a\u001b[2J","from_unix_ms":1764126780500,"until_unix_ms":1764126781700}]}"#;
        let group: GroupHistory = serde_json::from_str(json).unwrap();
        assert_eq!(
            history(std::slice::from_ref(&group), 9),
            "\
orders: 3 of 3 leaderships
FROM                      LEADER  TERM          LED FOR    NO LEADER BEFORE  END
2025-11-26T03:12:00Z      a       1             1 min 0 s  not known         it was not heard any more (crashed, frozen or cut off)
2025-11-26T03:13:01.700Z  b       2             3 h 0 min  1.2 s             resigned
2025-11-26T06:13:01.705Z  a       3 of epoch 1             5 ms              leads
2025-11-26T03:13:00.500Z to 2025-11-26T03:13:01.700Z: b found: start a?[2J
"
        );
        let last = history(&[group], 1);
        assert!(last.starts_with("orders: 1 of 3 leaderships\n"));
        let rows: Vec<_> = last.lines().skip(2).collect();
        assert!(
            rows[0].ends_with("leads") && rows[1].contains("found"),
            "{last}"
        );
    }
}
