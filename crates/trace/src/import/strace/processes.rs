//! The processes of a trace: their descriptors, file offsets and working directories, as far as the trace shows them.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::rc::Rc;

use super::super::event::{TraceContents, TraceEvent, TraceEventKind};
use super::arguments::{AT_FDCWD, descriptor, has_flag, is_removed, unescaped};
use super::files::{FileDescription, TraceFiles, is_file, normal, rest_below};

/// Stands for the process of lines without a pid until its pid is known.
pub const UNNUMBERED: u32 = 0;

/// The calls that create processes.
pub const FORKS: [&[u8]; 4] = [b"clone", b"clone3", b"fork", b"vfork"];

/// An open file that descriptors share.
pub type SharedFile = Rc<RefCell<FileDescription>>;

#[derive(Clone, Debug)]
struct Descriptor {
    file: SharedFile,
    close_on_exec: bool,
}

type DescriptorTable = HashMap<i32, Descriptor>;

/// The beginning of a call whose end has not appeared.
#[derive(Debug)]
pub struct UnfinishedCall {
    /// The text so far.
    pub text: Vec<u8>,
    /// Start time.
    pub time_ns: u64,
    /// The process that it created, if the lines of that process came first.
    pub child: Option<u32>,
}

#[derive(Debug, Default)]
struct TracedProcess {
    descriptors: Rc<RefCell<DescriptorTable>>,
    directory: Rc<RefCell<Vec<u8>>>,
    call: Option<UnfinishedCall>,
}

/// The state of all processes of a trace, by pid.
#[derive(Debug, Default)]
pub struct Processes {
    all: HashMap<u32, TracedProcess>,
    /// The number of the process of lines without one.
    unnumbered: Option<u32>,
    pub files: TraceFiles,
    /// Number of asynchronous I/Os that were submitted and not reaped.
    in_flight: u64,
}

/// The process and the time of a line, and what the trace has shown so far.
pub struct LineContext<'a> {
    pub pid: u32,
    pub time_ns: u64,
    pub found: &'a mut TraceContents,
}

/// The file of a descriptor.
#[derive(Debug)]
pub enum DescriptorFile {
    /// A file of the log.
    File(SharedFile),
    /// Not a file of the log.
    NotAFile,
    /// The trace does not show it being opened.
    Unknown,
}

impl Processes {
    /// The process of a line.
    pub fn of_line(&mut self, pid: Option<u32>) -> u32 {
        let Some(pid) = pid else {
            let pid = self.unnumbered.unwrap_or(UNNUMBERED);
            self.all.entry(pid).or_default();
            return pid;
        };
        if !self.all.contains_key(&pid) && !self.adopt(pid) {
            let first = self.unnumbered.is_none().then(|| self.all.remove(&UNNUMBERED)).flatten();
            if first.is_some() {
                self.unnumbered = Some(pid);
            }
            self.all.insert(pid, first.unwrap_or_default());
        }
        pid
    }

    /// Records that strace attached to a new process: the child of a fork that has not returned yet.
    pub fn attached(&mut self, child: u32) {
        if !self.all.contains_key(&child) {
            self.adopt(child);
        }
    }

    /// Records an unknown process as the child of the unfinished call. Returns false if there is none.
    fn adopt(&mut self, child: u32) -> bool {
        let is_fork = |call: &UnfinishedCall| {
            let name = call.text.split(|&byte| byte == b'(').next().unwrap_or_default();
            call.child.is_none() && FORKS.contains(&name)
        };
        let parents = self.all.iter().filter(|(_, process)| process.call.as_ref().is_some_and(is_fork));
        let newest =
            parents.max_by_key(|(pid, process)| (process.call.as_ref().map(|call| call.time_ns), **pid));
        let Some(parent) = newest.map(|(&pid, _)| pid) else { return false };
        let mut flags = Vec::new();
        if let Some(call) = self.all.get_mut(&parent).and_then(|process| process.call.as_mut()) {
            call.child = Some(child);
            flags.clone_from(&call.text);
        }
        self.fork(parent, child, &flags);
        true
    }

    /// Creates a process by a call with these flags, unless it is already known.
    pub fn fork(&mut self, parent: u32, child: u32, flags: &[u8]) {
        let Some(process) = self.all.get(&parent) else { return };
        if self.all.contains_key(&child) {
            return;
        }
        let descriptors = shared_or_copied(&process.descriptors, has_flag(flags, "CLONE_FILES"));
        let directory = shared_or_copied(&process.directory, has_flag(flags, "CLONE_FS"));
        self.all.insert(child, TracedProcess { descriptors, directory, call: None });
    }

    /// Gives a process a descriptor table of its own.
    pub fn unshare(&mut self, pid: u32) {
        if let Some(process) = self.all.get_mut(&pid) {
            process.descriptors = shared_or_copied(&process.descriptors, false);
        }
    }

    /// Keeps the beginning of a call.
    pub fn begin(&mut self, pid: u32, call: UnfinishedCall) {
        if let Some(process) = self.all.get_mut(&pid) {
            process.call = Some(call);
        }
    }

    /// Takes the unfinished call of the process.
    pub fn end(&mut self, pid: u32) -> Option<UnfinishedCall> {
        self.all.get_mut(&pid)?.call.take()
    }

    /// Number of unfinished calls.
    pub fn unfinished(&self) -> usize {
        self.all.values().filter(|process| process.call.is_some()).count()
    }

    /// Ends the process of a line, and closes its files unless others share its descriptors.
    pub fn exit(&mut self, line: &mut LineContext<'_>) {
        let Some(process) = self.all.remove(&line.pid) else { return };
        if let Ok(table) = Rc::try_unwrap(process.descriptors) {
            self.release_all(table.into_inner(), line);
        }
    }

    /// Replaces the program of a process, which closes some descriptors.
    pub fn exec(&mut self, line: &mut LineContext<'_>) {
        self.unshare(line.pid);
        let Some(process) = self.all.get(&line.pid) else { return };
        let closed: DescriptorTable =
            process.descriptors.borrow_mut().extract_if(|_, descriptor| descriptor.close_on_exec).collect();
        self.release_all(closed, line);
    }

    /// Closes the descriptors of a range, or marks them to be closed on exec.
    pub fn close_range(&mut self, range: RangeInclusive<i32>, on_exec: bool, line: &mut LineContext<'_>) {
        let Some(process) = self.all.get(&line.pid) else { return };
        let mut table = process.descriptors.borrow_mut();
        if on_exec {
            let marked = table.iter_mut().filter(|(number, _)| range.contains(*number));
            return marked.for_each(|(_, descriptor)| descriptor.close_on_exec = true);
        }
        let closed: DescriptorTable = table.extract_if(|number, _| range.contains(number)).collect();
        drop(table);
        self.release_all(closed, line);
    }

    fn release_all(&mut self, table: DescriptorTable, line: &mut LineContext<'_>) {
        let mut closed: Vec<_> = table.into_iter().collect();
        closed.sort_by_key(|(number, _)| *number);
        for (_, descriptor) in closed {
            self.release(descriptor.file, line);
        }
    }

    /// Drops one reference to a file; the last one closes it.
    fn release(&mut self, file: SharedFile, line: &mut LineContext<'_>) {
        let Some(file) = Rc::into_inner(file) else { return };
        let Some(target) = file.into_inner().target else { return };
        if self.files.closed(target) {
            let (time_ns, pid, what) = (line.time_ns, Some(line.pid), TraceEventKind::Close);
            line.found.events.push(TraceEvent { time_ns, took_ns: None, pid, target, what });
        }
    }

    /// Installs a descriptor of a new open file; it replaces one of the same number.
    pub fn install(
        &mut self,
        number: i32,
        file: FileDescription,
        close_on_exec: bool,
        line: &mut LineContext<'_>,
    ) {
        if let Some(target) = file.target {
            self.files.opened(target);
        }
        self.share(number, Rc::new(RefCell::new(file)), close_on_exec, line);
    }

    /// Installs a descriptor of an existing open file.
    pub fn share(&mut self, number: i32, file: SharedFile, close_on_exec: bool, line: &mut LineContext<'_>) {
        let Some(process) = self.all.get(&line.pid) else { return };
        let old = process.descriptors.borrow_mut().insert(number, Descriptor { file, close_on_exec });
        if let Some(old) = old {
            self.release(old.file, line);
        }
    }

    /// Closes a descriptor.
    pub fn close(&mut self, number: i32, line: &mut LineContext<'_>) {
        let Some(process) = self.all.get(&line.pid) else { return };
        let closed = process.descriptors.borrow_mut().remove(&number);
        if let Some(descriptor) = closed {
            self.release(descriptor.file, line);
        }
    }

    /// Sets whether a descriptor is closed on exec.
    pub fn set_close_on_exec(&mut self, pid: u32, fd: i32, on: bool) {
        let Some(process) = self.all.get(&pid) else { return };
        if let Some(descriptor) = process.descriptors.borrow_mut().get_mut(&fd) {
            descriptor.close_on_exec = on;
        }
    }

    /// The open file of a descriptor.
    pub fn shared(&self, pid: u32, number: i32) -> Option<SharedFile> {
        let table = self.all.get(&pid)?.descriptors.borrow();
        table.get(&number).map(|descriptor| Rc::clone(&descriptor.file))
    }

    /// The file that an argument of a call refers to. With `-y`, strace also shows the file of descriptors that were opened before the
    /// trace.
    pub fn file(&mut self, argument: &[u8], line: &mut LineContext<'_>) -> DescriptorFile {
        let Some((number, shown)) = descriptor(argument) else { return DescriptorFile::Unknown };
        let known = self.shared(line.pid, number);
        let Some(shown) = shown.and_then(unescaped) else {
            return match known {
                Some(file) if file.borrow().target.is_some() => DescriptorFile::File(file),
                Some(_) => DescriptorFile::NotAFile,
                None => DescriptorFile::Unknown,
            };
        };
        // An unlinked file.
        let (path, is_removed) = match shown.strip_suffix(b" (deleted)") {
            Some(path) => (path, true),
            None => (shown.as_slice(), is_removed(argument)),
        };
        if !is_file(path) {
            return DescriptorFile::NotAFile;
        }
        if let Some(file) = known {
            let (target, opened_as) = (file.borrow().target, file.borrow().path == path);
            match target {
                // A directory has no reads and writes.
                None if opened_as => return DescriptorFile::NotAFile,
                Some(target) if is_removed || self.files.known(path, &line.found.targets) == Some(target) => {
                    return DescriptorFile::File(file);
                }
                // The descriptor now refers to another file.
                _ => {}
            }
        }
        let target = Some(self.files.number(path, &mut line.found.targets));
        let file = FileDescription {
            target,
            path: path.to_owned(),
            predates_trace: true,
            ..FileDescription::default()
        };
        self.install(number, file, false, line);
        self.shared(line.pid, number).map_or(DescriptorFile::Unknown, DescriptorFile::File)
    }

    /// Resolves a path relative to the directory in the argument; the result is relative if the trace does not show that directory.
    pub fn resolve(&self, pid: u32, directory: &[u8], path: &[u8]) -> Vec<u8> {
        if path.starts_with(b"/") {
            return normal(path);
        }
        let base = match descriptor(directory) {
            Some((_, Some(shown))) => unescaped(shown).unwrap_or_default(),
            Some((AT_FDCWD, None)) | None => {
                self.all.get(&pid).map(|process| process.directory.borrow().clone()).unwrap_or_default()
            }
            Some((number, None)) => {
                self.shared(pid, number).map(|file| file.borrow().path.clone()).unwrap_or_default()
            }
        };
        if base.is_empty() { normal(path) } else { normal(&[&base[..], b"/", path].concat()) }
    }

    /// Changes the working directory.
    pub fn change_directory(&mut self, pid: u32, path: Vec<u8>) {
        if let Some(process) = self.all.get(&pid) {
            *process.directory.borrow_mut() = path;
        }
    }

    /// Renames a directory for processes in it, and for paths relative to descriptors. `exchanged` says whether the old path belongs to the
    /// other directory now.
    pub fn move_directory(&mut self, from: &[u8], to: &[u8], exchanged: bool) {
        let moved = |path: &mut Vec<u8>| {
            if let Some(rest) = rest_below(path, from) {
                *path = [to, rest].concat();
            } else if let Some(rest) = rest_below(path, to).filter(|_| exchanged) {
                *path = [from, rest].concat();
            }
        };
        // Processes share directories, tables and open files: each is changed once.
        let mut seen = HashSet::new();
        for process in self.all.values() {
            if seen.insert(Rc::as_ptr(&process.directory).cast::<()>()) {
                moved(&mut process.directory.borrow_mut());
            }
            if !seen.insert(Rc::as_ptr(&process.descriptors).cast()) {
                continue;
            }
            for descriptor in process.descriptors.borrow().values() {
                if seen.insert(Rc::as_ptr(&descriptor.file).cast()) {
                    moved(&mut descriptor.file.borrow_mut().path);
                }
            }
        }
    }

    /// Counts submitted asynchronous I/Os.
    pub fn submitted(&mut self, count: u64) {
        self.in_flight = self.in_flight.saturating_add(count);
    }

    /// Counts reaped asynchronous I/Os.
    pub fn reaped(&mut self, count: u64, found: &mut TraceContents) {
        let deepest = u32::try_from(self.in_flight).unwrap_or(u32::MAX);
        found.remarks.deepest = found.remarks.deepest.max(deepest);
        self.in_flight = self.in_flight.saturating_sub(count);
    }
}

/// Shares the state of a process with another one, or copies it.
fn shared_or_copied<T: Clone>(state: &Rc<RefCell<T>>, shares: bool) -> Rc<RefCell<T>> {
    if shares { Rc::clone(state) } else { Rc::new(RefCell::clone(state)) }
}
