//! What the I/O buffers contain: options that change each other while they are read, in the order given.
//!
//! That `verify` makes fio refill buffers changes nothing here: a block that will be verified is filled as a whole by its method.

use ferrio_jobfile::{Job, Opt, Value};

use crate::spec::BufferContent;

/// The content options of a job, worked off in evaluation order.
pub(crate) fn content(job: &Job) -> BufferContent {
    let mut content = BufferContent { zero: false, refill: false, scramble: true, pattern: Vec::new() };
    let mut scramble_asked_for = false;
    let mut reads = true; // the default kind is read
    for given in job.options.all() {
        match (given.opt, &given.value) {
            (Opt::Rw, Value::Word(kind, _)) => reads = kind.contains("read") || kind.ends_with("rw"),
            (Opt::ZeroBuffers, Value::Switch(on)) => content.zero = *on,
            (Opt::RefillBuffers, Value::Switch(on)) => content.refill = *on,
            (Opt::ScrambleBuffers, Value::Switch(on)) => {
                content.scramble = *on;
                scramble_asked_for = *on;
            }
            (Opt::BufferPattern, Value::Pattern(pattern)) => {
                content.pattern.clone_from(&pattern.bytes);
                content.scramble = false;
                content.zero = false;
                content.refill = reads;
            }
            _ => {}
        }
    }
    // New content for every write needs no scrambling; zeroes stay zeroes unless scrambling was asked for.
    content.scramble &= !content.refill && (!content.zero || scramble_asked_for);
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::spec_of;

    fn buffer(options: &str) -> (bool, bool, bool) {
        let content = spec_of(&format!("[a]\nioengine=null\nsize=4k\n{options}")).buffer;
        (content.zero, content.refill, content.scramble)
    }

    #[test]
    fn scrambling_is_on_unless_content_is_new_or_zero() {
        assert_eq!(buffer(""), (false, false, true));
        assert_eq!(buffer("scramble_buffers=0\n"), (false, false, false));
        assert_eq!(buffer("refill_buffers\n"), (false, true, false));
        assert_eq!(buffer("zero_buffers\n"), (true, false, false));
        assert_eq!(buffer("zero_buffers\nscramble_buffers=1\n"), (true, false, true));
    }

    #[test]
    fn a_pattern_refills_unless_the_job_was_known_to_only_write() {
        assert_eq!(buffer("buffer_pattern=0xff\nrw=write\n"), (false, true, false));
        assert_eq!(buffer("rw=write\nbuffer_pattern=0xff\n"), (false, false, false));
        assert_eq!(buffer("rw=randrw\nbuffer_pattern=0xff\n"), (false, true, false));
        assert_eq!(buffer("rw=trimwrite\nbuffer_pattern=0xff\n"), (false, false, false));
        assert_eq!(buffer("rw=write\nbuffer_pattern=0xff\nrefill_buffers=1\n"), (false, true, false));
        assert_eq!(buffer("zero_buffers\nbuffer_pattern=0xff\n"), (false, true, false));
    }

    #[test]
    fn the_pattern_is_kept() {
        let spec = spec_of("[a]\nioengine=null\nsize=4k\nrw=write\nbuffer_pattern=0xdeadbeef\n");
        assert_eq!(
            spec.buffer,
            BufferContent {
                zero: false,
                refill: false,
                scramble: false,
                pattern: vec![0xde, 0xad, 0xbe, 0xef]
            }
        );
    }
}
