//! What happens when an I/O fails: one line for the user, one error for the report.

use ferrio_engine::{Engine, Op, Request};

use super::Issuer;
use crate::failure::Failure;
use crate::worker::Message;

impl<E: Engine> Issuer<'_, E> {
    #[cold]
    pub(super) fn fail_io(&mut self, request: &Request, errno: i32) {
        let action = match request.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Fsync => "sync",
            Op::Fdatasync => "datasync",
            Op::SyncFileRange(_) => "sync_file_range",
        };
        let words = crate::failure::strerror(&std::io::Error::from_raw_os_error(errno));
        let line = format!(
            "io_u error on file {}: {words}: {action} offset={}, buflen={}",
            self.file_name(request.file),
            request.offset,
            request.len
        );
        let _ = self.context.messages.send(Message::IoError(line));
        let mut failure = Failure::new(errno, "io_u error");
        if errno == libc::EINVAL && self.spec.direct && self.directions.iter().all(|d| d.bytes == 0) {
            failure = failure.note(
                "first direct IO errored. File system may not support direct IO, or the block size is no multiple of the \
                 device's sectors. Try setting direct=0.",
            );
        }
        self.fail(failure);
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        // The first error is the cause; later ones are usually its echo.
        self.failure.get_or_insert(failure);
    }

    pub(super) fn file_name(&self, file: u32) -> String {
        self.spec.files.get(file as usize).map_or_else(String::new, |f| f.path.display().to_string())
    }
}
