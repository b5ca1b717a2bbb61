//! The profile `tiobench`: four files, written and read sequentially and at random by direct I/O, one job after the other.

use ferrio_job::Compat;
use ferrio_jobfile::{Opt, Options};

use super::{Generated, Lines, Surroundings, flag, value};

const FILES: &str = ".fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4";
/// Bytes of the files together, per MiB of memory.
const BYTES_PER_MIB: u64 = 4096;

/// The jobs. fio accepts the options of the profile and does nothing with them.
pub(super) fn jobs(own: &Options, surroundings: &Surroundings) -> Generated {
    let is_used = |opt| surroundings.compat == Compat::Ferrio && own.is_given(opt);
    let number = |opt, default: u32| if is_used(opt) { own.value(opt) } else { default };
    let directory = own.text(Opt::Dir).filter(|_| is_used(Opt::Dir)).unwrap_or("./");
    let all_jobs = vec![
        value("buffered", 0),
        value("size", surroundings.mb_memory * BYTES_PER_MIB),
        value("bs", number(Opt::Block, 4096)),
        value("loops", number(Opt::Numruns, 1)),
        value("directory", directory),
        value("numjobs", number(Opt::Threads, 1)),
        value("runtime", 600),
        flag("group_reporting"),
        flag("thread"),
        value("overwrite", 1),
        value("filename", FILES),
        value("ioengine", "sync"),
    ];
    let mut jobs = Lines::new();
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
    Generated { all_jobs, jobs }
}
