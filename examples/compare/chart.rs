//! All cases as a picture: a panel for each case, with a bar for each election.
//!
//! A case that is over at once has bars of the time until all agree. A case that lasts has bars of the parts of that
//! time with two or more leaders, one leader, or none.

use std::fmt::Write;

use super::{
    report::Row,
    table::{agreed, meanwhile, title},
};

const ACROSS: usize = 3;
const WIDTH: f64 = 490.0;
const BAR: f64 = 16.0;
const LINE: f64 = 21.0;
const NAMES: f64 = 152.0;
const LONGEST: f64 = 140.0;
const TOP: f64 = 46.0;
/// Space above the first bar of a panel.
const HEAD: f64 = 34.0;
const ONE: Color = Color("#4e79a7", "one leads; or: until all agree");
const TWO: Color = Color("#e15759", "two or more lead");
const NONE: Color = Color("#cfcfcf", "no agent leads");

/// A fill colour, with its meaning.
struct Color(&'static str, &'static str);

/// Draws the panels in lines of three.
pub(crate) fn svg(rows: &[Row]) -> String {
    let panels: Vec<&[Row]> = rows.chunk_by(|one, other| one.case == other.case).collect();
    let most = panels.iter().map(|bars| bars.len()).max().unwrap_or(0);
    let height = HEAD + count(most) * LINE + 14.0;
    let lines = count(panels.len().div_ceil(ACROSS));
    let (wide, high) = (count(ACROSS) * WIDTH + 20.0, TOP + lines * height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{wide}\" height=\"{high}\" fill=\"white\"/>\n"
    );
    legend(&mut out);
    for (at, bars) in panels.into_iter().enumerate() {
        let left = count(at % ACROSS) * WIDTH + 20.0;
        panel(&mut out, bars, left, TOP + count(at / ACROSS) * height);
    }
    out + "</svg>\n"
}

/// Draws one panel alone, without a background and a legend.
pub(crate) fn alone(bars: &[Row]) -> String {
    let high = HEAD + count(bars.len()) * LINE + 6.0;
    let name = bars.first().map_or_else(String::new, title);
    let name = escaped(&name);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {high}\" role=\"img\" \
         aria-label=\"Bars for each election: {name}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    panel(&mut out, bars, 0.0, 0.0);
    out + "</svg>\n"
}

/// Returns each colour of a bar with its meaning.
pub(crate) fn meanings() -> [(&'static str, &'static str); 3] {
    [ONE, TWO, NONE].map(|Color(fill, meaning)| (fill, meaning))
}

fn legend(out: &mut String) {
    let _infallible = writeln!(
        out,
        "<text x=\"660\" y=\"28\">In words: the most at once; how long two or more led, or none.\
         </text>"
    );
    for (at, Color(fill, meaning)) in [ONE, TWO, NONE].into_iter().enumerate() {
        let left = 20.0 + count(at) * 210.0;
        let text = left + 20.0;
        let _infallible = writeln!(
            out,
            "<rect x=\"{left}\" y=\"16\" width=\"14\" height=\"14\" fill=\"{fill}\"/>\
             <text x=\"{text}\" y=\"28\">{meaning}</text>"
        );
    }
}

fn panel(out: &mut String, bars: &[Row], left: f64, top: f64) {
    let Some(first) = bars.first() else { return };
    let (case, what, y) = (escaped(first.case), escaped(&title(first)), top + 20.0);
    let _infallible = writeln!(
        out,
        "<g class=\"panel\"><text x=\"{left}\" y=\"{y}\">\
         <tspan font-weight=\"bold\">{case}</tspan> {what}</text>"
    );
    let times = bars.iter().filter_map(|row| row.agreed_ms);
    let most = times.fold(1.0, f64::max);
    for (at, row) in bars.iter().enumerate() {
        bar(out, row, most, left, top + HEAD + count(at) * LINE);
    }
    *out += "</g>\n";
}

/// Draws a line of a panel: the election, the bar, and its values in words.
fn bar(out: &mut String, row: &Row, most: f64, left: f64, top: f64) {
    let name = escaped(&format!("{} ({})", row.protocol, row.source));
    let base = top + 12.5;
    let _infallible = write!(
        out,
        "<g class=\"bar\"><text x=\"{left}\" y=\"{base}\">{name}</text>"
    );
    let mut from = left + NAMES;
    for (share, Color(fill, _)) in shares(row, most) {
        let long = share * LONGEST;
        let _infallible = write!(
            out,
            "<rect x=\"{from:.1}\" y=\"{top}\" width=\"{long:.1}\" height=\"{BAR}\" fill=\"{fill}\"/>"
        );
        from += long;
    }
    let (end, said) = (from + 6.0, escaped(&words(row)));
    let _infallible = writeln!(out, "<text x=\"{end:.1}\" y=\"{base}\">{said}</text></g>");
}

/// Returns the parts of a bar, as shares of the longest possible.
fn shares(row: &Row, most: f64) -> Vec<(f64, Color)> {
    let Some(lasts) = row.lasts_s else {
        return vec![(row.agreed_ms.unwrap_or(0.0) / most, ONE)];
    };
    let share = |ms: f64| (ms / 1e3 / seconds(lasts)).clamp(0.0, 1.0);
    // Each value is a median of its own, so together they may exceed the whole by a little.
    let two = share(row.contested_ms);
    let none = share(row.vacant_ms).min(1.0 - two);
    vec![(two, TWO), (1.0 - two - none, ONE), (none, NONE)]
}

fn words(row: &Row) -> String {
    if row.lasts_s.is_some() {
        meanwhile(row)
    } else {
        format!("{}, {:.0} messages", agreed(row), row.messages)
    }
}

pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for next in text.chars() {
        match next {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            other => out.push(other),
        }
    }
    out
}

fn seconds(whole: u64) -> f64 {
    f64::from(u32::try_from(whole).unwrap_or(u32::MAX)).max(1.0)
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
