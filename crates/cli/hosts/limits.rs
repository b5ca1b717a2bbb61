//! What jobs from the network may do here: the limits of an agent that a server has started.
//!
//! Over ssh there are none, since whoever can log in can do the same without ferrio. A client of a server may be anybody who can reach it,
//! or has the token: such jobs start no programs, load no code, and touch files below certain directories only, unless the server was
//! started with more. Paths are judged twice: as they are written, before the planner looks at them, and as they are planned.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use ferrio_job::{Diagnostic, FileSpec, JobSpec, Origin, Plan, ReplaySteps};
use ferrio_jobfile::{GivenOption, Job, JobSet, Opt, Problems, Reach, Sources};

use crate::error::Error;

/// Limits of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Jobs may start programs and load engines.
    pub allows_exec: bool,
    /// Jobs may use these files and what is below these directories, without symbolic links in their own paths; empty for everything.
    roots: Vec<PathBuf>,
}

/// Mistakes shown at most: a plan may have a million files.
const MAX_SHOWN: usize = 20;

impl Limits {
    /// Those of an agent for a user who may log in.
    #[must_use]
    pub const fn none() -> Self {
        Limits { allows_exec: true, roots: Vec::new() }
    }

    /// Limits that permit files below `roots`; everywhere if there are none.
    ///
    /// # Errors
    /// A root does not exist.
    pub fn new(allows_exec: bool, roots: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let canonical = |root: &PathBuf| fs::canonicalize(root).map_err(|error| (root.clone(), error));
        Ok(Limits { allows_exec, roots: roots.iter().map(canonical).collect::<Result<_, _>>()? })
    }

    /// What jobs may use; nothing for everything.
    #[must_use]
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Makes the first directory that jobs may use the working directory, to which their names are relative.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn enter(&self) -> io::Result<()> {
        self.roots.iter().find(|root| root.is_dir()).map_or(Ok(()), std::env::set_current_dir)
    }

    /// Judges jobs as they are written.
    ///
    /// # Errors
    /// A job reaches beyond the limits.
    pub fn check_jobs(&self, set: &JobSet) -> Result<(), Error> {
        if *self == Limits::none() {
            return Ok(());
        }
        let beyond = set.jobs.iter().flat_map(|job| job.options.all().map(move |given| (job, given)));
        let beyond = beyond.filter_map(|(job, given)| self.mistake(job, given));
        refuse(beyond, &set.sources)
    }

    /// Judges jobs as they are planned: names made from others, files that were found, and those in logs.
    ///
    /// # Errors
    /// A job reaches beyond the limits.
    pub fn check_plan(&self, plan: &Plan, sources: &Sources) -> Result<(), Error> {
        if self.roots.is_empty() {
            return Ok(());
        }
        let specs = plan.jobs.iter().map(|job| &job.spec);
        let beyond = specs.flat_map(|spec| {
            let paths = paths_of(spec).into_iter();
            let beyond = paths.filter(|path| !self.permits(path));
            beyond.map(|path| self.outside(&path.display().to_string(), Origin::Builtin).job(&spec.name))
        });
        refuse(beyond, sources)
    }

    /// Judges the path of another file that a client names.
    ///
    /// # Errors
    /// It is beyond the limits.
    pub fn check_file(&self, path: &str) -> Result<(), Error> {
        match self.permits(Path::new(path)) {
            true => Ok(()),
            false => Err(self.outside(path, Origin::Builtin).into()),
        }
    }

    fn mistake(&self, job: &Job, given: &GivenOption) -> Option<Diagnostic> {
        let (reach, names) = given.reached();
        let directories = || job.options.list(Opt::Directory);
        match reach {
            Reach::Nothing | Reach::Logs => None,
            Reach::Program if self.allows_exec || names.is_empty() => None,
            Reach::Program => {
                let option = given.opt.row().name;
                let message = format!("on this server, jobs of clients start no programs: option `{option}`");
                let mistake = Diagnostic::error(message, given.origin.clone()).code("not-permitted");
                Some(
                    mistake
                        .help("start the server with --allow-exec, or with FERRIO_ALLOW_EXEC=1 called fio"),
                )
            }
            Reach::Files | Reach::FilesInDirectory | Reach::System if self.roots.is_empty() => None,
            Reach::System if self.permits(Path::new("/sys")) => None,
            Reach::System => {
                let what = format!("the setting of the system in option `{}`", given.opt.row().name);
                Some(self.outside(&what, given.origin.clone()))
            }
            Reach::Files => self.first_outside(&names, given),
            Reach::FilesInDirectory => {
                let below = |directory: &String| {
                    let joined = |name: &String| format!("{directory}/{name}");
                    self.first_outside(&names.iter().map(joined).collect::<Vec<_>>(), given)
                };
                // An absolute name may stand for itself, or be below the directory.
                let is_relative = !directories().is_empty();
                let plain = || self.first_outside(&names, given);
                if is_relative { directories().iter().find_map(below) } else { plain() }
            }
        }
    }

    fn first_outside(&self, names: &[String], given: &GivenOption) -> Option<Diagnostic> {
        let name = names.iter().find(|name| !self.permits(Path::new(name)))?;
        Some(
            self.outside(
                &format!("`{name}` of option `{}`", given.opt.row().name),
                given.value_origin.clone(),
            ),
        )
    }

    fn outside(&self, what: &str, origin: Origin) -> Diagnostic {
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        let message =
            format!("on this server, jobs of clients use files below {} only, not {what}", roots.join(", "));
        let mistake = Diagnostic::error(message, origin).code("not-permitted");
        mistake.help("start the server with --root=PATH for what else they may use; --root=/ permits all")
    }

    /// Whether the path, with all links in it resolved, is a root or below one.
    pub fn permits(&self, path: &Path) -> bool {
        self.roots.is_empty()
            || resolved(path).is_some_and(|path| self.roots.iter().any(|root| path.starts_with(root)))
    }
}

/// The path without links and `..`; `None` if that cannot be told. What does not exist yet may be the end of it.
fn resolved(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let mut existing = absolute.as_path();
    let mut missing = Vec::new();
    loop {
        match fs::canonicalize(existing) {
            Ok(found) => return Some(missing.iter().rev().fold(found, |path, name| path.join(name))),
            // A link to something that is missing: whoever creates the file creates it there.
            Err(_) if fs::symlink_metadata(existing).is_ok() => return None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // `..` behind something that is missing may be anywhere, once it is there.
                let Some(Component::Normal(name)) = existing.components().next_back() else { return None };
                missing.push(name.to_owned());
                existing = existing.parent()?;
            }
            Err(_) => return None,
        }
    }
}

/// All paths that a job uses.
fn paths_of(spec: &JobSpec) -> Vec<PathBuf> {
    let files = spec.files.iter().filter(|_| !spec.engine.is_diskless());
    let files = files.flat_map(|file: &FileSpec| {
        [Some(file.path.clone()), file.run.as_ref().map(|run| run.last.clone())].into_iter().flatten()
    });
    let recorded = spec.iolog.iter().map(|log| log.path.clone());
    let replayed = spec.replay.iter().flat_map(|replay| match &replay.steps {
        ReplaySteps::Chunked(log) => log.devices.values().chain(&log.rules.redirect).cloned().collect(),
        ReplaySteps::Loaded(_) => Vec::new(),
    });
    let socket = spec.network.iter().map(|network| network.socket_path.clone());
    let socket = socket.filter(|path| !path.as_os_str().is_empty());
    files.chain(recorded).chain(replayed).chain(socket).chain(spec.memory.file.clone()).collect()
}

fn refuse(beyond: impl Iterator<Item = Diagnostic>, sources: &Sources) -> Result<(), Error> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for mistake in beyond {
        // Of a global option, all jobs make the same one.
        if !diagnostics.contains(&mistake) {
            diagnostics.push(mistake);
        }
        if diagnostics.len() == MAX_SHOWN {
            break;
        }
    }
    if diagnostics.is_empty() {
        return Ok(());
    }
    Err(Error::Problems(Problems { diagnostics, sources: sources.clone() }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use ferrio_jobfile::{Builder, Environment};
    use ferrio_plan::PlanOptions;

    use super::*;

    fn jobs(text: &str) -> JobSet {
        let mut builder = Builder::new(Environment::default());
        builder.file("a.fio", text.as_bytes());
        builder.finish().unwrap()
    }

    fn refusals(result: Result<(), Error>) -> Vec<String> {
        match result {
            Ok(()) => Vec::new(),
            Err(Error::Problems(problems)) => {
                problems.diagnostics.into_iter().map(|wrong| wrong.message).collect()
            }
            Err(other) => panic!("{other:?}"),
        }
    }

    fn refused_options(limits: &Limits, text: &str) -> Vec<String> {
        let last_word = |message: String| message.rsplit('`').nth(1).map(str::to_owned);
        refusals(limits.check_jobs(&jobs(text))).into_iter().filter_map(last_word).collect()
    }

    #[test]
    fn programs_and_code_of_others_are_refused_unless_allowed() {
        let text = "[global]\nexec_prerun=a\nsize=1m\n[a]\nexec_postrun=b\n[b]\nioengine=exec\nprogram=c\n[c]\nioengine=external:./x.so\n";
        let mut limits = Limits::default();
        assert_eq!(refused_options(&limits, text), ["exec_prerun", "exec_postrun", "program", "ioengine"]);
        limits.allows_exec = true;
        assert_eq!(refused_options(&limits, text), [] as [&str; 0]);
        assert_eq!(refused_options(&Limits::none(), text), [] as [&str; 0]);
    }

    /// A root, with links and a file beside it.
    fn rooted() -> (tempfile::TempDir, PathBuf, Limits) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("d/e")).unwrap();
        fs::write(directory.path().join("outside"), "x").unwrap();
        symlink("d", root.join("inner")).unwrap();
        symlink("../outside", root.join("link")).unwrap();
        symlink(directory.path(), root.join("up")).unwrap();
        symlink("../not-there", root.join("dangling")).unwrap();
        let limits = Limits::new(false, std::slice::from_ref(&root)).unwrap();
        (directory, root, limits)
    }

    #[test]
    fn paths_stay_below_the_root_whatever_they_are_made_of() {
        let (directory, root, limits) = rooted();
        let permits = |path: &str| limits.permits(&root.join(path));
        for inside in ["", "f", "new/f", "d/e/../f", "inner/f", "d/./f", "up/root/f"] {
            assert!(permits(inside), "{inside}");
        }
        for outside in [
            "..",
            "../outside",
            "../rooted",
            "link",
            "up/f",
            "dangling",
            "new/../../outside",
            "/etc/passwd",
            "d/../..",
        ] {
            assert!(!permits(outside), "{outside}");
        }
        let other = Limits::new(false, &[root.join("d"), directory.path().join("outside")]).unwrap();
        assert!(other.permits(&directory.path().join("outside")) && other.permits(&root.join("link")));
        assert!(!other.permits(&root.join("f")));
        assert!(Limits::new(false, &[root.join("none")]).is_err());
    }

    #[test]
    fn options_with_paths_outside_are_refused_with_their_names() {
        let (_directory, root, limits) = rooted();
        let root = root.display();
        let paths = |options: &str| refused_options(&limits, &format!("[a]\nsize=1m\n{options}"));
        assert_eq!(
            paths(&format!("directory={root}\nfilename=a:d/b\nwrite_bw_log=/logs/of/client\n")),
            [] as [&str; 0]
        );
        for (options, name) in [
            ("filename=/etc/passwd\n".to_owned(), "filename"),
            (format!("directory={root}\nfilename=a:../x\n"), "filename"),
            ("directory=/tmp\n".to_owned(), "directory"),
            (format!("directory={root}\nwrite_iolog=/x\n"), "write_iolog"),
            (format!("directory={root}\nread_iolog=/etc/passwd\n"), "read_iolog"),
            (format!("directory={root}\nopendir={root}/..\n"), "opendir"),
            (format!("directory={root}\nmem=mmap:/dev/sda\n"), "mem"),
            (format!("directory={root}\nfilename_format=../$jobname\n"), "filename_format"),
            ("cgroup=bench\n".to_owned(), "cgroup"),
            ("ioscheduler=none\n".to_owned(), "ioscheduler"),
        ] {
            assert_eq!(paths(&options), [name], "{options}");
        }
    }

    #[test]
    fn names_that_only_the_plan_has_are_refused_too() {
        let (_directory, root, limits) = rooted();
        let text = format!("[up]\nsize=4k\ndirectory={}\nfilename_format=$jobname/f\n", root.display());
        let set = jobs(&text);
        assert!(limits.check_jobs(&set).is_ok());
        let plan = ferrio_plan::plan(&set, &PlanOptions::default()).unwrap();
        let refusals = refusals(limits.check_plan(&plan, &set.sources));
        assert_eq!(refusals.len(), 1);
        assert!(refusals[0].ends_with("/root/up/f"), "{refusals:?}");
    }
}
