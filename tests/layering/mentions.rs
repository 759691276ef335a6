//! Reads the words, paths and blocks of Rust sources.
//!
//! It skips comments and literals. It expands a group: `a::{b, c::d}` mentions `a::b` and `a::c::d`.

use std::iter::Peekable;
use std::slice::Iter;

/// A word or a path in a source text.
pub(crate) struct Mention<'a> {
    pub(crate) line: usize,
    /// The modules that the file opens around the mention.
    pub(crate) module: Vec<&'a str>,
    pub(crate) path: Vec<&'a str>,
    /// Whether the mention is compiled for tests only.
    pub(crate) is_test: bool,
}

#[derive(Clone, Copy)]
struct Token<'a> {
    line: usize,
    text: &'a str,
}

/// The properties of a `{ .. }`, or of the next one.
#[derive(Default)]
struct Block<'a> {
    module: Option<&'a str>,
    is_test: bool,
}

type Tokens<'t, 'a> = Peekable<Iter<'t, Token<'a>>>;

/// Returns all words and paths of a source text, in order.
pub(crate) fn mentions(source: &str) -> Vec<Mention<'_>> {
    let tokens = tokens(source);
    let mut rest = tokens.iter().peekable();
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut next = Block::default();
    let mut found = Vec::new();
    while let Some(&token) = rest.next() {
        match token.text {
            "#" => next.is_test |= is_test_only(&mut rest),
            "{" => blocks.push(std::mem::take(&mut next)),
            "}" => drop(blocks.pop()),
            ";" => next = Block::default(),
            "mod" => next.module = rest.peek().map(|name| name.text),
            text if text.starts_with(is_word) => {
                for path in paths(token, &mut rest) {
                    found.push(Mention {
                        line: path.last().map_or(token.line, |last| last.line),
                        module: blocks.iter().filter_map(|block| block.module).collect(),
                        path: path.iter().map(|word| word.text).collect(),
                        is_test: next.is_test || blocks.iter().any(|block| block.is_test),
                    });
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns whether `[cfg(test)]`, or a longer condition of this kind, follows.
fn is_test_only(rest: &mut Tokens<'_, '_>) -> bool {
    if rest.next_if(|token| token.text == "[").is_none()
        || rest.next_if(|token| token.text == "cfg").is_none()
    {
        return false;
    }
    let words: Vec<_> = rest
        .map(|token| token.text)
        .take_while(|text| *text != "]")
        .collect();
    !words.contains(&"not") && (words.contains(&"test") || words.contains(&"doctest"))
}

/// Returns the paths that begin with this word: several for `first::{a, b::c}`.
fn paths<'a>(first: Token<'a>, rest: &mut Tokens<'_, 'a>) -> Vec<Vec<Token<'a>>> {
    let mut path = vec![first];
    while rest.next_if(|token| token.text == "::").is_some() {
        if rest.next_if(|token| token.text == "{").is_some() {
            return group(&path, rest);
        }
        let Some(&word) =
            rest.next_if(|token| token.text == "*" || token.text.starts_with(is_word))
        else {
            break;
        };
        path.push(word);
    }
    vec![path]
}

fn group<'a>(prefix: &[Token<'a>], rest: &mut Tokens<'_, 'a>) -> Vec<Vec<Token<'a>>> {
    let mut found = Vec::new();
    while let Some(&token) = rest.next() {
        match token.text {
            "}" => break,
            "," => {}
            "as" => drop(rest.next()),
            _ => found.extend(
                paths(token, rest)
                    .iter()
                    .map(|tail| [prefix, tail].concat()),
            ),
        }
    }
    found
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while !rest.is_empty() {
        let (length, is_code) = measure(rest);
        let (text, after) = rest.split_at(length);
        if is_code {
            found.push(Token { line, text });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    found
}

/// Returns the length of the first token, and whether it is code (not space, comment or literal).
fn measure(text: &str) -> (usize, bool) {
    let through = |from: usize, end: &str| {
        text[from..]
            .find(end)
            .map_or(text.len(), |at| from + at + end.len())
    };
    let first = text.chars().next().map_or(0, char::len_utf8);
    if text.starts_with("//") {
        (through(2, "\n"), false)
    } else if text.starts_with("/*") {
        (through(2, "*/"), false)
    } else if let Some((from, end)) = raw_string(text) {
        (through(from, &end), false)
    } else if text.starts_with('"') {
        (string(text), false)
    } else if text.starts_with("'\\") {
        (through(3, "'"), false)
    } else if text.starts_with('\'') && text.chars().nth(2) == Some('\'') {
        (through(2, "'"), false)
    } else if text.starts_with("::") {
        (2, true)
    } else if text.starts_with(is_word) {
        (text.find(|next| !is_word(next)).unwrap_or(text.len()), true)
    } else {
        (first, !text.starts_with(char::is_whitespace))
    }
}

/// Returns the length of a string with escapes.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the position of the inside of `r#".."#`, and the text that ends it.
fn raw_string(text: &str) -> Option<(usize, String)> {
    let quoted = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let inside = quoted.trim_start_matches('#').strip_prefix('"')?;
    let hashes = quoted.len() - inside.len() - 1;
    Some((
        text.len() - inside.len(),
        format!("\"{}", "#".repeat(hashes)),
    ))
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
