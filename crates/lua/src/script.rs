//! Files of scripts, and where they are looked for.

use std::env;
use std::path::{Path, PathBuf};

/// The environment variable with more places of modules.
const LUA_PATH: &str = "LUA_PATH";

/// Places of modules after those of `LUA_PATH`, in which `?` is the name. sysbench's own directory is not one of them.
const PLACES: &str = "./?.lua;./?/init.lua;./src/lua/?.lua";
/// The same, in the home directory.
const PLACES_AT_HOME: [&str; 3] =
    [".luarocks/share/lua/5.1/?.lua", ".luarocks/share/lua/5.1/?/init.lua", ".luarocks/share/lua/?.lua"];
/// The same, for all users.
const SHARED_PLACES: &str = "/usr/local/share/lua/5.1/?.lua;/usr/share/lua/5.1/?.lua";
/// Places of modules that are libraries.
const LIBRARIES: &str = "./?.so;/usr/local/lib/lua/5.1/?.so;/usr/lib/lua/5.1/?.so";

/// The file of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// As it was named on the command line.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

impl Script {
    /// Finds a script: a file of this name, one with `.lua` after it, or a module of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Script> {
        let as_named = [name.to_owned(), format!("{name}.lua")].map(PathBuf::from);
        let modules = module_path();
        let as_module =
            modules.split(';').map(|place| PathBuf::from(place.replace('?', &name.replace('.', "/"))));
        let path = as_named.into_iter().chain(as_module).find(|path| path.is_file())?;
        Some(Script { name: name.to_owned(), path })
    }
}

/// The value of `package.path`.
pub(crate) fn module_path() -> String {
    let mut places = Vec::new();
    // Two semicolons stand for the default, which follows anyway.
    places.extend(env::var(LUA_PATH).ok().map(|path| path.trim_end_matches(';').to_owned()));
    places.push(PLACES.to_owned());
    if let Some(home) = env::var_os("HOME") {
        places
            .extend(PLACES_AT_HOME.map(|place| Path::new(&home).join(place).to_string_lossy().into_owned()));
    }
    places.push(SHARED_PLACES.to_owned());
    places.retain(|place| !place.is_empty());
    places.join(";")
}

/// The value of `package.cpath`.
pub(crate) fn library_path() -> String {
    let more = env::var("LUA_CPATH").ok().map(|path| path.trim_end_matches(';').to_owned());
    more.into_iter()
        .chain([LIBRARIES.to_owned()])
        .filter(|place| !place.is_empty())
        .collect::<Vec<_>>()
        .join(";")
}

/// True if sysbench installs a file of this name for its own tests.
pub(crate) fn is_of_sysbench(module: &str) -> bool {
    ["oltp_", "select_random_", "bulk_insert"].iter().any(|prefix| module.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_a_file_with_or_without_its_ending() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.lua");
        std::fs::write(&path, "").unwrap();
        let without = dir.path().join("own");
        for name in [&path, &without] {
            let name = name.to_string_lossy();
            assert_eq!(Script::find(&name), Some(Script { name: name.to_string(), path: path.clone() }));
        }
        assert_eq!(Script::find(&dir.path().join("other").to_string_lossy()), None);
        // A directory is none.
        assert_eq!(Script::find(&dir.path().to_string_lossy()), None);
    }

    #[test]
    fn modules_are_not_looked_for_where_sysbench_has_its_own() {
        assert!(module_path().contains("./?.lua;./?/init.lua") && !module_path().contains("sysbench"));
        assert!(is_of_sysbench("oltp_common") && !is_of_sysbench("tpcc_common"));
    }
}
