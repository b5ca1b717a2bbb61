//! Computes the number of bytes that a job transfers, as far as the plan determines it.

use std::time::Duration;

use ferrio_job::{Direction, JobSpec, PlannedJob};

use crate::database;
use crate::model::{Certainty, Volume};
use crate::section::JobWork;

/// The volume of one clone.
pub(crate) fn of(job: &PlannedJob) -> Volume {
    let spec = &job.spec;
    if job.setup_error.is_some() || !spec.works() {
        return Volume::NOTHING;
    }
    if let Some(volume) = database::volume(spec) {
        return volume;
    }
    let moved = |direction| if spec.does(direction) { bytes(spec, direction) } else { Some(0) };
    let read_back = spec.verify.as_ref().is_some_and(|verify| verify.read_back) && !spec.limits.time_based;
    Volume {
        read: moved(Direction::Read),
        write: moved(Direction::Write),
        trim: moved(Direction::Trim),
        verify: if read_back { moved(Direction::Write) } else { Some(0) },
        certainty: certainty(spec),
    }
}

impl Volume {
    /// The volume without I/O, from which sums start.
    pub(crate) const NOTHING: Volume =
        Volume { read: Some(0), write: Some(0), trim: Some(0), verify: Some(0), certainty: Certainty::Exact };

    /// The sum of two volumes; unknown where either is unknown.
    pub(crate) fn plus(self, other: Volume) -> Volume {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        Volume {
            read: sum(self.read, other.read),
            write: sum(self.write, other.write),
            trim: sum(self.trim, other.trim),
            verify: sum(self.verify, other.verify),
            certainty: self.certainty.plus(other.certainty),
        }
    }
}

/// Minimum seconds that rates and pauses impose on the job.
pub(crate) fn least_seconds(spec: &JobSpec) -> f64 {
    let of = |direction: Direction| {
        let bytes = share(spec, direction) as f64;
        let (rate, iops) = (spec.rates.bytes[direction] as f64, spec.rates.iops[direction] as f64);
        let block = spec.block[direction].max.max(1) as f64;
        let by_bytes = if rate > 0.0 { bytes / rate } else { 0.0 };
        let by_ios = if iops > 0.0 { bytes / block / iops } else { 0.0 };
        by_bytes.max(by_ios)
    };
    used(spec).map(of).fold(pauses(spec), f64::max)
}

/// Minimum seconds of a job by the times of a replayed log. Unknown for a log that is only partly read.
pub(crate) fn replay_seconds(spec: &JobSpec) -> f64 {
    let whole = spec.replay.as_ref().filter(|_| spec.limits.number_ios == 0);
    whole.map_or(0.0, |log| Duration::from_micros(log.summary.last_due_us).as_secs_f64())
}

/// Minimum seconds of pauses (`thinktime`) if only the work ends the job. Pauses after a length of time are unknown.
fn pauses(spec: &JobSpec) -> f64 {
    let Some(blocks) = spec.think.blocks.filter(|_| !spec.think.time.is_zero()) else { return 0.0 };
    // I/Os in flight when a pause begins may count for this pause or the next.
    let most_between = match spec.depth.iodepth {
        1 => u64::from(blocks),
        depth => u64::from(blocks).saturating_add(u64::from(depth)),
    };
    let pauses = least_ios(spec).saturating_sub(1) / most_between.max(1);
    pauses as f64 * spec.think.time.as_secs_f64()
}

/// Minimum number of I/Os if only the work ends the job: all have the largest size.
pub(crate) fn least_ios(spec: &JobSpec) -> u64 {
    if let Some(log) = &spec.replay {
        return limited(spec, log.summary.count());
    }
    if spec.events.is_some() {
        return 0;
    }
    let of = |direction: Direction| share(spec, direction) / spec.block[direction].max.max(1);
    used(spec).map(of).fold(0, u64::saturating_add)
}

/// Maximum number of I/Os for this volume: all have the smallest size. `None` if only time ends the job.
pub(crate) fn most_ios(spec: &JobSpec, volume: &Volume) -> Option<u64> {
    if let Some(log) = &spec.replay {
        if log.summary.has_more {
            return None;
        }
        return Some(least_ios(spec).saturating_mul(u64::from(spec.clones)));
    }
    let of =
        |direction: Direction, moved: Option<u64>| Some(moved?.div_ceil(spec.block[direction].min.max(1)));
    let (read, write) = (of(Direction::Read, volume.read)?, of(Direction::Write, volume.write)?);
    Some(read.saturating_add(write).saturating_add(of(Direction::Trim, volume.trim)?))
}

/// At most `ios` I/Os, as many as `number_ios` permits.
fn limited(spec: &JobSpec, ios: u64) -> u64 {
    match spec.limits.number_ios {
        0 => ios,
        most => ios.min(most),
    }
}

fn used(spec: &JobSpec) -> impl Iterator<Item = Direction> {
    Direction::ALL.into_iter().filter(|&direction| spec.does(direction))
}

/// Mean size of an I/O: weighted by the shares of `bssplit`, otherwise the middle of the range.
fn mean_block(spec: &JobSpec, direction: Direction) -> u64 {
    let (block, split) = (&spec.block[direction], &spec.split[direction]);
    let mut left = 100_u64;
    let mut sum = 0_u64;
    for (at, share) in split.iter().enumerate() {
        // The last entry takes the share that the others leave.
        let percent = if at + 1 == split.len() { left } else { u64::from(share.percent).min(left) };
        left -= percent;
        sum = sum.saturating_add(share.bytes.saturating_mul(percent));
    }
    if split.is_empty() { block.min / 2 + block.max / 2 + (block.min & block.max & 1) } else { sum / 100 }
}

/// Bytes per second that rates permit in one direction.
pub(crate) fn rate(spec: &JobSpec, direction: Direction) -> Option<u64> {
    let (bytes, ios) = (spec.rates.bytes[direction], spec.rates.iops[direction]);
    match (bytes, ios) {
        (0, 0) => None,
        (0, ios) => Some(ios.saturating_mul(spec.block[direction].max)),
        (bytes, _) => Some(bytes),
    }
}

fn bytes(spec: &JobSpec, direction: Direction) -> Option<u64> {
    if !spec.limits.time_based {
        return Some(share(spec, direction)).filter(|_| !only_room_ends(spec));
    }
    if spec.limits.ramp_size > 0 {
        // The run time counts from an unknown end.
        return None;
    }
    let seconds = spec.limits.runtime.saturating_add(spec.limits.ramp_time).as_secs_f64();
    rate(spec, direction).map(|rate| (rate as f64 * seconds) as u64)
}

/// Whether only a full device ends the job.
fn only_room_ends(spec: &JobSpec) -> bool {
    spec.limits.is_unlimited() && spec.limits.io_size.is_none() && spec.limits.number_ios == 0
}

/// Bytes of a direction if only the work ends the job.
fn share(spec: &JobSpec, direction: Direction) -> u64 {
    let limits = &spec.limits;
    if let Some(log) = &spec.replay {
        return log.summary.ios[direction].bytes;
    }
    let loops = u64::from(limits.loops.max(1));
    let once =
        spec.sprandom.as_ref().map_or(limits.io_size.unwrap_or(limits.size), |pass| pass.expected_bytes());
    let whole = once.saturating_mul(loops);
    let counted = match limits.number_ios {
        0 => whole,
        ios => whole.min(ios.saturating_mul(loops).saturating_mul(mean_block(spec, direction))),
    };
    if !spec.rw.is_mixed() {
        return counted;
    }
    let reads = u128::from(counted) * u128::from(spec.rwmixread.min(100)) / 100;
    let reads = u64::try_from(reads).unwrap_or(u64::MAX);
    if direction == Direction::Read { reads } else { counted - reads }
}

/// Whether the sizes of the counted files are random.
fn has_mean_sizes(spec: &JobSpec) -> bool {
    spec.files.iter().any(|file| file.run.as_ref().is_some_and(|run| run.is_mean))
}

fn certainty(spec: &JobSpec) -> Certainty {
    let used = || used(spec);
    if spec.limits.time_based {
        return if used().all(|direction| bytes(spec, direction).is_some()) {
            Certainty::AtMost
        } else {
            Certainty::Unknown
        };
    }
    if only_room_ends(spec) {
        return Certainty::Unknown;
    }
    let uneven = used().any(|direction| {
        let block = &spec.block[direction];
        block.min != block.max || !share(spec, direction).is_multiple_of(block.max.max(1))
    });
    if let Some(log) = &spec.replay {
        if log.summary.has_more {
            let may_end = !spec.limits.runtime.is_zero() || spec.limits.number_ios > 0;
            return if may_end { Certainty::About } else { Certainty::AtLeast };
        }
        // If a log writes to the same place twice, only the last write is read back.
        let all =
            spec.limits.runtime.is_zero() && least_ios(spec) == log.summary.count() && spec.verify.is_none();
        return if all { Certainty::Exact } else { Certainty::AtMost };
    }
    // Zones may have nothing to read or trim, and those of a device may have less room than others.
    let in_zones = spec.zbd.is_some();
    let searches = spec.latency_target.is_sought() && !spec.latency_target.goes_on;
    if !spec.limits.runtime.is_zero()
        || spec.steadystate.is_some()
        || searches
        || spec.fill_device
        || in_zones
    {
        Certainty::AtMost
    } else if spec.rw.is_mixed() || uneven || spec.sprandom.is_some() || has_mean_sizes(spec) {
        Certainty::About
    } else {
        Certainty::Exact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan_of;

    fn volume(options: &str) -> Volume {
        of(&plan_of(&format!("[a]\nioengine=null\nsize=1m\n{options}")).1.jobs[0])
    }

    #[test]
    fn size_io_size_loops_and_number_ios_say_how_much() {
        let read = |options| (volume(options).read, volume(options).certainty);
        assert_eq!(read(""), (Some(1 << 20), Certainty::Exact));
        assert_eq!(read("loops=3\n"), (Some(3 << 20), Certainty::Exact));
        assert_eq!(read("io_size=8k\n"), (Some(8192), Certainty::Exact));
        assert_eq!(read("number_ios=5\n"), (Some(5 * 4096), Certainty::Exact));
        assert_eq!(read("size=10k\n"), (Some(10_240), Certainty::About));
        assert_eq!(read("runtime=9\n"), (Some(1 << 20), Certainty::AtMost));
        assert_eq!(volume("rw=write\nfill_device=1\n").certainty, Certainty::AtMost);
        assert_eq!(read("latency_target=1\n"), (Some(1 << 20), Certainty::AtMost));
        assert_eq!(read("latency_target=1\nlatency_run=1\n"), (Some(1 << 20), Certainty::Exact));
        assert_eq!(read("runtime=9\ntime_based\n"), (None, Certainty::Unknown));
        assert_eq!(read("runtime=9\ntime_based\nrate=1k\n"), (Some(9 << 10), Certainty::AtMost));
    }

    #[test]
    fn preconditioning_writes_about_the_physical_capacity() {
        let written = volume("rw=randwrite\nsprandom=1\nsize=64m\nspr_num_regions=4\nspr_op=0.25\n");
        // 16384 blocks, and of the regions of 5120 blocks, the shares 0.3704, 0.2653 and 0.1431 again.
        assert_eq!((written.write, written.certainty), (Some((16_384 + 3987) << 12), Certainty::About));
    }

    #[test]
    fn a_mix_is_shared_and_a_trimwrite_does_both() {
        let mix = volume("rw=randrw\nrwmixread=75\n");
        assert_eq!((mix.read, mix.write, mix.certainty), (Some(786_432), Some(262_144), Certainty::About));
        let both = volume("rw=trimwrite\n");
        assert_eq!((both.read, both.write, both.trim), (Some(0), Some(1 << 20), Some(1 << 20)));
    }

    #[test]
    fn what_verification_reads_is_counted_apart() {
        let written = volume("rw=write\nverify=md5\n");
        assert_eq!((written.read, written.write, written.verify), (Some(0), Some(1 << 20), Some(1 << 20)));
        assert_eq!(volume("rw=write\nverify=md5\ndo_verify=0\n").verify, Some(0));
    }

    #[test]
    fn split_sizes_count_by_their_shares() {
        let read = volume("size=1g\nbssplit=4k/75:64k/25\nnumber_ios=100\n");
        assert_eq!((read.read, read.certainty), (Some(100 * 19 * 1024), Certainty::About));
        assert_eq!(volume("size=1g\nbsrange=4k-12k\nnumber_ios=100\n").read, Some(100 * 8192));
    }

    #[test]
    fn pauses_set_the_least_time() {
        let seconds = |options: &str| {
            let (_, plan) = plan_of(&format!("[a]\nioengine=null\nsize=400k\n{options}"));
            least_seconds(&plan.jobs[0].spec)
        };
        assert_eq!(seconds("thinktime=1s\n"), 99.0);
        assert_eq!(seconds("thinktime=1s\nthinktime_blocks=25\n"), 3.0);
        assert_eq!(seconds("thinktime=1s\nrate_iops=1\n"), 100.0);
        assert_eq!(seconds("thinktime=1s\niodepth=16\nthinktime_blocks=4\n"), 4.0);
        assert_eq!(seconds("thinktime=1s\nthinktime_iotime=1s\n"), 0.0);
    }

    #[test]
    fn a_rate_sets_the_least_time() {
        let seconds = |options: &str| {
            least_seconds(&plan_of(&format!("[a]\nioengine=null\nsize=1m\n{options}")).1.jobs[0].spec)
        };
        assert_eq!(seconds(""), 0.0);
        assert_eq!(seconds("rate=128k\n"), 8.0);
        assert_eq!(seconds("rate_iops=64\n"), 4.0);
        assert_eq!(seconds("rw=rw\nrate=512k,64k\n"), 8.0);
    }

    #[test]
    fn a_replay_does_what_its_log_says() {
        let place = tempfile::TempDir::new().unwrap();
        let log = place.path().join("log");
        let lines = "1 d add\n2 d open\n3 d write 0 4096\n4 d read 0 512\n500003 d write 8192 100\n";
        std::fs::write(&log, format!("fio version 3 iolog\n{lines}")).unwrap();
        let replay = |options: &str| {
            let text = format!("[a]\nioengine=null\nread_iolog={}\n{options}", log.display());
            let (_, plan) = plan_of(&text);
            let spec = &plan.jobs[0].spec;
            let volume = of(&plan.jobs[0]);
            let moved = (volume.read, volume.write, volume.certainty);
            (moved, least_ios(spec), most_ios(spec, &volume), replay_seconds(spec))
        };
        assert_eq!(replay(""), ((Some(512), Some(4196), Certainty::Exact), 3, Some(3), 0.500_002));
        let scaled = replay("replay_time_scale=200\nreplay_skip=read\n");
        assert_eq!(scaled, ((Some(0), Some(4196), Certainty::Exact), 2, Some(2), 0.250_001));
        let cut = replay("number_ios=2\n");
        assert_eq!(cut, ((Some(512), Some(4196), Certainty::AtMost), 2, Some(2), 0.0));
    }
}
