//! The files and programs that options name.

use crate::catalogue::Reach;
use crate::options::GivenOption;
use crate::value::{Argument, Value};

impl GivenOption {
    /// What the value names, of the kind that the option reaches, with the names of files or programs as they were written.
    #[must_use]
    pub fn reached(&self) -> (Reach, Vec<String>) {
        let reach = self.opt.reach();
        let names = match &self.value {
            _ if reach == Reach::Nothing => Vec::new(),
            Value::Text(text) => vec![text.clone()],
            Value::List(names) => names.clone(),
            // The engines without a path are part of this program.
            Value::Engine(_, path) => path.iter().cloned().collect(),
            Value::Word(_, Argument::Path(path)) => vec![path.to_string_lossy().into_owned()],
            _ => Vec::new(),
        };
        (reach, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Opt;
    use ferrio_job::Origin;

    #[test]
    fn files_and_programs_of_values_are_found() {
        let reached = |opt, text| GivenOption::implied(opt, text, &Origin::Builtin).unwrap().reached();
        let some = |reach, names: &[&str]| (reach, names.iter().map(|name| (*name).to_owned()).collect());
        let nothing = Vec::new();
        assert_eq!(reached(Opt::Filename, "a:/b"), some(Reach::FilesInDirectory, &["a", "/b"]));
        assert_eq!(reached(Opt::Mem, "mmap:/x"), some(Reach::Files, &["/x"]));
        assert_eq!(reached(Opt::Mem, "malloc"), (Reach::Files, nothing.clone()));
        assert_eq!(reached(Opt::Ioengine, "external:/e.so"), some(Reach::Program, &["/e.so"]));
        assert_eq!(reached(Opt::Ioengine, "psync"), (Reach::Program, nothing.clone()));
        assert_eq!(reached(Opt::ExecPrerun, "rm -r x"), some(Reach::Program, &["rm -r x"]));
        assert_eq!(reached(Opt::Description, "/a"), (Reach::Nothing, nothing));
    }
}
