//! S3, WebDAV and Swift.

use std::collections::HashMap;
use std::sync::Mutex;

use md5::{Digest, Md5};

use super::scripted::{Answer, Scripted};
use super::servers::Server;
use super::{failure, is_built_in, job};
use crate::support::{TestDir, number};

/// Writes four blocks in random order, reads them back and compares them, then reads them once more by another job.
fn round_trip(dir: &TestDir, host: &str, more: &str) {
    let written = job(dir, host, &format!("--rw=randwrite --verify=crc32c {more}")).run().succeeded().json();
    let figures = ["/jobs/0/write/io_bytes", "/jobs/0/read/io_bytes", "/jobs/0/write/total_ios"];
    assert_eq!(figures.map(|figure| number(&written, figure)), [65536, 65536, 4], "{more}");
    let read = job(dir, host, &format!("--rw=randread --verify=crc32c {more}")).run().succeeded().json();
    assert_eq!(number(&read, "/jobs/0/read/io_bytes"), 65536, "{more}");
}

#[test]
fn s3_accepts_the_signatures_of_all_requests() {
    let Some(server) = is_built_in().then(Server::s3).flatten() else { return };
    let dir = TestDir::new();
    let host = format!("127.0.0.1:{}", server.port());
    let [id, key] = server.keys();
    let s3 = format!("--http_mode=s3 --http_s3_region=eu-central-1 --http_s3_keyid={id} --http_s3_key={key}");
    // Names that the address does not have as they are.
    round_trip(&dir, &host, &format!("{s3} --filename=/bucket/a,b~c+d(e)=f"));
    round_trip(&dir, &host, &format!("{s3} --filename=bucket/dir/g --http_s3_storage_class=STANDARD_IA"));
    // One object per file.
    let whole = "--bs=64k --rw=write --verify=pattern --verify_pattern=0xdeadbeef --do_verify=0";
    job(&dir, &host, &format!("{s3} --http_object_mode=range {whole}")).run().succeeded();
    let parts = "--bs=4k --rw=randread --verify=pattern --verify_pattern=0xdeadbeef";
    let read = job(&dir, &host, &format!("{s3} --http_object_mode=range {parts}")).run().succeeded().json();
    assert_eq!(number(&read, "/jobs/0/read/total_ios"), 16);
    // What is trimmed is gone.
    round_trip(&dir, &host, &s3);
    let trimmed = job(&dir, &host, &format!("{s3} --rw=trim")).run().succeeded().json();
    assert_eq!(number(&trimmed, "/jobs/0/trim/io_bytes"), 65536);
    let gone = failure(&dir, &host, &format!("{s3} --rw=read"));
    assert!(gone.contains("No such file or directory: read offset=0, buflen=16384"), "{gone}");
    let name = format!("GET http://{host}/bucket/o_0_16384: status 404 Not Found: NoSuchKey: ");
    assert!(gone.contains(&name), "{gone}");
    // The server itself checks.
    let wrong = failure(&dir, &host, &format!("{s3}x --rw=read"));
    assert!(wrong.contains("status 403 Forbidden: SignatureDoesNotMatch: "), "{wrong}");
    assert!(wrong.contains("look at `http_s3_keyid`, `http_s3_key` and `http_s3_region`"), "{wrong}");
    assert!(wrong.contains("Input/output error: read offset=0") && !wrong.contains(&key), "{wrong}");
    let nowhere = failure(&dir, &host, &format!("{s3} --filename=/nowhere/o --rw=write"));
    assert!(nowhere.contains("status 404 Not Found: NoSuchBucket: "), "{nowhere}");
}

#[test]
fn s3_requests_have_the_headers_of_temporary_keys_and_of_encryption() {
    if !is_built_in() {
        return;
    }
    let server = Scripted::start(|_| Answer::of(200));
    let dir = TestDir::new();
    let customer = "0123456789abcdef0123456789abcdef";
    let s3 = format!(
        "--http_mode=s3 --http_s3_keyid=ID --http_s3_key=KEY --http_s3_security_token=TOKEN \
         --http_s3_storage_class=GLACIER --http_s3_sse_customer_key={customer} --size=16k"
    );
    job(&dir, &server.host(), &format!("{s3} --rw=write")).run().succeeded();
    job(&dir, &server.host(), &format!("{s3} --rw=trim")).run().succeeded();
    let [write, trim] = &server.asked()[..] else { panic!("{:?}", server.lines()) };
    assert_eq!(write.header("x-amz-security-token"), Some("TOKEN"));
    assert_eq!(write.header("x-amz-storage-class"), Some("GLACIER"));
    let encryption = |what: &str| write.header(&format!("x-amz-server-side-encryption-customer-{what}"));
    assert_eq!(encryption("algorithm"), Some("AES256"));
    assert_eq!(encryption("key"), Some("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="));
    assert_eq!(encryption("key-md5"), Some("hRasmdxgYDKV3nvbahU1MA=="));
    let signed = "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token;\
                  x-amz-server-side-encryption-customer-algorithm;x-amz-server-side-encryption-customer-key;\
                  x-amz-server-side-encryption-customer-key-md5;x-amz-storage-class,Signature=";
    assert!(write.header("authorization").is_some_and(|header| header.contains(signed)), "{write:?}");
    assert!(
        write.header("authorization").is_some_and(|header| header.contains("/us-east-1/s3/aws4_request,"))
    );
    // Nothing is encrypted or decrypted.
    assert_eq!(trim.header("x-amz-server-side-encryption-customer-key"), None);
    assert_eq!(trim.header("x-amz-security-token"), Some("TOKEN"));
}

#[test]
fn webdav_asks_nothing_or_for_a_password_in_the_clear_or_as_a_digest() {
    if !is_built_in() {
        return;
    }
    let user = "--http_user=joe --http_pass=open-sesame";
    for (scheme, user) in [("none", ""), ("basic", user), ("digest", user)] {
        let dir = TestDir::new();
        std::fs::create_dir(dir.work().join("bucket")).unwrap();
        let Some(server) = Server::dav(&dir.work(), scheme) else { return };
        let host = format!("127.0.0.1:{}", server.port());
        round_trip(&dir, &host, user);
        let names: Vec<_> = std::fs::read_dir(dir.work().join("bucket")).unwrap().collect();
        assert_eq!(names.len(), 4, "{scheme}");
        let last = std::fs::metadata(dir.work().join("bucket/o_49152_16384")).unwrap();
        assert_eq!(last.len(), 16384, "{scheme}");
        // The path may be that of the host.
        round_trip(&dir, &format!("{host}/bucket"), &format!("{user} --filename=p"));
        job(&dir, &host, &format!("{user} --rw=trim")).run().succeeded();
        assert!(
            !dir.work().join("bucket/o_49152_16384").exists() && dir.work().join("bucket/p_0_16384").exists()
        );
        if scheme != "none" {
            let wrong = failure(&dir, &host, "--rw=read --http_user=joe --http_pass=open-wide");
            assert!(wrong.contains("status 401 Unauthorized"), "{scheme}: {wrong}");
            assert!(wrong.contains("the server refuses `http_user` and `http_pass`"), "{scheme}: {wrong}");
            let nobody = failure(&dir, &host, "--rw=read");
            assert!(nobody.contains("look at `http_user` and `http_pass`"), "{scheme}: {nobody}");
        }
    }
}

#[test]
fn tls_needs_a_certificate_that_is_valid_or_a_user_who_does_not_care() {
    needs!("openssl");
    let dir = TestDir::new();
    let Some((server, certificate)) = is_built_in().then(|| Server::dav_by_tls(&dir)).flatten() else {
        return;
    };
    std::fs::create_dir(dir.work().join("bucket")).unwrap();
    let host = format!("localhost:{}", server.port());
    round_trip(&dir, &host, "--https=insecure");
    let refused = failure(&dir, &host, "--https=on --rw=write");
    assert!(
        refused.contains("the certificate of localhost") && refused.contains("UnknownIssuer"),
        "{refused}"
    );
    assert!(refused.contains("https=insecure accepts any"), "{refused}");
    let trusted =
        job(&dir, &host, "--https=on --rw=write").env("SSL_CERT_FILE", certificate.to_str().unwrap());
    trusted.run().succeeded();
    let by_address = format!("127.0.0.1:{}", server.port());
    let other =
        job(&dir, &by_address, "--https=on --rw=write").env("SSL_CERT_FILE", certificate.to_str().unwrap());
    let other = other.run().ended_with(1).messages();
    assert!(other.contains("the certificate of 127.0.0.1"), "{other}");
    let plain = failure(&dir, &host, "--rw=write");
    assert!(plain.contains("PUT http://localhost"), "{plain}");
}

#[test]
fn swift_gets_a_token_and_the_checksum_of_what_is_written() {
    if !is_built_in() {
        return;
    }
    let objects = Mutex::new(HashMap::new());
    let server = Scripted::start(move |asked| {
        if asked.header("x-auth-token") != Some("TOKEN") {
            return Answer::of(401).body("<html><h1>Unauthorized</h1><p>No token</p></html>");
        }
        let mut objects = objects.lock().unwrap();
        let checksum =
            || Md5::digest(&asked.body).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        match &asked.method[..] {
            "PUT" if asked.header("etag") != Some(&checksum()) => Answer::of(422),
            "PUT" => {
                objects.insert(asked.path.clone(), asked.body.clone());
                Answer::of(201)
            }
            "DELETE" => objects.remove(&asked.path).map_or(Answer::of(404), |_| Answer::of(204)),
            _ if asked.header("etag").is_some() => Answer::of(400),
            _ => objects.get(&asked.path).map_or(Answer::of(404), |body| Answer::of(200).body(body.clone())),
        }
    });
    let dir = TestDir::new();
    let swift = "--http_mode=swift --http_swift_auth_token=TOKEN --filename=/v1/AUTH_a/c/o";
    round_trip(&dir, &server.host(), swift);
    assert!(server.lines().contains(&"PUT /v1/AUTH_a/c/o_16384_16384".to_owned()));
    // A second trim finds nothing, which is as good.
    for _ in 0..2 {
        job(&dir, &server.host(), &format!("{swift} --rw=trim")).run().succeeded();
    }
    let refused = failure(&dir, &server.host(), "--http_mode=swift --rw=write");
    assert!(
        refused.contains("status 401 Unauthorized: UnauthorizedNo token; look at `http_swift_auth_token`"),
        "{refused}"
    );
}
