//! A shared object with an engine.

use std::ffi::{CStr, c_void};
use std::io;
use std::path::Path;

use ferrio_engine::EngineError;
use ferrio_job::object_not_loaded;
use libloading::Library;

use crate::abi;

/// The functions of an engine; the required ones are present.
#[derive(Clone, Copy)]
pub struct EngineFunctions {
    pub open: unsafe extern "C" fn(*const abi::Job, *mut *mut c_void) -> i32,
    pub attach: unsafe extern "C" fn(*mut c_void, *const abi::File, u32) -> i32,
    pub submit: unsafe extern "C" fn(*mut c_void, *const abi::Request, *mut i64) -> i32,
    pub flush: Option<unsafe extern "C" fn(*mut c_void) -> i32>,
    pub reap: Option<unsafe extern "C" fn(*mut c_void, u32, u32, *mut abi::Completion) -> i32>,
    pub close: unsafe extern "C" fn(*mut c_void),
}

/// A loaded engine.
pub struct SharedObject {
    pub functions: EngineFunctions,
    /// Engine name for messages.
    pub name: String,
    /// Keeps the functions in memory.
    _library: Library,
}

impl SharedObject {
    /// Loads the engine of a shared object.
    ///
    /// # Errors
    /// The object does not exist or cannot be loaded, is not an engine for ferrio, or has another version of the interface.
    pub fn load(path: &Path) -> Result<Self, EngineError> {
        // With a slash, so that dlopen(3) does not search directories.
        let place = std::path::absolute(path).map_err(|e| EngineError::new("dlopen", e))?;
        // SAFETY: the user named the object, which is a request to run its initialisers.
        let library =
            unsafe { Library::new(&place) }.map_err(|e| loader_error(object_not_loaded(&text(&e))))?;
        // SAFETY: name and type are those of the header.
        let describe = unsafe { library.get::<abi::DescribeFn>(c"ferrio_engine") }.map_err(|e| {
            refused(
                text(&e),
                "an engine for ferrio exports ferrio_engine(), see docs/ferrio_engine.h; engines made for fio use fio's own data \
                 structures and cannot work",
            )
        })?;
        // SAFETY: the function has no parameters and returns a description that lives as long as the object.
        let description = unsafe { describe() };
        let wrong = |why: &str| refused(format!("{}: {why}", path.display()), "see docs/ferrio_engine.h");
        // SAFETY: either null or a description; every version of it begins with the version number.
        match unsafe { description.cast::<u32>().as_ref() } {
            None => return Err(wrong("ferrio_engine() returns no description")),
            Some(&version) if version != abi::VERSION => {
                let why = format!("made for version {version} of the interface, not {}", abi::VERSION);
                return Err(wrong(&why));
            }
            Some(_) => {}
        }
        // SAFETY: a description of this version has these fields.
        let engine = unsafe { *description };
        if (engine.size as usize) < size_of::<abi::Engine>() {
            return Err(wrong("the field `size` is not sizeof(struct ferrio_engine)"));
        }
        let missing = |name: &str| wrong(&format!("the engine has no function `{name}`"));
        let name = match engine.name.is_null() {
            true => path.display().to_string(),
            // SAFETY: a C string of the description.
            false => unsafe { CStr::from_ptr(engine.name) }.to_string_lossy().into_owned(),
        };
        let functions = EngineFunctions {
            open: engine.open.ok_or_else(|| missing("open"))?,
            attach: engine.attach.ok_or_else(|| missing("attach"))?,
            submit: engine.submit.ok_or_else(|| missing("submit"))?,
            flush: engine.flush,
            reap: engine.reap,
            close: engine.close.ok_or_else(|| missing("close"))?,
        };
        Ok(SharedObject { functions, name, _library: library })
    }
}

fn refused(why: String, advice: &str) -> EngineError {
    loader_error(format!("{why}: {advice}"))
}

fn loader_error(hint: String) -> EngineError {
    EngineError::new("dlopen", io::Error::from_raw_os_error(libc::ELIBBAD)).hint(hint)
}

/// The loader's message, without the words of libloading around it.
fn text(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}
