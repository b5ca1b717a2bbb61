//! The closed forms of the requests, and the sequences of seeds.

use super::*;

/// `--file-num=4 --file-total-size=8M`
fn load(mode: FileioMode) -> Fileio {
    Fileio {
        mode,
        block: 16384,
        sequential_block: 16384,
        files: 4,
        file_size: 2 << 20,
        total_size: 8 << 20,
        rw_ratio: 1.5,
        sync_every: 100,
        sync_each_write: false,
        sync_at_end: true,
        sync_data_only: false,
        validate: false,
        creates: false,
        extra_draw: true,
    }
}

/// Steps of `events` events of one thread, each request complete before the next.
fn steps(load: &Fileio, seed: u64, events: usize) -> Vec<Step> {
    let shared = SharedFileio::new(load, seed);
    let mut path = FileioPath::new(&shared, 0);
    let mut steps = Vec::new();
    let mut ended = 0;
    while ended < events {
        match path.next(&shared, || false) {
            Step::EventEnd => ended += 1,
            step => {
                if let Step::Io(io) = step {
                    shared.completed(io.direction, io.file, io.offset);
                }
                steps.push(step);
            }
        }
    }
    steps
}

/// `r` and `w` for requests, the number of the file for syncs.
fn words(steps: &[Step]) -> String {
    let word = |step: &Step| match step {
        Step::Io(Io { direction: Direction::Read, .. }) => "r".to_owned(),
        Step::Io(_) => "w".to_owned(),
        Step::Sync { file, .. } => file.to_string(),
        other => panic!("{other:?}"),
    };
    steps.iter().map(word).collect()
}

fn places(steps: &[Step]) -> Vec<(u32, u64, u64)> {
    let place = |step: &Step| match step {
        Step::Io(io) => Some((io.file, io.offset, io.len)),
        _ => None,
    };
    steps.iter().filter_map(place).collect()
}

#[test]
fn all_files_are_synced_after_so_many_requests() {
    for (every, files, events) in
        [(100, 4, 250), (1, 3, 1), (1, 3, 10), (4, 3, 25), (5, 3, 8), (7, 3, 64), (100, 3, 99)]
    {
        let load = Fileio { sync_every: every, files, ..load(FileioMode::RandomWrite) };
        let word = words(&steps(&load, 1, events));
        let round: String = (0..files).map(|file| file.to_string()).collect();
        let period = "w".repeat(every as usize) + &round;
        assert_eq!(word, period.repeat(events)[..events], "{every} {files} {events}");
        let (whole, rest) =
            (events as u64 / (every + u64::from(files)), events as u64 % (every + u64::from(files)));
        let requests = word.bytes().filter(|&byte| byte == b'w').count() as u64;
        assert_eq!(requests, whole * every + rest.min(every));
    }
}

#[test]
fn a_mix_of_250_events_has_145_reads_97_writes_and_8_syncs() {
    let word = words(&steps(&load(FileioMode::RandomMix), 1, 250));
    let count = |letters: &str| word.chars().filter(|&letter| letters.contains(letter)).count();
    assert_eq!((count("r"), count("w"), count("0123")), (145, 97, 8));
}

#[test]
fn reads_count_for_the_syncs_and_a_window_without_writes_has_none() {
    let every = |sync_every, rw_ratio| Fileio { sync_every, rw_ratio, ..load(FileioMode::RandomMix) };
    assert_eq!(words(&steps(&every(10, 1.5), 1, 56)), "rwrwrrwrwr0123".repeat(4));
    assert_eq!(words(&steps(&every(2, 1e6), 1, 10)), "r".repeat(10));
    assert_eq!(words(&steps(&Fileio { sync_every: 1, ..load(FileioMode::RandomRead) }, 1, 5)), "rrrrr");
}

#[test]
fn the_next_direction_follows_the_ratio_of_completed_requests() {
    for (rw_ratio, want) in [(1.5, "rwrwr"), (1.0, "wr"), (3.0, "rrwr"), (0.5, "wwr"), (0.0, "w"), (1e6, "r")]
    {
        let load = Fileio { rw_ratio, sync_every: 0, ..load(FileioMode::RandomMix) };
        assert_eq!(words(&steps(&load, 1, want.len() * 6)), want.repeat(6), "{rw_ratio}");
    }
}

#[test]
fn requests_that_are_not_complete_do_not_count_for_the_ratio() {
    let shared = SharedFileio::new(&load(FileioMode::RandomMix), 1);
    let mut path = FileioPath::new(&shared, 0);
    for _ in 0..20 {
        assert!(matches!(path.next(&shared, || false), Step::Io(Io { direction: Direction::Read, .. })));
        assert_eq!(path.next(&shared, || false), Step::EventEnd);
    }
}

#[test]
fn sequential_requests_go_round_all_files() {
    let read = places(&steps(&load(FileioMode::SequentialRead), 1, 530));
    let want = |number: u64| ((number / 128 % 4) as u32, number % 128 * 16384, 16384);
    assert_eq!(read, (0..530).map(want).collect::<Vec<_>>());
}

#[test]
fn sequential_requests_end_with_their_file() {
    let merged = Fileio { sequential_block: 49152, ..load(FileioMode::SequentialWrite) };
    let written = places(&steps(&merged, 1, 44));
    assert_eq!(
        (written[41], written[42], written[43]),
        ((0, 41 * 49152, 49152), (0, 42 * 49152, 32768), (1, 0, 49152))
    );
    let uneven = Fileio { files: 2, file_size: 51200, ..load(FileioMode::SequentialRead) };
    let read = places(&steps(&uneven, 1, 9));
    assert_eq!(read[2..5], [(0, 32768, 16384), (0, 49152, 2048), (1, 0, 16384)]);
    assert_eq!(read[8], (0, 0, 16384), "the first file follows the last");
}

#[test]
fn threads_share_the_position_and_the_round_of_syncs() {
    let load = Fileio { sync_every: 3, files: 2, file_size: 65536, ..load(FileioMode::SequentialWrite) };
    let shared = SharedFileio::new(&load, 1);
    let mut paths = [0, 1].map(|thread| FileioPath::new(&shared, thread));
    let all: Vec<Step> = (0..10)
        .map(|event| {
            let path = &mut paths[event % 2];
            let step = path.next(&shared, || false);
            assert_eq!(path.next(&shared, || false), Step::EventEnd);
            step
        })
        .collect();
    assert_eq!(words(&all), "www01www01");
    assert_eq!(
        places(&all).iter().map(|place| (place.0, place.1)).collect::<Vec<_>>(),
        [(0, 0), (0, 16384), (0, 32768), (0, 49152), (1, 0), (1, 16384)]
    );
}

#[test]
fn threads_that_run_together_lose_no_request_and_no_sync() {
    let load = Fileio { sync_every: 7, files: 3, file_size: 16384 * 50, ..load(FileioMode::SequentialWrite) };
    let shared = SharedFileio::new(&load, 1);
    let steps: Vec<Step> = std::thread::scope(|scope| {
        let work = |thread| {
            let mut path = FileioPath::new(&shared, thread);
            (0..2000).map(|_| path.next(&shared, || false)).filter(|step| *step != Step::EventEnd).collect()
        };
        let threads: Vec<_> =
            (0..4).map(|thread| scope.spawn(move || -> Vec<Step> { work(thread) })).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    // 400 rounds of 7 requests and 3 syncs.
    let syncs = |wanted| {
        steps.iter().filter(|step| matches!(step, Step::Sync { file, .. } if *file == wanted)).count()
    };
    assert_eq!([0, 1, 2].map(syncs), [400; 3]);
    let mut places = places(&steps);
    places.sort_unstable();
    let lap = |number: u64| ((number / 50) as u32, number % 50 * 16384, 16384);
    let mut want: Vec<_> = (0..2800).map(|number| lap(number % 150)).collect();
    want.sort_unstable();
    assert_eq!(places, want);
}

#[test]
fn a_write_and_its_sync_are_one_event() {
    let load =
        Fileio { sync_every: 0, sync_each_write: true, sync_data_only: true, ..load(FileioMode::RandomMix) };
    let steps = steps(&load, 1, 5);
    let files: Vec<u32> = places(&steps).iter().map(|place| place.0).collect();
    assert_eq!(words(&steps), format!("rw{}rw{}r", files[1], files[3]));
    assert!(matches!(steps[2], Step::Sync { kind: SyncKind::Fdatasync, .. }));
}

#[test]
fn a_seed_gives_the_offsets_of_sysbench() {
    let load = Fileio { files: 2, file_size: 512 << 10, total_size: 1 << 20, ..load(FileioMode::RandomRead) };
    let read = places(&steps(&load, 5, 8));
    let want = [
        (1, 131_072),
        (0, 425_984),
        (0, 507_904),
        (1, 114_688),
        (1, 81920),
        (1, 32768),
        (0, 442_368),
        (0, 114_688),
    ];
    assert_eq!(read, want.map(|(file, offset)| (file, offset, 16384)));
    let without = places(&steps(&Fileio { extra_draw: false, ..load }, 5, 16));
    let every_other: Vec<_> = without.iter().step_by(2).copied().collect();
    assert_eq!(every_other, read, "an event of sysbench takes two numbers");
}

#[test]
fn random_offsets_are_multiples_of_a_block_in_all_files_together() {
    let uneven = Fileio { files: 3, file_size: 34133, total_size: 100 << 10, ..load(FileioMode::RandomRead) };
    let shared = SharedFileio::new(&uneven, 1);
    let block = |number: u64| shared.random(number as f64 * 16384.0 / 102_400.0);
    assert_eq!([2, 3, 4].map(block), [(0, 32768, 1365), (1, 15019, 16384), (1, 31403, 2730)]);
}

#[test]
fn no_draw_is_behind_the_last_file() {
    let small =
        Fileio { files: 3, file_size: 1365, total_size: 4096, block: 1, ..load(FileioMode::RandomRead) };
    let shared = SharedFileio::new(&small, 1);
    assert_eq!(shared.random(4095.5 / 4096.0), (2, 1364, 1));
}

/// Random writes of blocks with checksums to one file.
fn with_checksums(size: u64) -> Fileio {
    let load = load(FileioMode::RandomWrite);
    Fileio { files: 1, file_size: size, total_size: size, validate: true, ..load }
}

#[test]
fn two_threads_do_not_work_on_one_block_with_a_checksum() {
    let load = with_checksums(32768);
    for seed in 0..20 {
        let shared = SharedFileio::new(&load, seed);
        let mut paths = [0, 1].map(|thread| FileioPath::new(&shared, thread));
        let [first, second] = paths.each_mut().map(|path| path.next(&shared, || false));
        let [Step::Io(first), Step::Io(second)] = [first, second] else { panic!("no requests") };
        assert_ne!(first.offset, second.offset);
        shared.completed(first.direction, first.file, first.offset);
        paths[1].next(&shared, || false);
        assert!(matches!(paths[1].next(&shared, || false), Step::Io(_)));
    }
}

#[test]
fn a_thread_waits_for_no_block_when_the_load_is_over() {
    let load = with_checksums(16384);
    let shared = SharedFileio::new(&load, 1);
    let mut paths = [0, 1].map(|thread| FileioPath::new(&shared, thread));
    paths[0].next(&shared, || false);
    assert!(matches!(paths[1].next(&shared, || true), Step::Io(_)));
}

#[test]
fn a_window_fits_its_word() {
    for window in [
        SyncWindow { requests: 0, dirty: false, next_file: 0 },
        SyncWindow { requests: (1 << 31) - 2, dirty: true, next_file: u32::MAX },
        SyncWindow { requests: 7, dirty: false, next_file: 3 },
    ] {
        assert_eq!(SyncWindow::unpack(window.pack()), window);
    }
}
