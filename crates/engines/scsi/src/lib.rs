//! The sg engine: SCSI commands instead of system calls for reads and writes, to SCSI generic devices (/dev/sg0) and SCSI disks
//! (/dev/sda).
//!
//! - `cdb`: commands, byte by byte.
//! - `requests`: the command for each I/O.
//! - `passthrough`: the system call that sends it to the device.
//! - `sense`: the device's error reports in words.

pub mod cdb;
mod passthrough;
mod requests;
pub mod sense;

use std::os::fd::RawFd;

use cdb::{Capacity, Cdb};
use ferrio_engine::{Buffers, Engine, EngineError, FileSet, OpenFile, Request, Submit};
use ferrio_job::{JobSpec, SgWriteMode};
use passthrough::{CommandData, CommandError};
use requests::{CommandOptions, ScsiCommand, UnsupportedIo};

/// fio's message if a query before the I/O fails.
const UNSUCCESSFUL: &str =
    "ioengine sg unable to successfully execute read capacity to get block size and maximum lba";

/// `ioengine=sg`
pub struct Sg {
    devices: Vec<SgDevice>,
    commands: CommandOptions,
    /// True if completions are polled for.
    polled: bool,
    /// True if a stream is opened for each device (`stream_id=0`).
    opens_streams: bool,
    /// Details of the last failure. I/Os complete in the call, so one is enough.
    details: Option<String>,
}

/// An open device.
#[derive(Clone, Copy, Debug, Default)]
struct SgDevice {
    fd: RawFd,
    /// Block size in bytes; 0 for a file that is closed.
    block: u32,
    /// Stream of the writes; closed at the end if this engine opened it.
    stream: u16,
    opened_stream: bool,
}

impl Sg {
    fn device(&self, file: &OpenFile) -> Result<SgDevice, EngineError> {
        let fd = file.raw_fd();
        if fd < 0 {
            return Ok(SgDevice::default());
        }
        let capacity = capacity(fd)?;
        let mut device =
            SgDevice { fd, block: capacity.block, stream: self.commands.stream, opened_stream: false };
        if self.opens_streams {
            device.stream = open_stream(fd)?;
            device.opened_stream = true;
        }
        Ok(device)
    }

    fn run(&mut self, request: &Request) -> i64 {
        let device = self.devices[request.file as usize];
        let command =
            match self.commands.command(request.op, request.offset, request.len, device.block, device.stream)
            {
                Ok(command) => command,
                Err(UnsupportedIo(why)) => {
                    self.details = Some(why);
                    return -i64::from(libc::EINVAL);
                }
            };
        let moved = request.len.cast_signed();
        // An I/O moves its length, even where one block is written many times or the device generates the blocks.
        let list;
        let (cdb, data, counts) = match command {
            ScsiCommand::NoData(cdb) => (cdb, CommandData::None, false),
            ScsiCommand::DataIn(cdb, len) => (cdb, CommandData::In(request.buffer, len), true),
            ScsiCommand::DataOut(cdb, len) => {
                (cdb, CommandData::Out(request.buffer, len), u64::from(len) == request.len)
            }
            ScsiCommand::ParameterList(cdb, bytes) => {
                list = bytes;
                (cdb, CommandData::Out(list.as_ptr(), list.len() as u32), false)
            }
        };
        // SAFETY: the buffer is valid for `len` bytes until the request completes, and nobody else uses it. A list lives until the call
        // returns.
        match unsafe { self.execute(&device, &cdb, data) } {
            Ok(residual) if counts => moved - i64::from(residual),
            Ok(_) => moved,
            Err(errno) => -i64::from(errno),
        }
    }

    /// Executes a command. Returns the number of bytes that were not transferred, or an errno.
    ///
    /// # Safety
    /// See [`passthrough::execute`].
    unsafe fn execute(&mut self, device: &SgDevice, cdb: &Cdb, data: CommandData) -> Result<u32, i32> {
        // SAFETY: by the contract of this function.
        unsafe { passthrough::execute(device.fd, cdb, data, self.polled) }.map_err(|failed| match failed {
            CommandError::Call(errno) => {
                self.details = None;
                errno
            }
            CommandError::ScsiCommand(text) => {
                self.details = Some(text);
                libc::EIO
            }
        })
    }

    fn close_streams(&mut self) {
        for device in self.devices.iter_mut().filter(|device| device.opened_stream) {
            device.opened_stream = false;
            // SAFETY: there is no data. A failure is ignored: the stream is closed when the device is reset.
            let _ = unsafe {
                passthrough::execute(device.fd, &cdb::close_stream(device.stream), CommandData::None, false)
            };
        }
    }
}

/// Sends a command that the device answers with `N` bytes.
fn query<const N: usize>(fd: RawFd, command: &Cdb) -> Result<[u8; N], CommandError> {
    let mut answer = [0; N];
    let data = CommandData::In(answer.as_mut_ptr(), N as u32);
    // SAFETY: the answer lives until the call returns.
    unsafe { passthrough::execute(fd, command, data, false) }?;
    Ok(answer)
}

/// Queries the size of a device and of its blocks.
fn capacity(fd: RawFd) -> Result<Capacity, EngineError> {
    let answer = query(fd, &cdb::read_capacity_10()).map_err(unsuccessful)?;
    let capacity = match Capacity::from_10(&answer) {
        Some(capacity) => capacity,
        None => Capacity::from_16(&query(fd, &cdb::read_capacity_16()).map_err(unsuccessful)?),
    };
    if capacity.block == 0 {
        return Err(unsuccessful(CommandError::ScsiCommand("the device has blocks of 0 bytes".to_owned())));
    }
    Ok(capacity)
}

fn unsuccessful(failed: CommandError) -> EngineError {
    let (errno, why) = match failed {
        CommandError::Call(errno) => {
            let device =
                "it is no SCSI device; name one such as /dev/sg0 or /dev/sda, or use ioengine=io_uring";
            (errno, device.to_owned())
        }
        CommandError::ScsiCommand(why) => (libc::EIO, why),
    };
    EngineError::new("SG_IO", std::io::Error::from_raw_os_error(errno)).hint(format!("{UNSUCCESSFUL}: {why}"))
}

fn open_stream(fd: RawFd) -> Result<u16, EngineError> {
    query(fd, &cdb::open_stream()).map(|answer| cdb::opened_stream(&answer)).map_err(|failed| {
        let (errno, why) = match failed {
            CommandError::Call(errno) => (errno, String::new()),
            CommandError::ScsiCommand(why) => (libc::EIO, format!(": {why}")),
        };
        EngineError::new("open stream", std::io::Error::from_raw_os_error(errno))
            .hint(format!("the device opens no stream; give one that is open with stream_id{why}"))
    })
}

impl Engine for Sg {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let options = &spec.engine_options;
        Ok(Sg {
            devices: Vec::new(),
            commands: CommandOptions {
                write_mode: options.sg.write_mode,
                read_fua: options.sg.fua_reads,
                write_fua: options.sg.fua_writes,
                stream: options.sg.stream_id,
            },
            polled: options.calls.hipri,
            opens_streams: options.sg.write_mode == SgWriteMode::WriteStream && options.sg.stream_id == 0,
            details: None,
        })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.close_streams();
        self.devices = files.files.iter().map(|file| self.device(file)).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.devices[index] = self.device(file)?;
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        Submit::Done(self.run(request))
    }

    fn failure_details(&self, _unit: u32) -> Option<String> {
        self.details.clone()
    }
}

impl Drop for Sg {
    fn drop(&mut self) {
        self.close_streams();
    }
}

#[cfg(test)]
mod tests;
