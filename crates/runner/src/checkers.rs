//! `verify_async`: threads that check the blocks which a job has read, while the job goes on reading.
//!
//! The job lends them the buffer of each block and takes it back, with what they found, when it needs one. What follows from a bad block is
//! the job's business. The queues have room for all buffers, so that neither side ever waits for room, and nothing is allocated.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use ferrio_engine::LentSlot;
use ferrio_job::{Diagnostic, JobSpec, Prefix, Verify};
use ferrio_machine::run_on;
use ferrio_stats::ThreadUsage;
use ferrio_verify::{BlockMismatch, ExpectedHeader, Verifier};

use crate::failure::Failure;
use crate::worker_limits;

/// Stack of a thread: digests are computed in place.
const STACK: usize = 128 << 10;
/// A thread that always has something to do tells what it has used after so many blocks.
const BLOCKS_PER_READING: u32 = 256;

/// A block on its way to a thread and back.
#[derive(Debug)]
pub(crate) struct Block {
    /// Unit of the job that has read it, and whose buffer this is.
    pub(crate) unit: u32,
    /// Index of the file.
    pub(crate) file: u32,
    /// Where it lies in the file, bytes.
    pub(crate) offset: u64,
    /// The required contents of its header.
    pub(crate) expected: ExpectedHeader,
    /// The data that was read.
    pub(crate) data: LentSlot,
}

/// A block that a thread has checked.
#[derive(Debug)]
pub(crate) struct CheckedBlock {
    pub(crate) block: Block,
    pub(crate) outcome: CheckOutcome,
}

/// The result of a check.
#[derive(Debug)]
pub(crate) enum CheckOutcome {
    Sound,
    Bad(Box<BlockMismatch>),
    /// The check itself went wrong: nothing is known of the block.
    Nothing,
}

/// Threads that ended with blocks that they had not checked.
#[derive(Debug)]
pub(crate) struct LostBlocks {
    /// How many.
    pub(crate) count: u32,
}

/// The threads of one job.
#[derive(Debug)]
pub(crate) struct Checkers {
    /// To the threads, which share the other end. `None` when they are to end.
    blocks: Option<SyncSender<Block>>,
    checked: Receiver<CheckedBlock>,
    threads: Vec<JoinHandle<()>>,
    /// CPU use of each thread at its last reading.
    usage: Arc<[Mutex<ThreadUsage>]>,
    /// Blocks that have not come back.
    lent: u32,
}

impl Checkers {
    /// Starts the threads of a job; `None` if the job checks its blocks itself. They inherit everything from the calling worker.
    pub(crate) fn start(
        spec: &JobSpec,
        verify: &Verify,
        verifier: &Arc<Verifier>,
    ) -> Result<Option<Self>, Failure> {
        let count = spec.verify_threads();
        if count == 0 {
            return Ok(None);
        }
        let units = spec.units() as usize;
        let (blocks, inbox) = sync_channel(units);
        let (outbox, checked) = sync_channel(units);
        let inbox = Arc::new(Mutex::new(inbox));
        let usage: Arc<[Mutex<ThreadUsage>]> = (0..count).map(|_| Mutex::default()).collect();
        let (started_sender, started) = sync_channel(1);
        let mut checkers = Checkers { blocks: Some(blocks), checked, threads: Vec::new(), usage, lent: 0 };
        for number in 0..count {
            let (inbox, outbox, started_sender) =
                (Arc::clone(&inbox), outbox.clone(), started_sender.clone());
            let (verifier, usage, cpus) =
                (Arc::clone(verifier), Arc::clone(&checkers.usage), verify.thread_cpus.clone());
            let thread = Builder::new().name(format!("verify-{number}")).stack_size(STACK).spawn(move || {
                let placed = match cpus.is_empty() {
                    true => Ok(()),
                    false => run_on(cpus.into_iter().map(|cpu| cpu as usize)),
                };
                let is_placed = placed.is_ok();
                let _ = started_sender.send(placed);
                if is_placed {
                    let check =
                        |block: &mut Block| verifier.check(&mut block.data, block.offset, &block.expected);
                    check_blocks(check, &inbox, &outbox, &usage[number as usize]);
                }
            });
            let started = thread.and_then(|thread| {
                checkers.threads.push(thread);
                started.recv().unwrap_or_else(|_| Err(io::Error::from_raw_os_error(libc::EAGAIN)))
            });
            started.map_err(|error| cannot_start(&error, number))?;
        }
        Ok(Some(checkers))
    }

    /// Has a block checked.
    ///
    /// # Errors
    /// There is no thread left that could.
    pub(crate) fn lend(&mut self, block: Block) -> Result<(), LostBlocks> {
        self.lent += 1;
        match self.blocks.as_ref().map(|blocks| blocks.send(block)) {
            Some(Ok(())) => Ok(()),
            // What was checked before can be taken back.
            _ => {
                self.lent -= 1;
                Err(LostBlocks { count: 1 })
            }
        }
    }

    /// The next block that was checked. `wait` for one, if any is still out.
    ///
    /// # Errors
    /// Blocks are out, and no thread is left that could check them.
    pub(crate) fn take_back(&mut self, wait: bool) -> Result<Option<CheckedBlock>, LostBlocks> {
        if self.lent == 0 {
            return Ok(None);
        }
        let next = if wait {
            self.checked.recv().map_err(|_| TryRecvError::Disconnected)
        } else {
            self.checked.try_recv()
        };
        match next {
            Ok(checked) => {
                self.lent -= 1;
                Ok(Some(checked))
            }
            Err(TryRecvError::Empty) => Ok(None),
            // No block that is out will come back.
            Err(TryRecvError::Disconnected) => Err(LostBlocks { count: std::mem::take(&mut self.lent) }),
        }
    }

    /// True while blocks are with threads.
    pub(crate) fn have_blocks(&self) -> bool {
        self.lent > 0
    }

    /// CPU time of the threads so far.
    pub(crate) fn usage(&self) -> ThreadUsage {
        let mut sum = ThreadUsage::default();
        self.usage.iter().for_each(|usage| sum.merge(&usage.lock().unwrap_or_else(PoisonError::into_inner)));
        sum
    }

    /// Ends the threads. From now on their usage is all of it.
    pub(crate) fn end(&mut self) {
        self.blocks = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Checkers {
    fn drop(&mut self) {
        self.end();
    }
}

/// Body of a thread: ends when the job drops its end of the queue.
fn check_blocks(
    check: impl Fn(&mut Block) -> Result<(), Box<BlockMismatch>>,
    inbox: &Mutex<Receiver<Block>>,
    outbox: &SyncSender<CheckedBlock>,
    usage: &Mutex<ThreadUsage>,
) {
    let read_usage = || *usage.lock().unwrap_or_else(PoisonError::into_inner) = ThreadUsage::of_this_thread();
    let mut blocks = 0_u32;
    loop {
        let next = {
            // Who waits for a block holds the lock; the others wait for the lock.
            let inbox = inbox.lock().unwrap_or_else(PoisonError::into_inner);
            match inbox.try_recv() {
                Err(TryRecvError::Empty) => {
                    read_usage();
                    inbox.recv().ok()
                }
                next => next.ok(),
            }
        };
        let Some(block) = next else { return read_usage() };
        let mut block = BlockInCheck { block: Some(block), outbox };
        let outcome = match block.block.as_mut().map(&check) {
            Some(Ok(())) => CheckOutcome::Sound,
            Some(Err(mismatch)) => CheckOutcome::Bad(mismatch),
            None => CheckOutcome::Nothing,
        };
        blocks += 1;
        if blocks.is_multiple_of(BLOCKS_PER_READING) {
            read_usage();
        }
        if !block.give_back(outcome) {
            return read_usage();
        }
    }
}

/// A block that a thread checks. It goes back to the job even if the check panics.
struct BlockInCheck<'a> {
    block: Option<Block>,
    outbox: &'a SyncSender<CheckedBlock>,
}

impl BlockInCheck<'_> {
    /// False when the job is gone.
    fn give_back(&mut self, outcome: CheckOutcome) -> bool {
        self.block.take().is_none_or(|block| self.outbox.send(CheckedBlock { block, outcome }).is_ok())
    }
}

impl Drop for BlockInCheck<'_> {
    fn drop(&mut self) {
        self.give_back(CheckOutcome::Nothing);
    }
}

/// The thread after `started` others cannot be started, or not run where it should.
fn cannot_start(error: &io::Error, started: u32) -> Failure {
    let message = format!("only {started} verify threads started, exiting");
    let note = Diagnostic::note(message).code("verify-threads").prefix(Prefix::Program);
    let mut failure = Failure::from_io(error, "verify_async");
    failure.notes.push(note);
    failure.notes.extend(worker_limits::advice(error));
    failure
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ferrio_engine::Buffers;
    use ferrio_plan::testing::spec_of;
    use ferrio_verify::{VerifySpec, WriteStamp};

    use super::*;

    const OPTIONS: &str = "[a]\nioengine=psync\nfilename=/tmp/x\nsize=64k\nrw=read\nverify=crc32c\n";

    /// The threads of a job with these options, with its verifier and buffers.
    fn rig(options: &str) -> (Option<Checkers>, Arc<Verifier>, Buffers) {
        let spec = spec_of(&format!("{OPTIONS}{options}"));
        let verify = spec.verify.as_ref().unwrap();
        let verifier = Arc::new(Verifier::new(VerifySpec::of(&spec, verify).unwrap()).unwrap());
        let checkers = Checkers::start(&spec, verify, &verifier).unwrap();
        (checkers, verifier, Buffers::new(spec.units(), 4096, false).unwrap())
    }

    #[test]
    fn a_job_checks_its_blocks_itself_unless_it_asks_for_threads_and_has_something_to_check() {
        assert!(rig("").0.is_none());
        assert!(rig("verify_async=2\nverify=null\n").0.is_none());
        assert!(rig("verify_async=2\nrw=write\ndo_verify=0\n").0.is_none());
        assert_eq!(rig("verify_async=2\n").0.unwrap().threads.len(), 2);
    }

    #[test]
    fn every_block_comes_back_with_what_was_found() {
        let (checkers, verifier, mut buffers) = rig("verify_async=3\nioengine=io_uring\niodepth=8\n");
        let mut checkers = checkers.unwrap();
        let mut found = Vec::new();
        for round in 0..50_u64 {
            for unit in 0..8 {
                let offset = (round * 8 + u64::from(unit)) * 4096;
                let block = buffers.fill_unless_lent(unit, 4096).unwrap();
                let stamp = WriteStamp { offset, seed: 3, number: 0, time: Duration::ZERO };
                verifier.fill(block, &stamp, |body, seed| body.fill(seed as u8)).unwrap();
                block[2000] ^= u8::from(round == 7 && unit == 5);
                let expected = ExpectedHeader::default();
                let data = buffers.lend(unit, 4096).unwrap();
                checkers.lend(Block { unit, file: 0, offset, expected, data }).unwrap();
            }
            found.extend((0..8).map(|_| {
                let CheckedBlock { block, outcome } = checkers.take_back(true).unwrap().unwrap();
                (block.offset / 4096, matches!(outcome, CheckOutcome::Bad(_)))
            }));
            assert!(checkers.take_back(true).unwrap().is_none(), "nothing is out");
        }
        found.sort_unstable();
        let wanted = (0..400).map(|block| (block, block == 7 * 8 + 5));
        assert_eq!(found, wanted.collect::<Vec<_>>());
        checkers.end();
        let usage = checkers.usage();
        assert!(usage.user_us + usage.system_us > 0, "{usage:?}");
    }

    #[test]
    fn threads_run_where_they_are_told_to() {
        let (checkers, ..) = rig("verify_async=1\nverify_async_cpus=0\n");
        assert!(checkers.is_some());
    }

    /// A job whose only thread checks like this.
    fn with_thread(
        check: impl Fn(&mut Block) -> Result<(), Box<BlockMismatch>> + Send + 'static,
        ends_at_once: bool,
    ) -> Checkers {
        let (blocks, inbox) = sync_channel(8);
        let (outbox, checked) = sync_channel(8);
        let thread = std::thread::spawn(move || {
            if !ends_at_once {
                check_blocks(check, &Mutex::new(inbox), &outbox, &Mutex::default());
            }
        });
        Checkers { blocks: Some(blocks), checked, threads: vec![thread], usage: Arc::new([]), lent: 0 }
    }

    fn block(buffers: &mut Buffers, unit: u32) -> Block {
        let data = buffers.lend(unit, 4096).unwrap();
        Block { unit, file: 0, offset: 0, expected: ExpectedHeader::default(), data }
    }

    #[test]
    fn a_check_that_panics_gives_its_block_back_as_unchecked_and_those_behind_it_are_lost() {
        let mut buffers = Buffers::new(4, 4096, false).unwrap();
        let (all_lent, may_panic) = sync_channel::<()>(1);
        let check = move |_: &mut Block| {
            let _ = may_panic.recv();
            panic!("a check of a test that panics")
        };
        let mut checkers = with_thread(check, false);
        for unit in 0..3 {
            assert!(checkers.lend(block(&mut buffers, unit)).is_ok());
        }
        all_lent.send(()).unwrap();
        let first = checkers.take_back(true).unwrap().unwrap();
        assert!(matches!(first.outcome, CheckOutcome::Nothing) && first.block.unit == 0);
        assert_eq!(checkers.take_back(true).unwrap_err().count, 2);
        assert!(checkers.take_back(true).unwrap().is_none(), "nothing is waited for");
        assert_eq!(checkers.lend(block(&mut buffers, 3)).unwrap_err().count, 1);
    }

    #[test]
    fn a_result_can_be_taken_back_when_no_thread_is_left_for_the_next_block() {
        let mut buffers = Buffers::new(2, 4096, false).unwrap();
        let mut checkers = with_thread(|_| panic!("a check of a test that panics"), false);
        checkers.lend(block(&mut buffers, 0)).unwrap();
        checkers.threads.drain(..).for_each(|thread| drop(thread.join()));
        assert_eq!(checkers.lend(block(&mut buffers, 1)).unwrap_err().count, 1);
        assert_eq!(checkers.take_back(true).unwrap().unwrap().block.unit, 0);
        assert!(checkers.take_back(true).unwrap().is_none());
    }

    #[test]
    fn threads_that_have_ended_lose_no_block_silently() {
        let mut buffers = Buffers::new(2, 4096, false).unwrap();
        let mut checkers = with_thread(|_| Ok(()), true);
        // A block that is sent before the thread ends is lost with it.
        while checkers.lend(block(&mut buffers, 0)).is_ok() {
            let lost = loop {
                match checkers.take_back(true) {
                    Ok(_) => {}
                    Err(lost) => break lost,
                }
            };
            assert_eq!(lost.count, 1);
        }
        assert!(!checkers.have_blocks());
    }
}
