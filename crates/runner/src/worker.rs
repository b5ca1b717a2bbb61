//! The life of one worker thread: set up, wait for release, do the passes, clean up, return the figures.
//!
//! Everything here happens once per job or once per pass. What happens once per I/O is in [`crate::io_loop`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use ferrio_engine::prefetch::prefetch_words;
use ferrio_engine::{Buffers, Engine, EngineError};
use ferrio_job::{Diagnostic, FileSpec, JobSpec, Prefix, debug_class};
use ferrio_machine::thread_id;
use ferrio_results::{JobResult, JobState};
use ferrio_workload::{BufferContents, LayoutContent, Region, Workload};
use log::debug;

use crate::block_states::BlockStates;
use crate::context::{Context, Message, Snapshot};
use crate::failure::Failure;
use crate::io_loop::{Hooks, IoLoop};
use crate::iolog::Iolog;
use crate::layout::{FileLayout, LayoutEnd};
use crate::log_reader::LogReader;
use crate::memory_limit::{buffer_bytes, buffer_of};
use crate::timing::clock_ms;
use crate::verification::Verification;
use crate::zones::JobZones;
use crate::{close, commands, open, placement, pre_read, verify_state};

/// The progress of a worker.
#[derive(Debug, Default)]
struct SetUpProgress {
    /// True once main knows that the job is ready.
    announced: bool,
    /// Everything is there but the open files.
    set_up: bool,
}

/// Body of the worker thread, with the engine that `open_engine` opens. A panic becomes the job's error.
pub(crate) fn run<E: Engine>(
    mut context: Context<'_>,
    open_engine: impl FnOnce(&JobSpec, &Buffers) -> Result<E, EngineError>,
) {
    let (layout, zones) = (context.layout.take(), context.zones.take());
    let context = context;
    let mut result = Box::<JobResult>::default();
    result.pid = thread_id();
    context.control.pid.store(result.pid, Relaxed);
    let mut progress = SetUpProgress::default();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        work(&context, open_engine, layout, zones, &mut result, &mut progress)
    }));
    let failure = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure),
        Err(panic) => Some(Failure::new(libc::EFAULT, format!("panic: {}", panic_text(&*panic)))),
    };
    if !progress.announced {
        context.arrive(false);
    }
    if let Some(failure) = failure {
        context.note_all(failure.notes);
        let excused = failure.excusable && context.spec.compat.excuses_failed_set_up;
        result.error = (!excused).then_some(failure.error);
    }
    debug!(target: debug_class::PROCESS, job = context.spec.number; "job {}: thread ends", context.spec.number);
    context.control.open_files.store(0, Relaxed);
    let (index, set_up) = (context.index, progress.set_up);
    let _ = context.messages.send(Message::Ended { index, result, set_up });
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

fn work<E: Engine>(
    context: &Context<'_>,
    open_engine: impl FnOnce(&JobSpec, &Buffers) -> Result<E, EngineError>,
    laid_out: Option<LayoutContent>,
    zones: Option<Box<JobZones>>,
    result: &mut JobResult,
    progress: &mut SetUpProgress,
) -> Result<(), Failure> {
    let Context { spec, control, .. } = *context;
    let mut note = |diagnostic| context.note(diagnostic);
    control.set_state(JobState::SettingUp);
    let reader = LogReader::start(spec)?;
    let _placement = placement::apply(context)?;
    let _share = context.memory_limit.share(spec, buffer_bytes(spec))?;
    let Some(mut io_loop) = set_up(context, open_engine, laid_out, zones, reader, progress)? else {
        return Ok(());
    };
    // What a command does to the files must be seen by the opens. Sessions begin before any of their events.
    let opens_late = !context.begins_at_once() && !context.has_session();
    if !opens_late {
        pre_read(context)?;
        io_loop.open(&mut note)?;
    }
    context.address_space.after_set_up()?;
    context.note_all(io_loop.engine.notes());

    control.set_state(JobState::Initialized);
    progress.announced = true;
    context.arrive(true);
    context.gate.wait_for_start();

    if opens_late {
        commands::prerun(context)?;
        let opened = pre_read(context).and_then(|()| io_loop.open(&mut note));
        opened.inspect_err(|_| commands::postrun(context))?;
    }
    if let Some(flow) = &context.flow {
        flow.join();
    }
    // 0 is no start at all, and there are clocks that begin there.
    result.start_ms = clock_ms(spec.measure.start_clock).max(1);
    control.start_ms.store(result.start_ms, Relaxed);
    let outcome = passes(spec, &mut io_loop, &mut note);
    // The error of the I/O itself matters more than that of its log.
    let outcome = outcome.and(io_loop.end_iolog()).and(io_loop.end_buffers());
    finish(context, io_loop, result);
    outcome
}

/// Everything but the placement and the opens. `None` for a job that is over already.
///
/// It has functions of its own for what it makes, and gets that in boxes: what one of them needs on the stack and what another or the
/// passes need do not add up. A run may have thousands of stacks, and each takes as much memory as its deepest calls have touched.
#[inline(never)]
fn set_up<'a, E: Engine>(
    context: &'a Context<'_>,
    open_engine: impl FnOnce(&JobSpec, &Buffers) -> Result<E, EngineError>,
    mut laid_out: Option<LayoutContent>,
    zones: Option<Box<JobZones>>,
    mut reader: Option<LogReader>,
    progress: &mut SetUpProgress,
) -> Result<Option<Box<IoLoop<'a, E>>>, Failure> {
    let spec = context.spec;
    if !spec.layout.create_serialize {
        laid_out = lay_out(context)?;
        if laid_out.is_none() {
            return Ok(None);
        }
    }
    if spec.layout.create_only {
        progress.set_up = true;
        only_create(context)?;
        return Ok(None);
    }
    let buffer = buffer_of(spec);
    let buffers = Buffers::allocate(&spec.memory, spec.units(), buffer, needs_page_buffers(spec))
        .map_err(|e| Failure::from_engine(&e))?;
    let control = context.control;
    buffers.watch(|| control.request_stop()).map_err(|e| Failure::from_engine(&e))?;
    if spec.engine.moves_data() {
        buffers.populate();
    }
    let kind = spec.memory.kind.word();
    debug!(target: "mem", job = spec.number; "{} buffers of {} bytes, mem={kind}", spec.units(), spec.max_buffer());
    let mut engine = open_engine(spec, &buffers).map_err(|e| Failure::from_engine(&e))?;
    context.control.set_interrupter(engine.interrupter());
    let iolog = Iolog::new(spec, context.clock)?;
    let mut workload = workload(context)?;
    if let Some(feed) = reader.as_mut().and_then(|reader| reader.take_feed(context.control)) {
        workload.feed(feed);
    }
    if let Some(group) = &context.events {
        workload.join(Arc::clone(&group.events));
    }
    let content = content(context, laid_out)?;
    let verification = verification(context, &workload)?;
    let hooks = Hooks::new(context, verification, BlockStates::of(spec)?, iolog, zones, reader);
    let io_loop = IoLoop::new(context, engine, buffers, workload, content, hooks);
    progress.set_up = true;
    Ok(Some(io_loop))
}

/// True if buffers must begin at a page: of all files of a database, the log alone may be open with O_DIRECT.
fn needs_page_buffers(spec: &JobSpec) -> bool {
    let log_is_direct = || spec.database().is_some_and(|(database, _)| database.log.direct);
    spec.opening.direct || spec.engine.needs_page_buffers() || log_is_direct()
}

/// Lays the files out. `None` if the job was stopped meanwhile.
#[inline(never)]
fn lay_out(context: &Context<'_>) -> Result<Option<LayoutContent>, Failure> {
    let Context { spec, control, .. } = *context;
    let mut content = LayoutContent::new(spec, context.entropy).map_err(|e| Failure::from_workload(&e))?;
    let stopped = || control.stop_requested();
    let note = &mut |diagnostic| context.note(diagnostic);
    let done = FileLayout { spec, content: &mut content, stop: &stopped, note }.lay_out()?;
    Ok((done != LayoutEnd::Stopped).then_some(content))
}

/// `create_only`: what there is to do beside the layout.
#[inline(never)]
fn only_create(context: &Context<'_>) -> Result<(), Failure> {
    commands::prerun(context)?;
    commands::postrun(context);
    if context.spec.layout.unlink {
        open::unlink(context.spec, &mut |diagnostic| context.note(diagnostic))?;
    }
    Ok(())
}

#[inline(never)]
fn workload(context: &Context<'_>) -> Result<Box<Workload>, Failure> {
    let spec = context.spec;
    let region = |file: &FileSpec| Region { offset: file.offset, size: file.size, real_size: file.real_size };
    let regions: Vec<Region> = spec.files.iter().map(region).collect();
    let mut workload =
        Workload::new(spec, &regions, context.entropy).map_err(|e| Failure::from_workload(&e))?;
    workload.fetch_with(prefetch_words);
    if workload.lost_its_map() {
        let message = "no memory for the random map, running without it: offsets may repeat";
        context.note(Diagnostic::note(message).code("random-map-dropped").prefix(Prefix::Job));
    }
    Ok(Box::new(workload))
}

#[inline(never)]
fn content(context: &Context<'_>, laid_out: Option<LayoutContent>) -> Result<BufferContents, Failure> {
    match laid_out {
        Some(laid_out) => Ok(BufferContents::after_layout(context.spec, laid_out)),
        None => BufferContents::new(context.spec, context.entropy).map_err(|e| Failure::from_workload(&e)),
    }
}

#[inline(never)]
fn verification(context: &Context<'_>, workload: &Workload) -> Result<Option<Box<Verification>>, Failure> {
    let Context { spec, entropy, ref progress, ref coverage, .. } = *context;
    let without_map = without_map(spec, workload);
    let spec = without_map.as_deref().unwrap_or(spec);
    Verification::new(spec, entropy, progress.clone(), coverage.clone())
}

/// The job as it is if its random map was dropped: it may write to one place more than once.
#[cold]
#[inline(never)]
fn without_map(spec: &JobSpec, workload: &Workload) -> Option<Box<JobSpec>> {
    workload.lost_its_map().then(|| Box::new(JobSpec { random_map: false, ..spec.clone() }))
}

/// The figures, and what follows the I/O.
#[inline(never)]
fn finish<E: Engine>(context: &Context<'_>, mut io_loop: Box<IoLoop<'_, E>>, result: &mut JobResult) {
    let Context { spec, control, .. } = *context;
    let mut note = |diagnostic| context.note(diagnostic);
    control.set_state(JobState::Finishing);
    save_state(context);
    io_loop.search_note().into_iter().for_each(|note| context.note(note));
    let files = io_loop.take_files();
    let figures = io_loop.final_snapshot();
    context.note_all(io_loop.engine.notes_at_end());
    drop(io_loop);
    if spec.life.runs_commands() {
        // The command after the I/O may take long: reports meanwhile show how the job ended.
        send_figures(context, &figures);
    }
    *result = figures.result;
    debug!(target: debug_class::FILE, job = spec.number; "close {} files", files.files.len());
    commands::postrun(context);
    let closed = close::close_all(spec, files);
    let removed = if spec.layout.unlink { open::unlink(spec, &mut note) } else { Ok(()) };
    // What failed before is the reason.
    if let (Err(failure), None) = (closed.and(removed), &result.error) {
        context.note_all(failure.notes);
        result.error = Some(failure.error);
    }
}

#[cold]
#[inline(never)]
fn send_figures(context: &Context<'_>, figures: &Snapshot) {
    let snapshot = Box::new(figures.clone());
    let _ = context.messages.send(Message::Figures { index: context.index, snapshot });
}

/// `pre_read`, for jobs that ask for it or need it.
fn pre_read(context: &Context<'_>) -> Result<(), Failure> {
    let Context { spec, control, .. } = *context;
    if !pre_read::is_wanted(spec) {
        return Ok(());
    }
    let before = control.state();
    control.set_state(JobState::PreReading);
    let outcome = pre_read::pre_read(spec, &|| control.stop_requested());
    control.set_state(before);
    outcome
}

/// Runs pass after pass until the job is done, stopped, out of time or broken.
///
/// A function of its own: together with its caller, the loop would have fewer registers (20 instructions more per I/O).
#[inline(never)]
fn passes<E: Engine>(
    spec: &JobSpec,
    io_loop: &mut IoLoop<'_, E>,
    note: &mut dyn FnMut(Diagnostic),
) -> Result<(), Failure> {
    io_loop.connect()?;
    io_loop.start();
    loop {
        io_loop.pass()?;
        if spec.life.fails_after_first_io {
            return Err(Failure::new(libc::ENOENT, "job file open"));
        }
        io_loop.sync_at_end()?;
        if io_loop.reads_back() {
            io_loop.open_again(note)?;
            io_loop.verify()?;
        }
        io_loop.note_unread();
        if !io_loop.another_pass() || !io_loop.begin_pass(note)? {
            return Ok(());
        }
    }
}

/// Saves the verify state of the job, unless a trigger has done so already.
fn save_state(context: &Context<'_>) {
    let Some(progress) = &context.progress else { return };
    if context.spec.saves_state() && context.control.save_state_once() {
        let state = verify_state::state_of(context.spec, Some(progress), 0, context.entropy);
        let lost = verify_state::save(context.state_dir, context.spec, &state, false);
        context.note_all(lost);
    }
}

#[cfg(test)]
mod tests;
