//! All cases as a page of its own, which loads nothing: the panel of each case, with its numbers as a table below.
//!
//! Decided here: a table repeats the values of the bars, for readers who do not see them, and the page is light or dark
//! as the reader's system is. Not here: the contents of a panel (`chart.rs`), and the words for a number (`table.rs`).

use std::fmt::Write;

use super::{
    chart::{self, escaped},
    report::Row,
    table::{self, COLUMNS, blocks, cells, title},
};

/// Returns a page with these rows.
pub(crate) fn html(rows: &[Row]) -> String {
    let seeds = rows.first().map_or(0, |row| row.seeds);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>Elections, side by side</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Elections, side by side</h1>\n\
         <p>Every election over the same network and the same faults; each bar is the median of {seeds} seeds.</p>\n"
    );
    legend(&mut out);
    contents(&mut out, rows);
    for block in blocks(rows) {
        section(&mut out, block);
    }
    let words = escaped(table::LEGEND).replace('\n', " ");
    let _infallible = writeln!(out, "<p>{words}</p>\n</main>\n</body>\n</html>");
    out
}

fn legend(out: &mut String) {
    *out += "<ul class=\"legend\">\n";
    for (fill, meaning) in chart::meanings() {
        let _infallible = writeln!(
            out,
            "<li><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><rect width=\"14\" height=\"14\" fill=\"{fill}\"/></svg>{meaning}</li>"
        );
    }
    *out += "</ul>\n";
}

fn contents(out: &mut String, rows: &[Row]) {
    *out += "<nav aria-label=\"Cases\"><ul>\n";
    for row in blocks(rows).filter_map(<[Row]>::first) {
        let case = escaped(row.case);
        let _infallible = writeln!(out, "<li><a href=\"#{case}\">{case}</a></li>");
    }
    *out += "</ul></nav>\n";
}

fn section(out: &mut String, block: &[Row]) {
    let Some(first) = block.first() else { return };
    let (case, what) = (escaped(first.case), escaped(&title(first)));
    let _infallible = writeln!(
        out,
        "<section id=\"{case}\" aria-labelledby=\"{case}-title\">\n<h2 id=\"{case}-title\">{case}: {what}</h2>\n{}\
         <details><summary>The numbers of {case}</summary>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"The numbers of {case}\"><table>",
        chart::alone(block)
    );
    *out += "<thead><tr><th scope=\"col\">election</th>";
    for column in COLUMNS {
        let _infallible = write!(out, "<th scope=\"col\">{column}</th>");
    }
    *out += "</tr></thead>\n<tbody>\n";
    for row in block {
        let name = escaped(row.protocol);
        let _infallible = write!(out, "<tr><th scope=\"row\">{name}</th>");
        for cell in cells(row) {
            let cell = escaped(&cell);
            let _infallible = write!(out, "<td>{cell}</td>");
        }
        *out += "</tr>\n";
    }
    *out += "</tbody></table></div></details>\n</section>\n";
}

const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--ink:#17202b;--line:#ccd3db;--link:#1450c8}\
@media (prefers-color-scheme:dark){:root{--back:#12161c;--ink:#e8edf3;--line:#3a4653;--link:#8fb6ff}}\
body{margin:0;background:var(--back);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\
main{max-width:90rem;margin:0 auto;padding:1rem;display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(30rem,100%),1fr))}\
main>h1,main>p,nav,.legend{grid-column:1/-1;margin:0}\
section{border:1px solid var(--line);border-radius:8px;padding:.75rem 1rem;min-width:0}\
h2{font-size:1rem;margin:0 0 .5rem}section>svg{display:block;width:100%;height:auto}svg text{fill:currentColor}\
ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:0}.legend svg{width:14px;margin-right:.4rem}\
a{color:var(--link)}.wide{overflow:auto}table{border-collapse:collapse;font-size:.85rem;margin-top:.5rem}\
th,td{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}th:first-child{text-align:left}\
:focus-visible{outline:3px solid var(--link)}";
