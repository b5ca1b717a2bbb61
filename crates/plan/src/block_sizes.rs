//! How large the I/Os of a job are: `bs`, `bsrange`, `bssplit`, `ba`.

use std::array::from_fn;

use ferrio_job::{BlockShare, BlockSizes, Direction, JobSpec, PerDirection, SetupError};
use ferrio_jobfile::{Job, Opt, Options, SplitEntry, Value};

use crate::as_written::{asks, inert, note, refuse, verifies};
use crate::findings::Findings;

inert! {
    BsUnaligned:
        no_size_is_drawn; "all blocks of a direction are of one size";
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::BsUnaligned) && asks(job, Opt::Direct) && !no_size_is_drawn(job) {
        let text = "bs_unaligned may not work with raw io";
        findings.note(note(job, &[Opt::BsUnaligned], "bs-unaligned-with-direct", text));
    }
}

/// Block sizes of each direction, their shares and their alignment.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let options = &job.options;
    spec.block = sizes(options);
    spec.split = shares(job, &spec.block, findings);
    spec.bs_unaligned = options.value(Opt::BsUnaligned);
    spec.bs_is_seq_rand = options.value(Opt::BsIsSeqRand);
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let largest = largest(spec);
    if largest > BlockSizes::MAX && !fails_alone(job, spec) {
        let message = format!("block size {largest} is too large; the maximum is {}", BlockSizes::MAX);
        let help = "use blocks of less than 4 EiB";
        refuse(findings, job, &[largest_block(job)], "block-size-too-large", message, help);
    }
}

/// Smallest and largest I/O of each direction. `bsrange` and `bssplit` override `bs` in either order; of the two the last
/// takes effect. A bound of 0 sets none.
fn sizes(options: &Options) -> PerDirection<BlockSizes> {
    let fixed: PerDirection<u64> = options.value(Opt::Bs);
    let aligned = options.per_direction(Opt::Ba);
    let bounds = bounds(options);
    PerDirection(from_fn(|at| {
        let bs = fixed.0[at];
        let (low, high) = bounds[at];
        let min = if low > 0 { low } else { bs };
        let max = if high > 0 { high.max(min) } else { bs.max(min) };
        BlockSizes { min, max, align: aligned[at].unwrap_or(min) }
    }))
}

/// True when there is no size that `bs_unaligned` would not round. With `verify`, it has a part in the length of an interval, and NBD
/// servers have a smallest block.
fn no_size_is_drawn(job: &Job) -> bool {
    let is_fixed = |block: &BlockSizes| block.min == block.max;
    sizes(&job.options).0.iter().all(is_fixed) && !verifies(job) && job.options.engine() != "nbd"
}

/// True when all blocks, of reads, writes and trims, are of one size.
pub(crate) fn are_one(options: &Options) -> bool {
    let sizes = sizes(options).0;
    sizes.iter().all(|block| (block.min, block.max) == (sizes[0].min, sizes[0].min))
}

/// The shares of `bssplit` as the I/O path draws from them: ascending, without entries whose share is 0.
fn shares(
    job: &Job,
    block: &PerDirection<BlockSizes>,
    findings: &mut Findings,
) -> PerDirection<Vec<BlockShare>> {
    let splits: [Option<Vec<SplitEntry>>; 3] = job.options.value(Opt::Bssplit);
    for (direction, split) in Direction::ALL.into_iter().zip(&splits) {
        let smallest = split.iter().flatten().map(|entry| entry.bytes).min();
        if let Some(bytes) = smallest.filter(|&bytes| bytes < block[direction].min) {
            let min = block[direction].min;
            let message =
                format!("bssplit requests {bytes}-byte {}s, bsrange at least {min}", direction.name());
            let code = "bssplit-below-bsrange";
            refuse(findings, job, &[Opt::Bsrange], code, message, "set only one of the two");
        }
    }
    PerDirection(splits.map(|split| split.map_or_else(Vec::new, |entries| settle(&entries))))
}

/// The smallest block of any direction. As in fio, a negative `bs` is the size of some directions, and others have it without its sign.
pub(crate) fn smallest(job: &Job, spec: &JobSpec) -> u64 {
    let smallest = spec.min_block();
    match i64::try_from(smallest) {
        Err(_) if spec.compat.gives_up_jobs_alone && largest_block(job) == Opt::Bs => {
            smallest.cast_signed().unsigned_abs()
        }
        _ => smallest,
    }
}

/// Called `fio`, no memory for a block of 2^63 bytes or more, a negative number, fails only its own job.
pub(crate) fn check_memory(job: &Job, spec: &JobSpec) -> Result<(), SetupError> {
    if !fails_alone(job, spec) {
        return Ok(());
    }
    let message = format!("no memory for a block of {} bytes", largest(spec));
    Err(SetupError::new(libc::ENOMEM, "iomem allocation", message))
}

fn fails_alone(job: &Job, spec: &JobSpec) -> bool {
    spec.compat.gives_up_jobs_alone
        && largest_block(job) != Opt::Bsrange
        && i64::try_from(largest(spec)).is_err()
}

fn largest(spec: &JobSpec) -> u64 {
    spec.block.0.iter().map(|block| block.max).max().unwrap_or(0)
}

fn bounds(options: &Options) -> [(u64, u64); 3] {
    let mut bounds = [(0, 0); 3];
    for given in options.all() {
        let new = match (given.opt, &given.value) {
            (Opt::Bsrange, Value::Ranges(ranges)) => *ranges,
            (Opt::Bssplit, Value::Splits(splits)) => from_fn(|at| {
                let bytes = || splits[at].iter().flatten().map(|entry| entry.bytes);
                bytes().min().zip(bytes().max())
            }),
            _ => continue,
        };
        bounds = from_fn(|at| new[at].unwrap_or(bounds[at]));
    }
    bounds
}

/// Entries without a share split what the others leave into equal whole parts.
fn settle(entries: &[SplitEntry]) -> Vec<BlockShare> {
    let given: u32 = entries.iter().filter_map(|entry| entry.percent).map(u32::from).sum();
    let blank = entries.iter().filter(|entry| entry.percent.is_none()).count() as u32;
    if given > 100
        && let Some(only) = entries.iter().find(|entry| entry.percent.is_none())
    {
        // fio refuses two entries without a share here; a single one takes everything.
        return vec![BlockShare { bytes: only.bytes, percent: 100 }];
    }
    let rest = 100_u32.saturating_sub(given).checked_div(blank).unwrap_or(0);
    let share = |entry: &SplitEntry| BlockShare {
        bytes: entry.bytes,
        percent: entry.percent.map_or(rest, u32::from),
    };
    let mut shares: Vec<_> = entries.iter().map(share).filter(|share| share.percent > 0).collect();
    shares.sort_by_key(|share| share.percent);
    shares
}

/// The option that sets the largest block: a range or a split overrides `bs` in either order.
pub(crate) fn largest_block(job: &Job) -> Opt {
    job.options.last_of(&[Opt::Bsrange, Opt::Bssplit]).map_or(Opt::Bs, |given| given.opt)
}

#[cfg(test)]
mod tests {
    use crate::testing::{notes_of, plan_of, problems_of, refusals, spec_of, texts};
    use ferrio_job::{JobSpec, Origin};

    fn job(options: &str) -> JobSpec {
        spec_of(&format!("[a]\nioengine=null\nsize=1m\n{options}\n"))
    }

    /// Smallest and largest block of each direction in KiB.
    fn bounds(options: &str) -> [(u64, u64); 3] {
        job(options).block.0.map(|block| (block.min >> 10, block.max >> 10))
    }

    /// The shares of reads, in KiB.
    fn reads(options: &str) -> Vec<(u64, u32)> {
        job(options).split.0[0].iter().map(|share| (share.bytes >> 10, share.percent)).collect()
    }

    #[test]
    fn a_split_sets_the_smallest_and_largest_block_whatever_bs_says() {
        let want = [(4, 64), (8, 8), (8, 8)];
        assert_eq!(bounds("bssplit=4k/10:64k/50:32k/40,8k/100\nbs=16k"), want);
        assert_eq!(bounds("bs=16k\nbssplit=4k/10:64k/50:32k/40,8k/100"), want);
        assert_eq!(bounds("bs=16k\nbssplit=,4k/10:64k/90"), [(16, 16), (4, 64), (4, 64)]);
        assert_eq!(bounds("bssplit=4k/0:8k/100"), [(4, 8); 3]);
    }

    #[test]
    fn of_range_and_split_the_last_one_sets_the_bounds() {
        assert_eq!(bounds("bsrange=8k-32k\nbssplit=4k/50:16k/50"), [(4, 16); 3]);
        assert_eq!(bounds("bssplit=4k/50:16k/50\nbsrange=2k-12k"), [(2, 12); 3]);
        let refused = refusals("[a]\nioengine=null\nsize=1m\nbssplit=4k/50:16k/50\nbsrange=,8k-12k\n");
        let want = ["write", "trim"]
            .map(|name| format!("bssplit requests 4096-byte {name}s, bsrange at least 8192"));
        assert_eq!(refused, want);
    }

    #[test]
    fn shares_ascend_and_blank_ones_share_the_rest() {
        assert_eq!(reads("bssplit=4k/50:16k/30:64k/20"), [(64, 20), (16, 30), (4, 50)]);
        assert_eq!(reads("bssplit=4k:8k:16k"), [(4, 33), (8, 33), (16, 33)]);
        assert_eq!(reads("bssplit=4k/50:8k:16k"), [(8, 25), (16, 25), (4, 50)]);
        assert_eq!(reads("bssplit=16k/50:4k/50"), [(16, 50), (4, 50)]);
    }

    #[test]
    fn shares_may_add_up_to_more_or_less_than_all() {
        assert_eq!(reads("bssplit=4k/60:8k/60"), [(4, 60), (8, 60)]);
        assert_eq!(reads("bssplit=4k/20:8k/20"), [(4, 20), (8, 20)]);
        assert_eq!(reads("bssplit=4k/100:8k"), [(4, 100)]);
        assert_eq!(reads("bssplit=4k/70:8k/50:16k"), [(16, 100)]);
    }

    #[test]
    fn unaligned_blocks_are_warned_of_where_they_may_not_work() {
        assert!(job("bsrange=4k-8k\nbs_unaligned").bs_unaligned);
        let plan = plan_of("[a]\nioengine=null\nsize=1m\ndirect=1\nbsrange=4k-8k\nbs_unaligned\n").unwrap();
        assert_eq!(texts(&plan.diagnostics), ["bs_unaligned may not work with raw io"]);
    }

    #[test]
    fn a_job_without_split_has_no_shares() {
        assert_eq!(reads("bsrange=4k-16k"), []);
    }

    #[test]
    fn unaligned_blocks_with_direct_are_warned_of() {
        assert_eq!(
            notes_of("bsrange=4k-8k\nbs_unaligned\ndirect=1\n"),
            ["bs_unaligned may not work with raw io"]
        );
        assert!(notes_of("bsrange=4k-8k\nbs_unaligned\n").is_empty());
    }

    #[test]
    fn a_size_below_one_block_is_refused() {
        let want = "size too small, must not be less than minimum block size: 2048 < 4096";
        assert_eq!(refusals("[a]\nsize=2k\n"), [want]);
    }

    #[test]
    fn a_block_beyond_a_request_is_refused() {
        let want = "block size 4611686018427387904 is too large; the maximum is 4611686018427387903";
        assert_eq!(refusals("[a]\nioengine=null\nrw=trim\nsize=7168p\nbs=4096p\n"), [want]);
        for bounds in ["bssplit=4k/50:4096p/50\nbs=4k\n", "bsrange=4k-4096p\nbs=4k\n"] {
            let problem = &problems_of(&format!("[a]\nioengine=null\nsize=16g\n{bounds}"))[0];
            assert_eq!((problem.code, problem.message.as_str()), ("block-size-too-large", want));
            assert!(
                matches!(problem.origin, Origin::File { line: 4, column: 8 | 9, .. }),
                "{:?}",
                problem.origin
            );
        }
    }

    #[test]
    fn blocks_of_more_than_4_gib_are_for_the_engine_to_refuse() {
        for bounds in ["bs=5g", "bsrange=4k-4g", "bssplit=4k/50:8g/50"] {
            for rw in ["read", "randtrim"] {
                let spec = spec_of(&format!("[a]\nioengine=null\nsize=16g\nrw={rw}\n{bounds}\n"));
                let largest = spec.block.0[0].max;
                assert!(largest >= 4 << 30);
                assert_eq!(spec.max_buffer(), if rw == "read" { largest } else { 0 }, "trims have no data");
            }
        }
    }

    #[test]
    fn a_range_of_block_sizes_beats_a_fixed_one_in_either_order() {
        let sizes = |options| job(options).block.0.map(|block| (block.min, block.max));
        assert_eq!(sizes("bs=8k,4k\n"), [(8192, 8192), (4096, 4096), (4096, 4096)]);
        assert_eq!(sizes("bsrange=,1k-4k\nbs=16k\n"), [(16384, 16384), (1024, 4096), (1024, 4096)]);
        assert_eq!(sizes("bs=16k\nbsrange=2k-8k\n"), [(2048, 8192); 3]);
    }
}
