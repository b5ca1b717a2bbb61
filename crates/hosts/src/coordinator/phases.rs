//! Where the hosts of a run go on together: to prepare, to begin a phase, and to part.

use std::time::Duration;

use super::{Coordinator, CoordinatorAction};
use crate::host::Stage;
use crate::{ClockTime, HostId, ToAgent};

/// From the word to the start of a phase, beyond the time in which the word arrives everywhere: what an agent that waits for the CPU
/// needs to read it.
const LEAD: Duration = Duration::from_millis(50);

impl Coordinator {
    /// Looks whether all hosts have come to where they go on together.
    pub(super) fn go_on(&mut self, now: ClockTime, actions: &mut Vec<CoordinatorAction>) {
        let only_check = self.settings.only_check;
        let mut awaited = self.hosts.iter().filter(|host| !host.is_over());
        if awaited.all(|host| only_check && host.stage == Stage::Checked) {
            self.is_finished = true;
            for at in (0..self.hosts.len()).filter(|&at| self.hosts[at].stage != Stage::Lost) {
                actions.push(CoordinatorAction::Send(HostId(at), ToAgent::Bye));
                actions.push(CoordinatorAction::Close(HostId(at)));
            }
            actions.push(CoordinatorAction::Finished);
            return;
        }
        if self.is_stopping || only_check {
            return;
        }
        if !self.settings.common_phases {
            self.go_on_alone(now, actions);
        }
        if self.hosts.iter().filter(|host| !host.is_over()).all(|host| host.stage == Stage::Checked) {
            for (at, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| !host.is_over()) {
                host.stage = Stage::Running;
                actions.push(CoordinatorAction::Send(HostId(at), ToAgent::Prepare));
            }
            return;
        }
        let mut phases = self.hosts.iter().filter(|host| !host.is_over()).map(|host| match host.stage {
            Stage::Ready(phase) => Some(phase),
            _ => None,
        });
        // Hosts are ready for one phase at a time, all for the same.
        if let Some(Some(phase)) = phases.next()
            && phases.all(|other| other == Some(phase))
        {
            self.begin(phase, now, actions);
        }
    }

    /// Lets each host that is ready for a later phase begin it.
    fn go_on_alone(&mut self, now: ClockTime, actions: &mut Vec<CoordinatorAction>) {
        for (at, host) in self.hosts.iter_mut().enumerate() {
            let Stage::Ready(phase @ 1..) = host.stage else { continue };
            actions.extend(host.begin(phase, now, now).map(|go| CoordinatorAction::Send(HostId(at), go)));
        }
    }

    fn begin(&mut self, phase: u32, now: ClockTime, actions: &mut Vec<CoordinatorAction>) {
        let running = || self.hosts.iter().filter(|host| !host.is_over());
        let longest = running().map(|host| host.trips.longest()).max().unwrap_or_default();
        let planned = now.after(longest + LEAD);
        for (at, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| !host.is_over()) {
            let go = host.begin(phase, planned, now);
            actions.extend(go.map(|go| CoordinatorAction::Send(HostId(at), go)));
        }
    }
}
