//! Runs fio and ferrio on a job and reads what they measured.

use std::process::Command;

use serde_json::Value;

use crate::Outcome;

/// A program under comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Fio,
    Ferrio,
}

impl Tool {
    /// What to execute.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Tool::Fio => "fio",
            Tool::Ferrio => env!("CARGO_BIN_EXE_ferrio"),
        }
    }
}

/// The command line of a job.
pub(crate) fn arguments(options: &[String]) -> Vec<String> {
    let job = ["--output-format=json".to_owned(), "--name=bench".to_owned()];
    job.into_iter().chain(options.iter().map(|option| format!("--{option}"))).collect()
}

/// Runs the job and answers its run time over its number of reads, in ns.
pub(crate) fn ns_per_io(tool: Tool, options: &[String]) -> Outcome<f64> {
    let arguments = arguments(options);
    let program = tool.program();
    let output = Command::new(program).args(&arguments).output().map_err(|e| format!("{program}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let failed = |why: &str| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        format!("{program} {}: {why}\n{stderr}", arguments.join(" "))
    };
    if !output.status.success() {
        return Err(failed(&output.status.to_string()).into());
    }
    // fio may put notes before its report.
    let start = text.find('{').ok_or_else(|| failed("no JSON in its output"))?;
    let report: Value = serde_json::from_str(&text[start..])?;
    let read = &report["jobs"][0]["read"];
    let figure =
        |key: &str| read[key].as_f64().filter(|&n| n > 0.0).ok_or_else(|| failed(&format!("no {key}")));
    Ok(figure("runtime")? * 1e6 / figure("total_ios")?)
}
