//! The jobs of a command line: passes job options and job files to the job file reader.

use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use ferrio_job::{Compat, Diagnostic, FioWords, Origin, RunHost, reason};
use ferrio_jobfile::{Builder, Environment, Job, JobSet, Opt, Problems};
use ferrio_machine::{Machine, RetryInterrupted, host_name, open_file, open_to_read, retry_interrupted};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, poll};

use crate::arguments::{self, Item};
use crate::error::Error;
use crate::options::{OPTIONS, ProgramOption};
use crate::output_file::is_descriptor;
use crate::profiles;
use crate::settings::{Action, ProgramSettings};

/// Reads the jobs of a command line and of its job files that the settings select. `environment` reads the files.
///
/// # Errors
/// Files that cannot be read, and all mistakes in the others.
pub fn read(items: &[Item], settings: &ProgramSettings, environment: Environment) -> Result<JobSet, Error> {
    let content = |name: &String| match name.as_str() {
        STDIN => read_limited(io::stdin().lock()),
        name => (environment.read_file)(Path::new(name)),
    };
    let files: Vec<(&String, io::Result<Vec<u8>>)> =
        arguments::files_of(items).map(|name| (name, content(name))).collect();
    let mb_memory = environment.mb_memory;
    // Alone, a job file for many hosts is that of the first of one.
    let alone =
        || (settings.compat == Compat::Ferrio).then(|| RunHost::alone(host_name().unwrap_or_default()));
    let mut builder = Builder::new(Environment {
        host: environment.host.clone().or_else(alone),
        dialect: settings.strict,
        compat: settings.compat,
        parse_only: matches!(settings.action, Action::Parse | Action::ShowCommands),
        ..environment
    });
    for (value, origin) in items.iter().filter_map(|item| item.value_of(ProgramOption::Set)) {
        builder.set(value, origin);
    }
    if let Some(profile) = settings.profile {
        let sections = items.iter().filter_map(|item| item.value_of(ProgramOption::Section));
        sections.for_each(|(name, origin)| builder.section(name, origin));
        profiles::add(profile, items, settings.compat, mb_memory, &mut builder)?;
        return builder.finish().map_err(Error::Problems);
    }
    for item in items {
        match item {
            Item::Job { name, value: Some(job), origin } if name == "name" => {
                builder.begin_job(job, origin.clone())
            }
            Item::Job { name, value, origin } => {
                builder.command_option(name, value.as_deref(), origin.clone())
            }
            Item::Program { .. } => {
                if let Some((name, origin)) = item.value_of(ProgramOption::Section) {
                    builder.section(name, origin);
                }
            }
            Item::File(_) => {}
        }
    }
    let reads_stdin = files.iter().any(|(name, _)| *name == STDIN);
    for (name, content) in files {
        match content {
            Ok(text) => builder.file(name, &text),
            Err(error) if is_empty_to_fio(&error) && settings.compat == Compat::Fio => {
                let message = format!("the directory `{name}` counts as an empty job file");
                builder.problem(Diagnostic::note(message).code("no-effect"));
                builder.file(name, b"");
            }
            Err(error) => builder.problem(unreadable(name, &error)),
        }
    }
    let set = builder
        .finish()
        .map_err(|problems| Error::Problems(with_program_options(problems, settings.compat)))?;
    let again: Vec<Diagnostic> = set.jobs.iter().filter(|_| reads_stdin).filter_map(stdin_again).collect();
    if again.is_empty() {
        Ok(set)
    } else {
        Err(Error::Problems(Problems { diagnostics: again, sources: set.sources }))
    }
}

/// The error for job files among `items` without jobs, or without the wanted `sections`.
#[must_use]
pub fn no_jobs(items: &[Item], sections: &[String]) -> Error {
    let files: Vec<String> = arguments::files_of(items).map(|name| format!("`{name}`")).collect();
    match (sections, &files[..]) {
        ([], []) => Error::NoJobs,
        ([], files) => Error::NoJobsIn(format!(
            "a job is a section with a name other than global: there is none in {}",
            files.join(", ")
        )),
        (sections, _) => {
            let sections: Vec<String> = sections.iter().map(|name| format!("`{name}`")).collect();
            Error::NoJobsIn(format!("--section asks for {}: no job has that name", sections.join(" or ")))
        }
    }
}

/// True for a directory, which fio opens and finds nothing in.
fn is_empty_to_fio(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::IsADirectory
}

fn unreadable(name: &str, error: &io::Error) -> Diagnostic {
    let message = format!("unable to open '{name}' job file: {}", reason(error));
    let line = format!("fio: unable to open '{name}' job file");
    let diagnostic = Diagnostic::error(message, Origin::Builtin).code("unreadable-job-file");
    let diagnostic = diagnostic.in_fio(FioWords::Lines(vec![line]));
    // `rw=read` is hardly the name of a job file.
    let option = name.split_once('=').is_some_and(|(word, _)| Opt::named(word).next().is_some());
    let help = match name {
        _ if option => Some(format!("options begin with dashes: --{name}")),
        _ if ferrio_sysbench::is_word(name) => Some(format!(
            "`ferrio FILE` runs a job file; `{name}` is a word of sysbench, which `ferrio help sysbench` explains"
        )),
        _ => None,
    };
    Diagnostic { help, ..diagnostic }
}

/// Adds advice to unknown options in job files that are options of the program.
fn with_program_options(mut problems: Problems, compat: Compat) -> Problems {
    for wrong in problems.diagnostics.iter_mut().filter(|wrong| wrong.code == "unknown-option") {
        let Origin::File { source, line, column, length } = wrong.origin else { continue };
        let line = problems.sources.line(source, line).chars();
        let name: String = line.skip(column.saturating_sub(1) as usize).take(length as usize).collect();
        // Job options are written with underscores, so users may write them here, too.
        let name = name.replace('_', "-");
        if OPTIONS.iter().any(|option| option.name == name && option.exists_for(compat)) {
            wrong.label = "an option of the command line".to_owned();
            wrong.help = Some(format!("take it out of the job file and write --{name} on the command line"));
            wrong.suggestion = None;
        }
    }
    problems
}

/// The name of standard input.
pub const STDIN: &str = "-";

/// True for a job that reads its iolog from standard input.
pub fn reads_stdin(job: &Job) -> bool {
    let given = job.options.given(Opt::ReadIolog);
    given.is_some_and(|given| given.text.split(':').next() == Some(STDIN))
}

/// The error for a job that reads its iolog from standard input after a job file was read from it.
fn stdin_again(job: &Job) -> Option<Diagnostic> {
    let given = job.options.given(Opt::ReadIolog)?;
    reads_stdin(job).then(|| {
        Diagnostic::error(
            "stdin can be read only once: by the job file or by read_iolog",
            given.value_origin.clone(),
        )
        .code("stdin-used-twice")
        .label("the job file was read from stdin")
        .help("save the I/O log in a file")
    })
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_limited(open_to_read(path)?)
}

/// Reads a file for an answer that must not take long: nobody may write into a pipe.
fn read_file_soon(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe that a shell has set up has somebody who writes into it.
    if is_descriptor(path) {
        return read_file(path);
    }
    let file = open_file(path, OFlag::O_RDONLY | OFlag::O_NONBLOCK, 0)?;
    if file.metadata()?.file_type().is_fifo() {
        let mut waiting = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
        if retry_interrupted(|| poll(&mut waiting, PIPE_TIMEOUT_MS))? == 0 {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "it is a pipe, and no data came within half a second: start its writer first, or name a file",
            ));
        }
    }
    let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
    fcntl(&file, FcntlArg::F_SETFL(flags.difference(OFlag::O_NONBLOCK)))?;
    read_limited(file)
}

/// Reads all of a file of at most [`MAX_BYTES`].
fn read_limited(file: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    RetryInterrupted(file).take(MAX_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {} MiB", MAX_BYTES >> 20),
        ));
    }
    Ok(text)
}

/// Size of the largest job file, which also stops endless ones such as /dev/zero.
const MAX_BYTES: u64 = 256 << 20;

/// How long `ferrio check` waits for the first byte of a pipe, ms.
const PIPE_TIMEOUT_MS: u16 = 500;

/// [`environment`] for `ferrio check`, whose answer comes soon.
pub fn environment_of_check() -> Environment {
    Environment { read_file: Box::new(read_file_soon), ..environment() }
}

/// The variables, files and figures of this machine that job files can use.
pub fn environment() -> Environment {
    let machine = Machine::ask();
    Environment {
        var: Box::new(|name| std::env::var(name).ok()),
        read_file: Box::new(read_file),
        pagesize: machine.page_size,
        mb_memory: machine.memory_mib,
        ncpus: u64::from(machine.cpus),
        ..Environment::default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;
    use crate::arguments;

    fn jobs(words: &[&str]) -> Result<JobSet, Error> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let items = arguments::scan(&words, 1, OPTIONS, Compat::Ferrio).items;
        read(&items, &ProgramSettings::read(&items, Compat::Ferrio).unwrap(), environment())
    }

    #[test]
    fn command_line_jobs_come_before_those_of_files_and_globals_reach_the_first_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("j.fio");
        fs::write(&file, "[b]\nsize=4k\n").unwrap();
        let set = jobs(&[file.to_str().unwrap(), "--bs=8k", "--name=a", "--size=1m"]).unwrap();
        let names: Vec<_> = set.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(set.jobs[1].options.per_direction(Opt::Bs)[0], Some(8192));
    }

    #[test]
    fn a_missing_job_file_is_named() {
        let error = jobs(&["/nonexistent/j.fio"]).unwrap_err();
        let want = "error: unable to open '/nonexistent/j.fio' job file: No such file or directory\n\n";
        assert_eq!(error.to_string(), want);
    }

    #[test]
    fn an_option_without_dashes_is_distinguished_from_a_job_file() {
        let message = |word: &str| jobs(&["--name=a", word]).unwrap_err().to_string();
        assert!(message("rw=read").contains("options begin with dashes: --rw=read"));
        assert!(!message("no=such.fio").contains("dashes"));
        assert!(message("run").contains("`ferrio help sysbench`"));
    }

    #[test]
    fn a_program_option_in_a_job_file_is_reported_as_such() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("j.fio");
        for name in ["status-interval", "status_interval"] {
            fs::write(&file, format!("[b]\nsize=4k\n{name}=1\n")).unwrap();
            let message = jobs(&[file.to_str().unwrap()]).unwrap_err().to_string();
            assert!(message.contains("write --status-interval on the command line"), "{message}");
            assert!(!message.contains("did you mean"), "{message}");
        }
    }

    #[test]
    fn an_odd_value_is_read_as_fio_does_on_request() {
        let refused = jobs(&["--name=a", "--runtime=10sec"]).unwrap_err().to_string();
        assert!(refused.contains("fio reads this as 10 us; write `10s`, or use --strict=fio"), "{refused}");
        let set = jobs(&["--name=a", "--runtime=10sec", "--strict=fio"]).unwrap();
        assert_eq!(set.jobs[0].options.if_given(Opt::Runtime), Some(Duration::from_micros(10)));
    }

    #[test]
    fn an_endless_file_is_refused() {
        let message = jobs(&["/dev/zero"]).unwrap_err().to_string();
        assert!(message.contains("unable to open '/dev/zero' job file: more than 256 MiB"), "{message}");
    }

    #[test]
    fn a_wrong_value_points_at_its_argument() {
        let error = jobs(&["--name=a", "--iodepth=0"]).unwrap_err();
        assert!(error.to_string().contains("--iodepth=0"), "{error}");
    }

    #[test]
    fn the_help_says_what_the_named_files_or_sections_lack() {
        let help = |items: &[Item], sections: &[String]| no_jobs(items, sections).help().unwrap();
        let files = [Item::File("a.fio".to_owned()), Item::File("-".to_owned())];
        assert!(help(&[], &[]).starts_with("name a job file"));
        assert!(help(&files, &[]).ends_with("there is none in `a.fio`, `-`"));
        assert_eq!(help(&files, &["x".to_owned()]), "--section asks for `x`: no job has that name");
    }
}
