//! The files of a clone, counted instead of listed, for a plan that is described: which of them exist, without a look at each of those
//! that do not.
//!
//! Names that are made from a format are compared with the entries of their directory, which is read once.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferrio_job::{FileKind, FileRun, FileType, SetupError, file_number, numbered_names};
use ferrio_machine::names_in;

use crate::file_names::{CloneNames, NumberedNames};
use crate::probe::{FoundFile, probe};

/// Most files of a section that a description lists one by one.
pub(crate) const MAX_LISTED: u64 = 1000;
/// Most files that are looked at one by one.
const MAX_EXAMINED: u64 = 50_000;
/// Most runs of files that exist: the places of their first files are looked up one by one.
const MAX_RUNS: u64 = 8000;
/// Most entries of a directory that are read.
const MAX_ENTRIES: usize = 400_000;

/// Neighbours in the list of a clone's files that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundRun {
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) found: FoundFile,
}

/// The files found so far.
#[derive(Debug, Default)]
pub(crate) struct FileRuns {
    /// Names in directories, sorted.
    directories: HashMap<PathBuf, Vec<Vec<u8>>>,
    /// Runs of lists.
    lists: HashMap<Arc<str>, Vec<FoundRun>>,
    examined: u64,
    /// Runs of files that exist.
    existing_runs: u64,
    /// Files were left unexamined, which are taken to be like those before them.
    is_incomplete: bool,
}

impl FileRuns {
    /// All files of a clone, which must be of this type.
    pub(crate) fn find(
        &mut self,
        names: &CloneNames<'_>,
        list: &Arc<str>,
        wanted: FileType,
    ) -> Result<Vec<FoundRun>, SetupError> {
        if let Some(known) = self.lists.get(list).filter(|known| covered(known) >= names.count()) {
            return Ok(cut(known, names.count()));
        }
        let runs = match names.numbered() {
            _ if names.are_one() => self.one_file(names, wanted)?,
            Some(numbered) if !numbered.after.contains('/') => self.by_directory(names, &numbered, wanted)?,
            _ => self.one_by_one(names, wanted)?,
        };
        self.lists.insert(Arc::clone(list), runs.clone());
        Ok(runs)
    }

    /// True, once, if files were left unexamined.
    pub(crate) fn take_incomplete(&mut self) -> bool {
        std::mem::take(&mut self.is_incomplete)
    }

    fn one_file(&mut self, names: &CloneNames<'_>, wanted: FileType) -> Result<Vec<FoundRun>, SetupError> {
        let Some(path) = names.path(0) else { return Ok(Vec::new()) };
        self.examined += 1;
        Ok(vec![FoundRun { first: 0, count: names.count(), found: probe(&path, wanted)? }])
    }

    fn one_by_one(&mut self, names: &CloneNames<'_>, wanted: FileType) -> Result<Vec<FoundRun>, SetupError> {
        let mut runs = Vec::new();
        let mut last = None;
        for number in 0..names.count() {
            let found = self.look_at(names, number, wanted, last)?;
            // The others are taken to be like it.
            let count = if self.may_look() { 1 } else { names.count() - number };
            self.is_incomplete |= count > 1;
            self.add(&mut runs, number, count, found);
            if count > 1 {
                break;
            }
            last = Some(found);
        }
        Ok(runs)
    }

    /// Looks at those names alone that the directory has.
    fn by_directory(
        &mut self,
        names: &CloneNames<'_>,
        numbered: &NumberedNames,
        wanted: FileType,
    ) -> Result<Vec<FoundRun>, SetupError> {
        let mut runs = Vec::new();
        let mut absent = None;
        let mut last = None;
        let mut next = 0;
        let existing = self.existing(numbered, names.count());
        for number in existing.into_iter().chain([names.count()]) {
            if number > next {
                let found = match absent {
                    Some(found) => found,
                    None => *absent.insert(self.look_at(names, next, wanted, None)?),
                };
                self.add(&mut runs, next, number - next, found);
            }
            if number < names.count() {
                let found = self.look_at(names, number, wanted, last)?;
                last = Some(found);
                self.add(&mut runs, number, 1, found);
            }
            next = number + 1;
        }
        Ok(runs)
    }

    fn may_look(&self) -> bool {
        self.examined < MAX_EXAMINED && self.existing_runs < MAX_RUNS
    }

    /// Appends files to the last run if they are like it.
    fn add(&mut self, runs: &mut Vec<FoundRun>, first: u64, count: u64, found: FoundFile) {
        match runs.last_mut() {
            Some(last) if last.found == found && is_countable(&found) => last.count += count,
            _ => {
                self.existing_runs += u64::from(found.size.is_some());
                runs.push(FoundRun { first, count, found });
            }
        }
    }

    /// Looks at a file. Once there were enough, it is taken to be like the `last` one.
    fn look_at(
        &mut self,
        names: &CloneNames<'_>,
        number: u64,
        wanted: FileType,
        last: Option<FoundFile>,
    ) -> Result<FoundFile, SetupError> {
        if !self.may_look()
            && let Some(last) = last
        {
            self.is_incomplete = true;
            return Ok(last);
        }
        self.examined += 1;
        probe(&names.path(number).unwrap_or_default(), wanted)
    }

    /// Numbers below `count` of the names that are in their directory, ascending.
    fn existing(&mut self, numbered: &NumberedNames, count: u64) -> Vec<u64> {
        let (directory, before) = match numbered.before.rsplit_once('/') {
            Some(("", before)) => ("/", before),
            Some((directory, before)) => (directory, before),
            None => (".", numbered.before.as_str()),
        };
        let directory = Path::new(directory);
        if !self.directories.contains_key(directory) {
            let entries = self.entries(directory);
            self.directories.insert(directory.to_owned(), entries);
        }
        let Some(entries) = self.directories.get(directory) else { return Vec::new() };
        let begin = entries.partition_point(|name| name.as_slice() < before.as_bytes());
        let alike = entries[begin..].iter().map_while(|name| name.strip_prefix(before.as_bytes()));
        let digits = alike.filter_map(|rest| rest.strip_suffix(numbered.after.as_bytes()));
        let numbers = digits.filter_map(|digits| file_number(str::from_utf8(digits).ok()?));
        let mut numbers: Vec<u64> = numbers.filter(|&number| number < count).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The names in a directory; none if it does not exist.
    fn entries(&mut self, directory: &Path) -> Vec<Vec<u8>> {
        let Ok(found) = names_in(directory) else { return Vec::new() };
        let found = found.map_while(Result::ok).take(MAX_ENTRIES);
        let mut names: Vec<Vec<u8>> = found.map(OsString::into_vec).collect();
        self.is_incomplete |= names.len() == MAX_ENTRIES;
        names.sort_unstable();
        names
    }
}

/// A key that tells the list of a clone's names from others.
pub(crate) fn list_of(names: &CloneNames<'_>) -> Arc<str> {
    match (names, names.numbered()) {
        (_, Some(numbered)) => numbered_names(&numbered.before, &numbered.after),
        (CloneNames::Made { prefix, format, .. }, None) => format!("\0{prefix}\0{format}").into(),
        (CloneNames::Device(name), None) => format!("\0\0{name}").into(),
        (CloneNames::Listed(names), None) => {
            let mut hasher = DefaultHasher::new();
            names.hash(&mut hasher);
            format!("\0\0\0{}", hasher.finish()).into()
        }
    }
}

/// A part of a list.
pub(crate) fn run_of(names: &CloneNames<'_>, list: &Arc<str>, first: u64, count: u64) -> Option<FileRun> {
    Some(FileRun {
        names: Arc::clone(list),
        first,
        count,
        is_one_file: names.are_one(),
        last: names.path((first + count).saturating_sub(1))?,
        is_mean: false,
    })
}

/// Devices are listed one by one: each has a place of its own.
fn is_countable(found: &FoundFile) -> bool {
    found.kind == FileKind::Regular && found.device.is_none()
}

fn covered(runs: &[FoundRun]) -> u64 {
    runs.iter().map(|run| run.count).sum()
}

/// The first files of a list.
fn cut(runs: &[FoundRun], count: u64) -> Vec<FoundRun> {
    let within = runs.iter().take_while(|run| run.first < count);
    within.map(|run| FoundRun { count: run.count.min(count - run.first), ..*run }).collect()
}
