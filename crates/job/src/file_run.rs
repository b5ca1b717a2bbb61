//! Files that are counted instead of listed: a plan that is described, not run, has one entry for the neighbours in a list of names
//! that are alike in everything else.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::FileSpec;

/// The list of all names that begin and end like this, with the number of the file between.
#[must_use]
pub fn numbered_names(before: &str, after: &str) -> Arc<str> {
    // No path has this character.
    format!("{before}\0{after}").into()
}

/// The place of a path in a list of numbered names.
fn number_in(names: &str, path: &Path) -> Option<u64> {
    let (before, after) = names.split_once('\0')?;
    let digits = path.to_str()?.strip_prefix(before)?.strip_suffix(after)?;
    file_number(digits)
}

/// The number in the name of a file that these digits are the usual form of.
#[must_use]
pub fn file_number(digits: &str) -> Option<u64> {
    let is_usual =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|_| is_usual)
}

/// A value for each file, which neighbours in a list share. A file of a list of numbered names is the same one when it is named by its
/// path.
#[derive(Clone, Debug)]
pub struct ByFile<T> {
    paths: HashMap<PathBuf, T>,
    /// By the start of a range: its end and its value. Ranges do not overlap.
    lists: HashMap<Arc<str>, BTreeMap<u64, (u64, T)>>,
}

impl<T> Default for ByFile<T> {
    fn default() -> Self {
        ByFile { paths: HashMap::new(), lists: HashMap::new() }
    }
}

impl<T: Clone> ByFile<T> {
    /// The value of a file; of several files, that of the first.
    #[must_use]
    pub fn get(&self, file: &FileSpec) -> Option<&T> {
        match file.listed() {
            Some(run) => self.in_list(&run.names, run.first).or_else(|| self.paths.get(&file.path)),
            None => self.at_path(&file.path),
        }
    }

    /// The value of the file at this path.
    #[must_use]
    pub fn at_path(&self, path: &Path) -> Option<&T> {
        self.paths.get(path).or_else(|| {
            let (names, place) = self.place_of(path)?;
            self.in_list(&names, place)
        })
    }

    fn in_list(&self, names: &str, place: u64) -> Option<&T> {
        let (_, (end, value)) = self.lists.get(names)?.range(..=place).next_back()?;
        (place < *end).then_some(value)
    }

    /// The known list that has this path, and its place there.
    fn place_of(&self, path: &Path) -> Option<(Arc<str>, u64)> {
        if self.lists.is_empty() {
            return None;
        }
        let text = path.to_str()?;
        let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        for start in (0..text.len()).filter(|&at| is_digit(at)) {
            for end in (start + 1..=text.len()).take_while(|&end| is_digit(end - 1)) {
                let Some(number) = file_number(&text[start..end]) else { break };
                let names = numbered_names(&text[..start], &text[end..]);
                if self.lists.contains_key(&names) {
                    return Some((names, number));
                }
            }
        }
        None
    }

    /// The parts of a range of a list, in order: how many files have the same value, and which.
    #[must_use]
    pub fn parts(&self, names: &str, places: Range<u64>) -> Vec<(u64, Option<T>)> {
        if let Some(list) = self.lists.get(names) {
            return parts_of(list, places);
        }
        // Not a list so far: its files may have been named one by one.
        let mut list = BTreeMap::new();
        self.move_into(names, &mut list);
        parts_of(&list, places)
    }

    /// Puts the values of paths that are in a list there.
    fn move_into(&self, names: &str, list: &mut BTreeMap<u64, (u64, T)>) {
        for (path, value) in &self.paths {
            if let Some(place) = number_in(names, path) {
                list.insert(place, (place.saturating_add(1), value.clone()));
            }
        }
    }

    /// Changes the values of all files that an entry stands for. `change` makes the new value from the old one and the number of files
    /// that share it.
    pub fn update(&mut self, file: &FileSpec, mut change: impl FnMut(Option<T>, u64) -> T) {
        let (names, places) = match file.listed() {
            Some(run) => (Arc::clone(&run.names), run.first..run.first.saturating_add(run.count)),
            None => match self.place_of(&file.path) {
                Some((names, place)) => (names, place..place.saturating_add(1)),
                None => {
                    let value = change(self.paths.get(&file.path).cloned(), 1);
                    self.paths.insert(file.path.clone(), value);
                    return;
                }
            },
        };
        if !self.lists.contains_key(&names) {
            let mut list = BTreeMap::new();
            self.move_into(&names, &mut list);
            if !list.is_empty() {
                self.paths.retain(|path, _| number_in(&names, path).is_none());
            }
            self.lists.insert(Arc::clone(&names), list);
        }
        let Some(list) = self.lists.get_mut(&names) else { return };
        let mut at = places.start;
        for (count, old) in parts_of(list, places) {
            let value = change(old, count);
            set(list, at..at + count, value);
            at += count;
        }
    }

    /// All values with the number of files that have them.
    pub fn values(&self) -> impl Iterator<Item = (&T, u64)> {
        let lists = self.lists.values().flatten().map(|(start, (end, value))| (value, end - start));
        self.paths.values().map(|value| (value, 1)).chain(lists)
    }
}

fn parts_of<T: Clone>(list: &BTreeMap<u64, (u64, T)>, places: Range<u64>) -> Vec<(u64, Option<T>)> {
    let mut parts = Vec::new();
    let mut at = places.start;
    let before = list.range(..=at).next_back().map(|(start, _)| *start);
    for (&start, (end, value)) in list.range(before.unwrap_or(at)..places.end.max(at)) {
        if *end <= at {
            continue;
        }
        if start > at {
            parts.push((start - at, None));
            at = start;
        }
        let until = (*end).min(places.end);
        parts.push((until - at, Some(value.clone())));
        at = until;
    }
    if at < places.end {
        parts.push((places.end - at, None));
    }
    parts
}

/// Gives a range that is within one range, or outside all of them, its value.
fn set<T: Clone>(list: &mut BTreeMap<u64, (u64, T)>, places: Range<u64>, value: T) {
    let around = list.range(..=places.start).next_back().filter(|(_, (end, _))| *end >= places.end);
    if let Some((start, (end, old))) = around.map(|(start, (end, old))| (*start, (*end, old.clone()))) {
        if start < places.start {
            list.insert(start, (places.start, old.clone()));
        }
        if end > places.end {
            list.insert(places.end, (end, old));
        }
    }
    list.insert(places.start, (places.end, value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileKind;
    use crate::FileRun;

    fn run(names: &str, places: Range<u64>) -> FileSpec {
        let run = FileRun {
            names: names.into(),
            first: places.start,
            count: places.end - places.start,
            is_one_file: false,
            last: "z".into(),
            is_mean: false,
        };
        FileSpec { run: Some(Box::new(run)), ..path("a") }
    }

    fn path(name: &str) -> FileSpec {
        FileSpec {
            path: name.into(),
            kind: FileKind::Regular,
            offset: 0,
            size: 1,
            real_size: 1,
            found: None,
            extend: true,
            missing_device: false,
            run: None,
        }
    }

    #[test]
    fn values_of_overlapping_runs_are_those_of_each_file() {
        let mut many = ByFile::default();
        let mut each: HashMap<(&str, u64), u64> = HashMap::new();
        let runs = [
            ("a", 2..9),
            ("a", 4..6),
            ("b", 4..6),
            ("a", 0..3),
            ("a", 8..20),
            ("a", 0..30),
            ("a", 5..6),
            ("a", 29..31),
        ];
        for (number, (names, places)) in (1..).zip(runs) {
            many.update(&run(names, places.clone()), |old, _| old.unwrap_or(0) * 10 + number);
            for place in places {
                let value = each.entry((names, place)).or_insert(0);
                *value = *value * 10 + number;
            }
        }
        for names in ["a", "b"] {
            let parts = many.parts(names, 0..40);
            assert_eq!(parts.iter().map(|(count, _)| count).sum::<u64>(), 40);
            let all = parts.into_iter().flat_map(|(count, value)| std::iter::repeat_n(value, count as usize));
            for (place, value) in (0..).zip(all) {
                assert_eq!(value, each.get(&(names, place)).copied(), "{names} {place}");
                assert_eq!(many.get(&run(names, place..place + 1)).copied(), value, "{names} {place}");
            }
        }
        assert_eq!(many.values().map(|(_, count)| count).sum::<u64>(), each.len() as u64);
    }

    #[test]
    fn a_file_of_a_list_is_the_same_by_its_path() {
        let names = numbered_names("d/a1.", ".x");
        for list_first in [true, false] {
            let mut files = ByFile::default();
            let in_list =
                |files: &mut ByFile<u32>| files.update(&run(&names, 5..200), |old, _| old.unwrap_or(0) + 1);
            let by_path = |files: &mut ByFile<u32>| {
                for name in ["d/a1.17.x", "d/a1.017.x", "d/a1.4.x"] {
                    files.update(&path(name), |old, _| old.unwrap_or(0) + 10);
                }
            };
            if list_first {
                in_list(&mut files);
                by_path(&mut files);
            } else {
                by_path(&mut files);
                assert_eq!(files.parts(&names, 0..6), [(4, None), (1, Some(10)), (1, None)]);
                in_list(&mut files);
            }
            let at = |name: &str| files.get(&path(name)).copied();
            assert_eq!([at("d/a1.16.x"), at("d/a1.17.x"), at("d/a1.18.x")], [Some(1), Some(11), Some(1)]);
            assert_eq!([at("d/a1.017.x"), at("d/a1.4.x"), at("d/a1.200.x")], [Some(10), Some(10), None]);
            assert_eq!(files.values().map(|(_, count)| count).sum::<u64>(), 197);
        }
    }

    #[test]
    fn a_path_is_a_file_of_its_own() {
        let mut files = ByFile::default();
        files.update(&path("a"), |old: Option<u32>, _| old.unwrap_or(1));
        files.update(&path("a"), |old, count| old.unwrap_or(1) + count as u32);
        assert_eq!((files.get(&path("a")), files.get(&path("b"))), (Some(&2), None));
        assert_eq!(files.values().collect::<Vec<_>>(), [(&2, 1)]);
    }
}
