//! The engine io_uring_cmd: passes NVMe commands through to the device, bypassing the kernel's block layer.
//!
//! Files are the character devices of namespaces (`/dev/ng0n1`). [`ferrio_nvme`] defines the commands; this file owns the memory that
//! commands need besides the data: metadata, ranges and segments of each unit.

mod namespace;

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use ferrio_engine::ring::{Addressing, Ring};
use ferrio_engine::{Buffers, Completion, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit};
use ferrio_job::{JobSpec, PassthroughOptions, ProtectionOptions, WriteMode, not_whole_blocks};
use ferrio_nvme::{
    Command, Namespace, NamespaceError, NamespaceNeeds, PASSTHROUGH, PASSTHROUGH_VECTORED, Range, Status,
    opcode,
};
use io_uring::cqueue::Entry32;
use io_uring::opcode::UringCmd80;
use io_uring::squeue::{Entry128, Flags};
use io_uring::types::{Fd, Fixed};
use nix::errno::Errno;

use self::namespace::JobNamespace;
use crate::{EveryNth, new_ring};

/// `ioengine=io_uring_cmd`
pub struct UringCmd {
    /// First, because dropping it waits for all I/O, which still uses the memory below.
    ring: Ring<Entry128, Entry32>,
    style: Addressing,
    fds: Vec<RawFd>,
    files: Vec<Option<JobNamespace>>,
    names: Vec<String>,
    register_files: bool,
    files_are_registered: bool,
    force_async: EveryNth,
    needs: NamespaceNeeds,
    options: PassthroughOptions,
    protection: ProtectionOptions,
    modes: WriteModeGenerator,
    /// Indexed by unit.
    units: Box<[CommandMemory]>,
    metadata: Box<[u8]>,
}

/// Memory that one command needs besides the data.
#[derive(Clone)]
struct CommandMemory {
    request: Option<Request>,
    range: Range,
    segment: libc::iovec,
    details: Option<String>,
}

/// Draws the command for each write.
struct WriteModeGenerator {
    shares: Vec<(WriteMode, u32)>,
    /// xorshift64 with a fixed seed.
    state: u64,
}

impl WriteModeGenerator {
    fn next(&mut self) -> WriteMode {
        if let [(only, _)] = self.shares[..] {
            return only;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let mut draw = (((self.state >> 32) * 100) >> 32) as u32;
        for &(mode, share) in &self.shares {
            if draw < share {
                return mode;
            }
            draw -= share;
        }
        WriteMode::Write
    }
}

/// True for commands that move data.
fn has_data(command: &Command) -> bool {
    matches!(command.opcode, opcode::READ | opcode::WRITE)
}

impl UringCmd {
    /// The command for a request, with the addresses of its data and metadata.
    fn command(&mut self, request: &Request) -> Result<Command, Errno> {
        let device = self.files.get(request.file as usize).copied().flatten().ok_or(Errno::EBADF)?;
        let unit = request.unit as usize;
        if request.op.moves_data() || request.op == Op::Trim {
            let obstacle = not_whole_blocks(request.offset, request.len, device.block.into());
            let is_refused = obstacle.is_some();
            self.units[unit].details = obstacle;
            if is_refused {
                return Err(Errno::EINVAL);
            }
        }
        if request.op.moves_data() && device.blocks(request) > Command::MAX_BLOCKS {
            return Err(Errno::EINVAL);
        }
        let mut command = match request.op {
            Op::Read => device.rw_command(request, None, &self.options, &self.protection),
            Op::Write => {
                let mode = self.modes.next();
                device.rw_command(request, Some(mode), &self.options, &self.protection)
            }
            Op::Trim => {
                let blocks = request.len / u64::from(device.block);
                let blocks = u32::try_from(blocks).map_err(|_| Errno::EINVAL)?;
                self.units[unit].range = Range::new(device.first_block(request), blocks);
                let mut command = Command::deallocate(device.namespace.id, 1);
                command.data = &raw const self.units[unit].range as u64;
                return Ok(command);
            }
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => {
                return Ok(Command::flush(device.namespace.id));
            }
        };
        if !has_data(&command) {
            return Ok(command);
        }
        let length = u32::try_from(request.len).map_err(|_| Errno::EINVAL)?;
        (command.data, command.data_length) = (request.buffer as u64, length);
        let separate = device.separate_metadata(request) as usize;
        let per_unit = self.protection.metadata_bytes as usize;
        let metadata = self.metadata.get_mut(unit * per_unit..).and_then(|all| all.get_mut(..separate));
        let metadata = metadata.ok_or(Errno::EINVAL)?;
        if separate > 0 {
            (command.metadata, command.metadata_length) = (metadata.as_mut_ptr() as u64, separate as u32);
        }
        if command.opcode == opcode::WRITE
            && let Some(own) = device.own
        {
            // SAFETY: the contract of Request: the buffer is valid for `len` bytes, and nobody else uses it.
            let data = unsafe { std::slice::from_raw_parts_mut(request.buffer, request.len as usize) };
            let sealed: Result<(), Errno> =
                device.for_each_block(request, data, metadata, |lba, data, metadata| {
                    own.fill_in(data, metadata, lba, &self.protection);
                    Ok(())
                });
            sealed?;
        }
        Ok(command)
    }

    fn entry(&mut self, request: &Request, command: &Command) -> Entry128 {
        let unit = request.unit as usize;
        let fixed = self.style == Addressing::Fixed && has_data(command);
        let vectored = self.style == Addressing::Vectored && has_data(command);
        let mut command = *command;
        if vectored {
            self.units[unit].segment =
                libc::iovec { iov_base: request.buffer.cast(), iov_len: request.len as usize };
            (command.data, command.data_length) = (&raw const self.units[unit].segment as u64, 1);
        }
        let operation = if vectored { PASSTHROUGH_VECTORED } else { PASSTHROUGH };
        let entry = if self.register_files {
            UringCmd80::new(Fixed(request.file), operation)
        } else {
            UringCmd80::new(Fd(self.fds[request.file as usize]), operation)
        };
        let entry = entry.cmd(command.encode()).buf_index(fixed.then_some(request.unit as u16)).build();
        let flags = if self.force_async.is_due() { Flags::ASYNC } else { Flags::empty() };
        entry.flags(flags).user_data(u64::from(request.unit))
    }

    /// Replaces the results of the kernel and the device by those of the requests.
    fn settle(&mut self, done: &mut [Completion]) {
        for completion in done {
            let unit = completion.unit as usize;
            let Some(request) = self.units[unit].request.take() else { continue };
            completion.result = match completion.result {
                0 => self.checked(&request),
                errno @ ..0 => errno,
                status => {
                    let status = Status::of(status as u32);
                    let name = &self.names[request.file as usize];
                    self.units[unit].details = Some(format!("io_uring_cmd: {name}: {status}"));
                    -i64::from(libc::EIO)
                }
            };
        }
    }

    /// Checks a request that the device has completed, and returns its result.
    fn checked(&mut self, request: &Request) -> i64 {
        let device = self.files.get(request.file as usize).copied().flatten();
        let (Op::Read, Some(device)) = (request.op, device) else { return request.len.cast_signed() };
        let Some(own) = device.own else { return request.len.cast_signed() };
        // SAFETY: the contract of Request: the buffer is valid for `len` bytes, and the kernel is done with it.
        let data = unsafe { std::slice::from_raw_parts_mut(request.buffer, request.len as usize) };
        let start = request.unit as usize * self.protection.metadata_bytes as usize;
        let metadata = &mut self.metadata[start..][..device.separate_metadata(request) as usize];
        let protection = &self.protection;
        let check = device.for_each_block(request, data, metadata, |lba, data, metadata| {
            own.check(data, metadata, lba, protection)
        });
        match check {
            Ok(()) => request.len.cast_signed(),
            Err(mismatch) => {
                let name = &self.names[request.file as usize];
                self.units[request.unit as usize].details = Some(format!("{name}: {mismatch}"));
                -i64::from(libc::EIO)
            }
        }
    }

    /// The namespace of a file.
    fn device(&self, index: usize, fd: RawFd) -> Result<JobNamespace, EngineError> {
        let name = self.names.get(index).map_or("", String::as_str);
        let refused = |errno: i32, text: String| {
            EngineError::new(format!("open({name})"), io::Error::from_raw_os_error(errno)).hint(text)
        };
        let namespace = Namespace::of(fd).map_err(|error| match error {
            NamespaceError::NoNamespaceId(e) => refused(
                e.raw_os_error().unwrap_or(libc::ENOTTY),
                format!("{name}: failed to fetch namespace-id"),
            ),
            NamespaceError::Identify(e) => refused(
                e.raw_os_error().unwrap_or(libc::EIO),
                format!("{name}: failed to fetch identify namespace"),
            ),
            NamespaceError::NotCharacterDevice | NamespaceError::Format => {
                refused(libc::EINVAL, format!("{name}: the format of this namespace is not supported"))
            }
        })?;
        if let Some(obstacle) = self.needs.obstacle(&namespace) {
            return Err(refused(obstacle.errno, format!("{name}: {}", obstacle.message)));
        }
        JobNamespace::new(namespace, &self.protection)
            .map_err(|text| refused(libc::EOPNOTSUPP, format!("{name}: {text}")))
    }
}

impl Engine for UringCmd {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        let options = &spec.engine_options;
        let iodepth = spec.depth.iodepth;
        let (ring, style) = new_ring(spec, buffers)?;
        let units = iodepth.max(1) as usize;
        let unit = CommandMemory {
            request: None,
            range: Range::default(),
            segment: libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 },
            details: None,
        };
        Ok(UringCmd {
            ring,
            style,
            fds: Vec::new(),
            files: Vec::new(),
            names: spec.files.iter().map(|file| file.path.display().to_string()).collect(),
            register_files: options.ring.registerfiles || options.ring.sqthread_poll,
            files_are_registered: false,
            force_async: EveryNth::new(options.ring.force_async),
            needs: NamespaceNeeds::of(spec),
            options: options.passthrough.clone(),
            protection: options.protection.clone(),
            modes: WriteModeGenerator {
                shares: options.passthrough.write_modes.clone(),
                state: 0x9e37_79b9_7f4a_7c15,
            },
            units: vec![unit; units].into_boxed_slice(),
            metadata: vec![0; options.protection.metadata_bytes as usize * units].into_boxed_slice(),
        })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.fds = files.files.iter().map(OpenFile::raw_fd).collect();
        self.files = vec![None; self.fds.len()];
        for index in 0..self.fds.len() {
            if self.fds[index] >= 0 {
                self.files[index] = Some(self.device(index, self.fds[index])?);
            }
        }
        if !self.register_files {
            return Ok(());
        }
        let submitter = self.ring.submitter();
        if std::mem::take(&mut self.files_are_registered) {
            submitter.unregister_files().map_err(|e| EngineError::new("io_uring_unregister_files", e))?;
        }
        submitter.register_files(&self.fds).map_err(|e| EngineError::new("io_uring_register_files", e))?;
        self.files_are_registered = true;
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        let fd = file.raw_fd();
        self.fds[index] = fd;
        self.files[index] = if fd < 0 { None } else { Some(self.device(index, fd)?) };
        if self.register_files {
            let update = self.ring.submitter().register_files_update(index as u32, &[fd]);
            update.map_err(|e| EngineError::new("io_uring_register_files_update", e))?;
        }
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        let command = match self.command(request) {
            Ok(command) => command,
            Err(errno) => return Submit::Done(-i64::from(errno as i32)),
        };
        let entry = self.entry(request, &command);
        // SAFETY: by the contract of Request, the buffer is valid until the completion is reaped. Metadata, range and segment belong to
        // this engine, whose ring waits for all completions when it is dropped, before them.
        if unsafe { self.ring.push(&entry) } {
            self.units[request.unit as usize].request = Some(*request);
            Submit::Queued
        } else {
            Submit::Full
        }
    }

    fn flush(&mut self) -> io::Result<u32> {
        self.ring.submit()
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let before = done.len();
        self.ring.reap(min, max, done)?;
        self.settle(&mut done[before..]);
        Ok(())
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        let before = done.len();
        let waited = self.ring.reap_within(timeout, max, done)?;
        self.settle(&mut done[before..]);
        Ok(waited)
    }

    fn failure_details(&self, unit: u32) -> Option<String> {
        self.units[unit as usize].details.clone()
    }
}

#[cfg(test)]
mod tests;
