//! What a crash leaves behind, and whose it is.

use std::{fs, path::Path};

use crate::store::{
    disk::{Disk, folder_of},
    files::Files,
    lock,
};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("text"))
        .collect();
    names.sort();
    names
}

#[test]
fn only_the_leftovers_of_this_store_are_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let disk = Disk::create(&path, b"text", Files::default()).expect("a new file");
    let mut kept = vec![
        "jobs",
        ".jobs..unsaved",
        ".jobs.12345678",
        ".jobs.1234567.unsaved",
        ".jobs.123456789.unsaved",
        ".jobs.1234567-.unsaved",
        ".jobs.store.a1B2c3d4.unsaved",
        ".mail.a1B2c3d4.unsaved",
        "jobs.a1B2c3d4.unsaved",
    ];
    for name in &kept[1..] {
        fs::write(folder.path().join(name), "").expect("written");
    }
    fs::write(folder.path().join(".jobs.a1B2c3d4.unsaved"), "half").expect("written");
    disk.tidy().expect("the folder can be read");
    kept.sort_unstable();
    assert_eq!(names(folder.path()), kept);
}

#[test]
fn a_file_that_lost_its_name_is_not_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let mut disk = Disk::create(&path, b"old", Files::default()).expect("a new file");
    let before = fs::File::open(&path).expect("the old file");
    disk.replace(b"new").expect("replaced");
    // The old file is free, and a process that has it open may lock it: it has no name any more.
    lock::lock(&path, &before).expect("the old file is free");
    assert!(!lock::has_name(&before, &path).expect("the file is there"));
    drop(disk);
    let disk = Disk::open(&path, Files::default()).expect("free now");
    assert_eq!(disk.read(100).expect("it can be read"), b"new");
    assert_eq!(disk.read(100).expect("it can be read"), b"", "once");
}

#[test]
fn a_lock_ends_although_somebody_inherited_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let disk = Disk::create(&path, b"text", Files::default()).expect("a new file");
    let inherited = disk.held.file().try_clone().expect("a second descriptor");
    drop(disk);
    drop(Disk::open(&path, Files::default()).expect("free"));
    drop(inherited);
}

#[test]
fn a_file_that_is_named_alone_is_in_the_working_directory() {
    for (named, folder) in [
        ("jobs", "."),
        ("./jobs", "."),
        ("stores/jobs", "stores"),
        ("/jobs", "/"),
    ] {
        assert_eq!(folder_of(Path::new(named)), Path::new(folder), "{named}");
    }
}
