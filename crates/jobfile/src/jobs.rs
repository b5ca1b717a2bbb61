//! Jobs as written, before anything is resolved, and `--showcmd`, which prints them as command lines.

use std::sync::Arc;

use ferrio_job::{Diagnostic, Origin, RunHost};

use crate::catalogue::Opt;
use crate::options::{GivenOption, Options};
use crate::sources::Sources;

/// All jobs of a command line and its job files.
#[derive(Debug, Clone)]
pub struct JobSet {
    /// The jobs in the order written, those of the command line first.
    pub jobs: Vec<Job>,
    /// Global assignments of the last file, the only ones in a report; those of the command line belong to the first file.
    pub globals: Vec<GivenOption>,
    /// The place of the host in its run, if its jobs were read for one.
    pub host: Option<RunHost>,
    /// Warnings, which do not prevent a run.
    pub warnings: Vec<Diagnostic>,
    /// The texts that origins point into.
    pub sources: Sources,
    /// The globals and the sections of each job file.
    pub(crate) files: Vec<(Arc<[GivenOption]>, Vec<ListedSection>)>,
}

/// One job: a section of a job file or a `--name` of the command line.
#[derive(Debug, Clone)]
pub struct Job {
    /// Name of the section, or value of `--name`.
    pub name: String,
    /// The section's own options in the order of evaluation.
    pub own: Arc<[GivenOption]>,
    /// All of its options, inherited and own.
    pub options: Options,
    /// Whether the job is from the command line.
    pub from_command_line: bool,
    /// 0 for the command line and the first file, 1 for the second file, and so on.
    pub file_number: usize,
    /// Whether it is the first job of its job file.
    pub first_of_file: bool,
    /// Whether its section, or the globals before it, ended at an include file that cannot be opened. Such jobs fail, as in fio.
    pub fails_after_first_io: bool,
    /// The address of the server that runs the job, which the names of its files have in front (`$clientuid`); `None` for other runs.
    pub server: Option<String>,
    /// The place where the job begins.
    pub origin: Origin,
}

/// A section of a job file, for `--showcmd`.
#[derive(Debug, Clone)]
pub(crate) enum ListedSection {
    /// The globals so far: this many assignments of the file.
    Globals(usize),
    /// A job, by its index in [`JobSet::jobs`].
    Job(usize),
}

/// Job files as command lines (`--showcmd`), a line per file: sections as `--name=`, options under their main names in
/// the order of evaluation. Jobs of the command line are not shown.
pub fn showcmd(set: &JobSet) -> String {
    let mut text = String::new();
    for (globals, sections) in &set.files {
        text.push_str("fio ");
        for section in sections {
            match section {
                ListedSection::Globals(count) => {
                    globals[..*count].iter().for_each(|given| show(given, &mut text))
                }
                ListedSection::Job(at) => {
                    if let Some(job) = set.jobs.get(*at) {
                        text.push_str(&format!("--name={} ", job.name));
                        job.own.iter().for_each(|given| show(given, &mut text));
                    }
                }
            }
        }
        text.push('\n');
    }
    text
}

fn show(given: &GivenOption, text: &mut String) {
    text.push_str("--");
    text.push_str(given.opt.row().name);
    match (given.opt, given.text.as_str()) {
        (_, "") if given.has_equals_sign() => text.push('='),
        (_, "") => {}
        (Opt::Description, value) => text.push_str(&format!("=\"{value}\"")),
        (_, value) => text.push_str(&format!("={value}")),
    }
    text.push(' ');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Environment};
    use ferrio_job::ArgOrigin;

    fn shown(arguments: &[(&str, &str)], files: &[&str]) -> String {
        let mut builder = Builder::new(Environment { ncpus: 2, ..Environment::default() });
        for (name, value) in arguments {
            builder.command_option(
                name,
                Some(value),
                ArgOrigin { index: 1, text: format!("--{name}={value}") },
            );
        }
        for file in files {
            builder.file("j.fio", file.as_bytes());
        }
        let jobs = builder.finish().map_err(|problems| problems.render(false));
        showcmd(&jobs.expect("the file is fine"))
    }

    #[test]
    fn options_appear_in_evaluation_order_under_main_names() {
        assert_eq!(
            shown(
                &[],
                &[
                    "[a]\nuserspace_reap\nfilename=x\nblocksize=1k\nioengine=libaio\nlockfile=none\nkb_base=1000\n"
                ]
            ),
            "fio --name=a --lockfile=none --kb_base=1000 --bs=1k --ioengine=libaio --filename=x --userspace_reap \n"
        );
    }

    #[test]
    fn an_equals_sign_without_value_is_shown() {
        assert_eq!(
            shown(
                &[],
                &["[a]\nbssplit=\nwrite_bw_log= ; c\nwrite_lat_log\nverifysort=\nignore_error=${NOPE}\n"]
            ),
            "fio --name=a --bssplit= --write_bw_log= --write_lat_log --verifysort= --ignore_error= \n"
        );
    }

    #[test]
    fn globals_accumulate_and_flags_stand_alone() {
        let file = "[global]\nbs=4k\n[a]\nsize=4k\nnorandommap\nthread=0\n[globalx]\nbs=8k\n[b c]\ndescription=x y\n";
        assert_eq!(
            shown(&[("iodepth", "3")], &[file]),
            "fio --iodepth=3 --bs=4k --name=a --size=4k --norandommap --thread=0 --iodepth=3 --bs=4k --bs=8k \
             --name=b c --description=\"x y\" \n"
        );
    }

    #[test]
    fn arithmetic_with_keywords_is_done_and_paths_are_left_alone() {
        assert_eq!(
            shown(
                &[],
                &["[a]\niodepth=($ncpus+1)*2\nsize=$pagesize*4-1\nbs=$pagesize/3\nfilename=/x/$ncpus\n"]
            ),
            "fio --name=a --iodepth=6 --size=16383 --bs=1365 --filename=/x/2 \n"
        );
    }

    #[test]
    fn each_file_has_a_line_and_jobs_of_the_command_line_have_none() {
        assert_eq!(
            shown(
                &[("iodepth", "3"), ("name", "x"), ("bs", "1k")],
                &["[c]\nsize=8k\n", "[global]\nbs=2k\n[d]\n"]
            ),
            "fio --name=c --size=8k \nfio --bs=2k --name=d \n"
        );
    }
}
