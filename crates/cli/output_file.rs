//! Files that appear only once they are complete. Until then an existing file of the same name keeps its contents, and a command that fails
//! or is interrupted leaves nothing behind. Pipes, devices and open files (`/dev/stdout`) get the data at once.

use std::fs::{self, File, Permissions};
use std::io::{self, Seek as _, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::{PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use ferrio_machine::{
    Destination, OpenDescriptor, RetryInterrupted, close_file, directory_of, follow_links, open_file,
    retry_interrupted,
};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, FcntlArg, OFlag, fcntl};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::linkat;
use tempfile::Builder;

use crate::escaped_stream::EscapedStream;

/// A file being written. Dropping it without [`keep`](OutputFile::keep) leaves what was there before.
#[derive(Debug)]
pub struct OutputFile {
    file: EscapedStream<File>,
    /// The file that it becomes; `None` for what gets the data at once.
    path: Option<PathBuf>,
}

impl OutputFile {
    /// Begins a file. Nothing is at its path yet, unless something was there before.
    ///
    /// # Errors
    /// The existing file cannot be written, or the directory has no room for a new one.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let destination = match follow_links(path)? {
            Destination::Path(path) => path,
            Destination::Descriptor(open) => {
                return Ok(OutputFile { file: EscapedStream::new(duplicate(&open, path)?), path: None });
            }
        };
        match open_file(path, OFlag::O_WRONLY, 0) {
            Ok(file) if !file.metadata()?.is_file() => {
                return Ok(OutputFile { file: EscapedStream::new(file), path: None });
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let file = match nameless(directory_of(&destination)) {
            Err(error) if destination.exists() && is_bound_to_its_place(&error) => tempfile::tempfile()?,
            file => file?,
        };
        Ok(OutputFile { file: EscapedStream::new(file), path: Some(destination) })
    }

    /// The file for writing.
    ///
    /// # Errors
    /// There are no more descriptors.
    pub fn writer(&self) -> io::Result<File> {
        self.file.get_ref().try_clone()
    }

    /// True for what becomes a file at its path; false for what gets the data at once.
    pub fn is_file(&self) -> bool {
        self.path.is_some()
    }

    /// Gives the file its name. It replaces an existing one, with the owner and permissions of that. Returns the path if it is new.
    ///
    /// # Errors
    /// The directory does not allow it, and the existing file cannot be overwritten.
    pub fn keep(mut self) -> io::Result<Option<PathBuf>> {
        let Some(path) = self.path.take() else { return Ok(None) };
        let existing = fs::metadata(&path).ok();
        if let Some(existing) = &existing {
            // Only root may give files away.
            let _ = fchown(self.file.get_ref(), Some(existing.uid()), Some(existing.gid()));
            set_permissions(self.file.get_ref(), &existing.permissions())?;
        }
        // The file has a temporary name for a moment, which a signal must not leave behind.
        let signals: SigSet =
            [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT].into_iter().collect();
        let before = signals.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK)?;
        let kept = match self.rename(&path) {
            Err(error) if existing.is_some() && is_bound_to_its_place(&error) => self.overwrite(&path),
            kept => kept,
        };
        before.thread_set_mask()?;
        kept?;
        close_file(self.file.into_inner())?;
        Ok(existing.is_none().then_some(path))
    }

    /// Writes into the existing file, which is complete only at the end.
    fn overwrite(&mut self, path: &Path) -> io::Result<()> {
        let mut existing = open_file(path, OFlag::O_WRONLY | OFlag::O_TRUNC, 0)?;
        self.file.get_ref().rewind()?;
        io::copy(&mut RetryInterrupted(self.file.get_ref()), &mut RetryInterrupted(&mut existing))?;
        close_file(existing)
    }

    fn rename(&mut self, path: &Path) -> io::Result<()> {
        let number = PathBuf::from(format!("/proc/self/fd/{}", self.file.get_ref().as_raw_fd()));
        let link = |name: &Path| {
            linkat(AT_FDCWD, &number, AT_FDCWD, name, AtFlags::AT_SYMLINK_FOLLOW).map_err(io::Error::from)
        };
        let named = Builder::new().make_in(directory_of(path), link).map(|named| named.into_temp_path());
        let named = match named {
            Ok(named) => named,
            // Not all file systems can name a file that had none.
            Err(_) => self.copy(directory_of(path))?,
        };
        named.persist(path).map_err(|error| error.error)
    }

    fn copy(&mut self, directory: &Path) -> io::Result<tempfile::TempPath> {
        let mut copy = named(directory, 0o600)?;
        self.file.get_ref().rewind()?;
        io::copy(&mut RetryInterrupted(self.file.get_ref()), &mut RetryInterrupted(copy.as_file_mut()))?;
        set_permissions(copy.as_file(), &self.file.get_ref().metadata()?.permissions())?;
        let (copy, name) = copy.into_parts();
        close_file(copy)?;
        Ok(name)
    }
}

impl Write for OutputFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.file.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn set_permissions(file: &File, permissions: &Permissions) -> io::Result<()> {
    let mode = Mode::from_bits_truncate(permissions.mode());
    retry_interrupted(|| fchmod(file, mode))
}

/// True if an output becomes a file at this path, with a name that later commands can use.
pub fn becomes_file(path: &Path) -> bool {
    match follow_links(path) {
        Ok(Destination::Path(path)) => fs::metadata(path).map_or(true, |about| about.is_file()),
        Ok(Destination::Descriptor(_)) | Err(_) => false,
    }
}

/// True for the path of an open file, such as `/dev/stdout`.
pub fn is_descriptor(path: &Path) -> bool {
    matches!(follow_links(path), Ok(Destination::Descriptor(_)))
}

/// The open file, where whoever opened it has come to.
fn duplicate(open: &OpenDescriptor, path: &Path) -> io::Result<File> {
    match open.duplicate() {
        Ok(file) => {
            let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
            if flags & OFlag::O_ACCMODE == OFlag::O_RDONLY { Err(Errno::EBADF.into()) } else { Ok(file) }
        }
        Err(error) if errno_of(&error) == Errno::EBADF => Err(error),
        // Sandboxes may forbid it. What the file contains must stay.
        Err(_) => open_file(path, OFlag::O_WRONLY | OFlag::O_APPEND, 0),
    }
}

/// True for errors of files that can be written although nothing else can take their place: they are mounted where they are, or others own
/// their directory.
fn is_bound_to_its_place(error: &io::Error) -> bool {
    matches!(errno_of(error), Errno::EBUSY | Errno::EXDEV | Errno::EACCES | Errno::EPERM | Errno::EROFS)
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(0))
}

/// A file without a name, which vanishes with the process.
fn nameless(directory: &Path) -> io::Result<File> {
    match open_file(directory, OFlag::O_RDWR | OFlag::O_TMPFILE, 0o666) {
        Err(error) if matches!(errno_of(&error), Errno::EOPNOTSUPP | Errno::EISDIR) => {
            let (file, name) = named(directory, 0o666)?.into_parts();
            name.close()?;
            Ok(file)
        }
        opened => opened,
    }
}

/// A file with a temporary name. Errors are those of the call alone: the name says nothing to the user.
fn named(directory: &Path, mode: u32) -> io::Result<tempfile::NamedTempFile<File>> {
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL;
    Builder::new().make_in(directory, |name| open_file(name, flags, mode))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_when_it_is_kept_and_keeps_its_permissions() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        let mut first = OutputFile::begin(&path).unwrap();
        first.write_all(b"one").unwrap();
        assert_eq!(names(place.path()), [""; 0]);
        first.keep().unwrap();
        assert_eq!(
            (names(place.path()), fs::read(&path).unwrap()),
            (vec!["out".to_owned()], b"one".to_vec())
        );
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let mut second = OutputFile::begin(&path).unwrap();
        second.write_all(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        second.keep().unwrap();
        assert_eq!(
            (names(place.path()), fs::read(&path).unwrap()),
            (vec!["out".to_owned()], b"two".to_vec())
        );
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_file_that_is_not_kept_leaves_what_was_there() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        fs::write(&path, "old").unwrap();
        OutputFile::begin(&path).unwrap().write_all(b"new").unwrap();
        assert_eq!(
            (names(place.path()), fs::read(&path).unwrap()),
            (vec!["out".to_owned()], b"old".to_vec())
        );
    }

    #[test]
    fn links_stay_and_devices_are_written_to() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("d")).unwrap();
        symlink("d/file", at("link")).unwrap();
        let mut file = OutputFile::begin(&at("link")).unwrap();
        file.write_all(b"x").unwrap();
        file.keep().unwrap();
        assert!(at("link").is_symlink() && fs::read(at("d/file")).unwrap() == b"x");
        symlink("loop", at("loop")).unwrap();
        assert!(OutputFile::begin(&at("loop")).is_err() && OutputFile::begin(place.path()).is_err());
        let mut device = OutputFile::begin("/dev/null".as_ref()).unwrap();
        assert!(!device.is_file() && device.write_all(b"x").is_ok() && device.keep().is_ok());
    }

    #[test]
    fn open_files_are_written_to_where_they_are() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("all");
        let mut all = File::create(&path).unwrap();
        all.write_all(b"before ").unwrap();
        let number = PathBuf::from(format!("/dev/fd/{}", all.as_raw_fd()));
        assert!(
            !becomes_file(&number) && is_descriptor(&number) && becomes_file(&path) && !is_descriptor(&path)
        );
        let mut output = OutputFile::begin(&number).unwrap();
        output.write_all(b"data ").unwrap();
        assert!(!output.is_file() && output.keep().is_ok());
        all.write_all(b"after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before data after");
        let read_only = File::open(&path).unwrap();
        let number = PathBuf::from(format!("/dev/fd/{}", read_only.as_raw_fd()));
        assert_eq!(OutputFile::begin(&number).unwrap_err().raw_os_error(), Some(Errno::EBADF as i32));
        assert_eq!(names(place.path()), ["all"]);
    }

    #[test]
    fn file_systems_that_cannot_name_a_file_get_a_copy() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        // A file whose name was removed cannot have another.
        let mut file = OutputFile {
            file: EscapedStream::new(tempfile::NamedTempFile::new_in(&place).unwrap().into_file()),
            path: Some(path.clone()),
        };
        file.write_all(b"data").unwrap();
        file.keep().unwrap();
        assert_eq!(
            (names(place.path()), fs::read(&path).unwrap()),
            (vec!["out".to_owned()], b"data".to_vec())
        );
    }
}
