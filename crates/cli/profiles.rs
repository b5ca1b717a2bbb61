//! The built-in profiles (`--profile`), which generate jobs from a few options of their own. The jobs are then handled like those of a
//! command line, so planning, `ferrio check` and reports do not depend on profiles.
//!
//! The generated jobs are those that `--debug=parse` of fio shows. If the program is called `ferrio`, other options of the command line
//! override those that a profile gives to all its jobs; if it is called `fio`, the profile takes precedence, as in fio.

mod act;
mod act_verdict;
mod tiobench;

use ferrio_job::{ArgOrigin, Compat, Diagnostic, Direction, Origin, Plan};
use ferrio_jobfile::{Builder, Environment, Opt, OptionScope, Options};

use crate::arguments::Item;
use crate::error::Error;
use crate::options::ProgramOption;

pub use act_verdict::{ActVerdict as Verdict, VerdictJudgement};

/// A built-in profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The load of a key-value store on SSDs, with limits for latencies.
    Act,
    /// Sequential and random writes and reads of a few files, one after the other.
    Tiobench,
}

impl Profile {
    /// All profiles with their names.
    pub const ALL: [(&str, Profile); 2] = [("act", Profile::Act), ("tiobench", Profile::Tiobench)];

    /// Finds a profile by name.
    pub fn named(name: &str) -> Option<Profile> {
        Profile::ALL.iter().find(|(known, _)| *known == name).map(|&(_, profile)| profile)
    }

    /// The pass/fail check of the profile's run, if the profile has one. It must be updated periodically during the run.
    pub fn verdict(self, plan: &Plan) -> Option<Verdict> {
        // The preparation of act only writes and has no limits.
        let measures = plan.jobs.iter().any(|job| job.spec.rw.does(Direction::Read));
        (self == Profile::Act && measures).then(Verdict::default)
    }

    fn name(self) -> &'static str {
        Profile::ALL.iter().find(|(_, profile)| *profile == self).map_or("", |(name, _)| name)
    }
}

/// Job options as names and values, in order; `name` begins a job. A flag has no value.
type JobOptions = Vec<(&'static str, Option<String>)>;

/// The options that a profile generates: those of all its jobs, then its jobs.
struct ProfileJobs {
    all_jobs: JobOptions,
    jobs: JobOptions,
}

/// A job option with a value.
fn value(name: &'static str, value: impl ToString) -> (&'static str, Option<String>) {
    (name, Some(value.to_string()))
}

/// A job option without a value.
fn flag(name: &'static str) -> (&'static str, Option<String>) {
    (name, None)
}

/// Adds the jobs of a profile to the builder, with the job options among `items`.
///
/// # Errors
/// An option of the profile is invalid, or the command line also defines jobs.
pub fn add(
    profile: Profile,
    items: &[Item],
    compat: Compat,
    mb_memory: u64,
    builder: &mut Builder,
) -> Result<(), Error> {
    refuse_other_jobs(profile, items)?;
    let place = items.iter().rev().find_map(|item| item.value_of(ProgramOption::Profile));
    let place = place.map(|(_, origin)| origin.clone());
    let place = place.unwrap_or(ArgOrigin { index: 0, text: format!("--profile={}", profile.name()) });
    let own = profile_options(profile, items)?;
    let generated = match profile {
        Profile::Act => act::jobs(&own, &place)?,
        Profile::Tiobench => tiobench::jobs(&own, mb_memory, compat),
    };
    let as_fio = compat == Compat::Fio;
    let add = |builder: &mut Builder, lines: JobOptions| {
        for (name, value) in lines {
            builder.command_option(name, value.as_deref(), place.clone());
        }
    };
    let (first, last) =
        if as_fio { (Vec::new(), generated.all_jobs) } else { (generated.all_jobs, Vec::new()) };
    add(builder, first);
    for item in items {
        // Called `fio`, the program includes options of the profile in JSON and does not show notes about them.
        if let Item::Job { name, value, origin } = item
            && (as_fio || !is_profile_option(profile, name))
        {
            builder.command_option(name, value.as_deref(), origin.clone());
        }
    }
    add(builder, last);
    add(builder, generated.jobs);
    Ok(())
}

/// Refuses jobs besides those of the profile.
fn refuse_other_jobs(profile: Profile, items: &[Item]) -> Result<(), Error> {
    let other = items.iter().find_map(|item| match item {
        Item::Job { name, value: Some(job), origin } if name == "name" => {
            Some((format!("the job `{job}`"), origin.origin()))
        }
        Item::File(name) => Some((format!("the job file `{name}`"), Origin::Builtin)),
        _ => None,
    });
    let Some((what, place)) = other else { return Ok(()) };
    let message = format!("--profile={} runs jobs of its own: {what} cannot run beside them", profile.name());
    Err(refusal(Diagnostic::error(message, place).help("run them one after the other")))
}

/// True if `name` is an option of this profile and not a job option.
fn is_profile_option(profile: Profile, name: &str) -> bool {
    let scopes: Vec<OptionScope> = Opt::named(name).map(|opt| opt.row().scope).collect();
    let is_core = scopes.contains(&OptionScope::Core);
    !is_core && scopes.iter().any(|scope| *scope == OptionScope::Profile(profile.name()))
}

/// The values of the profile's own options, parsed like job options.
fn profile_options(profile: Profile, items: &[Item]) -> Result<Options, Error> {
    let mut builder = Builder::new(Environment {
        var: Box::new(|_| None),
        read_file: Box::new(|_| Err(std::io::ErrorKind::Unsupported.into())),
        pagesize: 0,
        mb_memory: 0,
        ncpus: 0,
        ..Environment::default()
    });
    builder.begin_job(profile.name(), ArgOrigin { index: 0, text: String::new() });
    for item in items {
        if let Item::Job { name, value, origin } = item
            && is_profile_option(profile, name)
        {
            builder.command_option(name, value.as_deref(), origin.clone());
        }
    }
    let set = builder.finish().map_err(Error::Problems)?;
    Ok(set.jobs.into_iter().next().map(|job| job.options).unwrap_or_default())
}

/// The error for invalid options of a profile.
fn refusal(problem: Diagnostic) -> Error {
    problem.code("invalid-profile").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;
    use crate::job_files;
    use crate::options::OPTIONS;
    use crate::settings::ProgramSettings;
    use ferrio_jobfile::JobSet;

    fn read(words: &[&str], compat: Compat) -> Result<JobSet, Error> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let items = arguments::scan(&words, 1, OPTIONS, Compat::Ferrio).items;
        let settings = ProgramSettings::read(&items, compat).unwrap();
        let machine = Environment { mb_memory: 1000, ..job_files::environment() };
        job_files::read(&items, &settings, machine)
    }

    fn refused(words: &[&str]) -> String {
        read(words, Compat::Ferrio).unwrap_err().to_string()
    }

    /// The value of an option of each job.
    fn each(words: &[&str], compat: Compat, opt: Opt) -> Vec<String> {
        let set = read(words, compat).unwrap();
        let text = |job: &ferrio_jobfile::Job| job.options.given(opt).map(|given| given.text.clone());
        set.jobs.iter().map(|job| text(job).unwrap_or_default()).collect()
    }

    #[test]
    fn tiobench_is_four_jobs_one_after_the_other() {
        for compat in [Compat::Ferrio, Compat::Fio] {
            let words = ["--profile=tiobench"];
            assert_eq!(each(&words, compat, Opt::Name), ["seqwrite", "randwrite", "seqread", "randread"]);
            assert_eq!(each(&words, compat, Opt::Rw), ["write", "randwrite", "read", "randread"]);
            assert_eq!(each(&words, compat, Opt::EndFsync), ["1", "1", "", ""]);
            // 4096 bytes per MiB of memory.
            assert_eq!(each(&words, compat, Opt::Size), ["4096000"; 4]);
            assert_eq!(each(&words, compat, Opt::Runtime), ["600"; 4]);
            let files = ".fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4";
            assert_eq!(each(&words, compat, Opt::Filename), [files; 4]);
        }
    }

    #[test]
    fn options_of_tiobench_work_in_ferrio_and_not_in_fio() {
        let words =
            ["--profile=tiobench", "--block=8k", "--numruns=3", "--threads=2", "--size=1m", "--runtime=9"];
        let of = |compat, opt| each(&words, compat, opt)[3].clone();
        let all =
            |compat| [Opt::Bs, Opt::Loops, Opt::Numjobs, Opt::Size, Opt::Runtime].map(|opt| of(compat, opt));
        assert_eq!(all(Compat::Ferrio), ["8192", "3", "2", "1m", "9"]);
        assert_eq!(all(Compat::Fio), ["4096", "1", "1", "4096000", "600"]);
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().to_str().unwrap();
        let words = ["--profile=tiobench", &format!("--dir={dir}")];
        assert_eq!(each(&words, Compat::Ferrio, Opt::Directory), [dir; 4]);
    }

    #[test]
    fn act_is_readers_and_a_writer_for_each_device() {
        let words = ["--profile=act", "--device-names=/a,/b", "--load=4", "--test-duration=90"];
        let names = ["act-read-/a", "act-write-/a", "act-read-/b", "act-write-/b"];
        assert_eq!(each(&words, Compat::Ferrio, Opt::Name), names);
        assert_eq!(each(&words, Compat::Ferrio, Opt::RateIops), ["1000", "48", "1000", "48"]);
        assert_eq!(each(&words, Compat::Ferrio, Opt::Bs)[..2], ["1536", "131072"]);
        assert_eq!(each(&words, Compat::Ferrio, Opt::Numjobs)[..2], ["8", ""]);
        assert_eq!(each(&words, Compat::Ferrio, Opt::Runtime), ["90s"; 4]);
        let minutes = ["--profile=act", "--device-names=/a", "--test-duration=2m"];
        assert_eq!(each(&minutes, Compat::Fio, Opt::Runtime)[0], "120s");
    }

    #[test]
    fn the_loads_of_act_are_those_of_fio() {
        let rates = |options: &[&str]| {
            let words = [&["--profile=act", "--device-names=/a"], options].concat();
            each(&words, Compat::Ferrio, Opt::RateIops).join(" ")
        };
        assert_eq!(rates(&[]), "250 12");
        assert_eq!(rates(&["--load=2", "--threads-per-queue=3"]), "1333 24");
        assert_eq!(rates(&["--load=2", "--threads-per-queue=33"]), "121 24");
        let large = ["--load=32", "--read-req-num-512-blocks=8", "--large-block-op-kbytes=262144"];
        assert_eq!(rates(&large), "8000 500");
        assert_eq!(rates(&["--large-block-op-kbytes=1048576"]), "250 2");
    }

    #[test]
    fn the_preparation_of_act_fills_each_device_twice() {
        let words = ["--profile=act", "--device-names=/a,/b", "--prep"];
        let names = ["act-prep-zeroes-/a", "act-prep-salt-/a", "act-prep-zeroes-/b", "act-prep-salt-/b"];
        assert_eq!(each(&words, Compat::Ferrio, Opt::Name), names);
        assert_eq!(each(&words, Compat::Ferrio, Opt::Ioengine)[..2], ["sync", "libaio"]);
        let set = read(&words, Compat::Ferrio).unwrap();
        let given = |opt| set.jobs.iter().map(|job| job.options.is_given(opt)).collect::<Vec<_>>();
        assert_eq!(given(Opt::ZeroBuffers), [true, false, true, false]);
        assert_eq!(
            (given(Opt::Stonewall), given(Opt::Runtime)),
            (vec![false, true, false, true], vec![false; 4])
        );
    }

    #[test]
    fn options_that_make_no_load_are_refused() {
        assert!(
            refused(&["--profile=act"])
                .contains("act: you need to set IO target(s) with the device-names option.")
        );
        let act = |option: &str| refused(&["--profile=act", "--device-names=/a", option]);
        assert!(act("--load=0").contains("`load` must be at least 1"));
        assert!(act("--load=x").contains("--load=x"));
        assert!(act("--threads-per-queue=0").contains("between 1 and 2000"));
        assert!(act("--threads-per-queue=2001").contains("between 1 and 2000"));
        assert!(act("--large-block-op-kbytes=512").contains("at least as large as a read, 1536 bytes"));
        assert!(refused(&["--profile=tiobench", "--name=x"]).contains("the job `x` cannot run beside them"));
    }
}
