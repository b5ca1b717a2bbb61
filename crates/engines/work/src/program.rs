//! The program of `ioengine=exec`: runs beside the I/O of other jobs, starts with its job, and ends with it at the latest.
//!
//! On a terminal the program is in the process group of the run, so that it can read the terminal; otherwise it has its own group. Its
//! children end with it.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use ferrio_engine::EngineError;
use ferrio_job::{Diagnostic, JobSpec, Prefix, Program, program_not_run, reason};
use ferrio_kernel::programs::{ProgramGroup, ProgramStatus, StartedProgram};
use ferrio_kernel::sleep;
use ferrio_machine::create_file;
use nix::sys::signal::Signal;

use crate::JobHandle;

/// Duration of one piece of work, which watches the program; as in fio.
const PIECE_DURATION: Duration = Duration::from_millis(50);
/// Interval between two checks whether the program has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The program of a job.
pub(crate) struct RunningProgram {
    program: Program,
    job: String,
    has_words_of_fio: bool,
    /// The arguments, with the run time and name of the job filled in.
    arguments: Option<String>,
    /// The started program, until it is known to have ended.
    started: Option<StartedProgram>,
}

impl RunningProgram {
    /// Prepares the program without starting it.
    pub(crate) fn new(spec: &JobSpec) -> Self {
        let program = spec.engine_options.program.clone();
        let arguments = program.arguments_of(&spec.name, spec.limits.runtime);
        RunningProgram {
            program,
            job: spec.name.clone(),
            has_words_of_fio: spec.compat.has_words_of_fio,
            arguments,
            started: None,
        }
    }

    /// Starts the program.
    ///
    /// # Errors
    /// The program cannot be run, or its output cannot be saved.
    pub(crate) fn start(&mut self, group: ProgramGroup) -> Result<(), EngineError> {
        if self.started.is_some() {
            return Ok(());
        }
        let path = &self.program.path;
        let refused = |error: io::Error| {
            let hint = program_not_run(path, &reason(&error));
            EngineError::new(format!("exec({path})"), error).hint(hint)
        };
        let arguments =
            self.arguments.iter().flat_map(|text| text.split(' ').filter(|word| !word.is_empty()));
        let words = [path.as_str()].into_iter().chain(arguments).map(CString::new);
        let words = words.collect::<Result<Vec<_>, _>>().map_err(|error| refused(error.into()))?;
        let [output, errors] = match self.program.redirects {
            true => [Some(self.output("stdout")?), Some(self.output("stderr")?)],
            false => [None, None],
        };
        let streams = [&output, &errors].map(|file| file.as_ref().map(File::as_fd));
        let started = StartedProgram::start(&words, streams[0], streams[1], group);
        self.started = Some(started.map_err(refused)?);
        Ok(())
    }

    /// Creates an empty file for an output stream.
    fn output(&self, stream: &str) -> Result<File, EngineError> {
        let name = self.output_name(stream);
        create_file(&name).map_err(|error| {
            EngineError::new(format!("open({name})"), error).hint(format!(
                "the {stream} of the program cannot be saved: std_redirect=0 leaves it where that of the run goes"
            ))
        })
    }

    fn output_name(&self, stream: &str) -> String {
        format!("{}.{stream}", self.job)
    }

    /// Waits briefly for the program, and ends the job when the program has ended.
    pub(crate) fn watch(&mut self, job: &dyn JobHandle) {
        let began = Instant::now();
        while began.elapsed() < PIECE_DURATION && !job.is_over() {
            let Some(started) = &mut self.started else { return };
            let ended = match started.status() {
                Ok(None) => {
                    sleep(POLL_INTERVAL);
                    continue;
                }
                Ok(Some(ProgramStatus::Exited(0))) => None,
                // The signal ends the job as well.
                Ok(Some(_)) if job.program_group().failed_by_signal(|| job.signals() > 0) => None,
                Ok(Some(status)) => Some(status.to_string()),
                Err(error) => {
                    started.signal(Signal::SIGKILL);
                    Some(format!("cannot be waited for: {}", reason(&error)))
                }
            };
            self.started = None;
            if let Some(how) = ended {
                job.note(self.failed(&how));
            }
            return job.end_job();
        }
    }

    /// Ends a running program and its children: SIGTERM, then SIGKILL after the grace time or at a second signal.
    pub(crate) fn end(&mut self, job: &dyn JobHandle) {
        let Some(started) = &mut self.started else { return };
        let has_ended = |started: &mut StartedProgram| !matches!(started.status(), Ok(None));
        if has_ended(started) {
            return;
        }
        started.signal(Signal::SIGTERM);
        let asked = Instant::now();
        while asked.elapsed() < self.program.grace && job.signals() < 2 {
            if has_ended(started) {
                // The children may still run.
                return started.signal(Signal::SIGKILL);
            }
            sleep(POLL_INTERVAL);
        }
        started.signal(Signal::SIGKILL);
        while !has_ended(started) {
            sleep(POLL_INTERVAL);
        }
        if !self.program.grace.is_zero() {
            job.note(self.failed("did not end after SIGTERM and was killed"));
        }
    }

    fn failed(&self, how: &str) -> Diagnostic {
        let message = format!("the program {} {how}", self.program.path);
        Diagnostic::note(message).code("program-failed").prefix(Prefix::Job)
    }

    /// fio's messages about the program.
    pub(crate) fn notes(&self) -> Vec<Diagnostic> {
        let Program { path, redirects, .. } = &self.program;
        let missing = if self.has_words_of_fio { "(null)" } else { "" };
        let [written, arguments] =
            [&self.program.arguments, &self.arguments].map(|text| text.as_deref().unwrap_or(missing));
        let job = &self.job;
        let line = |message: String| Diagnostic::note(message).code("program").prefix(Prefix::None);
        let [stdout, stderr] = ["stdout", "stderr"].map(|stream| self.output_name(stream));
        let call = format!("{path} {arguments}");
        let call = call.trim_end();
        vec![
            line(format!("{job} : program={path}, arguments={written}")),
            line(match redirects {
                true => format!("{job} : Saving output of {call} : stdout={stdout} stderr={stderr}"),
                false => format!("{job} : Running {call}"),
            }),
        ]
    }
}
