//! The names of files in the log. An I/O log separates words by blanks, so names must not contain any. A replay writes to the files that
//! the log names, so by default these are not the files of the trace.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use super::event::Targets;
use super::summary::{FileSummary, FileUse};

/// Most bytes of a name without the number that makes it unique; fio reads at most 256.
const MAX_NAME_BYTES: usize = 230;
/// Fewest bytes that remain for a name in the longest directory.
const MIN_NAME_BYTES: usize = 30;

/// The rules for names of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameRules {
    /// The file that receives all I/Os.
    pub target: Option<OsString>,
    /// Single files: their names in the trace and in the log.
    pub renamed: Vec<(OsString, OsString)>,
    /// Whether names remain those of the trace, with their directories.
    pub keeps_paths: bool,
    /// A directory before the other names.
    pub directory: Option<OsString>,
}

/// The files of a log.
#[derive(Debug)]
pub struct LogNames<'a> {
    naming: &'a NameRules,
    /// The index of the file of each target of the trace.
    of_target: Vec<Option<usize>>,
    files: Vec<NamedFile>,
    /// The names in use with the indices of their files, including those of `renamed` before their first use.
    taken: HashMap<OsString, Option<usize>>,
    /// The next number for files whose names would be the same.
    numbers: HashMap<Vec<u8>, u64>,
}

/// A file of a log.
#[derive(Debug)]
pub struct NamedFile {
    target: u32,
    /// The name in the log.
    pub name: OsString,
    /// Whether the name was not given by the user.
    is_chosen: bool,
    /// Whether the name differs from the trace only because a log cannot contain it.
    substituted: bool,
    /// Whether the log has the file open.
    pub is_open: bool,
    /// Whether the log has introduced the file.
    pub is_added: bool,
    /// The I/Os so far.
    pub usage: FileUse,
}

impl<'a> LogNames<'a> {
    /// An empty list of names.
    pub fn new(naming: &'a NameRules) -> Self {
        let taken = naming.renamed.iter().map(|(_, to)| (to.clone(), None)).collect();
        LogNames { naming, of_target: Vec::new(), files: Vec::new(), taken, numbers: HashMap::new() }
    }

    /// The file of a target of the trace.
    pub fn file(&mut self, target: u32, targets: &Targets) -> &mut NamedFile {
        let at = target as usize;
        if at >= self.of_target.len() {
            self.of_target.resize(at + 1, None);
        }
        let index = self.of_target[at].unwrap_or_else(|| self.add(target, targets.name(target)));
        self.of_target[at] = Some(index);
        &mut self.files[index]
    }

    /// Whether the file of a target is open in the log.
    pub fn is_open(&self, target: u32) -> bool {
        let index = self.of_target.get(target as usize).copied().flatten();
        // Other files of the trace still use the common target.
        self.naming.target.is_none() && index.is_some_and(|index| self.files[index].is_open)
    }

    /// The names of files that are open in the log.
    pub fn open_files(&self) -> impl Iterator<Item = &OsString> {
        self.files.iter().filter(|file| file.is_open).map(|file| &file.name)
    }

    /// Summaries of the files.
    pub fn files(&self, targets: &Targets) -> Vec<FileSummary> {
        let summary = |file: &NamedFile| FileSummary {
            in_trace: OsString::from_vec(targets.name(file.target).to_vec()),
            in_log: file.name.clone(),
            is_chosen: file.is_chosen && !self.naming.keeps_paths,
            substituted: file.substituted,
            usage: file.usage,
        };
        self.files.iter().map(summary).collect()
    }

    fn add(&mut self, target: u32, original: &[u8]) -> usize {
        if self.naming.target.is_some() && !self.files.is_empty() {
            return 0;
        }
        let original_name = OsStr::from_bytes(original);
        let renamed = self.naming.renamed.iter().find(|(from, _)| from == original_name);
        let given = self.naming.target.as_ref().or(renamed.map(|(_, to)| to));
        let is_chosen = given.is_none();
        let (name, substituted) = match given {
            // Several files may be given one name.
            Some(name) => {
                if let Some(&Some(same)) = self.taken.get(name) {
                    return same;
                }
                (name.clone(), false)
            }
            None => self.chosen(original),
        };
        let index = self.files.len();
        self.taken.insert(name.clone(), Some(index));
        self.files.push(NamedFile {
            target,
            name,
            is_chosen,
            substituted,
            is_open: false,
            is_added: false,
            usage: FileUse::default(),
        });
        index
    }

    /// A name for a file of the trace, and whether it differs because a log cannot contain the original.
    fn chosen(&mut self, original: &[u8]) -> (OsString, bool) {
        let mut name = original.to_vec();
        if !self.naming.keeps_paths {
            let start = name.iter().position(|&byte| byte != b'/' && byte != b'.').unwrap_or(name.len());
            name.drain(..start);
        }
        let before = name.clone();
        let keeps_slashes = self.naming.keeps_paths;
        for byte in &mut name {
            let is_plain = byte.is_ascii_alphanumeric() || b"._+@%=-".contains(byte) || *byte >= 0x80;
            let is_kept =
                is_plain || keeps_slashes && !(byte.is_ascii_whitespace() || byte.is_ascii_control());
            if !is_kept {
                *byte = b'_';
            }
        }
        // Blanks of other alphabets do not end words of fio, but invalid UTF-8 may.
        if name.is_empty() {
            name = b"file".to_vec();
        }
        let directory = self.naming.directory.as_deref();
        let room = MAX_NAME_BYTES
            .saturating_sub(directory.map_or(0, |directory| directory.len() + 1))
            .max(MIN_NAME_BYTES);
        let is_long = name.len() > room;
        if is_long {
            name.drain(..name.len() - room);
        }
        let blanks = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
        let substituted = is_long || before.iter().any(blanks);
        let path = |name: &[u8]| {
            let name = OsStr::from_bytes(name);
            match directory {
                Some(directory) => [directory, OsStr::new("/"), name].into_iter().collect::<OsString>(),
                None => name.to_owned(),
            }
        };
        let mut unique = path(&name);
        while self.taken.contains_key(&unique) {
            let number = self.numbers.entry(name.clone()).or_insert(2);
            unique = path(&[&name[..], b".", number.to_string().as_bytes()].concat());
            *number += 1;
        }
        (unique, substituted)
    }
}

/// Whether a name can be in an I/O log.
#[must_use]
pub fn is_valid(name: &OsStr) -> bool {
    is_valid_up_to(name, 256)
}

/// Whether names of files in this directory can be in an I/O log.
#[must_use]
pub fn is_valid_directory(name: &OsStr) -> bool {
    is_valid_up_to(name, MAX_NAME_BYTES - MIN_NAME_BYTES)
}

fn is_valid_up_to(name: &OsStr, most: usize) -> bool {
    let bytes = name.as_bytes();
    !bytes.is_empty()
        && bytes.len() <= most
        && !bytes.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(naming: &NameRules, originals: &[&str]) -> Vec<(String, bool)> {
        let mut targets = Targets::default();
        let mut names = LogNames::new(naming);
        for original in originals {
            let number = targets.number(original.as_bytes());
            names.file(number, &targets);
        }
        let files = names.files(&targets).into_iter();
        files.map(|file| (file.in_log.into_string().unwrap(), file.substituted)).collect()
    }

    fn plain(names: Vec<(String, bool)>) -> Vec<String> {
        names.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn names_are_plain_and_differ() {
        let all =
            names(&NameRules::default(), &["/var/db/a b", "8,16", "/a/b", "a_b", "../x", "/", "/var/db/a_b"]);
        let want = [
            ("var_db_a_b", true),
            ("8_16", false),
            ("a_b", false),
            ("a_b.2", false),
            ("x", false),
            ("file", false),
            ("var_db_a_b.2", false),
        ];
        assert_eq!(all, want.map(|(name, substituted)| (name.to_owned(), substituted)));
    }

    #[test]
    fn kept_paths_lose_their_blanks_only() {
        let naming = NameRules { keeps_paths: true, ..NameRules::default() };
        assert_eq!(
            names(&naming, &["/var/db/a b:c", "rel/x"]),
            [("/var/db/a_b:c".to_owned(), true), ("rel/x".to_owned(), false)]
        );
    }

    #[test]
    fn files_can_be_renamed_or_made_one() {
        let naming = NameRules {
            renamed: vec![("8,0".into(), "/dev/sdb".into()), ("8,1".into(), "/dev/sdb".into())],
            directory: Some("work".into()),
            ..NameRules::default()
        };
        assert_eq!(plain(names(&naming, &["8,0", "8,1", "8,2"])), ["/dev/sdb", "work/8_2"]);
        let naming = NameRules { target: Some("one".into()), ..NameRules::default() };
        assert_eq!(plain(names(&naming, &["a", "b"])), ["one"]);
    }

    #[test]
    fn long_names_keep_their_end() {
        let long = format!("/{}/end", "d".repeat(300));
        let all = names(&NameRules::default(), &[&long]);
        assert!(all[0].0.len() == 230 && all[0].0.ends_with("d_end") && all[0].1);
        let deep = NameRules { directory: Some("e".repeat(200).into()), ..NameRules::default() };
        let all = names(&deep, &[&long]);
        assert_eq!(all[0].0, format!("{}/{}_end", "e".repeat(200), "d".repeat(26)));
        assert!(
            is_valid_directory("e".repeat(200).as_ref()) && !is_valid_directory("e".repeat(201).as_ref())
        );
    }

    #[test]
    fn a_name_that_somebody_asked_for_is_no_other_file() {
        let naming = NameRules {
            renamed: vec![("later".into(), "work/b".into())],
            directory: Some("work".into()),
            ..NameRules::default()
        };
        assert_eq!(plain(names(&naming, &["b", "later"])), ["work/b.2", "work/b"]);
    }

    #[test]
    fn many_files_of_one_name_are_numbered_without_trying_all_numbers() {
        let naming = NameRules::default();
        let (mut targets, mut names) = (Targets::default(), LogNames::new(&naming));
        let mut number = |names: &mut LogNames<'_>, original: &str| {
            let target = targets.number(original.as_bytes());
            names.file(target, &targets).name.clone()
        };
        // Each of them becomes a_b_a_b…
        for at in 0..1 << 12_u32 {
            let original: String = (0..12).map(|bit| if at >> bit & 1 == 0 { "a/" } else { "a:" }).collect();
            let want = if at == 0 { String::new() } else { format!(".{}", at + 1) };
            assert_eq!(number(&mut names, &original), *format!("{}{want}", "a_".repeat(12)));
        }
        assert_eq!(names.numbers.values().copied().collect::<Vec<_>>(), [(1 << 12) + 1]);
    }

    #[test]
    fn names_with_blanks_are_no_names_of_a_log() {
        assert!(is_valid("/dev/sdb".as_ref()) && !is_valid("a b".as_ref()) && !is_valid("".as_ref()));
    }
}
