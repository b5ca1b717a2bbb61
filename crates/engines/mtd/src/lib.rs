//! The mtd engine: raw flash, which is read and written in pages and erased in blocks, through its character device (/dev/mtd0).
//!
//! - `device`: the system calls.
//! - `geometry`: page and block sizes.
//!
//! A trim erases. With `skip_bad`, requests skip blocks that are known to be bad; otherwise the kernel decides.

mod device;
mod geometry;

use std::io;

use device::FlashDevice;
use ferrio_engine::{Buffers, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit};
use ferrio_job::JobSpec;
use geometry::{Geometry, RangePiece};

/// `ioengine=mtd`
pub struct Mtd {
    devices: Vec<Option<(FlashDevice, Geometry)>>,
    /// `skip_bad`
    skips_bad: bool,
    /// True if blocks that fail are marked as bad, as in fio.
    marks_bad: bool,
    /// Details of the last failure. I/Os complete in the call, so one is enough.
    details: Option<String>,
}

impl Mtd {
    fn run(&mut self, request: &Request) -> i64 {
        self.details = None;
        let Some((device, geometry)) = self.devices[request.file as usize] else {
            return -i64::from(libc::EBADF);
        };
        let (offset, len) = (request.offset, request.len);
        let allowed = match request.op {
            Op::Read => Ok(()),
            Op::Write => geometry.check_write(offset, len),
            Op::Trim => geometry.check_erase(offset, len),
            // A write is on the medium when it returns.
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => return 0,
        };
        if let Err(why) = allowed {
            self.details = Some(why);
            return -i64::from(libc::EINVAL);
        }
        let mut moved = 0_i64;
        for piece in geometry.pieces(offset, len) {
            match self.run_piece(&device, &geometry, request, piece) {
                Ok(count) => moved += i64::from(count),
                Err(errno) if moved == 0 => return -i64::from(errno),
                // The rest becomes another request, which then fails.
                Err(_) => break,
            }
        }
        moved
    }

    /// Runs a part of a request inside one block; returns the number of bytes.
    fn run_piece(
        &mut self,
        device: &FlashDevice,
        geometry: &Geometry,
        request: &Request,
        piece: RangePiece,
    ) -> Result<u32, i32> {
        if self.skips_bad && device.has_bad_blocks && device.is_bad(piece.block_begin)? {
            return Ok(piece.len);
        }
        // The piece's position in the buffer.
        let buffer = request.buffer.wrapping_add((piece.offset - request.offset) as usize);
        let result = match request.op {
            // SAFETY: the buffer is valid for the bytes of the request, and the piece is inside the request.
            Op::Read => unsafe { device.read(buffer, piece.len, piece.offset) },
            // SAFETY: as above.
            Op::Write => unsafe { device.write(buffer, piece.len, piece.offset) },
            _ => device.erase(piece.block_begin, geometry.erase).map(|()| piece.len),
        };
        if result == Err(libc::EIO) && request.op != Op::Read {
            self.details = Some(format!(
                "the block of {} bytes at {} is bad or worn out; skip_bad=1 passes over bad blocks",
                geometry.erase, piece.block_begin
            ));
            if self.marks_bad && device.has_bad_blocks {
                // The I/O's own error is reported instead.
                let _ = device.mark_bad(piece.block_begin);
            }
        }
        result
    }
}

fn opened(file: &OpenFile) -> Result<Option<(FlashDevice, Geometry)>, EngineError> {
    if file.raw_fd() < 0 {
        return Ok(None);
    }
    FlashDevice::new(file.raw_fd()).map(Some).map_err(|errno| {
        EngineError::new("MEMGETINFO", io::Error::from_raw_os_error(errno)).hint(
            "the file is no raw flash: name a character device such as /dev/mtd0, or use ioengine=psync",
        )
    })
}

impl Engine for Mtd {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(Mtd {
            devices: Vec::new(),
            skips_bad: spec.engine_options.skip_bad,
            marks_bad: spec.compat.marks_bad_blocks,
            details: None,
        })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.devices = files.files.iter().map(opened).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.devices[index] = opened(file)?;
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        Submit::Done(self.run(request))
    }

    fn failure_details(&self, _unit: u32) -> Option<String> {
        self.details.clone()
    }
}

#[cfg(test)]
mod tests {
    use ferrio_engine::testing::{content, file_with, open};
    use ferrio_plan::testing::default_job;

    use super::*;

    #[test]
    fn what_is_no_flash_is_refused_with_the_errno_and_what_to_use() {
        let file = file_with(&content(4096));
        let files = open(&file, libc::O_RDWR).unwrap();
        let buffers = Buffers::new(1, 4096, true).unwrap();
        let mut engine = Mtd::open(&default_job("mtd"), &buffers).unwrap();
        let error = engine.attach(&files).unwrap_err();
        assert_eq!((error.errno(), &*error.func), (libc::ENOTTY, "MEMGETINFO"));
        assert!(error.hint.unwrap().contains("name a character device such as /dev/mtd0"));
    }
}
