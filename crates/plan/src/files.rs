//! How a job uses its files: which one comes next, how many are open, and what their kind excludes.

use ferrio_jobfile::{Argument, Job, Opt, Value};

use crate::as_written::{asks, inert, lacks, note, refuse};
use crate::direction::{changes_data, rw};
use crate::file_names::FileNames;
use crate::findings::Findings;
use ferrio_job::{Direction, FileKind, FileService, JobSpec, SetupError};

inert! {
    UnlinkEachLoop:
        |job| job.options.value::<u32>(Opt::Loops) <= 1 && !asks(job, Opt::TimeBased);
        "the job makes one pass over its files";
    Overwrite:
        |job| lacks(job, Opt::ReadIolog) && !rw(job).does(Direction::Read) && !rw(job).does(Direction::Write);
        "files that are only trimmed are not laid out with data";
    Overwrite:
        |job| lacks(job, Opt::ReadIolog) && rw(job).does(Direction::Read);
        "files that are read are laid out with data anyway";
    AllowMountedWrite:
        |job| lacks(job, Opt::ReadIolog) && !changes_data(rw(job)); "the job changes nothing";
    AllowLayoutOverwrite:
        |job| lacks(job, Opt::ReadIolog) && changes_data(rw(job)) && !asks(job, Opt::VerifyOnly);
        "it applies only to jobs that only read: the files of others may be replaced anyway";
    Openfiles:
        has_one_file; "the job has one file";
    FileServiceType:
        // A file that is never finished starts again at its end, also the only one.
        |job| has_one_file(job) && !job.options.value::<FileService>(Opt::FileServiceType).never_finishes();
        "the job has one file";
}

/// True if the job has one file; with `opendir`, the number of files is not known yet.
fn has_one_file(job: &Job) -> bool {
    lacks(job, Opt::ReadIolog) && lacks(job, Opt::Opendir) && FileNames::new(job).count <= 1
}

/// Rules about the job as written: reports an argument of `file_service_type` that has no effect.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    let given = job.options.given(Opt::FileServiceType).map(|given| &given.value);
    if let Some(Value::Word(word, argument @ Argument::Unused(_))) = given
        && !has_one_file(job)
    {
        let text = format!(
            "the {argument} of file_service_type={word} has no effect: a file is kept until it is finished"
        );
        findings.note(note(job, &[Opt::FileServiceType], "argument-without-effect", text));
    }
}

/// How files are made, laid out, taken in turn and removed.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    spec.file_append = options.value(Opt::FileAppend);
    spec.file_service = options.value(Opt::FileServiceType);
    spec.opening.openfiles = match options.value(Opt::Openfiles) {
        0 => u32::MAX,
        most => most,
    };
    spec.layout.overwrite = options.value(Opt::Overwrite);
    spec.layout.fallocate = options.choice(Opt::Fallocate);
    spec.layout.create_fsync = options.value(Opt::CreateFsync);
    spec.layout.create_serialize = options.value(Opt::CreateSerialize);
    spec.layout.create_on_open = options.value(Opt::CreateOnOpen);
    spec.layout.create_only = options.value(Opt::CreateOnly);
    spec.layout.unlink = options.value(Opt::Unlink);
    spec.layout.unlink_each_loop = options.value(Opt::UnlinkEachLoop);
    spec.opening.lockfile = options.choice(Opt::Lockfile);
    spec.opening.pre_read = options.value(Opt::PreRead) && !spec.engine.is_stream();
    spec.layout.allow_layout_overwrite = options.value(Opt::AllowLayoutOverwrite);
    spec.layout.allow_file_create = options.value(Opt::AllowFileCreate);
}

/// Refuses `end_syncfs` for files outside any file system: the data of a device is not in the file system of its node.
pub(crate) fn check_syncfs(spec: &JobSpec) -> Result<(), SetupError> {
    if spec.engine.operates_on_files() {
        return Ok(());
    }
    let other = spec.files.iter().find(|file| file.kind != FileKind::Regular);
    let Some(file) = other.filter(|_| spec.durability.end_syncfs && spec.rw.does(Direction::Write)) else {
        return Ok(());
    };
    let path = file.path.display();
    let message = match file.kind {
        FileKind::Pretend => {
            format!("end_syncfs needs a file system, and ioengine={} has no files", spec.engine.word())
        }
        _ => format!("end_syncfs cannot make {path} durable, which is a device: use end_fsync"),
    };
    Err(SetupError::new(libc::EINVAL, "syncfs", message))
}

/// Rules about the resolved job: layout must keep what the job reads, and files of `file_append` must be able to grow.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    spec.layout.overwrite |= spec.rw.does(Direction::Read);
    if asks(job, Opt::FileAppend) && spec.engine.cannot_extend() {
        let message = format!("can't append/extent with IO engine {}", spec.engine.word());
        let help = "use an engine that writes with system calls, such as psync or io_uring";
        refuse(findings, job, &[Opt::FileAppend], "engine-cannot-append", message, help);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{notes, null, plan_of, refusals, spec_of, wrong};
    use ferrio_job::FileService;
    use ferrio_job::{Skew, SkewShape};

    fn served(text: &str) -> FileService {
        spec_of(&format!("[a]\nioengine=null\nsize=64k\nfile_service_type={text}\n")).file_service
    }

    #[test]
    fn files_one_after_the_other_have_no_count() {
        let noted = |text: &str| {
            notes(&format!("[a]\nioengine=null\nsize=64k\nnrfiles=2\nfile_service_type={text}\n")).join("\n")
        };
        assert!(noted("sequential:4").contains("the :4 of file_service_type=sequential has no effect"));
        assert_eq!((noted("sequential"), noted("roundrobin:4")), (String::new(), String::new()));
        let of_one = notes("[a]\nioengine=null\nsize=64k\nfile_service_type=sequential:4\n");
        assert_eq!(of_one, ["option `file_service_type` has no effect here: the job has one file"]);
    }

    #[test]
    fn every_way_to_choose_a_file_is_understood() {
        assert_eq!(served("roundrobin:3"), FileService::RoundRobin { ios: 3 });
        assert_eq!(served("roundrobin:0"), FileService::default());
        assert_eq!(served("sequential"), FileService::Sequential);
        assert_eq!(served("random"), FileService::Random { ios: 1 });
        assert_eq!(served("random:7"), FileService::Random { ios: 7 });
        let skewed = |shape, center| FileService::Skewed(Skew { shape, center });
        assert_eq!(served("zipf"), skewed(SkewShape::Zipf(1.1), None));
        assert_eq!(served("zipf:0.8:0.25"), skewed(SkewShape::Zipf(0.8), Some(0.25)));
        assert_eq!(served("zipf_exact:1"), skewed(SkewShape::ZipfExact(1.0), None));
        assert_eq!(served("pareto:0.4"), skewed(SkewShape::Pareto(0.4), None));
        assert_eq!(served("gauss:20:0.5"), skewed(SkewShape::Normal(20.0), Some(0.5)));
    }

    #[test]
    fn files_are_opened_on_demand_when_they_must_not_all_be_open() {
        let on_demand = |options: &str| {
            spec_of(&format!("[a]\nioengine=null\nsize=64k\nrw=write\n{options}")).opens_on_demand()
        };
        assert!(!on_demand("nrfiles=4\n"));
        assert!(!on_demand("nrfiles=4\nopenfiles=0\n"));
        assert!(!on_demand("nrfiles=4\nopenfiles=4\n"));
        assert!(on_demand("nrfiles=4\nopenfiles=3\n"));
        assert!(on_demand("nrfiles=4\nfsync_on_close=1\n"));
        assert!(!on_demand("nrfiles=4\nfsync_on_close=1\nrw=read\n"));
        assert!(!on_demand("fsync_on_close=1\n"));
    }

    #[test]
    fn syncfs_is_refused_where_there_is_no_file_system() {
        let error = |text: &str| {
            let plan = plan_of(text).unwrap();
            plan.jobs[0].setup_error.as_ref().map(|error| error.message.clone())
        };
        let null = "[a]\nioengine=null\nsize=64k\nend_syncfs=1\n";
        let want = "end_syncfs needs a file system, and ioengine=null has no files";
        assert_eq!(error(&format!("{null}rw=write\n")).as_deref(), Some(want));
        assert_eq!(error(null), None, "a job that reads has nothing to sync");
        let device = "[a]\nfilename=/dev/null\nsize=64k\nend_syncfs=1\nrw=write\n";
        let want = "end_syncfs cannot make /dev/null durable, which is a device: use end_fsync";
        assert_eq!(error(device).as_deref(), Some(want));
    }

    #[test]
    fn jobs_that_read_overwrite() {
        assert!(spec_of(&null("rw=randrw\n")).layout.overwrite);
        assert!(!spec_of(&null("rw=write\n")).layout.overwrite);
        assert!(spec_of(&null("rw=write\noverwrite=1\n")).layout.overwrite);
    }

    #[test]
    fn mapped_files_cannot_be_appended_to() {
        let refused = refusals("[a]\nioengine=mmap\nrw=write\nsize=4k\nfile_append=1\n");
        assert_eq!(refused[0], "can't append/extent with IO engine mmap");
        assert!(wrong("rw=write\nfile_append=1\n").is_empty());
    }
}
