//! Rank 0's contact: its addresses, port and secret, as a file in a shared directory or as a value that the launcher passes on.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::secret::{Secret, digits};

/// Length of a file at most.
const MAX_FILE: u64 = 16 << 10;

/// How rank 0 is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// What tells the run from others, such as an earlier one with the same file.
    pub job: String,
    /// Addresses of its host.
    pub addresses: Vec<String>,
    /// Its port.
    pub port: u16,
    /// The digits of the secret.
    pub secret: String,
}

impl Contact {
    /// As a word of at most `longest` bytes without blanks, with as many addresses as there is room for.
    pub fn to_word(&self, longest: usize) -> String {
        let mut word = format!("{};{};", self.port, self.secret);
        for (at, address) in self.addresses.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if word.len() + comma.len() + address.len() > longest {
                break;
            }
            word.push_str(comma);
            word.push_str(address);
        }
        word
    }

    /// The contact in a word of a run.
    pub fn of_word(word: &str, job: &str) -> Option<Contact> {
        let mut parts = word.splitn(3, ';');
        let port = parts.next()?.parse().ok()?;
        let secret = parts.next()?.to_owned();
        let addresses = parts.next()?.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Some(Contact { job: job.to_owned(), addresses, port, secret })
    }

    /// Its secret.
    pub fn secret(&self) -> Secret {
        Secret::of_digits(&self.secret)
    }

    /// Reads the contact in a file that nobody else can have written or read.
    ///
    /// # Errors
    ///
    /// There is no file yet, it is somebody else's, or its content is no contact.
    pub fn of_file(path: &Path) -> io::Result<Contact> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let other = |what| Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        if !metadata.is_file() {
            return other("it is no file");
        }
        if metadata.uid() != nix::unistd::geteuid().as_raw() {
            return other("it belongs to another user");
        }
        if metadata.mode() & 0o077 != 0 {
            return other("others can read or write it");
        }
        let mut text = String::new();
        file.take(MAX_FILE).read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// The file of rank 0 while it is there. It is removed in the end.
#[derive(Debug)]
pub struct MeetingFile {
    path: PathBuf,
    contact: Contact,
}

impl MeetingFile {
    /// Writes it, in place of one that an earlier run has left.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write(path: &Path, contact: Contact) -> io::Result<MeetingFile> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?;
        // In the same directory, so that the others find the whole file or none.
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}", digits()?));
        let temporary = path.with_file_name(temporary);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .and_then(|mut file| {
                file.write_all(&serde_json::to_vec(&contact)?)?;
                // To where other hosts see it.
                file.sync_all()
            })
            .and_then(|()| fs::rename(&temporary, path));
        if let Err(error) = written {
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        Ok(MeetingFile { path: path.to_owned(), contact })
    }
}

impl Drop for MeetingFile {
    fn drop(&mut self) {
        // Another run may have replaced it meanwhile.
        if Contact::of_file(&self.path).is_ok_and(|there| there == self.contact) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    fn contact(job: &str) -> Contact {
        let addresses = vec!["10.0.0.1".to_owned(), "fd00::2".to_owned()];
        Contact { job: job.to_owned(), addresses, port: 7777, secret: "5ec7e7".to_owned() }
    }

    #[test]
    fn a_word_holds_as_many_addresses_as_fit() {
        assert_eq!(contact("7").to_word(1024), "7777;5ec7e7;10.0.0.1,fd00::2");
        assert_eq!(contact("7").to_word(26), "7777;5ec7e7;10.0.0.1");
        assert_eq!(Contact::of_word("7777;5ec7e7;10.0.0.1,fd00::2", "7"), Some(contact("7")));
        for word in ["", "7777", "70000;a;b", "x;a;b"] {
            assert_eq!(Contact::of_word(word, ""), None, "{word}");
        }
    }

    #[test]
    fn the_file_is_its_owners_and_goes_in_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rank0");
        fs::write(&path, "of an earlier run").unwrap();
        let file = MeetingFile::write(&path, contact("7")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(Contact::of_file(&path).unwrap(), contact("7"));
        let newer = MeetingFile::write(&path, contact("8")).unwrap();
        drop(file);
        assert_eq!(Contact::of_file(&path).unwrap(), contact("8"), "that of another run stays");
        drop(newer);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_others_can_read_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rank0");
        let _file = MeetingFile::write(&path, contact("7")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(Contact::of_file(&path).unwrap_err().to_string(), "others can read or write it");
        let missing = MeetingFile::write(&directory.path().join("none/rank0"), contact("7"));
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    proptest! {
        #[test]
        fn no_word_panics(word in "[0-9a-f;,.:]{0,40}") {
            if let Some(contact) = Contact::of_word(&word, "") {
                prop_assert!(contact.addresses.iter().all(|address| !address.is_empty()));
            }
        }
    }
}
