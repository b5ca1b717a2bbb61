//! Which files a clone of a job uses: explicit lists, a device the job is named after, or names made from a format; and the
//! directories that they are in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ferrio_job::{Diagnostic, Origin, reason};
use ferrio_jobfile::{Job, Opt, Options, Value};
use ferrio_machine::names_in;

use crate::as_written::{self, lacks};
use crate::findings::Findings;

/// The file names of a job, the same for all its clones.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    /// Files named by `filename` or found by `opendir`; empty when names are made from a format.
    named: Vec<PathBuf>,
    /// `nrfiles` in force.
    pub(crate) count: u32,
    /// Files that `opendir` found, if it was given.
    pub(crate) found: Option<usize>,
    /// The first path that `opendir` could not read.
    unreadable: Option<(PathBuf, io::Error, Origin)>,
}

impl FileNames {
    /// Evaluates the options in order: a list of names sets `nrfiles` to its length, a later `nrfiles` counts again.
    pub(crate) fn new(job: &Job) -> Self {
        let mut file_names =
            FileNames { count: Options::default().value(Opt::Nrfiles), ..FileNames::default() };
        let mut prefix = String::new();
        // A log names its files itself.
        let options = lacks(job, Opt::ReadIolog).then(|| job.options.all());
        for given in options.into_iter().flatten() {
            match (given.opt, &given.value) {
                (Opt::Directory, Value::List(names)) => {
                    prefix = names.first().map(|directory| prefix_in(job, directory)).unwrap_or_default();
                }
                (Opt::Filename, Value::List(names)) => {
                    file_names.named.extend(names.iter().map(|name| join(&prefix, name)));
                }
                (Opt::Opendir, Value::Text(root)) => {
                    let before = file_names.named.len();
                    if let Err((path, error)) = collect(Path::new(root), &mut file_names.named) {
                        file_names.unreadable = Some((path, error, given.value_origin.clone()));
                    }
                    file_names.found = Some(file_names.found.unwrap_or(0) + file_names.named.len() - before);
                }
                (Opt::Nrfiles, Value::Int(number)) => {
                    file_names.count = u32::try_from(*number).unwrap_or(u32::MAX);
                    continue;
                }
                _ => continue,
            }
            if given.opt != Opt::Directory {
                file_names.count = u32::try_from(file_names.named.len()).unwrap_or(u32::MAX);
            }
        }
        file_names
    }

    /// The refusal of the run if `opendir` could not read all of its tree.
    pub(crate) fn problem(&self, job: &Job) -> Option<Diagnostic> {
        let (path, error, origin) = self.unreadable.as_ref()?;
        let message = format!("cannot read {}: {}", path.display(), reason(error));
        let problem = Diagnostic::error(message, origin.clone());
        let problem = problem.code("unreadable-directory").job(as_written::name(job));
        let help = "opendir takes all files of a tree: run as a user who may read the tree, or choose another directory";
        Some(problem.help(help))
    }

    /// True when the user named the files, or the directory that they are in.
    pub(crate) fn are_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// The names of one clone's files.
    pub(crate) fn of_clone<'a>(&'a self, job: &'a Job, clone: u32) -> CloneNames<'a> {
        if !self.named.is_empty() || self.found.is_some() {
            return CloneNames::Listed(&self.named[..self.named.len().min(self.count as usize)]);
        }
        if self.count == 1 && is_special(&job.name) {
            return CloneNames::Device(&job.name);
        }
        let format: String = job.options.value(Opt::FilenameFormat);
        let format = format_of_clone(&format, job, clone);
        CloneNames::Made { prefix: prefix(job, clone), format, count: self.count }
    }

    /// Paths of one clone, in file order, directories included.
    pub(crate) fn paths<'a>(&'a self, job: &'a Job, clone: u32) -> impl Iterator<Item = PathBuf> + 'a {
        self.of_clone(job, clone).into_paths()
    }

    /// True if the names that are made for this clone are those of the first one, as they are with a format that lacks `$jobnum`, and do not
    /// mean a device.
    pub(crate) fn repeat_the_first(&self, job: &Job, clone: u32) -> bool {
        let is_made = self.named.is_empty() && self.found.is_none();
        let is_special = |path: PathBuf| path.to_str().is_some_and(is_special);
        clone > 0
            && is_made
            // A number of a clone in the names is in each of them.
            && self.paths(job, clone).next() == self.paths(job, 0).next()
            && !self.paths(job, clone).next().is_some_and(is_special)
    }
}

/// The names of one clone's files, in file order, directories included.
#[derive(Clone, Debug)]
pub(crate) enum CloneNames<'a> {
    /// A list that all clones share.
    Listed(&'a [PathBuf]),
    /// The job is called after what it uses.
    Device(&'a str),
    /// Made from a format that lacks nothing but the number of the file.
    Made { prefix: String, format: String, count: u32 },
}

/// The beginning and end of names that differ in one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberedNames {
    pub(crate) before: String,
    pub(crate) after: String,
}

impl<'a> CloneNames<'a> {
    /// Number of files.
    pub(crate) fn count(&self) -> u64 {
        match self {
            CloneNames::Listed(names) => names.len() as u64,
            CloneNames::Device(_) => 1,
            CloneNames::Made { count, .. } => u64::from(*count),
        }
    }

    /// The path of a file, if there are so many.
    pub(crate) fn path(&self, number: u64) -> Option<PathBuf> {
        match self {
            CloneNames::Listed(names) => names.get(usize::try_from(number).ok()?).cloned(),
            CloneNames::Device(name) => (number == 0).then(|| PathBuf::from(name)),
            CloneNames::Made { prefix, format, count } => {
                (number < u64::from(*count)).then(|| join(prefix, &name_of_file(format, number)))
            }
        }
    }

    fn into_paths(self) -> impl Iterator<Item = PathBuf> + 'a {
        let count = self.count();
        (0..count).filter_map(move |number| self.path(number))
    }

    /// Names that have the number of the file in one place. `None` for others.
    pub(crate) fn numbered(&self) -> Option<NumberedNames> {
        let CloneNames::Made { prefix, format, .. } = self else { return None };
        let (before, after) = split_once(format, FILE_NUMBER)?;
        let other = split_once(after, FILE_NUMBER);
        other.is_none().then(|| NumberedNames { before: prefix.clone() + before, after: after.to_owned() })
    }

    /// True if all files have the same name.
    pub(crate) fn are_one(&self) -> bool {
        match self {
            CloneNames::Listed(names) => names.windows(2).all(|pair| pair[0] == pair[1]),
            CloneNames::Device(_) => true,
            CloneNames::Made { format, count, .. } => {
                *count == 1 || split_once(format, FILE_NUMBER).is_none()
            }
        }
    }
}

/// What precedes the names of a clone's files: nothing without a directory. Clones take those of a list in turn.
fn prefix(job: &Job, clone: u32) -> String {
    // Of several lists the last counts. It is borrowed: each of many clones asks for one name of what may be a long list.
    let directories = job.options.given(Opt::Directory).map(|given| &given.value);
    let Some(Value::List(directories)) = directories else { return String::new() };
    let many = directories.len().max(1);
    directories.get(clone as usize % many).map(|directory| prefix_in(job, directory)).unwrap_or_default()
}

/// What precedes the names of files in a directory. Servers share directories, so the names there begin with the server's.
fn prefix_in(job: &Job, directory: &str) -> String {
    match job.server.as_deref() {
        Some(server) if job.options.value(Opt::UniqueFilename) => format!("{directory}/{server}."),
        _ => format!("{directory}/"),
    }
}

/// The path of a file in the directory of a clone's files.
pub(crate) fn in_directory(job: &Job, clone: u32, name: &str) -> PathBuf {
    join(&prefix(job, clone), name)
}

/// All regular files below a directory, links not followed, in order of names.
///
/// # Errors
/// The first directory that cannot be read, or entry of one that nothing can be learned about.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let names = names_in(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut names = names.map_err(|error| (directory.to_owned(), error))?;
    names.sort();
    for path in names.into_iter().map(|name| directory.join(name)) {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => files.push(path),
            Ok(found) if found.is_dir() => collect(&path, files)?,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err((path, error)),
            _ => {}
        }
    }
    Ok(())
}

/// fio puts the directory before absolute names, too.
fn join(prefix: &str, name: &str) -> PathBuf {
    PathBuf::from(format!("{prefix}{name}"))
}

/// A job named after something that exists and is not a regular file means that thing.
fn is_special(name: &str) -> bool {
    !name.is_empty() && fs::symlink_metadata(name).is_ok_and(|found| !found.is_file())
}

const FILE_NUMBER: &str = "$filenum";
const CLIENT: &str = "$clientuid";

/// The format of one clone's names. Keywords are replaced one after the other over the whole text, whatever their case.
fn format_of_clone(format: &str, job: &Job, clone: u32) -> String {
    let text = replace(format, "$jobname", &job.name);
    let text = replace(&text, "$jobnum", &clone.to_string());
    replace(&text, CLIENT, job.server.as_deref().unwrap_or_default())
}

/// The name that a format makes from the number of a file.
fn name_of_file(format: &str, number: u64) -> String {
    replace(format, FILE_NUMBER, &number.to_string())
}

/// The text before and after the first occurrence of a keyword, whatever its case.
fn split_once<'a>(text: &'a str, keyword: &str) -> Option<(&'a str, &'a str)> {
    // Lower-casing ASCII keeps byte positions.
    let at = text.to_ascii_lowercase().find(keyword)?;
    Some((&text[..at], &text[at + keyword.len()..]))
}

fn replace(text: &str, keyword: &str, value: &str) -> String {
    // As in `split_once`.
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, found) in lower.match_indices(keyword) {
        out.push_str(&text[done..at]);
        out.push_str(value);
        done = at + found.len();
    }
    out.push_str(&text[done..]);
    out
}

/// Names of one list that are refused one by one. Each message shows the whole list, which may be long.
const MAX_REPORTED: usize = 10;

/// `directory` and `opendir` must name directories that exist.
pub(crate) fn check_directories(job: &Job, findings: &mut Findings) {
    if !lacks(job, Opt::ReadIolog) {
        return;
    }
    for given in job.options.all() {
        let names = match (given.opt, &given.value) {
            (Opt::Directory, Value::List(names)) => names.as_slice(),
            (Opt::Opendir, Value::Text(name)) => std::slice::from_ref(name),
            _ => continue,
        };
        let problem = |message: String| {
            let problem = Diagnostic::error(message, given.value_origin.clone()).code("not-a-directory");
            problem.job(as_written::name(job))
        };
        let mut missing = names.iter().filter(|name| !Path::new(name).is_dir());
        for name in missing.by_ref().take(MAX_REPORTED) {
            let problem = problem(format!("{name} is not a directory"));
            findings.refuse(problem.help("create it first: only directories inside file names are created"));
        }
        let more = missing.count();
        if more > 0 {
            findings.refuse(problem(format!("{more} more names of this list are not directories")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{command_line_of, jobs_of, plan_of, refusals};

    fn names(text: &str, clone: u32) -> Vec<String> {
        let set = jobs_of(text);
        let job = &set.jobs[0];
        FileNames::new(job).paths(job, clone).map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn generated_names_carry_job_clone_and_file() {
        assert_eq!(names("[j]\nnrfiles=2\n", 3), ["j.3.0", "j.3.1"]);
        assert_eq!(names("[fm]\nfilename_format=X.$jobname.$JOBNUM.$filenum\n", 1), ["X.fm.1.0"]);
        assert_eq!(names("[q$jobnum]\n", 0), ["q0.0.0"]);
        assert_eq!(names("[j]\nnrfiles=0\n", 0), Vec::<String>::new());
    }

    #[test]
    fn names_in_directories_of_servers_begin_with_the_server() {
        let names = |text: &str| {
            let mut set = jobs_of(text);
            set.jobs[0].server = Some("10.0.0.1".to_owned());
            let names = FileNames::new(&set.jobs[0]);
            names.paths(&set.jobs[0], 0).map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names("[a]\ndirectory=d\n"), ["d/10.0.0.1.a.0.0"]);
        assert_eq!(names("[a]\ndirectory=d\nfilename=s/f:g\n"), ["d/10.0.0.1.s/f", "d/10.0.0.1.g"]);
        assert_eq!(names("[a]\ndirectory=d\nunique_filename=0\n"), ["d/a.0.0"]);
        assert_eq!(names("[a]\n"), ["a.0.0"]);
        assert_eq!(names("[a]\nfilename_format=X.$clientuid.$jobname\n"), ["X.10.0.0.1.a"]);
    }

    #[test]
    fn a_clone_takes_its_directory_by_number_but_listed_files_always_the_first() {
        assert_eq!(names("[k]\ndirectory=d1:d2\n", 2), ["d1/k.2.0"]);
        assert_eq!(names("[k]\ndirectory=d1:d2\n", 1), ["d2/k.1.0"]);
        assert_eq!(names("[k]\nfilename=aa:/bb\ndirectory=d1:d2\n", 1), ["d1/aa", "d1//bb"]);
        let text = "[global]\nfilename=g\n[a]\nfilename=x:y\ndirectory=d:e\nfilename=z\n";
        assert_eq!(names(text, 0), ["g", "d/x", "d/y", "d/z"]);
    }

    #[test]
    fn names_repeat_if_they_lack_the_number_of_the_clone() {
        let repeat = |text: &str, clone: u32| {
            let set = jobs_of(text);
            FileNames::new(&set.jobs[0]).repeat_the_first(&set.jobs[0], clone)
        };
        let shared = "[j]\nfilename_format=x.$filenum\nnrfiles=2\n";
        assert_eq!([0, 1, 2].map(|clone| repeat(shared, clone)), [false, true, true]);
        assert!(!repeat("[j]\n", 1));
        assert!(!repeat("[j]\nfilename=a\n", 1), "a list of names is for all clones");
        assert!(!repeat("[/dev/null]\n", 1), "so is a device");
        let directories = "[j]\nfilename_format=x\ndirectory=d1:d2\n";
        assert_eq!([1, 2].map(|clone| repeat(directories, clone)), [false, true]);
    }

    #[test]
    fn listed_files_accumulate_and_set_nrfiles() {
        assert_eq!(names("[global]\nfilename=a\n[j]\nfilename=b:q:q\nnrfiles=9\n", 0), ["a", "b", "q", "q"]);
    }

    #[test]
    fn on_the_command_line_order_counts() {
        let set =
            command_line_of(&[("name", "a"), ("filename", "x:y:z"), ("directory", "d"), ("nrfiles", "2")]);
        assert_eq!(
            FileNames::new(&set.jobs[0]).paths(&set.jobs[0], 0).collect::<Vec<_>>(),
            [PathBuf::from("x"), PathBuf::from("y")]
        );
    }

    #[test]
    fn opendir_takes_the_regular_files_of_a_tree() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().display().to_string();
        fs::create_dir(dir.path().join("sub")).unwrap();
        for name in ["b", "a", "sub/c"] {
            fs::write(dir.path().join(name), b"x").unwrap();
        }
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        let want: Vec<_> = ["a", "b", "sub/c"].iter().map(|name| format!("{root}/{name}")).collect();
        assert_eq!(names(&format!("[j]\nopendir={root}\ndirectory=/tmp\n"), 0), want);
    }

    #[test]
    fn a_job_named_after_a_directory_means_that_directory() {
        assert_eq!(names("[/tmp]\n", 0), ["/tmp"]);
        assert_eq!(names("[/tmp]\nnrfiles=2\n", 0), ["/tmp.0.0", "/tmp.0.1"]);
    }

    #[test]
    fn a_long_list_of_missing_directories_has_few_messages() {
        let names: Vec<_> = (0..200).map(|number| format!("/nonexistent/{number}")).collect();
        let refused = refusals(&format!("[a]\nsize=4k\ndirectory={}\n", names.join(":")));
        assert_eq!(refused.len(), MAX_REPORTED + 1);
        assert_eq!(refused[MAX_REPORTED], "190 more names of this list are not directories");
    }

    #[test]
    fn each_missing_directory_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().display();
        let text = format!("[a]\nsize=4k\ndirectory={here}:{here}/none:{here}/nor_this\n");
        let want = [format!("{here}/none is not a directory"), format!("{here}/nor_this is not a directory")];
        assert_eq!(refusals(&text), want);
        assert!(plan_of(&format!("[a]\nsize=4k\ndirectory={here}\n")).is_ok());
    }

    #[test]
    fn a_tree_to_open_must_exist() {
        assert_eq!(refusals("[a]\nopendir=/nonexistent\n"), ["/nonexistent is not a directory"]);
    }

    #[test]
    fn a_symbolic_link_to_a_directory_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("l");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(plan_of(&format!("[a]\nsize=4k\ndirectory={}\n", link.display())).is_ok());
    }
}
