//! The contents of the files that jobs have written, without the times in headers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::jobs::Job;

/// Where a header has its time and its checksum.
#[derive(Clone, Copy)]
pub enum Layout {
    Current,
    Old,
}

/// Intervals with headers by file and offset, or whole files of blocks without headers.
pub type Image = BTreeMap<(String, usize), Vec<u8>>;

/// Every header begins at a multiple of this.
const STEP: usize = 4;

/// The intervals of a job's files that have headers. What lies between them comes from the layout of files and differs between programs.
pub fn of(directory: &Path, job: &Job, layout: Layout) -> Image {
    let mut image = Image::new();
    let reads = job.get("rw").is_some_and(|kind| kind.contains("rw"));
    for entry in fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.starts_with(&format!("{}.", job.name)) {
            continue;
        }
        let bytes = fs::read(directory.join(&name)).unwrap();
        if job.has_headers() {
            let moved = job.offset_of_headers();
            for at in (0..bytes.len()).step_by(STEP) {
                if let Some(interval) = interval_at(&bytes, at, moved, layout) {
                    image.insert((name.clone(), at), interval);
                }
            }
        } else if !reads && job.covers_all && job.get("verify") == Some("pattern") {
            image.insert((name, 0), bytes);
        }
    }
    image
}

/// The interval at `at`, if its header is there, with the time and the checksum blanked.
fn interval_at(bytes: &[u8], at: usize, moved: usize, layout: Layout) -> Option<Vec<u8>> {
    let header = bytes.get(at + moved..at + moved + 48)?;
    let number = |at: usize| u64::from_le_bytes(*header[at..].first_chunk().unwrap());
    if header[..2] != [0xca, 0xac] || number(16) != at as u64 {
        return None;
    }
    let len = (number(4) & 0xffff_ffff) as usize;
    let mut interval = bytes.get(at..at + len)?.to_vec();
    let checksum = match layout {
        Layout::Current => 44..48,
        Layout::Old => 36..40,
    };
    interval.get_mut(moved + 24..moved + 32)?.fill(0);
    interval.get_mut(moved + checksum.start..moved + checksum.end)?.fill(0);
    Some(interval)
}

/// Where two images differ first.
pub fn difference(fio: &Image, ferrio: &Image) -> Option<String> {
    for place in fio.keys().chain(ferrio.keys()) {
        match (fio.get(place), ferrio.get(place)) {
            (Some(fio), Some(ferrio)) if fio == ferrio => {}
            (Some(fio), Some(ferrio)) => {
                let at = fio.iter().zip(ferrio).position(|(fio, ferrio)| fio != ferrio);
                return Some(format!("at {place:?}, in byte {at:?} of {} and {}", fio.len(), ferrio.len()));
            }
            (fio, _) => {
                return Some(format!("at {place:?}: only {}", if fio.is_some() { "fio" } else { "ferrio" }));
            }
        }
    }
    None
}
