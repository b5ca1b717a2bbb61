//! An engine that is known only at run time. Engines whose I/Os cost far more than a call through a pointer share one copy of the I/O loop.
//!
//! Each copy of the loop adds much to the size of the program and to the build time.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use ferrio_engine::{Buffers, Completion, Engine, EngineError, FileSet, OpenFile, Request, Submit};
use ferrio_job::JobSpec;

use crate::engine_forwarding::forward_to_engine;
use crate::registry;

pub(crate) struct AnyEngine<'a>(Box<dyn Engine + 'a>);

impl<'a> AnyEngine<'a> {
    pub(crate) fn of(engine: impl Engine + 'a) -> Self {
        AnyEngine(Box::new(engine))
    }
}

// Every method must be forwarded: otherwise the trait's default would replace the engine's.
#[deny(clippy::missing_trait_methods)]
impl Engine for AnyEngine<'_> {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        registry::open(spec, buffers)
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.0.attach(files)
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.0.attach_one(index, file)
    }

    fn operate(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        self.0.operate(path)
    }

    forward_to_engine!(0);

    fn submit(&mut self, request: &Request) -> Submit {
        self.0.submit(request)
    }

    fn flush(&mut self) -> io::Result<u32> {
        self.0.flush()
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        self.0.reap(min, max, done)
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        self.0.reap_within(timeout, max, done)
    }
}
