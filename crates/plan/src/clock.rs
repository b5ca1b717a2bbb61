//! The clock of the whole run: jobs share one, whoever asked for it.

use ferrio_jobfile::{JobSet, Opt, Value};

use ferrio_job::{Choice as _, ClockSource, ClockWord};

/// The choice that a job makes itself beats one that jobs inherit; among several the last one counts.
pub(crate) fn source(set: &JobSet) -> ClockSource {
    let jobs = || set.jobs.iter().rev();
    let own = jobs().find_map(|job| job.own.iter().rev().find(|given| given.opt == Opt::Clocksource));
    let given = own.or_else(|| jobs().find_map(|job| job.options.given(Opt::Clocksource)));
    match given.map(|given| &given.value) {
        Some(Value::Word(word, _)) => ClockWord::from_word(word).map_or(ClockSource::Best, ClockWord::source),
        _ => ClockSource::Best,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::plan_of;
    use ferrio_job::ClockSource;

    #[test]
    fn the_last_job_that_says_so_chooses_the_clock_for_all() {
        let clock = |text: &str| plan_of(&format!("[global]\nioengine=null\nsize=4k\n{text}")).unwrap().clock;
        assert_eq!(clock("[a]\n"), ClockSource::Best);
        assert_eq!(clock("clocksource=cpu\n[a]\n"), ClockSource::Cpu);
        assert_eq!(clock("[a]\nclocksource=gettimeofday\n[b]\n"), ClockSource::Kernel);
        assert_eq!(clock("clocksource=cpu\n[a]\nclocksource=clock_gettime\n[b]\n"), ClockSource::Kernel);
        assert_eq!(clock("[a]\nclocksource=clock_gettime\n[b]\nclocksource=cpu\n"), ClockSource::Cpu);
    }
}
