//! Failed I/Os: the job counts the error and continues, or it ends with a line for the user and an error for the report.

use ferrio_engine::{Engine, Op, Request};
use ferrio_job::{Diagnostic, EngineKind, IoPriority, Severity};
use ferrio_machine::DirectIo;

use super::IoLoop;
use super::slots::is_data;
use crate::failure::Failure;
use crate::placement::refused_priority;

impl<E: Engine> IoLoop<'_, E> {
    /// The engine or the kernel refused a request.
    #[cold]
    pub(super) fn fail_io(&mut self, request: &Request, errno: i32) {
        if let Some(failure) = self.hooks.events.as_ref().and_then(|events| events.failure(request, errno)) {
            return self.fail(failure);
        }
        if self.spec.fill_device && request.op == Op::Write && matches!(errno, libc::ENOSPC | libc::EDQUOT) {
            // Full: what the job was to do is done.
            self.note_error(request, errno);
            self.forget(request);
            return self.context.control.request_stop();
        }
        if let Some(blocks) = &mut self.hooks.blocks {
            blocks.failed(request);
        }
        // A database that cannot make its changes durable does not go on.
        let is_vital =
            !is_data(request.op) && self.hooks.events.as_ref().is_some_and(|events| events.is_in_database());
        let in_call = self.synchronous || !is_data(request.op);
        let tolerated = !is_vital && self.tolerates(request.op == Op::Read, errno, in_call);
        if !tolerated || self.spec.tolerance.reports_each {
            self.note_error(request, errno);
        }
        self.forget(request);
        if tolerated {
            return;
        }
        let mut failure = Failure::new(errno, "io_u error");
        if errno == libc::EINVAL
            && self.spec.opening.direct
            && self.meter.directions.iter().all(|d| d.bytes == 0)
        {
            let cause = self.misalignment(request);
            failure = failure.note(
                "direct-io-refused",
                cause.filter(|_| !self.spec.compat.has_words_of_fio).unwrap_or_else(|| "first direct IO errored. File system may not support direct IO, or the block size is not a multiple of \
                 the sector size. Try setting direct=0.".to_owned()),
            );
        }
        if errno == libc::EOVERFLOW && self.hooks.zones.is_some() {
            let message = format!(
                "{}: Exceeded max_active_zones limit. Check conditions of zones out of I/O ranges.",
                self.file_name(request.file)
            );
            failure = failure.note("active-zones-exceeded", message);
        }
        if errno == libc::EINVAL && self.spec.engine == EngineKind::Splice {
            failure = failure.note("splice-refused", "looks like splice doesn't work on this file system");
        }
        if request.priority != self.hooks.priority
            && let Some(advice) = refused_priority(IoPriority::from_bits(request.priority), Some(errno))
        {
            failure = failure.note("priority-refused", advice);
        }
        self.fail(failure);
    }

    /// A request moved nothing: the file ends before it.
    #[cold]
    pub(super) fn fail_at_end(&mut self, request: &Request) {
        let verification = self.hooks.verification.as_ref();
        let is_checked = verification.is_some_and(|verification| verification.is_checking(request.unit));
        self.forget(request);
        if !self.synchronous && !self.spec.offload && self.spec.compat.empty_transfers_succeed && !is_checked
        {
            // To fio, an asynchronous I/O that moves nothing is one of 0 bytes. Blocks to check must be there.
            return;
        }
        if self.tolerates(request.op == Op::Read, libc::EIO, self.synchronous) {
            return;
        }
        self.fail(Failure::new(libc::EIO, "full resid").note(
            "file-too-short",
            format!(
                "{} is shorter than the job expects: nothing to transfer at offset {}",
                self.file_name(request.file),
                request.offset
            ),
        ));
    }

    /// A block is not what was written. `by_thread`: a thread of `verify_async` found that out.
    #[cold]
    pub(super) fn fail_check(&mut self, by_thread: bool) {
        if self.tolerates(true, libc::EILSEQ, self.synchronous) {
            if self.spec.verify.as_ref().is_some_and(|verify| verify.fatal) {
                self.context.control.request_stop();
            }
            return;
        }
        let func = match (by_thread, self.synchronous) {
            (true, _) => "async_verify",
            (false, true) => "io_u_sync_complete",
            (false, false) => "io_u_queued_complete",
        };
        self.fail(Failure::new(libc::EILSEQ, func));
    }

    #[cold]
    pub(super) fn fail(&mut self, failure: Failure) {
        // The first error is the cause; later ones are usually its echo.
        self.failure.get_or_insert(failure);
    }

    /// Describes the misalignment of a direct I/O, in the words of `ferrio check`; `None` if it is aligned as its file requires.
    fn misalignment(&self, request: &Request) -> Option<String> {
        let path = &self.spec.files.get(request.file as usize)?.path;
        let DirectIo::Aligned(align) = DirectIo::on(path) else { return None };
        let used = [("block size", request.len), ("offset", request.offset)];
        let (what, value) = used.into_iter().find(|(_, value)| !value.is_multiple_of(align))?;
        let path = path.display();
        Some(format!("direct=1 with {what} {value}, but {path} requires multiples of {align}"))
    }

    pub(super) fn file_name(&self, file: u32) -> String {
        self.spec.files.get(file as usize).map_or_else(String::new, |f| f.path.display().to_string())
    }

    /// Counts an error that the job continues after. False for one that ends it. That one only fio counts, if the job continues after
    /// others of its class and the call that submitted the request reported it: of queued requests fio counts none.
    fn tolerates(&mut self, is_read: bool, errno: i32, in_call: bool) -> bool {
        let tolerated = self.spec.tolerance.tolerates(errno, is_read);
        let counts_fatal = in_call && self.spec.compat.counts_fatal_errors;
        if tolerated || counts_fatal && self.spec.tolerance.has_class_of(errno, is_read) {
            self.meter.count_error(errno);
        }
        tolerated
    }

    /// Blocks that were not written are not read back.
    fn forget(&mut self, request: &Request) {
        if is_data(request.op)
            && let Some(verification) = &mut self.hooks.verification
        {
            verification.failed(request.unit);
        }
        if self.hooks.zones.is_some() {
            self.fail_in_zone(request);
        }
    }

    fn note_error(&self, request: &Request, errno: i32) {
        let action = request.op.name();
        let words = ferrio_job::strerror(errno);
        let message = format!(
            "io_u error on file {}: {words}: {action} offset={}, buflen={}",
            self.file_name(request.file),
            request.offset,
            request.len
        );
        self.context
            .note(Diagnostic { severity: Severity::Error, ..Diagnostic::note(message) }.code("io-error"));
        if let Some(details) = self.engine.failure_details(request.unit) {
            self.context.note(Diagnostic::note(details).code("io-error-details"));
        }
    }
}
