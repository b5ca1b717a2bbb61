//! `directory` and `opendir` must name directories that exist.

use std::path::Path;

use ferrio_job::Diagnostic;
use ferrio_jobfile::{Job, Opt, Value};

use crate::findings::Findings;

/// Looks at every directory a job was given.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    for given in job.options.all() {
        let names = match (given.opt, &given.value) {
            (Opt::Directory, Value::List(names)) => names.as_slice(),
            (Opt::Opendir, Value::Text(name)) => std::slice::from_ref(name),
            _ => continue,
        };
        for name in names.iter().filter(|name| !Path::new(name).is_dir()) {
            let problem = Diagnostic::error(format!("{name} is not a directory"), given.value_origin.clone())
                .code("not-a-directory");
            findings.refuse(problem.help("create it first: only directories inside file names are created"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, refusals};

    #[test]
    fn each_missing_directory_is_told() {
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
