//! Notes about the report itself.

use ferrio_job::{JobSpec, Plan, Units};

/// What a user should know about the units of the report, one line each: an entry of several jobs has one unit for all.
#[must_use]
pub fn unit_notes(plan: &Plan) -> Vec<String> {
    let kb_base = note(plan, "kb_base", |units| units.kb_base);
    let unit_base = note(plan, "unit_base", |units| units.unit_base);
    kb_base.into_iter().chain(unit_base).collect()
}

/// The first job of an entry decides; the first disagreement is told, further ones are not.
fn note(plan: &Plan, option: &str, value: fn(&Units) -> u32) -> Option<String> {
    let mut first: Option<&JobSpec> = None;
    for spec in plan.jobs.iter().map(|job| &job.spec) {
        match first {
            Some(head) if spec.group_reporting && head.group_reporting && head.group == spec.group => {
                let base = value(&head.units);
                if value(&spec.units) != base {
                    return Some(format!(
                        "fio: {option} differs for jobs in group, using {base} as the base"
                    ));
                }
            }
            _ => first = Some(spec),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_job::PlannedJob;

    #[test]
    fn jobs_of_one_entry_that_disagree_are_told_once() {
        let job = |kb_base, group_reporting| {
            let mut spec = JobSpec::bare("a");
            spec.units.kb_base = kb_base;
            spec.group_reporting = group_reporting;
            PlannedJob { spec, setup_error: None }
        };
        let plan = |jobs| Plan { jobs, ..Plan::default() };
        assert_eq!(
            unit_notes(&plan(vec![job(1000, true), job(1024, true), job(1024, true)])),
            ["fio: kb_base differs for jobs in group, using 1000 as the base"]
        );
        assert!(unit_notes(&plan(vec![job(1000, false), job(1024, false)])).is_empty());
    }
}
