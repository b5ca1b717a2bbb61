//! Lines of the I/O log (`write_iolog`): one for each request of the loop, none for what the loop makes of it on its own (requests that
//! are submitted again, the rest of short transfers).

use ferrio_engine::{Engine, Request};

use super::Issuer;
use crate::failure::Failure;

impl<E: Engine> Issuer<'_, E> {
    /// Records a request before its first submission. False when the log broke, which ends the job.
    #[cold]
    #[inline(never)]
    pub(super) fn record(&mut self, request: &Request) -> bool {
        let recorded = self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.io(request));
        recorded.map_err(|failure| self.fail(failure)).is_ok()
    }

    /// Records that a file is closed while others are at work.
    pub(super) fn record_close(&mut self, file: usize) -> Result<(), Failure> {
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.closed(file as u32))
    }

    /// Records that a file was synced after the pass.
    pub(super) fn record_final_sync(&mut self, file: usize) -> Result<(), Failure> {
        let unit = self.free.last().copied().unwrap_or(0);
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.final_sync(file as u32, unit))
    }

    /// Ends the log: all files are closed.
    pub(crate) fn end_recording(&mut self) -> Result<(), Failure> {
        self.recorder.take().map_or(Ok(()), |recorder| recorder.finish())
    }
}
