//! Control characters of job files, reports, traces and command lines: no command hands them to a terminal, and pipes get what they had.

use std::fs;

use crate::live::live_line::written;
use crate::support::TestDir;

/// Sets the title, clears the screen, hides what follows, returns to the start of the line, deletes, changes the colour in one byte,
/// and turns the text around.
const HOSTILE: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{1b}[8m\rx\u{7f}\u{9b}5m\u{202e}y";

/// The hostile text in the form of a section's header, which ends with its line, the first bracket or a comment.
fn of_section() -> String {
    HOSTILE.replace(']', "P").replace(['\r', ';'], "")
}

/// Every control character on the terminal that is not the program's own.
fn foreign(text: &str) -> Vec<(usize, char)> {
    let text = text.replace("\r\n", "\n");
    // Bold, bright and the colours of messages.
    let own = [
        "0", "1", "4", "91", "92", "93", "94", "95", "96", "31", "32", "33", "34", "35", "36", "1;31",
        "1;33", "1;36",
    ];
    let text = own.iter().fold(text, |text, code| text.replace(&format!("\u{1b}[{code}m"), ""));
    let is_foreign = |sign: char| {
        sign.is_control() && !matches!(sign, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(&sign)
    };
    text.char_indices().filter(|&(_, sign)| is_foreign(sign)).collect()
}

/// A directory with hostile inputs for all commands.
fn dir_with_hostile_inputs() -> TestDir {
    let (dir, section) = (TestDir::new(), of_section());
    let file = |name: &str, text: String| fs::write(dir.work().join(name), text).unwrap();
    file("good.fio", format!("[a{section}]\nioengine=null\nsize=4k\ndescription=d{HOSTILE}\nverifysort=1\n"));
    file("failing.fio", format!("[a{section}]\nioengine=null\nsize=4k\nexec_prerun=false {HOSTILE}\n"));
    file("missing.fio", format!("[a]\nrw=read\nfilename=f{HOSTILE}\nallow_file_create=0\nsize=4k\n"));
    file("name.fio", format!("[a]\nioengine=null\nsize=4k\nfoo{HOSTILE}=1{HOSTILE}\n"));
    file("value.fio", format!("[a{section}]\nioengine=nu{HOSTILE}ll\nsize=4k\n"));
    file("line.fio", format!("{HOSTILE}\n[a]\nsize=4k{HOSTILE}\n"));
    file("include.fio", format!("include n{HOSTILE}\n"));
    file(
        "log",
        format!(
            "fio version 3 iolog\n0 f{HOSTILE} add\n1 f{HOSTILE} open\n2 f{HOSTILE} rea{HOSTILE}d 0 4096\n"
        ),
    );
    file("replay.fio", format!("[a{section}]\nread_iolog=log\nioengine=null\n"));
    file("trace.csv", format!("128166372003061629,h{HOSTILE},0,Read,8192,4096,413\n{HOSTILE}\n"));
    file("broken.json", format!("{{\"{HOSTILE}"));
    let words = ["--output-format=json", "--output=x.json", "good.fio"];
    dir.ferrio(&words).run().succeeded();
    fs::create_dir(dir.work().join(format!("d{HOSTILE}"))).unwrap();
    fs::copy(dir.work().join("x.json"), dir.work().join(format!("d{HOSTILE}/{HOSTILE}.json"))).unwrap();
    dir
}

#[test]
fn no_command_hands_control_characters_to_a_terminal() {
    let dir = dir_with_hostile_inputs();
    let hostile = |word: &str| word.replace('@', HOSTILE);
    let lines = [
        // Runs, their reports and messages.
        "good.fio",
        "good.fio --output-format=terse",
        "good.fio --output-format=json",
        "good.fio --output-format=json+,normal",
        "good.fio --output-format=openmetrics",
        "good.fio --output-format=html",
        "good.fio --output=/dev/stdout",
        "good.fio --output-format=json --output=/dev/stderr",
        "good.fio --output-format=normal:/dev/stdout,json:/dev/stdout",
        "good.fio --message-format=json",
        "good.fio --interval-report=1s:-",
        "good.fio --debug=all",
        "good.fio --showcmd",
        "good.fio --parse-only",
        "good.fio --junit=/dev/stdout",
        "good.fio --fail-if=read.iops<1@",
        "good.fio --fail-if=a@:read.iops>1",
        "good.fio --section=@",
        "good.fio --set=@=1",
        "good.fio --set=a@:bs=@",
        "good.fio --metrics=@:1",
        "good.fio --repeat=2 --results=r",
        "good.fio --sweep=bs=4k,@ --results=r",
        "good.fio --output=n@/x",
        "good.fio --bandwidth-log=n@/x",
        "good.fio --aux-path=n@",
        "failing.fio",
        "failing.fio --message-format=json",
        "missing.fio",
        "name.fio",
        "name.fio --message-format=json",
        "value.fio",
        "line.fio",
        "include.fio",
        "replay.fio",
        "n@.fio",
        "--@",
        "--name=a@ --ioengine=@",
        "--name=a@ --ioengine=null --rw=@",
        "--name=a@ --ioengine=external:@ --size=4k --filename=f",
        "--name=a --client=@",
        "--profile=@",
        // Answers.
        "--cmdhelp=@",
        "--enghelp=@",
        "--enghelp=null,@",
        "--inflate-log=@",
        "--inflate-log=log",
        "--crctest=@",
        "--memcpytest=@",
        "--debug=@",
        "--as=@",
        // Commands.
        "check good.fio",
        "check good.fio --output-format=json",
        "check failing.fio",
        "check missing.fio",
        "check name.fio",
        "check value.fio",
        "check value.fio --output-format=json",
        "check replay.fio",
        "check --@",
        "compare x.json x.json",
        "compare x.json d@",
        "compare x.json broken.json",
        "compare x.json @",
        "compare --@",
        "report x.json d@ -o -",
        "report broken.json -o -",
        "report @ -o -",
        "import trace.csv",
        "import trace.csv --keep-paths",
        "import log",
        "import @",
        "import --format=@ trace.csv",
        "verify-state log",
        "verify-state @",
        "btrace2fio log",
        "btrace2fio @",
        "dedupe @",
        "dedupe log -b@",
        "genzipf -t@",
        "help @",
        "completions @",
        "man @",
        "quick @",
        "quick --profile=@",
        "sysbench @",
        "sysbench @.lua run",
        "sysbench fileio --@ run",
        "sysbench fileio --file-test-mode=@ run",
        "sysbench cpu --threads=@ run",
        "sysbench cpu @",
    ];
    for line in lines {
        let words: Vec<String> = line.split(' ').map(hostile).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_run = line.contains(".fio ") || line.ends_with(".fio") || line.starts_with("--");
        let called: &[&[&str]] = if is_run && !line.starts_with("check") && !line.starts_with("--as") {
            &[&[], &["--as=fio"], &["--color=never"]]
        } else {
            &[&[]]
        };
        for own in called {
            let own_eta = if is_run && !line.starts_with("check") { &["--eta=never"][..] } else { &[] };
            let text = written(&dir, 200, &[own_eta, own, &words].concat());
            assert_eq!(foreign(&text), [], "{line} {own:?}: {text:?}");
        }
    }
}

#[test]
fn the_live_line_and_the_progress_of_a_series_pass() {
    let dir = dir_with_hostile_inputs();
    let words =
        ["--eta=always", "--eta-interval=250ms", "--time_based", "--runtime=1", "--rate_iops=50", "good.fio"];
    let live = written(&dir, 200, &[&["--name=b", "--ioengine=null", "--size=4k"], &words[..]].concat());
    assert!(live.contains("Jobs: ") && live.contains("]\r"), "{live:?}");
    let others = live.replace(char::is_whitespace, "").replace("\r", "");
    assert_eq!(foreign(&others), [], "{live:?}");
}

/// The escapes from U+007F on are those of JSON, so that a document on a terminal stays one.
#[test]
fn a_document_on_a_terminal_is_the_same_document() {
    let dir = dir_with_hostile_inputs();
    let text = written(&dir, 200, &["--output-format=json", "--quiet", "--eta=never", "good.fio"]);
    let text = &text[..=text.rfind('}').unwrap()];
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(document["jobs"][0]["jobname"], format!("a{}", of_section()));
}

#[test]
fn pipes_and_files_get_the_bytes_as_they_are() {
    let dir = dir_with_hostile_inputs();
    let words = ["--as=fio", "--showcmd", "good.fio"];
    let run = dir.ferrio(&words).run().succeeded();
    assert!(run.stdout.contains(&format!("--name=a{}", of_section())), "{:?}", run.stdout);
    let run = dir.ferrio(&["--as=fio", "good.fio"]).run().succeeded();
    assert!(run.stdout.contains(&format!("a{}: (groupid=0", of_section())), "{:?}", run.stdout);
    let run = dir.ferrio(&["--output-format=json", "good.fio"]).run().succeeded();
    assert!(run.stdout.contains("\u{7f}\u{9b}5m\u{202e}"), "{:?}", run.stdout);
}
