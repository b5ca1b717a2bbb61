//! `sprandom`: which jobs can precondition an SSD, and how much they write.

use std::sync::Arc;

use ferrio_job::{
    Diagnostic, Direction, Distribution, Generator, JobSpec, PlannedJob, PlannedSection, RandomGenerator,
    RandomOrder, ReadWrite, RwPostfix, Sprandom,
};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, chooses, inert, lacks, note, refuse};
use crate::direction::rw;
use crate::findings::Findings;

inert! {
    SprNumRegions SprOp SprCs:
        |job| !asks(job, Opt::Sprandom); "it applies only to `sprandom`";
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if !asks(job, Opt::Sprandom) {
        return;
    }
    if job.options.is_given(Opt::ReadIolog) {
        let message = "sprandom chooses the writes itself, but `read_iolog` takes them from a log";
        refuse(findings, job, &[Opt::ReadIolog], CONFLICT, message, "remove one of the two");
        return;
    }
    if rw(job) != ReadWrite::RandWrite {
        let message = "sprandom requires random write, random_generator=lfsr, norandommap=1";
        let opts = [Opt::Sprandom, Opt::Rw];
        refuse(findings, job, &opts, "sprandom-without-random-writes", message, "set rw=randwrite");
    }
    let is_lfsr = chooses(job, Opt::RandomGenerator, RandomGenerator::Lfsr);
    let has_no_map = job.options.value(Opt::Norandommap);
    for (opt, is_set, setting, code) in [
        (Opt::RandomGenerator, is_lfsr, "random_generator=lfsr", "sprandom-with-other-generator"),
        (Opt::Norandommap, has_no_map, "norandommap=1", "sprandom-with-random-map"),
    ] {
        if lacks(job, opt) {
            let text = format!("sprandom sets {setting}");
            findings.note(note(job, &[Opt::Sprandom], "option-set-by-sprandom", text));
        } else if !is_set {
            let help =
                if opt == Opt::Norandommap { "remove `norandommap=0`" } else { "remove `random_generator`" };
            refuse(findings, job, &[opt], code, format!("sprandom requires {setting}"), help);
        }
    }
    values_make_sense(job, findings);
}

/// The order of the offsets.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    if asks(job, Opt::Sprandom) {
        spec.random_map = false;
        spec.random_order = RandomOrder::Lfsr;
        spec.generator = Generator::Tausworthe32;
    }
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if !asks(job, Opt::Sprandom) {
        return;
    }
    let block = &spec.block[Direction::Write];
    let others = spec.rw_postfix != RwPostfix::None
        || spec.percentage_random[Direction::Write] < 100
        || spec.distribution != Distribution::Uniform
        || spec.zones.is_some()
        || spec.zbd.is_some();
    if others {
        let opts = [Opt::Rw, Opt::PercentageRandom, Opt::RandomDistribution, Opt::Zonemode];
        let message = "sprandom chooses the offsets itself, but another option chooses them too";
        let help =
            "remove the postfix of rw=randwrite, `percentage_random`, `random_distribution` and `zonemode`";
        refuse(findings, job, &opts, CONFLICT, message, help);
    }
    if block.min != block.max || block.align != block.min {
        let opts = [Opt::Bs, Opt::Bsrange, Opt::Bssplit, Opt::Ba];
        let message = "sprandom requires one block size for writes, to which they are aligned";
        let help = "set the size of the writes with `bs`, and remove `blockalign`";
        refuse(findings, job, &opts, CONFLICT, message, help);
    }
    if spec.limits.loops > 1 || spec.limits.time_based {
        let opts = [Opt::Loops, Opt::TimeBased];
        let message = "sprandom makes one pass over the device, and another one would undo its work";
        refuse(findings, job, &opts, CONFLICT, message, "remove `loops` and `time_based`");
    }
    if spec.fill_device {
        let message =
            "sprandom needs to know how much it writes, but fill_device writes until the device is full";
        refuse(findings, job, &[Opt::FillDevice], CONFLICT, message, "remove `fill_device`");
    }
    if spec.engine.operates_on_files() || spec.engine.has_peer() || spec.engine.has_objects() {
        let message =
            format!("sprandom writes blocks of a device or file, but {} does not", spec.engine.word());
        refuse(findings, job, &[Opt::Sprandom, Opt::Ioengine], CONFLICT, message, "choose another engine");
    }
    if spec.limits.number_ios > 0 || !spec.limits.runtime.is_zero() || spec.steadystate.is_some() {
        let opts = [Opt::NumberIos, Opt::Runtime, Opt::Steadystate];
        let text = "a pass of sprandom that ends early does not leave the device in its steady state";
        findings.warn(note(job, &opts, "sprandom-may-end-early", text));
    }
}

/// Decides how much is written, once the file is known.
pub(crate) fn apply_file_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if !asks(job, Opt::Sprandom) {
        return;
    }
    let [file] = &spec.files[..] else {
        let message = format!("sprandom requires one file, but the job has {}", spec.files.len());
        let opts = [Opt::Filename, Opt::Nrfiles, Opt::Opendir];
        let help = "write a job for each device";
        refuse(findings, job, &opts, "sprandom-with-several-files", message, help);
        return;
    };
    let room = spec.limits.size.min(file.size).min(file.real_size);
    let logical = spec.limits.io_size.map_or(room, |bytes| bytes.min(room));
    let regions = job.options.value::<u32>(Opt::SprNumRegions);
    let cache = job.options.value::<u64>(Opt::SprCs);
    let over_provisioning = job.options.value::<f64>(Opt::SprOp);
    let block = spec.block[Direction::Write].min;
    let pass = Sprandom::new(logical, block, regions, over_provisioning, cache);
    let most_regions = |bytes: u64| pass.physical_blocks / bytes.div_ceil(pass.block_bytes).max(1);
    if pass.region_blocks == 0 {
        let message = format!(
            "sprandom cannot divide {} blocks of {block} bytes into {regions} regions",
            pass.physical_blocks
        );
        let help =
            format!("set `spr_num_regions` to at most {}, or choose a smaller block size", most_regions(1));
        let opts = [Opt::Sprandom, Opt::SprNumRegions];
        refuse(findings, job, &opts, "sprandom-regions-too-small", message, &help);
    } else if cache > pass.region_bytes() {
        let message = match most_regions(cache) {
            0 => format!(
                "spr_cs={cache} is more than sprandom writes, which is {} bytes",
                pass.physical_bytes()
            ),
            most => format!(
                "spr_cs={cache} is larger than a region of {} bytes: with this cache there can be at most {most} regions",
                pass.region_bytes()
            ),
        };
        let help = "set `spr_num_regions` to a smaller number, or `spr_cs` to the size of the device's cache";
        let opts = [Opt::SprCs, Opt::SprNumRegions];
        refuse(findings, job, &opts, "sprandom-regions-smaller-than-cache", message, help);
    }
    spec.limits.io_size = Some(pass.physical_bytes());
    spec.sprandom = Some(Arc::new(pass));
}

/// Clones that write the same blocks would spoil each other's order.
pub(crate) fn clones_are_apart(jobs: &[PlannedJob], sections: &[PlannedSection], findings: &mut Findings) {
    for section in sections {
        let clones = &jobs[section.jobs.clone()];
        if clones.first().is_none_or(|job| job.spec.sprandom.is_none()) {
            continue;
        }
        let mut files: Vec<_> = clones.iter().flat_map(|job| &job.spec.files).collect();
        files.sort_by(|a, b| (&a.path, a.offset).cmp(&(&b.path, b.offset)));
        let meet =
            files.windows(2).find(|pair| pair[0].path == pair[1].path && pair[0].end() > pair[1].offset);
        if let Some(pair) = meet {
            let message = format!(
                "several clones of a job with sprandom write the same part of {}",
                pair[0].path.display()
            );
            let help = "remove `numjobs`, or give each clone its part with `size` and `offset_increment`";
            let problem = Diagnostic::error(message, section.origin.clone()).code("sprandom-clones-overlap");
            findings.refuse(problem.help(help).job(&section.name));
        }
    }
}

/// The code of options that exclude `sprandom`.
const CONFLICT: &str = "sprandom-with-conflicting-option";

fn values_make_sense(job: &Job, findings: &mut Findings) {
    let op = job.options.value::<f64>(Opt::SprOp);
    // What is not a number is not above 0 either.
    if !(op > 0.0 && op < 1.0) {
        let message = format!(
            "spr_op={op} is out of range: spare space is a share of the capacity, above 0 and below 1"
        );
        let help = "a device of 1000 GB with 1150 GB of flash has spr_op=0.15";
        refuse(findings, job, &[Opt::SprOp], "sprandom-value-out-of-range", message, help);
    }
    let regions = job.options.value::<u32>(Opt::SprNumRegions);
    let most = Sprandom::MAX_REGIONS;
    if regions == 0 || regions > most {
        let message = format!("spr_num_regions={regions} is out of range: 1 to {most} are possible");
        let help = "100 regions, the default, are enough for most devices";
        refuse(findings, job, &[Opt::SprNumRegions], "sprandom-value-out-of-range", message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, notes_of, plan_of, spec_of, texts};

    /// Refusals of a job on the engine null with `sprandom` and these options.
    fn refused(options: &str) -> Vec<String> {
        let job = format!("[a]\nioengine=null\nsize=1m\nsprandom=1\nrw=randwrite\n{options}\n");
        let problems = plan_of(&job).err().map(|problems| problems.diagnostics).unwrap_or_default();
        texts(&problems).into_iter().map(str::to_owned).collect()
    }

    fn resolved(options: &str) -> JobSpec {
        spec_of(&format!("[a]\nioengine=null\nsize=64m\nsprandom=1\nrw=randwrite\n{options}\n"))
    }

    #[test]
    fn it_is_for_jobs_that_only_write_at_random() {
        let want = "sprandom requires random write, random_generator=lfsr, norandommap=1";
        for kind in ["read", "write", "randread", "randrw", "randtrimwrite"] {
            assert_eq!(first_refusal(&format!("sprandom=1\nrw={kind}\n")), want, "{kind}");
        }
    }

    #[test]
    fn there_is_one_generator_and_no_map() {
        let want = "sprandom requires random_generator=lfsr";
        for other in ["tausworthe", "tausworthe64", "permute"] {
            let options = format!("sprandom=1\nrw=randwrite\nrandom_generator={other}\n");
            assert_eq!(first_refusal(&options), want, "{other}");
        }
        let want = "sprandom requires norandommap=1";
        assert_eq!(first_refusal("sprandom=1\nrw=randwrite\nnorandommap=0\n"), want);
        assert_eq!(resolved("").random_order, RandomOrder::Lfsr);
        assert!(!resolved("").random_map);
    }

    #[test]
    fn what_is_set_is_said_unless_it_is_given() {
        let of = |options: &str| notes_of(&format!("size=64m\nsprandom=1\nrw=randwrite\n{options}"));
        assert_eq!(of(""), ["sprandom sets random_generator=lfsr", "sprandom sets norandommap=1"]);
        assert_eq!(of("norandommap\n"), ["sprandom sets random_generator=lfsr"]);
        assert!(of("norandommap\nrandom_generator=lfsr\n").is_empty());
    }

    #[test]
    fn the_job_writes_the_physical_capacity() {
        let of = |options: &str| {
            let spec = resolved(options);
            let pass = spec.sprandom.unwrap();
            (spec.limits.io_size, pass.logical_blocks, pass.region_blocks, pass.invalid_shares.len())
        };
        // 67108864 * 1.15, rounded down to blocks of 4096: 18841 blocks.
        assert_eq!(of(""), (Some(18_841 << 12), 16_384, 188, 100));
        assert_eq!(of("spr_op=0.07\nspr_num_regions=10"), (Some(17_530 << 12), 16_384, 1753, 10));
        assert_eq!(of("io_size=32m"), (Some(9420 << 12), 8192, 94, 100), "the smaller of the two");
        assert_eq!(of("io_size=1g"), (Some(18_841 << 12), 16_384, 188, 100));
        assert_eq!(of("bs=64k"), (Some(1177 << 16), 1024, 11, 100));
    }

    #[test]
    fn values_are_checked() {
        let range = "is out of range: spare space is a share of the capacity, above 0 and below 1";
        for op in ["0", "1", "1.5", "-0.1"] {
            assert_eq!(refused(&format!("spr_op={op}")), [format!("spr_op={op} {range}")]);
        }
        let range = "is out of range: 1 to 1000000 are possible";
        for regions in ["0", "1000001"] {
            let want = format!("spr_num_regions={regions} {range}");
            assert_eq!(refused(&format!("spr_num_regions={regions}"))[0], want);
        }
        // 1 MiB is 256 blocks, with spare space 294.
        let want = "sprandom cannot divide 294 blocks of 4096 bytes into 295 regions";
        assert_eq!(refused("spr_num_regions=295"), [want]);
        assert!(refused("spr_num_regions=294").is_empty());
    }

    #[test]
    fn a_region_is_at_least_as_large_as_the_cache() {
        let want = "spr_cs=12288 is larger than a region of 8192 bytes: with this cache there can be at most 98 regions";
        assert_eq!(refused("spr_cs=12k"), [want]);
        assert!(refused("spr_cs=12k\nspr_num_regions=98").is_empty());
        assert_eq!(refused("spr_cs=12k\nspr_num_regions=99").len(), 1);
        assert!(refused("spr_cs=8k").is_empty());
        let want = "spr_cs=2097152 is more than sprandom writes, which is 1204224 bytes";
        assert_eq!(refused("spr_cs=2m"), [want]);
    }

    #[test]
    fn options_that_choose_or_repeat_writes_are_refused() {
        let offsets = "sprandom chooses the offsets itself, but another option chooses them too";
        for other in [
            "rw=randwrite:8",
            "percentage_random=50",
            "random_distribution=zipf:1.2",
            "zonemode=strided\nzonesize=64k",
            "zonemode=zbd\nzonesize=64k",
        ] {
            assert_eq!(refused(other), [offsets], "{other}");
        }
        let sizes = "sprandom requires one block size for writes, to which they are aligned";
        for other in ["bsrange=4k-8k", "bssplit=4k/50:8k/50", "ba=8k", "ba=512"] {
            assert_eq!(refused(other), [sizes], "{other}");
        }
        let passes = "sprandom makes one pass over the device, and another one would undo its work";
        for other in ["loops=2", "time_based\nruntime=1"] {
            assert_eq!(refused(other)[0], passes, "{other}");
        }
        assert_eq!(refused("fill_device=1").len(), 1);
        let log = "sprandom chooses the writes itself, but `read_iolog` takes them from a log";
        assert_eq!(refused("read_iolog=/there/is/no/such/log"), [log]);
        assert_eq!(refused("nrfiles=2"), ["sprandom requires one file, but the job has 2"]);
        let engine = "sprandom writes blocks of a device or file, but filecreate does not";
        assert_eq!(refused("ioengine=filecreate"), [engine]);
    }

    #[test]
    fn clones_write_parts_of_their_own() {
        let want = "several clones of a job with sprandom write the same part of x";
        assert_eq!(refused("numjobs=2\nfilename=x"), [want]);
        assert!(refused("numjobs=2").is_empty(), "each has its file");
        assert!(refused("numjobs=2\nfilename=x\noffset_increment=1m").is_empty());
        assert_eq!(refused("numjobs=3\nfilename=x\noffset_increment=1020k"), [want]);
    }

    #[test]
    fn an_end_before_the_last_region_has_a_warning() {
        let want = "a pass of sprandom that ends early does not leave the device in its steady state";
        for early in ["number_ios=5", "runtime=1h"] {
            let text = format!("size=64m\nsprandom=1\nrw=randwrite\n{early}\n");
            assert_eq!(notes_of(&text).last().unwrap(), want, "{early}");
        }
    }

    #[test]
    fn a_job_without_it_is_left_alone() {
        let plan = plan_of("[a]\nioengine=null\nsize=1m\nrw=randwrite\nsprandom=0\nspr_op=5\n").unwrap();
        assert_eq!(plan.jobs[0].spec.sprandom, None);
        assert!(plan.jobs[0].spec.random_map);
    }
}
