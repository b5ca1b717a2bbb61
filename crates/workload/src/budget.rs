//! The amount of work of a job: when a pass ends, and whether another one follows.
//!
//! `size`, `io_size`, `loops` and `number_ios` make one budget over all passes, counted when I/O is issued. Time is unknown here: the
//! worker ends a job whose `runtime` is over.

use ferrio_job::{Direction, JobSpec};

/// The budget of a job, and its use so far.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Issued bytes that count, of all passes.
    counted: u64,
    /// Number of counted bytes at which the job stops issuing.
    byte_limit: u64,
    /// Issued I/Os of all passes.
    ios: u64,
    io_limit: u64,
    /// Issued bytes of this pass in all directions.
    pass: u64,
    pass_limit: u64,
    counts: [bool; 3],
    time_based: bool,
    loops_left: u32,
    /// Bytes of one loop.
    length: u64,
    largest_block: u64,
    has_io_size: bool,
    /// Whether there is only one pass: with `file_append`, later passes would find no region because they begin at the current end of the
    /// file. A log and the order of `sprandom` are replayed once.
    one_pass: bool,
}

impl Budget {
    /// The budget of `spec` before its first pass.
    ///
    /// * The byte limit is `io_size` (else `size`) times `loops`. Reads and writes count in a mix; else only writes, if the job
    ///   writes; else reads; else trims. So the trims of `trimwrite` are free.
    /// * `number_ios` times `loops` limits the I/Os, syncs not counted. `trimwrite` kinds may do twice that, as each write
    ///   comes with a trim.
    /// * A pass of an asynchronous engine also ends when the pass alone has issued `size` bytes: `io_size`, if larger, for writers that are
    ///   sequential or have no random map; and the whole byte limit more for `trimwrite`.
    /// * `time_based` lifts all of these, and a log that is replayed has no limit but `number_ios`; it is replayed once. So is the order of
    ///   `sprandom`, which ends by itself.
    #[must_use]
    pub fn new(spec: &JobSpec) -> Self {
        let limits = &spec.limits;
        let loops = limits.loops.max(1);
        let length = limits.io_size.unwrap_or(limits.size);
        let whole = length.saturating_mul(u64::from(loops));
        let writes = spec.rw.does(Direction::Write);
        let counts = if spec.rw.is_mixed() {
            [true, true, false]
        } else if writes {
            [false, true, false]
        } else {
            [spec.rw.does(Direction::Read), false, spec.rw.does(Direction::Trim)]
        };
        let sized =
            !limits.time_based && spec.replay.is_none() && spec.sprandom.is_none() && spec.events.is_none();
        let free = |limited: bool, limit: u64| if limited { limit } else { u64::MAX };
        let pairs = if spec.rw.is_trimwrite() { 2 } else { 1 };
        let mut pass_limit = limits.size;
        if writes && !(spec.rw.is_random() && spec.random_map) {
            pass_limit = pass_limit.max(length);
        }
        if spec.rw.is_trimwrite() {
            pass_limit = pass_limit.saturating_add(whole);
        }
        Budget {
            counted: 0,
            byte_limit: free(sized, whole),
            ios: 0,
            io_limit: free(
                !limits.time_based && limits.number_ios > 0,
                limits.number_ios.saturating_mul(u64::from(loops)).saturating_mul(pairs),
            ),
            pass: 0,
            pass_limit: free(sized && !spec.engine.is_sync(spec.depth.iodepth), pass_limit),
            counts,
            time_based: limits.time_based,
            loops_left: loops - 1,
            length,
            largest_block: Direction::ALL.into_iter().map(|d| spec.block[d].max).max().unwrap_or(0),
            has_io_size: limits.io_size.is_some(),
            one_pass: spec.file_append
                || spec.replay.is_some()
                || spec.sprandom.is_some()
                || spec.events.is_some(),
        }
    }

    /// Whether the pass may issue more. To be asked before each I/O.
    #[inline]
    #[must_use]
    pub fn may_issue(&self) -> bool {
        self.counted < self.byte_limit && self.ios < self.io_limit && self.pass < self.pass_limit
    }

    /// Counts an issued I/O of `len` bytes. An I/O that waits for a busy engine counts once.
    #[inline]
    pub fn issued(&mut self, direction: Direction, len: u64) {
        self.counted += if self.counts[direction as usize] { len } else { 0 };
        self.pass += len;
        self.ios += 1;
    }

    /// Takes back the I/O that was counted last, because it is not issued.
    #[cold]
    pub fn not_issued(&mut self, direction: Direction, len: u64) {
        self.counted -= if self.counts[direction as usize] { len } else { 0 };
        self.pass -= len;
        self.ios = self.ios.saturating_sub(1);
    }

    /// Ends the ramp: `number_ios` counts from here, including the I/Os in flight. Bytes count from the start of the job.
    pub fn end_ramp(&mut self, in_flight: u64) {
        self.ios = in_flight;
    }

    /// Decides, after a pass that ended without error and before `runtime`, whether another one follows, and starts its count.
    ///
    /// `completed` are the bytes the job transferred so far in all directions, trims included; `files_finished` says that the
    /// pass ended because all files were. A pass that issued nothing is always the last.
    ///
    /// Every loop but the first is one more pass. Then passes follow as long as bytes are missing: not when less than the
    /// largest block of any direction, used or not, is missing, and not when the files are finished and no `io_size`
    /// asks to go over them again.
    pub fn another_pass(&mut self, completed: u64, files_finished: bool) -> bool {
        let moved = std::mem::take(&mut self.pass) > 0;
        if !moved || self.one_pass {
            return false;
        }
        if self.time_based {
            return true;
        }
        if self.loops_left > 0 {
            self.loops_left -= 1;
            return true;
        }
        let missing = self.length.saturating_sub(completed);
        let goes_over_again = !files_finished || self.has_io_size;
        missing > 0 && missing >= self.largest_block && goes_over_again && self.ios < self.io_limit
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::{BlockSizes, Direction, EngineKind, JobSpec, PerDirection, ReadWrite, Seeding};

    use super::Budget;
    use crate::tests::support::{job, run, sequence};

    fn sized(rw: ReadWrite, size: u64, loops: u32) -> JobSpec {
        let mut spec = job();
        spec.rw = rw;
        spec.limits.size = size;
        spec.limits.loops = loops;
        spec
    }

    #[test]
    fn io_size_times_loops_is_one_budget() {
        let mut spec = sized(ReadWrite::Read, 64 << 10, 2);
        spec.limits.io_size = Some(16 << 10);
        assert_eq!(run(&spec), "r0 1 2 3 4 5 6 7");
    }

    #[test]
    fn a_writer_with_a_large_io_size_goes_over_the_file_again() {
        let mut spec = sized(ReadWrite::Write, 32 << 10, 2);
        spec.limits.io_size = Some(48 << 10);
        assert_eq!(run(&spec), format!("w{}", ["0 1 2 3 4 5 6 7"; 3].join(" ")));
    }

    #[test]
    fn a_reader_with_a_large_io_size_does_another_pass() {
        let mut spec = sized(ReadWrite::Read, 32 << 10, 1);
        spec.limits.io_size = Some(48 << 10);
        assert_eq!(run(&spec), "r0 1 2 3 4 5 6 7 0 1 2 3");
    }

    #[test]
    fn less_than_the_largest_block_of_any_direction_is_not_worth_a_pass() {
        let mut spec = sized(ReadWrite::Read, 16 << 10, 1);
        spec.limits.io_size = Some(20 << 10);
        assert_eq!(run(&spec), "r0 1 2 3 0");
        spec.block[Direction::Write] = BlockSizes { min: 8 << 10, max: 8 << 10, align: 8 << 10 };
        assert_eq!(run(&spec), "r0 1 2 3", "though the job never writes");
    }

    #[test]
    fn a_mix_on_a_sync_engine_runs_on_until_a_file_ends() {
        let mut spec = sized(ReadWrite::Mixed, 32 << 10, 2);
        assert_eq!(run(&spec), "r0 1 2 w0 r3 4 w1 2 3 r5 w4 r6 w5 r7 0 1");
        spec.offload = true;
        assert_eq!(run(&spec), "r0 1 2 w0 r3 4 w1 2 3 r5 w4 r6 w5 r7 0 1", "whichever engine does the I/O");
        spec.offload = false;
        spec.engine = EngineKind::Libaio;
        assert_eq!(run(&spec), "r0 1 2 w0 r3 4 w1 2 r0 1 2 w0 r3 4 w1 2");
    }

    #[test]
    fn an_asynchronous_engine_repeats_what_a_sync_engine_continues() {
        let mut spec = sized(ReadWrite::RandRead, 32 << 10, 2);
        spec.random_map = false;
        let continued = sequence(&spec);
        assert_eq!(continued.len(), 16);
        assert_ne!(continued[..8], continued[8..]);
        spec.engine = EngineKind::IoUring;
        let repeated = sequence(&spec);
        assert_eq!(repeated[..8], continued[..8]);
        assert_eq!(repeated[8..], continued[..8]);
    }

    #[test]
    fn trims_count_for_the_question_whether_bytes_are_missing() {
        let mut spec = sized(ReadWrite::RandTrimWrite, 16 << 10, 1);
        spec.limits.io_size = Some(32 << 10);
        assert_eq!(run(&spec), "t3 w3 t0 w0 t2 w2 t1 w1");
    }

    #[test]
    fn number_ios_counts_data_and_twice_for_trimwrite() {
        let mut spec = sized(ReadWrite::Write, 64 << 10, 1);
        spec.limits.number_ios = 4;
        spec.durability.fsync = 2;
        assert_eq!(run(&spec), "w0 1 sync w2 3");
        let mut spec = sized(ReadWrite::TrimWrite, 64 << 10, 1);
        spec.limits.number_ios = 2;
        assert_eq!(run(&spec), "t0 w0 t1 w1");
    }

    #[test]
    fn number_ios_counts_from_the_end_of_the_ramp() {
        let mut spec = sized(ReadWrite::Read, 64 << 10, 1);
        spec.limits.number_ios = 2;
        let mut budget = Budget::new(&spec);
        (0..2).for_each(|_| budget.issued(Direction::Read, 4096));
        assert!(!budget.may_issue());
        budget.end_ramp(1);
        assert!(budget.may_issue());
        budget.issued(Direction::Read, 4096);
        assert!(!budget.may_issue());
    }

    #[test]
    fn number_ios_is_multiplied_by_loops() {
        let mut spec = sized(ReadWrite::Read, 16 << 10, 2);
        spec.limits.number_ios = 3;
        assert_eq!(run(&spec), "r0 1 2 3 0 1");
    }

    #[test]
    fn appending_makes_one_pass_with_the_budget_of_all_loops() {
        let mut spec = sized(ReadWrite::Write, 16 << 10, 3);
        spec.file_append = true;
        assert_eq!(run(&spec), "w0 1 2 3");
        spec.rw = ReadWrite::RandWrite;
        spec.random_map = false;
        assert_eq!(sequence(&spec).len(), 12);
    }

    #[test]
    fn a_rest_smaller_than_the_largest_block_is_left_alone() {
        let mut spec = sized(ReadWrite::Read, 10 << 10, 1);
        spec.block = PerDirection([(); 3].map(|()| BlockSizes { min: 3072, max: 3072, align: 3072 }));
        assert_eq!(sequence(&spec).len(), 3);
    }

    #[test]
    fn loops_of_a_repeatable_job_repeat_and_with_a_seed_run_on() {
        let mut spec = sized(ReadWrite::RandRead, 32 << 10, 2);
        assert_eq!(run(&spec), "r7 6 5 4 0 1 2 3 7 6 5 4 0 1 2 3");
        spec.seeding = Seeding::Fixed(137);
        assert_eq!(run(&spec), "r7 6 5 4 0 1 2 3 6 5 4 7 3 0 1 2");
    }

    #[test]
    fn a_time_based_job_never_runs_out() {
        let mut spec = sized(ReadWrite::Read, 16 << 10, 1);
        spec.limits.time_based = true;
        spec.limits.number_ios = 2;
        assert_eq!(sequence(&spec).len(), crate::tests::support::MOST);
    }
}
