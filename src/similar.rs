//! Finds the known name that a user probably meant by an unknown name.
//!
//! Decided here: how much two names may differ. Not here: which names are known.

/// Returns the known name that differs by the fewest letters; `None` if each differs by more than a typing error.
pub(crate) fn similar<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let close = known.filter_map(|name| {
        let distance = distance(unknown, name);
        (distance <= MOST).then_some((distance, name))
    });
    close.min().map(|(_, name)| name)
}

/// Largest number of letters by which a typing error may change a name.
const MOST: usize = 2;

/// Returns the number of letters that have to be inserted, left out or replaced (Levenshtein 1965). Names are short: a
/// very long name is cut, and is then similar to no known name.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = at;
        let mut left = at.saturating_add(1);
        let mut next = vec![left];
        for (above, theirs) in row.iter().skip(1).zip(&other) {
            let replaced = diagonal.saturating_add(usize::from(letter != *theirs));
            left = replaced.min(left.min(*above).saturating_add(1));
            next.push(left);
            diagonal = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_found_and_another_word_is_not() {
        let known = ["greeting", "orders", "order-lines"];
        for (unknown, expected) in [
            ("greetng", Some("greeting")),
            ("Greeting", Some("greeting")),
            ("order", Some("orders")),
            ("order_line", Some("order-lines")),
            ("invoices", None),
            ("", None),
        ] {
            assert_eq!(similar(unknown, known.into_iter()), expected, "{unknown}");
        }
    }
}
