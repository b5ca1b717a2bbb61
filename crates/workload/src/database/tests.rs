use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use ferrio_job::{
    Checkpoint, Commit, DatabaseLog, DatabaseModel, Direction, PageWriteBack, Skew, SkewShape, TableWriteBack,
};

use super::*;
use crate::step::Io;

mod waiting;

const PAGE: u64 = 16 << 10;
const BLOCK: u64 = 4096;

fn page_write_back() -> PageWriteBack {
    PageWriteBack {
        changed: 1.0,
        most_dirty: 256,
        batch: 4,
        double_write: Some(10 * PAGE),
        sync: WriteBackSync::Fsync,
        interval: Duration::ZERO,
        checkpoint: Checkpoint { log: None, interval: None },
    }
}

/// Two files of 100 pages; a transaction reads three pages, appends twice and changes one.
fn database(write_back: WriteBack) -> Database {
    Database {
        model: DatabaseModel::Innodb,
        sessions: 2,
        page: PAGE as u32,
        data_files: 2,
        pages_per_file: 100,
        direct: false,
        reads: PageReads::Count(3.0),
        cpu: Duration::ZERO,
        skew: None,
        log: DatabaseLog { block: BLOCK as u32, appends: 2, size: 1 << 20, full_pages: false, direct: false },
        commit: Commit { sync: CommitSync::Fsync, group: 1 },
        write_back,
    }
}

fn with_pages(change: impl FnOnce(&mut PageWriteBack)) -> Database {
    let mut write_back = page_write_back();
    change(&mut write_back);
    database(WriteBack::Pages(write_back))
}

/// The jobs of a model, done one after the other on one thread.
struct Scene {
    shared: SharedDatabase,
    jobs: Vec<DatabasePath>,
}

impl Scene {
    fn new(database: &Database) -> Self {
        let shared = SharedDatabase::new(database, 1);
        let jobs = (0..database.roles().count() as u32).map(|n| DatabasePath::new(&shared, n)).collect();
        Scene { shared, jobs }
    }

    /// The steps of a transaction.
    fn transaction(&mut self, session: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            match self.jobs[session].next(&self.shared) {
                Step::EventEnd => return steps,
                step => steps.push(step),
            }
        }
    }

    /// The steps of a job in the background until it has nothing to do, which is done in no time.
    fn background(&mut self, job: usize, now_ns: u64) -> (Vec<Step>, BackgroundWork) {
        let mut steps = Vec::new();
        loop {
            match self.jobs[job].next(&self.shared) {
                Step::AwaitWork => match self.jobs[job].work(&self.shared, now_ns) {
                    BackgroundWork::Ready => {}
                    work => return (steps, work),
                },
                step => {
                    if let Step::WrittenBack { count } = step {
                        self.shared.written_back(job as u32, count, &|_| {});
                    }
                    steps.push(step);
                }
            }
        }
    }

    fn end_sessions(&self) {
        (0..self.shared.database.sessions).for_each(|n| self.shared.session_ended(n, &|_| {}));
    }

    fn counts(&self, job: usize) -> DatabaseCounts {
        self.jobs[job].counts
    }
}

/// The steps in short: reads, writes and syncs with their file, bytes in pages or blocks.
fn words(steps: &[Step]) -> Vec<String> {
    let word = |step: &Step| match *step {
        Step::Io(Io { direction, file, len, .. }) => {
            format!("{}{file}:{}k", &direction.name()[..1], len / 1024)
        }
        Step::Sync { file, kind: SyncKind::Fsync } => format!("s{file}"),
        Step::Sync { file, .. } => format!("d{file}"),
        Step::Compute { ns } => format!("c{ns}"),
        Step::Commit => "commit".to_owned(),
        Step::AwaitWriteBack => "wait".to_owned(),
        Step::WrittenBack { count } => format!("done{count}"),
        step => panic!("{step:?}"),
    };
    steps.iter().map(word).collect()
}

#[test]
fn a_transaction_computes_before_each_page_and_before_its_appends() {
    let mut scene = Scene::new(&Database { cpu: Duration::from_nanos(1000), ..with_pages(|_| {}) });
    for _ in 0..2 {
        let words: Vec<_> =
            words(&scene.transaction(0)).into_iter().map(|word| word.replace("r1", "r0")).collect();
        let want = "c250 r0:16k c500 r0:16k c750 r0:16k c1000 w2:4k w2:4k commit wait";
        assert_eq!(words.join(" "), want);
    }
    let mut pooled = Database { cpu: Duration::from_nanos(400), ..with_pages(|_| {}) };
    pooled.reads = PageReads::Pool { pages: 200, touched: 3 };
    let words = words(&Scene::new(&pooled).transaction(0));
    assert_eq!(words[..4], ["c100", "c200", "c300", "c400"], "pages in the pool take CPU time too");
}

fn ios(steps: &[Step]) -> impl Iterator<Item = Io> {
    steps.iter().filter_map(|step| match step {
        Step::Io(io) => Some(*io),
        _ => None,
    })
}

#[test]
fn a_transaction_reads_appends_commits_and_leaves_its_changes_to_others() {
    let mut scene = Scene::new(&with_pages(|_| {}));
    let steps = scene.transaction(0);
    assert!(ios(&steps[..3]).all(|io| io.direction == Direction::Read && io.file < 2 && io.len == PAGE));
    assert_eq!(words(&steps)[3..], ["w2:4k", "w2:4k", "commit", "wait"]);
    let next = scene.transaction(1);
    let appends: Vec<_> =
        ios(&[steps, next].concat()).filter(|io| io.file == 2).map(|io| io.offset).collect();
    assert_eq!(appends, [0, 4096, 8192, 12288], "sessions share the end of the log");
}

#[test]
fn what_a_transaction_does_not_do_has_no_step() {
    let mut quiet = with_pages(|pages| pages.changed = 0.0);
    quiet.log.appends = 0;
    assert_eq!(Scene::new(&quiet).transaction(0).len(), 3, "reads only: nothing to commit");
    quiet.reads = PageReads::Count(0.0);
    assert!(Scene::new(&quiet).transaction(0).is_empty());
}

#[test]
fn the_cpu_time_of_background_jobs_is_that_of_transactions() {
    let scene = Scene::new(&Database { cpu: Duration::from_nanos(100), ..with_pages(|_| {}) });
    scene.shared.add_background_cpu(250);
    assert_eq!([(); 4].map(|()| scene.shared.take_background_cpu()), [100, 100, 50, 0]);
}

#[test]
fn pages_are_read_and_changed_as_often_as_their_means_say() {
    let mut few = with_pages(|pages| pages.changed = 0.4);
    few.reads = PageReads::Count(2.6);
    let mut scene = Scene::new(&few);
    let reads = |steps: &[Step]| ios(steps).filter(|io| io.direction == Direction::Read).count();
    let counts: Vec<usize> = (0..500).map(|at| reads(&scene.transaction(at % 2))).collect();
    assert_eq!(
        (counts.iter().sum::<usize>(), counts.iter().min(), counts.iter().max()),
        (1300, Some(&2), Some(&3))
    );
    scene.end_sessions();
    assert_eq!(ios(&scene.background(2, 0).0).filter(|io| io.file < 2).count(), 200);
}

#[test]
fn the_pages_changed_are_the_last_ones_read() {
    let mut scene = Scene::new(&with_pages(|pages| (pages.changed, pages.batch) = (2.0, 2)));
    for _ in 0..5 {
        let steps = scene.transaction(1);
        let read: HashSet<_> = ios(&steps[1..3]).map(|io| (io.file, io.offset)).collect();
        let (steps, _) = scene.background(2, 0);
        let written: HashSet<_> =
            ios(&steps).filter(|io| io.file < 2).map(|io| (io.file, io.offset)).collect();
        assert_eq!(read, written);
    }
}

#[test]
fn each_session_reads_other_pages_and_all_pages_alike() {
    let mut scene = Scene::new(&with_pages(|_| {}));
    let mut pages = |session| -> Vec<_> {
        let steps: Vec<_> = (0..2000).flat_map(|_| scene.transaction(session)).collect();
        ios(&steps).filter(|io| io.direction == Direction::Read).map(|io| (io.file, io.offset)).collect()
    };
    let (first, second) = (pages(0), pages(1));
    assert_ne!(first, second);
    let mut counts = HashMap::new();
    first.iter().for_each(|page| *counts.entry(page).or_insert(0) += 1);
    assert_eq!(counts.len(), 200);
    assert!(counts.values().all(|count| (8..70).contains(count)), "{counts:?}");
}

#[test]
fn all_sessions_have_the_same_popular_pages() {
    let skewed =
        Database { skew: Some(Skew { shape: SkewShape::Zipf(1.2), center: None }), ..with_pages(|_| {}) };
    let mut scene = Scene::new(&skewed);
    let mut most_popular = |session| {
        let steps: Vec<_> = (0..500).flat_map(|_| scene.transaction(session)).collect();
        let mut counts = HashMap::new();
        for io in ios(&steps).filter(|io| io.file < 2 && io.direction == Direction::Read) {
            *counts.entry((io.file, io.offset)).or_insert(0) += 1;
        }
        counts.into_iter().max_by_key(|&(_, count)| count).unwrap()
    };
    let (first, second) = (most_popular(0), most_popular(1));
    assert_eq!(first.0, second.0);
    assert!(first.1 > 150, "{first:?}");
}

#[test]
fn the_log_never_goes_over_the_end_of_its_file_and_no_two_appends_overlap() {
    let log = LogTail::new(10_000);
    let offsets: Vec<_> = [4096, 4096, 4096, 2300, 2300, 2300].map(|len| log.append(len).offset).into();
    assert_eq!(
        offsets,
        [0, 4096, 0, 4096, 6396, 0],
        "the rest of the file has no room for the third and the last"
    );
    assert_eq!(log.end(), 22_300);

    let log = LogTail::new(1 << 20);
    let lens = [512_u32, 2300, 4096, 16384];
    let all: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let append = |thread: usize| {
            let log = &log;
            move || {
                (0..500)
                    .map(|n| lens[(n + thread) % 4])
                    .map(|len| (log.append(len).offset, u64::from(len)))
                    .collect::<Vec<_>>()
            }
        };
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(append(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|(offset, len)| offset + len <= 1 << 20));
    let bytes: u64 = all.iter().map(|(_, len)| len).sum();
    assert!(log.end() >= bytes && log.end() - bytes < (log.end() >> 20) * 16384, "little is left out");
}

#[test]
fn a_batch_is_written_twice_and_made_durable_in_both_places() {
    let mut scene = Scene::new(&with_pages(|_| {}));
    (0..3).for_each(|_| drop(scene.transaction(0)));
    assert_eq!(scene.background(2, 0), (vec![], BackgroundWork::Wait(None)), "less than a batch");
    scene.transaction(1);
    let (steps, work) = scene.background(2, 0);
    assert_eq!(work, BackgroundWork::Wait(None));
    let words = words(&steps);
    assert_eq!(words[..2], ["w3:64k", "s3"]);
    let in_place = &words[2..6];
    assert!(in_place.iter().all(|word| word == "w0:16k" || word == "w1:16k"), "{words:?}");
    let files: HashSet<_> = in_place.iter().map(|word| word[1..2].to_owned()).collect();
    assert_eq!(words.len(), 6 + files.len() + 1, "each file written to is synced once");
    assert_eq!(words.last().unwrap(), "done4");
    assert_eq!(scene.counts(2).written_back, 4);
}

#[test]
fn without_syncs_nothing_goes_to_its_place_before_the_double_write_is_complete() {
    let mut scene = Scene::new(&with_pages(|pages| pages.sync = WriteBackSync::None));
    (0..4).for_each(|_| drop(scene.transaction(0)));
    let words = words(&scene.background(2, 0).0);
    assert_eq!(words[..2], ["w3:64k", "done0"]);
    assert!(words[2..6].iter().all(|word| word == "w0:16k" || word == "w1:16k"), "{words:?}");
    assert_eq!(words[6..], ["done4"]);
}

#[test]
fn the_double_write_area_is_a_ring_of_whole_batches() {
    let mut scene = Scene::new(&with_pages(|_| {}));
    (0..20).for_each(|_| drop(scene.transaction(0)));
    let (steps, _) = scene.background(2, 0);
    let offsets: Vec<_> = ios(&steps).filter(|io| io.file == 3).map(|io| io.offset / PAGE).collect();
    assert_eq!(offsets, [0, 4, 0, 4, 0], "two of the ten pages have no room for a batch");
}

#[test]
fn what_is_left_at_the_end_is_written_back() {
    let mut scene = Scene::new(&with_pages(|_| {}));
    (0..2).for_each(|_| drop(scene.transaction(0)));
    scene.shared.session_ended(0, &|_| {});
    scene.shared.session_ended(0, &|_| {});
    assert_eq!(scene.background(2, 0).1, BackgroundWork::Wait(None), "a session is left");
    let woken = AtomicU64::new(0);
    scene.shared.session_ended(1, &|thread| woken.store(thread.into(), SeqCst));
    assert_eq!(woken.load(SeqCst), 2, "the cleaner");
    let (steps, work) = scene.background(2, 0);
    assert_eq!((ios(&steps).filter(|io| io.file < 2).count(), work), (2, BackgroundWork::End));
}

#[test]
fn sessions_wait_while_too_much_is_dirty_and_never_for_a_batch_that_does_not_come() {
    let mut scene = Scene::new(&with_pages(|pages| (pages.most_dirty, pages.batch) = (2, 64)));
    (0..2).for_each(|_| drop(scene.transaction(0)));
    assert!(!scene.shared.must_wait(0));
    assert_eq!(scene.background(2, 0).0, []);
    scene.transaction(1);
    assert!(!scene.shared.must_wait(0), "its pages were not too many");
    assert!(scene.shared.must_wait(1) && scene.shared.waits(1));
    let woken = std::sync::Mutex::new(Vec::new());
    scene.shared.wake_background(&|thread| woken.lock().unwrap().push(thread));
    assert_eq!(*woken.lock().unwrap(), [2], "the cleaner begins with less than a batch");
    loop {
        match scene.jobs[2].next(&scene.shared) {
            Step::AwaitWork => assert_eq!(scene.jobs[2].work(&scene.shared, 0), BackgroundWork::Ready),
            Step::WrittenBack { count } => break assert_eq!(count, 3),
            _ => {}
        }
    }
    scene.shared.written_back(2, 3, &|thread| woken.lock().unwrap().push(thread));
    assert_eq!(*woken.lock().unwrap(), [2, 1]);
    assert!(!scene.shared.waits(1));
}

#[test]
fn after_an_interval_all_that_is_dirty_is_written_back_together() {
    let mut scene = Scene::new(&with_pages(|pages| {
        (pages.interval, pages.double_write) = (Duration::from_nanos(100), None);
        pages.sync = WriteBackSync::Fdatasync;
    }));
    (0..9).for_each(|_| drop(scene.transaction(0)));
    assert_eq!(scene.background(2, 99), (vec![], BackgroundWork::Wait(Some(100))));
    let (steps, work) = scene.background(2, 130);
    let words = words(&steps);
    assert_eq!(ios(&steps).count(), 9);
    assert_eq!((words.last().unwrap().as_str(), work), ("done9", BackgroundWork::Wait(Some(230))));
    assert_eq!(
        words.iter().filter(|word| word.starts_with('d') && word.len() == 2).count(),
        words.len() - 10
    );
    assert_eq!(scene.background(2, 230), (vec![], BackgroundWork::Wait(Some(330))));
}

#[test]
fn a_checkpoint_writes_back_all_that_was_dirty_and_says_so_in_the_log() {
    let mut scene = Scene::new(&with_pages(|pages| {
        (pages.batch, pages.double_write, pages.sync) = (64, None, WriteBackSync::None);
        pages.checkpoint.log = Some(10 * BLOCK);
    }));
    (0..4).for_each(|_| drop(scene.transaction(0)));
    assert_eq!(scene.background(2, 0).0, []);
    scene.transaction(0);
    let (steps, _) = scene.background(2, 0);
    let words = words(&steps);
    assert_eq!((words.len() - words[6..].len(), words[5].as_str()), (6, "done5"));
    let syncs: HashSet<_> = ios(&steps).filter(|io| io.file < 2).map(|io| format!("s{}", io.file)).collect();
    assert_eq!(words[6..6 + syncs.len()].iter().cloned().collect::<HashSet<_>>(), syncs);
    assert_eq!(words[6 + syncs.len()..], ["w2:4k", "s2", "done0"]);
    assert_eq!(
        scene.counts(2),
        DatabaseCounts { written_back: 5, checkpoints: 1, ..DatabaseCounts::default() }
    );
    assert_eq!(scene.background(2, 0).0, [], "the next one is due after as much again");
}

#[test]
fn checkpoints_in_time_come_only_where_something_was_logged() {
    let mut scene =
        Scene::new(&with_pages(|pages| pages.checkpoint.interval = Some(Duration::from_nanos(50))));
    assert_eq!(scene.background(2, 60), (vec![], BackgroundWork::Wait(None)));
    scene.transaction(0);
    let (steps, work) = scene.background(2, 70);
    assert_eq!(
        (words(&steps)[5..].join(" "), work),
        ("w2:4k s2 done0".to_owned(), BackgroundWork::Wait(None))
    );
    assert_eq!(scene.background(2, 500).0, [], "the checkpoint itself is no reason for another one");
    scene.transaction(0);
    assert_eq!(scene.background(2, 510).0.len(), 8);
    assert_eq!(scene.counts(2).checkpoints, 2);
}

#[test]
fn a_checkpoint_whose_block_is_the_first_of_the_log_is_no_reason_for_another_one() {
    let mut timed = with_pages(|pages| pages.checkpoint.interval = Some(Duration::from_nanos(50)));
    timed.log.size = 2 * BLOCK + 100;
    let mut scene = Scene::new(&timed);
    scene.transaction(0);
    let (steps, work) = scene.background(2, 70);
    let append = ios(&steps).find(|io| io.file == 2).unwrap();
    assert_eq!(
        (append.offset, work),
        (0, BackgroundWork::Wait(None)),
        "the rest of the file has no room for it"
    );
    assert_eq!(scene.background(2, 500), (vec![], BackgroundWork::Wait(None)));
}

#[test]
fn the_first_change_of_a_page_after_a_checkpoint_logs_all_of_it() {
    let mut full = with_pages(|pages| pages.checkpoint.log = Some(400 * BLOCK));
    (full.log.full_pages, full.data_files, full.pages_per_file) = (true, 1, 1);
    full.log.appends = 1;
    let mut scene = Scene::new(&full);
    let appends = |steps: &[Step]| ios(steps).filter(|io| io.file == 1).map(|io| io.len).collect::<Vec<_>>();
    assert_eq!(appends(&scene.transaction(0)), [BLOCK, PAGE], "there is but one page");
    assert_eq!(appends(&scene.transaction(1)), [BLOCK]);
    (0..400).for_each(|_| drop(scene.transaction(0)));
    scene.background(2, 0);
    assert_eq!(appends(&scene.transaction(1)), [BLOCK, PAGE]);
    assert_eq!((scene.counts(0).full_pages, scene.counts(1).full_pages), (1, 1));
}

#[test]
fn a_pool_that_holds_half_of_the_pages_has_half_of_those_that_are_used() {
    let mut pooled = with_pages(|pages| pages.batch = 8);
    pooled.reads = PageReads::Pool { pages: 100, touched: 10 };
    let mut scene = Scene::new(&pooled);
    let mut reads = 0;
    for _ in 0..1000 {
        let steps = scene.transaction(0);
        reads += ios(&steps).filter(|io| io.direction == Direction::Read).count() as u64;
        scene.background(2, 0);
    }
    let hits = scene.counts(0).pool_hits;
    assert_eq!(reads + hits, 10_000);
    assert!((4700..5300).contains(&hits), "{hits}");
}

#[test]
fn changes_of_a_page_in_the_pool_are_merged_while_it_waits() {
    let mut pooled = with_pages(|pages| (pages.batch, pages.double_write) = (64, None));
    pooled.reads = PageReads::Pool { pages: 1, touched: 1 };
    (pooled.data_files, pooled.pages_per_file) = (1, 1);
    let mut scene = Scene::new(&pooled);
    (0..10).for_each(|_| drop(scene.transaction(0)));
    scene.end_sessions();
    assert_eq!(words(&scene.background(2, 0).0), ["w0:16k", "s0", "done1"]);
    let mut counted = Scene::new(&Database { reads: PageReads::Count(1.0), ..pooled });
    (0..10).for_each(|_| drop(counted.transaction(0)));
    counted.end_sessions();
    assert_eq!(ios(&counted.background(2, 0).0).count(), 10, "without a pool each change is one");
}

fn tables(amplification: f64) -> Database {
    let write_back = TableWriteBack {
        table: 8 * PAGE,
        block: 2 * PAGE as u32,
        amplification,
        sync: WriteBackSync::Fdatasync,
        most_waiting: 1,
    };
    Database { data_files: 6, pages_per_file: 8, ..database(WriteBack::Tables(write_back)) }
}

#[test]
fn the_log_of_a_table_becomes_a_table_and_merges_write_the_rest_of_the_amplification() {
    let mut scene = Scene::new(&tables(3.5));
    (0..15).for_each(|_| drop(scene.transaction(0)));
    assert_eq!(scene.background(2, 0).0, []);
    assert_eq!(words(&scene.transaction(0))[3..], ["w6:4k", "w6:4k", "commit", "wait"]);
    let (steps, _) = scene.background(2, 0);
    assert_eq!(words(&steps), ["w0:32k", "w0:32k", "w0:32k", "w0:32k", "d0", "done1"]);
    assert_eq!(ios(&steps).map(|io| io.offset).collect::<Vec<_>>(), [0, 32768, 65536, 98304]);
    let (steps, _) = scene.background(3, 0);
    let (reads, writes): (Vec<_>, Vec<_>) = ios(&steps).partition(|io| io.direction == Direction::Read);
    let bytes = |ios: &[Io]| ios.iter().map(|io| io.len).sum::<u64>();
    assert_eq!((bytes(&reads), bytes(&writes)), (20 * PAGE, 20 * PAGE), "2.5 tables");
    assert_eq!(writes.iter().map(|io| io.file).collect::<HashSet<_>>(), HashSet::from([1, 2, 3]));
    assert!(reads.iter().zip(&writes).all(|(read, write)| read.file != write.file));
    assert_eq!(words(&steps).iter().filter(|word| word.starts_with("d") && word.len() == 2).count(), 3);
    assert_eq!((scene.counts(2).written_back, scene.counts(3).written_back), (1, 0));
}

#[test]
fn sessions_wait_for_tables_and_for_merges() {
    let mut scene = Scene::new(&tables(2.0));
    (0..16).for_each(|_| drop(scene.transaction(0)));
    assert!(!scene.shared.must_wait(0), "one table may wait");
    (0..16).for_each(|_| drop(scene.transaction(0)));
    assert!(scene.shared.must_wait(0));
    scene.background(2, 0);
    assert!(scene.shared.must_wait(0), "now two merges wait");
    scene.background(3, 0);
    assert!(!scene.shared.must_wait(0));
}

#[test]
fn merges_end_after_the_last_table_and_there_are_none_without_amplification() {
    let mut scene = Scene::new(&tables(1.0));
    (0..40).for_each(|_| drop(scene.transaction(0)));
    scene.end_sessions();
    assert_eq!(scene.background(3, 0).1, BackgroundWork::Wait(None), "tables may follow");
    assert_eq!(scene.background(2, 0).1, BackgroundWork::End);
    assert_eq!(scene.counts(2).written_back, 2, "what is less than a table stays in the log");
    let (steps, work) = scene.background(3, 0);
    assert_eq!((words(&steps), work), (vec!["done1".to_owned(); 2], BackgroundWork::End));
}

#[test]
fn a_sync_serves_those_that_came_before_it_began_up_to_the_size_of_a_group() {
    for (group, served) in [(0, 3), (1, 1), (2, 2)] {
        let commits = GroupCommit::new(group, 4);
        let tickets: Vec<_> = (0..3).map(|thread| commits.arrive(thread)).collect();
        assert_eq!(
            commits.turn(tickets[1]),
            CommitTurn::Sync(tickets[served - 1]),
            "whoever asks first does it"
        );
        let late = commits.arrive(3);
        assert!(tickets.iter().chain([&late]).all(|&ticket| commits.turn(ticket) == CommitTurn::Wait));
        let woken = std::sync::Mutex::new(Vec::new());
        commits.synced(tickets[served - 1], &|thread| woken.lock().unwrap().push(thread));
        let woken = woken.into_inner().unwrap();
        assert_eq!(woken, [served as u32].into_iter().chain(0..served as u32).collect::<Vec<_>>());
        assert!(tickets[..served].iter().all(|&ticket| commits.turn(ticket) == CommitTurn::Durable));
        assert!(matches!(commits.turn(late), CommitTurn::Sync(_)));
    }
}

#[test]
fn a_session_that_leaves_wakes_the_next_and_is_served_by_no_sync() {
    let commits = GroupCommit::new(1, 2);
    let (first, second) = (commits.arrive(0), commits.arrive(1));
    let woken = AtomicU64::new(0);
    commits.leave(first, &|thread| woken.store(thread.into(), SeqCst));
    assert_eq!(woken.load(SeqCst), 1);
    assert_eq!(commits.turn(second), CommitTurn::Sync(second));
}

/// Sessions on threads, with a log whose appends become durable only by a sync that began later.
#[test]
fn no_transaction_is_acknowledged_whose_append_ended_after_the_sync_began() {
    const SESSIONS: usize = 4;
    for group in [0, 1, 3] {
        let commits = GroupCommit::new(group, SESSIONS as u32);
        let appended: [AtomicU64; SESSIONS] = Default::default();
        let durable: [AtomicU64; SESSIONS] = Default::default();
        let syncing = AtomicBool::new(false);
        let syncs = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..SESSIONS {
                let (commits, appended, durable, syncing, syncs) =
                    (&commits, &appended, &durable, &syncing, &syncs);
                scope.spawn(move || {
                    for append in 1..=500 {
                        appended[thread].store(append, SeqCst);
                        let ticket = commits.arrive(thread as u32);
                        loop {
                            match commits.turn(ticket) {
                                CommitTurn::Durable => break,
                                CommitTurn::Wait => std::thread::yield_now(),
                                CommitTurn::Sync(upto) => {
                                    assert!(!syncing.swap(true, SeqCst), "one at a time");
                                    let began = appended.each_ref().map(|append| append.load(SeqCst));
                                    std::thread::yield_now();
                                    (0..SESSIONS).for_each(|n| durable[n].store(began[n], SeqCst));
                                    syncs.fetch_add(1, SeqCst);
                                    syncing.store(false, SeqCst);
                                    commits.synced(upto, &|_| {});
                                }
                            }
                        }
                        assert!(durable[thread].load(SeqCst) >= append, "group {group}");
                    }
                });
            }
        });
        let syncs = syncs.load(SeqCst);
        let all = 500 * SESSIONS as u64;
        match group {
            1 => assert_eq!(syncs, all),
            0 => assert!((500..=all).contains(&syncs)),
            most => assert!((all / most as u64..=all).contains(&syncs)),
        }
    }
}
