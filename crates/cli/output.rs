//! Where things are printed: the report on standard output or into a file, everything else on standard error.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

use ferrio_plan::Plan;
use ferrio_report::{LiveLine, job_failed_line, laying_out_line, starting_line, terminating_line};
use ferrio_runner::Event;

use crate::exit::Stop;
use crate::program::{Eta, Program};

/// The stream of the report, the live line, and the first error in writing to them.
pub struct Output {
    name: String,
    stream: Box<dyn Write>,
    /// Only the text report is announced by lines before it.
    announces: bool,
    live: Option<LiveLine>,
    /// Characters of the live line that stand on the terminal.
    shown: usize,
    error: Option<io::Error>,
}

impl Output {
    /// Opens the stream; a file is emptied.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn open(program: &Program) -> Result<Self, Stop> {
        let to_stdout = program.output.is_none();
        let stream: Box<dyn Write> = match &program.output {
            None => Box::new(io::stdout()),
            Some(name) => {
                let file =
                    File::create(name).map_err(|error| Stop::OpenOutput { name: name.clone(), error })?;
                Box::new(file)
            }
        };
        let wanted = match program.eta {
            Eta::Always => true,
            Eta::Never => false,
            Eta::Auto => io::stdout().is_terminal(),
        };
        // A document on standard output must not be torn by a live line.
        let live = wanted && (program.formats.normal || !to_stdout);
        Ok(Output {
            name: program.output.clone().unwrap_or_else(|| "standard output".to_owned()),
            stream,
            announces: program.formats.normal,
            live: live.then(|| LiveLine::new(program.eta_interval, program.eta_newline)),
            shown: 0,
            error: None,
        })
    }

    /// Lines before the run that only the text report has.
    pub fn announce(&mut self, text: &str) {
        if self.announces {
            self.write(text);
        }
    }

    /// Text of the report itself.
    pub fn write(&mut self, text: &str) {
        self.clear_live_line();
        let written = self.stream.write_all(text.as_bytes());
        self.remember(written);
    }

    /// A line beside the report.
    pub fn note(&mut self, line: &str) {
        self.clear_live_line();
        // fio begins its messages so, and tools look for it; lines that name a job or are notes begin otherwise.
        let prefix = if line.starts_with("fio: ") || line.starts_with("note: ") { "" } else { "fio: " };
        let _ = writeln!(io::stderr(), "{prefix}{line}");
    }

    /// Shows what happens while the jobs run.
    pub fn observe(&mut self, plan: &Plan, event: &Event<'_>) {
        match event {
            Event::Starting { threads, processes } => self.announce(&starting_line(*threads, *processes)),
            Event::LayingOut { job, files, bytes } => self.announce(&laying_out_line(job, *files, *bytes)),
            Event::Note(line) => self.note(line),
            Event::IoError(line) => self.note(line),
            Event::JobFailed { pid, error, .. } => self.tell(&job_failed_line(*pid, error)),
            Event::Terminating { signal } => self.tell(&terminating_line(*signal)),
            Event::Progress(progress) => {
                if let Some(line) = self.live.as_mut().and_then(|live| live.update(plan, progress)) {
                    self.show(&line);
                }
            }
        }
    }

    /// Puts everything where it belongs.
    ///
    /// # Errors
    /// The first error of any write to the report.
    pub fn close(mut self) -> Result<(), Stop> {
        self.clear_live_line();
        let flushed = self.stream.flush();
        self.remember(flushed);
        match self.error {
            Some(error) => Err(Stop::WriteOutput { name: self.name, error }),
            None => Ok(()),
        }
    }

    fn tell(&mut self, text: &str) {
        self.clear_live_line();
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn show(&mut self, line: &str) {
        let mut stdout = io::stdout();
        // A terminal that went away does not concern the run.
        if stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).is_ok() {
            self.shown = line.trim_start_matches('\n').trim_end_matches('\r').chars().count();
        }
    }

    fn clear_live_line(&mut self) {
        if self.shown > 0 {
            let mut stdout = io::stdout();
            let _ = write!(stdout, "\r{:1$}\r", "", self.shown).and_then(|()| stdout.flush());
            self.shown = 0;
        }
    }

    fn remember(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }
}
