//! The picture and the page are well-formed, with a panel for each case and a bar for each row.

use std::fs;

use crate::comparison::{
    args,
    cases::{Case, Look},
    contenders::ALL,
    run, told,
};

/// An element: its name, its attributes, and its content.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    inside: Vec<Self>,
}

impl Element {
    fn get(&self, attribute: &str) -> &str {
        let found = self.attributes.iter().find(|(name, _)| name == attribute);
        found.map_or("", |(_, value)| value)
    }

    fn number(&self, attribute: &str) -> f64 {
        let value = self.get(attribute);
        value
            .parse()
            .unwrap_or_else(|_| panic!("{attribute} of {self:?}"))
    }

    fn is(&self, class: &str) -> bool {
        self.get("class") == class
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.inside.iter().filter(move |one| one.name == name)
    }
}

/// Parses well-formed XML without comments and declarations, and panics at anything else: an open bracket without an
/// end, an element that is not closed in order, or more than one root.
fn parsed(text: &str) -> Element {
    let mut open = vec![Element::default()];
    let mut remaining = text;
    while let Some((before, after)) = remaining.split_once('<') {
        let (tag, behind) = after.split_once('>').unwrap();
        remaining = behind;
        let around = open.last_mut().unwrap();
        around.text += &unescaped(before);
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().unwrap();
            assert_eq!(closed.name, name, "closed in order");
            open.last_mut().unwrap().inside.push(closed);
        } else if let Some(tag) = tag.strip_suffix('/') {
            around.inside.push(element(tag));
        } else {
            open.push(element(tag));
        }
    }
    assert_eq!(remaining.trim(), "", "nothing behind the last element");
    let [mut root] = <[_; 1]>::try_from(open).unwrap();
    assert_eq!((root.inside.len(), root.text.trim()), (1, ""));
    root.inside.remove(0)
}

fn element(tag: &str) -> Element {
    let (name, mut remaining) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(name.chars().all(char::is_alphanumeric), "{tag}");
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !remaining.is_empty() {
        let (attribute, after) = remaining.trim_start().split_once("=\"").unwrap();
        let (value, behind) = after.split_once('"').unwrap();
        assert!(
            attribute.chars().all(|c| c.is_alphanumeric() || c == '-'),
            "{tag}"
        );
        assert!(
            attributes.iter().all(|(name, _)| name != attribute),
            "{tag}"
        );
        attributes.push((attribute.to_owned(), unescaped(value)));
        remaining = behind;
    }
    Element {
        name: name.to_owned(),
        attributes,
        ..Element::default()
    }
}

fn unescaped(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (entity, remaining) = piece.split_once(';').unwrap();
        out += match entity {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            other => panic!("&{other};"),
        };
        out += remaining;
    }
    out
}

/// Checks that there is a panel for each case, with a bar for each name, and that nothing is drawn outside of the
/// picture.
fn is_drawn(text: &str, cases: &[Case], names: &[String]) {
    let svg = parsed(text);
    let space = "http://www.w3.org/2000/svg";
    assert_eq!((svg.name.as_str(), svg.get("xmlns")), ("svg", space));
    let view = svg.get("viewBox").split(' ');
    let view: Vec<f64> = view.map(|number| number.parse().unwrap()).collect();
    let panels: Vec<_> = svg.named("g").filter(|one| one.is("panel")).collect();
    assert_eq!(panels.len(), cases.len());
    for (case, panel) in cases.iter().zip(panels) {
        let title = panel.named("text").next().unwrap();
        assert_eq!(title.inside[0].text, case.name());
        assert!(title.text.contains(case.what()), "{title:?}");
        let bars: Vec<_> = panel.named("g").filter(|one| one.is("bar")).collect();
        assert_eq!(bars.len(), names.len(), "{}", case.name());
        for (name, bar) in names.iter().zip(&bars) {
            assert_eq!(
                bar.named("text").count(),
                2,
                "the election, and the figures"
            );
            assert_eq!(bar.named("text").next().unwrap().text, *name);
        }
        let longs: Vec<f64> = bars.iter().map(|bar| length(bar, &view)).collect();
        let longest = longs.iter().copied().fold(0.0, f64::max);
        assert!(
            near(longest, LONGEST),
            "the longest bar fills its panel: {longest}"
        );
        if case.look() != Look::Agreement {
            assert!(
                bars.iter().all(|bar| bar.named("rect").count() == 3),
                "a part for two leaders, one and none"
            );
            assert!(
                longs.iter().all(|long| near(*long, LONGEST)),
                "the bar shows the whole time"
            );
        }
    }
}

/// Returns the length of a bar, whose parts must lie side by side within the picture.
fn length(bar: &Element, view: &[f64]) -> f64 {
    let mut from: Option<f64> = None;
    let mut whole = 0.0;
    for part in bar.named("rect") {
        let (x, width) = (part.number("x"), part.number("width"));
        assert!(width >= 0.0 && x >= 0.0 && x + width <= view[2]);
        assert!(part.number("y") + part.number("height") <= view[3]);
        assert!(from.is_none_or(|from| near(from, x)), "side by side");
        from = Some(x + width);
        whole += width;
    }
    whole
}

const LONGEST: f64 = 140.0;

/// Returns whether two figures are equal, up to the rounding to one digit.
fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.2
}

#[test]
fn the_picture_is_well_formed_and_has_a_bar_for_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("compare.svg");
    let name = file.to_str().unwrap();
    told(&["--svg", name]);
    let names: Vec<_> = ALL
        .iter()
        .map(|one| format!("{} ({})", one.name, one.source))
        .collect();
    is_drawn(&fs::read_to_string(&file).unwrap(), &Case::ALL, &names);
}

#[test]
fn the_page_has_a_panel_and_a_table_for_each_case_and_loads_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("compare.html");
    told(&["--page", file.to_str().unwrap()]);
    let text = fs::read_to_string(&file).unwrap();
    for foreign in ["<script", "<link rel", " src=", "url(", "@import", "https:"] {
        assert!(!text.contains(foreign), "{foreign}");
    }
    let html = parsed(text.strip_prefix("<!doctype html>\n").unwrap());
    let body = html.named("body").next().unwrap();
    let main = body.named("main").next().unwrap();
    let sections: Vec<_> = main.named("section").collect();
    assert_eq!(sections.len(), Case::ALL.len());
    for (case, section) in Case::ALL.iter().zip(sections) {
        assert_eq!(section.get("id"), case.name());
        let panel = section.named("svg").next().unwrap();
        let panel = panel.named("g").next().unwrap();
        assert_eq!(panel.named("g").count(), ALL.len(), "a bar for each");
        let details = section.named("details").next().unwrap();
        let table = details.inside[1].named("table").next().unwrap();
        let rows = table.named("tbody").next().unwrap();
        assert_eq!(rows.named("tr").count(), ALL.len(), "a row for each");
    }
}

/// The pictures of the README and of the page of the comparison also contain a Raft.
#[test]
fn the_pictures_of_the_readme_and_the_page_have_each_case_and_election() {
    let mut names: Vec<_> = ALL
        .iter()
        .map(|one| format!("{} ({})", one.name, one.source))
        .collect();
    names.push(String::from("raft (raft 0.7)"));
    let all = include_str!("../../../examples/expected/compare.svg");
    is_drawn(all, &Case::ALL, &names);
    let two = include_str!("../../../examples/expected/compare-two.svg");
    is_drawn(two, &[Case::Crash, Case::Split], &names);
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let wrong = run::told(&args(&["--svg", name]), &[]).unwrap_err();
    assert!(wrong.to_string().starts_with(name));
}
