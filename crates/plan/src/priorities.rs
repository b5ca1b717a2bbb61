//! I/O priorities: that of the worker, and those that engines give single I/Os (`cmdprio`).

use ferrio_job::{EngineKind, IoPriority, JobSpec, PerDirection, Priorities, PriorityShare, SetupError};
use ferrio_jobfile::{Job, Opt, Options, PrioritySplit};

use crate::as_written::{asks, inert, lacks};

inert! {
    CmdprioClassIoUring CmdprioHintIoUring CmdprioIoUring:
        |job| !asks(job, Opt::CmdprioPercentageIoUring) && lacks(job, Opt::CmdprioBssplitIoUring);
        "no I/O has that priority without `cmdprio_percentage` or `cmdprio_bssplit`";
    CmdprioClassLibaio CmdprioHintLibaio CmdprioLibaio:
        |job| !asks(job, Opt::CmdprioPercentageLibaio) && lacks(job, Opt::CmdprioBssplitLibaio);
        "no I/O has that priority without `cmdprio_percentage` or `cmdprio_bssplit`";
}

/// All priorities; without those of single I/Os if [`check`] rejects them.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let shares = names(spec.engine).and_then(|names| shares(job, &names).ok()).unwrap_or_default();
    spec.priorities = Priorities { own: own_priority(&job.options), shares };
}

/// The options of one engine about the priorities of single I/Os.
struct Names {
    percentage: Opt,
    class: Opt,
    level: Opt,
    hint: Opt,
    split: Opt,
}

/// Engines that can give an I/O a priority of its own, with the names of their options.
const fn names(engine: EngineKind) -> Option<Names> {
    match engine {
        EngineKind::IoUring => Some(Names {
            percentage: Opt::CmdprioPercentageIoUring,
            class: Opt::CmdprioClassIoUring,
            level: Opt::CmdprioIoUring,
            hint: Opt::CmdprioHintIoUring,
            split: Opt::CmdprioBssplitIoUring,
        }),
        EngineKind::Libaio => Some(Names {
            percentage: Opt::CmdprioPercentageLibaio,
            class: Opt::CmdprioClassLibaio,
            level: Opt::CmdprioLibaio,
            hint: Opt::CmdprioHintLibaio,
            split: Opt::CmdprioBssplitLibaio,
        }),
        _ => None,
    }
}

/// Rejects wrong options about single I/Os. As in fio, only the job that has them fails.
pub(crate) fn check(job: &Job, spec: &JobSpec) -> Result<(), SetupError> {
    let Some(names) = names(spec.engine) else { return Ok(()) };
    shares(job, &names).map(drop).map_err(|problem| SetupError::new(libc::EINVAL, "cmdprio", problem))
}

/// The worker's own priority. The default class, and class 0, is best effort.
fn own_priority(options: &Options) -> Option<IoPriority> {
    let all = [Opt::Prio, Opt::Prioclass, Opt::Priohint];
    let number = |opt| u16::try_from(options.value::<u32>(opt)).unwrap_or(0);
    let [level, class, hint] = all.map(number);
    let given = all.iter().any(|&opt| options.is_given(opt));
    given.then(|| IoPriority::new(class as u8, hint, level as u8))
}

fn shares(job: &Job, names: &Names) -> Result<PerDirection<Vec<PriorityShare>>, String> {
    let options = &job.options;
    let base = base(options, names);
    let Some(split) = options.given(names.split) else {
        let percentages: PerDirection<u64> = options.value(names.percentage);
        return Ok(PerDirection([0, 1, 2].map(|at| {
            let percent = u8::try_from(percentages.0[at]).unwrap_or(0);
            let share = PriorityShare { bytes: None, percent, priority: base[at] };
            Vec::from_iter((percent > 0 && at < 2).then_some(share))
        })));
    };
    if asks(job, names.percentage) {
        return Err("cmdprio_percentage and cmdprio_bssplit options are mutually exclusive".to_owned());
    }
    let [reads, writes]: [Vec<PrioritySplit>; 2] = options.if_given(names.split).ok_or_else(|| {
        format!(
            "invalid cmdprio_bssplit format: `{}`; write `size/percent` or `size/percent/class/level[/hint]`, joined by `:`",
            split.text
        )
    })?;
    for list in [&reads, &writes] {
        if let Some(bytes) = overfull(list) {
            return Err(format!("cmdprio_bssplit total percentage for bs: {bytes} exceeds 100"));
        }
    }
    let shares = |list: Vec<PrioritySplit>, base: IoPriority| {
        let share = |split: PrioritySplit| PriorityShare {
            bytes: Some(split.bytes),
            percent: split.percent,
            priority: split.priority.unwrap_or(base),
        };
        list.into_iter().filter(|split| split.percent > 0).map(share).collect()
    };
    Ok(PerDirection([shares(reads, base[0]), shares(writes, base[1]), Vec::new()]))
}

/// The priority of chosen I/Os per direction: real time unless a class is given.
fn base(options: &Options, names: &Names) -> [IoPriority; 3] {
    let [classes, hints, levels] =
        [names.class, names.hint, names.level].map(|opt| options.per_direction(opt));
    let number = |values: [Option<u64>; 3], at: usize, default| {
        values[at].and_then(|number| u16::try_from(number).ok()).unwrap_or(default)
    };
    [0, 1, 2].map(|at| {
        let class = number(classes, at, IoPriority::REAL_TIME.into());
        IoPriority::new(class as u8, number(hints, at, 0), number(levels, at, 0) as u8)
    })
}

/// The first block size whose shares add up to more than 100 percent.
fn overfull(list: &[PrioritySplit]) -> Option<u64> {
    let sum = |bytes| -> u32 {
        list.iter().filter(|split| split.bytes == bytes).map(|split| u32::from(split.percent)).sum()
    };
    list.iter().map(|split| split.bytes).find(|&bytes| sum(bytes) > 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{null, plan_of, spec_of};
    use ferrio_job::Direction;

    fn own_bits(options: &str) -> Option<u16> {
        let spec = spec_of(&null(options));
        spec.priorities.own.map(IoPriority::bits)
    }

    /// Size (0 for all), percent and priority of the shares of reads and of writes.
    fn planned_shares(options: &str) -> [Vec<(u64, u8, u16)>; 2] {
        let spec = spec_of(&format!("[a]\nioengine=libaio\nsize=64k\n{options}"));
        let plain = |share: &PriorityShare| (share.bytes.unwrap_or(0), share.percent, share.priority.bits());
        assert!(spec.priorities.shares[Direction::Trim].is_empty());
        [Direction::Read, Direction::Write].map(|d| spec.priorities.shares[d].iter().map(plain).collect())
    }

    fn setup_error(options: &str) -> Option<(i32, String)> {
        let plan = plan_of(&format!("[a]\nioengine=io_uring\nsize=64k\n{options}")).unwrap();
        plan.jobs[0].setup_error.as_ref().map(|error| (error.errno, error.message.clone()))
    }

    #[test]
    fn a_job_has_a_priority_when_one_of_its_parts_is_given_and_best_effort_is_the_class_of_none() {
        assert_eq!(own_bits(""), None);
        assert_eq!(own_bits("prio=5\nprioclass=2\n"), Some(0x4005));
        assert_eq!(own_bits("prio=3\n"), Some(0x4003));
        assert_eq!(own_bits("prioclass=0\n"), Some(0x4000));
        assert_eq!(own_bits("prioclass=1\n"), Some(0x2000));
        assert_eq!(own_bits("prioclass=3\nprio=7\npriohint=1023\n"), Some(0x7fff));
        assert_eq!(own_bits("priohint=1\n"), Some(0x4008));
    }

    #[test]
    fn a_percentage_chooses_among_all_ios_of_a_direction_for_the_real_time_class_by_default() {
        let all = |percent, priority| vec![(0, percent, priority)];
        assert_eq!(planned_shares(""), [vec![], vec![]]);
        assert_eq!(planned_shares("cmdprio_percentage=40\n"), [all(40, 0x2000), all(40, 0x2000)]);
        let two = planned_shares("cmdprio_percentage=40,0\ncmdprio_class=2\ncmdprio=3\n");
        assert_eq!(two, [all(40, 0x4003), vec![]]);
        let parts =
            planned_shares("cmdprio_percentage=1,2\ncmdprio_class=2,3\ncmdprio=3,4\ncmdprio_hint=0,1\n");
        assert_eq!(parts, [all(1, 0x4003), all(2, 0x600c)]);
    }

    #[test]
    fn a_split_chooses_by_size_and_entries_without_a_priority_have_that_of_the_other_options() {
        let text = "cmdprio_class=2\ncmdprio=1\ncmdprio_bssplit=4k/20:8k/40/3/2:8k/0:8k/60/0/3/2,64k/100\n";
        let reads = vec![(4096, 20, 0x4001), (8192, 40, 0x6002), (8192, 60, 0x4013)];
        assert_eq!(planned_shares(text), [reads, vec![(65536, 100, 0x4001)]]);
    }

    #[test]
    fn what_fios_engines_refuse_fails_the_job_alone() {
        assert_eq!(setup_error("cmdprio_percentage=0\ncmdprio_bssplit=4k/50\n"), None);
        for (options, problem) in [
            (
                "cmdprio_percentage=50\ncmdprio_bssplit=4k/50\n",
                "cmdprio_percentage and cmdprio_bssplit options are mutually exclusive",
            ),
            (
                "cmdprio_bssplit=4k/50:8k/10:4k/60\n",
                "cmdprio_bssplit total percentage for bs: 4096 exceeds 100",
            ),
            (
                "cmdprio_bssplit=4k/50/1\n",
                "invalid cmdprio_bssplit format: `4k/50/1`; write `size/percent` or \
                 `size/percent/class/level[/hint]`, joined by `:`",
            ),
        ] {
            assert_eq!(setup_error(options), Some((libc::EINVAL, problem.to_owned())));
        }
    }

    #[test]
    fn the_priorities_of_a_direction_begin_with_the_jobs_own_and_name_each_once() {
        let text = "[a]\nioengine=io_uring\nsize=64k\nprio=3\n\
                    cmdprio_bssplit=4k/10/2/5:8k/10/2/3:16k/10/2/5,4k/5/1/0\n";
        let priorities = spec_of(text).priorities;
        assert_eq!(priorities.of(Direction::Read), [0x4003, 0x4005]);
        assert_eq!(priorities.of(Direction::Write), [0x4003, 0x2000]);
        assert_eq!(priorities.of(Direction::Trim), [0x4003]);
        assert!(priorities.are_chosen());
    }
}
