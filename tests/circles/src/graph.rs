//! Circles in a graph of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::names::Uses;

/// Files that all reach each other.
pub type Circle = BTreeSet<PathBuf>;

/// The circles that are more than a parent and its child modules.
///
/// A parent may use its children and a child its parent: each of the two is left out in turn. What remains are circles of children, and
/// those that lead out of a module and back into it.
pub fn circles(uses: &Uses) -> Vec<Circle> {
    let downwards = without(uses, |from, to| is_within(to, from));
    let upwards = without(uses, is_within);
    let mut circles: Vec<Circle> = Vec::new();
    for circle in [components(&downwards), components(&upwards)].concat() {
        match circles.iter_mut().find(|known| !known.is_disjoint(&circle)) {
            Some(known) => known.extend(circle),
            None => circles.push(circle),
        }
    }
    circles
}

type Edges = BTreeMap<PathBuf, Vec<PathBuf>>;

fn without(uses: &Uses, left_out: impl Fn(&Path, &Path) -> bool) -> Edges {
    let edges = |(from, targets): (&PathBuf, &BTreeMap<PathBuf, BTreeSet<String>>)| {
        let targets = targets.keys().filter(|to| !left_out(from, to)).cloned().collect();
        (from.clone(), targets)
    };
    uses.iter().map(edges).collect()
}

/// Whether a file is of a module inside that of another file.
fn is_within(file: &Path, parent: &Path) -> bool {
    let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| parent.ends_with(name));
    let directory = if is_root { parent.with_file_name("") } else { parent.with_extension("") };
    file != parent && file.starts_with(directory)
}

/// The strongly connected components of more than one file: files that reach each other.
fn components(edges: &Edges) -> Vec<Circle> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        edges.keys().map(|file| (file, reached_from(file, edges))).collect();
    let mut circles: Vec<Circle> = Vec::new();
    for (file, others) in &reached {
        if others.contains(file) && !circles.iter().any(|circle| circle.contains(*file)) {
            let back = |other: &&&PathBuf| reached.get(**other).is_some_and(|theirs| theirs.contains(file));
            circles.push(others.iter().filter(back).map(|&other| other.clone()).collect());
        }
    }
    circles
}

fn reached_from<'a>(file: &PathBuf, edges: &'a Edges) -> BTreeSet<&'a PathBuf> {
    let mut reached = BTreeSet::new();
    let mut ahead: Vec<&PathBuf> = edges.get(file).into_iter().flatten().collect();
    while let Some(next) = ahead.pop() {
        if reached.insert(next) {
            ahead.extend(edges.get(next).into_iter().flatten());
        }
    }
    reached
}
