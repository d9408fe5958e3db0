//! A host for one test: it starts an agent, asks, and hears.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::OnceLock;
use std::time::Duration;

use bailiwick_sys::packets;
use bailiwick_wire::Decoder;
use bailiwick_wire::agent::{Ended, FromAgent, LONGEST, Start, Stream, ToAgent};

use crate::place::{NAME, Place};

/// Longer than any answer takes; only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Agent {
    pub(crate) place: Place,
    socket: Option<UnixStream>,
    decoder: Decoder,
    child: Child,
    next: u32,
    /// What was heard and is not wanted yet.
    aside: VecDeque<FromAgent>,
}

/// How a command went.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Went {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) ended: Option<Ended>,
}

impl Went {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    #[track_caller]
    pub(crate) fn code(&self) -> i32 {
        self.ended.as_ref().and_then(|ended| ended.code).unwrap_or_else(|| panic!("{self:?}"))
    }

    #[track_caller]
    pub(crate) fn signal(&self) -> i32 {
        self.ended.as_ref().and_then(|ended| ended.signal).unwrap_or_else(|| panic!("{self:?}"))
    }
}

/// Runs a test in every place that this machine has.
#[track_caller]
pub(crate) fn everywhere(test: impl Fn(&mut Agent)) {
    test(&mut Agent::new(Place::Plain, &[]));
    if bailiwick_testkit::has("user namespaces", has_namespaces()) {
        test(&mut Agent::new(Place::First, &["/tmp"]));
    }
}

/// Runs a test where the agent is the first process.
#[track_caller]
pub(crate) fn as_first(test: impl Fn(&mut Agent)) {
    bailiwick_testkit::requires!("user namespaces", has_namespaces());
    test(&mut Agent::new(Place::First, &["/tmp"]));
}

pub(crate) fn has_namespaces() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| Agent::try_new(Place::First, &[]).is_some())
}

impl Agent {
    #[track_caller]
    pub(crate) fn new(place: Place, folders: &[&str]) -> Self {
        Self::try_new(place, folders).expect("the agent lives")
    }

    fn try_new(place: Place, folders: &[&str]) -> Option<Self> {
        let (ours, theirs) = packets::stream_pair().unwrap();
        let arguments: Vec<&str> = [place.word()].into_iter().chain(folders.iter().copied()).collect();
        let child = bailiwick_sys::reexec::start(NAME, &arguments, theirs).unwrap();
        let socket = UnixStream::from(ours);
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let (decoder, aside) = (Decoder::new(LONGEST), VecDeque::new());
        let mut agent = Self { place, socket: Some(socket), decoder, child, next: 1, aside };
        (agent.hear() == Some(FromAgent::Ready)).then_some(agent)
    }

    fn socket(&mut self) -> &mut UnixStream {
        self.socket.as_mut().unwrap()
    }

    /// The process of a plain agent.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How many bytes wait to be heard.
    pub(crate) fn unread(&mut self) -> u64 {
        rustix::io::ioctl_fionread(self.socket()).unwrap()
    }

    /// A number that was not used.
    pub(crate) fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    #[track_caller]
    pub(crate) fn say(&mut self, message: &ToAgent) {
        let frame = bailiwick_wire::encode(message).unwrap();
        self.socket().write_all(&frame).unwrap();
    }

    pub(crate) fn say_raw(&mut self, bytes: &[u8]) {
        // An agent that has ended already hears nothing more.
        let _ = self.socket().write_all(bytes);
    }

    /// The next message; none when the agent is gone.
    #[track_caller]
    fn hear(&mut self) -> Option<FromAgent> {
        let mut piece = vec![0; 64 * 1024];
        loop {
            if let Some(message) = self.decoder.take().expect("frames are whole") {
                return Some(message);
            }
            let length = match self.socket().read(&mut piece) {
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => panic!("the agent said nothing: {error}"),
            };
            if length == 0 {
                return None;
            }
            self.decoder.push(&piece[..length]);
        }
    }

    /// The next message that is wanted; others are kept.
    #[track_caller]
    pub(crate) fn wait_for<T>(&mut self, mut wanted: impl FnMut(&FromAgent) -> Option<T>) -> T {
        let mut at = 0;
        loop {
            if at == self.aside.len() {
                let heard = self.hear().expect("the agent lives");
                self.aside.push_back(heard);
            }
            if let Some(found) = wanted(&self.aside[at]) {
                self.aside.remove(at);
                return found;
            }
            at += 1;
        }
    }

    /// The next message about an ask.
    #[track_caller]
    pub(crate) fn about(&mut self, id: u32) -> FromAgent {
        self.wait_for(|message| (number_of(message) == Some(id)).then(|| message.clone()))
    }

    /// Closes the socket and gives the agent's exit code; for a plain one, whose parent we are.
    pub(crate) fn close(&mut self) -> Option<i32> {
        drop(self.socket.take());
        self.child.wait().unwrap().code()
    }

    /// Waits for the agent to go by itself.
    pub(crate) fn is_gone(&mut self) -> Option<i32> {
        while self.hear().is_some() {}
        self.close()
    }

    pub(crate) fn start(&mut self, start: Start) -> u32 {
        let id = self.number();
        self.say(&ToAgent::Start { id, start: Box::new(start) });
        id
    }

    /// Hears a command to its end, and gives credit for all it says.
    #[track_caller]
    pub(crate) fn finish(&mut self, id: u32) -> Went {
        let mut went = Went::default();
        while went.ended.is_none() {
            match self.about(id) {
                FromAgent::Output { stream, bytes, .. } => {
                    let length = u32::try_from(bytes.len()).unwrap();
                    match stream {
                        Stream::Stdout => went.stdout.extend(bytes),
                        Stream::Stderr => went.stderr.extend(bytes),
                    }
                    self.say(&ToAgent::Credit { id, stream, bytes: length });
                }
                FromAgent::Ended { ended, .. } => went.ended = Some(ended),
                FromAgent::Credit { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        went
    }

    #[track_caller]
    pub(crate) fn run(&mut self, argv: &[&str]) -> Went {
        let id = self.start(command(argv));
        self.finish(id)
    }

    #[track_caller]
    pub(crate) fn shell(&mut self, script: &str) -> Went {
        self.run(&["sh", "-c", script])
    }

    /// Why a command did not start.
    #[track_caller]
    pub(crate) fn refused(&mut self, start: Start) -> (String, i32) {
        let id = self.start(start);
        match self.about(id) {
            FromAgent::NotStarted { step, errno, .. } => (step, errno),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn count(&mut self) -> u32 {
        let id = self.number();
        self.say(&ToAgent::Count { id });
        match self.about(id) {
            FromAgent::Counted { processes, .. } => processes,
            other => panic!("{other:?}"),
        }
    }

    /// Ends everybody.
    #[track_caller]
    pub(crate) fn kill_all(&mut self) {
        let id = self.number();
        self.say(&ToAgent::SignalAll { id, signal: 9 });
        assert_eq!(self.about(id), FromAgent::Done { id });
    }

    /// Hears many commands to their ends.
    #[track_caller]
    pub(crate) fn finish_all(&mut self, ids: &[u32]) -> BTreeMap<u32, Went> {
        ids.iter().map(|id| (*id, self.finish(*id))).collect()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if self.socket.is_some() {
            self.close();
        }
    }
}

fn number_of(message: &FromAgent) -> Option<u32> {
    match message {
        FromAgent::Ready => None,
        FromAgent::Output { id, .. }
        | FromAgent::Credit { id, .. }
        | FromAgent::Ended { id, .. }
        | FromAgent::NotStarted { id, .. }
        | FromAgent::Data { id, .. }
        | FromAgent::Listed { id, .. }
        | FromAgent::Done { id }
        | FromAgent::Failed { id, .. }
        | FromAgent::Reset { id, .. }
        | FromAgent::Arrived { id, .. }
        | FromAgent::Joined { id }
        | FromAgent::OutputEnd { id }
        | FromAgent::Parted { id }
        | FromAgent::Asked { id, .. }
        | FromAgent::Counted { id, .. } => Some(*id),
    }
}

/// A command without input, at the root, with the usual PATH.
pub(crate) fn command(argv: &[&str]) -> Start {
    Start {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        env: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
        cwd: "/".to_owned(),
        has_input: false,
        terminal: None,
    }
}
