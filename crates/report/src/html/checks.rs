//! Results of checks: thresholds (`--fail-if`) and blocks that failed verification (`verify`).

use super::markup::{HtmlTable, folded};
use super::{PageRun, prefix};
use crate::model::FerrioReport;

/// Maximum number of damaged blocks in the list.
const MAX_BLOCKS: usize = 100;

/// Both sections; empty if nothing was checked.
pub(super) fn section(runs: &[PageRun<'_>]) -> String {
    let all: Vec<(String, &FerrioReport)> = runs
        .iter()
        .enumerate()
        .filter_map(|(number, run)| Some((prefix(runs, number), run.report.ferrio.as_ref()?)))
        .collect();
    thresholds(&all) + &damage(&all)
}

fn thresholds(runs: &[(String, &FerrioReport)]) -> String {
    if runs.iter().all(|(_, ferrio)| ferrio.thresholds.is_empty()) {
        return String::new();
    }
    let mut table = HtmlTable::new("Thresholds", &[("fails if", false), ("result", false), ("job", false)]);
    for (label, ferrio) in runs {
        for threshold in &ferrio.thresholds {
            let result = match (threshold.passed, &threshold.reason) {
                (true, _) => "passed".to_owned(),
                (false, Some(reason)) => format!("failed: {reason}"),
                (false, None) => "failed".to_owned(),
            };
            let worst = threshold.jobname.clone().filter(|_| !threshold.passed).unwrap_or_default();
            let cells = [format!("{label}{}", threshold.expression), result, worst];
            table.row(&cells);
        }
    }
    table.end()
}

/// Kinds of damage, and the first damaged blocks.
fn damage(runs: &[(String, &FerrioReport)]) -> String {
    if runs.iter().all(|(_, ferrio)| ferrio.verify.is_empty()) {
        return String::new();
    }
    let mut kinds = HtmlTable::new(
        "Blocks that failed their check",
        &[("job", false), ("what they look like", false), ("blocks", true)],
    );
    let columns =
        [("job", false), ("file", false), ("offset", true), ("bytes", true), ("what it looks like", false)];
    let mut blocks = HtmlTable::new("The first damaged blocks", &columns);
    let mut listed = 0;
    for (label, report) in
        runs.iter().flat_map(|(label, ferrio)| ferrio.verify.iter().map(move |one| (label, one)))
    {
        let name = format!("{label}{}", report.jobname);
        for (kind, count) in &report.kinds {
            kinds.row(&[name.clone(), kind.clone(), count.to_string()]);
        }
        for block in &report.blocks[..report.blocks.len().min(MAX_BLOCKS - listed)] {
            listed += 1;
            blocks.row(&[
                name.clone(),
                block.file.clone(),
                block.offset.to_string(),
                block.length.to_string(),
                block.message.clone(),
            ]);
        }
    }
    kinds.end() + &folded("The first damaged blocks", &blocks.end())
}
