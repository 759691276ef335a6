//! Entries of a store that are not the lease of the group.

use super::*;

#[test]
fn a_foreign_entry_is_shown_as_foreign_and_not_overwritten() {
    let elsewhere = RecordError::Elsewhere {
        group: id("other"),
        cluster: id("shop"),
    };
    let key = "shop/cron/lease".parse().unwrap();
    for (found, error) in [
        (Ok(Some(entry(1, stored(&lease("other", 1))))), elsewhere),
        (Ok(Some(entry(1, b"hello"))), RecordError::Kind),
        // The read counts as a success, so the store is not asked less often.
        (Err(RegisterError::Foreign { key }), RecordError::Kind),
    ] {
        let mut scene = Scene::new();
        scene.ask("a", 1);
        scene.begin_read();
        scene.schedule.read(found, Ok(None), &mut scene.said);
        let Answer::Holds { lease: shown, .. } = scene.answer("a", 1) else {
            panic!("{:?}", scene.said);
        };
        assert_eq!(shown.content, Err(error.clone()));
        assert_eq!(scene.schedule.refused(), Some(error));
        let mine = Swapped::Lease(lease("cron", 1));
        scene.swap("a", 2, &shown.version, mine);
        assert_eq!(scene.answer("a", 2), Answer::Changed);
        assert_eq!(scene.next(), NextOperation::Nothing);
    }
}
