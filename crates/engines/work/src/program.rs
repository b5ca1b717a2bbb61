//! A program beside the I/O of other jobs: started with its job, ended with it at the latest, and never left behind.
//!
//! It has a process group of its own, so that Ctrl-C in a terminal ends it by way of the job, and so that its own children end with it.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use ferrio_engine::{EngineError, sleep};
use ferrio_job::{Character, Diagnostic, JobSpec, Prefix, Program, reason};
use ferrio_machine::create_file;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::Duty;

/// Length of a piece of work: how long one look at the program lasts, as in fio.
const PIECE: Duration = Duration::from_millis(50);
/// Time between two questions whether the program has ended.
const STEP: Duration = Duration::from_millis(5);

/// The program of a job.
pub(crate) struct RunningProgram {
    program: Program,
    job: String,
    character: Character,
    /// With run time and name of the job in their places.
    arguments: Option<String>,
    child: Option<Child>,
}

impl RunningProgram {
    /// Nothing runs yet.
    pub(crate) fn new(spec: &JobSpec) -> Self {
        let program = spec.engine_options.program.clone();
        let arguments = program.arguments_of(&spec.name, spec.limits.runtime);
        RunningProgram { program, job: spec.name.clone(), character: spec.character, arguments, child: None }
    }

    /// Starts the program.
    ///
    /// # Errors
    /// It cannot be run, or its output cannot be saved.
    pub(crate) fn start(&mut self) -> Result<(), EngineError> {
        if self.child.is_some() {
            return Ok(());
        }
        let path = &self.program.path;
        let mut command = Command::new(path);
        command.args(self.arguments.iter().flat_map(|text| text.split(' ').filter(|word| !word.is_empty())));
        command.stdin(Stdio::null()).process_group(0);
        if self.program.redirects {
            command.stdout(self.output("stdout")?).stderr(self.output("stderr")?);
        }
        let refused = |error: io::Error| {
            let hint = format!("the program {path} cannot be run");
            EngineError::new(format!("exec({path})"), error).hint(hint)
        };
        self.child = Some(command.spawn().map_err(refused)?);
        Ok(())
    }

    /// The file of an output stream, empty.
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

    /// Waits a while for the program. When it has ended, so has the job.
    pub(crate) fn look(&mut self, duty: &dyn Duty) {
        let began = Instant::now();
        while began.elapsed() < PIECE && !duty.is_over() {
            let ended = match self.status() {
                None => {
                    sleep(STEP);
                    continue;
                }
                Some(Ok(status)) if status.success() => None,
                Some(Ok(status)) => Some(how_it_ended(status)),
                Some(Err(error)) => {
                    self.signal(Signal::SIGKILL);
                    Some(format!("cannot be waited for: {}", reason(&error)))
                }
            };
            self.child = None;
            if let Some(how) = ended {
                duty.note(self.failed(&how));
            }
            return duty.done();
        }
    }

    /// Ends a program that still runs, with its children: SIGTERM, and SIGKILL after the grace time or at a second signal.
    pub(crate) fn end(&mut self, duty: &dyn Duty) {
        if self.child.is_none() || self.status().is_some() {
            return;
        }
        self.signal(Signal::SIGTERM);
        let asked = Instant::now();
        while asked.elapsed() < self.program.grace && duty.signals() < 2 {
            if self.status().is_some() {
                // Its children may have stayed.
                return self.signal(Signal::SIGKILL);
            }
            sleep(STEP);
        }
        self.signal(Signal::SIGKILL);
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
        if !self.program.grace.is_zero() {
            duty.note(self.failed("did not end after SIGTERM and was killed"));
        }
    }

    /// How the program ended, if it did; or why that is not known.
    fn status(&mut self) -> Option<io::Result<ExitStatus>> {
        self.child.as_mut()?.try_wait().transpose()
    }

    /// To all processes of the group, which is gone when they are.
    fn signal(&self, signal: Signal) {
        let group = self.child.as_ref().and_then(|child| i32::try_from(child.id()).ok());
        if let Some(group) = group {
            let _ = killpg(Pid::from_raw(group), signal);
        }
    }

    fn failed(&self, how: &str) -> Diagnostic {
        let message = format!("the program {} {how}", self.program.path);
        Diagnostic::note(message).code("program-failed").prefix(Prefix::Job)
    }

    /// What fio says of the program.
    pub(crate) fn notes(&self) -> Vec<Diagnostic> {
        let Program { path, redirects, .. } = &self.program;
        let missing = if self.character == Character::Fio { "(null)" } else { "" };
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

fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "failed".to_owned(),
    }
}
