//! One thread of the pool: opens the engine, then runs requests one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Instant;

use ferrio_engine::{
    Buffers, Completion, Engine, EngineError, FileSet, Interrupter, OpenFile, Request, Submit,
};
use ferrio_job::{Depth, Diagnostic, JobSpec, Tuning};
use ferrio_stats::ThreadUsage;

/// A command for a thread.
pub(crate) enum ThreadCommand {
    /// Replaces all files.
    Attach(FileSet),
    /// Replaces the file with this index.
    AttachOne(usize, OpenFile),
    /// Runs one I/O.
    Run(ThreadTask),
    /// Returns the resources that the thread has used.
    ThreadUsage,
}

/// A thread's answer to every command but `Run`.
#[derive(Default)]
pub(crate) struct ThreadAnswer {
    /// Notes for the user.
    pub(crate) notes: Vec<Diagnostic>,
    /// Ends the request in progress; only in the answer to opening the engine.
    pub(crate) interrupter: Option<Interrupter>,
    /// The thread's counters, if they were asked for.
    pub(crate) usage: ThreadUsage,
}

/// A completed I/O.
pub(crate) struct FinishedIo {
    pub(crate) completion: Completion,
    /// The device's details of a failure.
    pub(crate) failure_details: Option<String>,
    pub(crate) began: Instant,
    pub(crate) at: Instant,
}

/// A request for a thread.
pub(crate) struct ThreadTask(pub(crate) Request);

// SAFETY: of a request only `buffer` is not Send. By the contract of Request its bytes belong to the engine from submission until the
// completion is reaped, and no other request in flight uses them; the channels order all accesses. The memory outlives the engine, which
// joins its threads on drop.
unsafe impl Send for ThreadTask {}

/// The job for a single thread: depth 1, not offloaded. No buffers are registered, as they come with the requests.
pub(crate) fn alone(spec: &JobSpec) -> JobSpec {
    let depth = Depth { iodepth: 1, batch: 1, complete_min: 1, complete_max: 1, low: 1 };
    JobSpec { depth, offload: false, tuning: Tuning::Fio, ..spec.clone() }
}

/// Body of a thread; ends when the engine drops its end of the channels.
pub(crate) fn serve<E: Engine>(
    spec: &JobSpec,
    commands: &Receiver<ThreadCommand>,
    answers: &SyncSender<Result<ThreadAnswer, EngineError>>,
    ended: &SyncSender<FinishedIo>,
) {
    // Requests come with their buffers; engines that register buffers are not offloaded.
    let opened = Buffers::new(1, 1, false)
        .map_err(|e| EngineError::new("mmap", e))
        .and_then(|buffers| E::open(spec, &buffers).map(|engine| (engine, buffers)));
    let (mut engine, _buffers) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let _ = answers.send(Err(error));
            return;
        }
    };
    let _ = answers.send(Ok(ThreadAnswer { interrupter: engine.interrupter(), ..ThreadAnswer::default() }));
    let mut done = Vec::with_capacity(1);
    // Kept open while the engine uses the files.
    let mut attached_files = FileSet::default();
    while let Ok(command) = commands.recv() {
        let sent = match command {
            ThreadCommand::Run(ThreadTask(request)) => {
                let began = Instant::now();
                let result = run(&mut engine, &request, &mut done);
                let completion = Completion { unit: request.unit, result };
                let at = Instant::now();
                // The engine has one unit only.
                let failure_details = if result < 0 { engine.failure_details(0) } else { None };
                ended.send(FinishedIo { completion, failure_details, began, at }).is_ok()
            }
            ThreadCommand::Attach(files) => {
                let attached = engine.attach(&files);
                attached_files = files;
                answers
                    .send(
                        attached.map(|()| ThreadAnswer { notes: engine.notes(), ..ThreadAnswer::default() }),
                    )
                    .is_ok()
            }
            ThreadCommand::AttachOne(index, file) => {
                let attached = engine.attach_one(index, &file);
                if let Some(place) = attached_files.files.get_mut(index) {
                    *place = file;
                }
                answers.send(attached.map(|()| ThreadAnswer::default())).is_ok()
            }
            ThreadCommand::ThreadUsage => {
                let (usage, notes) = (ThreadUsage::of_this_thread(), engine.notes_at_end());
                answers.send(Ok(ThreadAnswer { usage, notes, ..ThreadAnswer::default() })).is_ok()
            }
        };
        if !sent {
            return;
        }
    }
}

/// Runs one request: bytes moved or a negated errno. A panic of the engine becomes an error of the I/O, as the job waits for the result.
fn run<E: Engine>(engine: &mut E, request: &Request, done: &mut Vec<Completion>) -> i64 {
    // The engine has one unit only.
    let request = Request { unit: 0, ..*request };
    catch_unwind(AssertUnwindSafe(|| {
        match engine.submit(&request) {
            Submit::Done(result) => return result,
            Submit::Queued => {}
            Submit::Full => return -i64::from(libc::EAGAIN),
        }
        done.clear();
        let reaped = engine.flush().and_then(|_| engine.reap(1, 1, done));
        match (reaped, done.first()) {
            (Ok(()), Some(completion)) => completion.result,
            (Err(error), _) => -i64::from(error.raw_os_error().unwrap_or(libc::EIO)),
            (Ok(()), None) => -i64::from(libc::EIO),
        }
    }))
    .unwrap_or(-i64::from(libc::EFAULT))
}
