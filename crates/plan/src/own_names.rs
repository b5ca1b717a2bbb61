//! Names of files that a run makes, among them names that it makes up from those of jobs. fio takes them as they are: a name with escape
//! sequences can change what a terminal shows of a directory, and a job named `../x` puts its files elsewhere.

use std::path::{Component, Path};

use ferrio_job::{FileKind, JobSpec, in_one_line, log_files};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, lacks, refuse};
use crate::findings::Findings;

/// Files of a job that are looked at: names of a series differ in numbers only.
const MAX_EXAMINED: usize = 100;

const CODE: &str = "unsafe-file-name";

/// Refuses names with control characters, unless the file is there already, and names made from that of a job that lead upwards.
pub(crate) fn check(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let is_new = |found: Option<u64>, kind| found.is_none() && kind == FileKind::Regular;
    let files = spec.files.iter().take(MAX_EXAMINED).filter(|file| is_new(file.found, file.kind));
    let files: Vec<String> = files.map(|file| file.path.to_string_lossy().into_owned()).collect();
    let logs: Vec<String> = log_files(spec).into_iter().map(|log| log.path).collect();
    let has_outputs = spec.life.runs_commands() || asks(job, Opt::VerifyStateSave);
    let named_after_job = if has_outputs { Some(spec.name.clone()) } else { None };
    let mut names = files.iter().chain(&logs).chain(&named_after_job);
    if let Some(name) = names.find(|name| name.contains(char::is_control)) {
        let message =
            format!("the name of a file to be made, `{}`, has control characters", in_one_line(name));
        let help = "choose another filename, log prefix or job name; --as=fio makes such files";
        let opts = [Opt::Filename, Opt::Directory, Opt::FilenameFormat];
        return refuse(findings, job, &opts, CODE, message, help);
    }
    let leads_up = |name: &str| Path::new(name).components().any(|part| part == Component::ParentDir);
    let is_after_job = |log: &String| log.starts_with(&spec.name);
    let makes_files = !files.is_empty() && lacks(job, Opt::Filename);
    if leads_up(&spec.name) && (makes_files || has_outputs || logs.iter().any(is_after_job)) {
        let message =
            format!("files named after the job `{}` would be made outside of its directory", spec.name);
        let help = "choose another name for the job, or name its files by filename and the prefixes of logs";
        refuse(findings, job, &[], CODE, message, help);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, refusals};

    #[test]
    fn names_that_a_job_makes_up_stay_in_its_directory() {
        let outside = "files named after the job `../a` would be made outside of its directory";
        for text in [
            "rw=write\nsize=4k\n",
            "ioengine=null\nsize=4k\nwrite_lat_log\n",
            "ioengine=null\nsize=4k\nexec_prerun=true\n",
        ] {
            assert_eq!(refusals(&format!("[../a]\n{text}")), [outside], "{text}");
        }
        for text in [
            "ioengine=null\nsize=4k\n",
            "ioengine=null\nsize=4k\nwrite_lat_log=../x\n",
            "rw=write\nsize=4k\nfilename=../f\n",
        ] {
            assert!(plan_of(&format!("[../a]\n{text}")).is_ok(), "{text}");
        }
        assert!(plan_of("[a/..b]\nrw=write\nsize=4k\n").is_ok(), "a job may have a directory of its own");
    }

    #[test]
    fn files_that_are_made_have_no_control_characters_in_their_names() {
        for text in
            ["rw=write\nsize=4k\nfilename=a\u{1b}[2J\n", "ioengine=null\nsize=4k\nwrite_lat_log=a\u{1b}[2J\n"]
        {
            let refused = refusals(&format!("[a]\n{text}"));
            assert!(refused.len() == 1 && refused[0].contains("a\\x1b[2J"), "{refused:?}");
        }
    }
}
