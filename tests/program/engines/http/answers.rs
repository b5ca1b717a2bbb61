//! What the engine does about answers: connections, redirects, failures, and what it prints.

use std::io::Write;
use std::net::TcpListener;

use nix::sys::signal::Signal;

use super::scripted::{Answer, Scripted};
use super::{failure, is_built_in, job};
use crate::support::{TestDir, number, text};

/// A server that has every object, of zeros.
fn obliging() -> Scripted {
    Scripted::start(|asked| match &asked.method[..] {
        "GET" => Answer::of(200).body([0; 16384]),
        _ => Answer::of(204),
    })
}

#[test]
fn a_job_asks_for_each_block_once_on_one_connection() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    for (rw, method) in [("read", "GET"), ("write", "PUT"), ("trim", "DELETE")] {
        let server = obliging();
        job(&dir, &server.host(), &format!("--rw={rw}")).run().succeeded();
        let want = [0, 16384, 32768, 49152].map(|offset| format!("{method} /bucket/o_{offset}_16384"));
        assert_eq!(server.lines(), want, "{rw}");
        assert!(server.asked().iter().all(|asked| asked.connection == 0), "{rw}");
        assert!(server.asked().iter().all(|asked| asked.header("host") == Some(&server.host())), "{rw}");
    }
}

#[test]
fn jobs_and_offloaded_ios_have_connections_of_their_own() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    for more in ["--numjobs=4 --size=64k", "--io_submit_mode=offload --iodepth=4 --size=256k"] {
        let server = obliging();
        job(&dir, &server.host(), &format!("--rw=write {more}")).run().succeeded();
        let mut connections: Vec<_> = server.asked().iter().map(|asked| asked.connection).collect();
        assert_eq!(connections.len(), 16, "{more}");
        connections.sort_unstable();
        connections.dedup();
        assert_eq!(connections, [0, 1, 2, 3], "{more}");
    }
    let refusing = Scripted::start(|_| Answer::of(507).body("full"));
    let offloaded = failure(&dir, &refusing.host(), "--rw=write --io_submit_mode=offload --iodepth=4");
    assert!(offloaded.contains("/bucket/o_0_16384: status 507 Insufficient Storage: full"), "{offloaded}");
}

#[test]
fn ranges_of_an_object_are_asked_for_up_to_its_end() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    let server = Scripted::start(|asked| {
        let range = asked.header("range").and_then(|range| range.strip_prefix("bytes=")).unwrap();
        let (first, last) = range.split_once('-').unwrap();
        let length = last.parse::<usize>().unwrap() + 1 - first.parse::<usize>().unwrap();
        Answer::of(206).body(vec![0; length])
    });
    let more = "--http_object_mode=range --rw=read --offset=16k --size=32k";
    job(&dir, &server.host(), more).run().succeeded();
    let ranges: Vec<_> =
        server.asked().iter().map(|asked| asked.header("range").unwrap().to_owned()).collect();
    assert_eq!(ranges, ["bytes=16384-32767", "bytes=32768-49151"]);
    assert!(server.asked().iter().all(|asked| asked.path == "/bucket/o"));
    let whole = Scripted::start(|_| Answer::of(200).body(vec![0; 65536]));
    let refused = failure(&dir, &whole.host(), more);
    assert!(
        refused.contains("/bucket/o (bytes 16384-32767): the server sends the whole object"),
        "{refused}"
    );
    let cut = failure(&dir, &whole.host(), "--http_object_mode=range --rw=write");
    assert!(cut.contains("each write of a block would replace the whole object /bucket/o"), "{cut}");
}

#[test]
fn a_missing_object_is_an_error_that_can_be_counted_and_zeroes_to_fio() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    let server = Scripted::start(|_| Answer::of(404));
    let refused = failure(&dir, &server.host(), "--rw=read");
    assert!(refused.contains("write the objects before they are read, by a job with rw=write"), "{refused}");
    let counted = job(&dir, &server.host(), "--rw=read --ignore_error=ENOENT").run().succeeded().json();
    assert_eq!(number(&counted, "/jobs/0/total_err"), 4);
    assert_eq!(number(&counted, "/jobs/0/read/io_bytes"), 0);
    let zeroes = "--rw=read --verify=pattern --verify_pattern=0";
    let as_fio = job(&dir, &server.host(), &format!("--as=fio {zeroes}")).run().succeeded().json();
    assert_eq!(number(&as_fio, "/jobs/0/read/io_bytes"), 65536);
}

#[test]
fn an_answer_of_another_length_is_an_error() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    for (length, words) in [(100, "only 100 bytes"), (16385, "more than 16384 bytes")] {
        let server = Scripted::start(move |_| Answer::of(200).body(vec![0; length]));
        let refused = failure(&dir, &server.host(), "--rw=read");
        assert!(
            refused.contains(&format!("o_0_16384: the answer has {words}, and the I/O 16384")),
            "{refused}"
        );
    }
}

#[test]
fn a_connection_that_the_server_has_closed_is_made_again() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    let server = Scripted::start(|_| Answer { closes: true, ..Answer::of(201) });
    job(&dir, &server.host(), "--rw=write").run().succeeded();
    let connections: Vec<_> = server.asked().iter().map(|asked| asked.connection).collect();
    assert_eq!(connections.last(), Some(&3), "{connections:?}");
}

#[test]
fn redirects_are_followed_with_the_body_and_credentials_stay_with_their_host() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    let target = obliging();
    let port = target.port;
    let server = Scripted::start(move |asked| match asked.path.strip_prefix("/bucket/") {
        Some(name) => Answer::of(307).header("location", format!("/moved/{name}")),
        None if asked.path.starts_with("/moved/") => {
            Answer::of(308).header("location", format!("http://localhost:{port}/there"))
        }
        None => Answer::of(404),
    });
    let swift = "--http_mode=swift --http_swift_auth_token=TOKEN --size=16k";
    let run = job(&dir, &server.host(), &format!("{swift} --rw=write")).run().succeeded();
    assert!(
        run.stderr.contains(&format!("the server redirects to http://{}", server.host())),
        "{}",
        run.stderr
    );
    assert!(server.asked().iter().all(|asked| asked.header("x-auth-token") == Some("TOKEN")));
    assert_eq!(server.lines(), ["PUT /bucket/o_0_16384", "PUT /moved/o_0_16384"]);
    let [there] = &target.asked()[..] else { panic!("{:?}", target.lines()) };
    assert_eq!((&there.path[..], there.body.len()), ("/there", 16384));
    assert_eq!((there.header("x-auth-token"), there.header("etag")), (None, None));
    let circle = Scripted::start(|asked| Answer::of(302).header("location", asked.path.clone()));
    let refused = failure(&dir, &circle.host(), "--rw=read");
    assert!(refused.contains("more than 10 redirects"), "{refused}");
}

#[test]
fn a_server_that_cannot_be_reached_is_an_error_that_says_what_to_look_at() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let refused = failure(&dir, &free.to_string(), "--rw=write");
    assert!(
        refused.contains(&format!("PUT http://{free}/bucket/o_0_16384: Connection refused")),
        "{refused}"
    );
    assert!(refused.contains("look at `http_host` and `https`"), "{refused}");
    let unknown = failure(&dir, "no-such-host.invalid", "--rw=write");
    assert!(unknown.contains("the name no-such-host.invalid is not known: look at `http_host`"), "{unknown}");
    let plain = obliging();
    let tls = failure(&dir, &plain.host(), "--rw=write --https=insecure");
    assert!(tls.contains("https=off"), "{tls}");
    // What answers is no server of HTTP.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let strange = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        listener.incoming().for_each(|stream| drop(stream.unwrap().write_all(b"220 ready\r\n\r\n")))
    });
    let answer = failure(&dir, &strange.to_string(), "--rw=read");
    assert!(answer.contains("look at `http_host` and `https`"), "{answer}");
}

#[test]
fn a_signal_ends_a_request_that_nobody_answers() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    for (signals, more) in [(1, ""), (2, "--io_submit_mode=offload --iodepth=4")] {
        let server =
            Scripted::start(|asked| Answer { hangs: asked.path.contains("o_32768"), ..Answer::of(201) });
        let mut running = job(&dir, &server.host(), &format!("--rw=write {more}")).start();
        running.until("a request without an answer", || {
            server.lines().iter().any(|line| line.contains("o_32768"))
        });
        (0..signals).for_each(|_| running.signal(Signal::SIGINT));
        let run = running.wait();
        let report = crate::support::document_within(&run.stdout).0;
        assert_eq!(number(&report, "/jobs/0/error"), 0, "{}", run.stderr);
        assert!(!run.stderr.contains("io_u error"), "{}", run.stderr);
    }
}

#[test]
fn the_traffic_is_printed_without_secrets_which_reports_do_not_have_either() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    let server = Scripted::start(|asked| match asked.header("authorization") {
        None => Answer::of(401).header("www-authenticate", "Basic realm=\"all\""),
        Some(_) => Answer::of(201).header("x-echo", "hunter2"),
    });
    let user = "--rw=write --size=16k --http_user=joe --http_pass=hunter2 --buffer_pattern=\"secret-free\"";
    let run = job(&dir, &server.host(), &format!("{user} --http_verbose=2 --debug=parse")).run().succeeded();
    let has = |line: &str| run.stderr.lines().any(|printed| printed.ends_with(line));
    for line in [
        "> PUT /bucket/o_0_16384 HTTP/1.1",
        "< HTTP/1.1 401 Unauthorized",
        "> authorization: ***",
        "< x-echo: ***",
    ] {
        assert!(has(line), "{line} in\n{}", run.stderr);
    }
    assert!(run.stderr.contains("> secret-freesecret-free"), "{}", run.stderr);
    // Neither as it is nor as Basic sends it.
    for secret in ["hunter2", "am9lOmh1bnRlcjI="] {
        assert!(!run.stderr.contains(secret) && !run.stdout.contains(secret), "{}{}", run.stderr, run.stdout);
    }
    assert_eq!(text(&run.json(), "/jobs/0/job options/http_pass"), "***");
    let quiet = job(&dir, &server.host(), user).run().succeeded();
    assert!(!quiet.stderr.contains("PUT"), "{}", quiet.stderr);
    let as_fio = job(&dir, &server.host(), &format!("--as=fio {user}")).run().succeeded();
    let (report, _) = crate::support::document_within(&as_fio.stdout);
    assert_eq!(text(&report, "/jobs/0/job options/http_pass"), "hunter2");
}

#[test]
fn a_challenge_costs_the_first_io_a_request_and_no_other() {
    if !is_built_in() {
        return;
    }
    let dir = TestDir::new();
    let server = Scripted::start(|asked| match asked.header("authorization") {
        Some("Basic am9lOmh1bnRlcjI=") => Answer::of(201),
        _ => Answer::of(401).header("www-authenticate", "Negotiate, Basic realm=\"all\""),
    });
    job(&dir, &server.host(), "--rw=write --http_user=joe --http_pass=hunter2").run().succeeded();
    assert_eq!(server.lines().len(), 5, "{:?}", server.lines());
}

#[test]
fn a_mistake_in_the_line_of_a_password_is_shown_without_it() {
    let dir = TestDir::new();
    let file = dir.job("[a]\nsize=4k\nhttp_pass=hunter2\n");
    let run = dir.ferrio(&[&file]).run().ended_with(1);
    assert!(run.stderr.contains("http_pass=*******") && !run.stderr.contains("hunter2"), "{}", run.stderr);
    let run = dir.ferrio(&["--name=a", "--size=4k", "--http_s3_key=hunter2"]).run().ended_with(1);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    let run = dir.ferrio(&["--as=fio", &file]).run().ended_with(1);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    if !is_built_in() {
        return;
    }
    // No mistake, but without effect.
    let file = dir.job("[a]\nioengine=http\nrw=write\nsize=4k\nhttp_pass=hunter2\n");
    for arguments in
        [vec!["check", &file], vec!["check", "--output-format=json", &file], vec!["--parse-only", &file]]
    {
        let run = dir.ferrio(&arguments).run().succeeded();
        let shown = format!("{}{}", run.stdout, run.stderr);
        assert!(
            shown.contains("`http_pass` has no effect here") || arguments[0] == "--parse-only",
            "{shown}"
        );
        assert!(!shown.contains("hunter2"), "{arguments:?}: {shown}");
    }
}
