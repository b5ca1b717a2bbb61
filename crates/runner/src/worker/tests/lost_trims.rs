//! Trims that a device reports as done and loses.

use ferrio_engine_psync::Psync;
use ferrio_plan::testing::spec_of;
use ferrio_results::DamageKind;

use super::*;

/// Does nothing for a trim.
struct LosingTrims(Psync);

impl Engine for LosingTrims {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        Psync::open(spec, buffers).map(LosingTrims)
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.0.attach(files)
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if request.op == Op::Trim { Submit::Done(request.len.cast_signed()) } else { self.0.submit(request) }
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        self.0.flush()
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        self.0.reap(min, max, done)
    }
}

/// The outcome of a job that trims all of its 4 blocks, none of which is zeros then.
fn lost_trims(options: &str) -> JobResult {
    let directory = TempDir::new().unwrap();
    let spec = spec_of(&format!(
        "[a]\nioengine=falloc\nrw=write\nbs=4k\nsize=16k\nfilename={}\nverify=crc32c\ntrim_percentage=100\ntrim_backlog=1\n{options}",
        directory.path().join("f").display()
    ));
    work::<LosingTrims>(&JobSpec { engine: EngineKind::Psync, ..spec })
}

#[test]
fn the_job_itself_finds_them_whether_it_has_threads_for_its_checks_or_not() {
    for threads in [0, 2] {
        let result = lost_trims(&format!("verify_async={threads}\n"));
        let counts: Vec<_> = result.damage.counts.into_iter().collect();
        assert_eq!(counts, [(DamageKind::LostTrim, 1)], "{threads} threads");
        let error = result.error.unwrap();
        assert_eq!((error.errno, &*error.func), (libc::EILSEQ, "io_u_sync_complete"), "{threads} threads");
    }
}
