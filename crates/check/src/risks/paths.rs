//! Other files of a run, beside those of the jobs, that cannot be opened. The messages are those of the run.

use std::path::{Path, PathBuf};

use ferrio_job::{
    EngineKind, MEMORY_FILE_NOT_HUGE, command_not_run, donor_not_opened, log_not_opened,
    memory_file_not_opened, object_not_loaded, program_not_run, recording_not_opened, state_not_opened,
    strerror, trigger_unseen,
};
use ferrio_jobfile::Opt;
use ferrio_plan::LOG_OPTIONS;

use super::{Observation, RiskContext, RiskRule, Run, Section, Warning};
use crate::model::CheckedLog;
use crate::section::{CheckedSection, JobWork};
use crate::units::and_more;

pub(super) const RULES: &[RiskRule] = &[
    ("log-not-created", Warning, Run(log_not_created)),
    ("recording-not-created", Warning, Section(recording_not_created)),
    ("state-not-loaded", Warning, Section(state_not_loaded)),
    ("state-not-saved", Warning, Section(state_not_saved)),
    ("memory-file-not-opened", Warning, Section(memory_file)),
    ("command-output-not-created", Warning, Section(command_output)),
    ("program-not-run", Warning, Section(program)),
    ("engine-not-loaded", Warning, Section(object)),
    ("donor-not-opened", Warning, Section(donor)),
    ("trigger-not-seen", Warning, Run(trigger)),
];

/// The reason why this path cannot be written.
fn unwritable(run: &RiskContext<'_>, path: &Path) -> Option<String> {
    run.facts.unwritable.get(path).map(|&errno| strerror(errno))
}

/// Commands of jobs may create a missing file before it is needed.
pub(super) fn nothing_is_made(run: &RiskContext<'_>) -> bool {
    nothing_else_runs(run) && !run.plan.jobs.iter().any(|job| job.spec.engine == EngineKind::Exec)
}

/// A log cannot be created: the run goes on without it.
fn log_not_created(run: &RiskContext<'_>) -> Vec<Observation> {
    const ADVICE: &str = "use a prefix in a directory that exists and is writable";
    let message = |path: &Path, why: &str, more: usize| {
        log_not_opened(&format!("{}{}", path.display(), and_more(more)), why)
    };
    let of_section = |section: &CheckedSection<'_>| {
        let obstacle = |log: &CheckedLog| run.facts.logs.get(&log.path)?.obstacle;
        let logs = run.job(section).logs.iter();
        let mut lost = logs.filter_map(|log| obstacle(log).map(|why| (log, why)));
        let (log, why) = lost.next()?;
        let message = message(&log.path, &strerror(why), lost.count());
        Some(Observation::new(message, ADVICE, LOG_OPTIONS).sections(vec![section.index]))
    };
    let mut lost = run.facts.whole_run.logs.iter().filter_map(|log| Some((log, unwritable(run, log)?)));
    let of_run =
        lost.next().map(|(log, why)| Observation::new(message(log, &why, lost.count()), ADVICE, &[]));
    run.sections.iter().filter_map(of_section).chain(of_run).collect()
}

/// The file of `write_iolog` cannot be created: the job fails when it starts.
fn recording_not_created(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut recordings = section.running().filter_map(|spec| spec.iolog.as_ref());
    let (path, why) = recordings.find_map(|to| Some((&to.path, unwritable(run, &to.path)?)))?;
    let advice = "give `write_iolog` a file in a directory that exists and is writable";
    let message = recording_not_opened(path, &why);
    Some(Observation::new(message, advice, &[Opt::WriteIolog]).fails_if(true))
}

/// The state of `verify_state_load` cannot be read: the job fails when it starts.
fn state_not_loaded(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut states = section.running().filter(|spec| spec.loads_state()).map(|spec| run.facts.state_of(spec));
    let (path, why) = { &mut states }.find_map(|path| {
        let why = strerror(*run.facts.unreadable.get(&path)?);
        Some((path, why))
    })?;
    let message = state_not_opened(&path, &why, false).join("; ");
    let advice = ferrio_job::STATE_MISSING;
    Some(Observation::new(message, advice, &[Opt::VerifyStateLoad]).fails_if(nothing_is_made(run)))
}

/// A state cannot be saved: the jobs go on, and the status of the run says so.
fn state_not_saved(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut states = section.running().filter(|spec| spec.saves_state()).map(|spec| run.facts.state_of(spec));
    let (path, why) = states.find_map(|path| unwritable(run, &path).map(|why| (path, why)))?;
    let message = state_not_opened(&path, &why, true).join("; ");
    let advice = "use a directory that exists and is writable (--aux-path)";
    Some(Observation::new(message, advice, &[Opt::VerifyStateSave]))
}

/// The file of `mem` cannot be mapped: the job fails when it starts.
fn memory_file(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().find(|spec| spec.memory.file.is_some() && !spec.layout.create_only)?;
    let path = spec.memory.file.as_deref()?;
    let message = match unwritable(run, path) {
        Some(why) => memory_file_not_opened(path, &why),
        None if spec.memory.kind.is_huge() && !run.facts.on_hugetlbfs.contains(path) => {
            MEMORY_FILE_NOT_HUGE.to_owned()
        }
        None => return None,
    };
    let advice = "name another file, or none";
    Some(Observation::new(message, advice, &[Opt::Mem]).fails_if(nothing_is_made(run)))
}

/// The output of a command cannot be saved: without its `exec_prerun` a job does no I/O.
fn command_output(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut commands = run.job(section).commands.iter();
    let (command, why) = commands.find_map(|one| unwritable(run, &one.output).map(|why| (one, why)))?;
    let message = command_not_run(command.option, &command.output, &why);
    let is_before = command.option == "exec_prerun";
    let advice = "run ferrio in a directory that is writable, and where no directory has this name";
    Some(Observation::new(message, advice, &[Opt::ExecPrerun, Opt::ExecPostrun]).fails_if(is_before))
}

/// The program of `ioengine=exec` is not there or may not be run.
fn program(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut specs =
        section.running().filter(|spec| spec.engine == EngineKind::Exec && !spec.layout.create_only);
    let (path, why) = specs.find_map(|spec| {
        let path = &spec.engine_options.program.path;
        Some((path, strerror(*run.facts.not_runnable.get(path)?)))
    })?;
    let advice = "name a program that is there and may be run (chmod +x)";
    Some(
        Observation::new(program_not_run(path, &why), advice, &[Opt::Program])
            .fails_if(nothing_else_runs(run)),
    )
}

/// Whether no command could create the program before.
fn nothing_else_runs(run: &RiskContext<'_>) -> bool {
    !run.plan.jobs.iter().any(|job| job.spec.life.runs_commands())
}

/// The object of `ioengine=external` is none.
fn object(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut specs = section.running().filter(|spec| spec.engine == EngineKind::External && spec.works());
    let why = specs.find_map(|spec| run.facts.not_loadable.get(Path::new(&spec.external.path)))?;
    let advice = "docs/ferrio_engine.h says how to make one";
    Some(Observation::new(object_not_loaded(why), advice, &[Opt::Ioengine]).fails_if(nothing_is_made(run)))
}

/// The donor of `ioengine=e4defrag` cannot be opened or created: the job fails when it starts.
fn donor(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut specs = section.running().filter(|spec| spec.engine == EngineKind::E4defrag && spec.works());
    let (path, why) = specs.find_map(|spec| {
        let path = &spec.engine_options.donor.path;
        unwritable(run, path).map(|why| (path, why))
    })?;
    let advice =
        "name a file in a directory that exists and is writable, on the file system of the job's files";
    let message = donor_not_opened(path, &why);
    Some(Observation::new(message, advice, &[Opt::Donorname]).fails_if(nothing_is_made(run)))
}

/// The trigger file cannot be looked for.
fn trigger(run: &RiskContext<'_>) -> Vec<Observation> {
    let unseen = run.facts.whole_run.trigger_file.as_ref().zip(run.facts.trigger_obstacle);
    let observation = |(path, errno): (&PathBuf, i32)| {
        let advice = "name a file in a directory that may be searched";
        Observation::new(trigger_unseen(path, &strerror(errno)), advice, &[])
    };
    unseen.map(observation).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::RiskSeverity;
    use crate::testing::{has, report_with, risks};

    const ENOENT: i32 = 2;
    const EISDIR: i32 = 21;

    #[test]
    fn logs_that_cannot_be_created_are_reported() {
        let job = "[a]\nioengine=null\nsize=1m\nwrite_lat_log=away/x\n";
        let message = |errno| {
            let report = report_with(job, |facts| {
                facts.logs.values_mut().for_each(|log| log.obstacle = Some(errno));
            });
            risks(&report, "log-not-created")[0].message.clone()
        };
        let want =
            "fopen log: No such file or directory: away/x_lat.1.log and 2 more; the run goes on without it";
        assert_eq!(message(ENOENT), want);
        assert!(message(EISDIR).starts_with("fopen log: Is a directory: "));
        assert!(!has("log-not-created", job));
        let report = report_with("[a]\nioengine=null\nsize=1m\n", |facts| {
            facts.whole_run.logs = vec![PathBuf::from("away/x-read_bw.log")];
            facts.unwritable.insert("away/x-read_bw.log".into(), ENOENT);
        });
        let found = risks(&report, "log-not-created");
        assert!(found[0].message.contains("away/x-read_bw.log; the run") && found[0].jobs.is_empty());
    }

    #[test]
    fn what_a_job_needs_and_cannot_open_is_an_error_in_the_words_of_the_run() {
        for (options, code, path, blamed, words) in [
            (
                "write_iolog=away/x",
                "recording-not-created",
                "away/x",
                "write_iolog=away/x",
                "cannot open the I/O log away/x: No such file or directory",
            ),
            (
                "mem=mmap:away/x",
                "memory-file-not-opened",
                "away/x",
                "mem=mmap:away/x",
                "the file of `mem` cannot be opened: away/x: No such file or directory; name another one",
            ),
            (
                "exec_prerun=true",
                "command-output-not-created",
                "a.prerun.txt",
                "exec_prerun=true",
                "exec_prerun cannot be run with its output in a.prerun.txt: No such file or directory",
            ),
        ] {
            let job = format!("[a]\nioengine=null\nsize=1m\n{options}\n");
            let report = report_with(&job, |facts| {
                facts.unwritable.insert(path.into(), ENOENT);
            });
            let found = risks(&report, code);
            assert_eq!((found[0].severity, &*found[0].message), (RiskSeverity::Error, words));
            assert_eq!(&*found[0].origins[0].text, blamed);
            assert!(!has(code, &job));
        }
        let job = "[a]\nioengine=null\nsize=1m\nmem=mmaphuge:/x\n";
        assert!(has("memory-file-not-opened", job));
        let huge = report_with(job, |facts| {
            facts.on_hugetlbfs.insert("/x".into());
        });
        assert!(risks(&huge, "memory-file-not-opened").is_empty());
    }

    #[test]
    fn a_command_may_make_what_is_missing() {
        let report =
            report_with("[a]\nioengine=null\nsize=1m\nmem=mmap:away/x\nexec_prerun=mkdir away\n", |facts| {
                facts.unwritable.insert("away/x".into(), ENOENT);
            });
        assert_eq!(risks(&report, "memory-file-not-opened")[0].severity, RiskSeverity::Warning);
    }
}
