//! The processes of a trace: their descriptors, file offsets and working directories, as far as the trace shows them.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::event::{Event, Found, What};
use super::arguments::{AT_FDCWD, descriptor, has_flag, is_removed, unescaped};
use super::files::{Files, OpenFile, is_file, normal, rest_below};
use crate::IoAction;

/// The process of lines without a number, until its number is known.
const UNNUMBERED: u32 = 0;

/// The calls that make processes.
pub const FORKS: [&[u8]; 4] = [b"clone", b"clone3", b"fork", b"vfork"];

/// A file that descriptors share.
pub type Shared = Rc<RefCell<OpenFile>>;

#[derive(Clone, Debug)]
struct Descriptor {
    file: Shared,
    close_on_exec: bool,
}

type Table = HashMap<i32, Descriptor>;

/// The beginning of a call whose end has not come yet.
#[derive(Debug)]
pub struct Call {
    /// As far as it is known.
    pub text: Vec<u8>,
    /// When it began.
    pub time_ns: u64,
    /// The process that it made, if lines of that one came first.
    pub child: Option<u32>,
}

#[derive(Debug, Default)]
struct Process {
    descriptors: Rc<RefCell<Table>>,
    directory: Rc<RefCell<Vec<u8>>>,
    call: Option<Call>,
}

/// All processes.
#[derive(Debug, Default)]
pub struct Processes {
    all: HashMap<u32, Process>,
    /// The number of the process of lines without one.
    unnumbered: Option<u32>,
    /// Their files.
    pub files: Files,
    /// Asynchronous I/Os that were submitted and not reaped.
    in_flight: u64,
}

/// What a descriptor is.
#[derive(Debug)]
pub enum Lookup {
    /// A file of the log.
    File(Shared),
    /// Something else.
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

    /// strace attached to a process, which is the child of a call that has not ended.
    pub fn attached(&mut self, child: u32) {
        if !self.all.contains_key(&child) {
            self.adopt(child);
        }
    }

    /// Makes a process that nobody has seen the child of the call that has not ended. False if there is none.
    fn adopt(&mut self, child: u32) -> bool {
        let is_fork = |call: &Call| {
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

    /// Makes a process by a call with these flags, unless it is known already.
    pub fn fork(&mut self, parent: u32, child: u32, flags: &[u8]) {
        let Some(process) = self.all.get(&parent) else { return };
        if self.all.contains_key(&child) {
            return;
        }
        let descriptors = match has_flag(flags, "CLONE_FILES") {
            true => Rc::clone(&process.descriptors),
            false => Rc::new(RefCell::new(process.descriptors.borrow().clone())),
        };
        let directory = match has_flag(flags, "CLONE_FS") {
            true => Rc::clone(&process.directory),
            false => Rc::new(RefCell::new(process.directory.borrow().clone())),
        };
        self.all.insert(child, Process { descriptors, directory, call: None });
    }

    /// Gives a process descriptors of its own.
    pub fn unshare(&mut self, pid: u32) {
        if let Some(process) = self.all.get_mut(&pid) {
            let own = process.descriptors.borrow().clone();
            process.descriptors = Rc::new(RefCell::new(own));
        }
    }

    /// Keeps the beginning of a call.
    pub fn begin(&mut self, pid: u32, call: Call) {
        if let Some(process) = self.all.get_mut(&pid) {
            process.call = Some(call);
        }
    }

    /// The call of the process that has not ended, which ends now.
    pub fn end(&mut self, pid: u32) -> Option<Call> {
        self.all.get_mut(&pid)?.call.take()
    }

    /// How many calls have not ended.
    pub fn unfinished(&self) -> usize {
        self.all.values().filter(|process| process.call.is_some()).count()
    }

    /// A process ends, and closes its files unless others share its descriptors.
    pub fn exit(&mut self, pid: u32, time_ns: u64, found: &mut Found) {
        let Some(process) = self.all.remove(&pid) else { return };
        if let Ok(table) = Rc::try_unwrap(process.descriptors) {
            self.release_all(table.into_inner(), pid, time_ns, found);
        }
    }

    /// A process runs another program, which closes some descriptors.
    pub fn exec(&mut self, pid: u32, time_ns: u64, found: &mut Found) {
        self.unshare(pid);
        let Some(process) = self.all.get(&pid) else { return };
        let closed: Table =
            process.descriptors.borrow_mut().extract_if(|_, descriptor| descriptor.close_on_exec).collect();
        self.release_all(closed, pid, time_ns, found);
    }

    /// Closes the descriptors of a range, or marks them to be closed on exec.
    pub fn close_range(
        &mut self,
        pid: u32,
        range: std::ops::RangeInclusive<i32>,
        on_exec: bool,
        time_ns: u64,
        found: &mut Found,
    ) {
        let Some(process) = self.all.get(&pid) else { return };
        let mut closed = Table::new();
        if on_exec {
            let mut table = process.descriptors.borrow_mut();
            let marked = table.iter_mut().filter(|(number, _)| range.contains(*number));
            marked.for_each(|(_, descriptor)| descriptor.close_on_exec = true);
        } else {
            closed =
                process.descriptors.borrow_mut().extract_if(|number, _| range.contains(number)).collect();
        }
        self.release_all(closed, pid, time_ns, found);
    }

    fn release_all(&mut self, table: Table, pid: u32, time_ns: u64, found: &mut Found) {
        let mut closed: Vec<_> = table.into_iter().collect();
        closed.sort_by_key(|(number, _)| *number);
        for (_, descriptor) in closed {
            self.release(descriptor.file, pid, time_ns, found);
        }
    }

    /// Gives up one holder of a file; the last one of all closes it.
    fn release(&mut self, file: Shared, pid: u32, time_ns: u64, found: &mut Found) {
        let Some(file) = Rc::into_inner(file) else { return };
        let Some(target) = file.into_inner().target else { return };
        if self.files.closed(target) {
            found.events.push(Event { time_ns, took_ns: None, pid: Some(pid), target, what: What::Close });
        }
    }

    /// Makes a descriptor of a new open file; it replaces one of the same number.
    pub fn install(
        &mut self,
        pid: u32,
        number: i32,
        file: OpenFile,
        close_on_exec: bool,
        time_ns: u64,
        found: &mut Found,
    ) {
        if let Some(target) = file.target {
            self.files.opened(target);
        }
        self.share(pid, number, Rc::new(RefCell::new(file)), close_on_exec, time_ns, found);
    }

    /// Makes a descriptor of an open file.
    pub fn share(
        &mut self,
        pid: u32,
        number: i32,
        file: Shared,
        close_on_exec: bool,
        time_ns: u64,
        found: &mut Found,
    ) {
        let Some(process) = self.all.get(&pid) else { return };
        let old = process.descriptors.borrow_mut().insert(number, Descriptor { file, close_on_exec });
        if let Some(old) = old {
            self.release(old.file, pid, time_ns, found);
        }
    }

    /// Closes a descriptor.
    pub fn close(&mut self, pid: u32, number: i32, time_ns: u64, found: &mut Found) {
        let Some(process) = self.all.get(&pid) else { return };
        let closed = process.descriptors.borrow_mut().remove(&number);
        if let Some(descriptor) = closed {
            self.release(descriptor.file, pid, time_ns, found);
        }
    }

    /// Marks a descriptor to be closed on exec, or not.
    pub fn set_close_on_exec(&mut self, pid: u32, number: i32, on: bool) {
        let Some(process) = self.all.get(&pid) else { return };
        if let Some(descriptor) = process.descriptors.borrow_mut().get_mut(&number) {
            descriptor.close_on_exec = on;
        }
    }

    /// The open file behind a descriptor, whatever it is.
    pub fn shared(&self, pid: u32, number: i32) -> Option<Shared> {
        let table = self.all.get(&pid)?.descriptors.borrow();
        table.get(&number).map(|descriptor| Rc::clone(&descriptor.file))
    }

    /// What the argument of a call names. With `-y`, strace shows the file also of descriptors that were opened before the trace.
    pub fn file(&mut self, pid: u32, argument: &[u8], time_ns: u64, found: &mut Found) -> Lookup {
        let Some((number, shown)) = descriptor(argument) else { return Lookup::Unknown };
        let known = self.shared(pid, number);
        let shown = shown.and_then(unescaped);
        let Some(shown) = shown else {
            return match known {
                Some(file) if file.borrow().target.is_some() => Lookup::File(file),
                Some(_) => Lookup::NotAFile,
                None => Lookup::Unknown,
            };
        };
        // A file that has lost its name.
        let (path, is_removed) = match shown.strip_suffix(b" (deleted)") {
            Some(path) => (path, true),
            None => (shown.as_slice(), is_removed(argument)),
        };
        if !is_file(path) {
            return Lookup::NotAFile;
        }
        if let Some(file) = known {
            let (target, opened_as) = (file.borrow().target, file.borrow().path == path);
            match target {
                // A directory has no reads and writes.
                None if opened_as => return Lookup::NotAFile,
                Some(target) if is_removed || self.files.known(path, &found.targets) == Some(target) => {
                    return Lookup::File(file);
                }
                // The descriptor has another file by now.
                _ => {}
            }
        }
        let target = Some(self.files.number(path, &mut found.targets));
        let file = OpenFile { target, path: path.to_owned(), is_from_before: true, ..OpenFile::default() };
        self.install(pid, number, file, false, time_ns, found);
        self.shared(pid, number).map_or(Lookup::Unknown, Lookup::File)
    }

    /// A path as the process means it, from the directory that the argument names; relative if the trace does not show that directory.
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

    /// A directory has another path: for processes in it, and for what is opened relative to descriptors. `exchanged` if what had that
    /// path has the former one.
    pub fn move_directory(&mut self, from: &[u8], to: &[u8], exchanged: bool) {
        let moved = |path: &mut Vec<u8>| {
            if let Some(rest) = rest_below(path, from) {
                *path = [to, rest].concat();
            } else if let Some(rest) = rest_below(path, to).filter(|_| exchanged) {
                *path = [from, rest].concat();
            }
        };
        // Processes share directories, tables and open files: each moves once.
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

    /// Asynchronous I/Os were submitted.
    pub fn submitted(&mut self, count: u64) {
        self.in_flight = self.in_flight.saturating_add(count);
    }

    /// The ends of asynchronous I/Os were reaped.
    pub fn reaped(&mut self, count: u64, found: &mut Found) {
        let deepest = u32::try_from(self.in_flight).unwrap_or(u32::MAX);
        found.remarks.deepest = found.remarks.deepest.max(deepest);
        self.in_flight = self.in_flight.saturating_sub(count);
    }

    /// Adds an I/O on an open file to what was found.
    #[expect(clippy::too_many_arguments)]
    pub fn io(
        &mut self,
        file: &OpenFile,
        pid: u32,
        time_ns: u64,
        took_ns: Option<u64>,
        action: IoAction,
        offset: u64,
        len: u64,
        found: &mut Found,
    ) {
        let Some(target) = file.target else { return };
        found.remarks.direct += u64::from(file.direct);
        found.remarks.synchronous += u64::from(file.synchronous && action == IoAction::Write);
        let pid = (pid != UNNUMBERED).then_some(pid);
        found.events.push(Event { time_ns, took_ns, pid, target, what: What::Io { action, offset, len } });
    }
}
