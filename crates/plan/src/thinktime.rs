//! Pauses between the I/Os of a job.

use std::time::Duration;

use ferrio_job::{JobSpec, Think, ThinktimeBlocksType};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::asks;
use crate::inert::inert;

inert! {
    ThinktimeSpin ThinktimeBlocks ThinktimeBlocksType ThinktimeIotime:
        |job| !asks(job, Opt::Thinktime); "there are no pauses without `thinktime`";
}

/// `thinktime` and the options below it. With `thinktime_iotime`, the default of `thinktime_blocks` does not apply.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    let (time, iotime) = (options.value(Opt::Thinktime), options.value::<Duration>(Opt::ThinktimeIotime));
    let by_default = iotime.is_zero().then_some(1);
    spec.think = Think {
        time,
        spin: options.value::<Duration>(Opt::ThinktimeSpin).min(time),
        blocks: options.if_given(Opt::ThinktimeBlocks).or(by_default),
        at_issue: options.choice::<ThinktimeBlocksType>(Opt::ThinktimeBlocksType)
            == ThinktimeBlocksType::Issue,
        iotime,
        cycles: options.value(Opt::Thinkcycles),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::spec_of;

    fn think_of(options: &str) -> Think {
        spec_of(&format!("[a]\nioengine=null\nsize=1m\n{options}")).think
    }

    #[test]
    fn a_pause_follows_each_io_unless_told_otherwise() {
        let think = Think { time: Duration::from_micros(500), blocks: Some(1), ..Think::default() };
        assert_eq!(think_of("thinktime=500\n"), think);
        let issue =
            think_of("thinktime=500\nthinktime_blocks=7\nthinktime_blocks_type=issue\nthinkcycles=9\n");
        assert_eq!(issue, Think { blocks: Some(7), at_issue: true, cycles: 9, ..think });
    }

    #[test]
    fn a_time_between_pauses_replaces_the_default_count_only() {
        assert_eq!(think_of("thinktime=1\nthinktime_iotime=2\n").iotime, Duration::from_secs(2));
        assert_eq!(think_of("thinktime=1\nthinktime_iotime=2\n").blocks, None);
        assert_eq!(think_of("thinktime=1\nthinktime_iotime=2\nthinktime_blocks=1\n").blocks, Some(1));
    }

    #[test]
    fn no_more_than_the_whole_pause_is_spun() {
        assert_eq!(think_of("thinktime=5ms\nthinktime_spin=2ms\n").spin, Duration::from_millis(2));
        assert_eq!(think_of("thinktime=5ms\nthinktime_spin=7ms\n").spin, Duration::from_millis(5));
    }
}
