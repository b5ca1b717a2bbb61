//! The null engine: every I/O succeeds without doing anything, which leaves only the cost of the rest of the program.
//!
//! At depth 1 an I/O completes in `submit`. At greater depths I/Os wait until `flush` publishes them and are reaped in order. As with fio's
//! null engine, a published batch must be reaped before the next I/O is accepted, so depth N needs batches of N. `reap` returns the whole
//! batch, even if fewer are wanted.
#![forbid(unsafe_code)]

use ferrio_engine::{Buffers, Completion, Engine, EngineError, Op, Request, Submit};
use ferrio_job::JobSpec;

/// `ioengine=null`
pub struct Null {
    /// A ring buffer of completions, a power of two long; empty at depth 1.
    circle: Box<[Completion]>,
    /// Counts of completions reaped, published and queued; they wrap around.
    reaped: u32,
    published: u32,
    queued: u32,
}

impl Null {
    /// The index of the `count`-th completion.
    #[inline]
    fn place(&self, count: u32) -> usize {
        count as usize & (self.circle.len() - 1)
    }
}

impl Engine for Null {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let slots = if spec.depth.iodepth > 1 { spec.depth.iodepth.next_power_of_two() } else { 0 };
        let empty = Completion { unit: 0, result: 0 };
        Ok(Null {
            circle: vec![empty; slots as usize].into_boxed_slice(),
            reaped: 0,
            published: 0,
            queued: 0,
        })
    }

    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        let result = match request.op {
            Op::Read | Op::Write | Op::Trim => request.len.cast_signed(),
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => 0,
        };
        if self.circle.is_empty() {
            return Submit::Done(result);
        }
        if self.is_full() {
            return Submit::Full;
        }
        let place = self.place(self.queued);
        self.circle[place] = Completion { unit: request.unit, result };
        self.queued = self.queued.wrapping_add(1);
        Submit::Queued
    }

    /// A published batch has to be reaped before the next one begins.
    #[inline]
    fn is_full(&self) -> bool {
        self.published != self.reaped
    }

    #[inline]
    fn flush(&mut self) -> std::io::Result<u32> {
        let count = self.queued.wrapping_sub(self.published);
        self.published = self.queued;
        Ok(count)
    }

    #[inline]
    fn reap(&mut self, min: u32, _max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        if self.published.wrapping_sub(self.reaped) < min {
            self.published = self.queued;
        }
        debug_assert!(
            self.published.wrapping_sub(self.reaped) >= min,
            "{min} completions wanted of fewer in flight"
        );
        while self.reaped != self.published {
            done.push(self.circle[self.place(self.reaped)]);
            self.reaped = self.reaped.wrapping_add(1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ferrio_engine::FileSet;
    use ferrio_engine::testing::Rig;
    use ferrio_plan::testing::default_job;

    use super::*;

    fn rig(iodepth: u32) -> Rig<Null> {
        let mut spec = default_job("null");
        spec.depth.iodepth = iodepth;
        Rig::new(&spec, FileSet::default()).unwrap()
    }

    #[test]
    fn at_depth_1_everything_succeeds_in_submit() {
        let mut rig = rig(1);
        for (op, result) in
            [(Op::Read, 4096), (Op::Write, 4096), (Op::Trim, 4096), (Op::Fsync, 0), (Op::Fdatasync, 0)]
        {
            let request = rig.request(0, op, 0, 4096);
            assert_eq!(rig.engine.submit(&request), Submit::Done(result), "{op:?}");
        }
    }

    #[test]
    fn deeper_ios_are_reaped_after_the_flush_in_order() {
        let mut rig = rig(4);
        let mut done = Vec::with_capacity(4);
        for unit in [3, 2, 1] {
            let request = rig.request(unit, Op::Read, 0, u64::from(512 * unit));
            assert_eq!(rig.engine.submit(&request), Submit::Queued);
        }
        rig.engine.reap(0, 4, &mut done).unwrap();
        assert_eq!(done, [], "nothing is published before the flush");
        assert_eq!(rig.engine.flush().unwrap(), 3);
        let request = rig.request(3, Op::Fsync, 0, 0);
        assert!(rig.engine.is_full());
        assert_eq!(rig.engine.submit(&request), Submit::Full, "the batch is not reaped yet");
        rig.engine.reap(1, 2, &mut done).unwrap();
        let results = [(3, 1536), (2, 1024), (1, 512)];
        assert_eq!(done, results.map(|(unit, result)| Completion { unit, result }));
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
    }

    #[test]
    fn any_depth_is_pumped_to_the_end() {
        for iodepth in [2, 3, 4, 7] {
            assert_eq!(rig(iodepth).pump(Op::Write, 1000, 4096, 2, 1).len(), 1000);
        }
    }
}
