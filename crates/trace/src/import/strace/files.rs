//! The files of a trace: the meaning of paths while files are renamed and removed, their sizes, and the paths of directories.

use std::collections::{HashMap, HashSet};

use super::super::event::Targets;

/// An open file description. Descriptors made by dup and fork share it, and with it the offset.
#[derive(Debug, Default)]
pub struct FileDescription {
    /// Number of the file; `None` if it is not a file of the log.
    pub target: Option<u32>,
    /// Path of the file, for paths relative to it.
    pub path: Vec<u8>,
    /// Offset of the next read or write.
    pub offset: u64,
    /// Whether offset and flags are unknown, because the trace does not show the file being opened.
    pub predates_trace: bool,
    /// O_APPEND.
    pub append: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC or O_DSYNC.
    pub synchronous: bool,
}

/// The meaning of a path that no longer refers to the file that first had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathMeaning {
    /// This file.
    File(u32),
    /// No file: opening it creates a new one.
    Nothing,
    /// A file that the trace has not shown before.
    OtherFile,
}

/// All files.
#[derive(Debug, Default)]
pub struct TraceFiles {
    /// Known sizes of files, by file number.
    sizes: HashMap<u32, u64>,
    /// Number of open file descriptions of each file.
    open: HashMap<u32, u32>,
    /// Paths that files were renamed to or from, or removed from.
    meanings: HashMap<Vec<u8>, PathMeaning>,
    directories: HashSet<Vec<u8>>,
}

impl TraceFiles {
    /// The number of the file that is opened at a path.
    pub fn number(&mut self, path: &[u8], targets: &mut Targets) -> u32 {
        let Some(meaning) = self.meanings.get_mut(path) else { return targets.number(path) };
        if let PathMeaning::File(target) = meaning {
            return *target;
        }
        let target = targets.add(path);
        if *meaning == PathMeaning::Nothing {
            self.sizes.insert(target, 0);
        }
        *meaning = PathMeaning::File(target);
        target
    }

    /// The number of the file at a path, if it has one.
    pub fn known(&self, path: &[u8], targets: &Targets) -> Option<u32> {
        match self.meanings.get(path) {
            None => targets.known(path),
            Some(PathMeaning::File(target)) => Some(*target),
            Some(PathMeaning::Nothing | PathMeaning::OtherFile) => None,
        }
    }

    /// Renames a file or directory, and replaces the one at the new path.
    pub fn rename(&mut self, from: &[u8], to: &[u8], targets: &Targets) {
        if self.is_directory(from) {
            return self.rename_directory(from, to, targets);
        }
        let (file, replaced) = (self.known(from, targets), self.known(to, targets));
        if from == to || file.is_none() && replaced.is_none() {
            return;
        }
        // A replaced file that is not open has no more I/O. Its number is reused, so that a file that is repeatedly written under a
        // temporary name is not a new one each time.
        let free = replaced.filter(|target| !self.open.contains_key(target));
        if let Some(target) = free {
            self.sizes.remove(&target);
        }
        let new = file.or(free).map_or(PathMeaning::OtherFile, PathMeaning::File);
        self.meanings.insert(to.to_owned(), new);
        if file.is_some() {
            if let Some(target) = free {
                self.sizes.insert(target, 0);
            }
            self.meanings.insert(from.to_owned(), free.map_or(PathMeaning::Nothing, PathMeaning::File));
        }
    }

    /// Renames a directory over another one, which was empty or absent.
    fn rename_directory(&mut self, from: &[u8], to: &[u8], targets: &Targets) {
        if from == to {
            return;
        }
        let (moved, replaced) = (self.below(from, targets), self.below(to, targets));
        for (rest, _) in replaced {
            self.meanings.insert([to, &rest].concat(), PathMeaning::OtherFile);
        }
        for (rest, meaning) in moved {
            self.meanings.insert([to, &rest].concat(), meaning);
            self.meanings.insert([from, &rest].concat(), PathMeaning::Nothing);
        }
        let directories = self.take_directories(from);
        self.take_directories(to);
        self.directories.extend(directories.iter().map(|rest| [to, rest].concat()));
    }

    /// Exchanges the paths of two directories, or of a directory and a file.
    fn exchange_directories(&mut self, one: &[u8], other: &[u8], targets: &Targets) {
        let paths = [(self.below(one, targets), one, other), (self.below(other, targets), other, one)];
        for (files, from, _) in &paths {
            for (rest, _) in files {
                self.meanings.insert([from, &rest[..]].concat(), PathMeaning::OtherFile);
            }
        }
        for (files, _, to) in paths {
            self.meanings.extend(files.into_iter().map(|(rest, meaning)| ([to, &rest].concat(), meaning)));
        }
        let directories = [(self.take_directories(one), other), (self.take_directories(other), one)];
        for (directories, to) in directories {
            self.directories.extend(directories.iter().map(|rest| [to, rest].concat()));
        }
    }

    /// The meanings of the path and those below it, as far as the trace has shown them: the ends of these paths, and their files.
    fn below(&self, directory: &[u8], targets: &Targets) -> Vec<(Vec<u8>, PathMeaning)> {
        let rest = |path: &[u8]| rest_below(path, directory).map(<[u8]>::to_owned);
        let renamed = self.meanings.iter().filter_map(|(path, &meaning)| Some((rest(path)?, meaning)));
        let as_shown = targets.known_names().filter(|path| !self.meanings.contains_key(*path));
        let as_shown =
            as_shown.filter_map(|path| Some((rest(path)?, PathMeaning::File(targets.known(path)?))));
        renamed.chain(as_shown).collect()
    }

    /// Forgets that a path and those below it are directories. Returns the ends of these paths.
    fn take_directories(&mut self, directory: &[u8]) -> Vec<Vec<u8>> {
        let taken = self.directories.extract_if(|path| rest_below(path, directory).is_some());
        taken.map(|path| path[directory.len()..].to_owned()).collect()
    }

    /// Exchanges the paths of two files or directories.
    pub fn exchange(&mut self, one: &[u8], other: &[u8], targets: &Targets) {
        if self.is_directory(one) || self.is_directory(other) {
            return self.exchange_directories(one, other, targets);
        }
        let meaning = |file: Option<u32>| file.map_or(PathMeaning::OtherFile, PathMeaning::File);
        let (first, second) = (self.known(one, targets), self.known(other, targets));
        if first != second {
            self.meanings.insert(one.to_owned(), meaning(second));
            self.meanings.insert(other.to_owned(), meaning(first));
        }
    }

    /// Removes the path of a file.
    pub fn remove(&mut self, path: &[u8], targets: &Targets) {
        let Some(target) = self.known(path, targets) else { return };
        match self.open.contains_key(&target) {
            true => drop(self.meanings.insert(path.to_owned(), PathMeaning::Nothing)),
            false => drop(self.sizes.insert(target, 0)),
        }
    }

    /// Counts an open file description of this file.
    pub fn opened(&mut self, target: u32) {
        *self.open.entry(target).or_default() += 1;
    }

    /// Counts a closed one. Returns whether it was the last.
    pub fn closed(&mut self, target: u32) -> bool {
        let count = self.open.get_mut(&target).map_or(0, |count| {
            *count = count.saturating_sub(1);
            *count
        });
        if count == 0 {
            self.open.remove(&target);
        }
        count == 0
    }

    /// Records the parents of a path as directories.
    pub fn add_directories_of(&mut self, path: &[u8]) {
        let mut path = path;
        while let Some(at) = path.iter().rposition(|&byte| byte == b'/').filter(|&at| at > 0) {
            path = &path[..at];
            if !self.add_directory(path) {
                break;
            }
        }
    }

    /// Records a path as a directory. Returns whether that is new.
    pub fn add_directory(&mut self, path: &[u8]) -> bool {
        !self.directories.contains(path) && self.directories.insert(path.to_owned())
    }

    /// Whether a path is a directory, as far as the trace has shown.
    pub fn is_directory(&self, path: &[u8]) -> bool {
        self.directories.contains(path)
    }

    /// The size of a file, if the trace shows it.
    pub fn size(&self, target: u32) -> Option<u64> {
        self.sizes.get(&target).copied()
    }

    pub fn set_size(&mut self, target: u32, size: u64) {
        self.sizes.insert(target, size);
    }

    /// Raises the size of a file to at least `size`.
    pub fn grow(&mut self, target: u32, size: u64) {
        if let Some(known) = self.sizes.get_mut(&target) {
            *known = (*known).max(size);
        }
    }
}

/// The end of a path at or below this directory, which is empty for the directory itself: `/b` for `a/b` below `a`.
pub fn rest_below<'a>(path: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    path.strip_prefix(directory).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Normalizes a path: removes `.`, `..` after a name, and repeated slashes.
pub fn normal(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".") {
        match parts.last() {
            Some(&last) if part == b".." && last != b".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let root: &[u8] = if path.starts_with(b"/") { b"/" } else { b"" };
    [root, &parts.join(&b'/')].concat()
}

/// Whether a path is that of a file or block device; false for pseudo files, terminals, and names that are not paths.
pub fn is_file(path: &[u8]) -> bool {
    const DEVICES: [&str; 13] = [
        "null", "zero", "full", "random", "urandom", "ptmx", "console", "stdin", "stdout", "stderr", "kmsg",
        "fuse", "kvm",
    ];
    /// Directories of devices, and prefixes of device names.
    const FAMILIES: [&str; 7] = ["tty", "pts/", "fd/", "snd/", "dri/", "input/", "net/"];
    // Sockets, pipes and the like are `socket:[12]`; relative paths are those of files.
    if path.is_empty() || path.contains(&b':') && !path.contains(&b'/') && path.ends_with(b"]") {
        return false;
    }
    if let Some(device) = path.strip_prefix(b"/dev/") {
        return !DEVICES.iter().any(|name| device == name.as_bytes())
            && !FAMILIES.iter().any(|name| device.starts_with(name.as_bytes()));
    }
    !["/proc/", "/sys/", "/memfd:"].iter().any(|start| path.starts_with(start.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_what_means_nothing() {
        for (path, want) in [
            ("/a//b/./c", "/a/b/c"),
            ("/a/b/../c", "/a/c"),
            ("../x", "../x"),
            ("a/../../b", "../b"),
            ("./f", "f"),
        ] {
            assert_eq!(String::from_utf8(normal(path.as_bytes())).unwrap(), want);
        }
    }

    #[test]
    fn pseudo_files_are_no_files() {
        for path in [
            "/dev/null",
            "/dev/tty",
            "/dev/ttyS0",
            "/dev/pts/0",
            "/memfd:x",
            "/proc/self/maps",
            "/sys/block",
            "pipe:[123]",
            "socket:[9]",
            "anon_inode:[eventpoll]",
            "",
        ] {
            assert!(!is_file(path.as_bytes()), "{path}");
        }
        for path in [
            "/dev/nullb0",
            "/dev/zeroed",
            "/dev/randomdisk",
            "/dev/sda",
            "/dev/shm/x",
            "/dev/nvme0n1",
            "data",
            "/etc/passwd",
            "a:[b]/c",
        ] {
            assert!(is_file(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn a_path_means_the_file_that_was_renamed_to_it() {
        let (mut files, mut targets) = (TraceFiles::default(), Targets::default());
        let old = files.number(b"/db", &mut targets);
        let new = files.number(b"/db.tmp", &mut targets);
        files.set_size(old, 100);
        files.set_size(new, 50);
        files.opened(old);
        files.rename(b"/db.tmp", b"/db", &targets);
        assert_eq!((files.number(b"/db", &mut targets), files.size(new)), (new, Some(50)));
        let third = files.number(b"/db.tmp", &mut targets);
        assert!(third != old && third != new, "the old file is still open");
        assert_eq!(
            (targets.name(third), files.size(third), files.size(old)),
            (&b"/db.tmp"[..], Some(0), Some(100))
        );
        files.rename(b"/db.tmp", b"/db", &targets);
        assert_eq!(files.number(b"/db.tmp", &mut targets), new, "nobody has it open: its number is free");
        assert_eq!((files.number(b"/db", &mut targets), files.size(new)), (third, Some(0)));
        files.exchange(b"/db.tmp", b"/db", &targets);
        assert_eq!(
            (files.number(b"/db", &mut targets), files.number(b"/db.tmp", &mut targets)),
            (new, third)
        );
        files.rename(b"/never seen", b"/db", &targets);
        assert_eq!((files.number(b"/db", &mut targets), files.size(new)), (new, None));
        files.rename(b"/a", b"/b", &targets);
        assert_eq!(files.known(b"/b", &targets), None);
    }

    #[test]
    fn a_file_that_is_made_again_is_empty() {
        let (mut files, mut targets) = (TraceFiles::default(), Targets::default());
        let file = files.number(b"/log", &mut targets);
        files.set_size(file, 100);
        files.remove(b"/log", &targets);
        assert_eq!((files.number(b"/log", &mut targets), files.size(file)), (file, Some(0)));
        files.set_size(file, 70);
        files.opened(file);
        files.remove(b"/log", &targets);
        let other = files.number(b"/log", &mut targets);
        assert!(other != file);
        assert_eq!((files.size(other), files.size(file)), (Some(0), Some(70)));
        files.remove(b"/unknown", &targets);
    }
}
