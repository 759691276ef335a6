//! A stranger in the zenoh network: its payloads are counted and refused, and the election goes on.

use actix_bully_zenoh::ZenohOptions;
use actix_bully_zenoh_tests::{Host, Raw, endpoint, over, play, secret, until};
use zenoh::Wait;

const BOTH: [&str; 2] = ["a", "b"];

/// Returns a packet that opens a connection as `host`.
fn open(session: u128, connection: u64, host: &str) -> Vec<u8> {
    let mut packet = vec![0xB7, 0x5A, 1, 0];
    packet.extend_from_slice(&session.to_be_bytes());
    packet.extend_from_slice(&connection.to_be_bytes());
    packet.extend_from_slice(&[0; 8]);
    packet.extend_from_slice(host.as_bytes());
    packet
}

/// Returns a packet with bytes on a connection.
fn data(session: u128, connection: u64, at: u64, bytes: &[u8]) -> Vec<u8> {
    let mut packet = open(session, connection, "");
    packet[3] = 2;
    packet[28..36].copy_from_slice(&at.to_be_bytes());
    packet.extend_from_slice(bytes);
    packet
}

/// If the machine is busy for a second, a link falls silent without the stranger. So one success in three runs is
/// enough: a fault by the stranger would break a link in each run.
#[test]
fn payloads_of_a_stranger_are_counted_and_break_no_link() {
    let is_unbroken = |_| {
        let mut broken = 0;
        play(async { broken = links_lost_to_a_stranger().await });
        broken == 0
    };
    assert!((0..3).any(is_unbroken));
}

async fn links_lost_to_a_stranger() -> u64 {
    let at = endpoint();
    let a = Host::start("a", &BOTH, ZenohOptions::peer().listen(&at));
    let b = Host::start("b", &BOTH, ZenohOptions::peer().connect(&at));
    until("they elect", || {
        a.leader().is_some() && a.leader() == b.leader()
    })
    .await;
    until("they are linked", || {
        a.is_linked_with("b") && b.is_linked_with("a")
    })
    .await;
    let stranger = Raw::stranger(&at);
    let all = "bully/default/inbox/a/*";
    // A stranger that has just connected may not know the inbox yet, so it publishes until the first payload arrives.
    until("foreign payloads are counted", || {
        stranger.publish(all, b"foreign");
        a.count("packet_malformed") > 0
    })
    .await;
    for len in [0, 1, 35, 36, 100_000, 900_000] {
        stranger.publish(all, &vec![0xB7; len]);
    }
    until("payloads of other lengths are counted", || {
        a.count("packet_malformed") >= 5
    })
    .await;
    // More connections than there are slots, none of which is completed; opened as the peer and as a stranger.
    for number in 0..500 {
        let host = if number % 2 == 0 { "b" } else { "mallory" };
        stranger.publish(all, &open(1, number, host));
        stranger.publish(all, &data(1, number, 0, b"not taken yet"));
    }
    until("most connections are refused", || {
        a.count("too_many_connections") + a.count("packet_refused") > 100
    })
    .await;
    // Bytes on connections that do not exist.
    for number in 0..500 {
        stranger.publish(all, &data(2, number, 0, b"stray"));
    }
    until("strays are counted", || a.count("packet_stray") >= 400).await;
    until("they follow one", || {
        a.leader().is_some() && a.leader() == b.leader()
    })
    .await;
    // A link that breaks is counted at both sides, so the counters of one side are enough: no stranger published to
    // `b`.
    b.count("lost") + b.count("silent")
}

#[test]
fn a_forged_token_delays_a_link_and_does_not_prevent_it() {
    play(async {
        let at = endpoint();
        let a = Host::start("a", &BOTH, ZenohOptions::peer().listen(&at));
        until("b is looked for", || a.bridge.traffic().dials > 0).await;
        let stranger = Raw::stranger(&at);
        let session = stranger.session.as_ref().expect("the session is open");
        let mut tokens = Vec::new();
        for n in 0..20_u128 {
            let key = format!("bully/default/live/b/{n:032x}");
            tokens.push(
                session
                    .liveliness()
                    .declare_token(key)
                    .wait()
                    .expect("a token"),
            );
        }
        let odd = session
            .liveliness()
            .declare_token("bully/default/live/b/odd");
        tokens.push(odd.wait().expect("a token"));
        until("the surplus tokens are counted", || {
            a.count("token_refused") >= 12
        })
        .await;
        let b = Host::start("b", &BOTH, ZenohOptions::peer().connect(&at));
        until("they elect", || {
            a.leader().is_some() && a.leader() == b.leader()
        })
        .await;
        std::thread::spawn(move || drop(tokens))
            .join()
            .expect("the tokens are taken back");
        until("they are linked", || {
            a.is_linked_with("b") && b.is_linked_with("a")
        })
        .await;
    });
}

/// A stranger declares a copy of a token, and takes it back. The link may break, and is then made again.
#[test]
fn a_token_that_a_stranger_copies_and_takes_back_ends_no_host() {
    play(async {
        let at = endpoint();
        let a = Host::start("a", &BOTH, ZenohOptions::peer().listen(&at));
        let b = Host::start("b", &BOTH, ZenohOptions::peer().connect(&at));
        until("they are linked", || {
            a.is_linked_with("b") && b.is_linked_with("a")
        })
        .await;
        until("they elect", || {
            a.leader().is_some() && a.leader() == b.leader()
        })
        .await;
        let copying = std::thread::spawn(move || {
            let stranger = Raw::stranger(&at);
            let session = stranger.session.as_ref().expect("the session is open");
            let mut copied = 0;
            while copied < 10 {
                let all = session.liveliness().get("bully/default/live/*/*").wait();
                for reply in all.expect("an answer") {
                    if let Ok(sample) = reply.result() {
                        let token = session.liveliness().declare_token(sample.key_expr());
                        let token = token.wait().expect("a token");
                        token.undeclare().wait().expect("it was declared");
                        copied += 1;
                    }
                }
            }
        });
        until("the stranger is done", || copying.is_finished()).await;
        copying.join().expect("it copied all");
        until("they are linked again", || {
            a.is_linked_with("b") && b.is_linked_with("a")
        })
        .await;
        until("they follow one", || {
            a.leader().is_some() && a.leader() == b.leader()
        })
        .await;
        println!(
            "links after ten tokens were copied: {}",
            a.bridge.traffic().links
        );
    });
}

#[test]
fn a_host_without_the_secret_and_one_of_another_cluster_take_no_part() {
    play(async {
        let at = endpoint();
        let all = ["a", "b", "c"];
        let a = Host::start("a", &all, ZenohOptions::peer().listen(&at));
        let wrong = Host::with("b", &all, |builder| {
            let zenoh = ZenohOptions::peer().connect(&at);
            over(builder, zenoh).secret(secret("theirs"))
        });
        let other = Host::with("c", &all, |builder| {
            let zenoh = ZenohOptions::peer().connect(&at);
            over(builder.cluster("other"), zenoh).secret(secret("ours"))
        });
        until("the wrong secret is refused", || a.count("secret") > 0).await;
        assert_eq!(a.leader(), None);
        assert!(!a.is_linked_with("b") && !a.is_linked_with("c"));
        assert!(!wrong.is_linked_with("c") && !other.is_linked_with("a"));
        wrong.bridge.stop();
        let b = Host::start("b", &all, ZenohOptions::peer().connect(&at));
        until("the right one elects", || {
            a.leader().is_some() && a.leader() == b.leader()
        })
        .await;
        assert_eq!(other.leader(), None);
        assert!(!other.is_linked_with("a") && !other.is_linked_with("b"));
    });
}
