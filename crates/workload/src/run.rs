//! The path of jobs over one file in one direction with lengths that vary: steps planned ahead, a batch at a time.
//!
//! Nothing that happens between two such I/Os changes the next one, so a batch of them is worked out in one loop, without a call
//! and a look at the job for each.

use ferrio_job::Direction;

use crate::course::Course;
use crate::random::BATCH;
use crate::scatter::Scatter;
use crate::step::{Io, Planned, Step};

/// Steps planned ahead, and who plans them.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The next step; the last one planned is always the last of the batch.
    at: usize,
    direction: Direction,
    steps: [Planned; BATCH],
    planner: Planner,
}

/// Who plans the steps.
#[derive(Clone, Debug)]
pub(crate) enum Planner {
    /// One after the other.
    Course(Box<Course>),
    /// At random.
    Scatter(Box<Scatter>),
}

impl Run {
    /// The steps of a planner whose job does not mix directions.
    pub(crate) fn new(direction: Direction, planner: Planner) -> Self {
        Run { at: BATCH, direction, steps: [Planned::default(); BATCH], planner }
    }

    /// The next step.
    #[inline(always)]
    pub(crate) fn next(&mut self, mut pace: impl FnMut(Direction) -> Direction) -> Step {
        pace(self.direction);
        if self.at >= BATCH && !self.plan() {
            return Step::PassEnd;
        }
        let Planned { offset, len } = self.steps[self.at];
        self.at += 1;
        Step::Io(Io { direction: self.direction, file: 0, offset, len })
    }

    /// Starts again where the job repeats. Steps that were planned and not made give back what was drawn for them.
    pub(crate) fn begin_pass(&mut self) {
        let left = BATCH - self.at;
        self.at = BATCH;
        match &mut self.planner {
            Planner::Course(course) => {
                course.drop_planned(left);
                course.begin_pass();
            }
            Planner::Scatter(scatter) => {
                scatter.drop_planned(left);
                scatter.begin_pass();
            }
        }
    }

    /// Plans the next steps; false when the pass has none.
    #[cold]
    #[inline(never)]
    fn plan(&mut self) -> bool {
        let count = match &mut self.planner {
            Planner::Course(course) => course.plan(&mut self.steps),
            Planner::Scatter(scatter) => scatter.plan(&mut self.steps),
        };
        self.at = BATCH - count;
        if self.at > 0 {
            self.steps.copy_within(..count, self.at);
        }
        count > 0
    }
}
