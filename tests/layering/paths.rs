//! The paths of modules, crates and files.

use std::{fs, path::Path};

use super::{PACKAGES, mentions::Mention, package_of, touches::root};

/// Returns the full path from the package on; empty if `mention` does not begin with a package, `crate`, `self` or
/// `super`.
pub(super) fn resolve<'a>(place: &[&'a str], mention: &Mention<'a>) -> Vec<&'a str> {
    let package = package_of(place);
    let (mut target, rest) = match mention.path.split_first() {
        Some((&"crate", rest)) => {
            let own = (!package.is_empty()).then_some(package);
            (own.into_iter().collect(), rest)
        }
        Some((&("self" | "super"), _)) => {
            ([place, &mention.module].concat(), mention.path.as_slice())
        }
        Some(_) if !package_of(&mention.path).is_empty() => return mention.path.clone(),
        _ => return Vec::new(),
    };
    for word in rest {
        match *word {
            "self" => {}
            "super" => drop(target.pop()),
            name => target.push(name),
        }
    }
    target
}

/// Returns the module of a file: `elections::bully` for `elections/bully/mod.rs`.
pub(super) fn module_of(file: &str) -> Vec<&str> {
    let words = file.trim_end_matches(".rs").split('/');
    let mut module: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    module.pop_if(|last| *last == "mod");
    module
}

/// Returns the crates with which a path can begin: `std` and the dependencies in the manifests.
pub(super) fn crates() -> Vec<String> {
    let mut names = vec!["std".to_owned()];
    for (_, folder) in PACKAGES {
        let manifest = root().join(folder).join("../Cargo.toml");
        let manifest = fs::read_to_string(manifest).expect("a package has a manifest");
        let mut is_dependency = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                is_dependency = line.ends_with("dependencies]");
            } else if let (true, Some((name, _))) =
                (is_dependency, line.split_once([' ', '=', '.']))
            {
                names.push(name.replace('-', "_"));
            }
        }
    }
    names
}

/// Returns all Rust files below a folder, relative to it and with `/` between.
pub(super) fn rust_files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let name = path
            .file_name()
            .expect("an entry has a name")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            found.extend(
                rust_files(&path)
                    .iter()
                    .map(|file| format!("{name}/{file}")),
            );
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(name);
        }
    }
    found.sort();
    found
}
