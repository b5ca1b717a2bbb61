//! `--set`: options that all jobs get, whatever job files and command line say.

use ferrio_job::{ArgOrigin, Diagnostic};

use super::JobDraft;
use crate::catalogue::Opt;
use crate::document::Assignment;
use crate::environment::Environment;
use crate::evaluate;

/// An option for all jobs, or for those of one name.
pub(super) struct Override {
    job: Option<String>,
    line: Assignment,
    argument: ArgOrigin,
}

impl Override {
    /// Reads `[JOB:]OPTION=VALUE`. The name of a job may contain colons, that of an option does not.
    pub(super) fn read(text: &str, argument: &ArgOrigin) -> Result<Self, Box<Diagnostic>> {
        let whole = argument.value_origin(text);
        let (left, value) = text.split_once('=').map_or((text, None), |(left, value)| (left, Some(value)));
        let (job, name) = left.rsplit_once(':').map_or((None, left), |(job, name)| (Some(job), name));
        let refuse = |label: &str| {
            let name = option_name(argument);
            let message = format!("invalid value `{text}` for option `{name}`");
            let diagnostic = Diagnostic::error(message, whole.clone());
            let help =
                format!("write {name} OPTION=VALUE, or {name} JOB:OPTION=VALUE for the jobs of one name");
            Err(Box::new(diagnostic.code("invalid-value").label(label).help(help)))
        };
        if name.trim().is_empty() {
            return refuse("the name of an option is expected");
        }
        if job == Some("") {
            return refuse("the name of a job is expected before the colon");
        }
        if name == Opt::Name.row().name {
            return refuse("the name of a job cannot be set");
        }
        let characters = |text: &str| text.chars().count();
        let before = job.map_or(0, |job| characters(job) + 1);
        let origin = whole.part(before, characters(name));
        let value_origin = match value {
            Some(value) => whole.part(before + characters(name) + 1, characters(value)),
            None => origin.clone(),
        };
        let line = Assignment {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            origin,
            value_origin,
            literal: true,
            ..Assignment::default()
        };
        Ok(Override { job: job.map(str::to_owned), line, argument: argument.clone() })
    }
}

/// The program option that sets the job option, as typed: `--set`, or a synonym.
fn option_name(argument: &ArgOrigin) -> &str {
    argument.text.split(['=', ' ']).next().unwrap_or_default()
}

/// Adds the options to the jobs, in place of all other assignments of them.
pub(super) fn apply(
    overrides: &[Override],
    drafts: &mut [JobDraft],
    environment: &Environment,
    diagnostics: &mut Vec<Diagnostic>,
) {
    if overrides.is_empty() || drafts.is_empty() {
        return;
    }
    for one in overrides {
        let Some(job) = one.job.as_ref().filter(|job| drafts.iter().all(|draft| draft.name != **job)) else {
            continue;
        };
        let name = option_name(&one.argument);
        let message = format!("`{name}` names the job `{job}`, which does not exist");
        diagnostics.push(Diagnostic::error(message, one.argument.origin()).code("unknown-job"));
    }
    for draft in drafts {
        let of_job = overrides.iter().filter(|one| one.job.as_ref().is_none_or(|job| *job == draft.name));
        let lines: Vec<Assignment> = of_job.map(|one| one.line.clone().with_host(environment)).collect();
        for given in evaluate::section(&lines, &mut draft.setting, environment, diagnostics) {
            // Values of some options add up: those before do not count.
            draft.own.retain(|own| own.opt != given.opt);
            draft.overridden.push(given.opt);
            draft.own.push(given);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Builder, JobSet, Problems};

    const FILE: &[u8] =
        b"[global]\nbs=4k,8k\nfilename=g\nioengine=null\n[a]\nfilename=x\nbs=1k\n[b:c]\niodepth=2\n";

    fn set(texts: &[&str]) -> Result<JobSet, Problems> {
        let mut builder = Builder::new(Environment::default());
        for text in texts {
            builder.set(text, &ArgOrigin { index: 1, text: format!("--set={text}") });
        }
        builder.file("f", FILE);
        builder.finish()
    }

    fn refusal(text: &str) -> String {
        let problems = set(&[text]).unwrap_err();
        problems.diagnostics.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_option_replaces_those_of_the_job_and_of_the_globals() {
        let jobs = set(&["bs=,16k", "filename=y", "filename=z", "b:c:iodepth=8"]).unwrap().jobs;
        for job in &jobs {
            assert_eq!(job.options.per_direction(Opt::Bs)[..2], [None, Some(16384)], "{}", job.name);
            assert_eq!(job.options.list(Opt::Filename), ["z"], "{}", job.name);
        }
        let depths = jobs.iter().map(|job| job.options.if_given::<u32>(Opt::Iodepth));
        assert_eq!(depths.collect::<Vec<_>>(), [None, Some(8)]);
    }

    #[test]
    fn an_engine_comes_before_its_options() {
        let jobs = set(&["hipri=1", "ioengine=io_uring"]).unwrap().jobs;
        assert!(jobs.iter().all(|job| job.options.engine() == "io_uring"));
        assert!(refusal("hipri=1").contains("belongs to engines"));
    }

    #[test]
    fn mistakes_are_refused_once_for_all_jobs() {
        assert_eq!(refusal("bs=3y"), "invalid value `3y` for option `bs`");
        assert_eq!(refusal("blok=3"), "unknown option `blok`");
        assert_eq!(refusal("d:bs=4k"), "`--set` names the job `d`, which does not exist");
        for text in ["=1", ":bs=4k", "a:=1", "name=x", ""] {
            assert_eq!(refusal(text), format!("invalid value `{text}` for option `--set`"));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-c:= é]{0,6}[a-z_]{0,8}[=:]{0,2}.{0,8}") {
            let _ = set(&[&text]);
        }
    }
}
