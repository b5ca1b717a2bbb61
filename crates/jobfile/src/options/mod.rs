//! All options of one job: those it inherited and its own.
//!
//! A job shares the list of global assignments with all other jobs and only remembers how many of them it inherited, so a job costs
//! no more than its own lines. The effect of inherited assignments is computed once per distinct set of globals. A job's own lines
//! are searched each time, or indexed if there are very many.

mod reached;
mod texts;
mod typed;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::catalogue::{Multi, Opt, OptionScope, ValueKind, canonical_engine};
use crate::value::{Value, parse};
use ferrio_job::{Choice, EngineKind, Origin};

pub use texts::option_texts;
pub use typed::{Decimals, OptionValue};

/// An option with its value, as evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenOption {
    /// The option.
    pub opt: Opt,
    /// The name or alias that was written.
    pub name: &'static str,
    /// The value as reports show it: expanded and trimmed; empty if there was none.
    pub text: String,
    /// The meaning of the text.
    pub value: Value,
    /// The place of the option name.
    pub origin: Origin,
    /// The place of the value; that of the name if there is none.
    pub value_origin: Origin,
}

impl GivenOption {
    /// An assignment that a program makes for the job at `origin`; `None` if the option does not accept the text.
    #[must_use]
    pub fn implied(opt: Opt, text: &str, origin: &Origin) -> Option<GivenOption> {
        let no_file = |_: &Path| Err(io::ErrorKind::NotFound.into());
        let value = parse(opt.row(), Some(text), 1024, &no_file).ok()?;
        Some(GivenOption {
            opt,
            name: opt.row().name,
            text: text.to_owned(),
            value,
            origin: origin.clone(),
            value_origin: origin.clone(),
        })
    }

    /// Whether there was a `=` in a job file, with a value after it or not.
    pub(crate) fn has_equals_sign(&self) -> bool {
        self.value_origin != self.origin
    }

    /// Whether it has a value: fio skips an option without a valid piece.
    fn counts(&self) -> bool {
        self.value != Value::Nothing || self.opt.row().kind == ValueKind::Ignored
    }
}

/// All options in force for a job. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Options {
    inherited: Arc<InheritedOptions>,
    own: Arc<[GivenOption]>,
    /// The effect of `own`, if it is too long to be searched.
    index: Option<Arc<OptionEffects>>,
    engine: Option<Arc<str>>,
    /// Options whose inherited assignments do not count (`--set`).
    overridden: Arc<[Opt]>,
    /// Options that no job inherits.
    personal: &'static [Opt],
}

/// For each option of a list: its last assignment, and its value merged with earlier ones if that differs.
type OptionEffects = HashMap<Opt, (usize, Option<Value>)>;

/// Most assignments that are searched one by one.
const MAX_SEARCHED: usize = 64;

/// The first `count` assignments of a list of globals.
#[derive(Debug, Default)]
pub(crate) struct InheritedOptions {
    list: Arc<[GivenOption]>,
    count: usize,
    effect: OptionEffects,
}

impl InheritedOptions {
    /// The first `count` assignments of `list`; `shorter` has fewer of them.
    pub(crate) fn extend(
        shorter: &InheritedOptions,
        list: &Arc<[GivenOption]>,
        count: usize,
    ) -> InheritedOptions {
        let mut effect = shorter.effect.clone();
        collect(&mut effect, &list[..count], shorter.count);
        InheritedOptions { list: Arc::clone(list), count, effect }
    }
}

impl Options {
    /// The options of a job that has `own`, uses `engine`, and inherits `inherited` but for those that are `overridden` or `personal`.
    pub(crate) fn new(
        inherited: Arc<InheritedOptions>,
        own: Arc<[GivenOption]>,
        engine: Arc<str>,
        overridden: Arc<[Opt]>,
        personal: &'static [Opt],
    ) -> Options {
        let index = (own.len() > MAX_SEARCHED).then(|| {
            let mut effect = OptionEffects::new();
            collect(&mut effect, &own, 0);
            Arc::new(effect)
        });
        Options { inherited, own, index, engine: Some(engine), overridden, personal }
    }

    /// Replaces the catalogue's defaults by these, where there are any, and keeps those assignments for which `keep` returns true.
    #[must_use]
    pub fn with_defaults(&self, defaults: Vec<GivenOption>, keep: impl Fn(&GivenOption) -> bool) -> Options {
        let kept = self.all().filter(|given| keep(given)).cloned();
        let own: Vec<GivenOption> = defaults.into_iter().chain(kept).collect();
        let engine = Arc::from(self.engine.as_deref().unwrap_or(EngineKind::DEFAULT));
        Options::new(Arc::default(), own.into(), engine, Arc::default(), &[])
    }

    /// The last assignment of `opt`.
    pub fn given(&self, opt: Opt) -> Option<&GivenOption> {
        let own = match &self.index {
            Some(index) => index.get(&opt).map(|(at, _)| &self.own[*at]),
            None => self.own.iter().rev().find(|given| given.opt == opt && given.counts()),
        };
        own.or_else(|| self.in_globals(opt).map(|(given, _)| given))
    }

    /// The last assignment among those of several options.
    pub fn last_of(&self, opts: &[Opt]) -> Option<&GivenOption> {
        let own = match &self.index {
            Some(index) => {
                let positions = opts.iter().filter_map(|opt| index.get(opt));
                positions.map(|&(at, _)| at).max().map(|at| &self.own[at])
            }
            None => self.own.iter().rev().find(|given| opts.contains(&given.opt) && given.counts()),
        };
        own.or_else(|| {
            let positions =
                opts.iter().filter(|&&opt| self.keeps(opt)).filter_map(|opt| self.inherited.effect.get(opt));
            positions.map(|&(at, _)| at).max().map(|at| &self.inherited.list[at])
        })
    }

    /// All assignments in the order of evaluation, including repetitions and inherited ones.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &GivenOption> {
        let inherited =
            self.inherited.list[..self.inherited.count].iter().filter(|given| self.keeps(given.opt));
        inherited.chain(self.own.iter())
    }

    /// Global assignments that the job does not inherit.
    pub fn not_inherited(&self) -> impl Iterator<Item = &GivenOption> {
        self.inherited.list[..self.inherited.count].iter().filter(|given| self.personal.contains(&given.opt))
    }

    /// Whether `opt` was given, by the job or by its globals.
    pub fn is_given(&self, opt: Opt) -> bool {
        self.given(opt).is_some()
    }

    /// The value of an option: as given, otherwise the catalogue's default, otherwise zero, off or nothing.
    pub fn value<T: OptionValue>(&self, opt: Opt) -> T {
        let default = opt.row().default_value();
        let value = match (default, self.in_force::<T>(opt)) {
            // a direction that was left out has its default
            (Some(before @ Value::Directions(_)), Some(after)) => Some(merge(before.clone(), &after, opt)),
            (_, Some(given)) => Some(given),
            (default, None) => default.cloned(),
        };
        value.as_ref().and_then(T::from_value).unwrap_or_default()
    }

    /// The value of an option that was given.
    pub fn if_given<T: OptionValue>(&self, opt: Opt) -> Option<T> {
        T::from_value(&self.in_force::<T>(opt)?)
    }

    /// The chosen word of an option: as given, otherwise the default.
    pub fn choice<T: Choice + Default>(&self, opt: Opt) -> T {
        self.chosen(opt).unwrap_or_default()
    }

    /// The chosen word of an option that was given; `None` also for a word without a variant.
    pub fn chosen<T: Choice>(&self, opt: Opt) -> Option<T> {
        debug_assert!(opt.row().choices == T::WORDS, "{} has other words", opt.row().name);
        T::from_word(self.word(opt)?)
    }

    fn in_force<T: OptionValue>(&self, opt: Opt) -> Option<Value> {
        debug_assert!(T::fits(opt.row()), "{} is not of this type", opt.row().name);
        self.merged(opt)
    }

    /// Values per direction (read, write, trim), assignments merged in order; times are in µs.
    pub fn per_direction(&self, opt: Opt) -> [Option<u64>; 3] {
        debug_assert!(opt.row().multi != Multi::No, "{}", opt.row().name);
        match self.merged(opt) {
            Some(Value::Directions(values)) => values,
            _ => [None; 3],
        }
    }

    /// A chosen word in its main spelling; for a number, only if a word was given instead.
    pub fn word(&self, opt: Opt) -> Option<&'static str> {
        debug_assert!(!opt.row().choices.is_empty(), "{} has no words", opt.row().name);
        debug_assert_kind(opt, &[ValueKind::Int, ValueKind::Enum, ValueKind::EnumArg, ValueKind::NumaPolicy]);
        match self.given(opt)?.value {
            Value::Word(word, _) => Some(word),
            _ => None,
        }
    }

    /// Chosen words of all assignments in table order, with the last assignment's argument.
    pub fn words(&self, opt: Opt) -> Option<(Vec<&'static str>, Option<u32>)> {
        debug_assert_kind(opt, &[ValueKind::EnumList, ValueKind::WordList]);
        match self.merged(opt)? {
            Value::Words(words, argument) => Some((words, argument)),
            _ => None,
        }
    }

    /// Value of a text; empty for `write_bw_log` without a value and the like.
    pub fn text(&self, opt: Opt) -> Option<&str> {
        debug_assert_kind(opt, &[ValueKind::Str, ValueKind::OptStr, ValueKind::ModeSplit]);
        match &self.given(opt)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Names of a colon list. `filename` and `opendir` add up over all assignments; of others the last counts.
    pub fn list(&self, opt: Opt) -> Vec<String> {
        debug_assert_kind(opt, &[ValueKind::StrList, ValueKind::Str]);
        match self.merged(opt) {
            Some(Value::List(names)) => names,
            Some(Value::Text(name)) => vec![name],
            _ => Vec::new(),
        }
    }

    /// The current engine by its [`canonical_engine`] name.
    pub fn engine(&self) -> &str {
        canonical_engine(self.engine.as_deref().unwrap_or(EngineKind::DEFAULT))
    }

    /// The text after the engine's name and a colon: the path of `external:/path`.
    pub fn engine_path(&self) -> Option<String> {
        match self.merged(Opt::Ioengine) {
            Some(Value::Engine(_, path)) => path,
            _ => None,
        }
    }

    /// The value of `opt` with all assignments merged.
    fn merged(&self, opt: Opt) -> Option<Value> {
        let mut value = self.in_globals(opt).map(|(_, value)| value.clone());
        let mut add = |after: &Value| {
            value = Some(match value.take() {
                Some(before) => merge(before, after, opt),
                None => after.clone(),
            });
        };
        match &self.index {
            Some(index) => {
                let own = index.get(&opt);
                own.iter().for_each(|(at, merged)| add(merged.as_ref().unwrap_or(&self.own[*at].value)));
            }
            None => self
                .own
                .iter()
                .filter(|given| given.opt == opt && given.counts())
                .for_each(|given| add(&given.value)),
        }
        value
    }

    fn in_globals(&self, opt: Opt) -> Option<(&GivenOption, &Value)> {
        let (at, merged) = self.inherited.effect.get(&opt).filter(|_| self.keeps(opt))?;
        let given = &self.inherited.list[*at];
        Some((given, merged.as_ref().unwrap_or(&given.value)))
    }

    /// Whether an inherited assignment counts. Dropped are private options of an engine that the job does not use, options that `--set`
    /// overrides, and those that no job inherits.
    fn keeps(&self, opt: Opt) -> bool {
        let is_of_job = matches!(opt.row().scope, OptionScope::Core) || opt.row().belongs_to(self.engine());
        is_of_job && !self.personal.contains(&opt) && !self.overridden.contains(&opt)
    }
}

/// It is a mistake of the program to ask for an option by another kind than its own.
fn debug_assert_kind(opt: Opt, kinds: &[ValueKind]) {
    debug_assert!(kinds.contains(&opt.row().kind), "{}", opt.row().name);
}

/// Adds the assignments of `list` from `start` on to the effect of those before.
fn collect(effect: &mut OptionEffects, list: &[GivenOption], start: usize) {
    for (at, given) in list.iter().enumerate().skip(start).filter(|(_, given)| given.counts()) {
        let before = effect.remove(&given.opt).filter(|_| adds_up(given));
        let merged = before.map(|(last, merged)| {
            let before = merged.unwrap_or_else(|| list[last].value.clone());
            merge(before, &given.value, given.opt)
        });
        effect.insert(given.opt, (at, merged));
    }
}

/// Whether assignments before this one may still count.
fn adds_up(given: &GivenOption) -> bool {
    matches!(given.opt, Opt::Filename | Opt::Opendir)
        || matches!(given.value, Value::Directions(_) | Value::Splits(_) | Value::Words(..))
}

/// The value after one or more further assignments: most replace the previous value. Lists grow in place, so that a list may be given name
/// by name.
fn merge(before: Value, after: &Value, opt: Opt) -> Value {
    let row = opt.row();
    match (before, after) {
        (Value::Directions(old), Value::Directions(new)) if row.multi != Multi::No => {
            Value::Directions(std::array::from_fn(|at| new[at].or(old[at])))
        }
        (Value::Splits(old), Value::Splits(new)) => {
            let either = |(old, new): (Option<_>, &Option<_>)| new.clone().or(old);
            let [read, write, trim] = old;
            Value::Splits([(read, &new[0]), (write, &new[1]), (trim, &new[2])].map(either))
        }
        (Value::Words(old, _), Value::Words(new, argument)) if row.kind == ValueKind::EnumList => {
            let either = row.words().filter(|word| old.contains(word) || new.contains(word));
            Value::Words(either.collect(), *argument)
        }
        (Value::List(mut names), Value::List(new)) if matches!(opt, Opt::Filename | Opt::Opendir) => {
            names.extend(new.iter().cloned());
            Value::List(names)
        }
        (Value::List(mut names), Value::Text(new)) if opt == Opt::Opendir => {
            names.push(new.clone());
            Value::List(names)
        }
        (Value::Text(old), Value::List(new)) if opt == Opt::Opendir => {
            Value::List(std::iter::once(&old).chain(new).cloned().collect())
        }
        (Value::Text(old), Value::Text(new)) if opt == Opt::Opendir => Value::List(vec![old, new.clone()]),
        (_, after) => after.clone(),
    }
}
