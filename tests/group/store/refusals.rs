//! `create` refuses an existing file. `open` refuses a file that is missing, damaged or of another owner.

use std::{fs, io, path::Path};

use actix_bully::store::{FileStore, StoreError};

use super::{Vote, create, identity, keep, kept, names, open, place, vote};

#[test]
fn create_refuses_every_existing_file() {
    type Make = fn(&Path) -> io::Result<()>;
    let rows: [(&str, Make); 3] = [
        ("a file", |path| fs::write(path, "anything")),
        ("a link", |path| std::os::unix::fs::symlink("nowhere", path)),
        ("a folder", |path| fs::create_dir(path)),
    ];
    for (what, make) in rows {
        let (folder, path) = place();
        make(&path).expect(what);
        let refused = create(&path).expect_err(what);
        assert!(matches!(refused, StoreError::Exists { .. }), "{refused:?}");
        assert_eq!(names(&folder), ["jobs.store"], "{what}");
        let text = path.is_file().then(|| fs::read(&path).expect("the file"));
        assert!(text.is_none_or(|text| text == b"anything"));
    }
}

#[test]
fn open_refuses_what_is_missing() {
    let (folder, path) = place();
    let refused = open(&path).expect_err("nothing there");
    assert!(matches!(refused, StoreError::Missing { .. }), "{refused:?}");
    assert!(names(&folder).is_empty(), "no file was made");
}

#[test]
fn open_refuses_what_is_damaged_and_leaves_it_alone() {
    for (text, expected) in [
        (Vec::new(), "has 0 bytes"),
        (b"PNG".to_vec(), "has 3 bytes"),
        (vec![0; 1 << 20], "neither of the two places"),
        (vec![b'x'; 5_000_000], "has 5000000 bytes"),
    ] {
        let (folder, path) = place();
        fs::write(&path, &text).expect("written");
        let refused = open(&path).expect_err("damaged");
        assert!(
            matches!(&refused, StoreError::Damaged { damage, .. } if damage.contains(expected)),
            "{refused:?}"
        );
        assert_eq!(fs::read(&path).expect("the file"), text);
        assert_eq!(names(&folder), ["jobs.store"]);
    }
}

#[actix_rt::test]
async fn open_refuses_what_is_foreign_and_leaves_it_alone() {
    let (_folder, path) = place();
    let store = create(&path).expect("a new store");
    keep(&store, vote(7)).await.expect("saved");
    drop(store);
    let refused = FileStore::<Vote>::open(&path, identity("api-2")).expect_err("another node's");
    assert_eq!(
        refused.to_string(),
        format!(
            "{} belongs to node api-1 of group jobs in cluster production, not to node api-2 of \
             group jobs in cluster production: check path, node, group and cluster",
            path.display()
        )
    );
    let refused = FileStore::<u64>::open(&path, identity("api-1")).expect_err("another record");
    assert!(matches!(refused, StoreError::Record { .. }), "{refused:?}");
    assert_eq!(kept(&path), Some(vote(7)));
}

#[test]
fn every_refusal_names_the_path_and_says_what_to_do() {
    let (_folder, path) = place();
    let missing = open(&path).expect_err("nothing there").to_string();
    let store = create(&path).expect("a new store");
    let in_use = open(&path).expect_err("in use").to_string();
    let exists = create(&path).expect_err("there is one").to_string();
    drop(store);
    fs::write(&path, "").expect("written");
    let damaged = open(&path).expect_err("empty").to_string();
    for text in [missing, in_use, exists, damaged] {
        assert!(text.starts_with(&*path.to_string_lossy()), "{text}");
        assert!(text.contains(": "), "{text}");
        assert!(!text.ends_with('.'), "{text}");
    }
}
