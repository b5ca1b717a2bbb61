//! The view of a run on many hosts: how far each is, and its figures.

use std::time::Duration;

use ferrio_report::{HostState, HostsRecorder, HostsReport, LiveStatus, LiveTable};

use crate::display::DisplayedBoard;
use crate::screen::{NoTerminal, Terminal};

/// The view of one run on many hosts, from its start until it is dropped.
#[derive(Debug)]
pub struct HostsView {
    recorder: HostsRecorder,
    display: DisplayedBoard,
}

impl HostsView {
    /// Takes the terminal, like [`LiveView::start`](crate::LiveView::start), for a run on hosts of these names, whose figures come every
    /// `interval`.
    ///
    /// # Errors
    /// The terminal cannot be set up, or no thread can be started.
    pub fn start(
        terminal: Terminal,
        names: &[String],
        interval: Duration,
        has_colors: bool,
    ) -> Result<Self, NoTerminal> {
        let display = DisplayedBoard::start(terminal, LiveTable::of_hosts(names, interval), has_colors)?;
        Ok(HostsView { recorder: HostsRecorder::new(names.len()), display })
    }

    /// Shows how far a host is, and what it says of its jobs, `elapsed` after the first phase began.
    pub fn set_host(&self, rank: usize, state: HostState, live: Option<&LiveStatus>, elapsed: Duration) {
        self.display.change(|board| board.table.set_host(rank, state, live, elapsed));
    }

    /// Takes the snapshots that hosts have sent, of the moments `at` on the common axis.
    pub fn look(&mut self, report: &HostsReport, at: &[Duration]) {
        let sample = self.recorder.sample(report, at);
        self.display.change(|board| board.table.add_hosts(sample));
    }

    /// Shows a message.
    pub fn message(&self, text: &str) {
        self.display.message(text);
    }

    /// Shows what a host does before its jobs begin.
    pub fn set_activity(&self, text: &str) {
        self.display.change(|board| board.set_activity(text));
    }

    /// Shows that the hosts end their jobs.
    pub fn set_ending(&self) {
        self.display.change(|board| board.is_ending = true);
    }
}
