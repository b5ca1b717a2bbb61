//! What the processors of the machine do, and which part of it this process does.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};

/// CPU time since the machine or this process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Time that all processors were there for, busy or idle, in ticks; 0 if the kernel does not say.
    all: u64,
    /// The part of it in which they worked.
    busy: u64,
    /// CPU time of this process and of the commands it ran, µs.
    own_us: u64,
    /// Ticks per second.
    ticks: u64,
}

/// CPU time between two readings, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUse {
    /// What all processors together could have worked; 0 if it is not known.
    pub all_us: u64,
    /// What they did work.
    pub busy_us: u64,
    /// What this process and the commands it ran had of it.
    pub own_us: u64,
}

impl CpuTime {
    /// Reads the counters.
    #[must_use]
    pub fn now() -> Self {
        let (all, busy) = parse(&fs::read_to_string("/proc/stat").unwrap_or_default()).unwrap_or((0, 0));
        let own = |who| {
            let usage = getrusage(who).ok()?;
            let us = |t: nix::sys::time::TimeVal| t.tv_sec() as u64 * 1_000_000 + t.tv_usec() as u64;
            Some(us(usage.user_time()) + us(usage.system_time()))
        };
        let own_us = own(UsageWho::RUSAGE_SELF).unwrap_or(0) + own(UsageWho::RUSAGE_CHILDREN).unwrap_or(0);
        let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|ticks| u64::try_from(ticks).ok());
        CpuTime { all, busy, own_us, ticks: ticks.unwrap_or(100).max(1) }
    }

    /// Growth since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &CpuTime) -> CpuUse {
        let us = |ticks: u64| ticks.saturating_mul(1_000_000) / self.ticks;
        CpuUse {
            all_us: us(self.all.saturating_sub(earlier.all)),
            busy_us: us(self.busy.saturating_sub(earlier.busy)),
            own_us: self.own_us.saturating_sub(earlier.own_us),
        }
    }
}

impl CpuUse {
    /// What other programs and the kernel on their behalf had, µs.
    #[must_use]
    pub fn others_us(&self) -> u64 {
        self.busy_us.saturating_sub(self.own_us)
    }

    /// A figure of these in percent of all processors, at most 100; 0 where that is not known.
    #[must_use]
    pub fn share(&self, us: u64) -> f64 {
        if self.all_us == 0 { 0.0 } else { (100.0 * us as f64 / self.all_us as f64).min(100.0) }
    }
}

/// All and busy ticks of the first line of `/proc/stat`: user nice system idle iowait irq softirq steal, guests counted in user.
fn parse(stat: &str) -> Option<(u64, u64)> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace().take(8);
    let fields: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
    let all: u64 = fields.iter().sum();
    Some((all, all - fields.get(3)? - fields.get(4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_disks_is_no_work() {
        assert_eq!(parse("cpu  10 1 5 100 50 2 3 4 7 0\ncpu0 1 1\n"), Some((175, 25)));
        assert_eq!((parse(""), parse("cpu  1 2 3\n"), parse("intr 5\n")), (None, None, None));
    }

    #[test]
    fn shares_are_of_all_processors() {
        let before = CpuTime { all: 1000, busy: 100, own_us: 0, ticks: 100 };
        let after = CpuTime { all: 1200, busy: 250, own_us: 500_000, ticks: 100 };
        let used = after.since(&before);
        assert_eq!(used, CpuUse { all_us: 2_000_000, busy_us: 1_500_000, own_us: 500_000 });
        assert_eq!((used.share(used.busy_us), used.others_us()), (75.0, 1_000_000));
        assert_eq!(CpuUse::default().share(5), 0.0);
    }
}
