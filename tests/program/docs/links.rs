//! Links between the pages of the documentation, and the index of its pages.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The pages below a directory of the repository.
fn pages(directory: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(Path::new(ROOT).join(directory)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(path.strip_prefix(ROOT).unwrap().to_str().unwrap(), found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Targets of the links of a page, without those into the network.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target).filter(|target| !target.contains("://"))
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        kept.chars()
            .filter(|char| char.is_alphanumeric() || "-_ ".contains(*char))
            .map(|char| if char == ' ' { '-' } else { char })
            .collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let mut files =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| Path::new(ROOT).join(name)).to_vec();
    pages("docs", &mut files);
    let mut dead = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        for link in links(&text) {
            let (name, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if name.is_empty() { file.clone() } else { file.parent().unwrap().join(name) };
            let has_anchor = || {
                anchor.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).iter().any(|one| one == anchor)
            };
            if !target.exists() || !has_anchor() {
                dead.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(files.len() > 40 && dead.is_empty(), "{dead:#?}");
}

#[test]
fn every_page_is_in_the_index() {
    let index = fs::read_to_string(Path::new(ROOT).join("docs/README.md")).unwrap();
    let guide = fs::read_to_string(Path::new(ROOT).join("docs/guide/README.md")).unwrap();
    let mut files = Vec::new();
    pages("docs", &mut files);
    for file in files.iter().filter(|file| !file.ends_with("README.md")) {
        let name = file.strip_prefix(Path::new(ROOT).join("docs")).unwrap().display().to_string();
        let is_linked = match name.strip_prefix("guide/") {
            Some(page) => guide.contains(&format!("]({page})")),
            None => index.contains(&format!("]({name})")),
        };
        assert!(is_linked, "{name} is not in the index");
    }
}

/// Directories that tests make.
const NOT_CHECKED_IN: [&str; 2] = ["tests/fuzz/artifacts", "tests/fuzz/corpus"];

#[test]
fn paths_in_the_texts_for_contributors_exist() {
    let root = Path::new(ROOT);
    let mut files = vec![root.join("CONTRIBUTING.md"), root.join("docs/architecture.md")];
    pages("docs/dev", &mut files);
    let mut missing = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let words = text.split('`').skip(1).step_by(2);
        let is_path = |word: &&str| {
            ["crates/", "tests/", "benches/", "docs/", "jobs/"].iter().any(|start| word.starts_with(start))
                && !word.contains(['*', '<', '{', ' '])
        };
        for word in words.filter(is_path) {
            if !root.join(word).exists() && !NOT_CHECKED_IN.contains(&word) {
                missing.push(format!("{}: {word}", file.display()));
            }
        }
    }
    assert!(files.len() > 6 && missing.is_empty(), "{missing:#?}");
}
