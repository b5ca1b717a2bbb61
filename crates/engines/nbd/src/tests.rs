//! The engine against servers of a few lines, which answer late, in pieces, out of order or wrongly. Real servers are in the tests of
//! the whole program.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::{self, JoinHandle};

use ferrio_engine::testing::content;
use ferrio_plan::testing::default_job;
use tempfile::TempDir;

use super::*;

const SIZE: usize = 256 << 10;

/// A request as a server sees it.
#[derive(Clone, Debug)]
struct Asked {
    flags: u16,
    command: u16,
    cookie: [u8; 8],
    offset: usize,
    len: usize,
}

/// The other end of a connection.
struct Server {
    stream: UnixStream,
    data: Vec<u8>,
}

impl Server {
    /// The next request, whose data is written. `None` when the client has gone.
    fn next(&mut self) -> Option<Asked> {
        let mut bytes = [0; 28];
        self.stream.read_exact(&mut bytes).ok()?;
        assert_eq!(bytes[..4], [0x25, 0x60, 0x95, 0x13]);
        let number = |from: usize, to: usize| {
            bytes[from..to].iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte))
        };
        let asked = Asked {
            flags: number(4, 6) as u16,
            command: number(6, 8) as u16,
            cookie: bytes[8..16].try_into().unwrap(),
            offset: number(16, 24),
            len: number(24, 28),
        };
        if asked.command == 1 {
            self.stream.read_exact(&mut self.data[asked.offset..asked.offset + asked.len]).unwrap();
        }
        (asked.command != 2).then_some(asked)
    }

    /// A simple reply, with the data of a read.
    fn answer(&mut self, asked: &Asked, error: u32) {
        let mut bytes = vec![0x67, 0x44, 0x66, 0x98];
        bytes.extend_from_slice(&error.to_be_bytes());
        bytes.extend_from_slice(&asked.cookie);
        if asked.command == 0 && error == 0 {
            bytes.extend_from_slice(&self.data[asked.offset..asked.offset + asked.len]);
        }
        // A client that has given up does not listen.
        let _ = self.stream.write_all(&bytes);
    }

    /// A chunk of a structured reply.
    fn chunk(&mut self, asked: &Asked, last: bool, kind: u16, payload: &[&[u8]]) {
        let payload = payload.concat();
        let mut bytes = vec![0x66, 0x8e, 0x33, 0xef, 0, u8::from(last)];
        bytes.extend_from_slice(&kind.to_be_bytes());
        bytes.extend_from_slice(&asked.cookie);
        bytes.extend_from_slice(&(payload.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&payload);
        let _ = self.stream.write_all(&bytes);
    }
}

/// An engine that is connected to a server.
struct Rig<'a> {
    // Dropped first: then the server ends.
    engine: Nbd<'a>,
    buffers: Buffers,
    done: Vec<Completion>,
    server: Option<JoinHandle<()>>,
    _place: TempDir,
}

/// What the server can do: everything but what these bits are missing.
const ALL: u8 = 0b10_1101;

fn job(depth: u32, place: &TempDir) -> JobSpec {
    let mut spec = default_job("nbd");
    spec.depth.iodepth = depth;
    spec.engine_options.uri = format!("nbd+unix:///?socket={}", place.path().join("s").display());
    spec
}

impl<'a> Rig<'a> {
    fn new(depth: u32, serve: impl FnOnce(&mut Server) + Send + 'static) -> Rig<'a> {
        Rig::with(depth, ALL, |_| {}, Box::new(|| StopRequest::No), serve).unwrap()
    }

    fn with(
        depth: u32,
        flags: u8,
        change: impl FnOnce(&mut JobSpec),
        stop_request: Box<dyn Fn() -> StopRequest + 'a>,
        serve: impl FnOnce(&mut Server) + Send + 'static,
    ) -> Result<Rig<'a>, EngineError> {
        let place = TempDir::new().unwrap();
        let listener = UnixListener::bind(place.path().join("s")).unwrap();
        let server = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            // The first newstyle has the shortest handshake.
            stream.write_all(b"NBDMAGICIHAVEOPT\0\0").unwrap();
            stream.read_exact(&mut [0; 4 + 16]).unwrap();
            stream.write_all(&(SIZE as u64).to_be_bytes()).unwrap();
            stream.write_all(&[0, flags]).unwrap();
            stream.write_all(&[0; 124]).unwrap();
            serve(&mut Server { stream, data: content(SIZE) });
        });
        let mut spec = job(depth, &place);
        // An engine that completes later has a unit for each I/O.
        spec.engine = ferrio_job::EngineKind::Nbd;
        change(&mut spec);
        let buffers = Buffers::new(depth, SIZE as u64, true).unwrap();
        let engine = Nbd::new(&spec, stop_request)?;
        Ok(Rig { engine, buffers, done: Vec::new(), server: Some(server), _place: place })
    }

    fn submit(&mut self, unit: u32, op: Op, offset: usize, len: usize) -> Submit {
        let buffer = self.buffers.slot(unit);
        let request =
            Request { op, unit, file: 0, len: len as u64, offset: offset as u64, priority: 0, buffer };
        self.engine.submit(&request)
    }

    fn reap(&mut self, min: u32, max: u32) -> Vec<(u32, i64)> {
        self.done.clear();
        self.engine.reap(min, max, &mut self.done).unwrap();
        self.done.iter().map(|completion| (completion.unit, completion.result)).collect()
    }

    /// One request from begin to end.
    fn run(&mut self, op: Op, offset: usize, len: usize) -> i64 {
        match self.submit(0, op, offset, len) {
            Submit::Done(result) => return result,
            other => assert_eq!(other, Submit::Queued),
        }
        assert_eq!(self.engine.flush().unwrap(), 1);
        self.reap(1, 1)[0].1
    }

    fn read(&mut self, unit: u32, len: usize) -> &[u8] {
        self.buffers.fill(unit, len)
    }

    fn end(mut self) {
        let server = self.server.take().unwrap();
        drop(self);
        server.join().unwrap();
    }
}

/// A server that does what it is asked.
fn obey(server: &mut Server) {
    while let Some(asked) = server.next() {
        server.answer(&asked, 0);
    }
}

#[test]
fn data_goes_there_and_back() {
    let mut rig = Rig::new(2, obey);
    assert_eq!(rig.run(Op::Read, 4096, 8192), 8192);
    assert_eq!(rig.read(0, 8192), &content(SIZE)[4096..12288]);
    rig.buffers.fill(0, 4096).fill(7);
    assert_eq!(rig.run(Op::Write, 8192, 4096), 4096);
    rig.buffers.fill(0, 12288).fill(0);
    assert_eq!(rig.run(Op::Read, 4096, 12288), 12288);
    let want = [&content(SIZE)[4096..8192], &[7; 4096], &content(SIZE)[12288..16384]].concat();
    assert_eq!(rig.read(0, 12288), want);
    for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
        assert_eq!(rig.run(op, 0, 0), 0, "{op:?}");
    }
    assert_eq!(rig.run(Op::Trim, 0, 8192), 8192);
    rig.end();
}

#[test]
fn answers_come_in_any_order() {
    let mut rig = Rig::new(8, |server| {
        let asked: Vec<_> = (0..8).map(|_| server.next().unwrap()).collect();
        // Nothing is sent before all eight are here: they are in flight together.
        asked.iter().rev().for_each(|asked| server.answer(asked, 0));
        obey(server);
    });
    for unit in 0..8 {
        assert_eq!(rig.submit(unit, Op::Read, unit as usize * 4096, 4096), Submit::Queued);
    }
    assert_eq!(rig.engine.flush().unwrap(), 8);
    let first = rig.reap(3, 3);
    assert_eq!(first, [(7, 4096), (6, 4096), (5, 4096)], "no more than was asked for");
    let rest = rig.reap(5, 8);
    assert_eq!(rest.iter().map(|(unit, _)| *unit).collect::<Vec<_>>(), [4, 3, 2, 1, 0]);
    for unit in 0..8 {
        let at = unit as usize * 4096;
        assert_eq!(rig.read(unit, 4096), &content(SIZE)[at..at + 4096], "unit {unit}");
    }
    rig.end();
}

#[test]
fn more_than_the_sockets_hold_goes_both_ways_at_once() {
    // The server answers reads before it takes the writes behind them: a client that only sends would wait for ever.
    let data = &content(SIZE)[..65536];
    let mut rig = Rig::new(64, obey);
    let mut free: VecDeque<u32> = (0..64).collect();
    let (mut issued, mut ended) = (0, 0);
    while ended < 512 {
        while issued < 512
            && let Some(unit) = free.pop_front()
        {
            let op = if issued % 2 == 0 { Op::Read } else { Op::Write };
            rig.buffers.fill(unit, 65536).copy_from_slice(data);
            assert_eq!(rig.submit(unit, op, 0, 65536), Submit::Queued);
            issued += 1;
        }
        rig.engine.flush().unwrap();
        for (unit, result) in rig.reap(1, 64) {
            assert_eq!(result, 65536);
            assert!(rig.read(unit, 65536) == data, "unit {unit}");
            free.push_back(unit);
            ended += 1;
        }
    }
    rig.end();
}

#[test]
fn a_reply_in_small_pieces_is_put_together() {
    let mut rig = Rig::new(2, |server| {
        let asked = server.next().unwrap();
        let mut bytes = vec![0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0];
        bytes.extend_from_slice(&asked.cookie);
        bytes.extend_from_slice(&server.data[..300]);
        for byte in bytes {
            server.stream.write_all(&[byte]).unwrap();
        }
        obey(server);
    });
    assert_eq!(rig.run(Op::Read, 0, 300), 300);
    assert_eq!(rig.read(0, 300), &content(SIZE)[..300]);
    assert_eq!(rig.run(Op::Read, 0, SIZE), SIZE as i64);
    assert_eq!(rig.read(0, SIZE), content(SIZE));
    rig.end();
}

#[test]
fn structured_replies_have_data_holes_and_errors_with_a_text() {
    let mut rig = Rig::new(2, |server| {
        let asked = server.next().unwrap();
        let at = |offset: u64| offset.to_be_bytes();
        let data = server.data.clone();
        // The end before the begin, and a hole between.
        server.chunk(&asked, false, 1, &[&at(8192 + 3072), &data[3072..4096]]);
        server.chunk(&asked, false, 2, &[&at(8192 + 1024), &2048_u32.to_be_bytes()]);
        server.chunk(&asked, true, 1, &[&at(8192), &data[..1024]]);
        let asked = server.next().unwrap();
        server.chunk(&asked, false, 1, &[&at(0), &data[..512]]);
        server.chunk(&asked, true, 0x8002, &[&5_u32.to_be_bytes(), &[0, 4], b"dust", &at(512)]);
        let asked = server.next().unwrap();
        server.chunk(&asked, true, 0x8001, &[&28_u32.to_be_bytes(), &[0, 0]]);
        let asked = server.next().unwrap();
        server.chunk(&asked, true, 0, &[]);
        // A read without some of its data.
        let asked = server.next().unwrap();
        server.chunk(&asked, true, 1, &[&at(0), &data[..512]]);
        obey(server);
    });
    rig.buffers.fill(0, 4096).fill(9);
    assert_eq!(rig.run(Op::Read, 8192, 4096), 4096);
    let want = [&content(SIZE)[..1024], &[0; 2048], &content(SIZE)[3072..4096]].concat();
    assert_eq!(rig.read(0, 4096), want);
    assert_eq!(rig.run(Op::Read, 0, 4096), -i64::from(libc::EIO));
    assert_eq!(rig.engine.failure_details(0).as_deref(), Some("the NBD server says: dust"));
    assert_eq!(rig.run(Op::Write, 0, 4096), -i64::from(libc::ENOSPC));
    assert_eq!(rig.engine.failure_details(0), None);
    assert_eq!(rig.run(Op::Write, 0, 4096), 4096);
    assert_eq!(rig.run(Op::Read, 0, 4096), -i64::from(libc::EIO));
    assert_eq!(rig.engine.failure_details(0).as_deref(), Some("the NBD server says: only 512 of 4096 bytes"));
    assert_eq!(rig.run(Op::Read, 0, 4096), 4096, "the connection is as good as before");
    rig.end();
}

#[test]
fn errors_of_requests_are_those_of_the_server() {
    let mut rig = Rig::new(1, |server| {
        for error in [1, 5, 12, 22, 28, 95, 4711] {
            let asked = server.next().unwrap();
            server.answer(&asked, error);
        }
        obey(server);
    });
    let want =
        [libc::EPERM, libc::EIO, libc::ENOMEM, libc::EINVAL, libc::ENOSPC, libc::EOPNOTSUPP, libc::EINVAL];
    for errno in want {
        assert_eq!(rig.run(Op::Read, 0, 4096), -i64::from(errno));
    }
    assert_eq!(rig.run(Op::Read, 0, 4096), 4096);
    rig.end();
}

/// Two reads, of which the first is answered by `answer`: the results and what the engine says about it.
fn broken_by(answer: impl FnOnce(&mut Server, &Asked) + Send + 'static) -> String {
    let mut rig = Rig::new(2, |server| {
        let asked = server.next().unwrap();
        answer(server, &asked);
    });
    rig.submit(0, Op::Read, 0, 4096);
    rig.submit(1, Op::Read, 4096, 4096);
    rig.engine.flush().unwrap();
    let lost = -i64::from(libc::ENOTCONN);
    let mut results = rig.reap(2, 2);
    results.sort_unstable();
    assert_eq!(results, [(0, lost), (1, lost)]);
    assert_eq!(rig.submit(0, Op::Read, 0, 4096), Submit::Done(lost), "nothing is asked any more");
    let why = rig.engine.failure_details(1).unwrap();
    rig.end();
    why
}

#[test]
fn what_is_in_flight_fails_when_the_server_goes_or_breaks_the_protocol() {
    let why = broken_by(|_, _| {});
    assert!(why.starts_with("the NBD server closed the connection") || why.contains("is lost"), "{why}");
    let why = broken_by(|server, _| server.stream.write_all(b"HTTP/1.1 200 OK").unwrap());
    assert!(why.contains("sent 0x48545450 for a reply"), "{why}");
    let why = broken_by(|server, asked| server.answer(&Asked { cookie: [1; 8], ..asked.clone() }, 0));
    assert!(why.contains("answered a request that was not made"), "{why}");
    let data_at = |offset: u64| {
        broken_by(move |server, asked| server.chunk(asked, true, 1, &[&offset.to_be_bytes(), &[1; 4096]]))
    };
    for offset in [1, 4096, u64::MAX] {
        let why = data_at(offset);
        assert!(why.contains("sent data that was not asked for"), "{why}");
    }
    let why = broken_by(|server, asked| {
        server.chunk(asked, true, 2, &[&0_u64.to_be_bytes(), &u32::MAX.to_be_bytes()]);
    });
    assert!(why.contains("sent data that was not asked for"), "{why}");
    for kind in [5, 1, 0x8001] {
        let why = broken_by(move |server, asked| server.chunk(asked, true, kind, &[&[0; 4]]));
        assert!(why.contains("a chunk of 4 bytes"), "{why}");
    }
}

#[test]
fn an_export_is_not_asked_for_what_it_cannot_do() {
    let unsupported = -i64::from(libc::EOPNOTSUPP);
    let mut rig = Rig::with(1, 1, |_| {}, Box::new(|| StopRequest::No), obey).unwrap();
    assert_eq!((rig.run(Op::Trim, 0, 4096), rig.run(Op::Fsync, 0, 0)), (unsupported, unsupported));
    assert_eq!(rig.run(Op::Write, 0, 4096), 4096);
    rig.end();
}

#[test]
fn synchronous_writes_are_forced_to_stable_storage() {
    let writes = |spec: &mut JobSpec| {
        spec.rw = ferrio_job::ReadWrite::Write;
        spec.opening.open_sync = OpenSync::Sync;
    };
    let check_flags = |server: &mut Server| {
        while let Some(asked) = server.next() {
            assert_eq!(asked.flags, u16::from(asked.command == 1), "{asked:?}");
            server.answer(&asked, 0);
        }
    };
    let mut rig = Rig::with(1, ALL, writes, Box::new(|| StopRequest::No), check_flags).unwrap();
    assert_eq!((rig.run(Op::Write, 0, 4096), rig.run(Op::Read, 0, 4096)), (4096, 4096));
    rig.end();
    let refused = Rig::with(1, 1, writes, Box::new(|| StopRequest::No), |_| {}).err().unwrap();
    assert_eq!(refused.errno(), libc::EOPNOTSUPP);
    assert!(refused.hint.unwrap().contains("replace `sync` by fsync=1"));
}

#[test]
fn a_silent_server_does_not_keep_a_job_that_is_told_twice_to_end() {
    // How often the engine asks during the handshake depends on how fast the server is.
    let connected = Cell::new(false);
    let told = Cell::new(false);
    let stop_request = || match (connected.get(), told.replace(connected.get())) {
        (false, _) => StopRequest::No,
        (true, false) => StopRequest::Soon,
        (true, true) => StopRequest::AtOnce,
    };
    let mut rig =
        Rig::with(2, ALL, |_| {}, Box::new(&stop_request), |server| while server.next().is_some() {})
            .unwrap();
    connected.set(true);
    rig.submit(0, Op::Read, 0, 4096);
    rig.submit(1, Op::Fsync, 0, 0);
    rig.engine.flush().unwrap();
    let late = -i64::from(libc::ETIMEDOUT);
    assert_eq!(rig.reap(2, 2), [(0, late), (1, late)]);
    assert_eq!(
        rig.engine.failure_details(0).as_deref(),
        Some("the NBD server did not answer before the job was ended")
    );
    rig.end();
}

#[test]
fn asking_without_waiting_finds_what_is_there() {
    let (go, may_go) = std::sync::mpsc::channel();
    let mut rig = Rig::new(2, move |server| {
        let asked = server.next().unwrap();
        may_go.recv().unwrap();
        server.answer(&asked, 0);
        obey(server);
    });
    rig.submit(0, Op::Read, 0, 4096);
    rig.engine.flush().unwrap();
    assert_eq!(rig.reap(0, 2), []);
    assert!(rig.engine.reap_within(Duration::from_millis(1), 2, &mut rig.done).unwrap());
    assert_eq!(rig.done, []);
    go.send(()).unwrap();
    while rig.done.is_empty() {
        assert!(rig.engine.reap_within(Duration::from_secs(1), 2, &mut rig.done).unwrap());
    }
    assert_eq!(rig.done, [Completion { unit: 0, result: 4096 }]);
    rig.end();
}
