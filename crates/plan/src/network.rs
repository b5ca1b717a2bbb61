//! The peer of jobs with a network engine: `hostname`, `port`, `protocol`, `listen` and the options of sockets.

use std::net::IpAddr;

use ferrio_job::{Direction, EngineKind, JobSpec, Network, Prefix, Protocol, SetupError};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, inert, refuse};
use crate::findings::Findings;

inert! {
    Nodelay Mss:
        |job| !protocol(job).is_tcp(); "it applies only to TCP";
    Interface Ttl:
        |job| !protocol(job).is_datagram(); "only datagrams are multicast";
}

fn protocol(job: &Job) -> Protocol {
    job.options.choice(Opt::Protocol)
}

/// Options that exclude each other, the message about them, and what to do.
type Conflict = (&'static [Opt], &'static str, &'static str);

/// Rules about the resolved job. fio gives such a job up, but runs the others: see [`resolve`].
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if !spec.engine.has_peer() {
        return;
    }
    // What was received is gone, and what was sent is somewhere else.
    spec.opening.pre_read = false;
    if let Some(verify) = &mut spec.verify {
        verify.read_back = false;
    }
    if !spec.compat.gives_up_jobs_alone
        && let Some((opts, message, help)) = conflict(job, spec)
    {
        refuse(findings, job, opts, "network-options-conflict", message, help);
    }
}

/// The peer of a job whose clone number and file names are known. Nothing for a job with another engine.
///
/// # Errors
/// The options exclude each other, or the clones need more ports than there are.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) -> Result<(), SetupError> {
    if !spec.engine.has_peer() {
        return Ok(());
    }
    let failed = |message: &str| Err(SetupError::new(libc::EINVAL, "init", message).prefix(Prefix::Program));
    if let Some((_, message, _)) = conflict(job, spec) {
        return failed(message);
    }
    let options = &job.options;
    let protocol = protocol(job);
    let host = options.text(Opt::HostnameNet).map(str::to_owned);
    let first: u32 = options.if_given(Opt::PortNet).unwrap_or_default();
    let Ok(port) = u16::try_from(first.saturating_add(spec.clone)) else {
        return failed("network IO has no port left for this clone: ports end at 65535");
    };
    let receives = spec.rw.does(Direction::Read);
    if let Some(host) = &host {
        spec.files.truncate(1);
        spec.files.iter_mut().for_each(|file| file.path = host.into());
    }
    spec.network = Some(Box::new(Network {
        protocol,
        host,
        socket_path: spec.files.first().map(|file| file.path.clone()).unwrap_or_default(),
        port,
        waits_for_peer: match protocol {
            Protocol::Udp | Protocol::Udpv6 | Protocol::Unix => receives,
            _ => options.value(Opt::Listen),
        },
        receives,
        sends: spec.rw.does(Direction::Write),
        splices: spec.engine == EngineKind::Netsplice,
        nodelay: asks(job, Opt::Nodelay),
        pingpong: options.value(Opt::Pingpong),
        interface: options.text(Opt::Interface).map(str::to_owned),
        ttl: options.value(Opt::Ttl),
        window_size: options.if_given(Opt::WindowSize).unwrap_or_default(),
        mss: options.if_given(Opt::Mss).unwrap_or_default(),
    }));
    Ok(())
}

/// The first thing that is wrong. The messages are fio's.
fn conflict(job: &Job, spec: &JobSpec) -> Option<Conflict> {
    let given = |opt| job.options.is_given(opt);
    let (protocol, host) = (protocol(job), given(Opt::HostnameNet));
    let (reads, writes) = (spec.rw.does(Direction::Read), spec.rw.does(Direction::Write));
    let listens = asks(job, Opt::Listen);
    let conflict = |opts: &'static [Opt], message, help| Some((opts, message, help));
    let two_ends = "use rw=read at one end and rw=write at the other";
    if spec.rw.is_random() {
        return conflict(&[Opt::Rw], "network IO can't be random", two_ends);
    }
    if spec.trims() {
        return conflict(&[Opt::Rw], "network IO can't trim", two_ends);
    }
    match protocol {
        Protocol::Unix => {
            if given(Opt::PortNet) {
                let help = "remove `port`: both ends use the same `filename`";
                return conflict(&[Opt::PortNet], "network IO port not valid with unix socket", help);
            }
            if listens {
                return only_streams_listen();
            }
            if !host && !given(Opt::Filename) {
                let help = "give both ends the path of the socket with `filename`";
                return conflict(&[Opt::Protocol], "UNIX sockets need host/filename", help);
            }
        }
        _ if !given(Opt::PortNet) => {
            let message = match protocol {
                Protocol::Vsock => "network IO requires port for vsock",
                _ => "network IO requires port for tcp or udp",
            };
            return conflict(&[Opt::Ioengine], message, "give both ends the same `port`");
        }
        Protocol::Udp | Protocol::Udpv6 => {
            if reads && writes {
                let message = "datagram network connections must be read OR write";
                return conflict(&[Opt::Rw], message, two_ends);
            }
            if listens {
                return only_streams_listen();
            }
        }
        _ => {}
    }
    let waits = listens || protocol.is_datagram() && reads;
    if waits && host && !(protocol.is_datagram() && names_group(job)) {
        let message = "hostname not valid for non-multicast inbound network IO";
        let help = "remove `hostname`: the end that waits accepts any peer";
        return conflict(&[Opt::HostnameNet], message, help);
    }
    if !waits && !host && protocol != Protocol::Unix {
        let message = "connect with no host to connect to. did you forget to set 'listen'?";
        return conflict(&[Opt::Ioengine], message, "give `hostname`, or `listen` for the end that waits");
    }
    None
}

fn only_streams_listen() -> Option<Conflict> {
    let help = "remove `listen`: with this protocol the end that reads waits for the other";
    Some((&[Opt::Listen], "listen only valid for TCP proto IO", help))
}

/// True when `hostname` is the address of a multicast group.
fn names_group(job: &Job) -> bool {
    let address = job.options.text(Opt::HostnameNet).map(str::parse::<IpAddr>);
    address.is_some_and(|address| address.is_ok_and(|address| address.is_multicast()))
}

#[cfg(test)]
mod tests {
    use ferrio_job::{Network, Protocol};

    use crate::testing::{good_plan_as_fio, jobs_of, plan_of, problems_of, spec_of};

    fn job(options: &str) -> String {
        format!("[a]\nioengine=net\nsize=4k\n{}\n", options.replace(' ', "\n"))
    }

    fn network(options: &str) -> Network {
        *spec_of(&job(options)).network.unwrap()
    }

    #[test]
    fn options_that_exclude_each_other_are_refused_by_ferrio_and_fail_the_job_in_fio() {
        let port = "network IO requires port for tcp or udp";
        let host = "connect with no host to connect to. did you forget to set 'listen'?";
        let inbound = "hostname not valid for non-multicast inbound network IO";
        for (options, want) in [
            ("port=7 listen rw=randread", "network IO can't be random"),
            ("port=7 listen rw=trim", "network IO can't trim"),
            ("listen rw=read", port),
            ("hostname=h rw=write", port),
            ("protocol=udp rw=read", port),
            ("protocol=vsock hostname=2 rw=write", "network IO requires port for vsock"),
            ("protocol=unix port=7 filename=s rw=read", "network IO port not valid with unix socket"),
            ("protocol=unix filename=s listen rw=read", "listen only valid for TCP proto IO"),
            ("protocol=unix rw=read", "UNIX sockets need host/filename"),
            ("protocol=udp port=7 hostname=h rw=rw", "datagram network connections must be read OR write"),
            ("protocol=udpv6 port=7 listen rw=read", "listen only valid for TCP proto IO"),
            ("port=7 listen hostname=h rw=read", inbound),
            ("protocol=udp port=7 hostname=10.0.0.1 rw=read", inbound),
            ("protocol=udp port=7 hostname=name rw=read", inbound),
            ("port=7 rw=write", host),
            ("protocol=udp port=7 rw=write", host),
            ("protocol=vsock port=7 rw=read", host),
        ] {
            let problems = problems_of(&job(options));
            let found: Vec<_> = problems.iter().map(|problem| (&*problem.message, problem.code)).collect();
            assert_eq!(found, [(want, "network-options-conflict")], "{options}");
            assert!(problems[0].help.is_some(), "{options}");
            let plan = good_plan_as_fio(&jobs_of(&job(options)));
            let failed = plan.jobs[0].setup_error.as_ref().unwrap();
            assert_eq!((&*failed.message, failed.errno), (want, libc::EINVAL), "{options}");
        }
    }

    #[test]
    fn the_end_that_waits_is_the_listener_or_the_one_that_reads_datagrams() {
        let waits = |options: &str| network(options).waits_for_peer;
        assert!(waits("port=7 listen rw=read") && waits("port=7 listen rw=write"));
        assert!(!waits("port=7 hostname=h rw=read") && !waits("port=7 hostname=h rw=write"));
        assert!(waits("port=7 protocol=udp rw=read") && !waits("port=7 protocol=udp hostname=h rw=write"));
        assert!(waits("protocol=unix filename=s rw=read") && !waits("protocol=unix filename=s rw=write"));
        assert!(waits("protocol=udp port=7 hostname=239.0.0.1 rw=read"), "a group is no peer");
        assert!(waits("protocol=udpv6 port=7 hostname=ff12::5 rw=read"));
        assert!(waits("protocol=vsock port=7 listen rw=rw"));
    }

    #[test]
    fn options_of_a_peer_arrive() {
        let options = "port=7 hostname=h rw=write nodelay=1 pingpong window_size=64k mss=1000";
        let found = network(options);
        assert_eq!((found.host.as_deref(), found.port, found.protocol), (Some("h"), 7, Protocol::Tcp));
        assert!(found.nodelay && found.pingpong && found.sends && !found.receives && !found.splices);
        assert_eq!((found.window_size, found.mss, found.ttl), (65536, 1000, 1));
        let found = network("protocol=udp port=7 hostname=239.0.0.1 interface=10.0.0.1 ttl=3 rw=write");
        assert_eq!((found.interface.as_deref(), found.ttl), (Some("10.0.0.1"), 3));
        let spliced = spec_of(&job("port=7 listen rw=read").replace("=net", "=netsplice"));
        assert!(spliced.network.unwrap().splices);
        assert!(spec_of("[a]\nioengine=null\nsize=4k\n").network.is_none());
    }

    #[test]
    fn each_clone_has_a_port_of_its_own() {
        let plan = plan_of(&job("port=65534 listen rw=read numjobs=3")).unwrap();
        let mut ports: Vec<_> = plan
            .jobs
            .iter()
            .filter_map(|job| job.spec.network.as_ref().map(|network| network.port))
            .collect();
        ports.sort_unstable();
        assert_eq!(ports, [65534, 65535]);
        let failed = plan.jobs.iter().find_map(|job| job.setup_error.as_ref()).unwrap();
        assert_eq!(failed.message, "network IO has no port left for this clone: ports end at 65535");
    }

    #[test]
    fn nothing_is_read_back_or_ahead() {
        let spec = spec_of(&job("port=7 hostname=h rw=write verify=crc32c pre_read=1"));
        assert!(!spec.opening.pre_read && !spec.verify.unwrap().read_back);
    }
}
