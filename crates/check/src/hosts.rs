//! The checks of the hosts of a run, together: what they have in common once, and what differs by host.

use serde::Serialize;
use serde_json::Value;

use crate::model::CheckStatus;
use crate::text::aligned;
use crate::units::listed_in_part;

/// Version of the JSON output.
const VERSION: u32 = 1;

/// Names of hosts before a paragraph that not all of them have, at the most.
const MAX_NAMES: usize = 8;

/// The result of a check on many hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostsReport {
    /// Version of this document.
    pub version: u32,
    /// `ferrio` and its version.
    pub program: String,
    /// The worst verdict of any host; errors if one gave none.
    pub status: CheckStatus,
    /// The hosts, by rank.
    pub hosts: Vec<CheckedHost>,
}

/// One host and its check.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckedHost {
    /// The name that the user gave.
    pub host: String,
    /// The name that it has for itself.
    pub own_name: Option<String>,
    /// Its program and version.
    pub program: Option<String>,
    /// Its architecture.
    pub arch: Option<String>,
    /// How far its monotonic clock is ahead of the coordinator's.
    pub clock_offset_ns: Option<i64>,
    /// The offset can be wrong by this, and so can the common start.
    pub clock_bound_ns: Option<u64>,
    /// Why there is no check.
    pub lost: Option<String>,
    /// The document that `ferrio check --output-format=json` prints there.
    pub check: Option<Value>,
    /// The same as text.
    #[serde(skip)]
    pub text: String,
}

impl CheckedHost {
    fn status(&self) -> CheckStatus {
        match self.check.as_ref().and_then(|check| check.get("status")).and_then(Value::as_str) {
            Some("clean") => CheckStatus::Clean,
            Some("warnings") => CheckStatus::Warnings,
            _ => CheckStatus::Errors,
        }
    }
}

impl HostsReport {
    /// The report of these hosts, of which this `program` is the coordinator.
    #[must_use]
    pub fn new(program: &str, hosts: Vec<CheckedHost>) -> Self {
        let rank = |status: &CheckStatus| match status {
            CheckStatus::Clean => 0,
            CheckStatus::Warnings => 1,
            CheckStatus::Errors => 2,
        };
        let status = hosts.iter().map(CheckedHost::status).max_by_key(rank).unwrap_or_default();
        HostsReport { version: VERSION, program: program.to_owned(), status, hosts }
    }

    /// As one JSON document.
    #[must_use]
    pub fn json(&self) -> String {
        // All keys are strings.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// As text: the hosts, then the paragraphs of their checks. Those that not all hosts have are below the names of the hosts.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = "hosts\n".to_owned();
        text.push_str(&aligned(self.hosts.iter().map(host_line).collect()));
        let checked: Vec<&CheckedHost> = self.hosts.iter().filter(|host| host.check.is_some()).collect();
        for Paragraph { text: paragraph, hosts } in merged(&checked) {
            text.push('\n');
            if hosts.len() < self.hosts.len() {
                let names = hosts.iter().map(|&at| clean(&checked[at].host));
                text.push_str(&format!("on {}:\n", listed_in_part(names, MAX_NAMES)));
            }
            text.push_str(&format!("{}\n", paragraph.trim_end_matches('\n')));
        }
        text
    }
}

fn host_line(host: &CheckedHost) -> [String; 2] {
    let about = match &host.lost {
        Some(reason) => format!("no check: {}", clean(reason)),
        None => {
            let parts = [&host.program, &host.arch].into_iter().flatten().map(|part| clean(part));
            let clock =
                host.clock_bound_ns.map(|bound| format!("clock known to {} us", bound.div_ceil(1000)));
            parts.chain(clock).collect::<Vec<_>>().join(", ")
        }
    };
    let own_name = host.own_name.as_ref().filter(|name| **name != host.host);
    let own_name = own_name.map(|name| format!(" ({})", clean(name))).unwrap_or_default();
    [format!("{}{own_name}", clean(&host.host)), about]
}

/// What a host says about itself, without control characters, which could do harm in a terminal.
fn clean(text: &str) -> String {
    crate::text::clean(text)
}

/// A paragraph of the texts, and the hosts that have it.
struct Paragraph<'a> {
    text: &'a str,
    hosts: Vec<usize>,
}

/// The paragraphs of all hosts, each once, in an order that suits all of them.
fn merged<'a>(hosts: &[&'a CheckedHost]) -> Vec<Paragraph<'a>> {
    let mut merged: Vec<Paragraph<'a>> = Vec::new();
    for (at, host) in hosts.iter().enumerate() {
        let mut place = 0;
        let paragraphs: Vec<&str> = host.text.trim_end().split("\n\n").collect();
        for (number, text) in paragraphs.iter().copied().enumerate() {
            let position = |text: &str, merged: &[Paragraph<'_>]| {
                merged.iter().skip(place).position(|known| known.text == text).map(|found| place + found)
            };
            if let Some(found) = position(text, &merged) {
                merged[found].hosts.push(at);
                place = found + 1;
                continue;
            }
            // Before the next one that is known: those of earlier hosts come first.
            let next = paragraphs[number..].iter().find_map(|&later| position(later, &merged));
            place = next.unwrap_or(merged.len());
            merged.insert(place, Paragraph { text, hosts: vec![at] });
            place += 1;
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use ferrio_job::RunHost;
    use ferrio_plan::testing::{host_jobs_of, plan_of_jobs};
    use serde_json::json;

    use super::*;

    fn host(name: &str, status: &str, text: &str) -> CheckedHost {
        CheckedHost {
            host: name.to_owned(),
            program: Some("ferrio 0.1.0".to_owned()),
            arch: Some("x86_64".to_owned()),
            clock_bound_ns: Some(38_100),
            check: Some(json!({ "status": status })),
            text: text.to_owned(),
            ..CheckedHost::default()
        }
    }

    #[test]
    fn what_hosts_have_in_common_is_said_once() {
        let own_name = Some("rack1\u{1b}".to_owned());
        let hosts = vec![
            host("n1", "clean", "runs 1 job\n\nplaces\n  /mnt  12 GiB free\n\nno errors\n"),
            CheckedHost {
                own_name,
                ..host(
                    "n2",
                    "warnings",
                    "runs 1 job\n\nplaces\n  /mnt  3 GiB free\n\nwarning: full\n\n1 warning\n",
                )
            },
            host("n3", "clean", "runs 1 job\n\nplaces\n  /mnt  12 GiB free\n\nno errors\n"),
        ];
        let report = HostsReport::new("ferrio 0.1.0", hosts);
        assert_eq!(report.status, CheckStatus::Warnings);
        let expected = "\
hosts
  n1           ferrio 0.1.0, x86_64, clock known to 39 us
  n2 (rack1\u{fffd})  ferrio 0.1.0, x86_64, clock known to 39 us
  n3           ferrio 0.1.0, x86_64, clock known to 39 us

runs 1 job

on n1, n3:
places
  /mnt  12 GiB free

on n1, n3:
no errors

on n2:
places
  /mnt  3 GiB free

on n2:
warning: full

on n2:
1 warning
";
        assert_eq!(report.text(), expected);
    }

    #[test]
    fn a_host_has_the_phases_and_options_of_its_own_sections() {
        let text = "[global]\nioengine=null\nsize=64k\n[w]\nhosts=n0\nbs=64k\n[r]\nstonewall\nhosts=n1\nruntime=1\ntime_based\n\
                    [all]\nstonewall\n";
        let phases = |rank: u32| {
            let set = host_jobs_of(text, RunHost::of_address(&format!("n{rank}"), rank, 3));
            let plan = plan_of_jobs(&set).unwrap();
            let report = crate::check(&set, &plan, &crate::testing::facts(&plan), None);
            let numbers = report.phases.iter().map(|phase| (phase.number, phase.time.least_seconds));
            (numbers.collect::<Vec<_>>(), report.jobs[0].name.clone())
        };
        assert_eq!(phases(0), (vec![(1, 0.0), (3, 0.0)], "w".to_owned()));
        assert_eq!(phases(1), (vec![(2, 1.0), (3, 0.0)], "r".to_owned()));
        assert_eq!(phases(2), (vec![(3, 0.0)], "all".to_owned()));
    }

    #[test]
    fn a_host_without_a_check_is_an_error() {
        let lost = CheckedHost {
            host: "n2".to_owned(),
            lost: Some("no agent answers".to_owned()),
            ..CheckedHost::default()
        };
        let report = HostsReport::new("ferrio 0.1.0", vec![host("n1", "clean", "no errors\n"), lost]);
        assert_eq!(report.status, CheckStatus::Errors);
        assert!(
            report.text().contains("n2  no check: no agent answers\n\non n1:\nno errors\n"),
            "{}",
            report.text()
        );
        let document: Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(document["hosts"][1]["lost"], "no agent answers");
        assert_eq!(document["hosts"][0]["check"]["status"], "clean");
    }
}
