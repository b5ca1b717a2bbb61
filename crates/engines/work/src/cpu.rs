//! Busy stretches of a CPU.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ferrio_job::{CpuLoad, CpuMode, Diagnostic, JobSpec, Prefix};

use crate::JobHandle;

/// Turns of the empty loop between two looks at the clock, some microseconds.
const TURNS: u32 = 10_000;
/// Numbers that are sorted, as many as fio sorts.
const NUMBERS: usize = 1 << 18;

/// The load that a job makes.
pub(crate) struct Cpu {
    load: CpuLoad,
    /// Empty unless they are to be sorted.
    numbers: Vec<u32>,
    /// How long the last stretch was.
    busy: Duration,
}

impl Cpu {
    pub(crate) fn new(load: CpuLoad) -> Self {
        let count = if load.mode == CpuMode::Qsort { NUMBERS } else { 0 };
        Cpu { load, numbers: vec![0; count], busy: load.chunk }
    }

    /// One busy stretch; shorter if the job ends meanwhile.
    pub(crate) fn burn(&mut self, duty: &dyn JobHandle) {
        match self.load.mode {
            CpuMode::Noop => spin(self.load.chunk, duty),
            CpuMode::Qsort => {
                let began = Instant::now();
                sort(&mut self.numbers, duty);
                self.busy = began.elapsed();
            }
        }
    }

    /// The pause that makes the last stretch as much of the time as the load says.
    pub(crate) fn pause(&self) -> Duration {
        self.load.pause(self.busy)
    }
}

fn spin(chunk: Duration, duty: &dyn JobHandle) {
    let began = Instant::now();
    while began.elapsed() < chunk && !duty.is_over() {
        for turn in 0..TURNS {
            black_box(turn);
        }
    }
}

/// Sorts numbers that are out of order, then those in another order than they are in, three times.
fn sort(numbers: &mut [u32], duty: &dyn JobHandle) {
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
        if duty.is_over() {
            return;
        }
        order(numbers);
        black_box(&mut *numbers);
    }
}

/// The same numbers in the same order each time, so that each stretch is as long as the others.
fn scramble(numbers: &mut [u32]) {
    let mut state = 1_u32;
    for number in numbers {
        // A linear congruential generator with the constants of Numerical Recipes.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *number = state;
    }
}

/// What fio says of the load.
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
        let mut cpu = Cpu::new(load);
        assert_eq!(cpu.pause(), Duration::from_millis(150));
        cpu.burn(&crate::UnlimitedJob);
        assert_eq!(cpu.pause(), cpu.busy * 3);
        assert_ne!(cpu.busy, load.chunk);
    }
}
