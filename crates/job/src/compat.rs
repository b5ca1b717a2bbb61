//! Whether the program behaves as ferrio or as fio, and every decision about jobs that follows from it.
//!
//! The planner resolves the name once, into the [`CompatRules`] of its jobs. What runs a job asks for one of these decisions, never for the
//! name. How job files are read, the command line and reports have decisions of their own.

use crate::choice::choices;

choices! {
    /// `--as`, the variable `FERRIO_AS`, or the name that the program is called by.
    pub enum Compat default Ferrio {
        Ferrio: "ferrio", "Refuses values that nobody means, and warns about misleading figures";
        Fio: "fio", "Reads values as fio does, and prints what fio prints";
    }
}

/// Makes [`CompatRules`] from a table. A line has the name under which the rule holds, the rule, and its rows of `docs/differences.md`.
macro_rules! compat_rules {
    ($($under:ident $rule:ident: $($row:literal)+, $doc:literal;)+) => {
        /// The differences between jobs as fio and jobs as ferrio: the rows of `docs/differences.md` that depend on the program's name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct CompatRules {
            $(
                #[doc = concat!($doc, "\n\nDifference", $(" `", $row, "`",)+ ".")]
                pub $rule: bool,
            )+
        }

        impl CompatRules {
            /// The rules that hold under a name.
            #[must_use]
            pub const fn of(compat: Compat) -> Self {
                CompatRules { $($rule: matches!(compat, Compat::$under),)+ }
            }
        }

        /// Each rule and its rows of `docs/differences.md`.
        #[cfg(test)]
        const ROWS: &[(&str, &[&str])] = &[$((stringify!($rule), &[$($row),+])),+];
    };
}

compat_rules! {
    // The plan.
    Fio tunes_as_fio: "tuning", "The default of `tuning` is `fio`.";
    Fio limits_jobs_as_fio: "number-of-jobs", "A run has at most 4088 jobs.";
    Fio clones_lose_identity: "identity-of-clones", "`name`, `uid` and `gid` hold for the first clone only.";
    Fio repeated_clones_are_idle: "names-of-clones", "A clone whose files are those of the first one does nothing.";
    Fio gives_up_jobs_alone: "jobs-given-up", "Mistakes that fio finds when it sets up a job do not refuse the other jobs.";
    Fio sizes_in_zones_may_be_empty: "zones-without-zbd", "A size in zones without `zonemode=zbd` is 0.";
    Fio pretended_files_are_endless: "offset-of-filesize", "A file of an engine without files has no end unless `size` has one.";
    Ferrio lays_out_zoned_files: "zone-new-file", "The zones of a file include those that layout adds.";
    Ferrio shares_files: "shared-files", "Random jobs take turns with more files than they may open.";
    Ferrio guards_files: "layout-overwrites" "missing-device", "Files that are not ferrio's own are not replaced, and none is made in `/dev`.";
    Ferrio guards_devices_in_use: "device-in-use-elsewhere", "Devices that others hold are not written to.";
    Ferrio refuses_unsafe_names: "names-with-controls", "No file gets a name with control characters or outside of its directory.";
    Ferrio reads_ring_first: "ring-while-waiting", "`userspace_reap` is on by default, and holds for jobs that wait, too.";
    Fio saves_states_by_default: "verify-state", "The default of `verify_state_save` is 1.";
    Fio saves_states_of_checks: "verify-only-state", "A job with `verify_only` saves a verify state.";
    Ferrio warns_of_missing_checks: "verify-checks-nothing", "Jobs whose blocks are never verified get a warning.";
    Ferrio warns_only_of_lost_checks: "verify-limited", "Only jobs whose blocks overwrite parts of each other get the warning of limited verification.";
    Fio flush_replaces_write: "block-trace-flushes", "A write of a trace that flushes first is only the flush.";
    Ferrio bad_lines_fail_run: "replay-bad-lines", "A run that skips lines of a replayed log has failed.";
    Ferrio names_exports_by_uri: "nbd-name", "Messages call an export by its URI.";
    Ferrio checks_customer_keys: "http-customer-key", "`http_s3_sse_customer_key` may be base64, and its length is checked.";
    Ferrio refuses_partial_objects: "http-range-writes", "Writes must cover their whole object with `http_object_mode=range`.";
    Fio missing_objects_are_zeros: "http-missing-object", "A read of an object that does not exist succeeds.";
    Ferrio masks_secrets: "http-secrets", "`job options` have no passwords and keys.";
    Ferrio merges_repeated_options: "repeated-options", "`job options` have each option once.";

    // The run.
    Fio excuses_failed_set_up: "setup-of-worker-failing" "exec-prerun-failing", "A job whose worker cannot be set up counts as successful.";
    Fio opens_registered_files_at_once: "registered-openfiles", "`registerfiles` needs all files open.";
    Ferrio lays_out_removed_files: "files-removed-between-passes", "Files that the last pass has removed are laid out again.";
    Ferrio cleaning_up_may_fail: "cleaning-up-failing", "An error when a file is closed or removed at the end fails the job.";
    Ferrio polls_without_waiting: "polling-depth", "`iodepth_batch_complete_min=0` waits for no I/O.";
    Fio empty_transfers_succeed: "async-read-at-end", "An asynchronous I/O that moves nothing is one of 0 bytes.";
    Fio counts_fatal_errors: "fatal-error-counted", "The error that ends a job may count among those that it continued after.";
    Ferrio damage_fails_jobs: "verify-status", "A job that goes on after bad blocks has failed.";
    Ferrio removes_outdated_states: "verify-state-outdated", "A verify state does not outlive what it says of the files, and loading one that does gets a warning.";
    Ferrio saves_states_at_syncs: "verify-state-synced", "Verify states of `verify_policy=fsynced` are saved after each sync.";
    Fio marks_bad_blocks: "mtd-bad-blocks", "Blocks of flash that fail are marked as bad.";
    Ferrio signals_end_waits: "signals-while-blocked", "Signals end a run that waits for an output or for the command of a trigger.";
    Ferrio reports_hanging_jobs: "hanging-jobs", "A message names jobs that go on after a signal.";
    Ferrio reports_stops: "stopped-and-continued", "A message says that the program was stopped meanwhile.";

    // Messages and reports.
    Fio has_words_of_fio: "words-about-jobs", "Messages about devices, servers and programs of a job have fio's words.";
    Ferrio text_has_own_lines: "response-time" "tuning", "Text reports have lines that fio's do not have.";
    Ferrio histogram_log_has_last_row: "log-histogram-last-row", "A histogram log has a row for the I/Os after the last full interval.";
}

impl Default for CompatRules {
    fn default() -> Self {
        CompatRules::of(Compat::default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const PAGE: &str = include_str!("../../../docs/differences.md");

    /// Differences of jobs that lie in how job files are read, which is the parser's.
    const OF_PARSER: [&str; 2] = ["iodepth-batch-auto", "databases"];

    /// The rows of some sections that depend on the program's name.
    fn dependent_rows(is_wanted: impl Fn(&str) -> bool) -> HashSet<&'static str> {
        let sections = PAGE.split("\n## ").filter(|section| is_wanted(section.lines().next().unwrap_or("")));
        let rows = sections.flat_map(str::lines).filter_map(|line| line.strip_prefix("| "));
        rows.filter(|row| row.to_lowercase().contains("called `f"))
            .filter_map(|row| row.split(" |").next())
            .collect()
    }

    #[test]
    fn the_page_of_differences_has_each_rule() {
        let rows = dependent_rows(|_| true);
        for (rule, names) in ROWS {
            let missing: Vec<_> = names.iter().filter(|&row| !rows.contains(row)).collect();
            assert!(
                missing.is_empty(),
                "{rule}: no row of docs/differences.md that says `called`: {missing:?}"
            );
        }
    }

    #[test]
    fn what_the_page_says_of_jobs_is_a_rule() {
        let of_jobs = |section: &str| ["Jobs", "I/O buffers", "Order and pace of I/O"].contains(&section);
        let known: HashSet<&str> =
            ROWS.iter().flat_map(|(_, rows)| rows.iter().copied()).chain(OF_PARSER).collect();
        let unknown: Vec<_> = dependent_rows(of_jobs).difference(&known).copied().collect();
        assert!(unknown.is_empty(), "no rule of `CompatRules` has these rows: {unknown:?}");
    }
}
