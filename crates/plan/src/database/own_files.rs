//! Each database has files of its own: its data, its log and its double-write area are different files, and no other database that runs
//! at the same time has one of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ferrio_jobfile::{Job, Opt};
use ferrio_machine::FileIdentity;

use super::model::DatabaseFiles;
use crate::as_written::{name, refuse};
use crate::findings::Findings;

const CODE: &str = "database-files";

/// The files of the databases so far, whatever paths lead to them.
#[derive(Debug, Default)]
pub(crate) struct OwnFiles {
    used: HashMap<Place, Use>,
}

/// Where a file is or will be: the nearest file or directory that can be told from all others, and the path from there. Directories
/// inside file names are made with the files.
type Place = (FileIdentity, PathBuf);

/// What a file is for.
#[derive(Debug)]
struct Use {
    job: String,
    phase: usize,
    load: u32,
    opt: Opt,
    path: PathBuf,
}

impl OwnFiles {
    /// Notes the files of load number `load`, which begins in this phase. Refuses one that it uses twice, or that is used by a database
    /// which may still run.
    pub(crate) fn add(
        &mut self,
        job: &Job,
        load: u32,
        phase: usize,
        files: &DatabaseFiles,
        findings: &mut Findings,
    ) {
        for (opt, path) in files.by_option() {
            let Some(place) = place_of(path) else { continue };
            let new = Use { job: name(job).to_owned(), phase, load, opt, path: path.to_owned() };
            let Some(known) = self.used.insert(place, new) else { continue };
            let is_of_another = known.load != load;
            if is_of_another && (known.phase != phase || waits_for(job, &known.job)) {
                continue;
            }
            let (option, other) = (opt.row().name, known.opt.row().name);
            let message = format!(
                "{option} ({}) is the same file as {other} ({})",
                path.display(),
                known.path.display()
            );
            let (message, help) = if is_of_another {
                let message = format!("{message} of job {}, which runs at the same time", known.job);
                (
                    message,
                    "give each database files of its own, or run it later with `stonewall` or `wait_for`",
                )
            } else {
                (message, "give the data, the log and the double-write area files of their own")
            };
            refuse(findings, job, &[opt, known.opt], CODE, message, help);
            return;
        }
    }
}

fn place_of(path: &Path) -> Option<Place> {
    path.ancestors().find_map(|above| {
        let identity = FileIdentity::of_path(above)?;
        Some((identity, path.strip_prefix(above).ok()?.to_owned()))
    })
}

fn waits_for(job: &Job, other: &str) -> bool {
    job.options.text(Opt::WaitFor) == Some(other)
}
