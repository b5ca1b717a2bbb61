//! The output of a run on many hosts: its live view and its reports.

use ferrio_report::RunReport;
use ferrio_thresholds::{Judgement, Threshold, judge};
use ferrio_tui::HostsView;

use super::Output;
use super::final_output::{keep_abort, set_thresholds};
use super::screen::ShownRun;
use crate::error::Error;

impl Output {
    /// Gives the terminal to the live view: what would go there waits until the view ends.
    pub fn show_hosts_view(&mut self, view: HostsView) {
        self.screen.show_view(ShownRun::OnHosts(view));
    }

    /// The live view, if there is one.
    pub fn hosts_view(&mut self) -> Option<&mut HostsView> {
        self.screen.hosts_view()
    }

    /// Takes the terminal back from the live view.
    pub fn end_hosts_view(&mut self) {
        self.end_view();
    }

    /// Writes a report of the run so far to all streams that can hold several.
    pub fn report_of_hosts_so_far(&mut self, report: &RunReport) {
        for at in 0..self.files.len() {
            let formats = self.files[at].formats;
            if formats.may_repeat() && !formats.are_none() {
                self.write_report(at, report);
            }
        }
    }

    /// Writes the report to all streams, then warnings about its figures and exceeded thresholds to standard error. A threshold that
    /// `aborted` the run is reported as it was judged then. Also returns whether all reports could be written.
    pub fn report_of_hosts(
        mut self,
        mut report: RunReport,
        thresholds: &[Threshold],
        aborted: Option<Judgement>,
    ) -> (Vec<Judgement>, Result<(), Error>) {
        let mut judgements = judge(thresholds, &report);
        keep_abort(&mut judgements, aborted);
        set_thresholds(&mut report, &judgements);
        for at in 0..self.files.len() {
            self.write_report(at, &report);
        }
        self.show_findings(report.warnings(), &judgements);
        (judgements, self.close())
    }
}
