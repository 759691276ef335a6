//! The most telling figures as a picture: bars, a panel for each question.

use std::fmt::Write;

use crate::report::Row;

/// A question, and the rows and figures that answer it.
struct Panel {
    title: &'static str,
    case: &'static str,
    unit: &'static str,
    figure: fn(&Row) -> Option<f64>,
}

const PANELS: [Panel; 6] = [
    Panel {
        title: "The leader crashes: until all agree",
        case: "crash",
        unit: "ms",
        figure: |row| row.agreed_ms,
    },
    Panel {
        title: "Five start: messages until all agree",
        case: "start",
        unit: "",
        figure: |row| Some(row.messages),
    },
    Panel {
        title: "15 % loss for 20 s: leaderships",
        case: "loss",
        unit: "",
        figure: |row| Some(row.elections),
    },
    Panel {
        title: "Full partition for 20 s: two lead for",
        case: "split",
        unit: "ms",
        figure: |row| Some(row.contested_ms),
    },
    Panel {
        title: "A leader that hears nobody: nobody else, or two, for",
        case: "deaf",
        unit: "ms",
        figure: |row| Some(row.contested_ms),
    },
    Panel {
        title: "A flapping leader for 20 s: leaderships",
        case: "flapping",
        unit: "",
        figure: |row| Some(row.elections),
    },
];

const WIDTH: f64 = 420.0;
const BAR: f64 = 18.0;
const NAMES: f64 = 110.0;
const COLORS: [&str; 8] = [
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#9c755f", "#bab0ac",
];

/// Two panels side by side, as many rows of them as it takes.
pub(crate) fn svg(rows: &[Row]) -> String {
    let panels: Vec<(&Panel, Vec<(&Row, f64)>)> = PANELS
        .iter()
        .filter_map(|panel| {
            let of_case = rows.iter().filter(|row| row.case == panel.case);
            let bars: Vec<_> = of_case
                .filter_map(|row| Some((row, (panel.figure)(row)?)))
                .collect();
            (!bars.is_empty()).then_some((panel, bars))
        })
        .collect();
    let most = panels.iter().map(|(_, bars)| bars.len()).max().unwrap_or(0);
    let height = 44.0 + count(most) * (BAR + 6.0);
    let lines = count(panels.len().div_ceil(2));
    let (wide, high) = (2.0 * WIDTH + 20.0, lines * height + 10.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{wide}\" height=\"{high}\" fill=\"white\"/>\n"
    );
    for (at, (panel, bars)) in panels.iter().enumerate() {
        let (left, top) = (
            count(at % 2) * (WIDTH + 10.0) + 10.0,
            count(at / 2) * height,
        );
        draw(&mut out, panel, bars, left, top);
    }
    out + "</svg>\n"
}

fn draw(out: &mut String, panel: &Panel, bars: &[(&Row, f64)], left: f64, top: f64) {
    let most = bars.iter().map(|(_, figure)| *figure).fold(1.0, f64::max);
    let (title, y) = (panel.title, top + 26.0);
    let _infallible = writeln!(
        out,
        "<text x=\"{left}\" y=\"{y}\" font-weight=\"bold\">{title}</text>"
    );
    for (at, (row, figure)) in bars.iter().enumerate() {
        let y = top + 38.0 + count(at) * (BAR + 6.0);
        let (from, long) = (left + NAMES, (WIDTH - NAMES - 80.0) * figure / most);
        let color = COLORS.get(at % COLORS.len()).copied().unwrap_or("#888888");
        let (base, end) = (y + 13.0, from + long + 6.0);
        let (name, unit) = (row.protocol, panel.unit);
        let _infallible = writeln!(
            out,
            "<text x=\"{left}\" y=\"{base}\">{name}</text>\
             <rect x=\"{from}\" y=\"{y}\" width=\"{long:.1}\" height=\"{BAR}\" fill=\"{color}\"/>\
             <text x=\"{end:.1}\" y=\"{base}\">{figure:.0} {unit}</text>"
        );
    }
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
