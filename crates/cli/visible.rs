//! Text for terminals: control characters of names and descriptions are shown, so that they cannot give orders to the terminal or make up
//! lines. JSON has them as they are, by its own escapes.

use std::borrow::Cow;
use std::fmt::Write as _;

use ferrio_job::{Diagnostic, Plan};

/// Which control characters are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controls {
    /// All of them.
    All,
    /// Those below the space, which no document in JSON contains as they are.
    C0,
}

/// The text with each of these control characters as `\x1b`, but line ends and tabs as they are.
#[must_use]
pub fn visible(text: &str, controls: Controls) -> Cow<'_, str> {
    let is_of_kind = |c: char| if controls == Controls::All { c.is_control() } else { c < ' ' };
    let is_hidden = |c: char| is_of_kind(c) && c != '\n' && c != '\t';
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            hidden if is_hidden(hidden) => {
                let _ = write!(shown, "\\x{:02x}", u32::from(hidden));
            }
            other => shown.push(other),
        }
    }
    Cow::Owned(shown)
}

/// Names and descriptions of jobs that have line ends, each with its text in one line.
#[derive(Debug, Default)]
pub struct MultilineNames(Vec<(String, String)>);

impl MultilineNames {
    /// Those of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let texts = plan.jobs.iter().flat_map(|job| [Some(&job.spec.name), job.spec.description.as_ref()]);
        let mut names: Vec<String> = texts.flatten().filter(|text| text.contains('\n')).cloned().collect();
        // One may be a part of another.
        names.sort_unstable_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        let in_one_line = |name: String| {
            let line = name.replace('\n', "\\n");
            (name, line)
        };
        MultilineNames(names.into_iter().map(in_one_line).collect())
    }

    /// The text as a terminal may get it.
    #[must_use]
    pub fn visible<'a>(&self, text: &'a str, controls: Controls) -> Cow<'a, str> {
        match self.replaced(text) {
            Some(text) => Cow::Owned(visible(&text, controls).into_owned()),
            None => visible(text, controls),
        }
    }

    /// A message with such names in one line; `None` if it has none.
    #[must_use]
    pub fn in_one_line(&self, diagnostic: &Diagnostic) -> Option<Diagnostic> {
        self.replaced(&diagnostic.message).map(|message| Diagnostic { message, ..diagnostic.clone() })
    }

    fn replaced(&self, text: &str) -> Option<String> {
        let found = |text: &str| self.0.iter().any(|(name, _)| text.contains(name.as_str()));
        found(text).then(|| {
            self.0.iter().fold(text.to_owned(), |text, (name, line)| text.replace(name.as_str(), line))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_and_names_stay_in_their_line() {
        assert_eq!(visible("a\u{1b}[2J\r\u{9b}\tb\n", Controls::All), "a\\x1b[2J\\x0d\\x9b\tb\n");
        assert!(matches!(visible("plain ä\u{7f}\n", Controls::C0), Cow::Borrowed(_)));
        let names = MultilineNames(vec![("a\nb".to_owned(), "a\\nb".to_owned())]);
        assert_eq!(names.visible("a\nb: done\u{7}\n", Controls::All), "a\\nb: done\\x07\n");
        assert!(names.in_one_line(&Diagnostic::note("a: done")).is_none());
    }
}
