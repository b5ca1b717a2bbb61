//! What may go wrong: one function per risk, one file per family, one table per file.
//!
//! A rule looks at one section or at the whole run and tells what it sees. Codes are a promise to scripts: they stay.

mod cache;
mod destroy;
mod direct;
mod engine;
mod life;
mod limits;
mod logs;
mod sharing;
mod space;
mod timing;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::{Given, JobSet, Opt, Sources};

use crate::facts::Facts;
use crate::model::{Report, Risk, Severity};
use crate::section::{Section, is_stored};
use crate::spot;

/// Everything a rule may look at.
pub(crate) struct Run<'a> {
    pub(crate) set: &'a JobSet,
    pub(crate) facts: &'a Facts,
    pub(crate) sections: &'a [Section<'a>],
    /// Without risks.
    pub(crate) report: &'a Report,
    /// Disks that hold files of jobs.
    tested: HashSet<&'a Path>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        set: &'a JobSet,
        facts: &'a Facts,
        sections: &'a [Section<'a>],
        report: &'a Report,
    ) -> Run<'a> {
        let stored = sections.iter().flat_map(Section::files).filter(|(_, file)| is_stored(file));
        let tested = stored.filter_map(|(_, file)| facts.disk(facts.files.get(&file.path)?.place)).collect();
        Run { set, facts, sections, report, tested }
    }
}

/// One risk.
pub(crate) struct Rule {
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    pub(crate) look: Look,
}

/// Where a rule looks.
pub(crate) enum Look {
    /// At one section at a time.
    Section(fn(&Run<'_>, &Section<'_>) -> Option<Told>),
    /// At everything.
    Whole(fn(&Run<'_>) -> Vec<Told>),
}

/// What a rule saw.
pub(crate) struct Told {
    message: String,
    advice: String,
    /// Options to blame: the first of them that was given.
    blame: &'static [Opt],
    sections: Vec<usize>,
}

impl Told {
    /// About the section looked at.
    pub(crate) fn new(message: impl Into<String>, advice: impl Into<String>) -> Told {
        Told { message: message.into(), advice: advice.into(), blame: &[], sections: Vec::new() }
    }

    /// Points at the first of these options that was given.
    pub(crate) fn blame(self, blame: &'static [Opt]) -> Told {
        Told { blame, ..self }
    }

    /// About these sections.
    pub(crate) fn sections(self, sections: Vec<usize>) -> Told {
        Told { sections, ..self }
    }
}

impl Rule {
    const fn section(
        code: &'static str,
        severity: Severity,
        look: fn(&Run<'_>, &Section<'_>) -> Option<Told>,
    ) -> Rule {
        Rule { code, severity, look: Look::Section(look) }
    }

    const fn whole(code: &'static str, severity: Severity, look: fn(&Run<'_>) -> Vec<Told>) -> Rule {
        Rule { code, severity, look: Look::Whole(look) }
    }
}

const FAMILIES: [&[Rule]; 10] = [
    destroy::RULES,
    space::RULES,
    direct::RULES,
    sharing::RULES,
    timing::RULES,
    life::RULES,
    cache::RULES,
    engine::RULES,
    limits::RULES,
    logs::RULES,
];

/// Risks that do not come from rules: what the job file reader and the planner say.
const SAID: [(&str, Severity); 2] =
    [("job-file-notice", Severity::Warning), ("option-without-effect", Severity::Info)];

fn rules() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.into_iter().flatten()
}

/// All codes with their severity, in the order of their families.
pub fn codes() -> impl Iterator<Item = (&'static str, Severity)> {
    SAID.into_iter().chain(rules().map(|rule| (rule.code, rule.severity)))
}

/// All risks of a run, warnings first.
pub(crate) fn find(run: &Run<'_>) -> Vec<Risk> {
    let mut risks = said(run);
    for rule in rules() {
        match rule.look {
            Look::Section(look) => {
                for section in run.sections {
                    if let Some(told) = look(run, section) {
                        add(&mut risks, run, rule, told.sections(vec![section.index]));
                    }
                }
            }
            Look::Whole(look) => look(run).into_iter().for_each(|told| add(&mut risks, run, rule, told)),
        }
    }
    risks.sort_by_key(|risk| risk.severity);
    risks
}

/// The same thing seen in several jobs is told once.
fn add(risks: &mut Vec<Risk>, run: &Run<'_>, rule: &Rule, told: Told) {
    let of_first = told.sections.first().and_then(|&at| run.sections.get(at));
    let origin = of_first.and_then(|section| origin(run, section, told.blame));
    let Told { message, advice, sections, .. } = told;
    let same = |risk: &Risk| risk.code == rule.code && risk.message == message && risk.advice == advice;
    let at = risks.iter().position(same).unwrap_or_else(|| {
        let (jobs, origins) = (Vec::new(), Vec::new());
        risks.push(Risk { code: rule.code, severity: rule.severity, jobs, origins, message, advice });
        risks.len() - 1
    });
    let risk = &mut risks[at];
    let names = sections.iter().filter_map(|&at| run.sections.get(at)).map(|section| &section.spec().name);
    names.for_each(|name| add_once(&mut risk.jobs, name.clone()));
    origin.into_iter().for_each(|origin| add_once(&mut risk.origins, origin));
}

fn add_once<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

fn origin(run: &Run<'_>, section: &Section<'_>, blame: &[Opt]) -> Option<crate::model::Spot> {
    let given = blame.iter().find_map(|&opt| section.job.options.given(opt));
    spot(given.map_or(&Origin::Builtin, |given| &given.origin), &run.set.sources)
}

/// What the job file reader says and what is no error.
pub(crate) fn notice(diagnostic: &Diagnostic, sources: &Sources) -> Risk {
    let [(code, severity), _] = SAID;
    Risk {
        code,
        severity,
        jobs: Vec::new(),
        origins: spot(&diagnostic.origin, sources).into_iter().collect(),
        message: diagnostic.message.clone(),
        advice: crate::advice(diagnostic).unwrap_or_default(),
    }
}

fn said(run: &Run<'_>) -> Vec<Risk> {
    let [_, (without_effect, info)] = SAID;
    let notices = run.set.warnings.iter().map(|diagnostic| notice(diagnostic, &run.set.sources));
    notices.chain(idle(run, without_effect, info)).collect()
}

/// Options that change nothing in any of the jobs they hold for, each with its place: a global option that matters in one job is
/// none of them.
fn idle(run: &Run<'_>, code: &'static str, severity: Severity) -> Vec<Risk> {
    let mut found: Vec<(&Given, &'static str, Vec<String>)> = Vec::new();
    let mut places: HashMap<(Opt, &Origin), usize> = HashMap::new();
    let mut used: HashSet<(Opt, &Origin)> = HashSet::new();
    for section in run.sections {
        let reasons: HashMap<Opt, &str> = ferrio_plan::without_effect(section.job).into_iter().collect();
        for given in section.job.options.all() {
            let key = (given.opt, &given.origin);
            let Some(reason) = reasons.get(&given.opt) else {
                used.insert(key);
                continue;
            };
            let at = *places.entry(key).or_insert_with(|| {
                found.push((given, reason, Vec::new()));
                found.len() - 1
            });
            add_once(&mut found[at].2, section.spec().name.clone());
        }
    }
    let mut risks: Vec<Risk> = Vec::new();
    for (given, reason, names) in
        found.into_iter().filter(|(given, ..)| !used.contains(&(given.opt, &given.origin)))
    {
        let message = format!("option `{}` has no effect here: {reason}", given.opt.row().name);
        let at = risks.iter().position(|risk| risk.message == message).unwrap_or_else(|| {
            let (jobs, origins, advice) = (Vec::new(), Vec::new(), "take it out".to_owned());
            risks.push(Risk { code, severity, jobs, origins, message, advice });
            risks.len() - 1
        });
        names.into_iter().for_each(|name| add_once(&mut risks[at].jobs, name));
        spot(&given.origin, &run.set.sources)
            .into_iter()
            .for_each(|spot| add_once(&mut risks[at].origins, spot));
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
    fn an_option_is_told_of_in_each_job_that_it_does_nothing_in() {
        let report = report(
            "[global]\nsize=4k\nioengine=null\nrw=write\nverify_fatal=1\n[a]\nverify=md5\n[b]\nverify_dump=1\n[c]\nthinktime_blocks=2\n",
        );
        let found = risks(&report, "option-without-effect");
        let told: Vec<_> = found.iter().map(|risk| (&*risk.origins[0].text, &risk.jobs[..])).collect();
        assert_eq!(
            told,
            [("verify_dump=1", &["b".to_owned()][..]), ("thinktime_blocks=2", &["c".to_owned()][..])]
        );
        let want = "option `thinktime_blocks` has no effect here: there are no pauses without `thinktime`";
        assert_eq!((found[1].message.as_str(), found[1].origins[0].line), (want, Some(11)));
    }

    #[test]
    fn warnings_come_before_what_is_only_worth_knowing() {
        let report = report("[a]\nsize=4k\niodepth=8\nrw=write\n");
        let severities: Vec<_> = report.risks.iter().map(|risk| risk.severity).collect();
        assert!(severities.is_sorted() && severities.contains(&Severity::Info), "{severities:?}");
    }
}
