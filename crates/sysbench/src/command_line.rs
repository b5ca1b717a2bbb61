//! sysbench's command line as written: the test, its command and the values of options.
//!
//! Words may be in any order. General options and words are read first, those of a test when the test is known.

use crate::log::{Level, Log, Refusal};
use crate::options::{self, Kind, SysbenchOption};

/// The option for the test in versions before 1.0. Help does not list it.
pub const OLD_TEST: &str = "test";

/// A command line.
#[derive(Debug, Default)]
pub struct SysbenchCommandLine {
    /// The test.
    pub test: Option<String>,
    /// The command of the test, such as `run`.
    pub command: Option<String>,
    given: Vec<WrittenOption>,
}

/// An option as it was given.
#[derive(Debug)]
pub struct WrittenOption {
    /// With dashes.
    pub name: String,
    /// The text after the equals sign.
    pub value: Option<String>,
    /// The word.
    written: String,
}

impl SysbenchCommandLine {
    /// Reads words and general options.
    ///
    /// # Errors
    /// A word too many, a configuration file that cannot be read, or a general option with a wrong value.
    pub fn read(words: &[String], log: &Log) -> Result<Self, Refusal> {
        let mut line = SysbenchCommandLine::default();
        for word in words {
            match word.strip_prefix("--") {
                Some(body) => line.option(body, word, log)?,
                None if line.test.is_none() => line.test = Some(word.clone()),
                None if line.command.is_none() => line.command = Some(word.clone()),
                None => return Err(log.mistake(&format!("Unrecognized command line argument: {word}"))),
            }
        }
        Ok(line)
    }

    fn option(&mut self, body: &str, written: &str, log: &Log) -> Result<(), Refusal> {
        let given = WrittenOption::new(body, written);
        if given.name == OLD_TEST {
            log.mistake(
                "WARNING: the --test option is deprecated. You can pass a script name or path on the command line without any options.",
            );
            // Without a name it asks for nothing.
            self.test = given.value.filter(|name| !name.is_empty()).or(self.test.take());
            return Ok(());
        }
        match options::general(&given.name) {
            Some(SysbenchOption::ConfigFile) => {
                return self.read_file(given.value.as_deref().unwrap_or_default(), log);
            }
            // A flag with another value is reported later, as an unknown option is.
            Some(option) => given.check_number(option, log)?,
            None => {}
        }
        self.given.push(given);
        Ok(())
    }

    /// Reads the lines of a configuration file as options. Lines without `=` count for nothing.
    fn read_file(&mut self, name: &str, log: &Log) -> Result<(), Refusal> {
        if name.is_empty() {
            return Ok(());
        }
        let text = ferrio_machine::text_of_file(name)
            .map_err(|error| log.mistake(&format!("{name}: {}", ferrio_job::reason(&error))))?;
        for line in text.lines().filter_map(|line| line.split('#').next()) {
            let Some((option, value)) = line.split_once('=') else { continue };
            let option = option.trim().trim_start_matches("--");
            if option == SysbenchOption::ConfigFile.row().name {
                return Err(log.mistake(&format!("{name}: a configuration file cannot name another one")));
            }
            let body = format!("{option}={}", unquoted(value.trim()));
            self.option(&body, &format!("--{body}"), log)?;
        }
        Ok(())
    }

    /// Checks the options that are not general against those of the test.
    ///
    /// # Errors
    /// One is unknown or has a value of the wrong kind.
    pub fn check_options(&self, of_test: &[SysbenchOption], log: &Log) -> Result<(), Refusal> {
        for given in self.check_general(log)? {
            let option = options::named(of_test, &given.name).ok_or_else(|| given.refuse(log))?;
            given.check(option, log)?;
        }
        Ok(())
    }

    /// Checks the values of general options, and returns the options that are not general.
    ///
    /// # Errors
    /// A value is of the wrong kind.
    pub fn check_general(&self, log: &Log) -> Result<Vec<&WrittenOption>, Refusal> {
        let mut others = Vec::new();
        for given in &self.given {
            match options::general(&given.name) {
                Some(option) => given.check(option, log)?,
                None => others.push(given),
            }
        }
        Ok(others)
    }

    fn given(&self, option: SysbenchOption) -> Option<&WrittenOption> {
        self.given_as(option.row().name)
    }

    /// The last option of this name, in which dashes and underscores are the same.
    pub fn given_as(&self, name: &str) -> Option<&WrittenOption> {
        self.given.iter().rev().find(|given| options::is_same_name(&given.name, name))
    }

    /// The value of an option as text: the last one given, or its default. `None` if it has none or is cleared.
    pub fn text(&self, option: SysbenchOption) -> Option<&str> {
        let value = match self.given(option) {
            Some(given) => given.value.as_deref(),
            None => option.row().default,
        };
        value.filter(|value| !value.is_empty())
    }

    /// The value of a number; 0 if it is cleared. Those that are none were refused.
    pub fn number(&self, option: SysbenchOption) -> i32 {
        self.text(option).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// The value of a number that is at least `least`.
    ///
    /// # Errors
    /// It is less.
    pub fn at_least(&self, option: SysbenchOption, least: u32, log: &Log) -> Result<u32, Refusal> {
        let value = self.number(option);
        let number = u32::try_from(value).ok().filter(|&number| number >= least);
        number.ok_or_else(|| log.refuse(&format!("Invalid value of {}: {value}.", option.row().name)))
    }

    /// The value of a number, or that of its deprecated name `old` if it exceeds `default`.
    pub fn renamed(&self, option: SysbenchOption, old: SysbenchOption, default: i32, log: &Log) -> i32 {
        let value = self.number(old);
        if value <= default {
            return self.number(option);
        }
        let (old, new) = (old.row().name, option.row().name);
        log.line(Level::Warning, &format!("--{old} is deprecated, use --{new} instead"));
        value
    }

    /// The meaning of a value that is one of some words.
    ///
    /// # Errors
    /// It is another word.
    pub fn word<T: Copy>(
        &self,
        option: SysbenchOption,
        words: &[(&str, T)],
        log: &Log,
    ) -> Result<T, Refusal> {
        let given = self.text(option).unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == given).map(|&(_, meaning)| meaning);
        found.ok_or_else(|| log.refuse(&format!("Invalid value for {}: {given}", option.row().name)))
    }

    /// The value of a number with decimals.
    pub fn decimal(&self, option: SysbenchOption) -> f64 {
        self.text(option).and_then(|text| text.parse().ok()).unwrap_or(0.0)
    }

    /// A number of bytes; 0 if it is none.
    pub fn size(&self, option: SysbenchOption) -> u64 {
        self.text(option).and_then(size).unwrap_or(0)
    }

    /// A size that is 0, as messages show it: the text, if that begins with another number. sysbench reads such a number, and shows 0 for
    /// any other text.
    pub fn wrong_size(&self, option: SysbenchOption) -> &str {
        let text = self.text(option).unwrap_or_default();
        if text.starts_with(|first: char| ('1'..='9').contains(&first)) { text } else { "0" }
    }

    /// True if a flag is on.
    pub fn flag(&self, option: SysbenchOption) -> bool {
        let default = option.row().default == Some("on");
        self.given(option).map_or(default, |given| given.flag().unwrap_or(default))
    }

    /// The words of a list.
    pub fn list(&self, option: SysbenchOption) -> Vec<&str> {
        let words = self.text(option).unwrap_or_default().split(',');
        words.map(str::trim).filter(|word| !word.is_empty()).collect()
    }

    /// True if the option is given with nothing as its value.
    pub fn is_bare(&self, option: SysbenchOption) -> bool {
        self.given(option).is_some_and(|given| given.value.as_deref().is_none_or(str::is_empty))
    }
}

impl WrittenOption {
    fn new(body: &str, written: &str) -> Self {
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (body, None),
        };
        WrittenOption { name: name.replace('_', "-"), value, written: written.to_owned() }
    }

    /// The value of a flag; `None` if it is not one of a flag.
    pub fn flag(&self) -> Option<bool> {
        match self.value.as_deref() {
            None | Some("" | "on" | "true" | "1") => Some(true),
            Some("off" | "false" | "0") => Some(false),
            Some(_) => None,
        }
    }

    /// Refuses an option that is unknown, or a flag with another value.
    pub fn refuse(&self, log: &Log) -> Refusal {
        log.mistake(&format!("invalid option: {}", self.written))
    }

    fn check(&self, option: SysbenchOption, log: &Log) -> Result<(), Refusal> {
        if option.row().kind == Kind::Flag && self.flag().is_none() {
            return Err(self.refuse(log));
        }
        self.check_number(option, log)
    }

    fn check_number(&self, option: SysbenchOption, log: &Log) -> Result<(), Refusal> {
        let Some(text) = self.value.as_deref().filter(|text| !text.is_empty()) else { return Ok(()) };
        let is_right = match option.row().kind {
            Kind::Number => text.parse::<i32>().is_ok(),
            Kind::Decimal => text.parse::<f64>().is_ok_and(f64::is_finite),
            _ => true,
        };
        if is_right {
            return Ok(());
        }
        let name = option.row().name.replace('-', "_");
        Err(log.mistake(&format!("Invalid value for the '{name}' option: '{text}'")))
    }
}

/// A value without the quotes around it.
fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// Digits and perhaps K, M, G or T, in powers of 1024; `B` and `iB` may follow.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let mut unit = unit.to_ascii_lowercase();
    if unit.len() > 1 {
        unit.truncate(unit.trim_end_matches('b').trim_end_matches('i').len());
    }
    let shift = match unit.as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing;
    use crate::options::FILEIO;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn read(text: &str) -> SysbenchCommandLine {
        let (log, _, _) = testing::log();
        SysbenchCommandLine::read(&words(text), &log).unwrap()
    }

    #[test]
    fn words_and_options_mix_and_the_last_value_counts() {
        let line = read("--file_num=4 --events=9 fileio --file-total_size=8M run --events=5");
        assert_eq!((line.test.as_deref(), line.command.as_deref()), (Some("fileio"), Some("run")));
        assert_eq!(line.number(SysbenchOption::Events), 5);
        assert_eq!(line.number(SysbenchOption::FileNum), 4);
        assert_eq!(line.size(SysbenchOption::FileTotalSize), 8 << 20);
        assert_eq!(line.number(SysbenchOption::Threads), 1);
    }

    #[test]
    fn sizes_have_binary_suffixes() {
        for (text, bytes) in [
            ("8388608", 8 << 20),
            ("8M", 8 << 20),
            ("8192k", 8 << 20),
            ("8MB", 8 << 20),
            ("1GiB", 1 << 30),
            ("2t", 2 << 40),
        ] {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["", "abc", "-1", "1.5G", "4Kxyz", "1Q", "99999999999999999999", "99999999T"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn a_bare_value_clears_and_a_bare_flag_is_on() {
        let line = read("--file-io-mode= --events --file-fsync-all --file-fsync-end=off");
        assert_eq!(line.text(SysbenchOption::FileIoMode), None);
        assert_eq!(line.number(SysbenchOption::Events), 0);
        assert!(line.flag(SysbenchOption::FileFsyncAll) && !line.flag(SysbenchOption::FileFsyncEnd));
    }

    #[test]
    fn mistakes_are_those_of_sysbench() {
        for (text, message) in [
            ("fileio run x", "Unrecognized command line argument: x"),
            ("--test=fileio run x y", "Unrecognized command line argument: x"),
            ("--threads=abc", "Invalid value for the 'threads' option: 'abc'"),
            ("--events=3000000000", "Invalid value for the 'events' option: '3000000000'"),
            ("--config-file=/nonexistent", "/nonexistent: No such file or directory"),
        ] {
            let (log, out, mistakes) = testing::log();
            assert!(SysbenchCommandLine::read(&words(text), &log).is_err(), "{text}");
            assert!(mistakes.text().ends_with(&format!("{message}\n")), "{}", mistakes.text());
            assert_eq!(out.text(), "");
        }
        for (text, message) in [
            ("--foo=1", "invalid option: --foo=1\n"),
            ("--validate=maybe", "invalid option: --validate=maybe\n"),
            ("--event=3", "invalid option: --event=3\n"),
            ("--file_num=abc", "Invalid value for the 'file_num' option: 'abc'\n"),
            ("--file-rw-ratio=x", "Invalid value for the 'file_rw_ratio' option: 'x'\n"),
        ] {
            let (log, _, mistakes) = testing::log();
            let line = SysbenchCommandLine::read(&words(text), &log).unwrap();
            assert!(line.check_options(FILEIO, &log).is_err(), "{text}");
            assert_eq!(mistakes.text(), message);
        }
    }

    #[test]
    fn a_file_has_options_at_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("c");
        std::fs::write(&file, "threads='3'\nevents = \"4\" # comment\nnothing\nfile-num=9\n").unwrap();
        let line = read(&format!("--threads=1 --config-file={} --events=7", file.display()));
        assert_eq!(line.number(SysbenchOption::Threads), 3);
        assert_eq!(line.number(SysbenchOption::Events), 7);
        assert_eq!(line.number(SysbenchOption::FileNum), 9);
    }
}
