//! Marks files whose contents layout has written: an extended attribute that is valid only while the file is unchanged.
//!
//! A file that was written to afterwards, by whatever program, differs from its mark in size or modification time. Reading a file changes
//! neither.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The extended attribute.
const ATTRIBUTE: &str = "user.ferrio.laid_out";

/// Most bytes of a value: three 64-bit numbers.
const VALUE_BYTES: usize = 64;

/// Marks a file whose whole contents were written by layout. Its data must not change afterwards.
///
/// # Errors
/// The file system does not support extended attributes, or not for this file.
pub fn mark_laid_out(file: &File) -> io::Result<()> {
    let value = value_of(&file.metadata()?);
    Ok(rustix::fs::fsetxattr(file, ATTRIBUTE, value.as_bytes(), rustix::fs::XattrFlags::empty())?)
}

/// Whether a file was marked and has not changed since. False in doubt.
#[must_use]
pub fn is_as_laid_out(path: &Path) -> bool {
    let mut value = [0; VALUE_BYTES];
    let Ok(length) = rustix::fs::getxattr(path, ATTRIBUTE, &mut value) else { return false };
    fs::metadata(path).is_ok_and(|found| value.get(..length) == Some(value_of(&found).as_bytes()))
}

/// Size, modification time (s since 1970) and its nanoseconds.
fn value_of(file: &Metadata) -> String {
    format!("{} {}.{:09}", file.len(), file.mtime(), file.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_mark_counts_until_the_file_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, [1; 4096]).unwrap();
        let mut file = File::options().read(true).write(true).open(&path).unwrap();
        assert!(!is_as_laid_out(&path));
        if mark_laid_out(&file).is_err() {
            return;
        }
        assert!(is_as_laid_out(&path));
        fs::read(&path).unwrap();
        assert!(is_as_laid_out(&path), "reading changes nothing");
        let marked = file.metadata().unwrap().modified().unwrap();
        file.set_modified(marked + Duration::from_nanos(4_000_000)).unwrap();
        assert!(!is_as_laid_out(&path), "modified later");
        file.set_modified(marked).unwrap();
        assert!(is_as_laid_out(&path));
        file.set_len(8192).unwrap();
        file.set_modified(marked).unwrap();
        assert!(!is_as_laid_out(&path), "another size");
        mark_laid_out(&file).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        file.write_all(b"user").unwrap();
        assert!(!is_as_laid_out(&path), "written to");
    }

    #[test]
    fn the_mark_of_an_older_form_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let file = File::create(&path).unwrap();
        let flags = rustix::fs::XattrFlags::empty();
        for value in [&b"1"[..], &[b'1'; 200]] {
            if rustix::fs::fsetxattr(&file, ATTRIBUTE, value, flags).is_ok() {
                assert!(!is_as_laid_out(&path));
            }
        }
    }
}
