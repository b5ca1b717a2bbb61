//! Errors that do not end a job: `continue_on_error`, `ignore_error`, `error_dump`.

use ferrio_job::{ContinueOnError, JobSpec, Tolerance};
use ferrio_jobfile::{Job, Opt, Value};

use crate::as_written::{chooses, lacks};
use crate::inert::inert;

inert! {
    ErrorDump:
        |job| chooses(job, Opt::ContinueOnError, ContinueOnError::None) && lacks(job, Opt::IgnoreError);
        "the job ends at its first error without `continue_on_error`";
}

/// The errors that a class tolerates by default.
const USUAL: [i32; 2] = [libc::EIO, libc::EILSEQ];

/// A list in `ignore_error` replaces the default errors of its class and enables the class; an empty list changes nothing.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    let mut classes = match options.choice(Opt::ContinueOnError) {
        ContinueOnError::None => [false; 3],
        ContinueOnError::Read => [true, false, false],
        ContinueOnError::Write => [false, true, false],
        ContinueOnError::Io => [true, true, false],
        ContinueOnError::Verify => [false, false, true],
        ContinueOnError::All => [true; 3],
    }
    .map(|on| if on { USUAL.to_vec() } else { Vec::new() });
    let lists = options.all().filter(|given| given.opt == Opt::IgnoreError);
    for given in lists {
        let Value::Errors(lists) = &given.value else { continue };
        for (class, list) in classes.iter_mut().zip(lists).filter(|(_, list)| !list.is_empty()) {
            class.clone_from(list);
        }
    }
    let [read, write, verify] = classes;
    spec.tolerance = Tolerance { read, write, verify, dump: options.value(Opt::ErrorDump) };
}

#[cfg(test)]
mod tests {
    use crate::testing::spec_of;
    use ferrio_job::Tolerance;

    fn tolerance(options: &str) -> Tolerance {
        spec_of(&format!("[a]\nioengine=null\nsize=4k\n{options}")).tolerance
    }

    #[test]
    fn every_error_ends_a_job_that_says_nothing() {
        for options in ["", "continue_on_error=none\n", "continue_on_error=0\n", "ignore_error=\n"] {
            let tolerance = tolerance(options);
            assert!(!tolerance.any() && !tolerance.tolerates(libc::EIO, true), "{options:?}");
        }
    }

    #[test]
    fn a_class_tolerates_the_usual_errors_and_no_others() {
        let tolerates = |options: &str| {
            let tolerance = tolerance(options);
            assert!(!tolerance.tolerates(libc::ENOSPC, false), "{options:?}");
            let errors = [(libc::EIO, true), (libc::EIO, false), (libc::EILSEQ, true)];
            errors.map(|(errno, is_read)| tolerance.tolerates(errno, is_read))
        };
        assert_eq!(tolerates("continue_on_error=read\n"), [true, false, false]);
        assert_eq!(tolerates("continue_on_error=write\n"), [false, true, false]);
        assert_eq!(tolerates("continue_on_error=io\n"), [true, true, false]);
        assert_eq!(tolerates("continue_on_error=verify\n"), [false, false, true]);
        assert_eq!(tolerates("continue_on_error=all\n"), [true; 3]);
        assert_eq!(tolerates("continue_on_error=1\n"), [true; 3]);
    }

    #[test]
    fn a_list_replaces_the_usual_errors_of_its_class_and_switches_it_on() {
        let tolerance = tolerance("ignore_error=EAGAIN:0x5,ENOSPC\ncontinue_on_error=all\nerror_dump=1\n");
        assert_eq!(tolerance.read, [libc::EAGAIN, libc::EIO]);
        assert_eq!(tolerance.write, [libc::ENOSPC]);
        assert_eq!(tolerance.verify, [libc::EIO, libc::EILSEQ]);
        assert!(tolerance.dump);
    }

    #[test]
    fn lists_of_different_classes_add_up() {
        let text = "[global]\nioengine=null\nsize=4k\nignore_error=EIO\n[a]\nignore_error=,28\n";
        let tolerance = spec_of(text).tolerance;
        assert_eq!((tolerance.read, tolerance.write), (vec![libc::EIO], vec![libc::ENOSPC]));
    }
}
