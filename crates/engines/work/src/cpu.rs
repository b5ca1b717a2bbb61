//! The engine cpuio: keeps a CPU busy.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ferrio_job::{CpuLoad, CpuMode, Diagnostic, JobSpec, Prefix};

use crate::JobHandle;

/// Iterations of the empty loop between two reads of the clock, some microseconds.
const SPINS_PER_CLOCK_READ: u32 = 10_000;
/// Number of values that are sorted, as in fio.
const SORTED_NUMBERS: usize = 1 << 18;

/// Generates the CPU load of a job.
pub(crate) struct CpuLoadGenerator {
    load: CpuLoad,
    /// Empty unless the load sorts them.
    numbers: Vec<u32>,
    /// Duration of the last busy period.
    busy: Duration,
}

impl CpuLoadGenerator {
    pub(crate) fn new(load: CpuLoad) -> Self {
        let count = if load.mode == CpuMode::Qsort { SORTED_NUMBERS } else { 0 };
        CpuLoadGenerator { load, numbers: vec![0; count], busy: load.chunk }
    }

    /// Keeps the CPU busy for one period; shorter if the job ends meanwhile.
    pub(crate) fn burn(&mut self, job: &dyn JobHandle) {
        match self.load.mode {
            CpuMode::Noop => spin(self.load.chunk, job),
            CpuMode::Qsort => {
                let began = Instant::now();
                sort(&mut self.numbers, job);
                self.busy = began.elapsed();
            }
        }
    }

    /// The pause after which the last busy period has the requested share of the time.
    pub(crate) fn think_time(&self) -> Duration {
        self.load.pause(self.busy)
    }
}

fn spin(chunk: Duration, job: &dyn JobHandle) {
    let began = Instant::now();
    while began.elapsed() < chunk && !job.is_over() {
        for turn in 0..SPINS_PER_CLOCK_READ {
            black_box(turn);
        }
    }
}

/// Sorts the numbers three times, in different orders.
fn sort(numbers: &mut [u32], job: &dyn JobHandle) {
    let orders: [fn(&mut [u32]); 4] = [
        |numbers| {
            scramble(numbers);
            numbers.sort_unstable();
        },
        |numbers| numbers.sort_unstable_by_key(|number| number.swap_bytes()),
        |numbers| numbers.sort_unstable_by(|one, other| other.cmp(one)),
        |numbers| numbers.sort_unstable_by_key(|number| number.reverse_bits()),
    ];
    for order in orders {
        if job.is_over() {
            return;
        }
        order(numbers);
        black_box(&mut *numbers);
    }
}

/// Fills in the same numbers in the same order each time, so that all busy periods are equally long.
fn scramble(numbers: &mut [u32]) {
    let mut state = 1_u32;
    for number in numbers {
        // A linear congruential generator with the constants of Numerical Recipes.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *number = state;
    }
}

/// fio's message about the load.
pub(crate) fn note(spec: &JobSpec) -> Diagnostic {
    let CpuLoad { percent, chunk, mode } = spec.engine_options.cpu;
    let (name, engine, mode) = (&spec.name, spec.engine.word(), mode.word());
    let cycle = chunk.as_micros();
    let message = format!("{name} ({mode}): ioengine={engine}, cpuload={percent}, cpucycle={cycle}");
    Diagnostic::note(message).code("cpu-load").prefix(Prefix::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stretch_sorts_the_same_numbers_in_the_last_order() {
        let mut once = vec![0; 1000];
        sort(&mut once, &crate::UnlimitedJob);
        assert!(once.is_sorted_by_key(|number| number.reverse_bits()));
        let mut twice = once.clone();
        sort(&mut twice, &crate::UnlimitedJob);
        assert_eq!(once, twice);
    }

    #[test]
    fn the_pause_follows_the_length_of_the_sorting() {
        let load = CpuLoad { percent: 25, chunk: Duration::from_millis(50), mode: CpuMode::Qsort };
        let mut cpu = CpuLoadGenerator::new(load);
        assert_eq!(cpu.think_time(), Duration::from_millis(150));
        cpu.burn(&crate::UnlimitedJob);
        assert_eq!(cpu.think_time(), cpu.busy * 3);
        assert_ne!(cpu.busy, load.chunk);
    }
}
