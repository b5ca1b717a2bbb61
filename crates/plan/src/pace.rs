//! How fast a job goes: rate limits and pauses.

use std::time::Duration;

use ferrio_job::Diagnostic;
use ferrio_jobfile::{Opt, Options};

use crate::findings::Findings;
use crate::resolve::value_origin;
use ferrio_job::{BlockSizes, Direction, PerDirection, Rates, ReadWrite, Think};

/// Rate limits of a job that does `rw` in these blocks.
pub(crate) fn rates(
    options: &Options,
    rw: ReadWrite,
    block: &PerDirection<BlockSizes>,
    findings: &mut Findings,
) -> Rates {
    let directions = |opt| PerDirection(options.rwt(opt).map(|value| value.unwrap_or(0)));
    let cycle = options.int(Opt::RateCycle).and_then(|ms| u64::try_from(ms).ok()).unwrap_or(1000);
    let rates = Rates {
        bytes: directions(Opt::Rate),
        iops: directions(Opt::RateIops),
        poisson: options.word(Opt::RateProcess).is_some_and(|choice| choice.word == "poisson"),
        min_bytes: directions(Opt::RateMin),
        min_iops: directions(Opt::RateIopsMin),
        cycle: Duration::from_millis(cycle),
        ignore_thinktime: options.switch(Opt::RateIgnoreThinktime).unwrap_or(false),
    };
    let slow = |d: Direction| rw.does(d) && rates.iops[d] == 0 && rates.bytes[d] < block[d].min;
    if rates.poisson
        && rates.any()
        && let Some(direction) = Direction::ALL.into_iter().find(|&d| slow(d))
    {
        let message = format!(
            "rate_process=poisson needs a rate of at least one block a second for {}s",
            direction.name()
        );
        let origin = value_origin(options, Opt::RateProcess);
        let problem = Diagnostic::error(message, origin).code("poisson-without-rate");
        findings.refuse(problem.help("give each direction of the job a rate"));
    }
    rates
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
        at_issue: options.word(Opt::ThinktimeBlocksType).is_some_and(|choice| choice.word == "issue"),
        iotime,
        cycles: number(Opt::Thinkcycles).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{plan_of, refusals, spec_of};

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
    fn minimums_are_looked_at_every_second_unless_told_otherwise() {
        let rates = |options: &str| spec_of(&format!("[a]\nioengine=null\nsize=1m\n{options}")).rates;
        let minimum = rates("rate_min=1m,2k\n");
        assert_eq!((minimum.min_bytes.0, minimum.cycle), ([1 << 20, 2048, 2048], Duration::from_secs(1)));
        let minimum = rates("rate_iops_min=9\nrate_cycle=20\n");
        assert_eq!((minimum.min_iops.0, minimum.cycle), ([9; 3], Duration::from_millis(20)));
        assert!(!minimum.any(), "a minimum is no limit");
    }

    #[test]
    fn random_arrivals_need_a_rate_in_each_direction() {
        let job = "[a]\nioengine=null\nsize=1m\nrw=rw\nrate_process=poisson\n";
        assert!(plan_of(job).is_ok(), "nothing is limited");
        assert!(plan_of(&format!("{job}rate_iops=1\n")).is_ok());
        let want = |direction| {
            format!("rate_process=poisson needs a rate of at least one block a second for {direction}s")
        };
        assert_eq!(refusals(&format!("{job}rate=4k,1k\n")), [want("write")]);
        assert_eq!(refusals(&format!("{job}rate_iops=,5\n")), [want("read")]);
    }

    #[test]
    fn no_more_than_the_whole_pause_is_spun() {
        assert_eq!(think_of("thinktime=5ms\nthinktime_spin=2ms\n").spin, Duration::from_millis(2));
        assert_eq!(think_of("thinktime=5ms\nthinktime_spin=7ms\n").spin, Duration::from_millis(5));
    }
}
