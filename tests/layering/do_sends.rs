//! Every `do_send` has a comment with the reason why it may ignore the bounds of a mailbox.
//!
//! actix queues such a message even if the mailbox is full. An `Intake` hands over the messages of users, within the
//! bounds. Every other `do_send` stands under a comment that begins with `do_send:`, and says how few messages it
//! sends.

use std::{fs, path::Path};

use crate::rust_files;

#[test]
fn each_do_send_says_why_it_may_ignore_a_bound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&root) {
        let source = fs::read_to_string(root.join(&file)).unwrap();
        wrong.extend(unexplained(&source).map(|line| format!("src/{file}:{line}")));
    }
    assert!(
        wrong.is_empty(),
        "give the reason in a comment that begins with `do_send:`\n{wrong:#?}"
    );
}

#[test]
fn an_unexplained_send_is_found() {
    let source = "fn f() {\n    // do_send: one.\n    a.do_send(B);\n    c();\n    d.do_send(E);\n    let f = Recipient::do_send;\n}\n";
    assert_eq!(unexplained(source).collect::<Vec<_>>(), [5, 6]);
    let shown = "/// adds.do_send(Add(1));\n//! do_send\n    pub fn do_send(&self) {\n";
    assert_eq!(unexplained(shown).count(), 0);
    let tests = "#[cfg(test)]\nmod tests {\n    a.do_send(B);\n}\n";
    assert_eq!(unexplained(tests).count(), 0);
}

/// Returns the lines of calls without a reason, before the tests of a file.
fn unexplained(source: &str) -> impl Iterator<Item = usize> {
    let code = source
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let is_call = [".do_send(", "::do_send"]
            .iter()
            .any(|call| line.contains(call));
        if !is_call || line.starts_with("//") {
            continue;
        }
        // The statement that ends in the call, with its comment.
        let above = lines.get(..at).into_iter().flatten().rev().take(LONGEST);
        let mut above =
            above.take_while(|line| !line.contains("do_send(") || line.starts_with("//"));
        if !above.any(|line| line.starts_with("// do_send: ")) {
            found.push(at + 1);
        }
    }
    found.into_iter()
}

/// Largest number of lines from a comment down to its call.
const LONGEST: usize = 3;
