//! What an attacker on the way can do: nothing but cut.

use actix_bully::remote::tls::{TlsConfig, accept, closed_by, connect};
use actix_bully_tls_tests::{
    Authority,
    ends::{pipe, refused},
    middle::{Flip, watched},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Duration, timeout},
};

const SAID: &[u8] = b"the first words after the handshake";

/// The dialler sends a few words through the middle. What the listener makes of it, and what
/// crossed.
async fn session(
    a: &TlsConfig,
    b: &TlsConfig,
    flip: Option<Flip>,
) -> (Result<(), String>, Vec<u8>) {
    let (here, there, record) = watched(flip);
    let listens = async {
        let accepted = accept(a, Box::new(here), |peer| peer == b.node()).await;
        let (mut end, _) = accepted.map_err(|refusal| refusal.why.to_string())?;
        let mut heard = vec![0; SAID.len()];
        match end.read_exact(&mut heard).await {
            Ok(_) => assert_eq!(heard, SAID, "changed words were believed"),
            Err(error) => {
                return Err(closed_by(&error).map_or_else(String::new, |why| why.to_string()));
            }
        }
        Ok(())
    };
    let dials = async {
        let (mut end, _) = connect(b, Box::new(there), a.node()).await.ok()?;
        end.write_all(SAID).await.ok()?;
        end.flush().await.ok()?;
        end.read_u8().await.ok() // until the listener goes
    };
    // A changed length may leave both waiting: then the dialler goes.
    let (heard, _) = tokio::join!(listens, timeout(Duration::from_secs(1), dials));
    let crossed = record.lock().expect("one writer").clone();
    (heard, crossed)
}

/// Every byte, one after the other. The type and the version in front of a record mean nothing once
/// it is encrypted, and in the first one the version never did (RFC 8446, 5.1 and 5.2): there a
/// change may go unnoticed, as nothing that is believed depends on it.
#[tokio::test(start_paused = true)]
async fn no_changed_byte_is_believed() {
    let trust = Authority::new("ours");
    let (a, b) = (trust.config("a"), trust.config("b"));
    let (heard, crossed) = session(&a, &b, None).await;
    assert_eq!(heard, Ok(()));
    let (mut refused, mut meaningless) = (0, 0);
    for at in 0..crossed.len() {
        let (heard, mut changed) = session(&a, &b, Some(Flip { at })).await;
        // Signatures differ in length: the last bytes may never have been sent.
        let Some(byte) = changed.get_mut(at) else {
            continue;
        };
        *byte ^= 1;
        match heard {
            Err(_) => refused += 1,
            Ok(()) if in_front_of_a_record(&changed, at) => meaningless += 1,
            Ok(()) => panic!("byte {at} was changed, and no side noticed"),
        }
    }
    assert!(refused > 700, "{refused}");
    assert!(meaningless < 12, "{meaningless}");
}

/// Whether this byte is one of the first three of a record.
fn in_front_of_a_record(crossed: &[u8], at: usize) -> bool {
    let mut start = 0;
    while let Some(&[_, _, _, high, low]) = crossed
        .get(start..start + 5)
        .and_then(|head| head.first_chunk())
    {
        if (start..start + 3).contains(&at) {
            return true;
        }
        start += 5 + usize::from(u16::from_be_bytes([high, low]));
    }
    false
}

#[tokio::test]
async fn nothing_recorded_can_be_played_again() {
    let trust = Authority::new("ours");
    let (a, b) = (trust.config("a"), trust.config("b"));
    let (heard, crossed) = session(&a, &b, None).await;
    assert_eq!(heard, Ok(()));
    let (here, mut there) = pipe();
    there.write_all(&crossed).await.expect("the pipe is open");
    let refusal = refused(accept(&a, Box::new(here), |_| true).await);
    assert_eq!(refusal.why.to_string(), "the TLS handshake failed");
}

/// What crosses does not tell which node speaks, or what is said.
#[tokio::test]
async fn nothing_is_in_the_clear() {
    let trust = Authority::new("an-authority-to-be-seen");
    let (a, b) = (
        trust.config("node-to-be-seen"),
        trust.config("other-to-be-seen"),
    );
    let (heard, crossed) = session(&a, &b, None).await;
    assert_eq!(heard, Ok(()));
    let holds = |text: &[u8]| crossed.windows(text.len()).any(|window| window == text);
    assert!(
        holds(b"actix-bully/1"),
        "the protocol is in the clear, or this test sees nothing"
    );
    assert!(!holds(b"to-be-seen"), "a name is in the clear");
    assert!(!holds(SAID));
}

#[tokio::test]
async fn a_handshake_that_is_cut_is_lost_at_every_place() {
    let trust = Authority::new("ours");
    let (a, b) = (trust.config("a"), trust.config("b"));
    let (_, crossed) = session(&a, &b, None).await;
    let hello = usize::from(crossed[3]) * 256 + usize::from(crossed[4]) + 5;
    for cut in (0..hello).step_by(5) {
        let (here, mut there) = pipe();
        there.write_all(&crossed[..cut]).await.expect("open");
        there.shutdown().await.expect("open");
        let refusal = refused(accept(&a, Box::new(here), |_| true).await);
        assert_eq!(
            refusal.why.to_string(),
            "the connection ended",
            "cut at {cut}"
        );
    }
}
