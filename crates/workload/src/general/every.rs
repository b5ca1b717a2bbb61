//! `rw=rand...:N`: which I/Os of a random job go to a random offset.

use ferrio_plan::Sequencer;

/// `rw=rand...:N`: a random offset every N I/Os.
#[derive(Clone, Copy, Debug)]
pub(super) struct Every {
    pub(super) period: u32,
    pub(super) left: u32,
    pub(super) sequencer: Sequencer,
}

impl Every {
    #[inline]
    pub(super) fn fires(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            return true;
        }
        false
    }
}
