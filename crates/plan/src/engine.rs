//! Which engine a job uses, and its private options.

use std::path::Path;
use std::time::Duration;

use ferrio_job::{
    CallOptions, Choice as _, Diagnostic, Direction, Donor, EngineKind, EngineOptions, ExternalEngine,
    FioWords, JobSpec, LibaioOptions, MmapOptions, PassthroughOptions, PerDirection, ProtectionChecks,
    ProtectionOptions, RingOptions, SgOptions, SgWriteMode, WriteMode,
};
use ferrio_jobfile::{AbsentEngine, Job, Opt, Options, absent_engine, nearest};

use crate::as_written::{asks, chooses, engine_is, inert, lacks, name, place, refuse};
use crate::direction::{never_writes, rw};
use crate::file_names::in_directory;
use crate::findings::Findings;
use crate::work;

inert! {
    ReadfuaIoUring WritefuaIoUring WriteMode Deac:
        |job| job.options.engine() == "io_uring"; "only engine io_uring_cmd acts on it";
    LatencyTarget MaxLatency:
        |job| engine_is(job, EngineKind::operates_on_files);
        "the engine measures operations on files, not I/Os";
    Atomic:
        never_writes; "the job does not write";
    WritefuaSg:
        |job| !matches!(job.options.choice(Opt::SgWriteMode), SgWriteMode::Write | SgWriteMode::WriteStream);
        "the command of `sg_write_mode` has no such bit";
    StreamId:
        |job| !chooses(job, Opt::SgWriteMode, SgWriteMode::WriteStream);
        "only `sg_write_mode=write_stream` writes to a stream";
    HipriPercentage:
        |job| !asks(job, Opt::HipriPvsync2); "nothing is polled without `hipri`";
    SqthreadPollCpu:
        |job| !asks(job, Opt::SqthreadPollIoUring); "there is no polling thread without `sqthread_poll`";
    PiActIoUring PiChkIoUring ApptagIoUring ApptagMaskIoUring:
        |job| job.options.engine() == "io_uring" && !asks(job, Opt::MdPerIoSizeIoUring); "I/Os have no protection information without `md_per_io_size`";
    UncachedIoUring UncachedPvsync2:
        |job| asks(job, Opt::Direct); "direct I/O leaves nothing in the page cache";
}

/// An option without which its engine has nothing to do.
struct Required {
    opt: Opt,
    code: &'static str,
    /// In fio's words.
    reason: &'static str,
    help: &'static str,
}

const REQUIRED: [Required; 3] = [
    Required {
        opt: Opt::Cpuload,
        code: "cpuio-without-load",
        reason: "cpu thread needs rate (cpuload=)",
        help: "give the share of CPU time to burn in percent, such as cpuload=50",
    },
    Required {
        opt: Opt::Donorname,
        code: "e4defrag-without-donor",
        reason: "'donorname' options required",
        help: "name a file on the same ext4 file system that gives its extents, such as donorname=donor",
    },
    Required {
        opt: Opt::Program,
        code: "exec-without-program",
        reason: "no program is defined, it is mandatory to define one",
        help: "give the program to run, such as program=/usr/bin/sync",
    },
];

/// The job's engine; `None` (and a refusal) for one this program does not have.
pub(crate) fn kind(job: &Job, findings: &mut Findings) -> Option<EngineKind> {
    let engine = job.options.engine();
    if let Some(kind) = EngineKind::from_word(engine) {
        let Some(reason) = kind.reason_of_absence() else { return Some(kind) };
        findings.refuse_unsupported(not_built_in(job, engine, reason));
        return None;
    }
    let names: Vec<_> = EngineKind::ALL.iter().map(|engine| engine.word()).collect();
    let help = format!("engines are {}", names.join(", "));
    if let Some(AbsentEngine { reason, instead, .. }) = absent_engine(engine) {
        let problem = not_loadable(job, engine).label(format!("not available: {reason}"));
        findings.refuse_unsupported(problem.help(format!("{instead}; {help}")));
        return None;
    }
    let lines = [format!("fio: engine {engine} not loadable"), "fio: failed to load engine".to_owned()];
    let problem = not_loadable(job, engine).code("unknown-engine").help(help);
    let problem = problem.in_fio(FioWords::Lines(lines.into()));
    findings.refuse(match nearest(engine, names.iter().copied()) {
        Some(near) => problem.label(format!("no such engine; did you mean `{near}`?")).suggest(near),
        None => problem.label("no such engine"),
    });
    None
}

/// The refusal of an engine that other builds of the program have.
fn not_built_in(job: &Job, engine: &str, reason: String) -> Diagnostic {
    let help = format!("for example `cargo install ferrio --features {engine}`");
    not_loadable(job, engine).label(reason).help(help)
}

fn not_loadable(job: &Job, engine: &str) -> Diagnostic {
    let problem = Diagnostic::error(format!("engine {engine} not loadable"), place(job, &[Opt::Ioengine]));
    problem.code("unavailable-engine").job(name(job))
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if engine_is(job, |engine| engine == EngineKind::External) {
        check_object(job, findings);
    }
    check_required(job, findings);
    check_protection(job, findings);
    check_passthrough(job, findings);
    if asks(job, Opt::Atomic) && !engine_is(job, EngineKind::can_ask_for_atomic_writes) {
        let message = "engine does not support atomic writes";
        let help = "remove `atomic`, or use an engine that has it: io_uring, libaio or pvsync2";
        refuse(findings, job, &[Opt::Atomic], "engine-without-atomic-writes", message, help);
    }
}

fn check_required(job: &Job, findings: &mut Findings) {
    let engine = job.options.engine();
    let missing =
        REQUIRED.iter().filter(|required| required.opt.row().belongs_to(engine) && !asks(job, required.opt));
    for &Required { opt, code, reason, help } in missing {
        let lines = [format!("fio: io engine {engine} init failed."), format!("fio: {reason}")];
        let problem = Diagnostic::error(reason, place(job, &[opt, Opt::Ioengine])).job(name(job));
        findings.refuse(problem.code(code).help(help).in_fio(FioWords::Lines(lines.into())));
    }
}

/// Rules about the commands of io_uring_cmd.
fn check_passthrough(job: &Job, findings: &mut Findings) {
    if job.options.engine() != "io_uring_cmd" {
        return;
    }
    let modes = job.options.text(Opt::WriteMode).unwrap_or_default();
    if modes.contains("zone_append") || job.options.word(Opt::Zonemode) == Some("zbd") {
        let message = "io_uring_cmd does not work in zones: neither write_mode=zone_append nor zonemode=zbd";
        let help = "use ioengine=io_uring with zonemode=zbd on the block device of the namespace";
        refuse(findings, job, &[Opt::WriteMode, Opt::Zonemode], "passthrough-in-zones", message, help);
    }
    let writes = rw(job).does(Direction::Write);
    if !writes && !modes.is_empty() && modes != "write" {
        let message = "'readwrite=|rw=' has no write";
        refuse(findings, job, &[Opt::WriteMode], "write-mode-without-writes", message, "remove `write_mode`");
    }
}

/// Rules about metadata and about what is read back.
fn check_protection(job: &Job, findings: &mut Findings) {
    let options = protection(&job.options);
    if options.metadata_bytes > 0 && options.app_tag_mask != 0xffff && job.options.engine() == "io_uring" {
        let message = "io_uring with metadata requires an apptag_mask of 0xffff";
        let help = "remove `apptag_mask`: the kernel's interface has no mask";
        refuse(findings, job, &[Opt::ApptagMaskIoUring], "apptag-mask", message, help);
    }
}

/// The object of an engine of others must be a file. What is in it shows when the job starts.
fn check_object(job: &Job, findings: &mut Findings) {
    let path = job.options.engine_path().unwrap_or_default();
    if Path::new(&path).is_file() {
        return;
    }
    let message = format!("invalid external ioengine path \"{path}\"");
    let words = vec![format!("fio: {message}"), format!("fio: failed parsing ioengine=external:{path}")];
    let problem = Diagnostic::error(message, place(job, &[Opt::Ioengine]))
        .job(name(job))
        .code("external-engine-missing")
        .label("no such file")
        .help("write the path of a shared object, such as external:./engine.so; docs/ferrio_engine.h says how to make one")
        .in_fio(FioWords::Lines(words));
    findings.refuse(problem);
}

/// The private options of the job's engine. Those of other engines have their defaults.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    let own = |opt: Opt| opt.row().belongs_to(options.engine());
    let any = |opts: &[Opt]| opts.iter().any(|&opt| own(opt) && asks(job, opt));
    let sqthread_poll = any(&[Opt::SqthreadPollIoUring]);
    spec.external = ExternalEngine {
        path: options.engine_path().unwrap_or_default(),
        options: options.text(Opt::ExternalOptions).unwrap_or_default().to_owned(),
    };
    spec.engine_options = EngineOptions {
        calls: CallOptions {
            atomic: asks(job, Opt::Atomic),
            hipri: any(&[Opt::HipriIoUring, Opt::HipriPvsync2, Opt::HipriSg]),
            hipri_percentage: options.value(Opt::HipriPercentage),
            nowait: any(&[Opt::NowaitIoUring, Opt::NowaitLibaio, Opt::NowaitPvsync2]),
            uncached: any(&[Opt::UncachedIoUring, Opt::UncachedPvsync2]),
        },
        ring: RingOptions {
            fixedbufs: options.value(Opt::Fixedbufs),
            registerfiles: options.value(Opt::Registerfiles) || sqthread_poll,
            sqthread_poll,
            sqthread_poll_cpu: options.if_given(Opt::SqthreadPollCpu),
            nonvectored: i32::try_from(options.value::<i64>(Opt::Nonvectored)).unwrap_or(-1),
            force_async: options.value(Opt::ForceAsync),
        },
        protection: protection(options),
        passthrough: PassthroughOptions {
            write_modes: write_modes(options.text(Opt::WriteMode).unwrap_or_default()),
            fua_reads: options.value(Opt::ReadfuaIoUring),
            fua_writes: options.value(Opt::WritefuaIoUring),
            deallocates: options.value(Opt::Deac),
        },
        libaio: LibaioOptions {
            userspace_reap: options.value(Opt::UserspaceReap)
                || spec.compat.reads_ring_first && lacks(job, Opt::UserspaceReap),
            vectored: options.value(Opt::LibaioVectored),
            backend: options.choice(Opt::LibaioBackend),
            blocking_syncs: false,
        },
        mmap: MmapOptions { thp: any(&[Opt::Thp]), invalidating_syncs: false },
        sg: SgOptions {
            fua_reads: any(&[Opt::ReadfuaSg]),
            fua_writes: any(&[Opt::WritefuaSg]),
            write_mode: options.choice(Opt::SgWriteMode),
            // The catalogue has the limit.
            stream_id: options.value::<u32>(Opt::StreamId) as u16,
        },
        skip_bad: options.value(Opt::SkipBad),
        uri: options.text(Opt::Uri).unwrap_or_default().to_owned(),
        stat_type: options.choice(Opt::StatType),
        cpu: work::cpu_load(options),
        program: work::program(options),
        ..EngineOptions::default()
    };
}

/// The private options that depend on the clone.
pub(crate) fn resolve_clone(job: &Job, spec: &mut JobSpec) {
    if engine_is(job, |engine| engine == EngineKind::E4defrag) {
        let name = job.options.text(Opt::Donorname).unwrap_or_default();
        spec.engine_options.donor = Donor {
            path: in_directory(job, spec.clone, name),
            reserves_per_io: job.options.value::<u32>(Opt::Inplace) == 1,
        };
    }
}

/// `mode` or `mode/percent:mode/percent`; those without a share have the rest in equal parts.
fn write_modes(text: &str) -> Vec<(WriteMode, u32)> {
    let entries: Vec<_> = text
        .split(':')
        .filter_map(|entry| {
            let (word, share) = entry.split_once('/').unwrap_or((entry, ""));
            Some((WriteMode::from_word(word.trim())?, share.trim().parse::<u32>().ok()))
        })
        .collect();
    let given: u32 = entries.iter().filter_map(|&(_, share)| share).sum();
    let mut blank = entries.iter().filter(|(_, share)| share.is_none()).count() as u32;
    let mut rest = 100_u32.saturating_sub(given);
    let mut part = || {
        let part = rest.div_ceil(blank.max(1));
        (rest, blank) = (rest - part, blank.saturating_sub(1));
        part
    };
    let modes: Vec<_> =
        entries.into_iter().map(|(mode, share)| (mode, share.unwrap_or_else(&mut part))).collect();
    if modes.is_empty() { vec![(WriteMode::Write, 100)] } else { modes }
}

/// Metadata and protection information.
fn protection(options: &Options) -> ProtectionOptions {
    let checks = options.words(Opt::PiChkIoUring).map_or_else(Vec::new, |(words, _)| words);
    // Tags are of 16 bits, whatever is written.
    let tag = |opt| options.value::<u32>(opt) as u16;
    ProtectionOptions {
        metadata_bytes: options.value(Opt::MdPerIoSizeIoUring),
        by_device: options.value(Opt::PiActIoUring),
        checks: ProtectionChecks {
            guard: checks.contains(&"GUARD"),
            reference_tag: checks.contains(&"REFTAG"),
            app_tag: checks.contains(&"APPTAG"),
        },
        app_tag: tag(Opt::ApptagIoUring),
        app_tag_mask: tag(Opt::ApptagMaskIoUring),
    }
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let measure = &mut spec.measure;
    if spec.engine_options.ring.sqthread_poll || spec.engine.merges() && !spec.offload {
        // Submitting is a store to memory: there is no submission latency to measure.
        measure.slat = false;
    }
    if spec.engine.operates_on_files() {
        // The one latency of an operation is reported as `clat`, and `disable_lat` is what suppresses it.
        measure.clat_percentiles &= measure.clat;
        (measure.clat, measure.lat, measure.slat) = (measure.lat, false, false);
        spec.latency_target.target = Duration::ZERO;
        spec.max_latency = PerDirection::default();
    }
    if spec.opening.direct && spec.engine.needs_dax_devices() {
        let message = "direct=1 has no meaning for a device that is memory";
        let help = "remove `direct`: there is no page cache between the job and the device";
        refuse(findings, job, &[Opt::Direct, Opt::Buffered], "device-without-direct", message, help);
    }
    if spec.opening.readonly && spec.engine.always_changes_files() {
        let engine = spec.engine.word();
        let message = format!("job <{}> has ioengine={engine}, but we're in read-only mode", spec.name);
        refuse(findings, job, &[Opt::Ioengine], "write-in-read-only-mode", message, "--readonly was given");
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{first_refusal, plan_of, problems_of, spec_of};
    use ferrio_job::{Choice as _, EngineKind, LibaioBackend, PerDirection, StatType};

    #[test]
    fn atomic_writes_are_refused_by_engines_that_cannot_ask_for_them() {
        let want = "engine does not support atomic writes";
        assert_eq!(first_refusal("atomic=1\ndirect=1\nrw=write\n"), want);
        let able = spec_of("[a]\nioengine=libaio\natomic=1\nrw=write\nsize=4k\n");
        assert!(able.engine_options.calls.atomic);
    }

    #[test]
    fn a_donor_of_extents_is_in_the_directory_of_the_clone() {
        let donors = |options: &str| {
            let text = format!("[a]\nioengine=e4defrag\nrw=write\nsize=4k\ndonorname=d\n{options}");
            let plan = plan_of(&text).unwrap();
            let donors = plan.jobs.into_iter().map(|job| job.spec.engine_options.donor);
            donors.map(|donor| (donor.path.display().to_string(), donor.reserves_per_io)).collect::<Vec<_>>()
        };
        assert_eq!(donors(""), [("d".to_owned(), false)]);
        let mut clones = donors("inplace=1\ndirectory=/tmp:/\nnumjobs=2\n");
        clones.sort();
        assert_eq!(clones, [("//d".to_owned(), true), ("/tmp/d".to_owned(), true)]);
        let missing = problems_of("[a]\nioengine=e4defrag\nrw=write\nsize=4k\n");
        assert_eq!(
            (missing[0].message.as_str(), missing[0].code),
            ("'donorname' options required", "e4defrag-without-donor")
        );
    }

    #[test]
    fn a_device_that_is_memory_is_never_direct() {
        let job = "[a]\nioengine=dev-dax\nfilename=/dev/null\nsize=4k\n";
        let want = "direct=1 has no meaning for a device that is memory";
        for options in ["direct=1\n", "buffered=0\n"] {
            assert_eq!(problems_of(&format!("{job}{options}"))[0].message, want);
        }
        let refused = plan_of(job).unwrap().jobs.remove(0).setup_error.unwrap();
        assert_eq!((refused.message.as_str(), refused.errno), ("/dev/null not a DAX device!", libc::EINVAL));
    }

    #[test]
    fn an_unknown_engine_is_refused_with_the_list_of_those_there_are() {
        let problems = problems_of("[a]\nioengine=foo\nsize=4k\n");
        assert_eq!(problems[0].message, "engine foo not loadable");
        assert_eq!(problems[0].label, "no such engine");
        let help = problems[0].help.as_deref().unwrap();
        let all: Vec<_> = EngineKind::ALL.iter().map(|engine| engine.word()).collect();
        assert_eq!(help, format!("engines are {}", all.join(", ")));
    }

    #[test]
    fn an_engine_that_other_builds_have_is_refused_with_the_way_to_get_it() {
        let set = crate::testing::jobs_of("[a]\nioengine=http\nsize=4k\n");
        let reason = "this ferrio was built without the engine http: install it with --features http";
        let refusal = super::not_built_in(&set.jobs[0], "http", reason.to_owned());
        assert_eq!(
            (refusal.message.as_str(), refusal.code),
            ("engine http not loadable", "unavailable-engine")
        );
        assert_eq!(refusal.label, reason);
        assert_eq!(EngineKind::Http.reason_of_absence().is_none(), EngineKind::Http.is_built_in());
        assert_eq!(EngineKind::Psync.reason_of_absence(), None);
        let problems =
            (!EngineKind::Http.is_built_in()).then(|| problems_of("[a]\nioengine=http\nsize=4k\n"));
        assert!(problems.is_none_or(|problems| problems[0].label == reason));
    }

    #[test]
    fn an_engine_that_cannot_be_here_is_one_refusal_with_the_reason_and_the_nearest_there_is() {
        let problems = problems_of("[a]\nioengine=rbd\nrbdname=x\npool=y\nsize=4k\n");
        assert_eq!(problems.len(), 1, "private options are no problems of their own");
        assert_eq!(problems[0].message, "engine rbd not loadable");
        assert_eq!(problems[0].code, "unavailable-engine");
        assert_eq!(
            problems[0].label,
            "not available: engine rbd needs Ceph's librbd, which ferrio is not linked with"
        );
        let help = problems[0].help.as_deref().unwrap();
        assert!(help.starts_with("map the image (rbd map) and use `io_uring` on the device; engines are "));
    }

    #[test]
    fn every_engine_of_fio_is_here_or_known_to_be_absent() {
        for name in ferrio_jobfile::Opt::Ioengine.row().words() {
            let here = EngineKind::from_word(name).is_some();
            assert!(here != ferrio_jobfile::absent_engine(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_misspelt_engine_gets_a_suggestion() {
        let problems = problems_of("[a]\nioengine=io_urign\nsize=4k\n");
        assert_eq!(problems[0].suggestion.as_deref(), Some("io_uring"));
    }

    #[test]
    fn old_names_and_suffixes_are_understood() {
        assert_eq!(spec_of("[a]\nioengine=aiofoo\nsize=4k\n").engine, EngineKind::Libaio);
        assert_eq!(spec_of("[a]\nioengine=linuxaio\nsize=4k\n").engine, EngineKind::Libaio);
        assert_eq!(spec_of("[a]\nsize=4k\n").engine, EngineKind::Psync);
    }

    #[test]
    fn a_polling_submission_thread_registers_files_and_ends_slat() {
        let spec = spec_of("[a]\nioengine=io_uring\nsqthread_poll\nsize=4k\nslat_percentiles=1\n");
        assert!(spec.engine_options.ring.registerfiles && spec.engine_options.ring.sqthread_poll);
        assert!(!spec.measure.slat && !spec.measure.slat_percentiles);
    }

    #[test]
    fn an_operation_on_a_file_has_one_latency_and_no_limit() {
        let spec =
            |options: &str| spec_of(&format!("[a]\nioengine=filestat\nstat_type=statx\nsize=4k\n{options}"));
        let measured = |options: &str| {
            let measure = spec(options).measure;
            (measure.clat, measure.clat_percentiles, measure.lat, measure.slat)
        };
        assert_eq!(measured(""), (true, true, false, false));
        assert_eq!(measured("disable_clat=1\n"), (true, false, false, false));
        assert_eq!(measured("disable_lat=1\n"), (false, false, false, false));
        assert_eq!(spec("").engine_options.stat_type, StatType::Statx);
        assert_eq!(spec("max_latency=1\n").max_latency, PerDirection::default());
    }

    #[test]
    fn files_to_create_or_remove_need_no_size() {
        let sizes = |engine: &str, options: &str| {
            let spec = spec_of(&format!("[a]\nioengine={engine}\nbs=8k\nnrfiles=2\n{options}"));
            spec.files.iter().map(|file| file.size).collect::<Vec<_>>()
        };
        assert_eq!(sizes("filecreate", ""), [8192, 8192]);
        assert_eq!(sizes("dirdelete", ""), [8192, 8192]);
        assert_eq!(sizes("filecreate", "size=64k\n"), [32768, 32768]);
        let filestat = plan_of("[a]\nioengine=filestat\n").unwrap();
        assert!(filestat.jobs[0].setup_error.is_some(), "files that are laid out have a size");
    }

    #[test]
    fn an_engine_reads_its_own_options_whatever_name_others_share() {
        let libaio =
            spec_of("[a]\nioengine=libaio\nlibaio_backend=io_uring\nnowait=1\nsize=4k\n").engine_options;
        assert_eq!(
            (libaio.libaio.backend, libaio.calls.nowait, libaio.calls.hipri),
            (LibaioBackend::IoUring, true, false)
        );
        let pvsync2 = spec_of("[a]\nioengine=pvsync2\nhipri\nhipri_percentage=30\nsize=4k\n").engine_options;
        assert_eq!((pvsync2.calls.hipri, pvsync2.calls.hipri_percentage), (true, 30));
    }
}
