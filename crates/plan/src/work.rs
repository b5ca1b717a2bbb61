//! Engines that do no I/O: the load of `cpuio`, the program of `exec`, and what is left of a job without I/O.

use std::time::Duration;

use ferrio_job::{
    CpuLoad, CpuMode, Depth, Diagnostic, JobSpec, LayoutOptions, LifeCycle, Limits, OpenOptions, PlannedJob,
    Program, ReadWrite, Think,
};
use ferrio_jobfile::{Job, Opt, OptionScope, Options};

use crate::as_written::engine_is;
use crate::findings::Findings;

/// Pause between two looks at the program of `exec`, as in fio.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The load of `cpuio`.
pub(crate) fn cpu_load(options: &Options) -> CpuLoad {
    if !Opt::Cpuload.row().belongs_to(options.engine()) {
        return CpuLoad::default();
    }
    CpuLoad {
        percent: options.value::<u32>(Opt::Cpuload).min(100),
        chunk: Duration::from_micros(options.value(Opt::Cpuchunks)),
        mode: options.choice::<CpuMode>(Opt::Cpumode),
    }
}

/// The program of `exec`.
pub(crate) fn program(options: &Options) -> Program {
    if !Opt::Program.row().belongs_to(options.engine()) {
        return Program::default();
    }
    Program {
        path: options.text(Opt::Program).unwrap_or_default().to_owned(),
        arguments: options.text(Opt::Arguments).map(str::to_owned),
        grace: Duration::from_secs(options.value(Opt::GraceTime)),
        redirects: options.value(Opt::StdRedirect),
    }
}

/// Keeps of a job what has a meaning without I/O; the rest is off, and `is_about_io` says so.
pub(crate) fn leave_out_io(spec: &mut JobSpec) {
    let whole = std::mem::take(spec);
    let Limits { number_ios, runtime, time_based, ramp_time, startdelay, .. } = whole.limits;
    let cpu = &whole.engine_options.cpu;
    let time = if whole.engine.is_background_load() { cpu.pause(cpu.chunk) } else { POLL_INTERVAL };
    // Nothing else ends a job that only makes a load. fio ends such a job if it is a thread, whatever its run time.
    let endless = runtime.is_zero() && number_ios == 0;
    let exits = whole.life.ends_with_others || whole.thread || endless;
    *spec = JobSpec {
        name: whole.name,
        description: whole.description,
        compat: whole.compat,
        life: LifeCycle { ends_with_others: whole.engine.is_background_load() && exits, ..whole.life },
        group_reporting: whole.group_reporting,
        thread: whole.thread,
        rw: ReadWrite::Read,
        block: whole.block,
        generator: whole.generator,
        seeding: whole.seeding,
        engine: whole.engine,
        engine_options: whole.engine_options,
        depth: Depth { iodepth: 1, batch: 1, complete_min: 1, complete_max: 1, low: 1 },
        limits: Limits {
            size: Limits::UNLIMITED,
            io_size: None,
            number_ios,
            loops: 1,
            runtime,
            time_based,
            ramp_time,
            ramp_size: 0,
            startdelay,
        },
        think: Think { time, blocks: Some(1), ..Think::default() },
        layout: LayoutOptions { create_serialize: true, ..LayoutOptions::default() },
        opening: OpenOptions { openfiles: 1, readonly: whole.opening.readonly, ..OpenOptions::default() },
        worker: whole.worker,
        cpus_allowed: whole.cpus_allowed,
        memory_policy: whole.memory_policy,
        nice: whole.nice,
        priorities: whole.priorities,
        measure: whole.measure,
        logs: whole.logs,
        units: whole.units,
        options: whole.options,
        ..JobSpec::default()
    };
}

/// True for an option of a job without I/O that is about I/O.
pub(crate) fn is_about_io(job: &Job, opt: Opt) -> bool {
    engine_is(job, |engine| !engine.does_io()) && has_no_meaning_without_io(opt)
}

fn has_no_meaning_without_io(opt: Opt) -> bool {
    let row = opt.row();
    match (row.scope, row.category) {
        (OptionScope::Core, "file") => true,
        (OptionScope::Core, "io") => !matches!(opt, Opt::Ioengine | Opt::NumberIos),
        (OptionScope::Core, "general") => {
            row.group == "err"
                || matches!(
                    opt,
                    Opt::Loops
                        | Opt::VerifyOnly
                        | Opt::RampSize
                        | Opt::Steadystate
                        | Opt::SteadystateDuration
                        | Opt::SteadystateRampTime
                        | Opt::SteadystateCheckInterval
                        | Opt::HugepageSize
                )
        }
        _ => false,
    }
}

/// Loads end with the last job that does I/O. Where there is none, nothing ends one without a run time.
pub(crate) fn check_end(jobs: &[PlannedJob], findings: &mut Findings) {
    let has_end = |spec: &JobSpec| !spec.limits.runtime.is_zero() || spec.limits.number_ios > 0;
    let endless = jobs.iter().find(|job| !has_end(&job.spec));
    if let Some(job) = endless.filter(|_| jobs.iter().all(|job| job.spec.engine.is_background_load())) {
        let message = "no job does I/O, so nothing ends the load: the run ends at a signal only";
        let note = Diagnostic::note(message).code("endless-load").job(&job.spec.name);
        findings.warn(note.help("give the job a `runtime`"));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::plan_of;

    #[test]
    fn a_run_of_nothing_but_endless_loads_has_a_warning() {
        let is_warned =
            |text: &str| plan_of(text).unwrap().diagnostics.iter().any(|found| found.code == "endless-load");
        let load = "[c]\nioengine=cpuio\ncpuload=50\n";
        assert!(is_warned(load));
        assert!(is_warned(&format!("{load}[d]\nioengine=cpuio\ncpuload=5\nruntime=1\n")));
        assert!(!is_warned(&format!("{load}runtime=1\n")) && !is_warned(&format!("{load}number_ios=3\n")));
        assert!(!is_warned(&format!("{load}[i]\nioengine=null\nsize=4k\n")));
    }
}
