//! Files in which random parts are replaced, and variables: the result is a typed error or a configuration, and
//! never a panic.

use crate::config::{Config, tests::blamed};

const PAGE: &str = include_str!("../every_key.toml");

/// Reads the text as a file and as a variable. Writes the resulting configuration, and reads it again.
fn read(text: &str) {
    if let Ok(config) = Config::from_toml(text) {
        drop(config.check());
        let shown = serde_json::to_string(&config).unwrap();
        let again: Config = serde_json::from_str(&shown).unwrap();
        assert_eq!(again, config, "{text}");
    }
    drop(Config::new("a", "g").with_env("P", [("P_SCORE".to_owned(), text.to_owned())]));
    drop(Config::new("a", "g").with_env("P", [("P_PEERS".to_owned(), text.to_owned())]));
}

/// Returns a place where the text can be cut.
fn place(random: &mut fastrand::Rng, text: &str) -> usize {
    let mut at = random.usize(0..=text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn a_page_with_anything_in_the_place_of_anything_is_no_panic() {
    let mut random = fastrand::Rng::with_seed(2);
    let pieces = [
        "",
        "\"",
        "[",
        "]]",
        "=",
        "\n",
        "-1",
        "9223372036854775807",
        "1e400",
        "nan",
        "true",
        "\"0ms\"",
        "\"584542y\"",
        "\"18446744073709551615ns\"",
        "[[peers]]\n",
        "[quorum]\n",
        "node = 3\n",
        "{ a = 1 }",
        "1979-05-27",
        "\u{feff}",
        "[[[[[[[[[[[[[[[[",
        "é",
    ];
    let mut accepted = 0;
    for _ in 0..400 {
        let mut text = PAGE.to_owned();
        for _ in 0..random.usize(1..4) {
            let (from, piece) = (place(&mut random, &text), random.choice(&pieces).unwrap());
            let to = place(&mut random, &text).clamp(from, text.len().min(from + 40));
            let to = (from..=to)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap();
            text.replace_range(from..to, piece);
            read(piece);
        }
        accepted += usize::from(Config::from_toml(&text).is_ok());
        read(&text);
    }
    assert!(
        (10..390).contains(&accepted),
        "both ways happen: {accepted}"
    );
}

#[test]
fn a_value_that_nests_too_deep_is_refused() {
    let deep = "[".repeat(20_000);
    let refused = Config::from_toml(&format!("score = {deep}")).unwrap_err();
    assert_eq!(blamed(&refused), "", "{refused}");
    let dotted = vec!["a"; 20_000].join(".");
    drop(Config::from_toml(&format!("{dotted} = 1")).unwrap_err());
}
