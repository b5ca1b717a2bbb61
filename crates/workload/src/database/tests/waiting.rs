//! Sessions that wait for write-back: who goes on, and in which order.

use std::sync::{Mutex, OnceLock};
use std::thread::{self, Thread};
use std::time::Instant;

use super::*;

/// Six sessions, each of which has changed a page, of which two may be dirty; the last four wait, in any order of their asking.
fn waiting_sessions() -> Scene {
    let few = Database { sessions: 6, ..with_pages(|pages| (pages.most_dirty, pages.batch) = (2, 1)) };
    let mut scene = Scene::new(&few);
    (0..6).for_each(|session| drop(scene.transaction(session)));
    let waiting: Vec<_> = [1, 5, 3, 0, 2, 4].into_iter().filter(|&n| scene.shared.must_wait(n)).collect();
    assert_eq!(waiting, [5, 3, 2, 4]);
    scene
}

/// The sessions that are woken when so many pages are written back.
fn woken_by(scene: &Scene, pages: u32) -> Vec<u32> {
    let woken = Mutex::new(Vec::new());
    scene.shared.written_back(6, pages, &|thread| woken.lock().unwrap().push(thread));
    woken.into_inner().unwrap()
}

#[test]
fn as_many_sessions_go_on_as_a_batch_has_made_room_for_in_the_order_of_their_changes() {
    let mut scene = waiting_sessions();
    assert_eq!(woken_by(&scene, 1), [2]);
    assert!(!scene.shared.waits(2) && [3, 4, 5].into_iter().all(|n| scene.shared.waits(n)));
    scene.transaction(2);
    assert!(scene.shared.must_wait(2), "whoever comes later goes later");
    assert_eq!(woken_by(&scene, 2), [3, 4]);
    assert_eq!(woken_by(&scene, 0), [0_u32; 0]);
    assert_eq!(woken_by(&scene, 2), [5, 2]);
    assert_eq!(woken_by(&scene, 2), [0_u32; 0]);
    assert!((0..6).all(|n| !scene.shared.waits(n)));
}

#[test]
fn a_session_that_leaves_the_waiting_ones_costs_no_other_its_turn() {
    let mut scene = waiting_sessions();
    scene.shared.leave(2);
    assert!(!scene.shared.waits(2));
    assert_eq!(woken_by(&scene, 1), [0_u32; 0], "it was its turn");
    assert_eq!(woken_by(&scene, 1), [3]);
    scene.shared.leave(3);
    scene.shared.leave(5);
    assert_eq!(woken_by(&scene, 2), [4]);
    scene.transaction(5);
    assert!(scene.shared.must_wait(5));
    assert_eq!(woken_by(&scene, 1), [5], "it may wait again");
}

#[test]
fn sessions_that_wait_for_a_table_go_on_in_the_order_of_their_arrival() {
    let mut scene = Scene::new(&Database { sessions: 20, ..tables(1.0) });
    (0..32).for_each(|n| drop(scene.transaction(n % 20)));
    let order: Vec<u32> = (0..20).map(|n| n * 7 % 20).collect();
    assert!(order.iter().all(|&n| scene.shared.must_wait(n)));
    scene.shared.leave(order[3]);
    let woken = Mutex::new(Vec::new());
    scene.shared.written_back(20, 1, &|thread| woken.lock().unwrap().push(thread));
    let woken = woken.into_inner().unwrap();
    assert_eq!(woken, [&order[..3], &order[4..], &[21]].concat(), "after them the compactor");
}

/// Each wakes the others a million times a second.
fn sleep_until_woken() {
    let began = Instant::now();
    thread::park_timeout(Duration::from_secs(30));
    assert!(began.elapsed() < Duration::from_secs(30), "nobody woke this thread");
}

/// Sessions and a cleaner on threads that sleep until they are woken.
#[test]
fn sessions_that_wait_are_all_let_through() {
    const SESSIONS: u32 = 8;
    // With a log that is never full, one that is full all the time, and one that has no room for a transaction of each.
    for (batch, log_blocks) in [(1, 10_000), (3, 10_000), (3, 40), (1, 12)] {
        let few = with_pages(|pages| {
            (pages.most_dirty, pages.batch) = (4, batch);
            pages.checkpoint.interval = Some(Duration::from_secs(1));
        });
        let mut few = Database { sessions: SESSIONS, reads: PageReads::Count(1.0), ..few };
        few.log.size = log_blocks * BLOCK;
        let shared = SharedDatabase::new(&few, 1);
        let threads: Vec<OnceLock<Thread>> = (0..=SESSIONS).map(|_| OnceLock::new()).collect();
        let (shared, threads) = (&shared, &threads);
        let wake = |n: u32| {
            if let Some(thread) = threads[n as usize].get() {
                thread.unpark();
            }
        };
        let wrote = thread::scope(|scope| {
            for n in 0..SESSIONS {
                scope.spawn(move || {
                    threads[n as usize].get_or_init(thread::current);
                    let mut path = DatabasePath::new(shared, n);
                    for _ in 0..500 {
                        while path.next(shared) != Step::AwaitWriteBack {}
                        shared.wake_background(&wake);
                        if shared.must_wait(n) {
                            while shared.waits(n) {
                                sleep_until_woken();
                            }
                        }
                        assert_eq!(path.next(shared), Step::EventEnd);
                    }
                    shared.session_ended(n, &wake);
                });
            }
            let cleaner = scope.spawn(move || {
                threads[SESSIONS as usize].get_or_init(thread::current);
                let mut path = DatabasePath::new(shared, SESSIONS);
                loop {
                    match path.next(shared) {
                        Step::AwaitWork => match path.work(shared, 0) {
                            BackgroundWork::Ready => {}
                            BackgroundWork::Wait(_) => sleep_until_woken(),
                            BackgroundWork::End => return path.counts,
                        },
                        Step::WrittenBack { count } => shared.written_back(SESSIONS, count, &wake),
                        _ => {}
                    }
                }
            });
            cleaner.join().unwrap()
        });
        assert_eq!(wrote.written_back, 500 * u64::from(SESSIONS));
        assert_eq!(wrote.checkpoints > 0, log_blocks < 10_000, "the time of a checkpoint never comes");
    }
}

/// Two sessions, whose log has room for 30 blocks beside a transaction of each; the cleaner never begins by itself.
fn with_full_log() -> Scene {
    let mut database = with_pages(|pages| {
        (pages.most_dirty, pages.batch) = (1000, 1000);
        (pages.double_write, pages.sync) = (None, WriteBackSync::None);
        pages.checkpoint.interval = Some(Duration::from_secs(1));
    });
    database.log.size = 36 * BLOCK;
    Scene::new(&database)
}

#[test]
fn a_full_log_makes_sessions_wait_until_a_checkpoint_has_ended() {
    let mut scene = with_full_log();
    (0..15).for_each(|_| drop(scene.transaction(0)));
    assert!(!scene.shared.must_wait(0));
    scene.transaction(1);
    assert!(scene.shared.must_wait(1), "the log has room for what is under way, and for nothing new");
    let woken = Mutex::new(Vec::new());
    let wake = |thread| woken.lock().unwrap().push(thread);
    scene.shared.wake_background(&wake);
    assert_eq!(*woken.lock().unwrap(), [2], "the checkpoint does not wait for its time");
    let mut words_until_woken = Vec::new();
    loop {
        match scene.jobs[2].next(&scene.shared) {
            Step::AwaitWork => assert_eq!(scene.jobs[2].work(&scene.shared, 0), BackgroundWork::Ready),
            step => {
                words_until_woken.extend(words(&[step]));
                if let Step::WrittenBack { count } = step {
                    scene.shared.written_back(2, count, &wake);
                    if count == 0 {
                        break;
                    }
                    assert!(
                        scene.shared.waits(1),
                        "the pages are written, and the checkpoint is not complete"
                    );
                }
            }
        }
    }
    assert_eq!(words_until_woken[16], "done16");
    assert_eq!(words_until_woken[words_until_woken.len() - 3..], ["w2:4k", "s2", "done0"]);
    assert_eq!(*woken.lock().unwrap(), [2, 1]);
    (0..15).for_each(|_| drop(scene.transaction(0)));
    assert!(!scene.shared.must_wait(0), "the log begins again after the checkpoint");
    scene.transaction(0);
    assert!(scene.shared.must_wait(0));
}

#[test]
fn a_checkpoint_leaves_the_log_of_a_transaction_whose_changes_it_may_miss() {
    let mut scene = with_full_log();
    while !matches!(scene.jobs[1].next(&scene.shared), Step::Commit) {}
    (0..15).for_each(|_| drop(scene.transaction(0)));
    assert!(scene.shared.must_wait(0));
    scene.background(2, 0);
    assert_eq!(scene.counts(2).checkpoints, 0, "it would leave as much log as before");
    scene.background(2, 1_000_000_000);
    assert_eq!(scene.counts(2).checkpoints, 1, "its time has come");
    assert!(scene.shared.waits(0), "the log of the other session is as old as before");
    while scene.jobs[1].next(&scene.shared) != Step::AwaitWriteBack {}
    scene.background(2, 1_000_000_001);
    assert_eq!(scene.counts(2).checkpoints, 2);
    assert!(!scene.shared.waits(0));
}

#[test]
fn a_session_that_ends_amid_a_transaction_keeps_no_log() {
    let mut scene = with_full_log();
    while !matches!(scene.jobs[1].next(&scene.shared), Step::Commit) {}
    scene.shared.session_ended(1, &|_| {});
    (0..16).for_each(|_| drop(scene.transaction(0)));
    assert!(scene.shared.must_wait(0));
    scene.background(2, 0);
    assert!(!scene.shared.waits(0));
}

#[test]
fn what_a_checkpoint_has_covered_stays_covered() {
    let scene = with_full_log();
    let SharedWriteBack::Pages(dirty) = &scene.shared.write_back else { panic!("pages") };
    let log = |blocks: u64| blocks * BLOCK;
    dirty.begin_checkpoint(log(20));
    dirty.end_checkpoint();
    // A session that read the end of the log long ago.
    dirty.begin_appends(1, log(5));
    dirty.begin_checkpoint(log(30));
    dirty.end_checkpoint();
    assert_eq!(dirty.log_left(log(30)), log(10));
}

#[test]
fn appends_alone_wake_the_cleaner_for_a_checkpoint() {
    let mut quiet = with_pages(|pages| (pages.changed, pages.checkpoint.log) = (0.0, Some(1)));
    quiet.log.size = 100 * BLOCK;
    let mut scene = Scene::new(&quiet);
    assert_eq!(words(&scene.transaction(0))[3..], ["w2:4k", "w2:4k", "commit", "wait"]);
    let woken = Mutex::new(Vec::new());
    scene.shared.wake_background(&|thread| woken.lock().unwrap().push(thread));
    assert_eq!((woken.into_inner().unwrap(), scene.shared.must_wait(0)), (vec![2], false));
}

#[test]
fn a_log_without_checkpoints_is_never_full() {
    let mut endless = with_pages(|pages| (pages.most_dirty, pages.batch) = (1000, 1000));
    endless.log.size = 35 * BLOCK;
    let mut scene = Scene::new(&endless);
    (0..100).for_each(|_| drop(scene.transaction(0)));
    assert!(!scene.shared.must_wait(0));
}
