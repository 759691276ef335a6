//! The section `zenoh`: what contradicts it, and that it needs the crate `actix-bully-zenoh`.

use crate::config::{
    Config,
    tests::{every_line_is_refused, refusal},
};

const TWO: &str = "node = \"a\"\ngroup = \"g\"\npeers = [{ node = \"b\" }]";

#[test]
fn a_key_that_contradicts_zenoh_is_named() {
    every_line_is_refused(
        "node = \"a\"\ngroup = \"g\"",
        r#"
        listen = "127.0.0.1:0"\nzenoh.listen = ["tcp/127.0.0.1:0"] | `listen` contradicts `zenoh`: zenoh listens in place of the bridge: remove one of the two
        peers = [{ node = "b" }, { node = "c", address = "127.0.0.1:1" }]\nzenoh.connect = ["tcp/127.0.0.1:1"] | `peers[1].address` contradicts `zenoh`: zenoh finds a node by its name: leave the address out
        zenoh.mode = "client" | there is no key `zenoh.mode`: leave it out
        zenoh.conect = [] | there is no key `zenoh.conect`: did you mean `zenoh.connect`?
        zenoh.listen = "tcp/127.0.0.1:0" | `zenoh.listen` is "tcp/127.0.0.1:0": it has to be a list of names in quotes
    "#,
    );
}

#[test]
fn a_program_without_the_crate_refuses_zenoh_and_says_what_to_add() {
    let text = format!("{TWO}\nzenoh.connect = [\"tcp/127.0.0.1:1\"]");
    assert_eq!(
        refusal(&text),
        "accepted",
        "the file alone could be started"
    );
    let config = Config::from_toml(&text).unwrap();
    let refused = config.start().unwrap_err().to_string();
    assert!(
        refused.contains("`zenoh` needs the crate `actix-bully-zenoh`"),
        "{refused}"
    );
    assert!(
        refused.contains("actix_bully_zenoh::starter(&config)?.start()"),
        "{refused}"
    );
    let alone = "node = \"a\"\ngroup = \"g\"\nzenoh.listen = [\"tcp/127.0.0.1:0\"]";
    let beside = format!("{alone}\nlease.folder = \"f\"");
    assert_eq!(refusal(&beside), "accepted");
}
