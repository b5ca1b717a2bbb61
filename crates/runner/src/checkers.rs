//! `verify_async`: threads that check the blocks which a job has read, while the job goes on reading.
//!
//! The job lends them the buffer of each block and takes it back, with what they found, when it needs one. What follows from a bad block is
//! the job's business. The queues have room for all buffers, so that neither side ever waits for room, and nothing is allocated.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use ferrio_engine::LentSlot;
use ferrio_job::{Diagnostic, JobSpec, Prefix, Verify};
use ferrio_stats::Usage;
use ferrio_verify::{Expected, Mismatch, Verifier};

use crate::failure::Failure;
use crate::{placement, worker_limits};

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
    /// What its header must contain.
    pub(crate) expected: Expected,
    /// What was read.
    pub(crate) data: LentSlot,
}

/// What a thread found.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) block: Block,
    pub(crate) found: Found,
}

#[derive(Debug)]
pub(crate) enum Found {
    Sound,
    Bad(Box<Mismatch>),
    /// The check itself went wrong.
    Panic,
}

/// The threads of one job.
#[derive(Debug)]
pub(crate) struct Checkers {
    /// To the threads, which share the other end. `None` when they are to end.
    blocks: Option<SyncSender<Block>>,
    checked: Receiver<Checked>,
    threads: Vec<JoinHandle<()>>,
    /// What each has used, by its last reading.
    usage: Arc<[Mutex<Usage>]>,
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
        let usage: Arc<[Mutex<Usage>]> = (0..count).map(|_| Mutex::default()).collect();
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
                    false => placement::run_on(cpus.into_iter().map(|cpu| cpu as usize)),
                };
                let is_placed = placed.is_ok();
                let _ = started_sender.send(placed);
                if is_placed {
                    check_blocks(&verifier, &inbox, &outbox, &usage[number as usize]);
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
    pub(crate) fn lend(&mut self, block: Block) {
        if let Some(blocks) = &self.blocks
            && blocks.send(block).is_ok()
        {
            self.lent += 1;
        }
    }

    /// The next block that was checked. `wait` for one, if any is still out.
    pub(crate) fn take_back(&mut self, wait: bool) -> Option<Checked> {
        if self.lent == 0 {
            return None;
        }
        let checked = if wait { self.checked.recv().ok() } else { self.checked.try_recv().ok() }?;
        self.lent -= 1;
        Some(checked)
    }

    /// CPU time of the threads so far.
    pub(crate) fn usage(&self) -> Usage {
        let mut sum = Usage::default();
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
    verifier: &Verifier,
    inbox: &Mutex<Receiver<Block>>,
    outbox: &SyncSender<Checked>,
    usage: &Mutex<Usage>,
) {
    let read_usage = || *usage.lock().unwrap_or_else(PoisonError::into_inner) = Usage::of_this_thread();
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
        let Some(mut block) = next else { return read_usage() };
        let check = || verifier.check(&mut block.data, block.offset, &block.expected);
        let found = match catch_unwind(AssertUnwindSafe(check)) {
            Ok(Ok(())) => Found::Sound,
            Ok(Err(mismatch)) => Found::Bad(mismatch),
            Err(_) => Found::Panic,
        };
        blocks += 1;
        if blocks.is_multiple_of(BLOCKS_PER_READING) {
            read_usage();
        }
        if outbox.send(Checked { block, found }).is_err() {
            return read_usage();
        }
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
    use ferrio_verify::{Stamp, VerifySpec};

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
                let block = buffers.fill(unit, 4096);
                let stamp = Stamp { offset, seed: 3, number: 0, time: Duration::ZERO };
                verifier.fill(block, &stamp, |body, seed| body.fill(seed as u8)).unwrap();
                block[2000] ^= u8::from(round == 7 && unit == 5);
                let expected = Expected::default();
                checkers.lend(Block { unit, file: 0, offset, expected, data: buffers.lend(unit, 4096) });
            }
            found.extend((0..8).map(|_| checkers.take_back(true).unwrap()));
            assert!(checkers.take_back(true).is_none(), "nothing is out");
        }
        let bad: Vec<u64> = found
            .iter()
            .filter(|checked| matches!(checked.found, Found::Bad(_)))
            .map(|checked| checked.block.offset)
            .collect();
        assert_eq!(bad, [(7 * 8 + 5) * 4096]);
        let mut offsets: Vec<u64> = found.iter().map(|checked| checked.block.offset / 4096).collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..400).collect::<Vec<_>>());
        checkers.end();
        let usage = checkers.usage();
        assert!(usage.user_us + usage.system_us > 0, "{usage:?}");
    }

    #[test]
    fn threads_run_where_they_are_told_to() {
        let (checkers, ..) = rig("verify_async=1\nverify_async_cpus=0\n");
        assert!(checkers.is_some());
    }
}
