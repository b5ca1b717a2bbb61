//! `verify_dump`: saves what was read of a bad block, and what should have been there, in files that can be compared.

use std::io;
use std::path::{Path, PathBuf};

use ferrio_job::{Diagnostic, Origin, Prefix, reason};
use ferrio_machine::{close_file, open_file, write_whole};
use ferrio_verify::Dump;
use nix::fcntl::OFlag;

/// Writes the files about one bad interval of the file at `data` below `directory`, over those of an earlier run.
///
/// Returns what the user should know: where they are, or why there is none. The job has failed for another reason, and does not fail for
/// this one.
pub(crate) fn save(directory: &Path, data: &Path, dumps: &[Dump]) -> Vec<Diagnostic> {
    let saved = |dump: &Dump| {
        let path = path(directory, data, dump);
        match write(&path, &dump.bytes) {
            Ok(()) => {
                let name = path.file_name().unwrap_or_default().display();
                let message = format!("       {} data dumped as {name}", dump.kind.word());
                Diagnostic::error(message, Origin::Builtin).code("verify-mismatch").prefix(Prefix::None)
            }
            Err(error) => {
                let (kind, path, reason) = (dump.kind.word(), path.display(), reason(&error));
                Diagnostic::note(format!("verify_dump: cannot write the {kind} data to {path}: {reason}"))
                    .code("verify-dump-failed")
            }
        }
    };
    dumps.iter().map(saved).collect()
}

/// The name of a dump: that of the data file, the offset there, and what the dump has.
fn path(directory: &Path, data: &Path, dump: &Dump) -> PathBuf {
    let mut name = data.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{}", dump.offset, dump.kind.word()));
    directory.join(name)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_file(path, OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC, 0o644)?;
    write_whole(&mut file, bytes)?;
    // A network file system may tell only now that it has no room.
    close_file(file)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use ferrio_job::Compat;
    use ferrio_verify::DumpKind;
    use tempfile::TempDir;

    use super::*;

    fn dump(kind: DumpKind, bytes: &[u8]) -> Dump {
        Dump { kind, offset: 7168, bytes: bytes.to_vec() }
    }

    fn lines(notes: &[Diagnostic]) -> Vec<String> {
        notes.iter().map(|note| note.line(Compat::Fio)).collect()
    }

    #[test]
    fn dumps_have_the_name_of_the_data_and_its_offset_and_replace_older_ones() {
        let place = TempDir::new().unwrap();
        let data = Path::new("/somewhere/f");
        save(place.path(), data, &[dump(DumpKind::Received, b"longer")]);
        let notes =
            save(place.path(), data, &[dump(DumpKind::Received, b"new"), dump(DumpKind::Expected, b"old")]);
        let want = [
            "       received data dumped as f.7168.received",
            "       expected data dumped as f.7168.expected",
        ];
        assert_eq!(lines(&notes), want);
        let received = place.path().join("f.7168.received");
        assert_eq!(fs::read(&received).unwrap(), b"new");
        assert_eq!(fs::metadata(&received).unwrap().permissions().mode() & 0o777 & !0o022, 0o644 & !0o022);
    }

    #[test]
    fn a_directory_that_is_missing_is_named_with_the_reason() {
        let notes = save(Path::new("/nowhere"), Path::new("f"), &[dump(DumpKind::BadHeader, b"")]);
        let want = "verify_dump: cannot write the hdr_fail data to /nowhere/f.7168.hdr_fail: No such file or directory";
        assert_eq!(notes[0].message, want);
    }
}
