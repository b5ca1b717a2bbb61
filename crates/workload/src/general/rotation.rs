//! Which file the next I/O goes to.

/// The files that are not finished, visited in turn.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    live: Vec<u32>,
    /// Index in `live` of the file that is picked next.
    next: usize,
    /// File number picked last.
    last: u32,
}

impl Rotation {
    pub(super) fn new(files: usize) -> Self {
        Rotation { live: (0..files as u32).collect(), next: 0, last: 0 }
    }

    /// All files are live again; the turn passes to the one after the last.
    pub(super) fn refill(&mut self, files: usize) {
        if self.next > 0 || self.live.len() < files {
            self.next = self.last as usize + 1;
        }
        self.live.clear();
        self.live.extend(0..files as u32);
    }

    #[inline]
    pub(super) fn pick(&mut self) -> Option<usize> {
        if self.next >= self.live.len() {
            self.next = 0;
        }
        let file = *self.live.get(self.next)?;
        self.next += 1;
        self.last = file;
        Some(file as usize)
    }

    /// The file picked last is finished.
    pub(super) fn finish(&mut self) {
        self.next -= 1;
        self.live.remove(self.next);
    }
}
