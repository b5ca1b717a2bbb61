//! One thread of the pool: it opens the engine, then runs one request after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Instant;

use ferrio_engine::{
    Buffers, Completion, Engine, EngineError, FileSet, Interrupter, OpenFile, Request, Submit,
};
use ferrio_job::{Depth, Diagnostic, JobSpec, Tuning};
use ferrio_stats::Usage;

/// What a thread is asked for.
pub(crate) enum ThreadCommand {
    /// These files from now on.
    Attach(FileSet),
    /// This file from now on, at this place.
    AttachOne(usize, OpenFile),
    /// One I/O.
    Run(Task),
    /// What the thread used so far.
    Usage,
}

/// What a thread answers to everything but I/O, unless the engine refuses.
#[derive(Default)]
pub(crate) struct Answer {
    /// Lines for the user.
    pub(crate) notes: Vec<Diagnostic>,
    /// Ends the request in work; with the answer to the opening of the engine.
    pub(crate) interrupter: Option<Interrupter>,
    /// The thread's counters, if they were asked for.
    pub(crate) usage: Usage,
}

/// The end of one I/O.
pub(crate) struct Ended {
    pub(crate) completion: Completion,
    /// What the device said about a failure.
    pub(crate) failure_details: Option<String>,
    pub(crate) began: Instant,
    pub(crate) at: Instant,
}

/// A request on its way to a thread.
pub(crate) struct Task(pub(crate) Request);

// SAFETY: of a request only `buffer` is not Send. By the contract of Request its bytes belong to the engine from submission until
// the completion is reaped, and no other request in flight uses them; the channels there and back order all accesses. The memory
// outlives the engine, which joins its threads when it is dropped.
unsafe impl Send for Task {}

/// The job as one thread sees it: depth 1, not offloaded. Nothing is registered, because buffers come with the requests.
pub(crate) fn alone(spec: &JobSpec) -> JobSpec {
    let depth = Depth { iodepth: 1, batch: 1, complete_min: 1, complete_max: 1, low: 1 };
    JobSpec { depth, offload: false, tuning: Tuning::Fio, ..spec.clone() }
}

/// Body of a thread: ends when the engine drops its end of the channels.
pub(crate) fn serve<E: Engine>(
    spec: &JobSpec,
    commands: &Receiver<ThreadCommand>,
    answers: &SyncSender<Result<Answer, EngineError>>,
    ended: &SyncSender<Ended>,
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
    let _ = answers.send(Ok(Answer { interrupter: engine.interrupter(), ..Answer::default() }));
    let mut done = Vec::with_capacity(1);
    // Open while the engine uses them.
    let mut attached_files = FileSet::default();
    while let Ok(command) = commands.recv() {
        let sent = match command {
            ThreadCommand::Run(Task(request)) => {
                let began = Instant::now();
                let result = run(&mut engine, &request, &mut done);
                let completion = Completion { unit: request.unit, result };
                let at = Instant::now();
                // The engine has one unit only.
                let failure_details = if result < 0 { engine.failure_details(0) } else { None };
                ended.send(Ended { completion, failure_details, began, at }).is_ok()
            }
            ThreadCommand::Attach(files) => {
                let attached = engine.attach(&files);
                attached_files = files;
                answers.send(attached.map(|()| Answer { notes: engine.notes(), ..Answer::default() })).is_ok()
            }
            ThreadCommand::AttachOne(index, file) => {
                let attached = engine.attach_one(index, &file);
                if let Some(place) = attached_files.files.get_mut(index) {
                    *place = file;
                }
                answers.send(attached.map(|()| Answer::default())).is_ok()
            }
            ThreadCommand::Usage => {
                let (usage, notes) = (Usage::of_this_thread(), engine.notes_at_end());
                answers.send(Ok(Answer { usage, notes, ..Answer::default() })).is_ok()
            }
        };
        if !sent {
            return;
        }
    }
}

/// One request from begin to end: bytes moved or a negated errno. A panic of the engine is an error of the I/O: the job waits
/// for an answer.
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
