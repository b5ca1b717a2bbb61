//! Risks of a run: one function per risk, one file per family, one table of rules per file.
//!
//! A rule looks at one section, at a phase or at the whole run and returns what it observes. Scripts rely on the codes: they do not change.

mod cache;
mod data_loss;
mod devices;
mod direct;
mod engine;
mod limits;
mod logs;
mod paths;
mod sharing;
mod sizes;
mod space;
mod timing;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use ferrio_job::{Diagnostic, Origin, Plan};
use ferrio_jobfile::{JobSet, Opt, Sources};

use crate::facts::Facts;
use crate::model::RiskSeverity::{self, Info, Warning};
use crate::model::{CheckedJob, CheckedOrigin, Report, Risk};
use crate::section::{CheckedSection, is_stored, phases_of};
use RuleScope::{Phase, Run, Section};

/// The material of the rules.
pub(crate) struct RiskContext<'a> {
    pub(crate) set: &'a JobSet,
    pub(crate) plan: &'a Plan,
    pub(crate) facts: &'a Facts,
    pub(crate) sections: &'a [CheckedSection<'a>],
    /// The report so far, without risks.
    pub(crate) report: &'a Report,
    /// Disks that hold files of jobs.
    tested: HashSet<&'a Path>,
    /// Earliest starts of the phases and the end of the last one, in seconds from the start of the run.
    phase_starts: Vec<f64>,
}

impl<'a> RiskContext<'a> {
    pub(crate) fn new(
        set: &'a JobSet,
        plan: &'a Plan,
        facts: &'a Facts,
        sections: &'a [CheckedSection<'a>],
        report: &'a Report,
    ) -> RiskContext<'a> {
        let stored = sections.iter().flat_map(CheckedSection::files).filter(|(_, file)| is_stored(file));
        let tested = stored.filter_map(|(_, file)| facts.disk(facts.files.get(&file.path)?.place)).collect();
        // Each phase begins at the end of the previous one. There may be thousands, so the times are summed once.
        let ends = report.phases.iter().scan(0.0, |end, phase| {
            *end += phase.time.least_seconds;
            Some(*end)
        });
        let phase_starts = std::iter::once(0.0).chain(ends).collect();
        RiskContext { set, plan, facts, sections, report, tested, phase_starts }
    }

    /// Earliest start of the section's phase, in seconds from the start of the run.
    fn phase_start(&self, section: &CheckedSection<'_>) -> f64 {
        // Phases are numbered from 1.
        let last = self.phase_starts.len() - 1;
        // Other hosts of the run may have phases in between.
        let before = self.report.phases.partition_point(|phase| phase.number < section.phase);
        self.phase_starts[before.min(last)]
    }

    /// A section in the report.
    fn job(&self, section: &CheckedSection<'_>) -> &'a CheckedJob {
        &self.report.jobs[section.index]
    }
}

/// The rule for one risk: its code, its severity and its function.
type RiskRule = (&'static str, RiskSeverity, RuleScope);

/// The scope of a rule.
enum RuleScope {
    /// One section at a time.
    Section(fn(&RiskContext<'_>, &CheckedSection<'_>) -> Option<Observation>),
    /// The sections of one phase, which run together.
    Phase(fn(&RiskContext<'_>, &[CheckedSection<'_>]) -> Option<Observation>),
    /// The whole run.
    Run(fn(&RiskContext<'_>) -> Vec<Observation>),
}

/// The finding of a rule.
struct Observation {
    message: String,
    advice: String,
    /// Options that cause it: the report points at the first that was given.
    blame: &'static [Opt],
    sections: Vec<usize>,
    /// Whether the job fails at once: an error, whatever the severity of the rule.
    fails: bool,
}

impl Observation {
    /// An observation about the section of the rule.
    fn new(message: impl Into<String>, advice: impl Into<String>, blame: &'static [Opt]) -> Observation {
        let (message, advice) = (message.into(), advice.into());
        Observation { message, advice, blame, sections: Vec::new(), fails: false }
    }

    /// Marks it as an error if the job is certain to fail at once.
    fn fails_if(self, fails: bool) -> Observation {
        Observation { fails, ..self }
    }

    /// Sets the sections that it is about.
    fn sections(self, sections: Vec<usize>) -> Observation {
        Observation { sections, ..self }
    }
}

const FAMILIES: [&[RiskRule]; 12] = [
    data_loss::RULES,
    space::RULES,
    direct::RULES,
    sharing::RULES,
    timing::RULES,
    cache::RULES,
    engine::RULES,
    devices::RULES,
    sizes::RULES,
    limits::RULES,
    logs::RULES,
    paths::RULES,
];

/// Risks that come not from rules but from the job file reader and the planner.
const WITHOUT_RULE: [(&str, RiskSeverity); 2] =
    [("job-file-notice", Warning), ("option-without-effect", Info)];

/// All codes with their severity, in the order of their families.
pub fn codes() -> impl Iterator<Item = (&'static str, RiskSeverity)> {
    let rules = FAMILIES.into_iter().flatten();
    WITHOUT_RULE.into_iter().chain(rules.map(|&(code, severity, _)| (code, severity)))
}

/// All risks of a run, warnings first.
pub(crate) fn find(run: &RiskContext<'_>) -> Vec<Risk> {
    let mut list = RiskList { risks: without_rule(run), ..RiskList::default() };
    for (code, severity, scope) in FAMILIES.into_iter().flatten() {
        let observations: Vec<Observation> = match scope {
            Section(look) => {
                let look = |section| Some(look(run, section)?.sections(vec![section.index]));
                run.sections.iter().filter_map(look).collect()
            }
            Phase(look) => phases_of(run.sections).filter_map(|phase| look(run, phase)).collect(),
            Run(look) => look(run),
        };
        observations.into_iter().for_each(|seen| list.add(run, (code, *severity), seen));
    }
    let mut risks = list.risks;
    risks.sort_by_key(|risk| risk.severity);
    risks
}

/// A list of risks with indices of their contents: there may be thousands of jobs.
#[derive(Default)]
struct RiskList<'a> {
    risks: Vec<Risk>,
    places: HashMap<(&'static str, String, String), usize>,
    jobs: HashSet<(usize, &'a str)>,
    origins: HashSet<(usize, CheckedOrigin)>,
}

impl<'a> RiskList<'a> {
    /// Adds a risk. The same observation about several jobs is one risk.
    fn add(
        &mut self,
        run: &RiskContext<'a>,
        (code, severity): (&'static str, RiskSeverity),
        seen: Observation,
    ) {
        let of_first = seen.sections.first().and_then(|&at| run.sections.get(at));
        let origin = of_first.and_then(|section| origin(run, section, seen.blame));
        let severity = if seen.fails { RiskSeverity::Error } else { severity };
        let Observation { message, advice, sections, .. } = seen;
        let risks = &mut self.risks;
        let at = *self.places.entry((code, message.clone(), advice.clone())).or_insert_with(|| {
            risks.push(Risk { code, severity, jobs: Vec::new(), origins: Vec::new(), message, advice });
            risks.len() - 1
        });
        let risk = &mut self.risks[at];
        for section in sections.iter().filter_map(|&at| run.sections.get(at)) {
            let name = section.spec().name.as_str();
            if self.jobs.insert((at, name)) {
                risk.jobs.push(name.to_owned());
            }
        }
        risk.origins.extend(origin.filter(|origin| self.origins.insert((at, origin.clone()))));
    }
}

fn origin(run: &RiskContext<'_>, section: &CheckedSection<'_>, blame: &[Opt]) -> Option<CheckedOrigin> {
    let given = blame.iter().find_map(|&opt| section.job.options.given(opt));
    CheckedOrigin::of(given.map_or(&Origin::Builtin, |given| &given.origin), &run.set.sources)
}

/// The label at the caret and the help below it, as one text.
pub(crate) fn advice(diagnostic: &Diagnostic) -> Option<String> {
    let label = Some(diagnostic.label.clone()).filter(|label| !label.is_empty());
    match (label, diagnostic.help.clone()) {
        (Some(label), Some(help)) => Some(format!("{label}; {help}")),
        (label, help) => label.or(help),
    }
}

/// A warning of the job file reader.
pub(crate) fn notice(diagnostic: &Diagnostic, sources: &Sources) -> Risk {
    let [(code, severity), _] = WITHOUT_RULE;
    Risk {
        code,
        severity,
        jobs: Vec::new(),
        origins: CheckedOrigin::of(&diagnostic.origin, sources).into_iter().collect(),
        message: diagnostic.message.clone(),
        advice: advice(diagnostic).unwrap_or_default(),
    }
}

fn without_rule(run: &RiskContext<'_>) -> Vec<Risk> {
    let [_, (code, severity)] = WITHOUT_RULE;
    let sources = &run.set.sources;
    let mut risks: Vec<Risk> =
        run.set.warnings.iter().map(|diagnostic| notice(diagnostic, sources)).collect();
    for inert in &run.plan.inert {
        let mut seen = HashSet::new();
        let spots = inert.origins.iter().filter_map(|origin| CheckedOrigin::of(origin, sources));
        let origins = spots.filter(|spot| seen.insert(spot.clone())).collect();
        let (jobs, advice) = (inert.jobs.clone(), "remove it".to_owned());
        risks.push(Risk { code, severity, jobs, origins, message: inert.to_string(), advice });
    }
    risks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{report, risks};

    #[test]
    fn codes_are_kebab_case_and_differ() {
        let mut all: Vec<_> = codes().map(|(code, _)| code).collect();
        let kebab = |code: &&str| code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(all.iter().all(kebab), "{all:?}");
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn a_global_option_is_blamed_once_for_all_jobs() {
        let report = report("[global]\nsize=4k\nioengine=null\nwrite_barrier=4\n[a]\n[b]\n");
        let found = risks(&report, "option-without-effect");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].jobs, ["a", "b"]);
        assert_eq!(found[0].origins[0].line, Some(4));
        assert_eq!(report.notes, Vec::<String>::new());
    }

    #[test]
    fn an_option_without_effect_names_each_of_its_jobs() {
        let report = report(
            "[global]\nsize=4k\nioengine=null\nrw=write\nverify_fatal=1\n[a]\nverify=md5\n[b]\nverify_dump=1\n[c]\nthinktime_blocks=2\n",
        );
        let found = risks(&report, "option-without-effect");
        let seen: Vec<_> = found.iter().map(|risk| (&*risk.origins[0].text, &risk.jobs[..])).collect();
        assert_eq!(
            seen,
            [("verify_dump=1", &["b".to_owned()][..]), ("thinktime_blocks=2", &["c".to_owned()][..])]
        );
        let want = "option `thinktime_blocks` has no effect here: there are no pauses without `thinktime`";
        assert_eq!((found[1].message.as_str(), found[1].origins[0].line), (want, Some(11)));
    }

    #[test]
    fn warnings_precede_infos() {
        let report = report("[a]\nsize=4k\niodepth=8\nrw=write\n");
        let severities: Vec<_> = report.risks.iter().map(|risk| risk.severity).collect();
        assert!(severities.is_sorted() && severities.contains(&Info), "{severities:?}");
    }
}
