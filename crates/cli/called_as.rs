//! Whether the program is called `ferrio` or `fio`.

use std::ffi::OsStr;
use std::path::Path;

/// The name that the program is called by. Scripts that call it `fio` expect fio's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalledAs {
    /// Any other name.
    Ferrio,
    /// `fio`, in any directory.
    Fio,
}

impl CalledAs {
    /// Takes the name from the first argument of the process.
    pub fn of(program: Option<&OsStr>) -> Self {
        let name = program.and_then(|path| Path::new(path).file_name());
        if name.is_some_and(|name| name == "fio") { CalledAs::Fio } else { CalledAs::Ferrio }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_counts_and_not_its_directory() {
        let called = |path: &str| CalledAs::of(Some(OsStr::new(path)));
        assert_eq!((called("/usr/bin/fio"), called("fio")), (CalledAs::Fio, CalledAs::Fio));
        assert_eq!((called("./ferrio"), called("fio/x")), (CalledAs::Ferrio, CalledAs::Ferrio));
        assert_eq!(CalledAs::of(None), CalledAs::Ferrio);
    }
}
