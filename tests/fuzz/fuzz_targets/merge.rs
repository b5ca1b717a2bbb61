//! Two block traces that are merged: two bytes choose length and repetitions of the first, a byte divides the rest.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use std::io;

use ferrio_trace::{MergeError, MergeInput, TraceMerge};

/// Records of the shortest form have this many bytes.
const RECORD: usize = 48;

target::target!(|data: &[u8]| {
    let Some((&[percent, iterations, at], traces)) = data.split_first_chunk() else { return };
    let (one, other) = traces.split_at(traces.len() * usize::from(at) / 255);
    let iterations = u64::from(iterations % 4) + 1;
    let input = |name: &str, bytes: Vec<u8>, percent, iterations| MergeInput {
        name: name.to_owned(),
        open: move || Ok::<_, io::Error>(io::Cursor::new(bytes.clone())),
        percent,
        iterations,
    };
    let most = one.len() / RECORD * iterations as usize + other.len() / RECORD;
    let inputs = vec![
        input("one", one.to_vec(), f64::from(percent) * 10.0 + 0.5, iterations),
        input("other", other.to_vec(), 100.0, 1),
    ];
    let merged = TraceMerge::new(inputs).and_then(|mut merge| {
        let mut records = 0;
        while merge.next_record()?.is_some() {
            records += 1;
        }
        assert!(records <= most, "{records} records of {most}");
        Ok(())
    });
    if let Err(MergeError::Open { name, .. } | MergeError::Read { name, .. }) = merged {
        assert!(name == "one" || name == "other");
    }
});
