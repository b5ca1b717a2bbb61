//! The server of jobs with the engine http, and what their requests say.

use ferrio_job::{
    Direction, EngineKind, FileSpec, HttpMode, HttpObjectMode, HttpOptions, JobSpec, S3Options, Secret,
    SetupError,
};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, chooses, engine_is, inert, lacks, refuse};
use crate::findings::Findings;

/// Bytes of a key of AES-256, and of its base64 form.
const CUSTOMER_KEY: usize = 32;
const CUSTOMER_KEY_ENCODED: usize = 44;

inert! {
    Unlink:
        has_objects; "objects are removed by a job with rw=trim";
    HttpUser HttpPass:
        |job| chooses(job, Opt::HttpMode, HttpMode::S3); "S3 requests are signed with `http_s3_key`";
    HttpPass:
        |job| lacks(job, Opt::HttpUser); "there is no password without `http_user`";
    HttpS3Key HttpS3Keyid HttpS3SecurityToken HttpS3Region HttpS3StorageClass HttpS3SseCustomerKey HttpS3SseCustomerAlgorithm:
        |job| !chooses(job, Opt::HttpMode, HttpMode::S3); "it applies only to `http_mode=s3`";
    HttpS3SseCustomerAlgorithm:
        |job| lacks(job, Opt::HttpS3SseCustomerKey); "nothing is encrypted without `http_s3_sse_customer_key`";
    HttpSwiftAuthToken:
        |job| !chooses(job, Opt::HttpMode, HttpMode::Swift); "it applies only to `http_mode=swift`";
}

/// True when the files of the job are objects of a server.
pub(crate) fn has_objects(job: &Job) -> bool {
    engine_is(job, EngineKind::has_objects)
}

/// The options of the engine. Nothing for a job with another one.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    if spec.engine != EngineKind::Http {
        return;
    }
    // Workers are threads anyway; the report says so, as that of fio.
    spec.thread = true;
    (spec.durability, spec.opening.open_sync) = Default::default();
    (spec.opening.pre_read, spec.layout.unlink) = (false, false);
    let options = &job.options;
    let text = |opt: Opt| options.text(opt).unwrap_or(opt.row().default).to_owned();
    let secret = |opt| options.text(opt).filter(|text| !text.is_empty()).map(Secret::from);
    let host = text(Opt::HttpHost);
    let (host, prefix) = host.split_at(host.find('/').unwrap_or(host.len()));
    spec.http = Some(Box::new(HttpOptions {
        https: options.choice(Opt::Https),
        host: host.to_owned(),
        prefix: prefix.trim_end_matches('/').to_owned(),
        user: options.text(Opt::HttpUser).filter(|user| !user.is_empty()).map(str::to_owned),
        password: secret(Opt::HttpPass).unwrap_or_default(),
        mode: options.choice(Opt::HttpMode),
        object_mode: options.choice(Opt::HttpObjectMode),
        s3: S3Options {
            region: text(Opt::HttpS3Region),
            key_id: text(Opt::HttpS3Keyid),
            key: secret(Opt::HttpS3Key).unwrap_or_default(),
            token: secret(Opt::HttpS3SecurityToken),
            storage_class: text(Opt::HttpS3StorageClass),
            customer_key: secret(Opt::HttpS3SseCustomerKey),
            customer_key_is_encoded: spec.compat.checks_customer_keys
                && options.text(Opt::HttpS3SseCustomerKey).is_some_and(is_encoded_key),
            customer_algorithm: text(Opt::HttpS3SseCustomerAlgorithm),
        },
        swift_token: secret(Opt::HttpSwiftAuthToken),
        verbose: options.value(Opt::HttpVerbose),
        // A job that removes objects finds some missing.
        missing_is_zeroes: spec.compat.missing_objects_are_zeros
            || spec.rw.does(Direction::Trim)
            || asks(job, Opt::TrimPercentage),
    }));
}

/// A key in base64.
fn is_encoded_key(text: &str) -> bool {
    let of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len() == CUSTOMER_KEY_ENCODED
        && text.strip_suffix('=').is_some_and(|digits| digits.bytes().all(of_base64))
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let Some(http) = &spec.http else { return };
    let mut wrong = |opts: &[Opt], message: String, help: &str| {
        refuse(findings, job, opts, "http-options-conflict", message, help);
    };
    if let Some((scheme, _)) = job.options.text(Opt::HttpHost).and_then(|host| host.split_once("://")) {
        let message = format!("http_host begins with `{scheme}://`");
        wrong(&[Opt::HttpHost], message, "write the name of the host only; https=on chooses TLS");
    } else if http.host.contains('@') {
        let message = "http_host has a user name".to_owned();
        wrong(&[Opt::HttpHost], message, "use `http_user` and `http_pass`");
    } else if http.host.is_empty()
        || http.host.contains(|c: char| c.is_whitespace() || "?#\\\"<>".contains(c))
    {
        let message = "http_host is not the name of a host".to_owned();
        let help = "write a name or an address, and its port if that is not the usual one";
        wrong(&[Opt::HttpHost], message, help);
    }
    if http.mode != HttpMode::S3 {
        return;
    }
    if http.s3.key_id.is_empty() || http.s3.key.reveal().is_empty() {
        let message = "http_mode=s3 needs `http_s3_keyid` and `http_s3_key`".to_owned();
        let help = "requests are signed with them; a server that wants no signatures is http_mode=webdav";
        wrong(&[Opt::HttpMode], message, help);
    }
    if let Some(key) = &http.s3.customer_key
        && spec.compat.checks_customer_keys
        && key.reveal().len() != CUSTOMER_KEY
        && !http.s3.customer_key_is_encoded
    {
        let message = format!(
            "http_s3_sse_customer_key has {} characters; a key has {CUSTOMER_KEY}",
            key.reveal().chars().count()
        );
        wrong(&[Opt::HttpMode], message, "give 32 characters, or 32 bytes in base64");
    }
}

/// Rules about the files of a job.
///
/// # Errors
/// With `http_object_mode=range`, writes that do not cover their file leave an object of one block: fio does that.
pub(crate) fn check_files(spec: &JobSpec) -> Result<(), SetupError> {
    let ranges = spec.http.as_ref().is_some_and(|http| http.object_mode == HttpObjectMode::Range);
    if !ranges || !spec.compat.refuses_partial_objects {
        return Ok(());
    }
    let changes = [(Direction::Write, "replace"), (Direction::Trim, "remove")];
    for (direction, does) in changes.into_iter().filter(|&(direction, _)| spec.rw.does(direction)) {
        let (block, name) = (&spec.block[direction], direction.name());
        let covers = |file: &FileSpec| file.offset == 0 && block.min == file.size && block.min == block.max;
        if let Some(file) = spec.files.iter().find(|file| !covers(file)) {
            let message = format!(
                "with http_object_mode=range, each {name} of a block would {does} the whole object {}: use \
                 http_object_mode=block, or blocks as large as the file ({} bytes)",
                file.path.display(),
                file.size
            );
            return Err(SetupError::new(libc::EINVAL, "init", message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ferrio_job::{Compat, CompatRules, HttpMode, HttpOptions, Https};

    use super::*;
    use crate::testing::jobs_of;

    // The engine is not in every build, so no job with it can be planned in all of them.
    fn resolved(options: &str, compat: Compat) -> (JobSpec, Vec<String>) {
        let set = jobs_of(&format!("[a]\nioengine=http\nsize=64k\nrw=write\n{options}"));
        let job = &set.jobs[0];
        let compat = CompatRules::of(compat);
        let mut spec = JobSpec { engine: EngineKind::Http, compat, ..crate::testing::default_job("a") };
        spec.rw = crate::direction::rw(job);
        resolve(job, &mut spec);
        let mut findings = Findings::new(false);
        apply_rules(job, &mut spec, &mut findings);
        let messages = findings.into_problems().iter().map(|problem| problem.message.clone()).collect();
        (spec, messages)
    }

    fn http(options: &str) -> HttpOptions {
        *resolved(options, Compat::Ferrio).0.http.unwrap()
    }

    fn refusals(options: &str) -> Vec<String> {
        resolved(options, Compat::Ferrio).1
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let options = http("");
        assert_eq!((&options.host[..], &options.prefix[..]), ("localhost", ""));
        assert_eq!((options.https, options.mode), (Https::Off, HttpMode::Webdav));
        assert_eq!((&options.s3.region[..], &options.s3.storage_class[..]), ("us-east-1", "STANDARD"));
        assert_eq!((options.user, options.swift_token, options.s3.customer_key), (None, None, None));
    }

    #[test]
    fn nothing_is_synced_and_workers_are_threads() {
        let spec = resolved("fsync=1\nend_fsync=1\nsync=1\nunlink=1\npre_read=1\n", Compat::Fio).0;
        assert!(!spec.is_durable() && !spec.layout.unlink && !spec.opening.pre_read && spec.thread);
    }

    #[test]
    fn a_path_in_the_host_is_what_all_paths_begin_with() {
        let options = http("http_host=h:8080/v1/dir/\n");
        assert_eq!((&options.host[..], &options.prefix[..]), ("h:8080", "/v1/dir"));
    }

    #[test]
    fn a_host_is_a_name_with_a_port_and_no_more() {
        assert_eq!(refusals("http_host=https://h\n"), ["http_host begins with `https://`"]);
        assert_eq!(refusals("http_host=joe@h\n"), ["http_host has a user name"]);
        assert_eq!(refusals("http_host=/dir\n"), ["http_host is not the name of a host"]);
        assert!(refusals("http_host=[::1]:9000\n").is_empty());
    }

    #[test]
    fn s3_needs_keys_and_a_key_to_encrypt_with_has_its_size() {
        assert_eq!(
            refusals("http_mode=s3\nhttp_s3_keyid=x\n"),
            ["http_mode=s3 needs `http_s3_keyid` and `http_s3_key`"]
        );
        let keys = "http_mode=s3\nhttp_s3_keyid=x\nhttp_s3_key=y\n";
        let with = |key: &str| format!("{keys}http_s3_sse_customer_key={key}\n");
        assert_eq!(refusals(&with("short")), ["http_s3_sse_customer_key has 5 characters; a key has 32"]);
        let [plain, encoded] = [with(&"k".repeat(32)), with(&format!("{}=", "k".repeat(43)))];
        assert!(refusals(&plain).is_empty() && !http(&plain).s3.customer_key_is_encoded);
        assert!(refusals(&encoded).is_empty() && http(&encoded).s3.customer_key_is_encoded);
        assert!(resolved(&with("short"), Compat::Fio).1.is_empty(), "the server may refuse it");
    }

    #[test]
    fn missing_objects_are_zeroes_to_fio_and_to_jobs_that_remove_them() {
        let zeroes = |options, compat| resolved(options, compat).0.http.unwrap().missing_is_zeroes;
        assert!(zeroes("", Compat::Fio));
        assert!(!zeroes("", Compat::Ferrio));
        assert!(zeroes("rw=randtrimwrite\n", Compat::Ferrio));
        assert!(zeroes("verify=crc32c\ntrim_percentage=10\n", Compat::Ferrio));
    }

    #[test]
    fn a_write_that_would_cut_its_object_is_refused_except_as_fio() {
        let checked = |options: &str, blocks: (u64, u64), compat| {
            let mut spec = resolved(options, compat).0;
            let block = &mut spec.block[Direction::Write];
            (block.min, block.max) = blocks;
            spec.files = vec![crate::testing::file("/b/o", ferrio_job::FileKind::Pretend, 65536)];
            check_files(&spec).map_err(|error| error.message)
        };
        let range = "http_object_mode=range\n";
        let refusal = checked(range, (4096, 4096), Compat::Ferrio).unwrap_err();
        assert!(refusal.contains("each write of a block would replace the whole object /b/o"), "{refusal}");
        assert!(checked(range, (4096, 65536), Compat::Ferrio).is_err());
        assert_eq!(checked(range, (65536, 65536), Compat::Ferrio), Ok(()));
        assert_eq!(checked(range, (4096, 4096), Compat::Fio), Ok(()));
        assert_eq!(checked("", (4096, 4096), Compat::Ferrio), Ok(()));
    }
}
