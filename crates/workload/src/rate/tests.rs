use ferrio_job::{BlockShare, JobSpec, PerDirection, ReadWrite};
use proptest::prelude::*;

use super::*;
use crate::tests::support::{job, set_block};

const MS: u64 = 1_000_000;

fn mixed(read: u64, write: u64) -> JobSpec {
    let mut spec = job();
    spec.rw = ReadWrite::Mixed;
    spec.rates.bytes = PerDirection([read, write, 0]);
    spec
}

/// Reads of 4 KiB at this rate.
fn reads(iops: u64) -> JobSpec {
    let mut spec = job();
    spec.rates.iops = PerDirection([iops, 0, 0]);
    spec
}

fn pacer(spec: &JobSpec) -> RatePacer {
    RatePacer::new(spec, [0; SEEDS]).unwrap()
}

/// Issues a read of `len` bytes; when the next one is due.
fn after_read(pacer: &mut RatePacer, len: u64) -> u64 {
    pacer.issued(Direction::Read, len);
    pacer.due_ns(Direction::Read)
}

fn split(spec: &mut JobSpec, sizes: [u64; 2]) {
    spec.block[Direction::Read].min = sizes[0];
    spec.block[Direction::Read].max = sizes[1];
    spec.split.0[0] = sizes.map(|bytes| BlockShare { bytes, percent: 50 }).to_vec();
}

#[test]
fn a_job_without_rates_has_no_pacer() {
    assert!(RatePacer::new(&job(), [0; SEEDS]).is_none());
    let mut spec = mixed(0, 1000);
    spec.rw = ReadWrite::Read;
    assert!(RatePacer::new(&spec, [0; SEEDS]).is_none());
}

#[test]
fn iops_of_a_range_limit_bytes_in_smallest_blocks() {
    let mut spec = reads(1000);
    set_block(&mut spec, 4096, 16384);
    let mut pacer = pacer(&spec);
    assert_eq!(pacer.due_ns(Direction::Read), 0, "the first one goes at once");
    assert_eq!(after_read(&mut pacer, 4096), MS);
    assert_eq!(after_read(&mut pacer, 16384), 5 * MS);
}

#[test]
fn iops_of_a_split_limit_its_ios_whatever_their_size() {
    let mut spec = reads(3000);
    split(&mut spec, [4096, 65536]);
    let mut pacer = pacer(&spec);
    assert_eq!(after_read(&mut pacer, 65536), 333_333);
    assert_eq!(after_read(&mut pacer, 4096), 666_666);
    assert_eq!(after_read(&mut pacer, 4096), MS, "no rounding adds up");
}

#[test]
fn bytes_of_a_split_are_counted() {
    let mut spec = job();
    spec.rates.bytes = PerDirection([4_096_000, 0, 0]);
    split(&mut spec, [4096, 65536]);
    let mut pacer = pacer(&spec);
    assert_eq!(after_read(&mut pacer, 65536), 16 * MS);
    assert_eq!(after_read(&mut pacer, 4096), 17 * MS);
}

#[test]
fn less_than_a_block_a_second_is_a_rate_too() {
    let mut spec = job();
    spec.rates.bytes = PerDirection([1024, 0, 0]);
    assert_eq!(after_read(&mut pacer(&spec), 4096), 4000 * MS);
}

#[test]
fn the_io_after_a_pause_is_due_when_the_pause_ends_and_the_next_ones_follow_at_their_distance() {
    let mut pacer = pacer(&reads(1000));
    assert_eq!(after_read(&mut pacer, 4096), MS);
    pacer.paused(0, 5 * MS);
    assert_eq!(pacer.due_ns(Direction::Read), 5 * MS);
    assert_eq!(after_read(&mut pacer, 4096), 6 * MS);
    pacer.paused(5 * MS, 5 * MS + 500_000);
    assert_eq!(pacer.due_ns(Direction::Read), 6 * MS, "a short pause is over before");
    assert_eq!(after_read(&mut pacer, 4096), 7 * MS + 500_000);
    assert_eq!(after_read(&mut pacer, 4096), 8 * MS + 500_000);
}

#[test]
fn a_job_that_was_late_before_a_pause_is_as_late_after_it() {
    let mut pacer = pacer(&reads(1000));
    assert_eq!(after_read(&mut pacer, 4096), MS);
    pacer.paused(31 * MS, 41 * MS);
    assert_eq!(pacer.due_ns(Direction::Read), 11 * MS, "30 ms late, as it was");
}

#[test]
fn pauses_shift_ios_that_are_counted_one_by_one_and_random_ones_as_well() {
    let mut spec = reads(1000);
    split(&mut spec, [4096, 65536]);
    let mut counting = pacer(&spec);
    after_read(&mut counting, 65536);
    counting.paused(0, 5 * MS);
    assert_eq!(after_read(&mut counting, 4096), 6 * MS);

    let mut spec = reads(1000);
    spec.rates.poisson = true;
    let (mut steady, mut paused) = (pacer(&spec), pacer(&spec));
    let due = after_read(&mut steady, 4096);
    after_read(&mut paused, 4096);
    paused.paused(0, 5 * MS);
    assert_eq!(paused.due_ns(Direction::Read), due + 5 * MS);
}

#[test]
fn random_arrivals_come_when_fios_do() {
    let mut spec = reads(1000);
    spec.rates.poisson = true;
    let mut pacer = pacer(&spec);
    let first: Vec<u64> = (0..8).map(|_| after_read(&mut pacer, 4096) / 1000).collect();
    // Recorded from fio, where each I/O goes a little late.
    for (due, seen) in first.iter().zip([2345, 2820, 3129, 4190, 7944, 9475, 10290, 10608_u64]) {
        assert!(*due <= seen && due + 110 > seen, "{first:?}");
    }
    pacer.begin_pass();
    pacer.restart();
    assert_eq!(after_read(&mut pacer, 4096) / 1000, first[0]);
}

/// Mean ns between random arrivals, relative to `wanted`.
fn mean_gap(spec: &JobSpec, lens: [u64; 2], wanted: f64) -> f64 {
    const COUNT: u64 = 400_000;
    let mut spec = spec.clone();
    spec.rates.poisson = true;
    let mut pacer = pacer(&spec);
    let last = (0..COUNT).map(|i| after_read(&mut pacer, lens[(i % 2) as usize])).last().unwrap();
    last as f64 / COUNT as f64 / wanted
}

#[test]
fn random_arrivals_have_the_mean_that_was_asked_for_at_any_rate() {
    // The same draws at every rate, so one expectation holds: the mean of these draws, 400 000 of them.
    let draws = mean_gap(&reads(10), [4096; 2], 1e8);
    assert!((draws - 1.0).abs() < 0.005, "{draws}");
    for iops in [999, 1000, 1500, 2000, 2001, 10_000, 100_000, 300_000, 700_000, 3_000_000] {
        let mean = mean_gap(&reads(iops), [4096; 2], 1e9 / iops as f64) / draws;
        assert!((mean - 1.0).abs() < 0.0011, "{iops}: {mean}");
    }
    let mut spec = job();
    spec.rates.bytes = PerDirection([10_000, 0, 0]);
    let mean = mean_gap(&spec, [4096; 2], 0.4096e9) / draws;
    assert!((mean - 1.0).abs() < 0.001, "2.44 blocks a second: {mean}");
}

#[test]
fn random_gaps_are_exponential_at_rates_that_are_not_fios() {
    let mut spec = reads(300_000);
    spec.rates.poisson = true;
    let mut pacer = pacer(&spec);
    let mut last = 0;
    let mut gap = || {
        let due = after_read(&mut pacer, 4096);
        due - std::mem::replace(&mut last, due)
    };
    let gaps: Vec<u64> = (0..200_000).map(|_| gap()).collect();
    for means in [0.1_f64, 0.5, 1.0, 2.0, 4.0] {
        let longer = gaps.iter().filter(|&&ns| ns as f64 * 3e5 / 1e9 > means).count() as f64 / 2e5;
        assert!((longer - (-means).exp()).abs() < 0.005, "{means}: {longer}");
    }
}

#[test]
fn random_arrivals_of_bytes_count_large_blocks_as_what_they_are_and_ios_as_one() {
    let mut spec = job();
    spec.rates.bytes = PerDirection([40_960_000, 0, 0]);
    set_block(&mut spec, 4096, 16384);
    let mean = mean_gap(&spec, [4096, 16384], 250_000.0);
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
    let mut spec = reads(1000);
    set_block(&mut spec, 4096, 16384);
    let mean = mean_gap(&spec, [4096, 16384], 1e6);
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn a_mix_switches_to_the_direction_that_is_due_first() {
    let mut pacer = pacer(&mixed(1_000_000, 2_000_000));
    pacer.issued(Direction::Read, 4000);
    assert_eq!(pacer.choose(Direction::Read, 0), Direction::Write);
    pacer.issued(Direction::Write, 4000);
    assert_eq!((pacer.due_ns(Direction::Read), pacer.due_ns(Direction::Write)), (4 * MS, 2 * MS));
    assert_eq!(pacer.choose(Direction::Read, 1_500_000), Direction::Write);
    assert_eq!(pacer.choose(Direction::Write, 1_500_000), Direction::Write);
    assert_eq!(pacer.choose(Direction::Read, 5 * MS), Direction::Read, "both are due: the mix decides");
}

#[test]
fn a_direction_without_a_rate_is_never_waited_for_and_not_due_by_any_schedule() {
    let mut pacer = pacer(&mixed(0, 4_096_000));
    pacer.issued(Direction::Write, 4096);
    pacer.issued(Direction::Read, 4096);
    assert_eq!(pacer.choose(Direction::Write, 0), Direction::Read);
    assert_eq!(pacer.due_ns(Direction::Read), 0);
    assert!(pacer.limits(Direction::Write) && !pacer.limits(Direction::Read));
    pacer.paused(0, 5 * MS);
    assert_eq!(pacer.due_ns(Direction::Read), 0);
}

#[test]
fn a_mix_of_all_reads_never_switches() {
    let mut spec = mixed(1_000_000, 0);
    spec.rwmixread = 100;
    let mut pacer = pacer(&spec);
    pacer.issued(Direction::Read, 1000);
    assert_eq!(pacer.choose(Direction::Read, 0), Direction::Read);
}

#[test]
fn a_day_at_full_speed_does_not_overflow_and_a_restart_forgets_it() {
    let mut pacer = pacer(&mixed(10 << 30, 0));
    pacer.directions[0].issued = (10 << 30) * 86_400;
    assert_eq!(after_read(&mut pacer, 0), 86_400_000 * MS);
    pacer.restart();
    assert_eq!(pacer.due_ns(Direction::Read), 0);
}

proptest! {
    #[test]
    fn the_even_schedule_is_the_exact_quotient_however_many_ios_there_were(
        iops in 1u64..5_000_000,
        lens in prop::collection::vec(1u64..1 << 20, 1..200),
    ) {
        let mut pacer = pacer(&reads(iops));
        let mut bytes = 0u128;
        for len in lens {
            bytes += u128::from(len);
            let exact = bytes * 1_000_000_000 / (u128::from(iops) * 4096);
            prop_assert_eq!(u128::from(after_read(&mut pacer, len)), exact);
        }
    }
}
