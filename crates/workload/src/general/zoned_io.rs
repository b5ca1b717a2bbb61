//! I/Os that are done in another place than chosen: in zones (`zonemode=zbd`), a write goes to the write pointer, and a read to written
//! data.

use super::GeneralChoices;
use crate::step::{Io, Step};

impl GeneralChoices {
    /// Replaces the last I/O, `chosen`, by `done`; a sequential walk continues at `next`.
    pub(crate) fn moved(&mut self, chosen: &Io, done: &Io, next: u64) {
        let d = done.direction as usize;
        let Some(file) = self.files.get_mut(done.file as usize) else { return };
        file.last_start[d] = done.offset;
        file.last_end[d] = next;
        file.last_len = done.len;
        // The blocks that a shorter I/O leaves out are free again, if they were marked.
        if let (Some(choices), Some(map)) = (&self.random, &mut file.map)
            && done.len < chosen.len
            && choices.marks_all()
        {
            let begin = chosen.offset - file.region.offset;
            let bit = |len: u64| (begin + len).div_ceil(choices.unit).min(map.bits());
            (bit(done.len)..bit(chosen.len)).for_each(|bit| map.free(bit));
        }
        if let Some(dirty) = self.dirty.get_mut(done.file as usize)
            && self.after_write
        {
            dirty.wrote(done.offset, done.len);
        }
    }

    /// Drops the last I/O, which cannot be done because nothing is left to do in its file. Returns the step that follows from that, if
    /// there is one.
    pub(crate) fn give_up(&mut self, chosen: &Io) -> Option<Step> {
        self.choice.issued[chosen.direction as usize] -= 1;
        self.after_write = false;
        self.rotation.take_back(chosen.file as usize, chosen.len);
        let closes = self.leave_file(chosen.file as usize);
        closes.then_some(Step::Close { file: chosen.file })
    }
}
