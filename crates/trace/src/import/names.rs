//! The names of files in the log. An I/O log separates words with blanks, so names have none; and a replay writes to the files that the
//! log names, so unless asked otherwise these are not the files of the trace.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use super::event::Targets;
use super::summary::{FileSummary, FileUse};

/// Longest name in bytes, without the number that makes it differ from others; fio reads at most 256.
const LONGEST: usize = 230;
/// Bytes that a name keeps in the longest directory.
const SHORTEST: usize = 30;

/// How files are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// All I/Os go to this file.
    pub target: Option<OsString>,
    /// Names of single files: that of the trace, and that in the log.
    pub renamed: Vec<(OsString, OsString)>,
    /// Names stay those of the trace, with their directories.
    pub keeps_paths: bool,
    /// A directory in front of the other names.
    pub directory: Option<OsString>,
}

/// The files of a log.
#[derive(Debug)]
pub struct LogNames<'a> {
    naming: &'a Naming,
    /// For each target of the trace the index of its file.
    of_target: Vec<Option<usize>>,
    files: Vec<File>,
    /// The names in use with the indices of their files, and those of `renamed` before they are used.
    taken: HashMap<OsString, Option<usize>>,
    /// The next number for files whose names would be the same.
    numbers: HashMap<Vec<u8>, u64>,
}

#[derive(Debug)]
struct File {
    target: u32,
    name: OsString,
    /// True if the name was not asked for.
    is_chosen: bool,
    /// True if the name differs from the trace only because a log cannot have it.
    substituted: bool,
    is_open: bool,
    is_added: bool,
    usage: FileUse,
}

/// A file in the log.
pub struct LogName<'a> {
    /// Its name.
    pub text: &'a OsStr,
    /// True at the first call.
    pub is_new: bool,
    /// Whether the log has it open.
    pub is_open: &'a mut bool,
    /// Its I/Os so far.
    pub usage: &'a mut FileUse,
}

impl<'a> LogNames<'a> {
    /// No files yet.
    pub fn new(naming: &'a Naming) -> Self {
        let taken = naming.renamed.iter().map(|(_, to)| (to.clone(), None)).collect();
        LogNames { naming, of_target: Vec::new(), files: Vec::new(), taken, numbers: HashMap::new() }
    }

    /// The file for a target of the trace.
    pub fn name(&mut self, target: u32, targets: &Targets) -> LogName<'_> {
        let at = target as usize;
        if at >= self.of_target.len() {
            self.of_target.resize(at + 1, None);
        }
        let index = match self.of_target[at] {
            Some(index) => index,
            None => {
                let index = self.add(target, targets.name(target));
                self.of_target[at] = Some(index);
                index
            }
        };
        let file = &mut self.files[index];
        let is_new = !std::mem::replace(&mut file.is_added, true);
        LogName { text: &file.name, is_new, is_open: &mut file.is_open, usage: &mut file.usage }
    }

    /// True if the file of a target is open in the log.
    pub fn is_open(&self, target: u32) -> bool {
        let index = self.of_target.get(target as usize).copied().flatten();
        // Other files of the trace still use the one target of all.
        self.naming.target.is_none() && index.is_some_and(|index| self.files[index].is_open)
    }

    /// The names of files that are open in the log.
    pub fn open_files(&self) -> impl Iterator<Item = &OsString> {
        self.files.iter().filter(|file| file.is_open).map(|file| &file.name)
    }

    /// What to say about the files.
    pub fn files(&self, targets: &Targets) -> Vec<FileSummary> {
        let summary = |file: &File| FileSummary {
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
        self.files.push(File {
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

    /// A name for a file of the trace, and whether it differs because of what a log cannot have.
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
        // Blanks of other alphabets end no word of fio, but bytes that are no text may.
        if name.is_empty() {
            name = b"file".to_vec();
        }
        let directory = self.naming.directory.as_deref();
        let room = LONGEST.saturating_sub(directory.map_or(0, |directory| directory.len() + 1)).max(SHORTEST);
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

/// True if a name can be in an I/O log.
#[must_use]
pub fn is_valid(name: &OsStr) -> bool {
    is_valid_up_to(name, 256)
}

/// True if files in this directory can be in an I/O log.
#[must_use]
pub fn is_valid_directory(name: &OsStr) -> bool {
    is_valid_up_to(name, LONGEST - SHORTEST)
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

    fn names(naming: &Naming, originals: &[&str]) -> Vec<(String, bool)> {
        let mut targets = Targets::default();
        let mut names = LogNames::new(naming);
        for original in originals {
            let number = targets.number(original.as_bytes());
            names.name(number, &targets);
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
            names(&Naming::default(), &["/var/db/a b", "8,16", "/a/b", "a_b", "../x", "/", "/var/db/a_b"]);
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
        let naming = Naming { keeps_paths: true, ..Naming::default() };
        assert_eq!(
            names(&naming, &["/var/db/a b:c", "rel/x"]),
            [("/var/db/a_b:c".to_owned(), true), ("rel/x".to_owned(), false)]
        );
    }

    #[test]
    fn files_can_be_renamed_or_made_one() {
        let naming = Naming {
            renamed: vec![("8,0".into(), "/dev/sdb".into()), ("8,1".into(), "/dev/sdb".into())],
            directory: Some("work".into()),
            ..Naming::default()
        };
        assert_eq!(plain(names(&naming, &["8,0", "8,1", "8,2"])), ["/dev/sdb", "work/8_2"]);
        let naming = Naming { target: Some("one".into()), ..Naming::default() };
        assert_eq!(plain(names(&naming, &["a", "b"])), ["one"]);
    }

    #[test]
    fn long_names_keep_their_end() {
        let long = format!("/{}/end", "d".repeat(300));
        let all = names(&Naming::default(), &[&long]);
        assert!(all[0].0.len() == 230 && all[0].0.ends_with("d_end") && all[0].1);
        let deep = Naming { directory: Some("e".repeat(200).into()), ..Naming::default() };
        let all = names(&deep, &[&long]);
        assert_eq!(all[0].0, format!("{}/{}_end", "e".repeat(200), "d".repeat(26)));
        assert!(
            is_valid_directory("e".repeat(200).as_ref()) && !is_valid_directory("e".repeat(201).as_ref())
        );
    }

    #[test]
    fn a_name_that_somebody_asked_for_is_no_other_file() {
        let naming = Naming {
            renamed: vec![("later".into(), "work/b".into())],
            directory: Some("work".into()),
            ..Naming::default()
        };
        assert_eq!(plain(names(&naming, &["b", "later"])), ["work/b.2", "work/b"]);
    }

    #[test]
    fn many_files_of_one_name_are_numbered_without_trying_all_numbers() {
        let naming = Naming::default();
        let (mut targets, mut names) = (Targets::default(), LogNames::new(&naming));
        let mut number = |names: &mut LogNames<'_>, original: &str| {
            let target = targets.number(original.as_bytes());
            names.name(target, &targets).text.to_owned()
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
