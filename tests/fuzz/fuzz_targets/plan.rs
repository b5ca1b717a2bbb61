//! A job file as far as its plan, read both ways: every rule about options that do not fit together.
//!
//! Only jobs of an engine without files get there, and none that lists a directory or asks for thousands of files or clones:
//! planning asks the machine about the rest.

#![cfg_attr(feature = "fuzzer", no_main)]

mod shared;
mod target;

use ferrio_job::ArgOrigin;
use ferrio_jobfile::{Builder, Dialect, Environment, Job, Opt, diagnostics_json, diagnostics_render};
use ferrio_plan::{PlanOptions, plan};

/// Most clones of a job, and most files of one.
const MANY: i64 = 32;

target::target!(|data: &[u8]| {
    for dialect in [Dialect::Ferrio, Dialect::Fio] {
        let mut builder = Builder::new(Environment { dialect, ..shared::environment(&[]) });
        for (index, (name, value)) in (1..).zip([("ioengine", "null"), ("size", "1m")]) {
            let text = format!("--{name}={value}");
            builder.command_option(name, Some(value), ArgOrigin { index, text });
        }
        builder.file("j.fio", data);
        let Some(set) = shared::finish(builder) else { continue };
        if !set.jobs.iter().all(is_harmless) {
            continue;
        }
        for warnings_fatal in [false, true] {
            match plan(&set, &PlanOptions { warnings_fatal, ..PlanOptions::default() }) {
                Ok(plan) => assert!(plan.jobs.len() >= set.jobs.len()),
                Err(problems) => {
                    assert!(!problems.diagnostics.is_empty());
                    diagnostics_render(&problems.diagnostics, &set.sources, true);
                    diagnostics_json(&problems.diagnostics, &set.sources);
                }
            }
        }
    }
});

/// Whether planning a job looks at no file and ends soon.
fn is_harmless(job: &Job) -> bool {
    let few = |opt| job.options.if_given::<i64>(opt).is_none_or(|number| number <= MANY);
    job.options.engine() == "null"
        && !job.options.is_given(Opt::Opendir)
        && few(Opt::Numjobs)
        && few(Opt::Nrfiles)
}
