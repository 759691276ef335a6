//! What a store holds that is no lease of the group.

use super::*;

#[test]
fn a_foreign_entry_is_shown_as_foreign_and_not_overwritten() {
    let stranger = lease("other", 1);
    let foreign = RecordError::Elsewhere {
        group: id("other"),
        cluster: id("shop"),
    };
    for (value, error) in [
        (stored(&stranger), foreign),
        (b"hello".to_vec(), RecordError::Kind),
    ] {
        let mut scene = Scene::new();
        scene.ask("a", 1);
        scene.begin_read();
        scene.show(Some(entry(1, value)), None);
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

#[test]
fn an_entry_that_the_store_calls_foreign_does_not_count_as_a_failure() {
    let mut scene = Scene::new();
    scene.ask("a", 1);
    scene.begin_read();
    let key = "shop/cron/lease".parse().unwrap();
    let foreign = Err(RegisterError::Foreign { key });
    scene.schedule.read(foreign, Ok(None), &mut scene.said);
    let Answer::Holds { lease: shown, .. } = scene.answer("a", 1) else {
        panic!("{:?}", scene.said);
    };
    assert_eq!(shown.content, Err(RecordError::Kind));
}
