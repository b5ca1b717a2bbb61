//! Calls that open, duplicate and rename files, and those that show or change offsets, sizes and flags.

use super::super::fields::whole;
use super::arguments::{AT_FDCWD, descriptor, has_flag, member, members, unescaped};
use super::calls::CallContext;
use super::files::{FileDescription, is_file, normal};
use super::processes::DescriptorFile;

/// The name of files without a name (O_TMPFILE), unless strace shows their number.
const NAMELESS: &[u8] = b"O_TMPFILE";

impl CallContext<'_, '_> {
    /// Opens the path in an argument, relative to a directory.
    pub(super) fn open(&mut self, directory: &[u8], path: usize, flags: &[u8]) {
        // With -y the arguments show the working directory, and the result shows the path.
        if let Some((AT_FDCWD, Some(shown))) = descriptor(directory)
            && let Some(shown) = unescaped(shown)
        {
            self.processes.change_directory(self.line.pid, shown);
        }
        let Some((number, shown)) = descriptor(self.result_text) else { return };
        let is = |flag| has_flag(flags, flag);
        // The path is that of a directory, in which the file has no name.
        let is_nameless = is("O_TMPFILE") || is("__O_TMPFILE");
        let from_argument = || {
            let path = self.path(directory, path)?;
            let nameless =
                || normal(&[if path.is_empty() { b"." } else { &path[..] }, b"/", NAMELESS].concat());
            Some(if is_nameless { nameless() } else { path })
        };
        let Some(path) = shown.and_then(unescaped).or_else(from_argument) else { return };
        self.processes.files.add_directories_of(&path);
        if is("O_DIRECTORY") && !is_nameless {
            self.processes.files.add_directory(&path);
        }
        let target = if is_nameless {
            Some(self.line.found.targets.add(&path))
        } else {
            let is_file = is_file(&path) && !self.processes.files.is_directory(&path) && !is("O_PATH");
            is_file.then(|| self.processes.files.number(&path, &mut self.line.found.targets))
        };
        if let Some(target) = target.filter(|_| is("O_TRUNC") || is("O_EXCL") || is_nameless) {
            self.processes.files.set_size(target, 0);
        }
        let file = FileDescription {
            target,
            path,
            offset: 0,
            predates_trace: false,
            append: is("O_APPEND"),
            direct: is("O_DIRECT"),
            synchronous: is("O_SYNC") || is("O_DSYNC"),
        };
        self.processes.install(number, file, is("O_CLOEXEC"), &mut self.line);
    }

    /// Applies a call that returned another descriptor of the file in the first argument.
    pub(super) fn duplicate(&mut self, close_on_exec: bool) {
        let Some((old, _)) = descriptor(self.argument(0)) else { return };
        let Ok(new) = i32::try_from(self.result) else { return };
        if old == new {
            return;
        }
        match self.shared() {
            Some(file) => self.processes.share(new, file, close_on_exec, &mut self.line),
            None => self.processes.close(new, &mut self.line),
        }
    }

    pub(super) fn close_range(&mut self) {
        let bound = |at| self.number(at).map(|number| i32::try_from(number).unwrap_or(i32::MAX));
        if let (Some(first), Some(last)) = (bound(0), bound(1)) {
            let on_exec = has_flag(self.argument(2), "CLOSE_RANGE_CLOEXEC");
            self.processes.close_range(first..=last, on_exec, &mut self.line);
        }
    }

    pub(super) fn control(&mut self) {
        let Some((number, _)) = descriptor(self.argument(0)) else { return };
        match self.argument(1) {
            b"F_DUPFD" => self.duplicate(false),
            b"F_DUPFD_CLOEXEC" => self.duplicate(true),
            b"F_SETFD" => {
                let on = has_flag(self.argument(2), "FD_CLOEXEC");
                self.processes.set_close_on_exec(self.line.pid, number, on);
            }
            b"F_SETFL" | b"F_GETFL" => {
                let flags = if self.argument(1) == b"F_SETFL" { self.argument(2) } else { self.result_text };
                if let DescriptorFile::File(file) = self.lookup(0) {
                    let mut file = file.borrow_mut();
                    file.append = has_flag(flags, "O_APPEND");
                    file.direct = has_flag(flags, "O_DIRECT");
                }
            }
            _ => {}
        }
    }

    /// Sets the file's offset to `place`.
    pub(super) fn seek(&mut self, place: u64) {
        let DescriptorFile::File(file) = self.lookup(0) else { return };
        let from_end = self.arguments.contains(&&b"SEEK_END"[..]);
        let distance = whole::<i64>(self.argument(1));
        let mut file = file.borrow_mut();
        (file.offset, file.predates_trace) = (place, false);
        if let (true, Some(distance), Some(target)) = (from_end, distance, file.target)
            && let Some(size) = i64::try_from(place).ok().and_then(|place| place.checked_sub(distance))
        {
            self.processes.files.set_size(target, u64::try_from(size).unwrap_or(0));
        }
    }

    /// Takes the size and type of the file of a descriptor.
    pub(super) fn stat(&mut self) {
        if descriptor(self.argument(0)).is_none_or(|(number, _)| number == AT_FDCWD) {
            return;
        }
        // The path is relative to the descriptor, which is that of a directory.
        if self.arguments.get(1).is_some_and(|path| path.len() > 2 && path.starts_with(b"\"")) {
            return;
        }
        let Some(status) = self.arguments.iter().find(|argument| argument.starts_with(b"{")) else { return };
        let fields = members(status);
        let field = |long, short| member(&fields, long).or_else(|| member(&fields, short));
        let DescriptorFile::File(file) = self.lookup(0) else { return };
        let mut file = file.borrow_mut();
        let kind = field("st_mode", "stx_mode").unwrap_or_default();
        if ["S_IFDIR", "S_IFIFO", "S_IFSOCK", "S_IFCHR"].iter().any(|other| has_flag(kind, other)) {
            file.target = None;
        }
        if has_flag(kind, "S_IFDIR") {
            self.processes.files.add_directory(&file.path);
        }
        if let (Some(target), Some(size)) = (file.target, field("st_size", "stx_size").and_then(whole)) {
            self.processes.files.set_size(target, size);
        }
    }

    /// A listed descriptor is a directory.
    pub(super) fn list_directory(&mut self) {
        if let Some(file) = self.shared() {
            let mut file = file.borrow_mut();
            file.target = None;
            self.processes.files.add_directory(&file.path);
        }
    }

    /// Renames a file or directory.
    pub(super) fn rename(&mut self, from: Option<Vec<u8>>, to: Option<Vec<u8>>) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let exchanged = has_flag(self.argument(4), "RENAME_EXCHANGE");
        let (files, targets) = (&mut self.processes.files, &self.line.found.targets);
        files.add_directories_of(&from);
        files.add_directories_of(&to);
        let is_directory = files.is_directory(&from) || exchanged && files.is_directory(&to);
        match exchanged {
            true => files.exchange(&from, &to, targets),
            false => files.rename(&from, &to, targets),
        }
        if is_directory {
            self.processes.move_directory(&from, &to, exchanged);
        }
    }

    pub(super) fn unlink(&mut self, path: Option<Vec<u8>>) {
        if let Some(path) = path {
            self.processes.files.add_directories_of(&path);
            self.processes.files.remove(&path, &self.line.found.targets);
        }
    }
}
