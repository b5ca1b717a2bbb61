//! Whether this call behaves as ferrio or as fio: `--as` decides, then the variable `FERRIO_AS`, then the name that it is called by.

use std::ffi::OsStr;
use std::path::Path;

use ferrio_job::{Choice as _, Compat};

use crate::error::Error;

/// The variable that chooses it for programs that pass no options of their own.
pub const VARIABLE: &str = "FERRIO_AS";

/// The compatibility of a process that is called by the name `program`, `fio` or that of a helper program of fio (`is_helper`), with
/// this value of [`VARIABLE`].
///
/// # Errors
/// The value is neither `fio` nor `ferrio`. An empty one counts as none.
pub fn of_process(
    program: Option<&OsStr>,
    variable: Option<&OsStr>,
    is_helper: impl Fn(&OsStr) -> bool,
) -> Result<Compat, Error> {
    if let Some(word) = variable.filter(|word| !word.is_empty()) {
        let unknown = || Error::UnknownCompat { word: word.to_string_lossy().into_owned() };
        return word.to_str().and_then(Compat::from_word).ok_or_else(unknown);
    }
    let is_fio = |path: &OsStr| Path::new(path).file_name().is_some_and(|name| name == "fio");
    let is_of_fio = program.is_some_and(|path| is_fio(path) || is_helper(path));
    Ok(if is_of_fio { Compat::Fio } else { Compat::Ferrio })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_counts_and_not_its_directory() {
        let called = |path: &str| {
            of_process(Some(OsStr::new(path)), None, |path| path == "/usr/bin/fio-btrace2fio").unwrap()
        };
        assert_eq!((called("/usr/bin/fio"), called("fio")), (Compat::Fio, Compat::Fio));
        assert_eq!(called("/usr/bin/fio-btrace2fio"), Compat::Fio);
        assert_eq!((called("./ferrio"), called("fio/x")), (Compat::Ferrio, Compat::Ferrio));
        assert_eq!(of_process(None, None, |_| true).unwrap(), Compat::Ferrio);
    }

    #[test]
    fn the_variable_comes_before_the_name() {
        let of = |word: &str| of_process(Some(OsStr::new("fio")), Some(OsStr::new(word)), |_| false);
        assert_eq!((of("ferrio").unwrap(), of("").unwrap()), (Compat::Ferrio, Compat::Fio));
        let message = of("Fio").unwrap_err().to_string();
        assert_eq!(message, "invalid value `Fio` of the variable FERRIO_AS: choices are ferrio and fio");
    }
}
