//! Whether the memory limit of the control group allows the buffers of another job. The kernel promises memory without having it, and kills
//! the program when that is used: all jobs and the report would be lost.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use ferrio_job::{JobSpec, Plan};
use ferrio_machine::cgroup_memory_left;

use crate::failure::Failure;

/// Memory that main needs until the report is written.
const MAIN: u64 = 16 << 20;
/// For the stack and the figures of each job.
const JOB: u64 = 128 << 10;
/// Buffers of this size and less are not refused: they are not what a run fails for.
const SMALL: u64 = 1 << 20;

/// The memory that a run may use.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    /// Bytes for the buffers of all jobs; `None` without a limit.
    left: Option<u64>,
    taken: AtomicU64,
}

/// The part of one job, which is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct BufferShare<'a> {
    limit: &'a MemoryLimit,
    bytes: u64,
}

impl MemoryLimit {
    /// For a run that begins now. The kernel is not asked on behalf of small buffers.
    pub(crate) fn of_run(plan: &Plan) -> Self {
        let matters = plan.jobs.iter().any(|job| buffer_bytes(&job.spec) > SMALL);
        let left = if matters { cgroup_memory_left() } else { None };
        Self::new(left.map(|left| left.saturating_sub(MAIN + JOB * plan.jobs.len() as u64)))
    }

    pub(crate) fn new(left: Option<u64>) -> Self {
        MemoryLimit { left, taken: AtomicU64::new(0) }
    }

    /// Takes memory for `bytes` of buffers.
    ///
    /// # Errors
    /// ENOMEM, if other jobs have left too little.
    pub(crate) fn share(&self, spec: &JobSpec, bytes: u64) -> Result<BufferShare<'_>, Failure> {
        // Huge pages have limits of their own, and a file can be written back.
        let counts = !spec.memory.kind.is_huge() && spec.memory.file.is_none();
        let Some(left) = self.left.filter(|_| counts && bytes > SMALL) else {
            return Ok(BufferShare { limit: self, bytes: 0 });
        };
        // What does not fit must not be counted even for a moment, in which it would push out another job.
        let with_bytes = |taken: u64| taken.checked_add(bytes).filter(|&sum| sum <= left);
        let taken = match self.taken.fetch_update(Relaxed, Relaxed, with_bytes) {
            Ok(_) => return Ok(BufferShare { limit: self, bytes }),
            Err(taken) => taken,
        };
        let free = left.saturating_sub(taken) >> 20;
        let message = format!(
            "the memory limit of the control group leaves {free} MiB for the buffers of the job, which needs {} MiB: raise it \
             (memory.max), use a smaller bs or iodepth, or run fewer jobs at once",
            bytes.div_ceil(1 << 20)
        );
        Err(Failure::new(libc::ENOMEM, "init buffers").note("memory-limit", message))
    }
}

impl Drop for BufferShare<'_> {
    fn drop(&mut self) {
        self.limit.taken.fetch_sub(self.bytes, Relaxed);
    }
}

/// Bytes of one buffer.
pub(crate) fn buffer_of(spec: &JobSpec) -> u64 {
    if spec.engine.does_io() { spec.max_buffer() } else { 0 }
}

/// Bytes of all buffers that an engine fills or reads.
pub(crate) fn buffer_bytes(spec: &JobSpec) -> u64 {
    if spec.engine.moves_data() && !spec.layout.create_only {
        buffer_of(spec).saturating_mul(spec.units().into())
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use ferrio_plan::testing::default_job;

    #[test]
    fn buffers_fit_until_the_limit_and_again_when_a_job_has_ended() {
        let spec = default_job("psync");
        let limit = MemoryLimit::new(Some(10 << 20));
        let first = limit.share(&spec, 8 << 20).unwrap();
        assert_eq!(limit.share(&spec, 4 << 20).unwrap_err().error.errno, libc::ENOMEM);
        assert!(limit.share(&spec, SMALL).is_ok(), "small buffers are not refused");
        drop(first);
        assert!(limit.share(&spec, 10 << 20).is_ok());
        assert!(MemoryLimit::new(None).share(&spec, u64::MAX).is_ok());
    }

    #[test]
    fn a_job_that_does_not_fit_takes_nothing_from_others() {
        let spec = default_job("psync");
        let limit = MemoryLimit::new(Some(10 << 20));
        let is_over = AtomicBool::new(false);
        let (refused, fitted) = thread::scope(|scope| {
            let large = scope.spawn(|| {
                let mut refused = 0;
                loop {
                    refused += u32::from(limit.share(&spec, 11 << 20).is_err());
                    if is_over.load(Relaxed) {
                        return refused;
                    }
                }
            });
            let fitted = (0..20_000).filter(|_| limit.share(&spec, 2 << 20).is_ok()).count();
            is_over.store(true, Relaxed);
            (large.join().unwrap(), fitted)
        });
        assert!(refused > 0);
        assert_eq!(fitted, 20_000);
    }
}
