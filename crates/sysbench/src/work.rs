//! The options of the tests that do no I/O: `cpu`, `threads`, `mutex` and `memory`.

use ferrio_job::{EventWork, MemoryOperation};

use crate::command_line::SysbenchCommandLine;
use crate::general::GeneralOptions;
use crate::log::{Level, Log, Refusal};
use crate::options::SysbenchOption;
use crate::report::SysbenchTest;

/// A test without I/O.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkTest {
    /// `cpu`
    Cpu {
        /// `--cpu-max-prime`
        max_prime: u32,
    },
    /// `threads`
    Threads {
        /// `--thread-yields`
        yields: u64,
        /// `--thread-locks`
        locks: u32,
    },
    /// `mutex`
    Mutex {
        /// `--mutex-num`
        mutexes: u32,
        /// `--mutex-locks`
        locks: u64,
        /// `--mutex-loops`
        loops: u64,
    },
    /// `memory`
    Memory(MemoryTest),
}

/// The test `memory`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryTest {
    /// `--memory-block-size`, a power of two.
    pub block: u64,
    /// `--memory-total-size`
    pub total_size: Option<u64>,
    /// `--memory-scope=global`: all threads use one block.
    pub is_global: bool,
    /// `--memory-oper`
    pub operation: MemoryOperation,
    /// `--memory-access-mode=rnd`
    pub is_random: bool,
    /// `--memory-hugetlb`
    pub in_huge_pages: bool,
}

impl WorkTest {
    /// The options of `cpu`.
    ///
    /// # Errors
    /// A value makes no sense; so for the other tests.
    pub fn cpu(line: &SysbenchCommandLine, log: &Log) -> Result<Self, Refusal> {
        Ok(WorkTest::Cpu { max_prime: line.at_least(SysbenchOption::CpuMaxPrime, 1, log)? })
    }

    /// The options of `threads`.
    pub fn threads(line: &SysbenchCommandLine, log: &Log) -> Result<Self, Refusal> {
        let yields = line.at_least(SysbenchOption::ThreadYields, 0, log)?.into();
        Ok(WorkTest::Threads { yields, locks: line.at_least(SysbenchOption::ThreadLocks, 1, log)? })
    }

    /// The options of `mutex`.
    pub fn mutex(line: &SysbenchCommandLine, log: &Log) -> Result<Self, Refusal> {
        let mutexes = line.at_least(SysbenchOption::MutexNum, 1, log)?;
        let locks = line.at_least(SysbenchOption::MutexLocks, 1, log)?.into();
        Ok(WorkTest::Mutex {
            mutexes,
            locks,
            loops: line.at_least(SysbenchOption::MutexLoops, 0, log)?.into(),
        })
    }

    /// The options of `memory`.
    pub fn memory(line: &SysbenchCommandLine, log: &Log) -> Result<Self, Refusal> {
        let size = SysbenchOption::MemoryBlockSize;
        let block = line.size(size);
        if block < 8 || !block.is_power_of_two() {
            let given = line.text(size).unwrap_or_default();
            return Err(log.refuse(&format!("Invalid value for memory-block-size: {given}")));
        }
        let operations = [
            ("write", MemoryOperation::Write),
            ("read", MemoryOperation::Read),
            ("none", MemoryOperation::None),
        ];
        let total = line.text(SysbenchOption::MemoryTotalSize).unwrap_or("0");
        let total_size = line.size(SysbenchOption::MemoryTotalSize);
        if total_size == 0 && !total.starts_with('0') {
            return Err(log.refuse(&format!("Invalid value for memory-total-size: {total}")));
        }
        Ok(WorkTest::Memory(MemoryTest {
            block,
            total_size: Some(total_size).filter(|&size| size > 0),
            is_global: line.word(SysbenchOption::MemoryScope, &[("global", true), ("local", false)], log)?,
            operation: line.word(SysbenchOption::MemoryOper, &operations, log)?,
            is_random: line.word(SysbenchOption::MemoryAccessMode, &[("seq", false), ("rnd", true)], log)?,
            in_huge_pages: line.flag(SysbenchOption::MemoryHugetlb),
        }))
    }

    /// Writes the lines of the header about this test.
    pub fn header(&self, log: &Log) {
        match self {
            WorkTest::Cpu { max_prime } => {
                log.text(Level::Info, "Doing CPU performance benchmark\n\n");
                log.text(Level::Notice, &format!("Prime numbers limit: {max_prime}\n\n"));
            }
            WorkTest::Threads { yields, locks } => {
                log.text(
                    Level::Info,
                    &format!(
                        "Doing thread subsystem performance test\nThread yields per test: {yields} Locks used: {locks}\n"
                    ),
                );
            }
            WorkTest::Mutex { .. } => log.text(Level::Info, "Doing mutex performance test\n"),
            WorkTest::Memory(memory) => log.text(Level::Notice, &memory.header()),
        }
    }

    /// The test in reports.
    pub fn reported(&self) -> SysbenchTest {
        match self {
            WorkTest::Cpu { .. } => SysbenchTest::Cpu,
            WorkTest::Threads { .. } | WorkTest::Mutex { .. } => SysbenchTest::Plain,
            WorkTest::Memory(memory) => SysbenchTest::Memory {
                block: memory.block,
                transfers: memory.operation != MemoryOperation::None,
            },
        }
    }

    /// The work of an event, in a run with this many threads.
    pub fn event(&self, threads: u32) -> EventWork {
        match *self {
            WorkTest::Cpu { max_prime } => EventWork::Primes { below: max_prime },
            WorkTest::Threads { yields, locks } => EventWork::Yields { yields, locks },
            WorkTest::Mutex { mutexes, locks, loops } => EventWork::Mutexes { mutexes, locks, loops },
            WorkTest::Memory(ref memory) => {
                let MemoryTest { block, is_global, operation, is_random, in_huge_pages, .. } = *memory;
                EventWork::Memory {
                    block,
                    is_shared: is_global,
                    operation,
                    is_random,
                    in_huge_pages,
                    // Each thread has the same share.
                    times: memory.blocks_of_a_thread(threads),
                }
            }
        }
    }

    /// Warns if the threads do not transfer the whole `--memory-total-size`, of which each has the same number of whole blocks.
    pub fn warn_of_rest(&self, threads: u32, log: &Log) {
        if let WorkTest::Memory(memory) = self
            && let Some(warning) = memory.rest_warning(threads)
        {
            log.line(Level::Warning, &warning);
        }
    }

    /// Events to do in all. The test `memory` ends by the bytes it has transferred alone, as in sysbench.
    pub fn events(&self, general: &GeneralOptions, log: &Log) -> Option<u64> {
        if !matches!(self, WorkTest::Memory(_)) {
            return general.events;
        }
        if general.events.is_some() {
            let message = "--events has no effect on the test 'memory': --memory-total-size limits it";
            log.line(Level::Warning, message);
        }
        None
    }
}

impl MemoryTest {
    /// Blocks that each of so many threads transfers, if there is a limit.
    fn blocks_of_a_thread(&self, threads: u32) -> Option<u64> {
        self.total_size.map(|size| size / self.block / u64::from(threads))
    }

    fn rest_warning(&self, threads: u32) -> Option<String> {
        let (total, block) = (self.total_size?, self.block);
        let blocks = self.blocks_of_a_thread(threads)?;
        let round = u128::from(block) * u128::from(threads);
        let moved = round * u128::from(blocks);
        (moved != u128::from(total)).then(|| {
            format!(
                "only {moved} of the {total} bytes of --memory-total-size are transferred: each of the {threads} threads \
                 transfers the same number of blocks of {block} bytes, {blocks}. Use a multiple of {round} bytes."
            )
        })
    }

    fn header(&self) -> String {
        let operation = match self.operation {
            MemoryOperation::Read => "read",
            MemoryOperation::Write => "write",
            MemoryOperation::None => "none",
        };
        format!(
            "Running memory speed test with the following options:\n  block size: {}KiB\n  total size: {}MiB\n  \
             operation: {operation}\n  scope: {}\n\n",
            self.block >> 10,
            self.total_size.unwrap_or(0) >> 20,
            if self.is_global { "global" } else { "local" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing;

    fn read(
        read: fn(&SysbenchCommandLine, &Log) -> Result<WorkTest, Refusal>,
        text: &str,
    ) -> (Option<(WorkTest, Option<u64>)>, String) {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let (log, out, _) = testing::log();
        let line = SysbenchCommandLine::read(&words, &log).unwrap();
        let general = GeneralOptions::read(&line, &log).unwrap();
        let work = read(&line, &log).ok();
        if let Some(work) = &work {
            work.header(&log);
        }
        (work.map(|work| (work.clone(), work.events(&general, &log))), out.text())
    }

    #[test]
    fn headers_are_those_of_sysbench() {
        assert_eq!(read(WorkTest::cpu, "--cpu-max-prime=1000").1, "Prime numbers limit: 1000\n\n");
        let doing = "Doing thread subsystem performance test\nThread yields per test: 1000 Locks used: 8\n";
        assert_eq!(read(WorkTest::threads, "--verbosity=4").1, doing);
        let (_, header) = read(WorkTest::memory, "--memory-total-size=1G --memory-oper=none");
        insta::assert_snapshot!(header, @r"
        Running memory speed test with the following options:
          block size: 1KiB
          total size: 1024MiB
          operation: none
          scope: global

        ");
    }

    #[test]
    fn values_without_sense_are_refused() {
        for (test, option, message) in [
            (
                WorkTest::cpu as fn(&SysbenchCommandLine, &Log) -> _,
                "--cpu-max-prime=0",
                "Invalid value of cpu-max-prime: 0.",
            ),
            (WorkTest::threads, "--thread-locks=0", "Invalid value of thread-locks: 0."),
            (WorkTest::mutex, "--mutex-num=-1", "Invalid value of mutex-num: -1."),
            (WorkTest::memory, "--memory-block-size=3K", "Invalid value for memory-block-size: 3K"),
            (WorkTest::memory, "--memory-total-size=x", "Invalid value for memory-total-size: x"),
            (WorkTest::memory, "--memory-oper=foo", "Invalid value for memory-oper: foo"),
            (WorkTest::memory, "--memory-scope=", "Invalid value for memory-scope: "),
        ] {
            assert_eq!(read(test, option), (None, format!("FATAL: {message}\n")), "{option}");
        }
    }

    #[test]
    fn a_total_that_threads_and_blocks_do_not_divide_is_not_transferred_in_silence() {
        let warning = |options: &str, threads| {
            let (work, _) = read(WorkTest::memory, options).0.unwrap();
            let (log, out, _) = testing::log();
            work.warn_of_rest(threads, &log);
            out.text()
        };
        assert_eq!(
            warning("--memory-block-size=64M --memory-total-size=640M", 16),
            "WARNING: only 0 of the 671088640 bytes of --memory-total-size are transferred: each of the 16 threads transfers the \
             same number of blocks of 67108864 bytes, 0. Use a multiple of 1073741824 bytes.\n"
        );
        assert_eq!(warning("--memory-block-size=64M --memory-total-size=640M", 5), "");
        assert_eq!(warning("--memory-total-size=1M", 4), "");
        assert_eq!(warning("--memory-total-size=0", 7), "");
        for (options, threads, moved) in
            [("1M", 3, "only 1047552 of the 1048576 bytes"), ("1500", 1, "only 1024 of the 1500 bytes")]
        {
            let text = warning(&format!("--memory-total-size={options}"), threads);
            assert!(text.contains(moved), "{text}");
        }
    }

    #[test]
    fn threads_share_the_events_and_each_has_its_part_of_the_memory() {
        let events = |test, text: &str| {
            let ((work, events), out) = (read(test, text).0.unwrap(), read(test, text).1);
            (events, work.event(3).events_of_a_job(), out.contains("WARNING: --events has no effect"))
        };
        assert_eq!(events(WorkTest::mutex, ""), (None, Some(1), false));
        assert_eq!(events(WorkTest::mutex, "--events=2"), (Some(2), Some(1), false));
        assert_eq!(events(WorkTest::memory, "--memory-total-size=1M"), (None, Some(341), false));
        assert_eq!(events(WorkTest::memory, "--memory-total-size=1500 --events=7"), (None, Some(0), true));
        assert_eq!(events(WorkTest::memory, "--memory-total-size=0"), (None, None, false));
        assert_eq!(events(WorkTest::cpu, "--events=5"), (Some(5), None, false));
    }
}
