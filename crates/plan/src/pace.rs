//! How fast a job goes: rate limits and pauses.

use std::time::Duration;

use ferrio_jobfile::{Opt, Options};

use crate::spec::{PerDirection, Rates, Think};

/// Rate limits.
pub(crate) fn rates(options: &Options) -> Rates {
    let directions = |opt| PerDirection(options.rwt(opt).map(|value| value.unwrap_or(0)));
    Rates {
        bytes: directions(Opt::Rate),
        iops: directions(Opt::RateIops),
        ignore_thinktime: options.switch(Opt::RateIgnoreThinktime).unwrap_or(false),
    }
}

/// Pauses. With a time between them the count of I/Os plays a part only if it was given.
pub(crate) fn think(options: &Options) -> Think {
    let time = |opt| Duration::from_micros(options.time_us(opt).unwrap_or(0));
    let number = |opt| options.int(opt).map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX));
    let iotime = time(Opt::ThinktimeIotime);
    let by_default = iotime.is_zero().then_some(1);
    Think {
        time: time(Opt::Thinktime),
        spin: time(Opt::ThinktimeSpin).min(time(Opt::Thinktime)),
        blocks: number(Opt::ThinktimeBlocks).or(by_default),
        at_issue: options.choice(Opt::ThinktimeBlocksType).is_some_and(|choice| choice.word == "issue"),
        iotime,
        cycles: number(Opt::Thinkcycles).unwrap_or(0),
    }
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
