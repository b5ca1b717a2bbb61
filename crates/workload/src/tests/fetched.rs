//! Words of large random maps that are fetched before they are needed.

use std::cell::RefCell;

use ferrio_job::{Direction, JobSpec, PerDirection, ReadWrite};

use super::support::{job, regions};
use crate::{Io, Step, Workload};

thread_local! {
    /// Indices that were asked for.
    static FETCHED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

fn note(words: &[u64], indices: &[u64]) {
    assert!(indices.iter().all(|&index| (index as usize) < words.len()));
    FETCHED.with_borrow_mut(|fetched| fetched.extend(indices));
}

fn ios(spec: &JobSpec, fetches: bool) -> Vec<Io> {
    let mut workload = Workload::new(spec, &regions(spec, 1), [0; 24]).unwrap();
    if fetches {
        workload.fetch_with(note);
    }
    let io = |step| if let Step::Io(io) = step { io } else { panic!("{step:?}") };
    (0..320).map(|_| io(workload.next())).collect()
}

/// A random job over so many blocks of 4 KiB.
fn random(rw: ReadWrite, blocks: u64) -> JobSpec {
    let mut spec = job();
    spec.rw = rw;
    spec.block = PerDirection(Direction::ALL.map(|direction| {
        let mut block = spec.block[direction].clone();
        (block.min, block.max, block.align) = (4096, 4096, 4096);
        block
    }));
    spec.limits.size = blocks * 4096;
    spec
}

#[test]
fn a_batch_of_words_is_asked_for_before_its_ios_and_the_ios_stay_the_same() {
    for rw in [ReadWrite::RandRead, ReadWrite::RandMixed] {
        let spec = random(rw, 1 << 21);
        FETCHED.take();
        let fetching = ios(&spec, true);
        assert_eq!(fetching, ios(&spec, false));
        let words: Vec<u64> = fetching.iter().map(|io| io.offset / 4096 / 64).collect();
        assert_eq!(FETCHED.take(), words, "{rw:?}");
    }
}

#[test]
fn small_maps_and_jobs_without_a_map_ask_for_nothing() {
    let large = random(ReadWrite::RandRead, 1 << 21);
    for spec in [random(ReadWrite::RandRead, (1 << 21) - 64), JobSpec { random_map: false, ..large }] {
        FETCHED.take();
        ios(&spec, true);
        assert!(FETCHED.take().is_empty());
    }
}
