//! Protects the user's files. Called `ferrio`, the program refuses a job that only reads if its layout would replace a file that holds
//! data, and a job that would create a regular file in `/dev` in place of a misspelled device. fio does both.
//!
//! Jobs that write are not refused: they change the files that they name anyway. Files with generated names belong to the program. So do
//! named files that an earlier layout made and nobody has written to since: layout marks them with an extended attribute if the file system
//! supports that.

use std::path::PathBuf;

use ferrio_job::{FileKind, FileSpec, FileType, JobSpec, layout_of};
use ferrio_jobfile::{Job, Opt};
use ferrio_machine::{holds_data, is_among_devices, is_as_laid_out};

use crate::as_written::{chooses, refuse};
use crate::findings::Findings;

/// Marks the files that do not exist and whose names would be those of devices. Links that lead nowhere are looked for if users (or a
/// log) have `named` the files.
pub(crate) fn find_missing_devices(files: &mut [FileSpec], named: bool) {
    // There may be a hundred thousand files of a format, mostly in one directory: one call to the kernel answers for all.
    let mut last: Option<(PathBuf, bool)> = None;
    for file in files.iter_mut().filter(|file| file.kind == FileKind::Regular && file.found.is_none()) {
        let directory = file.directory();
        file.missing_device = match &last {
            _ if named && file.path.is_symlink() => is_among_devices(&file.path),
            Some((same, answer)) if same == directory => *answer,
            _ => last.insert((directory.to_owned(), is_among_devices(&file.path))).1,
        };
    }
}

/// Refuses the job if it endangers files. `changed` says which of them an earlier job of the run lays out.
pub(crate) fn check(job: &Job, spec: &JobSpec, changed: &dyn Fn(&FileSpec) -> bool, findings: &mut Findings) {
    let layout = layout_of(spec);
    if !chooses(job, Opt::Filetype, FileType::File)
        && let Some(file) = spec.files.iter().find(|file| file.missing_device)
    {
        let path = file.path.display();
        let named_by: &[Opt] = match spec.replay {
            Some(_) => &[Opt::ReplayRedirect, Opt::ReadIolog],
            None => &[Opt::Filename, Opt::Directory],
        };
        let message = format!("{path} does not exist, and the job would create a regular file there");
        let help = "correct the name of the device, or set filetype=file to create a file in /dev";
        refuse(findings, job, named_by, "missing-device", message, help);
    }
    let is_lost = |file: &&FileSpec| {
        layout.would_destroy_data(file)
            && !changed(file)
            && !is_as_laid_out(&file.path)
            && holds_data(&file.path)
    };
    let mut lost = spec.files.iter().filter(|_| spec.layout.files_are_named).filter(is_lost);
    let Some(first) = lost.next() else { return };
    let others = match first.distinct() - 1 + lost.map(FileSpec::distinct).sum::<u64>() {
        0 => String::new(),
        1 => ", and one more file".to_owned(),
        count => format!(", and {count} more files"),
    };
    let size = first.found.unwrap_or(0);
    let message = format!(
        "before reading, the job would replace {} ({size} bytes) by a new file of {} bytes{others}",
        first.path.display(),
        first.end(),
    );
    let help = "name another file, reduce `size` (without it, the job reads the file as it is), or set \
                allow_layout_overwrite=1 if the content may be lost";
    refuse(findings, job, &[Opt::Filename, Opt::Opendir], "layout-overwrites", message, help);
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use ferrio_job::Compat;
    use nix::fcntl::{FallocateFlags, fallocate};

    use crate::PlanOptions;
    use crate::testing::{jobs_of, plan_of};

    fn refusals(text: &str) -> Vec<String> {
        let problems = plan_of(text).err().map(|problems| problems.diagnostics);
        problems.into_iter().flatten().map(|problem| problem.message).collect()
    }

    fn job(path: &Path, more: &str) -> String {
        format!("[a]\nfilename={}\nsize=64k\n{more}\n", path.display())
    }

    #[test]
    fn only_a_job_that_reads_is_kept_from_replacing_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        fs::write(&path, [1; 4096]).unwrap();
        let refused = |more: &str| refusals(&job(&path, more));
        let want = format!(
            "before reading, the job would replace {} (4096 bytes) by a new file of 65536 bytes",
            path.display()
        );
        assert_eq!((refused("rw=randread"), refused("rw=read\nnumjobs=3")), (vec![want.clone()], vec![want]));
        for allowed in [
            "rw=write",
            "rw=randrw",
            "rw=trim",
            "rw=read\nallow_layout_overwrite=1",
            "rw=read\nfile_append=1",
            "rw=read\nsize=4k",
            "rw=read\ncreate_on_open=1",
            "rw=read\nioengine=null",
        ] {
            assert_eq!(refused(allowed), Vec::<String>::new(), "{allowed}");
        }
    }

    #[test]
    fn fio_replaces_whatever_is_too_short() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        fs::write(&path, [1; 4096]).unwrap();
        let as_fio = PlanOptions { compat: Compat::Fio, ..PlanOptions::default() };
        let jobs = [job(&path, "rw=read"), "[a]\nfilename=/dev/typo\nsize=4k\n".to_owned()];
        assert!(jobs.iter().all(|job| crate::plan(&jobs_of(job), &as_fio).is_ok()));
    }

    #[test]
    fn files_of_a_directory_are_named_and_generated_names_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().display();
        for file in ["a.0.0", "b", "c"] {
            fs::write(dir.path().join(file), [1; 4096]).unwrap();
        }
        let refused = refusals(&format!("[a]\nopendir={here}\nsize=1m\n"));
        let want = format!(
            "would replace {here}/a.0.0 (4096 bytes) by a new file of 349525 bytes, and 2 more files"
        );
        assert!(refused[0].ends_with(&want), "{refused:?}");
        assert!(refusals(&format!("[a]\ndirectory={here}\nsize=1m\n")).is_empty());
    }

    #[test]
    fn a_file_without_data_has_nothing_to_lose() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let file = File::create(&path).unwrap();
        assert!(refusals(&job(&path, "")).is_empty(), "an empty file");
        file.set_len(4096).unwrap();
        assert!(refusals(&job(&path, "")).is_empty(), "a hole");
        if fallocate(&file, FallocateFlags::empty(), 0, 8192).is_ok() {
            assert!(refusals(&job(&path, "")).is_empty(), "reserved space");
        }
    }

    #[test]
    fn what_the_run_itself_lays_out_may_be_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        fs::write(&path, [1; 4096]).unwrap();
        let path = path.display();
        let jobs = format!("[global]\nfilename={path}\n[w]\nrw=write\nsize=16k\n[r]\nstonewall\nsize=64k\n");
        assert!(refusals(&jobs).is_empty());
        let small = format!("[global]\nfilename={path}\n[w]\nrw=write\nsize=4k\n[r]\nstonewall\nsize=64k\n");
        assert_eq!(refusals(&small).len(), 1);
    }

    #[test]
    fn a_misspelled_device_stays_missing() {
        let want = "/dev/nvme0n9 does not exist, and the job would create a regular file there";
        for rw in ["read", "write"] {
            let text = format!("[a]\nfilename=/dev/nvme0n9\nsize=4k\nrw={rw}\n");
            assert_eq!(refusals(&text), [want]);
            assert!(refusals(&format!("{text}filetype=file\n")).is_empty());
        }
        assert!(refusals("[a]\nfilename=/dev/shm/ferrio-no-such-file\nsize=4k\n").is_empty());
    }

    #[test]
    fn what_counts_is_the_directory_that_a_name_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        let (here, out_of_dev) = (dir.path(), format!("/dev/..{}/f", dir.path().display()));
        assert_eq!(refusals(&job(Path::new(&out_of_dev), "")), Vec::<String>::new());
        symlink("/dev", here.join("devices")).unwrap();
        symlink("devices/nvme0n9", here.join("disk")).unwrap();
        symlink("elsewhere", here.join("link")).unwrap();
        let refused = |name: &str| {
            let path = here.join(name);
            let want =
                format!("{} does not exist, and the job would create a regular file there", path.display());
            let told = refusals(&job(&path, ""));
            assert!(told.is_empty() || told == [want], "{told:?}");
            !told.is_empty()
        };
        assert!(refused("devices/nvme0n9") && refused("devices/no/nvme0n9") && refused("disk"));
        assert!(!refused("f") && !refused("link") && !refused("devices/shm/ferrio-no-such-file"));
        // A link among other files of its directory.
        let several = ["f", "disk", "g"].map(|name| here.join(name).display().to_string()).join(":");
        assert_eq!(refusals(&job(Path::new(&several), "")).len(), 1);
    }

    #[test]
    fn a_replay_creates_no_file_among_devices() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let text =
            "fio version 3 iolog\n1 /dev/nvme0n9 add\n2 /dev/nvme0n9 open\n3 /dev/nvme0n9 write 0 4096\n";
        fs::write(&log, text).unwrap();
        let replay = |more: &str| refusals(&format!("[a]\nread_iolog={}\n{more}", log.display()));
        let want = "/dev/nvme0n9 does not exist, and the job would create a regular file there";
        assert_eq!(replay(""), [want]);
        for allowed in [format!("replay_redirect={}/f\n", dir.path().display()), "filetype=file\n".to_owned()]
        {
            assert_eq!(replay(&allowed), Vec::<String>::new(), "{allowed}");
        }
    }
}
