//! Called `fio`: what a script sees on each stream, in the file of the report and as exit status, beside the real program.

use crate::support::{Place, Run, same};

/// Runs of both programs with the same words.
fn both(place: &Place, words: &[&str]) -> (Run, Run) {
    let fio = place.fio(words).run();
    (fio, place.ferrio(&[&["--as=fio"], words].concat()).run())
}

#[test]
fn each_percentile_too_many_has_a_line() {
    let place = Place::new();
    let list = |length: u32| (1..=length).map(|n| n.to_string()).collect::<Vec<_>>().join(":");
    for (length, lines) in [(20, 0), (21, 1), (23, 3)] {
        let job = ["--name=a", "--ioengine=null", "--size=4k", "--output-format=json"];
        let list = format!("--percentile_list={}", list(length));
        let (fio, ours) = both(&place, &[&job[..], &[&list]].concat());
        same!("fio": fio.stderr, "ferrio": ours.stderr, "{length} percentiles");
        assert_eq!(ours.stderr, "the list exceeding max length 20\n".repeat(lines));
        let reported = |run: &Run| {
            run.json()["jobs"][0]["read"]["clat_ns"]["percentile"].as_object().unwrap().keys().count()
        };
        same!("fio": reported(&fio), "ferrio": reported(&ours), "{length} percentiles");
    }
    // A list for all jobs is read once.
    let text = format!("[global]\npercentile_list={}\n[a]\n[b]\n", list(22));
    let (fio, ours) = both(&place, &["--parse-only", &place.job(&text)]);
    same!("fio": fio.stderr, "ferrio": ours.stderr, "of a global section");
}
