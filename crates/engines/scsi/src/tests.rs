use std::fs::File;

use ferrio_engine::testing::{content, file_with, open};
use ferrio_plan::testing::default_job;

use super::*;

/// The error of attaching what is no SCSI device.
fn refused(files: &FileSet) -> EngineError {
    let buffers = Buffers::new(1, 4096, true).unwrap();
    let mut engine = Sg::open(&default_job("sg"), &buffers).unwrap();
    engine.attach(files).unwrap_err()
}

#[test]
fn what_is_no_scsi_device_is_refused_with_the_errno_and_what_to_use() {
    let file = file_with(&content(4096));
    let null = File::options().read(true).write(true).open("/dev/null").unwrap();
    let null =
        FileSet::new(vec![OpenFile { fd: Some(std::sync::Arc::new(null.into())), offset: 0, size: 4096 }]);
    for files in [open(&file, libc::O_RDWR).unwrap(), null] {
        let error = refused(&files);
        assert_eq!((error.errno(), &*error.func), (libc::ENOTTY, "SG_IO"));
        let hint = error.hint.unwrap();
        assert!(
            hint.starts_with(UNSUCCESSFUL) && hint.contains("name one such as /dev/sg0 or /dev/sda"),
            "{hint}"
        );
    }
}

#[test]
fn a_file_that_is_opened_later_is_no_device_yet() {
    let buffers = Buffers::new(1, 4096, true).unwrap();
    let mut engine = Sg::open(&default_job("sg"), &buffers).unwrap();
    engine.attach(&FileSet::new(vec![OpenFile { fd: None, offset: 0, size: 4096 }])).unwrap();
    assert_eq!(engine.devices[0].block, 0);
}
