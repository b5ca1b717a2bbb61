//! Files that are opened when they are used, seen by an engine that watches the descriptors it is given.

use std::fs::read_link;
use std::os::fd::RawFd;

use ferrio_engine::OpenFile;
use ferrio_job::FileService;

use super::*;

thread_local! {
    /// What [`Watching`] was told of single files, `+` for an open and `-` for a close.
    static TOLD: RefCell<String> = const { RefCell::new(String::new()) };
    /// Most descriptors that were open when it was told.
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// Looks at the descriptor of each request when it would do its I/O, and panics when the descriptor is not that of the file.
struct Watching {
    fds: Vec<RawFd>,
    pending: VecDeque<Request>,
    queues: bool,
}

impl Watching {
    fn look(&self, request: &Request) -> i64 {
        let target = read_link(format!("/proc/thread-self/fd/{}", self.fds[request.file as usize])).unwrap();
        assert!(target.ends_with(format!("ferrio-files-{}", request.file)), "{target:?} for {request:?}");
        if request.op.moves_data() { request.len.cast_signed() } else { 0 }
    }
}

impl Engine for Watching {
    fn open(spec: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Watching { fds: Vec::new(), pending: VecDeque::new(), queues: spec.depth.iodepth > 1 })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        assert!(self.pending.is_empty());
        self.fds = files.files.iter().map(OpenFile::raw_fd).collect();
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        assert!(self.pending.iter().all(|request| request.file as usize != index), "in flight to {index}");
        self.fds[index] = file.raw_fd();
        let sign = if file.fd.is_some() { '+' } else { '-' };
        TOLD.with_borrow_mut(|told| told.push_str(&format!("{sign}{index} ")));
        let links = std::fs::read_dir("/proc/thread-self/fd").unwrap().flatten();
        let ours = links.filter_map(|link| read_link(link.path()).ok());
        let open = ours.filter(|path| path.to_string_lossy().contains("ferrio-files")).count();
        MOST.set(MOST.get().max(open));
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if self.queues {
            self.pending.push_back(*request);
            return Submit::Queued;
        }
        Submit::Done(self.look(request))
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        Ok(self.pending.len() as u32)
    }

    fn reap(&mut self, _: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        // Last in, first out: completions come in any order.
        for _ in 0..max {
            let Some(request) = self.pending.pop_back() else { break };
            done.push(Completion { unit: request.unit, result: self.look(&request) });
        }
        Ok(())
    }
}

/// A job of 4 blocks in each of `count` files below `directory`, of which so many may be open.
fn files(rw: ReadWrite, directory: &TempDir, count: u64, openfiles: u32) -> JobSpec {
    let mut spec = job(rw, EngineKind::Psync, 4 * 4096);
    let one = spec.files[0].clone();
    let path = |number| directory.path().join(format!("ferrio-files-{number}"));
    spec.files = (0..count)
        .map(|number| FileSpec { path: path(number), kind: FileKind::Regular, extend: true, ..one.clone() })
        .collect();
    spec.limits.size = count * 4 * 4096;
    spec.opening.openfiles = openfiles;
    spec
}

fn queued(mut spec: JobSpec, iodepth: u32) -> JobSpec {
    spec.engine = EngineKind::IoUring;
    spec.depth.iodepth = iodepth;
    spec.depth.low = iodepth;
    spec
}

/// I/Os per direction, what was told of files, and the most that were open.
fn watched(spec: &JobSpec) -> ([u64; 2], String, usize) {
    let result = work::<Watching>(spec);
    assert_eq!(result.error, None);
    let ios = [0, 1].map(|direction| result.stats.directions[direction].ios);
    (ios, TOLD.take().trim_end().to_owned(), MOST.take())
}

#[test]
fn a_file_is_opened_when_it_is_used_and_closed_when_it_is_finished() {
    let directory = TempDir::new().unwrap();
    let (ios, told, most) = watched(&files(ReadWrite::Write, &directory, 4, 2));
    assert_eq!((ios, most), ([0, 16], 2));
    assert_eq!(told, "+0 +1 -0 -1 +2 +3", "the last two are closed with the pass");
}

#[test]
fn without_a_limit_all_files_are_open_from_the_start() {
    let directory = TempDir::new().unwrap();
    assert_eq!(watched(&files(ReadWrite::Write, &directory, 4, 4)), ([0, 16], String::new(), 0));
}

#[test]
fn what_is_in_flight_to_a_file_ends_before_it_is_closed() {
    let directory = TempDir::new().unwrap();
    for (iodepth, openfiles) in [(3, 1), (4, 2), (16, 5)] {
        let mut spec = queued(files(ReadWrite::RandWrite, &directory, 9, openfiles), iodepth);
        spec.file_service = FileService::Random { ios: 2 };
        spec.depth.batch = iodepth / 2;
        let (ios, _, most) = watched(&spec);
        assert_eq!(ios, [0, 36]);
        assert!((1..=openfiles as usize).contains(&most), "{most} of {openfiles}");
    }
}

#[test]
fn further_passes_open_their_files_anew() {
    let directory = TempDir::new().unwrap();
    let mut spec = files(ReadWrite::Write, &directory, 3, 1);
    spec.limits.loops = 2;
    let (ios, told, most) = watched(&spec);
    assert_eq!((ios, most), ([0, 24], 1));
    assert_eq!(told, "+0 -0 +1 -1 +2 -2 +0 -0 +1 -1 +2");
}

#[test]
fn blocks_are_read_back_through_no_more_descriptors_than_they_were_written() {
    let directory = TempDir::new().unwrap();
    for spec in [
        files(ReadWrite::Write, &directory, 5, 2),
        queued(files(ReadWrite::RandWrite, &directory, 5, 2), 4),
        queued(files(ReadWrite::RandWrite, &directory, 7, 3), 16),
    ] {
        let mut spec = spec;
        // The engine moves no data, so nothing can be compared.
        spec.verify = Some(Verify { method: ferrio_job::VerifyMethod::Null, ..crc32c() });
        let (ios, _, most) = watched(&spec);
        let blocks = 4 * spec.files.len() as u64;
        assert_eq!((ios, most), ([blocks, blocks], spec.opening.openfiles as usize));
    }
}

#[test]
fn final_syncs_keep_to_the_limit_and_reach_closed_files() {
    let directory = TempDir::new().unwrap();
    let mut spec = files(ReadWrite::Write, &directory, 4, 2);
    spec.durability.end_fsync = true;
    let (ios, told, most) = watched(&spec);
    assert_eq!((ios, most), ([0, 16], 2));
    assert_eq!(told, "+0 +1 -0 -1 +2 +3 -3", "room for those that are opened once more");
}

#[test]
fn an_engine_that_cannot_attach_single_files_says_what_to_do() {
    let directory = TempDir::new().unwrap();
    let error = work::<Attached>(&files(ReadWrite::Write, &directory, 4, 2)).error.unwrap();
    assert_eq!((error.errno, error.func.as_str()), (libc::ENOTSUP, "attach"));
}
