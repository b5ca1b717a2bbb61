//! Prints the circles of source files in each crate: files that need each other, apart from a parent and its child modules. Whoever
//! reads one file of a circle has to read them all.
//!
//!     cargo run -p ferrio-circles                # all crates
//!     cargo run -p ferrio-circles -- crates/plan
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the list is what this program is for")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use graph::{Circle, circles};
use names::{Names, Uses};

mod graph;
mod names;

fn main() -> ExitCode {
    let within = env::args().nth(1).unwrap_or_default();
    match circles_of_all_crates(Path::new(&within)) {
        Ok(found) => {
            found.iter().for_each(|(circle, uses)| print(circle, uses));
            if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("circles: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The circles of the crates in a folder of the workspace.
fn circles_of_all_crates(within: &Path) -> io::Result<Vec<(Circle, Uses)>> {
    env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    let mut found = Vec::new();
    for root in crate_roots()? {
        if root.starts_with(within) {
            let uses = Names::read(&root)?.uses();
            found.extend(circles(&uses).into_iter().map(|circle| (circle, uses.clone())));
        }
    }
    Ok(found)
}

/// The `lib.rs` and `main.rs` of all crates, those of tests left out.
fn crate_roots() -> io::Result<Vec<PathBuf>> {
    let mut roots = Vec::new();
    let mut folders: Vec<_> = ["benches", "crates", "tests/circles"].map(PathBuf::from).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() && !path.ends_with("tests") {
                folders.push(path);
            } else if path.ends_with("lib.rs") || path.ends_with("main.rs") {
                roots.push(path);
            }
        }
    }
    roots.sort();
    Ok(roots)
}

/// Prints the files of a circle, and what each uses of the others.
fn print(circle: &Circle, uses: &Uses) {
    println!("a circle of {} files:", circle.len());
    for file in circle {
        println!("  {}", file.display());
        for (other, names) in
            uses.get(file).into_iter().flatten().filter(|(other, _)| circle.contains(*other))
        {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            println!("    -> {} ({})", other.display(), names.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_files_of_the_workspace_are_in_circles() {
        let found = circles_of_all_crates(Path::new("")).unwrap();
        found.iter().for_each(|(circle, uses)| print(circle, uses));
        assert!(found.is_empty(), "{} circles, which are printed above", found.len());
    }

    /// The circles of a crate of these files.
    fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let uses = Names::read(&folder.path().join("lib.rs")).unwrap().uses();
        let name = |file: &PathBuf| file.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned();
        circles(&uses).iter().map(|circle| circle.iter().map(name).collect()).collect()
    }

    #[test]
    fn a_parent_and_its_children_may_need_each_other() {
        let root = "mod a; pub struct Root(a::A);";
        let parent = "mod c; mod d; pub struct A(c::C); pub fn a() -> crate::Root { d::d() }";
        let child = "use super::A; pub struct C; fn c(a: A) -> crate::Root { crate::a::d::d() }";
        let files = [
            ("lib.rs", root),
            ("a.rs", parent),
            ("a/c.rs", child),
            ("a/d.rs", "pub fn d() -> crate::Root {}"),
        ];
        assert!(circles_of(&files).is_empty());
    }

    #[test]
    fn circles_lead_through_imports_qualified_paths_macros_and_re_exports() {
        for use_of_b in [
            "use crate::b::B;",
            "use crate::{b::{self, B as Other}, c};",
            "fn a() { crate::b::B::new() }",
            "fn a() { format!(\"{}\", super::b::B) }",
            "use crate::c::B;",
            "use crate::c::*; fn a(_: B) {}",
            "fn a() { use super::b; b::B }",
        ] {
            let a = format!("{use_of_b} pub fn a_of() {{}}");
            let b = "pub struct B; fn b() { crate::a::a_of() }";
            let root = "mod a; mod b; mod c;";
            let files = [("lib.rs", root), ("a.rs", &a), ("b.rs", b), ("c/mod.rs", "pub use crate::b::B;")];
            assert_eq!(circles_of(&files), [["a.rs", "b.rs"]], "{use_of_b}");
        }
    }

    #[test]
    fn circles_lead_out_of_a_module_and_back() {
        let parent = "mod child; pub use child::C; pub struct A; fn a() { C::new() }";
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", parent),
            ("a/child.rs", "pub struct C(crate::b::B);"),
            ("b.rs", "pub struct B(crate::a::A);"),
        ];
        assert_eq!(circles_of(&files), [["a/child.rs", "a.rs", "b.rs"]]);
    }

    #[test]
    fn tests_are_left_out() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b.rs", "pub struct B(crate::a::A); #[cfg(test)] mod elsewhere;"),
        ];
        assert!(circles_of(&files).is_empty());
    }
}
