//! Certificates that are renewed while links last, and a certificate that ends soon.

use std::time::Duration;

use actix::clock::sleep;
use actix_bully::{clock::WallTime, remote::Peer, testkit::virtual_system};
use actix_bully_tls_tests::{Authority, Leaf, authority::valid};
use tracing::Level;

use super::{
    Host,
    kit::{linked, play, until},
};
use logging::logged;

#[path = "../../../common/logging.rs"]
mod logging;

#[test]
fn files_that_are_renewed_are_used_by_the_next_handshake_and_a_pair_that_does_not_fit_is_not() {
    play(async {
        let (old, new) = (Authority::new("old"), Authority::new("new"));
        let folder = tempfile::tempdir().expect("a folder can be made");
        let a_tls = old.files(folder.path(), &old.node("a"));
        let a = Host::tls("a", &[], &a_tls);
        let first = a_tls.expires_at();
        // Each host is another peer of `a`. It knows one authority only, and it dials `a`.
        let dials = |name: &str, authority: &Authority| {
            a.bridge.add_peer(Peer::inbound(name)).expect("a new peer");
            Host::tls(name, &[("a", Some(&a))], &authority.config(name))
        };
        let b = dials("b", &old);
        until("b is linked", || linked(&b.bridge, "a").is_some()).await;

        let longer = new.odd("a", |params| valid(params, -1, 40));
        new.put(folder.path(), &longer);
        let c = dials("c", &new);
        until("c is linked", || linked(&c.bridge, "a").is_some()).await;
        let second = a_tls.expires_at();
        assert_ne!(first, second);
        assert!(linked(&b.bridge, "a").is_some(), "a link stays");

        // Half a pair: the key belongs to another certificate.
        let half = Leaf {
            key: new.node("a").key,
            ..new.node("a")
        };
        new.put(folder.path(), &half);
        let d = dials("d", &new);
        until("d is linked", || linked(&d.bridge, "a").is_some()).await;
        assert_eq!(a_tls.expires_at(), second, "the pair before stays");
    });
}

#[test]
fn a_host_without_a_handshake_uses_renewed_files_within_an_hour_and_warns_of_the_former_ones_no_more()
 {
    logged(Level::WARN, |lines| {
        virtual_system().block_on(async {
            let trust = Authority::new("ours");
            let ends = |days| trust.odd("a", |params| valid(params, -1, days));
            let folder = tempfile::tempdir().expect("a folder can be made");
            let tls = trust.files(folder.path(), &ends(6));
            let former = tls.expires_at();
            let _a = Host::tls("a", &[], &tls);
            let hours = |hours: u64| sleep(Duration::from_secs(hours * 3_600 + 60));
            let warnings = || lines.about("expires soon");
            hours(0).await;
            let [told] = &warnings()[..] else {
                panic!("one warning at the start");
            };
            let end = WallTime::from(former).to_string();
            assert!(told.contains(&end), "{told}");

            // Half a pair: the former certificate stays, and a warning about its end comes each hour.
            let half = Leaf {
                key: ends(30).key,
                ..ends(30)
            };
            trust.put(folder.path(), &half);
            hours(2).await;
            assert_eq!(warnings().len(), 2);
            assert_eq!(tls.expires_at(), former);

            trust.put(folder.path(), &ends(30));
            hours(2).await;
            assert_eq!(warnings(), [""; 0]);
            assert!(tls.expires_at() > former);
        });
    });
}
