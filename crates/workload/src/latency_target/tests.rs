use proptest::prelude::*;

use super::*;
use crate::tests::support::job;

const TARGET: u64 = 1_000_000;
const WINDOW: u64 = 100_000_000;

fn search(iodepth: u32, change: fn(&mut LatencyTarget)) -> DepthSearch {
    let mut spec = job();
    spec.depth.iodepth = iodepth;
    spec.latency_target.target = Duration::from_nanos(TARGET);
    spec.latency_target.window = Duration::from_nanos(WINDOW);
    change(&mut spec.latency_target);
    DepthSearch::new(&spec).unwrap()
}

/// Feeds windows of a device on which I/Os are late at depths above `best`, at most `most` windows. Returns the depths of the
/// windows and the last verdict.
fn windows(search: &mut DepthSearch, best: u32, most: usize) -> (Vec<u32>, WindowVerdict) {
    let (mut depths, mut now) = (Vec::new(), 0);
    loop {
        depths.push(search.depth());
        search.begin_window(now);
        let latency = if search.depth() > best { TARGET + 1 } else { TARGET };
        let verdict = loop {
            now += WINDOW / 10;
            if let Some(verdict) = search.completed(latency, now) {
                break verdict;
            }
        };
        if matches!(verdict, WindowVerdict::Done | WindowVerdict::Late) || depths.len() == most {
            return (depths, verdict);
        }
    }
}

#[test]
fn without_a_target_nothing_is_searched_for() {
    assert!(DepthSearch::new(&job()).is_none());
}

#[test]
fn an_easy_target_is_met_at_the_whole_depth_after_doubling() {
    let mut easy = search(8, |_| {});
    assert_eq!(windows(&mut easy, 8, 99), (vec![1, 2, 4, 8, 8], WindowVerdict::Done));
    assert_eq!(windows(&mut search(6, |_| {}), 6, 99), (vec![1, 2, 4, 6, 6], WindowVerdict::Done));
    assert_eq!(windows(&mut search(1, |_| {}), 1, 99), (vec![1, 1], WindowVerdict::Done));
}

#[test]
fn good_and_bad_depths_close_in_on_the_largest_good_one() {
    assert_eq!(windows(&mut search(64, |_| {}), 21, 99).0, [1, 2, 4, 8, 16, 32, 24, 20, 22, 21, 21]);
    // fio tries 8 again and again here.
    assert_eq!(windows(&mut search(8, |_| {}), 7, 99), (vec![1, 2, 4, 8, 6, 7, 7], WindowVerdict::Done));
}

#[test]
fn a_window_ends_with_the_first_io_behind_its_end() {
    let mut search = search(4, |_| {});
    search.begin_window(5);
    assert_eq!(search.completed(1, WINDOW + 4), None);
    assert_eq!(search.completed(1, WINDOW + 5), Some(WindowVerdict::GoOn));
    assert_eq!(search.completed(1, 9 * WINDOW), None, "between two windows nothing counts");
}

#[test]
fn without_a_window_every_io_is_judged() {
    let mut search = search(4, |target| target.window = Duration::ZERO);
    for depth in [2, 4] {
        search.begin_window(0);
        assert_eq!((search.completed(1, 0), search.depth()), (Some(WindowVerdict::GoOn), depth));
    }
}

#[test]
fn one_late_io_is_too_many_where_all_must_be_within() {
    let mut search = search(4, |_| {});
    search.begin_window(0);
    assert_eq!(search.completed(1, WINDOW), Some(WindowVerdict::GoOn));
    search.begin_window(WINDOW);
    assert_eq!(search.completed(TARGET + 1, WINDOW + 1), Some(WindowVerdict::Retreat));
    assert_eq!(search.depth(), 1);
    search.begin_window(WINDOW);
    assert_eq!(search.completed(TARGET + 1, WINDOW + 2), Some(WindowVerdict::Late));
}

#[test]
fn a_share_may_be_late() {
    let judged = |late: u64| {
        let mut search = search(4, |target| target.percentile = 90.0);
        search.begin_window(0);
        assert!((1..10).all(|n| search.completed(if n <= late { 2 * TARGET } else { 1 }, n).is_none()));
        let verdict = search.completed(1, WINDOW);
        (verdict, search.depth(), search.is_unmet())
    };
    assert_eq!(judged(1), (Some(WindowVerdict::GoOn), 2, false));
    assert_eq!(judged(2), (Some(WindowVerdict::GoOn), 1, true), "depth 1 is judged again");
}

#[test]
fn depth_1_may_become_good_after_bad_windows() {
    let mut search = search(2, |target| target.percentile = 50.0);
    assert_eq!(windows(&mut search, 0, 3), (vec![1, 1, 1], WindowVerdict::GoOn));
    assert!(search.is_unmet());
    assert_eq!(windows(&mut search, 2, 99), (vec![1, 2, 2], WindowVerdict::Done));
    assert!(!search.is_unmet());
}

#[test]
fn a_final_window_that_is_bad_is_not_the_end() {
    let mut search = search(4, |_| {});
    assert_eq!(windows(&mut search, 4, 3), (vec![1, 2, 4], WindowVerdict::Found));
    assert_eq!(windows(&mut search, 2, 99), (vec![4, 3, 2, 2], WindowVerdict::Done));
}

#[test]
fn a_search_that_goes_on_tries_the_bad_depth_again_after_three_good_windows() {
    let mut search = search(8, |target| target.goes_on = true);
    let (depths, verdict) = windows(&mut search, 3, 12);
    assert_eq!(depths, [1, 2, 4, 3, 3, 3, 4, 3, 3, 3, 4, 3]);
    assert_eq!(verdict, WindowVerdict::GoOn);
    let (depths, _) = windows(&mut search, 8, 24);
    assert_eq!((depths[0], search.depth()), (3, 8), "it climbs when the device got faster: {depths:?}");
}

proptest! {
    #[test]
    fn the_search_of_a_steady_device_ends_at_its_best_depth(iodepth in 1_u32..5000, best in 1_u32..6000) {
        let mut search = search(iodepth, |_| {});
        let (depths, verdict) = windows(&mut search, best, 200);
        prop_assert_eq!(verdict, WindowVerdict::Done);
        prop_assert_eq!(search.depth(), best.min(iodepth));
        prop_assert!(depths.iter().all(|&depth| (1..=iodepth).contains(&depth)));
    }

    #[test]
    fn no_device_leads_out_of_the_bounds(iodepth in 1_u32..40, late in proptest::collection::vec(any::<bool>(), 1..200)) {
        let mut search = search(iodepth, |target| {
            target.goes_on = true;
            target.percentile = 50.0;
            target.window = Duration::ZERO;
        });
        for late in late {
            search.begin_window(0);
            let verdict = search.completed(if late { 2 * TARGET } else { 1 }, 0);
            prop_assert!(matches!(verdict, Some(WindowVerdict::GoOn | WindowVerdict::Retreat)));
            prop_assert!((1..=iodepth).contains(&search.depth()));
        }
    }
}
