//! One run on many hosts: the conversation between one coordinator and its agents.
//!
//! ```text
//! agent:  hello ── pong* ── checked ── ready(0) ── started(0) ── interval* ── ready(1) … result ── ended ── (waits for bye)
//! coord.: hello ── ping* ── plan ── prepare ── go(0, at) ───────── ping* ───── go(1, at) …                  bye
//! ```
//!
//! [`Coordinator`] and [`Agent`] are state machines: each takes one input and the time, and returns actions. They read no clock, open no
//! socket and start no thread, so a test can hold thousands of conversations with delays, cuts and deaths. [`FrameReader`] and
//! [`write_frame`] put messages on any stream of bytes, one JSON document a line, which a person can read and type; [`coordinate`] and
//! [`serve`] hold real conversations over a [`Carrier`].
//!
//! A phase is what stonewalls separate. A host says that it is ready for a phase when it has ended the one before; when all hosts that
//! still run are ready, the coordinator chooses a moment, and tells it to each host in the time of the host's own clock.
#![forbid(unsafe_code)]

mod agent;
mod agent_inputs;
mod carrier;
mod clock;
mod coordinator;
mod exchange;
mod frame;
mod host;
mod host_list;
mod intake;
mod line;
mod message;
mod protocol;
mod serve;
#[cfg(feature = "tls")]
mod tls;
mod token;

pub use agent::{Agent, AgentAction, AgentInput};
pub use agent_inputs::AgentInputs;
pub use carrier::{Carrier, Closer, Ends, StreamPair};
pub use clock::{ClockOffset, ClockTime, RoundTrips};
pub use coordinator::{Coordinator, CoordinatorAction, CoordinatorInput, CoordinatorSettings, UserRequest};
pub use exchange::{HostClock, coordinate};
pub use frame::{FrameError, FrameReader, write_frame};
pub use host::{HostId, HostLoss, PhaseStart};
pub use host_list::{HostListError, MAX_HOSTS, host_names, hosts_of_file};
pub use intake::{Intake, MAX_FRAME, MAX_GREETING};
pub use message::{AgentHello, CoordinatorHello, JobText, PlanText, Stream, ToAgent, ToCoordinator};
pub use protocol::{PROTOCOL, ProtocolVersion};
pub use serve::serve;
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError, TlsFiles};
pub use token::{Challenge, MAX_TOKEN, MIN_TOKEN, Nonce, Proof, Token, TokenError};
