//! A block that fails its check while the job waits to write it again.

use std::fs;
use std::path::PathBuf;

use ferrio_engine_psync::Psync;
use ferrio_plan::testing::spec_of;

use super::*;

/// Writes at once. Reads wait until they are reaped, and by then the file is all zeros.
struct Losing {
    inner: Psync,
    path: PathBuf,
    reads: Vec<Request>,
}

impl Engine for Losing {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        let path = spec.files[0].path.clone();
        Ok(Losing { inner: Psync::open(spec, buffers)?, path, reads: Vec::new() })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.inner.attach(files)
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if request.op != Op::Read {
            return self.inner.submit(request);
        }
        self.reads.push(*request);
        Submit::Queued
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        Ok(1)
    }

    fn reap(&mut self, _: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        fs::write(&self.path, [0; 4096])?;
        let count = self.reads.len().min(max as usize);
        for request in self.reads.drain(..count) {
            let Submit::Done(result) = self.inner.submit(&request) else { continue };
            done.push(Completion { unit: request.unit, result });
        }
        Ok(())
    }
}

#[test]
fn a_block_that_fails_its_check_is_not_written_again() {
    for threads in [0, 2] {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("f");
        let spec = spec_of(&format!(
            "[a]\nioengine=libaio\niodepth=4\nrw=randwrite\nnorandommap\nbs=4k\nsize=4k\nio_size=16k\nfilename={}\n\
             verify=crc32c\nverify_backlog=1\nverify_async={threads}\n",
            path.display()
        ));
        let result = work::<Losing>(&spec);
        assert_eq!(errno(&result), Some(libc::EILSEQ), "{threads} threads");
        assert_eq!(result.stats.directions[1].ios, 1, "{threads} threads");
        assert_eq!(fs::read(&path).unwrap(), [0; 4096], "{threads} threads");
    }
}

#[test]
fn a_job_that_has_lost_its_random_map_verifies_like_one_without() {
    let spec = spec_of(
        "[a]\nioengine=psync\nrw=randwrite\nsoftrandommap=1\nbs=4k\nsize=1m\nfilename=/tmp/x\nverify=crc32c\n",
    );
    let workload =
        |size| Workload::new(&spec, &[Region { offset: 0, size, real_size: size }], [0; SEEDS]).unwrap();
    assert!(!spec.may_overwrite() && without_map(&spec, &workload(1 << 20)).is_none());
    assert!(without_map(&spec, &workload(1 << 62)).is_some_and(|spec| spec.may_overwrite()));
}
