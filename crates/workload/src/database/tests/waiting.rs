//! Sessions that wait for write-back: who goes on, and in which order.

use std::sync::{Mutex, OnceLock};
use std::thread::{self, Thread};

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

/// Sessions and a cleaner on threads that sleep until they are woken.
#[test]
fn sessions_that_wait_are_all_let_through() {
    const SESSIONS: u32 = 8;
    for batch in [1, 3] {
        let few = with_pages(|pages| (pages.most_dirty, pages.batch) = (4, batch));
        let few = Database { sessions: SESSIONS, reads: PageReads::Count(1), ..few };
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
                                thread::park();
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
                            Work::Ready => {}
                            Work::Wait(_) => thread::park(),
                            Work::End => return path.counts.written_back,
                        },
                        Step::WrittenBack { count } => shared.written_back(SESSIONS, count, &wake),
                        _ => {}
                    }
                }
            });
            cleaner.join().unwrap()
        });
        assert_eq!(wrote, 500 * u64::from(SESSIONS));
    }
}
