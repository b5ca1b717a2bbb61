//! The profile `tiobench`: four files, written and read sequentially and at random with direct I/O, one job after the other.

use ferrio_job::Compat;
use ferrio_jobfile::{Opt, Options};

use super::{JobOptions, ProfileJobs, flag, value};

const FILE_NAMES: &str = ".fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4";
/// Total size of the files in bytes per MiB of memory.
const BYTES_PER_MIB: u64 = 4096;

/// Generates the jobs for a machine with this memory in MiB. fio accepts the options of the profile and ignores them.
pub(super) fn jobs(own: &Options, mb_memory: u64, compat: Compat) -> ProfileJobs {
    let is_used = |opt| compat == Compat::Ferrio && own.is_given(opt);
    let number = |opt, default: u32| if is_used(opt) { own.value(opt) } else { default };
    let directory = own.text(Opt::Dir).filter(|_| is_used(Opt::Dir)).unwrap_or("./");
    let all_jobs = vec![
        value("buffered", 0),
        value("size", mb_memory * BYTES_PER_MIB),
        value("bs", number(Opt::Block, 4096)),
        value("loops", number(Opt::Numruns, 1)),
        value("directory", directory),
        value("numjobs", number(Opt::Threads, 1)),
        value("runtime", 600),
        flag("group_reporting"),
        flag("thread"),
        value("overwrite", 1),
        value("filename", FILE_NAMES),
        value("ioengine", "sync"),
    ];
    let mut jobs = JobOptions::new();
    for (at, (name, rw)) in
        [("seqwrite", "write"), ("randwrite", "randwrite"), ("seqread", "read"), ("randread", "randread")]
            .into_iter()
            .enumerate()
    {
        jobs.push(value("name", name));
        jobs.extend((at > 0).then(|| flag("stonewall")));
        jobs.push(value("rw", rw));
        jobs.extend(rw.ends_with("write").then(|| value("end_fsync", 1)));
    }
    ProfileJobs { all_jobs, jobs }
}
